#include "engine/sampler.h"

#include "base/error.h"

#include <math.h>

struct td_sampling td_sampling_default(void)
{
    return (struct td_sampling){.temperature = 1.0f, .top_p = 1.0f, .repetition_penalty = 1.0f};
}

static enum td_status bad_setting(struct td_error *err, const char *name, double value,
                                  const char *range)
{
    return error_set(err, TD_INVALID, "%s is %g, not in %s", name, value, range);
}

enum td_status sampler_init(struct sampler *sampler, const struct td_sampling *sampling,
                            struct td_error *err)
{
    *sampler = (struct sampler){.sampling = *sampling};
    /* Negated comparisons, so that NaN is out of range. */
    if (!(sampling->temperature >= 0.0f && sampling->temperature <= 100.0f))
        return bad_setting(err, "temperature", (double)sampling->temperature, "[0, 100]");
    if (!(sampling->top_p >= 0.0f && sampling->top_p <= 1.0f))
        return bad_setting(err, "top_p", (double)sampling->top_p, "[0, 1]");
    if (!(sampling->min_p >= 0.0f && sampling->min_p <= 1.0f))
        return bad_setting(err, "min_p", (double)sampling->min_p, "[0, 1]");
    if (!(sampling->repetition_penalty > 0.0f && sampling->repetition_penalty <= 100.0f))
        return bad_setting(err, "repetition_penalty", (double)sampling->repetition_penalty,
                           "(0, 100]");
    uint64_t seed = sampling->seed;
    if (!sampling->seed_set) {
        enum td_status status = rng_system_seed(&seed, err);
        if (status != TD_OK)
            return status;
    }
    rng_init(&sampler->rng, seed);
    return TD_OK;
}

void sampler_accept(struct sampler *sampler, int32_t id)
{
    sampler->recent[sampler->recent_count++ % SAMPLER_RECENT_TOKENS] = id;
}

/* --- repetition penalty --- */

struct penalised {
    int32_t ids[SAMPLER_RECENT_TOKENS];
    float logits[SAMPLER_RECENT_TOKENS]; /* before */
    uint32_t count;
};

/* CTRL (Keskar et al. 2019, section 4.1): logits of recent tokens are divided by the penalty when
 * positive, multiplied when negative; each token once. What is changed is noted, to be put back. */
static void penalise(const struct sampler *sampler, float *logits, uint32_t vocab_count,
                     struct penalised *out)
{
    float penalty = sampler->sampling.repetition_penalty;
    out->count = 0;
    if (penalty == 1.0f)
        return;
    uint32_t recent = sampler->recent_count < SAMPLER_RECENT_TOKENS ? sampler->recent_count
                                                                    : SAMPLER_RECENT_TOKENS;
    for (uint32_t i = 0; i < recent; i++) {
        int32_t id = sampler->recent[i];
        bool seen = id < 0 || (uint32_t)id >= vocab_count;
        for (uint32_t j = 0; j < out->count && !seen; j++)
            seen = out->ids[j] == id;
        if (seen)
            continue;
        out->ids[out->count] = id;
        out->logits[out->count++] = logits[id];
        logits[id] = logits[id] > 0 ? logits[id] / penalty : logits[id] * penalty;
    }
}

static void restore(float *logits, const struct penalised *penalised)
{
    for (uint32_t i = 0; i < penalised->count; i++)
        logits[penalised->ids[i]] = penalised->logits[i];
}

/* --- candidates --- */

/* Whether a comes before b: larger logit, then smaller id. */
static bool before(struct sampler_candidate a, struct sampler_candidate b)
{
    return a.logit > b.logit || (a.logit == b.logit && a.id < b.id);
}

static void sift_down(struct sampler_candidate *heap, uint32_t at, uint32_t count)
{
    struct sampler_candidate moving = heap[at];
    for (uint32_t child; (child = 2 * at + 1) < count; at = child) {
        if (child + 1 < count && before(heap[child + 1], heap[child]))
            child++;
        if (!before(heap[child], moving))
            break;
        heap[at] = heap[child];
    }
    heap[at] = moving;
}

