#include "engine/sampler.h"

#include "base/error.h"
#include "engine/sampler_filter.h"
#include "engine/token_filter.h"

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
    if (!(sampling->typical_p >= 0.0f && sampling->typical_p <= 1.0f))
        return bad_setting(err, "typical_p", (double)sampling->typical_p, "[0, 1]");
    if (!(sampling->presence_penalty >= -2.0f && sampling->presence_penalty <= 2.0f))
        return bad_setting(err, "presence_penalty", (double)sampling->presence_penalty, "[-2, 2]");
    if (!(sampling->frequency_penalty >= -2.0f && sampling->frequency_penalty <= 2.0f))
        return bad_setting(err, "frequency_penalty", (double)sampling->frequency_penalty,
                           "[-2, 2]");
    if (!(sampling->mirostat_tau >= 0.0f && sampling->mirostat_tau <= 100.0f))
        return bad_setting(err, "mirostat_tau", (double)sampling->mirostat_tau, "[0, 100]");
    if (!(sampling->mirostat_eta >= 0.0f && sampling->mirostat_eta <= 1.0f))
        return bad_setting(err, "mirostat_eta", (double)sampling->mirostat_eta, "[0, 1]");
    sampler->surprise_max = 2 * (double)sampling->mirostat_tau;
    enum td_status status = penalty_init(&sampler->penalty, sampling, err);
    if (status != TD_OK)
        return status;
    uint64_t seed = sampling->seed;
    if (!sampling->seed_set) {
        status = rng_system_seed(&seed, err);
        if (status != TD_OK)
            return status;
    }
    rng_init(&sampler->rng, seed);
    return TD_OK;
}

void sampler_deinit(struct sampler *sampler)
{
    penalty_deinit(&sampler->penalty);
}

