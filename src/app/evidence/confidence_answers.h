/* Judged answers of a model, from which its confidence model is fitted. The model answers each
 * line's prompt greedily. What the decode loop knew is kept, and whether the answer was right. */
#ifndef APP_CONFIDENCE_ANSWERS_H
#define APP_CONFIDENCE_ANSWERS_H

#include "router/learn/confidence_fit.h"
#include "tandem/engine.h"

struct tier_answers;

#define CONFIDENCE_ANSWERS_MAX 1000000u
/* A running answer is looked at each time when it has that many more tokens. */
#define CONFIDENCE_EVERY 16

struct confidence_answers {
    struct confidence_sample *whole; /* [whole_count] one an answer */
    size_t whole_count;
    struct confidence_sample *running; /* [running_count] after 1, 16, 32, ... tokens of each */
    size_t running_count, running_capacity, whole_capacity;
    size_t right_count;
    uint64_t token_count;
};

/* Who answers: one of the two. */
struct confidence_source {
    const struct td_model *model;
    struct tier_answers *server;
};

struct confidence_answers_options {
    const char *path; /* a JSON object a line: "prompt" or "messages", and "right" or "answer" */
    uint32_t tokens_max, threads;
};

/* "right": true or false, of the answer that this model gives at temperature 0. "answer": a text or
 * a list of texts. The model's answer must be one of them; case, white space and punctuation do not
 * matter. TD_INVALID names the line. *out: confidence_answers_deinit, also after a failure. */
TD_MUST_CHECK enum td_status
confidence_answers_read(const struct confidence_source *source,
                        const struct confidence_answers_options *options,
                        struct confidence_answers *out, struct td_error *err);
void confidence_answers_deinit(struct confidence_answers *answers);

/* Letters and digits of both, in lower case, are the same. */
bool confidence_answers_same(struct td_str a, struct td_str b);

#endif
