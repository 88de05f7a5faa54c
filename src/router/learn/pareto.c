/* Every plan is tried on every question of the table: with some hundred plans that takes less than
 * a second for a hundred thousand questions, so nothing is approximated. */
#include "router/learn/pareto.h"

#include "base/core/assertion.h"
#include "base/core/error.h"
#include "base/core/sort.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* What of a local answer's time has passed when its prompt is read: prompts are read several times
 * as fast as answers are written, and are longer. */
#define PROMPT_PART 0.2

const char *pareto_pattern_name(enum pareto_pattern pattern)
{
    ASSERT((unsigned)pattern < PARETO_PATTERN_COUNT);
    static const char *const names[PARETO_PATTERN_COUNT] = {"local", "cloud", "g0",
                                                            "g1",    "g3",    "g0+g3"};
    return names[pattern];
}

struct answer {
    double right, cost_usd, ms;
    bool local;
};

/* NAN under nothing: a row without a score stays. */
static struct answer answer_of(const struct outcome_row *row, const struct pareto_plan *plan)
{
    const struct tier_outcome *local = &row->local, *cloud = &row->cloud;
    if (plan->pattern == PARETO_CLOUD || row->p_local < plan->g0)
        return (struct answer){cloud->right, cloud->cost_usd, cloud->ms, false};
    if (row->probe < plan->g1)
        return (struct answer){cloud->right, cloud->cost_usd + PROMPT_PART * local->cost_usd,
                               cloud->ms + PROMPT_PART * local->ms, false};
    if (row->confidence < plan->g3)
        return (struct answer){cloud->right, cloud->cost_usd + local->cost_usd,
                               cloud->ms + local->ms, false};
    return (struct answer){local->right, local->cost_usd, local->ms, true};
}

void pareto_quality(const struct outcomes *outcomes, const struct pareto_plan *plan, double *right)
{
    for (size_t i = 0; i < outcomes->count; i++)
        right[i] = answer_of(&outcomes->rows[i], plan).right;
}

static void try_plan(const struct outcomes *outcomes, struct pareto_plan plan, double *times,
                     struct pareto *out)
{
    size_t count = outcomes->count;
    for (size_t i = 0; i < count; i++) {
        struct answer answer = answer_of(&outcomes->rows[i], &plan);
        plan.share_local += answer.local;
        plan.cost_usd += answer.cost_usd;
        plan.right += answer.right;
        plan.ms += answer.ms;
        times[i] = answer.ms;
    }
    plan.share_local /= (double)count;
    plan.cost_usd /= (double)count;
    plan.right /= (double)count;
    plan.ms /= (double)count;
    sort_doubles(times, count);
    plan.ms_p95 = times[(count * 95 + 99) / 100 - 1]; /* nearest rank */
    out->plans[out->count++] = plan;
}

static double score_of(const struct outcome_row *row, enum pareto_pattern gate)
{
    return gate == PARETO_G0 ? row->p_local : gate == PARETO_G1 ? row->probe : row->confidence;
}

/* Thresholds that let about 1/(n+1), 2/(n+1) ... of the questions go; fewer where many scores are
 * the same. 0 when not every row has a score. */
static size_t find_steps(const struct outcomes *outcomes, enum pareto_pattern gate, size_t wanted,
                         double *scores, double *out)
{
    size_t count = 0, n = outcomes->count;
    for (size_t i = 0; i < n; i++) {
        scores[i] = score_of(&outcomes->rows[i], gate);
        if (isnan(scores[i]))
            return 0;
    }
    sort_doubles(scores, n);
    for (size_t step = 1; step <= wanted; step++) {
        double bar = scores[step * n / (wanted + 1)];
        if (bar > scores[0] && (count == 0 || bar > out[count - 1]))
            out[count++] = bar;
    }
    return count;
}

static void try_gate(const struct outcomes *outcomes, enum pareto_pattern gate, double *numbers,
                     struct pareto *out)
{
    double steps[PARETO_STEPS];
    size_t count = find_steps(outcomes, gate, PARETO_STEPS, numbers, steps);
    for (size_t i = 0; i < count; i++) {
        struct pareto_plan plan = {.pattern = gate, .g0 = NAN, .g1 = NAN, .g3 = NAN};
        *(gate == PARETO_G0 ? &plan.g0 : gate == PARETO_G1 ? &plan.g1 : &plan.g3) = steps[i];
        try_plan(outcomes, plan, numbers, out);
    }
}

static void try_mixed(const struct outcomes *outcomes, double *numbers, struct pareto *out)
{
    double g0[PARETO_MIXED_STEPS], g3[PARETO_MIXED_STEPS];
    size_t g0_count = find_steps(outcomes, PARETO_G0, PARETO_MIXED_STEPS, numbers, g0);
    size_t g3_count = find_steps(outcomes, PARETO_G3, PARETO_MIXED_STEPS, numbers, g3);
    for (size_t i = 0; i < g0_count; i++)
        for (size_t j = 0; j < g3_count; j++)
            try_plan(
                outcomes,
                (struct pareto_plan){.pattern = PARETO_G0_G3, .g0 = g0[i], .g1 = NAN, .g3 = g3[j]},
                numbers, out);
}

static bool beats(const struct pareto_plan *a, const struct pareto_plan *b)
{
    return a->cost_usd <= b->cost_usd && a->right >= b->right && a->ms <= b->ms &&
           (a->cost_usd < b->cost_usd || a->right > b->right || a->ms < b->ms);
}

enum td_status pareto_find(const struct outcomes *outcomes, struct pareto *out,
                           struct td_error *err)
{
    memset(out, 0, sizeof *out);
    double *numbers = calloc(outcomes->count + 1, sizeof *numbers);
    if (!numbers)
        return error_set(err, TD_NO_MEMORY, "no memory for %zu outcomes", outcomes->count);
    struct pareto_plan single = {.g0 = NAN, .g1 = NAN, .g3 = NAN};
    for (int pattern = PARETO_LOCAL; pattern <= PARETO_CLOUD && outcomes->count > 0; pattern++) {
        single.pattern = (enum pareto_pattern)pattern;
        try_plan(outcomes, single, numbers, out);
    }
    for (int gate = PARETO_G0; gate <= PARETO_G3 && outcomes->count > 0; gate++)
        try_gate(outcomes, (enum pareto_pattern)gate, numbers, out);
    if (outcomes->count > 0)
        try_mixed(outcomes, numbers, out);
    free(numbers);
    for (size_t i = 0; i < out->count; i++) {
        out->plans[i].best = true;
        for (size_t j = 0; j < out->count; j++)
            out->plans[i].best = out->plans[i].best && !beats(&out->plans[j], &out->plans[i]);
    }
    return TD_OK;
}
