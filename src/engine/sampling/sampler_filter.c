/* Keeps the tokens that top-n-sigma, typical-p, top-k, top-p and min-p allow. Sorting a vocabulary
 * of 10^5 tokens would cost more than a small model's layer. So each filter first gives a logit
 * below which it keeps nothing. Blocks whose maximum is below that are skipped. Only the few
 * hundred tokens that remain go into a heap, from which the best are taken one by one. */
#include "engine/sampling/sampler_filter.h"

#include "base/core/assertion.h"

#include <math.h>

bool sampler_before(struct sampler_candidate a, struct sampler_candidate b)
{
    return a.logit > b.logit || (a.logit == b.logit && a.id < b.id);
}

static void sift_down(struct sampler_candidate *heap, uint32_t at, uint32_t count)
{
    struct sampler_candidate moving = heap[at];
    for (uint32_t child; (child = 2 * at + 1) < count; at = child) {
        if (child + 1 < count && sampler_before(heap[child + 1], heap[child]))
            child++;
        if (!sampler_before(heap[child], moving))
            break;
        heap[at] = heap[child];
    }
    heap[at] = moving;
}

static void make_heap(struct sampler_candidate *candidates, uint32_t count)
{
    for (uint32_t i = count / 2; i-- > 0;)
        sift_down(candidates, i, count);
}

/* A lower bound of the k-th largest logit: the k-th largest of the blocks' maxima. The heap holds
 * negated values, so the smallest maximum of those seen so far is on its top. */
static float top_k_bound(const struct sampler_row *row, uint32_t k)
{
    uint32_t blocks = sampler_block_count(row->vocab_count);
    struct sampler_candidate *heap = row->candidates;
    if (k == 0 || k > blocks)
        return -INFINITY;
    for (uint32_t b = 0; b < k; b++)
        heap[b] = (struct sampler_candidate){-row->blocks[b], (int32_t)b};
    make_heap(heap, k);
    for (uint32_t b = k; b < blocks; b++)
        if (row->blocks[b] > -heap[0].logit) {
            heap[0] = (struct sampler_candidate){-row->blocks[b], (int32_t)b};
            sift_down(heap, 0, k);
        }
    return -heap[0].logit;
}

/* Top-n-sigma (Tang et al. 2024, "Top-nσ: not all logits are you need", section 3) keeps logits of
 * at least max - n sigma. sigma is the standard deviation of all logits that are not -INFINITY. */
static double sigma_cut(const struct td_sampling *sampling, const struct sampler_row *row,
                        const struct logit_stats *stats)
{
    double sum = 0, squares = 0, count = 0;
    for (uint32_t i = 0; i < row->vocab_count; i++) {
        double x = (double)row->logits[i] - (double)stats->max;
        if (x > -INFINITY) {
            sum += x;
            squares += x * x;
            count++;
        }
    }
    double variance = fmax(0.0, squares / count - (sum / count) * (sum / count));
    return (double)stats->max - (double)sampling->top_n_sigma * sqrt(variance);
}

static bool is_typical(const struct td_sampling *sampling)
{
    return sampling->typical_p > 0.0f && sampling->typical_p < 1.0f;
}

/* The lowest logit that the filters can still keep. Tokens whose probability is below (1 - top_p) /
 * vocab hold less than 1 - top_p together, so the nucleus is complete without them. The cut changes
 * no result, but the heap has a few hundred entries instead of the vocabulary. min-p's own cut is
 * exact. */
static float cut_off(const struct td_sampling *sampling, const struct sampler_row *row,
                     const struct logit_stats *stats)
{
    double cut = -INFINITY;
    if (sampling->top_n_sigma > 0.0f)
        cut = sigma_cut(sampling, row, stats);
    if (is_typical(sampling)) /* it needs all tokens */
        return (float)fmin(cut, (double)stats->max);
    if (sampling->min_p > 0.0f) /* keeps p >= min_p * p_max */
        cut = fmax(cut, (double)stats->max + log((double)sampling->min_p));
    if (sampling->top_p < 1.0f && !(sampling->top_n_sigma > 0.0f)) {
        double rest = (1.0 - (double)sampling->top_p) / row->vocab_count;
        cut = fmax(cut, (double)stats->max + log(stats->sum_exp * rest));
    }
    if (sampling->top_k)
        cut = fmax(cut, (double)top_k_bound(row, sampling->top_k));
    return (float)fmin(cut, (double)stats->max);
}

/* Takes the best candidate off the heap and puts it where the heap ended. */
static struct sampler_candidate pop(struct sampler_candidate *heap, uint32_t count)
{
    struct sampler_candidate best = heap[0];
    heap[0] = heap[count - 1];
    heap[count - 1] = best;
    if (count > 1)
        sift_down(heap, 0, count - 1);
    return best;
}

/* The popped candidates are at the end of `count` places, the best one last. Moves them to the
 * front, the best one first. */
