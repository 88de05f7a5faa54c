/* Lines to learn from or to measure with, made of the ledger: what people asked (where the policy
 * stores texts), and how right the answer was.
 *
 * A verdict on an answer is, in this order: the newest feedback; none while a person should look at
 * it; whether shadows said the same. Where the device's own answer was not shown, it is whether its
 * shadow said the same as the cloud, and wrong where the model said that the task is not its own.
 * What left the device because it was unsure has no verdict: nobody saw that answer.
 *
 * Texts of the classes contractual and restricted are never taken, and no line mixes or crosses
 * tenants unless that is asked for. Texts that repeat are one line with the mean verdict, so that
 * none is both learnt and tested. */
#ifndef APP_LEDGER_LINES_H
#define APP_LEDGER_LINES_H

#include "app/cli/since_option.h"
#include "base/bytes/buf.h"

struct json;

enum ledger_lines_kind {
    LEDGER_LINES_TEXTS,   /* {"text", "local_ok", "strong_ok", "task"} for a classifier */
    LEDGER_LINES_PROMPTS, /* {"prompt" or "messages", "right"} for a probe */
    LEDGER_LINES_ANSWERS, /* the same with "said", the answer that was judged, where it is stored */
    LEDGER_LINES_TRAFFIC  /* {"prompt" or "messages", "task"} of all, judged or not */
};

/* What a verb was asked. */
struct ledger_lines_options {
    bool on; /* --from-ledger */
    struct since_option since;
    const char *route, *tenant, *lines, *config; /* or NULL */
    enum ledger_lines_kind kind;
    /* Of PROMPTS and ANSWERS: whose answers count. tier NULL = the device's, and of these only what
     * a model of that name answered (NULL = any). */
    const char *tier, *model;
    /* Of ANSWERS: above 0, only answers that were wrong though the confidence in one of them was at
     * least this. */
    double mistakes_from;
};

#define LEDGER_LINES_TENANT_ALL "all"
#define LEDGER_LINES_TENANT_NONE "none"
/* Rows of an option table. */
#define LEDGER_LINES_ROWS(options)                               \
    {"from-ledger",                                              \
     0,                                                          \
     OPTION_FLAG,                                                \
     &(options).on,                                              \
     NULL,                                                       \
     "learn from this machine's own traffic, instead of a file", \
     0,                                                          \
     0},                                                         \
        LEDGER_LINES_CHOICE_ROWS(options)
/* Of them those that say which exchanges. */
#define LEDGER_LINES_CHOICE_ROWS(options)                                                          \
    OPTION_ROW_SINCE((options).since, "30d"),                                                      \
        {"route", 0, OPTION_TEXT, &(options).route, "NAME", "only exchanges of this route", 0, 0}, \
        {"tenant",                                                                                 \
         0,                                                                                        \
         OPTION_TEXT,                                                                              \
         &(options).tenant,                                                                        \
         "TENANT",                                                                                 \
         "only exchanges of this tenant, as 'tandem explain' names it; none = those without "      \
         "one, all = mix tenants; required where the ledger has several",                          \
         0,                                                                                        \
         0},                                                                                       \
    {                                                                                              \
        "lines", 0, OPTION_TEXT, &(options).lines, "FILE",                                         \
            "only write the lines to look at, and do nothing else; - = standard output", 0, 0      \
    }

struct ledger_lines {
    struct buf text;                                      /* a JSON object a line, oldest first */
    size_t begin;                                         /* of the ledger's lines in it */
    size_t count;                                         /* of the ledger's lines */
    size_t exchanges, by_feedback, by_shadow, by_refusal; /* verdicts */
    /* Verdicts without a line: the text is not stored; it is contractual or restricted; it is not
     * known who said what, or more than texts was asked; another model answered. */
    size_t without_text, confidential, unusable, other_model;
    size_t mistakes;   /* answers that were wrong, of any confidence; of mistakes_from */
    size_t for_review; /* answers without a verdict that a person should look at */
};

/* Reads the ledger of the configuration, or the file where the ledger was not asked for; of both
 * the file's lines come first. TD_NOT_FOUND: there is nothing to learn from, and what is
 * missing. TD_INVALID: several tenants, and none was chosen. ledger_lines_deinit also after a
 * failure. */
TD_MUST_CHECK enum td_status ledger_lines_read(const struct ledger_lines_options *options,
                                               const char *file, struct ledger_lines *out,
                                               struct td_error *err);
/* What messages call the lines. */
const char *ledger_lines_name(const struct ledger_lines_options *options, const char *file);
/* Says on standard error what the ledger had. With --lines it writes them to the file (0600, for
 * they are private) or to standard output, and *done is true. */
TD_MUST_CHECK enum td_status ledger_lines_tell(const struct ledger_lines_options *options,
                                               const struct ledger_lines *lines, bool *done,
                                               struct td_error *err);
struct json *ledger_lines_json(const struct ledger_lines *lines); /* **returns new** */
void ledger_lines_deinit(struct ledger_lines *lines);

#endif
