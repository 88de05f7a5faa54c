#include "engine/sampler_filter.h"

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

/* Lowest logit that top-p and min-p can still keep. Tokens below (1 - top_p) / vocab hold less than
 * 1 - top_p together, so the nucleus is complete without them: the cut changes nothing, and makes the heap
 * a few hundred entries instead of the vocabulary. */
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

static void make_heap(struct sampler_candidate *candidates, uint32_t count)
{
    for (uint32_t i = count / 2; i-- > 0;)
        sift_down(candidates, i, count);
}

/* Takes the best off the heap; it goes to the place that this leaves free at the heap's end. */
static struct sampler_candidate pop(struct sampler_candidate *heap, uint32_t count)
{
    struct sampler_candidate best = heap[0];
    heap[0] = heap[count - 1];
    heap[count - 1] = best;
    if (count > 1)
        sift_down(heap, 0, count - 1);
    return best;
}

/* What was popped stands at the end of `count` places, best last: to the front, best first. */
static void bring_to_front(struct sampler_candidate *candidates, uint32_t count, uint32_t kept)
{
    for (uint32_t i = 0; i < kept && i < count - 1 - i; i++) {
        struct sampler_candidate swapped = candidates[i];
        candidates[i] = candidates[count - 1 - i];
        candidates[count - 1 - i] = swapped;
    }
}

/* Locally typical sampling (Meister et al. 2022, section 4): the tokens whose surprise is nearest to the
 * entropy, until they hold typical_p of the mass. Returns their number, and their mass in units of
 * exp(logit - max). The heap's order is by the logit member, which holds the distance meanwhile. */
static uint32_t keep_typical(const struct td_sampling *sampling, const float *logits,
                             uint32_t vocab_count, const struct logit_stats *stats,
                             struct sampler_candidate *candidates, double *mass)
{
    double log_sum = log(stats->sum_exp), entropy = log_sum - stats->sum_exp_x / stats->sum_exp;
    double wanted = (double)sampling->typical_p * stats->sum_exp;
    uint32_t count = 0, kept = 0;
    for (uint32_t i = 0; i < vocab_count; i++) {
        double surprise = log_sum - (double)(logits[i] - stats->max);
        if (logits[i] > -INFINITY)
            candidates[count++] =
                (struct sampler_candidate){-(float)fabs(surprise - entropy), (int32_t)i};
    }
    make_heap(candidates, count);
    for (*mass = 0; kept < count && (kept == 0 || *mass < wanted); kept++) {
        int32_t id = pop(candidates, count - kept).id;
        *mass += exp((double)(logits[id] - stats->max));
    }
    bring_to_front(candidates, count, kept);
    for (uint32_t i = 0; i < kept; i++)
        candidates[i].logit = logits[candidates[i].id];
    return kept;
}

bool sampler_filters(const struct td_sampling *sampling)
{
    return sampling->top_k || sampling->top_p < 1.0f || sampling->min_p > 0.0f ||
           (sampling->typical_p > 0.0f && sampling->typical_p < 1.0f);
}

uint32_t sampler_filter(const struct td_sampling *sampling, const float *logits,
                        uint32_t vocab_count, const struct logit_stats *stats,
                        struct sampler_candidate *candidates)
{
    uint32_t count = 0;
    double mass = 0, mass_all = stats->sum_exp;
    float min = -INFINITY;
    if (sampling->typical_p > 0.0f && sampling->typical_p < 1.0f) {
        count = keep_typical(sampling, logits, vocab_count, stats, candidates, &mass_all);
        if (sampling->min_p > 0.0f)
            min = stats->max + logf(sampling->min_p);
    } else {
        float cut = cut_off(sampling, stats, vocab_count);
        for (uint32_t i = 0; i < vocab_count; i++)
            if (logits[i] >= cut)
                candidates[count++] = (struct sampler_candidate){logits[i], (int32_t)i};
    }
    make_heap(candidates, count);
    uint32_t kept_max = sampling->top_k && sampling->top_k < count ? sampling->top_k : count;
    uint32_t kept = 0;
    double mass_wanted = (double)sampling->top_p * mass_all;
    while (kept < kept_max && (kept == 0 || mass < mass_wanted || sampling->top_p >= 1.0f)) {
        if (kept > 0 && candidates[0].logit < min)
            break;
        mass += exp((double)(pop(candidates, count - kept).logit - stats->max));
        kept++;
    }
    bring_to_front(candidates, count, kept);
    return kept;
}
