/* Sums over all tokens, and the log-probabilities of the first CONFIDENCE_TOKENS_MAX, or of few
 * where there is no memory for them. Numbers of a tier's server are not trusted: one that cannot be
 * a log-probability counts as impossible. */
#include "exchange/limits/confidence.h"

#include "base/core/assertion.h"
#include "router/judge/second_signal.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Log-odds are taken of no more than this: float log-probabilities cannot tell it from 1. */
#define SURE (1 - 1e-7)
/* A log-probability below says no more, and features are finite. */
#define LOGPROB_LEAST (-50.0)

void confidence_init(struct confidence *confidence, double temperature, double bias)
{
    memset(confidence, 0, sizeof *confidence);
    confidence->margin_min = 1;
    confidence->temperature = temperature;
    confidence->bias = bias;
    confidence->call = confidence->label = (struct confidence_scale){temperature, bias};
}

void confidence_deinit(struct confidence *confidence)
{
    free(confidence->more);
    confidence->more = NULL;
}

static void keep(struct confidence *confidence, float logprob)
{
    if (confidence->count == CONFIDENCE_TOKENS_FEW && !confidence->more) {
        confidence->more = malloc(CONFIDENCE_TOKENS_MAX * sizeof *confidence->more);
        if (!confidence->more)
            return;
        memcpy(confidence->more, confidence->few, sizeof confidence->few);
    }
    if (confidence->more && confidence->count < CONFIDENCE_TOKENS_MAX)
        confidence->more[confidence->count++] = logprob;
    else if (!confidence->more)
        confidence->few[confidence->count++] = logprob;
}

static const float *kept(const struct confidence *confidence)
{
    return confidence->more ? confidence->more : confidence->few;
}

void confidence_add_call(struct confidence *confidence)
{
    confidence->calls = true;
}

enum confidence_kind confidence_kind(const struct confidence *confidence)
{
    if (confidence->calls)
        return CONFIDENCE_CALL;
    bool label = confidence->whole && confidence->ended && confidence->token_count <= 2;
    return label ? CONFIDENCE_LABEL : CONFIDENCE_ANSWER;
}

const char *confidence_kind_name(enum confidence_kind kind)
{
    static const char *const names[] = {"answer", "call", "label"};
    return names[kind];
}

/* 0 stays 0: what cannot be right is not made likely by a bias. */
static double calibrate(const struct confidence *confidence, double value)
{
    enum confidence_kind kind = confidence_kind(confidence);
    struct confidence_scale scale = {confidence->temperature, confidence->bias};
    if (kind != CONFIDENCE_ANSWER)
        scale = kind == CONFIDENCE_CALL ? confidence->call : confidence->label;
    if (scale.temperature <= 0 || value <= 0)
        return value;
    double sure = value < SURE ? value : SURE;
    double odds = log(sure / (1 - sure)) / scale.temperature + scale.bias;
    return 1 / (1 + exp(-odds));
}

void confidence_add(struct confidence *confidence, const struct td_token_stats *stats)
{
    bool odd = !(stats->logprob < 1e-3f); /* also NAN */
    float logprob = odd ? -INFINITY : fminf(stats->logprob, 0);
    confidence->odd_count += odd;
    if (!confidence->begun && stats->not_mine > 0)
        confidence->not_mine = stats->not_mine < 1 ? stats->not_mine : 1;
    if (!confidence->begun && stats->probe > 0)
        confidence->probe = stats->probe < 1 ? stats->probe : 1;
    confidence->begun = true;
    if (confidence->calls && stats->forced)
        return;
    keep(confidence, logprob);
    confidence->token_count++;
    confidence->logprob_sum += fmax((double)logprob, LOGPROB_LEAST);
    confidence->margin_sum += stats->margin > 0 && stats->margin <= 1 ? (double)stats->margin : 0;
    if (stats->margin < confidence->margin_min)
        confidence->margin_min = stats->margin;
    if (stats->entropy > 0 && stats->entropy < 1e6f)
        confidence->entropy_sum += stats->entropy;
}

static int ascending(const void *a, const void *b)
{
    float x = *(const float *)a, y = *(const float *)b;
    return (x > y) - (x < y);
}

void confidence_end(struct confidence *confidence, bool by_itself)
{
    confidence->whole = true;
    confidence->ended = by_itself;
}

static uint32_t sort_logprobs(const struct confidence *confidence,
                              float sorted[static CONFIDENCE_TOKENS_MAX])
{
    memcpy(sorted, kept(confidence), confidence->count * sizeof *sorted);
    qsort(sorted, confidence->count, sizeof *sorted, ascending);
    return confidence->count;
}

void confidence_features(const struct confidence *confidence, struct confidence_features *out)
{
    static const unsigned percents[] = {5, 10, 25};
    ASSERT(confidence->count > 0);
    float sorted[CONFIDENCE_TOKENS_MAX];
    uint32_t count = sort_logprobs(confidence, sorted);
    double tokens = (double)confidence->token_count, *value = out->value;
    value[CONFIDENCE_MIN_LOGPROB] = fmax((double)sorted[0], LOGPROB_LEAST);
    for (size_t i = 0; i < 3; i++) { /* the ceil(q n)th smallest */
        uint32_t rank = (count * percents[i] + 99) / 100;
        value[CONFIDENCE_Q05_LOGPROB + i] =
            fmax((double)sorted[rank > 0 ? rank - 1 : 0], LOGPROB_LEAST);
    }
    value[CONFIDENCE_MEAN_LOGPROB] = confidence->logprob_sum / tokens;
    value[CONFIDENCE_FIRST_LOGPROB] = fmax((double)kept(confidence)[0], LOGPROB_LEAST);
    value[CONFIDENCE_MEAN_MARGIN] = confidence->margin_sum / tokens;
    value[CONFIDENCE_MIN_MARGIN] = confidence->margin_min > 0 ? (double)confidence->margin_min : 0;
    value[CONFIDENCE_MEAN_ENTROPY] = confidence->entropy_sum / tokens;
    value[CONFIDENCE_LENGTH] = log1p(tokens);
    value[CONFIDENCE_ENDED] = confidence->ended;
    value[CONFIDENCE_MINE] = log(fmax(1 - (double)confidence->not_mine, 1e-7));
    value[CONFIDENCE_PROBE] =
        confidence->probe > 0 ? second_log_odds((double)confidence->probe) : 0;
}

void confidence_weigh(struct confidence *confidence, double value)
{
    confidence->weighed = true;
    confidence->weight = value;
}

double confidence_value(const struct confidence *confidence)
{
    if (confidence->weighed)
        return confidence->weight;
    if (confidence->count == 0)
        return NAN;
    if (confidence->model) {
        struct confidence_features features;
        confidence_features(confidence, &features);
        return confidence_head_value(
            confidence->whole ? &confidence->model->whole : &confidence->model->running, &features);
    }
    float sorted[CONFIDENCE_TOKENS_MAX];
    uint32_t count = sort_logprobs(confidence, sorted);
    uint32_t lowest = count / 4 > 0 ? count / 4 : 1;
    double sum = 0;
    for (uint32_t i = 0; i < lowest; i++)
        sum += sorted[i];
    return calibrate(confidence, (1 - (double)confidence->not_mine) * exp(sum / lowest));
}
