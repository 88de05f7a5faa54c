#include "exchange/confidence.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Log-odds are taken of no more than this: float log-probabilities cannot tell it from 1. */
#define SURE (1 - 1e-7)

void confidence_init(struct confidence *confidence, double temperature, double bias)
{
    memset(confidence, 0, sizeof *confidence);
    confidence->margin_min = 1;
    confidence->temperature = temperature;
    confidence->bias = bias;
}

/* 0 stays 0: what cannot be right is not made likely by a bias. */
static double calibrate(const struct confidence *confidence, double value)
{
    if (confidence->temperature <= 0 || value <= 0)
        return value;
    double sure = value < SURE ? value : SURE;
    double odds = log(sure / (1 - sure)) / confidence->temperature + confidence->bias;
    return 1 / (1 + exp(-odds));
}

void confidence_add(struct confidence *confidence, const struct td_token_stats *stats)
{
    /* A peer's numbers are not ours: what is no log-probability counts as "impossible". */
    float logprob = stats->logprob <= 0 ? stats->logprob : stats->logprob < 1e-3f ? 0 : -INFINITY;
    if (confidence->count == 0 && stats->not_mine > 0)
        confidence->not_mine = stats->not_mine < 1 ? stats->not_mine : 1;
    if (confidence->count < CONFIDENCE_TOKENS_MAX)
        confidence->logprobs[confidence->count++] = logprob;
    if (stats->margin < confidence->margin_min)
        confidence->margin_min = stats->margin;
    if (stats->entropy > 0)
        confidence->entropy_sum += stats->entropy;
}

static int ascending(const void *a, const void *b)
{
    float x = *(const float *)a, y = *(const float *)b;
    return (x > y) - (x < y);
}

double confidence_value(const struct confidence *confidence)
{
    uint32_t count = confidence->count;
    if (count == 0)
        return NAN;
    float sorted[CONFIDENCE_TOKENS_MAX];
    memcpy(sorted, confidence->logprobs, count * sizeof *sorted);
    qsort(sorted, count, sizeof *sorted, ascending);
    uint32_t lowest = count / 4 > 0 ? count / 4 : 1;
    double sum = 0;
    for (uint32_t i = 0; i < lowest; i++)
        sum += sorted[i];
    return calibrate(confidence, (1 - (double)confidence->not_mine) * exp(sum / lowest));
}