void sampler_accept_answer(struct sampler *sampler, int32_t id)
{
    sampler_accept(sampler, id);
    penalty_count(&sampler->penalty, id);
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

/* Of the distribution as the model gave it; not_mine: the logit of that token, -INFINITY without one. */
static void fill_stats(float logit, const struct logit_stats *stats, float not_mine,
                       struct td_token_stats *out)
{
    double log_sum = log(stats->sum_exp);
    double entropy = log_sum - stats->sum_exp_x / stats->sum_exp;
    double margin = (1.0 - exp((double)(stats->second - stats->max))) / stats->sum_exp;
    *out = (struct td_token_stats){
        .logprob = (float)((double)(logit - stats->max) - log_sum),
        .margin = (float)margin,
        .entropy = isfinite(entropy) && entropy > 0 ? (float)entropy : 0.0f,
        .not_mine = (float)(exp((double)(not_mine - stats->max)) / stats->sum_exp),
    };
}

/* Mirostat, version 2 (Basu et al. 2021, "Mirostat", algorithm 2 as its authors published it): drop what
 * is more surprising than surprise_max bits, draw, and move surprise_max by what the draw missed tau. */
static int32_t draw_mirostat(struct sampler *sampler, const float *logits, uint32_t vocab_count,
                             const struct logit_stats *stats, struct sampler_candidate *candidates)
{
    const struct td_sampling *sampling = &sampler->sampling;
    double inverse = 1.0 / (double)sampling->temperature, sum = 0, kept = 0, logit = 0;
    for (uint32_t i = 0; i < vocab_count; i++)
        sum += exp((double)(logits[i] - stats->max) * inverse);
    double cut = log(sum) - sampler->surprise_max * log(2.0);
    uint32_t count = 1;
    candidates[0] = (struct sampler_candidate){stats->max, (int32_t)stats->argmax};
    for (uint32_t i = 0; i < vocab_count; i++)
        if (i != stats->argmax && (double)(logits[i] - stats->max) * inverse >= cut)
            candidates[count++] = (struct sampler_candidate){logits[i], (int32_t)i};
    int32_t id = draw_from_candidates(sampler, candidates, count);
    for (uint32_t i = 0; i < count; i++) {
        double x = (double)(candidates[i].logit - stats->max) * inverse;
        kept += exp(x);
        logit = candidates[i].id == id ? x : logit;
    }
    double surprise = (log(kept) - logit) / log(2.0);
    double eta = sampling->mirostat_eta > 0 ? (double)sampling->mirostat_eta : 0.1;
    sampler->surprise_max -= eta * (surprise - (double)sampling->mirostat_tau);
    return id;
}

static int32_t draw(struct sampler *sampler, const float *logits, uint32_t vocab_count,
                    const struct logit_stats *stats, struct sampler_candidate *candidates)
{
    const struct td_sampling *sampling = &sampler->sampling;
    /* Below this temperature the second best has no chance left in double precision. */
    if (sampling->temperature < 1e-4f)
        return (int32_t)stats->argmax;
    if (sampling->mirostat_tau > 0)
        return draw_mirostat(sampler, logits, vocab_count, stats, candidates);
    if (!sampler_filters(sampling))
        return draw_from_all(sampler, logits, vocab_count, stats);
    uint32_t count = sampler_filter(sampling, logits, vocab_count, stats, candidates);
    return draw_from_candidates(sampler, candidates, count);
}

/* Choices that are made again without the refused token, before all tokens are tested: a pass over the logits
 * costs a tenth of a walk over the vocabulary. */
#define REFUSALS_MAX 4

/* A choice that the grammar refuses is made again without it, at last among what it allows: each allowed
 * token is drawn with its share of what is allowed. Mirostat's correction counts the choice that stays. */
static enum td_status draw_allowed(struct sampler *sampler, const struct kernels *kernels,
                                   float *logits, uint32_t vocab_count,
                                   const struct logit_stats *stats,
                                   struct sampler_candidate *candidates, int32_t *id,
                                   struct td_error *err)
{
    double surprise_max = sampler->surprise_max;
    struct logit_stats rest = *stats;
    for (int refusals = 0;; refusals++) {
        bool allowed = true;
        sampler->surprise_max = surprise_max;
        *id = draw(sampler, logits, vocab_count, &rest, candidates);
        if (sampler->filter == NULL || refusals > REFUSALS_MAX)
            return TD_OK;
        enum td_status status = token_filter_test(sampler->filter, *id, &allowed, err);
        if (status != TD_OK || allowed)
            return status;
        logits[*id] = -INFINITY;
        if (refusals == REFUSALS_MAX)
            status = token_filter_apply(sampler->filter, logits, vocab_count, err);
        if (status == TD_OK)
            status = measure(kernels, logits, vocab_count, &rest, err);
        if (status != TD_OK)
            return status;
    }
}

enum td_status sampler_choose(struct sampler *sampler, const struct kernels *kernels, float *logits,
                              uint32_t vocab_count, int32_t not_mine_id,
                              struct sampler_candidate *candidates, struct sampler_choice *choice,
                              struct td_error *err)
{
    struct logit_stats stats, changed_stats;
    enum td_status status = measure(kernels, logits, vocab_count, &stats, err);
    if (status != TD_OK)
        return status;
    float not_mine = not_mine_id >= 0 ? logits[not_mine_id] : -INFINITY;
    bool changed = penalty_apply(&sampler->penalty, logits, vocab_count);
    struct penalised penalised;
    penalise(sampler, logits, vocab_count, &penalised);
    changed_stats = stats;
    if (penalised.count || changed)
        status = measure(kernels, logits, vocab_count, &changed_stats, err);
    if (status == TD_OK)
        status = draw_allowed(sampler, kernels, logits, vocab_count, &changed_stats, candidates,
                              &choice->id, err);
    restore(logits, &penalised);
    if (changed)
        penalty_restore(&sampler->penalty, logits, vocab_count);
    if (status == TD_OK)
        fill_stats(logits[choice->id], &stats, not_mine, &choice->stats);
    return status;
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
        for (; at > 0 && sampler_before(candidate, best[at - 1]); at--)
            best[at] = best[at - 1];
        best[at] = candidate;
    }
    double log_sum = log(stats.sum_exp);
    for (size_t i = 0; i < found; i++)
        out[i] = (struct td_top_logprob){best[i].id,
                                         (float)((double)(best[i].logit - stats.max) - log_sum)};
    return found;
}
