/* Tasks with enough samples get bars of their own; all other answers are tuned together. The result
 * counts every answer once more with all bars in force. */
#include "router/learn/tune.h"

#include "base/core/assertion.h"
#include "base/core/error.h"

#include <stdlib.h>
#include <string.h>

#define NO_TASK (-1)

struct tuning {
    const struct judged_answers *answers;
    const struct tune_options *options;
    struct tune_result *out;
    struct risk_sample *samples;    /* room for all */
    bool own[THRESHOLDS_TASKS_MAX]; /* tasks with a bar of their own */
};

/* Those of one task, or (NO_TASK) of everything without a bar of its own. */
static size_t take_samples(struct tuning *tuning, int32_t task)
{
    size_t count = 0;
    for (size_t i = 0; i < tuning->answers->count; i++) {
        const struct judged_answer *answer = &tuning->answers->items[i];
        bool owned = answer->task >= 0 && tuning->own[answer->task];
        if (task == NO_TASK ? owned : answer->task != task)
            continue;
        tuning->samples[count++] = (struct risk_sample){answer->score, answer->loss};
    }
    return count;
}

static void add_bar(struct tune_result *out, const struct risk_bar *bar)
{
    double losses = out->loss_kept * (double)out->count + bar->loss_kept * (double)bar->count;
    out->count += bar->count;
    out->kept += bar->kept;
    out->loss_kept = out->count ? losses / (double)out->count : 0;
    out->reached = out->reached || bar->outcome == RISK_REACHED;
}

static void tune_task(struct tuning *tuning, int32_t task)
{
    struct tune_result *out = tuning->out;
    struct thresholds *thresholds = &out->thresholds;
    size_t count = take_samples(tuning, task);
    if (count < risk_count_min(tuning->options->risk, 0))
        return;
    struct risk_bar *bar = &out->tasks[thresholds->task_count];
    struct threshold_task *to = &thresholds->tasks[thresholds->task_count++];
    risk_find_bar(tuning->samples, count, tuning->options->risk, bar);
    memcpy(to->task, tuning->answers->task_names[task], sizeof to->task);
    to->threshold = bar->threshold;
    to->samples = (uint32_t)count;
    tuning->own[task] = true;
    add_bar(out, bar);
}

enum td_status tune(const struct judged_answers *answers, const struct tune_options *options,
                    struct tune_result *out, struct td_error *err)
{
    ASSERT(options->risk > 0 && options->risk < 1);
    memset(out, 0, sizeof *out);
    struct tuning tuning = {.answers = answers, .options = options, .out = out};
    tuning.samples = calloc(answers->count + 1, sizeof *tuning.samples);
    if (!tuning.samples)
        return error_set(err, TD_NO_MEMORY, "no memory for %zu samples", answers->count);
    for (size_t task = 0; options->per_task && task < answers->task_count; task++)
        tune_task(&tuning, (int32_t)task);
    size_t rest = take_samples(&tuning, NO_TASK);
    risk_find_bar(tuning.samples, rest, options->risk, &out->rest);
    add_bar(out, &out->rest);
    free(tuning.samples);
    out->thresholds.gate = options->gate;
    out->thresholds.risk = options->risk;
    out->thresholds.threshold = out->rest.threshold;
    out->thresholds.samples = (uint32_t)rest;
    return TD_OK;
}
