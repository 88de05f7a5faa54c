/* Chooses a token: applies the penalties, draws (sampler_draw.c), asks the grammar, and puts the
 * logits back as they were. Statistics come from one pass over the logits before anything changes
 * them. A grammar is asked about the chosen token only; after a few refusals all tokens are tested
 * at once (token_filter.h). The logits are worked on in blocks of LOGIT_BLOCK, so that most of a
 * large vocabulary is passed over by its blocks' maxima. */
#include "engine/sampling/sampler.h"

#include "base/core/assertion.h"
#include "base/core/error.h"
#include "engine/grammar/token_filter.h"
#include "engine/sampling/sampler_draw.h"
#include "engine/sampling/sampler_filter.h"
#include "engine/sampling/sampler_repeat.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

struct td_sampling td_sampling_default(void)
{
    return (struct td_sampling){.temperature = 1.0f, .top_p = 1.0f, .repetition_penalty = 1.0f};
}

/* A setting and its range. */
struct range {
    const char *name;
    float value;
    double min, max;
    bool above; /* min itself is not allowed */
};

static enum td_status check_ranges(const struct td_sampling *s, struct td_error *err)
{
    const struct range ranges[] = {
        {"temperature", s->temperature, 0, 100, false},
        {"top_p", s->top_p, 0, 1, false},
        {"min_p", s->min_p, 0, 1, false},
        {"typical_p", s->typical_p, 0, 1, false},
        {"top_n_sigma", s->top_n_sigma, 0, 100, false},
        {"repetition_penalty", s->repetition_penalty, 0, 100, true},
        {"repetition_window", (float)s->repetition_window, 0, SAMPLER_HISTORY_MAX, false},
        {"presence_penalty", s->presence_penalty, -2, 2, false},
        {"frequency_penalty", s->frequency_penalty, -2, 2, false},
        {"mirostat_tau", s->mirostat_tau, 0, 100, false},
        {"mirostat_eta", s->mirostat_eta, 0, 1, false},
        {"mirostat_version", (float)s->mirostat_version, 0, 2, false},
        {"dynamic_range", s->dynamic_range, 0, 100, false},
        {"dynamic_exponent", s->dynamic_exponent, 0, 100, false},
        {"xtc_probability", s->xtc_probability, 0, 1, false},
        {"xtc_threshold", s->xtc_threshold, 0, 1, false},
        {"dry_multiplier", s->dry_multiplier, 0, 100, false},
        {"dry_base", s->dry_base == 0 ? 1.75f : s->dry_base, 1, 8, false},
    };
    for (size_t i = 0; i < sizeof ranges / sizeof *ranges; i++) {
        double value = (double)ranges[i].value;
        bool low = ranges[i].above ? value > ranges[i].min : value >= ranges[i].min;
        if (!(low && value <= ranges[i].max)) /* written so that NaN is out of range */
            return error_set(err, TD_INVALID, "%s is %g, not in %c%g, %g]", ranges[i].name, value,
                             ranges[i].above ? '(' : '[', ranges[i].min, ranges[i].max);
    }
    return TD_OK;
}

enum td_status sampler_init(struct sampler *sampler, const struct td_sampling *sampling,
                            struct td_error *err)
{
    ASSERT(sampling->biases != NULL || sampling->bias_count == 0);
    *sampler = (struct sampler){.sampling = *sampling};
    enum td_status status = check_ranges(sampling, err);
    if (status != TD_OK)
        return status;
    sampler->surprise_max = 2 * (double)sampling->mirostat_tau;
    status = penalty_init(&sampler->penalty, sampling, err);
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
    free(sampler->blocks);
    sampler->blocks = NULL;
    sampler->blocks_vocab = 0;
}

void sampler_accept_answer(struct sampler *sampler, int32_t id)
{
    sampler_accept(sampler, id);
    penalty_count(&sampler->penalty, id);
}

static void mark(struct sampler *sampler, uint32_t at)
{
    sampler->recent_breaks[at] = sampler->sampling.dry_multiplier > 0 && sampler->tokenizer &&
                                 repeat_is_broken_by(sampler, sampler->recent[at]);
}

