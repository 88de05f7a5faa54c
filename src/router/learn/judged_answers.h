/* Answers of the local tier that somebody has judged: JSON objects, one a line,
 *   {"confidence": 0.83, "right": true, "task": "maths"}
 * right: true, false, or a share from 0 to 1. The score has the name of what a gate looks at:
 * "p_local" (G0), "probe" (G1), "confidence" (G3). Other members are ignored, so that one file may
 * serve several gates. A broken line refuses the whole file; the message has its number. */
#ifndef ROUTER_JUDGED_ANSWERS_H
#define ROUTER_JUDGED_ANSWERS_H

#include "router/plan/thresholds.h"

#define JUDGED_ANSWERS_MAX 1000000u

struct judged_answer {
    double score;
    double loss;  /* 1 - right */
    int32_t task; /* -1 = none was named */
};

struct judged_answers {
    struct judged_answer *items;
    size_t count, capacity;
    char task_names[THRESHOLDS_TASKS_MAX][SIGNALS_TASK_BYTES]; /* in the order of appearance */
    size_t task_count;
};

/* Fills *out, to be freed with judged_answers_deinit also after a failure. TD_INVALID names the
 * line. */
TD_MUST_CHECK enum td_status judged_answers_read(struct td_str jsonl, enum threshold_gate gate,
                                                 struct judged_answers *out, struct td_error *err);
/* Adds one; task may be NULL or "". TD_INVALID: a number outside 0 to 1, a name that is too long.
 * TD_LIMIT: too many answers or different tasks. */
TD_MUST_CHECK enum td_status judged_answers_add(struct judged_answers *answers, double score,
                                                double right, struct td_str task,
                                                struct td_error *err);
void judged_answers_deinit(struct judged_answers *answers);

#endif
