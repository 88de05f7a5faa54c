/* The tiny classifier: from an utterance to the chance that each tier is right and to the kind of
 * task.
 *
 * A linear model over hashed n-grams and dense features (features.h), a second layer of a few
 * numbers that joins its outputs, and their calibration. Every bucket of the hash has a row of
 * signed bytes, one for each output, so that one n-gram costs one cache line:
 *
 *   x        = idf of each n-gram that occurs, of words and of bytes, each part divided by its length
 *   s[k]     = bias[k] + words · w[k] + bytes · w[k] + dense · d[k]         k: local, strong, then the tasks
 *   p(task)  = softmax(slope · s[tasks] + offset[task])
 *   h        = s[local], s[strong], Σ p(task) · mean[task][local, strong]
 *   p[o]     = sigmoid(slope · (stack[o] · h + stack_bias[o]) + offset)  o: local, strong  (Platt 1999)
 *   gain     = p[strong] − p[local]
 *
 * Ranking by the gain recovers far more of the difference between two tiers than ranking by
 * p[local], because what is wrong locally is often wrong elsewhere too. A regression on the
 * difference itself was tried: on 1,500 labels of MMLU it ranked worse (APGR 0.62 against 0.66),
 * for it has no bound where the local tier is sure.
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
 *   32  4  outputs (2 + tasks)             float stack[2][5], platt[2][2], task_slope, task_offset[tasks], task_mean[tasks][2]
 *   36  4  tasks                           char  task_name[tasks][32]
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

/* A few words at one end of a text must not decide where it goes: hill-climbing finds ten that
 * raise the gain of nearly any (Shafran et al. 2025, "Rerouting LLM Routers", arXiv 2501.01818).
 * What the text says without its last words, or without its first ones, takes the place of the
 * whole's gain and probabilities where the gain is less by more than a quarter; the kind of task
 * stays that of the whole. */
struct verdict {
    float gain;              /* expected P(strong right) − P(local right), −1..1 */
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
