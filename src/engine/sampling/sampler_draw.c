/* Draws a token. Without filters no list of candidates is needed: a block is drawn by its share of
 * the probability, then a token in the block. With filters the candidates are the few tokens that
 * they keep. Mirostat adapts how surprising a token may be to what the draws before it were. Each
 * draw takes the same number of random numbers, so a seed means the same answer however the work is
 * batched. */
#include "engine/sampling/sampler_draw.h"

#include "base/core/assertion.h"
#include "engine/sampling/sampler_filter.h"

#include <math.h>

/* Mirostat 1 estimates the shape of the distribution from this many of its likeliest tokens (Basu
 * et al. 2021, algorithm 1, m). */
#define MIROSTAT_TOKENS 100u

#define XTC_THRESHOLD_DEFAULT 0.1

/* Dynamic temperature, as llama.cpp's "dynatemp":
 *
 *     t - range + 2 range (H / log count)^exponent
 *
 * H is the entropy of what the filters kept, at temperature 1. So it is t - range when one token is
 * certain, and t + range when all are equally likely. */
static double temperature_of(const struct td_sampling *sampling, double entropy, double count)
{
    double temperature = (double)sampling->temperature, range = (double)sampling->dynamic_range;
    if (!(range > 0))
        return temperature;
    double exponent = sampling->dynamic_exponent > 0 ? (double)sampling->dynamic_exponent : 1.0;
    double low = fmax(0.0, temperature - range), high = temperature + range;
    double share = count > 1 ? fmin(1.0, fmax(0.0, entropy) / log(count)) : 0.0;
    return fmax(1e-4, low + (high - low) * pow(share, exponent));
}

/* Draws the block first, then the token in it. */
static int32_t draw_from_all(struct sampler *sampler, const struct sampler_row *row,
                             const struct logit_stats *stats)
{
    double entropy = log(stats->sum_exp) - stats->sum_exp_x / stats->sum_exp, sum = 0;
    float factor =
        (float)(1.0 / temperature_of(&sampler->sampling, entropy, (double)row->vocab_count));
    uint32_t blocks = sampler_block_count(row->vocab_count), b = 0;
    row->kernels->block_exp_sums(row->logits, row->vocab_count, stats->max, factor, row->blocks);
    for (uint32_t i = 0; i < blocks; i++)
        sum += (double)row->blocks[i];
    double target = rng_double(&sampler->rng) * sum;
    while (b < blocks && target >= (double)row->blocks[b])
        target -= (double)row->blocks[b++];
    if (b == blocks) /* the sum fell short by rounding: take the likeliest */
        return (int32_t)stats->argmax;
    uint32_t end = (b + 1) * LOGIT_BLOCK, last = stats->argmax;
    for (uint32_t i = b * LOGIT_BLOCK; i < row->vocab_count && i < end; i++) {
        double part = exp((double)(row->logits[i] - stats->max) * (double)factor);
        target -= part;
        if (target < 0)
            return (int32_t)i;
        last = part > 0 ? i : last;
    }
    return (int32_t)last; /* the same within the block */
}

/* XTC, "exclude top choices" (its author's description, p-e-w, text-generation-webui pull request
 * 6335): of the tokens that reach the threshold only the least likely stays. */
static uint32_t exclude_top_choices(struct sampler *sampler, struct sampler_candidate *candidates,
                                    uint32_t count, float max)
{
    const struct td_sampling *sampling = &sampler->sampling;
    double threshold =
        sampling->xtc_threshold > 0 ? (double)sampling->xtc_threshold : XTC_THRESHOLD_DEFAULT;
    if (!(sampling->xtc_probability > 0) || count < 2 ||
        rng_double(&sampler->rng) >= (double)sampling->xtc_probability)
        return count;
    double sum = 0;
    for (uint32_t i = 0; i < count; i++)
        sum += exp((double)(candidates[i].logit - max));
    float limit = (float)((double)max + log(threshold * sum));
    uint32_t least = count, above = 0, kept = 0;
    for (uint32_t i = 0; i < count; i++) {
        if (candidates[i].logit < limit)
            continue;
        above++;
        if (least == count || sampler_before(candidates[least], candidates[i]))
            least = i;
    }
    if (above < 2)
        return count;
    for (uint32_t i = 0; i < count; i++)
        if (i == least || candidates[i].logit < limit)
            candidates[kept++] = candidates[i];
    return kept;
}

static int32_t draw_from_candidates(struct sampler *sampler, struct sampler_candidate *candidates,
                                    uint32_t count, double temperature)
{
    double inverse = 1.0 / temperature, sum = 0;
    struct sampler_candidate best = candidates[0];
    for (uint32_t i = 1; i < count; i++)
        best = sampler_before(candidates[i], best) ? candidates[i] : best;
    for (uint32_t i = 0; i < count; i++) { /* from here on `logit` holds the weight */
        candidates[i].logit = (float)exp((double)(candidates[i].logit - best.logit) * inverse);
        sum += (double)candidates[i].logit;
    }
    double target = rng_double(&sampler->rng) * sum;
    for (uint32_t i = 0; i < count; i++) {
        target -= (double)candidates[i].logit;
        if (target < 0)
            return candidates[i].id;
    }
    return best.id; /* the sum fell short by rounding */
}