void sampler_set_dry(struct sampler *sampler, const struct sampler_dry *dry)
{
    uint32_t count = sampler->recent_count;
    sampler->dry = *dry;
    sampler->dry.breakers[SAMPLER_BREAKERS_BYTES - 2] = '\0';
    sampler->dry.breakers[SAMPLER_BREAKERS_BYTES - 1] = '\0';
    sampler->tail_len = 0;
    for (uint32_t i = count < SAMPLER_HISTORY_MAX ? 0 : count - SAMPLER_HISTORY_MAX; i < count; i++)
        mark(sampler, i % SAMPLER_HISTORY_MAX);
}

void sampler_accept(struct sampler *sampler, int32_t id)
{
    uint32_t at = sampler->recent_count++ % SAMPLER_HISTORY_MAX;
    sampler->recent[at] = id;
    mark(sampler, at);
}

void sampler_follow(struct sampler *sampler, const struct sampler *leader)
{
    ASSERT(sampler != leader);
    sampler->rng = leader->rng;
    sampler->surprise_max = leader->surprise_max;
    sampler->tokenizer = leader->tokenizer;
    sampler->recent_count = leader->recent_count;
    memcpy(sampler->recent, leader->recent, sizeof sampler->recent);
    memcpy(sampler->recent_breaks, leader->recent_breaks, sizeof sampler->recent_breaks);
    memcpy(sampler->tail, leader->tail, sizeof sampler->tail);
    sampler->tail_len = leader->tail_len;
    sampler->dry = leader->dry;
}

static enum td_status measure(const struct kernels *kernels, const float *logits,
                              uint32_t vocab_count, struct logit_stats *stats, struct td_error *err)
{
    kernels->logit_stats(logits, vocab_count, stats);
    /* The maximum itself contributes exp(0), so a correct sum is finite and at least 1. */
    if (!isfinite(stats->max) || !(stats->sum_exp >= 0.5) || !isfinite(stats->sum_exp) ||
        stats->argmax >= vocab_count)
        return error_set(err, TD_CORRUPT,
                         "the model's output is not a number: its weights are damaged");
    return TD_OK;
}

/* Statistics of the distribution as the model gave it. not_mine: the logit of that token, -INFINITY
 * when the model has none. */
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

/* How often the choice is made again without the refused token before all tokens are tested: a pass
 * over the logits costs a tenth of a walk over the vocabulary. */
#define REFUSALS_MAX 4

/* The same for greedy choices, where two small blocks give the next best token. */
#define REFUSALS_GREEDY_MAX 64

/* Finds the best token by the blocks' maxima. */
static uint32_t best_of_blocks(const struct sampler_row *row)
{
    uint32_t best = 0;
    for (uint32_t b = 1; b < sampler_block_count(row->vocab_count); b++)
        best = row->blocks[b] > row->blocks[best] ? b : best;
    uint32_t i = best * LOGIT_BLOCK, end = i + LOGIT_BLOCK;
    end = end < row->vocab_count ? end : row->vocab_count;
    while (i + 1 < end && row->logits[i] != row->blocks[best])
        i++;
    return i;
}

/* *id is the best token, and the grammar refuses it. Finds the best token that it allows. */
static enum td_status take_best_allowed(struct sampler *sampler, const struct sampler_row *row,
                                        int32_t *id, struct td_error *err)
{
    bool allowed = false, sorted = token_filter_knows(sampler->filter);
    enum td_status status = TD_OK;
    if (!sorted)
        row->kernels->block_maxima(row->logits, row->vocab_count, row->blocks);
    for (int refusals = 1; !sorted && refusals < REFUSALS_GREEDY_MAX; refusals++) {
        uint32_t begin = (uint32_t)*id / LOGIT_BLOCK * LOGIT_BLOCK, left = row->vocab_count - begin;
        row->logits[*id] = -INFINITY;
        row->kernels->block_maxima(row->logits + begin, left < LOGIT_BLOCK ? left : LOGIT_BLOCK,
                                   &row->blocks[begin / LOGIT_BLOCK]);
        *id = (int32_t)best_of_blocks(row);
        if (!(row->logits[*id] > -INFINITY))
            break;
        status = token_filter_test(sampler->filter, *id, &allowed, err);
        if (status != TD_OK || allowed)
            return status;
    }
    struct logit_stats rest;
    status = token_filter_apply(sampler->filter, row->logits, row->vocab_count, err);
    if (status == TD_OK)
        status = measure(row->kernels, row->logits, row->vocab_count, &rest, err);
    if (status == TD_OK)
        *id = (int32_t)rest.argmax;
    return status;
}

