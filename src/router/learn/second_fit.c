#include "router/learn/second_fit.h"

#include "router/learn/confidence_fit.h"
#include "router/learn/solve.h"

#include <math.h>
#include <stdlib.h>

#define UNKNOWNS 3
/* As many samples as the prior (0, 1, 0) counts for. */
#define PRIOR 4.0
#define NEWTON_STEPS 50

static void step(const struct second_sample *samples, size_t count, double weight[static UNKNOWNS])
{
    static const double prior[UNKNOWNS] = {0, 1, 0};
    double a[UNKNOWNS][UNKNOWNS] = {{0}}, b[UNKNOWNS], move[UNKNOWNS];
    for (int r = 0; r < UNKNOWNS; r++) {
        a[r][r] = PRIOR;
        b[r] = PRIOR * (prior[r] - weight[r]);
    }
    for (size_t i = 0; i < count; i++) {
        const double row[UNKNOWNS] = {1, second_log_odds(samples[i].first),
                                      second_log_odds(samples[i].second)};
        double odds = 0;
        for (int r = 0; r < UNKNOWNS; r++)
            odds += weight[r] * row[r];
        double p = 1 / (1 + exp(-odds)), slack = p * (1 - p) + 1e-9;
        for (int r = 0; r < UNKNOWNS; r++) {
            for (int c = 0; c < UNKNOWNS; c++)
                a[r][c] += slack * row[r] * row[c];
            b[r] += (samples[i].right - p) * row[r];
        }
    }
    solve_definite(UNKNOWNS, &a[0][0], b, move);
    for (int r = 0; r < UNKNOWNS; r++)
        weight[r] += fmin(fmax(move[r], -1), 1);
}

void second_fit(const struct second_sample *samples, size_t count, struct second_scale *scale)
{
    double weight[UNKNOWNS] = {0, 1, 0};
    for (int i = 0; i < NEWTON_STEPS; i++)
        step(samples, count, weight);
    bool helps = weight[1] >= 0 && weight[2] > 0;
    scale->bias = helps ? weight[0] : 0;
    scale->first = helps ? weight[1] : 1;
    scale->second = helps ? weight[2] : 0;
}

bool second_measure(const struct second_sample *samples, size_t count,
                    const struct second_scale *scale, struct second_report *out)
{
    double *const shown[] = {&out->auroc_first, &out->auroc_second, &out->auroc_both};
    double(*pairs)[2] = calloc(count + 1, sizeof *pairs);
    if (!pairs)
        return false;
    for (int which = 0; which < 3; which++) {
        for (size_t i = 0; i < count; i++) {
            const struct second_sample *sample = &samples[i];
            pairs[i][0] = which == 0   ? sample->first
                          : which == 1 ? sample->second
                                       : second_combine(scale, sample->first, sample->second);
            pairs[i][1] = sample->right;
        }
        *shown[which] = confidence_auroc(pairs, count);
    }
    free(pairs);
    return true;
}
