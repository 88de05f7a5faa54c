/* From judged answers to thresholds: one bar over all answers; with per_task also one for each kind
 * of prompt that has enough samples for the asked risk. The bar of a task holds the risk among the
 * prompts of that task, that is, its share of answers that are kept and wrong. So all bars together
 * hold it over all prompts. Prompts of other tasks get a bar that was tuned on them alone. */
#ifndef ROUTER_TUNE_H
#define ROUTER_TUNE_H

#include "router/learn/judged_answers.h"
#include "router/learn/risk.h"

struct tune_options {
    enum threshold_gate gate;
    double risk; /* in (0, 1) */
    bool per_task;
};

struct tune_result {
    struct thresholds thresholds;
    struct risk_bar rest; /* of what has no bar of its own: with per_task off all answers */
    struct risk_bar tasks[THRESHOLDS_TASKS_MAX]; /* in the order of thresholds.tasks */
    /* Over all answers with every bar in force. */
    size_t count, kept;
    double loss_kept;
    bool reached; /* some answers may be kept */
};

TD_MUST_CHECK enum td_status tune(const struct judged_answers *answers,
                                  const struct tune_options *options, struct tune_result *out,
                                  struct td_error *err);

#endif