/* When the grammar refuses a choice, it is made again without that token, and at last among the
 * allowed tokens only. So each allowed token is drawn with its share of the allowed probability.
 * Mirostat's correction counts only the choice that stays. */
static enum td_status draw_allowed(struct sampler *sampler, const struct sampler_row *row,
                                   const struct logit_stats *stats, int32_t *id,
                                   struct td_error *err)
{
    double surprise_max = sampler->surprise_max;
    struct logit_stats rest = *stats;
    for (int refusals = 0;; refusals++) {
        bool allowed = true;
        sampler->surprise_max = surprise_max;
        *id = sampler_draw(sampler, row, &rest);
        if (sampler->filter == NULL || refusals > REFUSALS_MAX)
            return TD_OK;
        enum td_status status = token_filter_test(sampler->filter, *id, &allowed, err);
        if (status != TD_OK || allowed)
            return status;
        if (sampler_is_greedy(&sampler->sampling))
            return take_best_allowed(sampler, row, id, err);
        row->logits[*id] = -INFINITY;
        if (token_filter_is_cheap(sampler->filter))
            refusals = REFUSALS_MAX;
        if (refusals == REFUSALS_MAX)
            status = token_filter_apply(sampler->filter, row->logits, row->vocab_count, err);
        if (status == TD_OK)
            status = measure(row->kernels, row->logits, row->vocab_count, &rest, err);
        if (status != TD_OK)
            return status;
    }
}

static enum td_status make_blocks(struct sampler *sampler, uint32_t vocab_count,
                                  struct td_error *err)
{
    if (sampler->blocks_vocab >= vocab_count)
        return TD_OK;
    free(sampler->blocks);
    sampler->blocks = calloc(sampler_block_count(vocab_count), sizeof *sampler->blocks);
    sampler->blocks_vocab = sampler->blocks ? vocab_count : 0;
    return sampler->blocks ? TD_OK : error_set(err, TD_NO_MEMORY, "no memory for a sampler");
}

enum td_status sampler_choose(struct sampler *sampler, const struct kernels *kernels, float *logits,
                              uint32_t vocab_count, int32_t not_mine_id,
                              struct sampler_candidate *candidates, struct sampler_choice *choice,
                              struct td_error *err)
{
    ASSERT(vocab_count > 0 && not_mine_id < (int64_t)vocab_count);
    ASSERT(candidates != NULL && choice != NULL);
    struct logit_stats stats, changed_stats;
    enum td_status status = measure(kernels, logits, vocab_count, &stats, err);
    if (status == TD_OK)
        status = make_blocks(sampler, vocab_count, err);
    if (status != TD_OK)
        return status;
    const struct sampler_row row = {kernels, logits, vocab_count, candidates, sampler->blocks};
    float not_mine = not_mine_id >= 0 ? logits[not_mine_id] : -INFINITY;
    bool changed = penalty_apply(&sampler->penalty, logits, vocab_count);
    struct repeat_changes changes;
    repeat_apply(sampler, logits, vocab_count, &changes);
    changed_stats = stats;
    if (changes.count || changed)
        status = measure(kernels, logits, vocab_count, &changed_stats, err);
    if (status == TD_OK)
        status = draw_allowed(sampler, &row, &changed_stats, &choice->id, err);
    repeat_restore(logits, &changes);
    if (changed)
        penalty_restore(&sampler->penalty, logits, vocab_count);
    if (status == TD_OK)
        fill_stats(logits[choice->id], &stats, not_mine, &choice->stats);
    return status;
}

size_t sampler_top_logprobs(const struct kernels *kernels, const float *logits,
                            uint32_t vocab_count, size_t count, struct td_top_logprob *out)
{
    ASSERT(out != NULL || count == 0);
    struct logit_stats stats;
    struct sampler_candidate best[TD_TOP_LOGPROBS_MAX];
    size_t found = 0;
    count = count < TD_TOP_LOGPROBS_MAX ? count : TD_TOP_LOGPROBS_MAX;
    if (count == 0)
        return 0;
    kernels->logit_stats(logits, vocab_count, &stats);
    for (uint32_t i = 0; i < vocab_count; i++) {
        if (found == count && !(logits[i] > best[found - 1].logit))
            continue; /* nearly all tokens end here */
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