static void bring_to_front(struct sampler_candidate *candidates, uint32_t count, uint32_t kept)
{
    for (uint32_t i = 0; i < kept && i < count - 1 - i; i++) {
        struct sampler_candidate swapped = candidates[i];
        candidates[i] = candidates[count - 1 - i];
        candidates[count - 1 - i] = swapped;
    }
}

/* Locally typical sampling (Meister et al. 2022, section 4): keeps the tokens whose surprise is
 * nearest to the entropy, until they hold typical_p of the probability. Returns their number. While
 * this runs, `logit` holds the distance, by which the heap is ordered. */
static uint32_t keep_typical(const struct td_sampling *sampling, const struct sampler_row *row,
                             const struct logit_stats *stats, uint32_t count)
{
    struct sampler_candidate *candidates = row->candidates;
    double log_sum = log(stats->sum_exp), entropy = log_sum - stats->sum_exp_x / stats->sum_exp;
    double wanted = (double)sampling->typical_p * stats->sum_exp, mass = 0;
    uint32_t kept = 0;
    for (uint32_t i = 0; i < count; i++) {
        double surprise = log_sum - (double)(candidates[i].logit - stats->max);
        candidates[i].logit = -(float)fabs(surprise - entropy);
    }
    make_heap(candidates, count);
    for (; kept < count && (kept == 0 || mass < wanted); kept++) {
        int32_t id = pop(candidates, count - kept).id;
        mass += exp((double)(row->logits[id] - stats->max));
    }
    bring_to_front(candidates, count, kept);
    for (uint32_t i = 0; i < kept; i++)
        candidates[i].logit = row->logits[candidates[i].id];
    return kept;
}

bool sampler_filters(const struct td_sampling *sampling)
{
    return sampling->top_k || sampling->top_p < 1.0f || sampling->min_p > 0.0f ||
           is_typical(sampling) || sampling->top_n_sigma > 0.0f || sampling->xtc_probability > 0.0f;
}

uint32_t sampler_collect(const struct sampler_row *row, float cut)
{
    uint32_t count = 0;
    for (uint32_t b = 0; b < sampler_block_count(row->vocab_count); b++) {
        if (row->blocks[b] < cut)
            continue;
        uint32_t end = (b + 1) * LOGIT_BLOCK;
        end = end < row->vocab_count ? end : row->vocab_count;
        for (uint32_t i = b * LOGIT_BLOCK; i < end; i++)
            if (row->logits[i] >= cut && row->logits[i] > -INFINITY)
                row->candidates[count++] = (struct sampler_candidate){row->logits[i], (int32_t)i};
    }
    return count;
}

static double mass_of(const struct sampler_candidate *candidates, uint32_t count, float max)
{
    double mass = 0;
    for (uint32_t i = 0; i < count; i++)
        mass += exp((double)(candidates[i].logit - max));
    return mass;
}

/* Keeps the best candidates, until they hold `wanted` or are kept_max. */
static uint32_t keep_best(struct sampler_candidate *candidates, uint32_t count, uint32_t kept_max,
                          double wanted, float max)
{
    uint32_t kept = 0;
    double mass = 0;
    make_heap(candidates, count);
    while (kept < kept_max && (kept == 0 || mass < wanted)) {
        mass += exp((double)(pop(candidates, count - kept).logit - max));
        kept++;
    }
    bring_to_front(candidates, count, kept);
    return kept;
}

/* Keeps the candidates of at least `min`, or the best one if there is none. */
static uint32_t keep_near_best(struct sampler_candidate *candidates, uint32_t count, float min)
{
    uint32_t kept = 0;
    struct sampler_candidate best = candidates[0];
    for (uint32_t i = 0; i < count; i++) {
        best = sampler_before(candidates[i], best) ? candidates[i] : best;
        if (candidates[i].logit >= min)
            candidates[kept++] = candidates[i];
    }
    if (kept == 0)
        candidates[kept++] = best;
    return kept;
}

uint32_t sampler_filter(const struct td_sampling *sampling, const struct sampler_row *row,
                        const struct logit_stats *stats)
{
    ASSERT(row->vocab_count > 0 && row->blocks != NULL);
    struct sampler_candidate *candidates = row->candidates;
    row->kernels->block_maxima(row->logits, row->vocab_count, row->blocks);
    uint32_t count = sampler_collect(row, cut_off(sampling, row, stats));
    if (is_typical(sampling))
        count = keep_typical(sampling, row, stats, count);
    bool narrowed = is_typical(sampling) || sampling->top_n_sigma > 0.0f;
    if (sampling->top_k || sampling->top_p < 1.0f) {
        double all = narrowed ? mass_of(candidates, count, stats->max) : stats->sum_exp;
        double wanted = sampling->top_p < 1.0f ? (double)sampling->top_p * all : INFINITY;
        bool cut = sampling->top_k && sampling->top_k < count;
        count = keep_best(candidates, count, cut ? sampling->top_k : count, wanted, stats->max);
    }
    if (is_typical(sampling) && sampling->min_p > 0.0f)
        count = keep_near_best(candidates, count, stats->max + logf(sampling->min_p));
    return count;
}
