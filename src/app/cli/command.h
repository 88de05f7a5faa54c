/* The subcommands, one file each (cmd_<verb>.c), and what they share. A command gets argv from
 * its own name on, prints results to stdout and complaints to stderr, and returns the exit code:
 * 0 done, 1 failed, 2 used wrongly. */
#ifndef APP_COMMAND_H
#define APP_COMMAND_H

#include "base/buf.h"
#include "tandem/engine.h"

struct json;
struct ledger_reader;

typedef int command_fn(int argc, char **argv);

command_fn cmd_serve, cmd_chat, cmd_confined, cmd_egress, cmd_forget, cmd_explain, cmd_doctor,
    cmd_models, cmd_tokenize, cmd_detokenize, cmd_template, cmd_generate, cmd_logits, cmd_embed,
    cmd_perplexity, cmd_score, cmd_bench, cmd_policy, cmd_policy_pareto, cmd_replay, cmd_report,
    cmd_probe, cmd_redact, cmd_router, cmd_router_audit, cmd_router_confidence, cmd_router_tune,
    cmd_scan, cmd_tco, cmd_version;

/* A command of verbs: runs the one that is named, with argv from it on; else prints what there are, which is an error but for --help. */
struct command_verb {
    const char *name;
    command_fn *run;
    const char *help;
};
int command_run_verb(const char *command, const struct command_verb *verbs, size_t count, int argc,
                     char **argv);

/* Prints "tandem VERB: message" and gives the exit code of a failure. */
int command_fail(const char *verb, const struct td_error *err);

/* Opens the model that -m named (NULL = the embedded one). **returns new** (td_model_close). */
TD_MUST_CHECK enum td_status command_open_model(const char *path, enum td_cpu cpu, bool vocab_only,
                                                struct td_model **out, struct td_error *err);

/* Reads a whole file, or standard input when path is NULL or "-", into out (made here,
 * buf_deinit). */
TD_MUST_CHECK enum td_status command_read_all(const char *path, struct buf *out,
                                              struct td_error *err);

/* Tokenizes with a buffer that fits. *ids **returns new** (free). */
TD_MUST_CHECK enum td_status command_tokenize(const struct td_model *model, struct td_str text,
                                              bool add_bos, bool parse_special, int32_t **ids,
                                              size_t *count, struct td_error *err);

/* Token ids out of a text: decimal numbers between commas, white space or JSON brackets. Negative
 * ids and other characters are refused. *ids **returns new** (free). */
TD_MUST_CHECK enum td_status command_parse_ids(struct td_str text, int32_t **ids, size_t *count,
                                               struct td_error *err);

/* For OPTION_EACH: takes a text of token ids when it is one. ctx: const char ** for the text. */
bool command_take_ids(void *ctx, const char *text);
#define COMMAND_IDS_NEEDED "token ids, as in 1,2,3"

/* Opens the ledger for reading; says so when nothing has been recorded yet.
 * **returns new** (ledger_reader_close). */
TD_MUST_CHECK enum td_status command_open_ledger(const char *path, struct ledger_reader **out,
                                                 struct td_error *err);

/* When a span ("90s", "15m", "24h", "7d", or "all") before now began. */
bool command_parse_since(const char *text, uint64_t now_wall_ms, uint64_t *since_wall_ms);

/* Writes to stdout; command_print_json frees the value and ends the line. False when it broke. */
bool command_print(struct td_str text);
bool command_print_json(struct json *value);

#endif
