/* Does a model make mistakes again that are known? A line is a prompt to which an answer was wrong
 * though its model was sure of it: {"prompt" or "messages", "said": that answer}, and "answer" with
 * "check" where it is known what is right (app/evidence/answer_check.h). `tandem models mistakes`
 * collects them from the ledger. One thread; blocks. */
#ifndef APP_MISTAKES_H
#define APP_MISTAKES_H

#include "tandem/engine.h"

#include <stdatomic.h>

#define MISTAKES_TOKENS 64 /* default of tokens_max */

struct mistakes_options {
    struct td_str lines;
    const char *name;    /* of the lines, in messages */
    uint32_t tokens_max; /* of an answer */
    uint32_t threads;
    const atomic_bool *cancel;
    void (*progress)(void *ctx, uint64_t done, uint64_t total); /* or NULL */
    void *progress_ctx;
};

struct mistakes_result {
    size_t count;    /* prompts that were asked */
    size_t repeated; /* whose answer is wrong again: not the right one, or the same as `said` */
    size_t too_long; /* prompts that do not fit the context */
};

/* TD_INVALID names a line that has neither "said" nor "answer"; TD_CANCELLED. */
TD_MUST_CHECK enum td_status mistakes_ask(const struct td_model *model,
                                          const struct mistakes_options *options,
                                          struct mistakes_result *out, struct td_error *err);

#endif