/* Lowest logit that top-p and min-p can still keep. Tokens below (1 - top_p) / vocab hold less than
 * 1 - top_p together, so the nucleus is complete without them: the cut changes nothing, and makes
 * the heap a few hundred entries instead of the vocabulary. */
static float cut_off(const struct td_sampling *sampling, const struct logit_stats *stats,
                     uint32_t vocab_count)
{
    double cut = -INFINITY;
    if (sampling->min_p > 0.0f) /* keeps p >= min_p * p_max */
        cut = (double)stats->max + log((double)sampling->min_p);
    if (sampling->top_p < 1.0f) {
        double rest = (1.0 - (double)sampling->top_p) / vocab_count;
        cut = fmax(cut, (double)stats->max + log(stats->sum_exp * rest));
    }
    return (float)fmin(cut, (double)stats->max);
}

/* Fills `candidates` with what the filters keep, best first; returns the number, at least 1. */
static uint32_t filter(const struct sampler *sampler, const float *logits, uint32_t vocab_count,
                       const struct logit_stats *stats, struct sampler_candidate *candidates)
{
    const struct td_sampling *sampling = &sampler->sampling;
    float cut = cut_off(sampling, stats, vocab_count);
    uint32_t count = 0;
    for (uint32_t i = 0; i < vocab_count; i++)
        if (logits[i] >= cut)
            candidates[count++] = (struct sampler_candidate){logits[i], (int32_t)i};
    for (uint32_t i = count / 2; i-- > 0;)
        sift_down(candidates, i, count);
    uint32_t kept_max = sampling->top_k && sampling->top_k < count ? sampling->top_k : count;
    double mass = 0, mass_wanted = (double)sampling->top_p * stats->sum_exp;
    uint32_t kept = 0;
    /* Popping the heap leaves the sorted best at the array's end, in falling places. */
    while (kept < kept_max && (kept == 0 || mass < mass_wanted || sampling->top_p >= 1.0f)) {
        struct sampler_candidate best = candidates[0];
        candidates[0] = candidates[count - 1 - kept];
        candidates[count - 1 - kept] = best;
        kept++;
        if (count > kept)
            sift_down(candidates, 0, count - kept);
        mass += exp((double)(best.logit - stats->max));
    }
    for (uint32_t i = 0; i < kept;
         i++) { /* to the front, best first; swaps, as the ranges may meet */
        if (i >= count - 1 - i)
            break;
        struct sampler_candidate swapped = candidates[i];
        candidates[i] = candidates[count - 1 - i];
        candidates[count - 1 - i] = swapped;
    }
    return kept;
}

/* --- drawing --- */

static int32_t draw_from_candidates(struct sampler *sampler, struct sampler_candidate *candidates,
                                    uint32_t count)
{
    double inverse = 1.0 / (double)sampler->sampling.temperature, sum = 0;
    float max = candidates[0].logit;
    for (uint32_t i = 0; i < count; i++)
        sum += exp((double)(candidates[i].logit - max) * inverse);
    double target = rng_double(&sampler->rng) * sum;
    for (uint32_t i = 0; i < count; i++) {
        target -= exp((double)(candidates[i].logit - max) * inverse);
        if (target < 0)
            return candidates[i].id;
    }
    return candidates[0].id; /* rounding left a rest: the likeliest is as good as any */
}

/* Without filters no candidate list is needed: two passes over the logits. */
static int32_t draw_from_all(struct sampler *sampler, const float *logits, uint32_t vocab_count,
                             const struct logit_stats *stats)
{
    double inverse = 1.0 / (double)sampler->sampling.temperature, sum = stats->sum_exp;
    if (sampler->sampling.temperature != 1.0f) {
        sum = 0;
        for (uint32_t i = 0; i < vocab_count; i++)
            sum += exp((double)(logits[i] - stats->max) * inverse);
    }
    double target = rng_double(&sampler->rng) * sum;
    for (uint32_t i = 0; i < vocab_count; i++) {
        target -= exp((double)(logits[i] - stats->max) * inverse);
        if (target < 0)
            return (int32_t)i;
    }
    return (int32_t)stats->argmax;
}

