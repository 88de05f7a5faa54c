/* Thresholds that were tuned to a risk (risk.h), as a small file that a route's gate names:
 *
 *   {"tandem_thresholds": 1, "gate": "g3", "risk": 0.05, "samples": 1200, "threshold": 0.62,
 *    "tasks": [{"task": "maths", "samples": 210, "threshold": null}], "confidence": "7f..."}
 *
 * threshold null: no threshold reaches the risk, so nothing is kept. tasks: the kinds of prompt
 * that had samples enough for a threshold of their own. confidence: the fingerprint of the
 * confidence model (confidence_model.h) that gave the scores; absent if they came from the rule of
 * limits/confidence.h. Immutable once read; any thread. */
#ifndef ROUTER_THRESHOLDS_H
#define ROUTER_THRESHOLDS_H

#include "base/bytes/buf.h"
#include "router/plan/policy.h"

#define THRESHOLDS_TASKS_MAX 64
#define THRESHOLDS_FINGERPRINT_BYTES 17

struct threshold_task {
    char task[SIGNALS_TASK_BYTES];
    double threshold; /* INFINITY = nothing is kept */
    uint32_t samples;
};

struct thresholds {
    enum threshold_gate gate;
    double risk;
    double threshold; /* of prompts whose task has none of its own; INFINITY = nothing is kept */
    uint32_t samples;
    char confidence[THRESHOLDS_FINGERPRINT_BYTES]; /* "" = the rule without a model */
    struct threshold_task tasks[THRESHOLDS_TASKS_MAX];
    size_t task_count;
};

const char *thresholds_gate_name(enum threshold_gate gate);  /* "g0", "g1", "g3" */
const char *thresholds_score_name(enum threshold_gate gate); /* "p_local", "probe", "confidence" */
bool thresholds_gate_find(const char *name, enum threshold_gate *out);

/* TD_INVALID with the member and what is wrong. */
TD_MUST_CHECK enum td_status thresholds_read(struct td_str text, struct thresholds *out,
                                             struct td_error *err);
void thresholds_write(const struct thresholds *thresholds, struct buf *out);

double thresholds_find(const struct thresholds *thresholds, const char *task);
/* Replaces the fixed thresholds of gates that have a file by those of the file. */
void thresholds_apply(struct gate_settings *gates, const char *task);

#endif