static double entropy_of(const struct sampler_candidate *candidates, uint32_t count, float max)
{
    double sum = 0, sum_x = 0;
    for (uint32_t i = 0; i < count; i++) {
        double x = (double)(candidates[i].logit - max), e = exp(x);
        sum += e;
        sum_x += e > 0 ? e * x : 0;
    }
    return log(sum) - sum_x / sum;
}

static int32_t draw_filtered(struct sampler *sampler, const struct sampler_row *row,
                             const struct logit_stats *stats)
{
    const struct td_sampling *sampling = &sampler->sampling;
    uint32_t count = sampler_filter(sampling, row, stats);
    count = exclude_top_choices(sampler, row->candidates, count, stats->max);
    double entropy =
        sampling->dynamic_range > 0 ? entropy_of(row->candidates, count, stats->max) : 0;
    return draw_from_candidates(sampler, row->candidates, count,
                                temperature_of(sampling, entropy, (double)count));
}

/* --- mirostat --------------------------------------------------------------------------------- */

/* Moves surprise_max by the difference between the draw's surprise, in bits, and tau. */
static void correct(struct sampler *sampler, double surprise)
{
    const struct td_sampling *sampling = &sampler->sampling;
    double eta = sampling->mirostat_eta > 0 ? (double)sampling->mirostat_eta : 0.1;
    sampler->surprise_max -= eta * (surprise - (double)sampling->mirostat_tau);
}

/* Draws from `count` candidates and measures the draw among them. */
static int32_t draw_and_correct(struct sampler *sampler, struct sampler_candidate *candidates,
                                uint32_t count)
{
    int32_t id =
        draw_from_candidates(sampler, candidates, count, (double)sampler->sampling.temperature);
    double sum = 0, chosen = 0; /* `logit` of the candidates holds the weights now */
    for (uint32_t i = 0; i < count; i++) {
        sum += (double)candidates[i].logit;
        chosen = candidates[i].id == id ? (double)candidates[i].logit : chosen;
    }
    correct(sampler, log2(sum / chosen));
    return id;
}

/* Version 2 (Basu et al. 2021, "Mirostat", algorithm 2 as its authors published it): drop tokens
 * that are more surprising than surprise_max bits, draw, correct. */
static int32_t draw_mirostat_2(struct sampler *sampler, const struct sampler_row *row,
                               const struct logit_stats *stats)
{
    double temperature = (double)sampler->sampling.temperature, sum = 0;
    row->kernels->block_exp_sums(row->logits, row->vocab_count, stats->max,
                                 (float)(1.0 / temperature), row->blocks);
    for (uint32_t b = 0; b < sampler_block_count(row->vocab_count); b++)
        sum += (double)row->blocks[b];
    double cut = (double)stats->max + temperature * (log(sum) - sampler->surprise_max * log(2.0));
    row->kernels->block_maxima(row->logits, row->vocab_count, row->blocks);
    uint32_t count = sampler_collect(row, fminf((float)cut, stats->max));
    return draw_and_correct(sampler, row->candidates, count);
}

/* Version 1 (the same paper, algorithm 1): estimate Zipf's exponent s from the likeliest tokens
 * (equation 30), then take the k whose top-k sampling has the wanted surprise (equation 32). */
static int32_t draw_mirostat_1(struct sampler *sampler, const struct sampler_row *row,
                               const struct logit_stats *stats)
{
    struct td_sampling only_k = {.top_k = MIROSTAT_TOKENS, .top_p = 1.0f};
    uint32_t count = sampler_filter(&only_k, row, stats);
    double temperature = (double)sampler->sampling.temperature, products = 0, squares = 0;
    for (uint32_t i = 0; i + 1 < count; i++) {
        double t = log((double)(i + 2) / (double)(i + 1));
        double b = (double)(row->candidates[i].logit - row->candidates[i + 1].logit) / temperature;
        products += t * b;
        squares += t * t;
    }
    double s = squares > 0 ? products / squares : 1.0, n = (double)row->vocab_count;
    s = fmin(fmax(s, 1e-3), 1e3);                       /* so that k is finite */
    double epsilon = fabs(s - 1) > 1e-6 ? s - 1 : 1e-6; /* its limit at s = 1 */
    double k = pow(epsilon * exp2(sampler->surprise_max) / (1 - pow(n, -epsilon)), 1 / s);
    only_k.top_k = k >= n ? row->vocab_count : k > 1 ? (uint32_t)k : 1;
    if (only_k.top_k > count)
        count = sampler_filter(&only_k, row, stats);
    return draw_and_correct(sampler, row->candidates, count < only_k.top_k ? count : only_k.top_k);
}

int32_t sampler_draw(struct sampler *sampler, const struct sampler_row *row,
                     const struct logit_stats *stats)
{
    ASSERT(isfinite(stats->max));
    const struct td_sampling *sampling = &sampler->sampling;
    if (sampler_is_greedy(sampling))
        return (int32_t)stats->argmax;
    if (sampling->mirostat_tau > 0)
        return sampling->mirostat_version == 1 ? draw_mirostat_1(sampler, row, stats)
                                               : draw_mirostat_2(sampler, row, stats);
    if (!sampler_filters(sampling))
        return draw_from_all(sampler, row, stats);
    return draw_filtered(sampler, row, stats);
}