static enum td_status measure(const struct kernels *kernels, const float *logits,
                              uint32_t vocab_count, struct logit_stats *stats, struct td_error *err)
{
    kernels->logit_stats(logits, vocab_count, stats);
    /* The maximum itself contributes exp(0), so a sound sum is finite and at least 1. */
    if (!isfinite(stats->max) || !(stats->sum_exp >= 0.5) || !isfinite(stats->sum_exp) ||
        stats->argmax >= vocab_count)
        return error_set(err, TD_CORRUPT,
                         "the model's output is not a number: its weights are damaged");
    return TD_OK;
}

static void fill_stats(const float *logits, const struct logit_stats *stats, int32_t id,
                       int32_t not_mine_id, struct td_token_stats *out)
{
    double log_sum = log(stats->sum_exp);
    double entropy = log_sum - stats->sum_exp_x / stats->sum_exp;
    double margin = (1.0 - exp((double)(stats->second - stats->max))) / stats->sum_exp;
    *out = (struct td_token_stats){
        .logprob = (float)((double)(logits[id] - stats->max) - log_sum),
        .margin = (float)margin,
        .entropy = isfinite(entropy) && entropy > 0 ? (float)entropy : 0.0f,
    };
    if (not_mine_id >= 0)
        out->not_mine = (float)(exp((double)(logits[not_mine_id] - stats->max)) / stats->sum_exp);
}

enum td_status sampler_choose(struct sampler *sampler, const struct kernels *kernels, float *logits,
                              uint32_t vocab_count, int32_t not_mine_id,
                              struct sampler_candidate *candidates, struct sampler_choice *choice,
                              struct td_error *err)
{
    const struct td_sampling *sampling = &sampler->sampling;
    struct logit_stats stats, penalised_stats;
    enum td_status status = measure(kernels, logits, vocab_count, &stats, err);
    if (status != TD_OK)
        return status;
    struct penalised penalised;
    penalise(sampler, logits, vocab_count, &penalised);
    penalised_stats = stats;
    if (penalised.count)
        status = measure(kernels, logits, vocab_count, &penalised_stats, err);
    if (status != TD_OK) {
        restore(logits, &penalised);
        return status;
    }
    bool filtered = sampling->top_k || sampling->top_p < 1.0f || sampling->min_p > 0.0f;
    /* Below this temperature the second best has no chance left in double precision. */
    if (sampling->temperature < 1e-4f)
        choice->id = (int32_t)penalised_stats.argmax;
    else if (!filtered)
        choice->id = draw_from_all(sampler, logits, vocab_count, &penalised_stats);
    else
        choice->id = draw_from_candidates(
            sampler, candidates,
            filter(sampler, logits, vocab_count, &penalised_stats, candidates));
    restore(logits, &penalised);
    fill_stats(logits, &stats, choice->id, not_mine_id, &choice->stats);
    return TD_OK;
}

size_t sampler_top_logprobs(const struct kernels *kernels, const float *logits,
                            uint32_t vocab_count, size_t count, struct td_top_logprob *out)
{
    struct logit_stats stats;
    struct sampler_candidate best[TD_TOP_LOGPROBS_MAX];
    size_t found = 0;
    count = count < TD_TOP_LOGPROBS_MAX ? count : TD_TOP_LOGPROBS_MAX;
    if (count == 0)
        return 0;
    kernels->logit_stats(logits, vocab_count, &stats);
    for (uint32_t i = 0; i < vocab_count; i++) {
        if (found == count && !(logits[i] > best[found - 1].logit))
            continue; /* nearly every token ends here */
        struct sampler_candidate candidate = {logits[i], (int32_t)i};
        size_t at = found < count ? found++ : found - 1;
        for (; at > 0 && before(candidate, best[at - 1]); at--)
            best[at] = best[at - 1];
        best[at] = candidate;
    }
    double log_sum = log(stats.sum_exp);
    for (size_t i = 0; i < found; i++)
        out[i] = (struct td_top_logprob){best[i].id,
                                         (float)((double)(best[i].logit - stats.max) - log_sum)};
    return found;
}
