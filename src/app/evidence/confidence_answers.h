/* Judged answers of a model, from which its confidence model is fitted. The model answers each
 * line's prompt greedily. What the decode loop knew is kept, and whether the answer was right. */
#ifndef APP_CONFIDENCE_ANSWERS_H
#define APP_CONFIDENCE_ANSWERS_H

#include "router/learn/confidence_fit.h"
#include "tandem/engine.h"

#include <stdatomic.h>

struct json;
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
    size_t other_count; /* lines left out: the answer was not what "right" is about */
    uint64_t token_count;
    double second_ms; /* that the second signals took, all together */
};

/* Who answers: one of the two. */
struct confidence_source {
    const struct td_model *model;
    struct tier_answers *server;
};

struct confidence_answers_options {
    const char *path;   /* names the lines in messages */
    struct td_str text; /* a JSON object a line: "prompt" or "messages", and "right" or "answer" */
    uint32_t tokens_max, threads;
    enum td_kv_type kv_type; /* this and the next: as the server's engine has them */
    float exit_threshold;
    enum second_by second;     /* what is asked beside; of a model here */
    uint32_t samples;          /* of SECOND_AGREEMENT */
    const atomic_bool *cancel; /* set by a signal: TD_CANCELLED; or NULL */
    /* After each answer, with its line of the file; or NULL. */
    void (*on_answer)(void *ctx, const struct confidence_answers *so_far, const struct json *line,
                      bool right);
    void *ctx;
};

/* Each line says what is right by the members of answer_check.h, and is answered at temperature 0.
 * With "said" the verdict is of that answer only: a line to which the model says something else is
 * left out. TD_INVALID names the line. *out: confidence_answers_deinit, also after a failure. */
TD_MUST_CHECK enum td_status
confidence_answers_read(const struct confidence_source *source,
                        const struct confidence_answers_options *options,
                        struct confidence_answers *out, struct td_error *err);
void confidence_answers_deinit(struct confidence_answers *answers);

#endif
