/* What the verbs share: reading files, ids and models, and printing results and failures. For one
 * thread, like the verbs themselves. */
#ifndef APP_COMMAND_H
#define APP_COMMAND_H

#include "base/bytes/buf.h"
#include "tandem/engine.h"

#include <stdio.h>

struct json;
struct config;
struct ledger_reader;

/* Text that a server, a client or a file brought must not steer the terminal. */
void command_print_harmless(FILE *out, struct td_str text);
/* What is printed to stdout between the two is printed so, at the end; with `wraps`, a terminal
 * gets lines that are broken between words. False when it could not be written. Without memory the
 * program ends. Not to be nested. */
void command_harmless_begin(void);
bool command_harmless_end(bool wraps);
/* Prints "tandem VERB: message" and gives the exit code of a failure. */
int command_fail(const char *verb, const struct td_error *err);

/* The same; as JSON it is {"ok": false, "error": MESSAGE} on standard output. */
int command_fail_as(const char *verb, const struct td_error *err, bool json);

/* Opens the model that -m named (NULL = the embedded one). **returns new** (td_model_close). */
TD_MUST_CHECK enum td_status command_open_model(const char *path, enum td_cpu cpu, bool vocab_only,
                                                struct td_model **out, struct td_error *err);

/* Refuses `out` when it is one of the files that are read: writing it would destroy the input. NULL
 * among them is none. */
TD_MUST_CHECK enum td_status command_spare_inputs(const char *out, const char *const *inputs,
                                                  size_t count, struct td_error *err);

/* The same for the files of a folder, also where they are links. Its GGUF files are none of what is
 * read. */
TD_MUST_CHECK enum td_status command_spare_folder(const char *out, const char *folder,
                                                  struct td_error *err);

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
TD_MUST_CHECK enum td_status command_open_ledger(const struct config *config,
                                                 struct ledger_reader **out, struct td_error *err);

/* Writes to stdout; command_print_json frees the value and ends the line. False when it broke. */
bool command_print(struct td_str text);
bool command_print_json(struct json *value);

#endif
