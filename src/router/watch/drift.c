/* The sums behind the alarms. An alarm has a beginning and an end that differ: it begins above the
 * level and ends at zero, so that it does not flicker. A cap keeps a long alarm from outlasting its
 * cause. */
#include "router/watch/drift.h"

#include "base/core/assertion.h"
#include "base/core/sort.h"

#include <math.h>
#include <string.h>

/* A sum is capped at this multiple of its level, so that an alarm ends soon after its cause. */
#define CAP 1.5
#define PSI_BEGIN 0.25
#define PSI_END 0.1

static void cusum_add(struct drift_cusum *cusum, double ratio)
{
    cusum->sum = fmin(fmax(cusum->sum + ratio, 0), CAP * cusum->level);
    if (cusum->sum >= cusum->level)
        cusum->alarm = true;
    else if (!(cusum->sum > 0))
        cusum->alarm = false;
}

void drift_share_init(struct drift_share *share, double usual, double feared)
{
    double p0 = fmin(fmax(usual, 0.001), 0.98), p1 = fmin(fmax(feared, p0 + 0.005), 0.99);
    *share = (struct drift_share){
        .cusum = {.level = DRIFT_LEVEL}, .yes = log(p1 / p0), .no = log((1 - p1) / (1 - p0))};
}

bool drift_share_add(struct drift_share *share, bool yes)
{
    cusum_add(&share->cusum, yes ? share->yes : share->no);
    return share->cusum.alarm;
}

void drift_mean_init(struct drift_mean *mean, double shift, double variance)
{
    ASSERT(variance > 0);
    *mean = (struct drift_mean){.above = {.level = DRIFT_MEAN_LEVEL},
                                .below = {.level = DRIFT_MEAN_LEVEL},
                                .shift = shift,
                                .variance = variance};
}

void drift_mean_add(struct drift_mean *mean, double x)
{
    double by = mean->shift / mean->variance;
    cusum_add(&mean->above, by * (x - mean->shift / 2));
    cusum_add(&mean->below, by * (-x - mean->shift / 2));
}

double drift_psi(const uint32_t expected[static DRIFT_BINS],
                 const uint32_t actual[static DRIFT_BINS])
{
    double expected_sum = 0, actual_sum = 0, psi = 0;
    for (int i = 0; i < DRIFT_BINS; i++) {
        expected_sum += expected[i] + 0.5;
        actual_sum += actual[i] + 0.5;
    }
    for (int i = 0; i < DRIFT_BINS; i++) {
        double e = (expected[i] + 0.5) / expected_sum, a = (actual[i] + 0.5) / actual_sum;
        psi += (a - e) * log(a / e);
    }
    return psi;
}

static size_t bin_of(const struct drift_scores *scores, double score)
{
    size_t bin = 0;
    while (bin < DRIFT_BINS - 1 && score > scores->bound[bin])
        bin++;
    return bin;
}

/* Equal scores fall into one bin: bins need not have the same mass. */
static void learn(struct drift_scores *scores)
{
    double sorted[DRIFT_WINDOW];
    memcpy(sorted, scores->first, sizeof sorted);
    sort_doubles(sorted, DRIFT_WINDOW);
    for (size_t i = 0; i < DRIFT_BINS - 1; i++)
        scores->bound[i] = sorted[(i + 1) * DRIFT_WINDOW / DRIFT_BINS - 1];
    for (size_t i = 0; i < DRIFT_WINDOW; i++)
        scores->expected[bin_of(scores, scores->first[i])]++;
    scores->learnt = true;
}

bool drift_scores_add(struct drift_scores *scores, double score)
{
    if (!(score >= 0 && score <= 1))
        return false;
    if (!scores->learnt)
        scores->first[scores->seen] = score;
    else
        scores->actual[bin_of(scores, score)]++;
    if (++scores->seen < DRIFT_WINDOW)
        return false;
    scores->seen = 0;
    if (!scores->learnt) {
        learn(scores);
        return false;
    }
    scores->psi = drift_psi(scores->expected, scores->actual);
    scores->alarm = scores->psi > (scores->alarm ? PSI_END : PSI_BEGIN);
    memset(scores->actual, 0, sizeof scores->actual);
    return true;
}
