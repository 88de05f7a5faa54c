/* A small classifier: from an utterance to the probability that each tier is right, and to the kind
 * of task.
 *
 * It is a linear model over hashed n-grams and dense features (features.h), then a second layer of
 * a few numbers that joins the outputs and calibrates them. Every bucket of the hash has a row of
 * signed bytes, one byte for each output, so that one n-gram costs one cache line:
 *
 *   x        = idf of each n-gram that occurs, words and bytes, each part divided by its length
 *   s[k]     = bias[k] + words · w[k] + bytes · w[k] + dense · d[k]     k: local, strong, the tasks
 *   p(task)  = softmax(slope · s[tasks] + offset[task])
 *   h        = s[local], s[strong], Σ p(task) · mean[task][local, strong]
 *   p[o]     = sigmoid(slope · (stack[o] · h + stack_bias[o]) + offset)   o: local, strong
 *   gain     = p[strong] − p[local]                                       (sigmoid: Platt 1999)
 *
 * Ranking by the gain recovers far more of the difference between two tiers than ranking by
 * p[local], because what is wrong locally is often wrong elsewhere, too. A regression on the
 * difference itself was tried and rejected: on 1,500 labels of MMLU it ranked worse (APGR 0.62
 * against 0.66), because it has no bound where the local tier is sure.
 *
 * The file (little-endian; all of it checked before the first use, mapped read-only and shared
 * between processes):
 *
 *   0   8  magic "TDROUTER"         40  4  dense features
 *   8   4  format version           44  4  outcomes that were trained, a bit each
 *   12  4  features version         48  8  lines it was trained on
 *   16  8  hash of what follows 24  56  8  seed
 *   24  4  bits of a bucket         64     float scale[columns] (column 0: idf², 1..: outputs)
 *   28  4  row bytes                       float bias[outputs], dense[outputs][features]
 *   32  4  outputs (2 + tasks)             float stack[2][5], platt[2][2], task_slope
 *   36  4  tasks                           float task_offset[tasks], task_mean[tasks][2]
 *                                          char  task_name[tasks][32]
 *                                          padding to 64; int8 rows[2^bits][row bytes] */
#ifndef ROUTER_CLASSIFIER_H
#define ROUTER_CLASSIFIER_H

#include "router/judge/features.h"

#define CLASSIFIER_TASKS_MAX 60
#define CLASSIFIER_TASK_BYTES 32
#define CLASSIFIER_BYTES_MAX (5u << 20)

enum outcome { OUTCOME_LOCAL, OUTCOME_STRONG, OUTCOME_COUNT };
#define CLASSIFIER_OUTPUTS_MAX (OUTCOME_COUNT + CLASSIFIER_TASKS_MAX)

struct classifier; /* immutable; any thread */

/* **returns new** (classifier_close). TD_NOT_FOUND, TD_IO; TD_INVALID says what is wrong with the
 * file. */
TD_MUST_CHECK enum td_status classifier_open(const char *path, struct classifier **out,
                                             struct td_error *err);
/* The same from memory, which is **borrowed** until classifier_close. */
TD_MUST_CHECK enum td_status classifier_read(const void *data, size_t bytes,
                                             struct classifier **out, struct td_error *err);
void classifier_close(struct classifier *classifier);

size_t classifier_task_count(const struct classifier *classifier);
const char *classifier_task_name(const struct classifier *classifier,
                                 size_t task);                 /* **borrows** */
uint64_t classifier_hash(const struct classifier *classifier); /* of the file's contents */
/* Was it trained on labels of this? The verdict has NAN for what was not. */
bool classifier_has(const struct classifier *classifier, enum outcome outcome);

/* A few words at one end of a text must not decide where it goes. Hill-climbing finds ten words
 * that raise the gain of nearly any text (Shafran et al. 2025, "Rerouting LLM Routers", arXiv
 * 2501.01818). So the text is also judged without its last words, and without its first ones. Where
 * that gain is less by more than a quarter, it and its probabilities replace those of the whole
 * text. The kind of task stays that of the whole text. */
struct verdict {
    /* Expected P(strong right) − P(local right), −1..1. Of a classifier that knows nothing of
     * strong tiers: 1 − P(local right), the most that one can gain. */
    float gain;
    float gain_whole;        /* before that; equal to gain where no end was left out */
    float p_local, p_strong; /* calibrated */
    size_t task;             /* the most probable one; SIZE_MAX when there are no tasks */
    float task_p;            /* and its probability */
    float task_probability[CLASSIFIER_TASKS_MAX];
};

/* Working memory of one decision; no initialisation, may be used again. */
struct classifier_work {
    struct ngrams ngrams;
    struct features features;
};

void classifier_judge(const struct classifier *classifier, const struct utterance *utterance,
                      const struct features *features, struct classifier_work *work,
                      struct verdict *out);

#endif
