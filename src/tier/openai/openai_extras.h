/* What a request has in our own name: that the answer is streamed, with its usage and with
 * log-probabilities, and members that a translation made of another dialect's. No client asked for
 * them in this form, so a server that refuses one is asked again without it, and that it refused
 * is kept for the tier's model. No list of servers says it rightly for long. */
#ifndef TIER_OPENAI_EXTRAS_H
#define TIER_OPENAI_EXTRAS_H

#include "base/bytes/buf.h"

#include <stdatomic.h>

enum openai_extra {
    EXTRA_LOGPROBS = 1, /* logprobs, top_logprobs; what is known of them: tier/logprob_support.h */
    EXTRA_USAGE = 2,    /* stream_options */
    EXTRA_STREAM = 4,   /* stream and stream_options */
    EXTRA_HINTS = 8,    /* reasoning_effort, verbosity, prompt_cache_key, ... */
    /* Of the client's own: models that think refuse these, and a client that asks for `auto` cannot
     * know which model it gets. */
    EXTRA_SAMPLING = 16, /* temperature, top_p, penalties */
    EXTRA_LIMIT = 32,    /* max_tokens by its old name */
};

#define EXTRA_COUNT 6
/* What depends on the model more than on the server. */
#define EXTRAS_OF_MODEL ((unsigned)EXTRA_SAMPLING | EXTRA_LIMIT)

/* Of a tier; begins as {0}. Thread-safe. */
struct extra_support {
    _Atomic uint64_t refused_until[EXTRA_COUNT]; /* ms, monotonic; 0 = it has not refused it */
};

/* Of `extras`, those that the server refused within the last hour. */
unsigned extra_support_refused(const struct extra_support *support, unsigned extras,
                               uint64_t now_ms);
void extra_support_learn(struct extra_support *support, unsigned refused, uint64_t now_ms);
void extra_support_copy(struct extra_support *to, const struct extra_support *from);

/* Whether a refusal speaks of log-probabilities. */
bool openai_names_logprobs(struct td_str refusal);
/* Of the extras that a body has, those that a refusal names; 0 = none. EXTRA_LOGPROBS is not among
 * them. http: its status. */
unsigned openai_extras_refused(unsigned extras, int http, struct td_str refusal);
/* Takes out of a chat that was translated what only Anthropic's models and who asks them know:
 * marks of what may be cached, and thoughts with their signatures. OpenAI refuses such members. */
TD_MUST_CHECK enum td_status openai_drop_marks(struct buf *body, struct td_error *err);
/* Takes extras out of a body. */
TD_MUST_CHECK enum td_status openai_drop_extras(struct buf *body, unsigned extras,
                                                struct td_error *err);

#endif
