/* Element-wise operations, attention and logit statistics, written once in the vector words of
 * simd_<isa>.h and compiled by vector_<isa>.c for each instruction set. Include that header
 * first. */
#ifndef KERNELS_VECTOR_BODY_H
#define KERNELS_VECTOR_BODY_H

#include <math.h>
#include <string.h>

#include "kernels/variants.h"

/* exp(x) = 2^n exp(r), n = round(x / ln 2), |r| <= ln(2) / 2 + a rounding. exp(r) is Taylor's sum
 * to the seventh power: what is left out is below r^8 / 8! < 5.3e-9 of the result. ln 2 is taken
 * off in two parts, the first with nine low bits zero so that n * LN2_HIGH is exact. With the
 * roundings of the sum (1 + r dominates) the relative error stays below 2e-7 for results that are
 * normal floats. x is held to [-104, 88.7]: outside, the result is 0 or close to the largest float.
 * NaN stays NaN. */
SIMD_INLINE vec vec_exp(vec x)
{
    const float ln2_high = 0x1.62e4p-1f, ln2_low = 0x1.7f7d1cp-20f;
    x = vec_min(vec_set(88.7f), vec_max(vec_set(-104.0f), x));
    vec n = vec_round(vec_mul(x, vec_set(0x1.715476p+0f)));
    vec r = vec_fnma(n, vec_set(ln2_high), x);
    r = vec_fnma(n, vec_set(ln2_low), r);
    vec sum = vec_set(1.0f / 5040);
    sum = vec_fma(sum, r, vec_set(1.0f / 720));
    sum = vec_fma(sum, r, vec_set(1.0f / 120));
    sum = vec_fma(sum, r, vec_set(1.0f / 24));
    sum = vec_fma(sum, r, vec_set(1.0f / 6));
    sum = vec_fma(sum, r, vec_set(0.5f));
    sum = vec_fma(sum, r, vec_set(1.0f));
    sum = vec_fma(sum, r, vec_set(1.0f));
    return vec_scale(sum, n);
}

/* tanh(x) = 1 - 2 / (exp(2x) + 1), which loses its digits near zero; there Taylor's sum to the
 * ninth power: what is left out is below 0.009 x^10 < 2e-8 of the result for |x| < 1/4. From 1/4 on
 * the subtraction costs at most 2 u / 0.24 and the exponential less: 8e-7 relative in all. NaN
 * stays NaN. */
SIMD_INLINE vec vec_tanh(vec x)
{
    vec size = vec_max(x, vec_sub(vec_set(0), x)), square = vec_mul(x, x);
    vec sum = vec_set(62.0f / 2835);
    sum = vec_fma(sum, square, vec_set(-17.0f / 315));
    sum = vec_fma(sum, square, vec_set(2.0f / 15));
    sum = vec_fma(sum, square, vec_set(-1.0f / 3));
    vec small = vec_fma(vec_mul(sum, square), x, x);
    vec e = vec_exp(vec_add(size, size));
    vec large = vec_sub(vec_set(1), vec_div(vec_set(2), vec_add(e, vec_set(1))));
    large = vec_if_greater(x, vec_set(0), large, vec_sub(vec_set(0), large));
    return vec_if_greater(size, vec_set(0.25f), large, small);
}

/* ---- element-wise ---------------------------------------------------------------------------- */

void VARIANT(rms_norm)(const float *x, const float *w, size_t n, float eps, float *y)
{
    enum { PART = 512 }; /* float sums of 512, added up in double: the error does not grow with n */
    double squares = 0;
    for (size_t begin = 0; begin < n; begin += PART) {
        size_t end = n - begin < PART ? n : begin + PART;
        vec sum = vec_set(0);
        size_t i = begin;
        for (; i + LANES <= end; i += LANES) {
            vec v = vec_load(x + i);
            sum = vec_fma(v, v, sum);
        }
        vec v = vec_load_part(x + i, end - i);
        squares += (double)vec_sum(vec_fma(v, v, sum));
    }
    vec scale = vec_set((float)(1.0 / sqrt(squares / (double)n + (double)eps)));
    size_t i = 0;
    for (; i + LANES <= n; i += LANES)
        vec_store(y + i, vec_mul(vec_mul(vec_load(x + i), scale), vec_load(w + i)));
    vec rest = vec_mul(vec_mul(vec_load_part(x + i, n - i), scale), vec_load_part(w + i, n - i));
    vec_store_part(y + i, rest, n - i);
}

SIMD_INLINE vec silu_times(vec gate, vec up)
{
    vec e = vec_exp(vec_sub(vec_set(0), gate));
    return vec_mul(vec_div(gate, vec_add(vec_set(1), e)), up);
}

void VARIANT(silu_multiply)(float *gate, const float *up, size_t n)
{
    size_t i = 0;
    for (; i + LANES <= n; i += LANES)
        vec_store(gate + i, silu_times(vec_load(gate + i), vec_load(up + i)));
    vec rest = silu_times(vec_load_part(gate + i, n - i), vec_load_part(up + i, n - i));
    vec_store_part(gate + i, rest, n - i);
}

/* Twice the argument of the tanh has an error of a few roundings of its own size, which the
 * exponential makes relative: see the checker's bound. */
SIMD_INLINE vec gelu_times(vec gate, vec up)
{
    vec square = vec_mul(gate, gate);
    vec twice_u = vec_mul(vec_mul(gate, vec_set(-1.5957691216057307f)), /* negated */
                          vec_fma(square, vec_set(0.044715f), vec_set(1)));
    return vec_mul(vec_div(gate, vec_add(vec_set(1), vec_exp(twice_u))), up);
}

void VARIANT(gelu_multiply)(float *gate, const float *up, size_t n)
{
    size_t i = 0;
    for (; i + LANES <= n; i += LANES)
        vec_store(gate + i, gelu_times(vec_load(gate + i), vec_load(up + i)));
    vec rest = gelu_times(vec_load_part(gate + i, n - i), vec_load_part(up + i, n - i));
    vec_store_part(gate + i, rest, n - i);
}

void VARIANT(add_scaled)(float *x, const float *y, float factor, size_t n)
{
    size_t i = 0;
    for (; i + LANES <= n; i += LANES)
        vec_store(x + i, vec_fma(vec_load(y + i), vec_set(factor), vec_load(x + i)));
    vec rest = vec_fma(vec_load_part(y + i, n - i), vec_set(factor), vec_load_part(x + i, n - i));
    vec_store_part(x + i, rest, n - i);
}

void VARIANT(scale)(float *x, float factor, size_t n)
{
    size_t i = 0;
    for (; i + LANES <= n; i += LANES)
        vec_store(x + i, vec_mul(vec_load(x + i), vec_set(factor)));
    vec_store_part(x + i, vec_mul(vec_load_part(x + i, n - i), vec_set(factor)), n - i);
}

SIMD_INLINE vec capped(vec x, float cap)
{
    return vec_mul(vec_tanh(vec_div(x, vec_set(cap))), vec_set(cap));
}

void VARIANT(soft_cap)(float *x, float cap, size_t n)
{
    size_t i = 0;
    for (; i + LANES <= n; i += LANES)
        vec_store(x + i, capped(vec_load(x + i), cap));
    vec_store_part(x + i, capped(vec_load_part(x + i, n - i), cap), n - i);
}

void VARIANT(add)(float *x, const float *y, size_t n)
{
    size_t i = 0;
    for (; i + LANES <= n; i += LANES)
        vec_store(x + i, vec_add(vec_load(x + i), vec_load(y + i)));
    vec_store_part(x + i, vec_add(vec_load_part(x + i, n - i), vec_load_part(y + i, n - i)), n - i);
}

void VARIANT(rope)(float *head, const float *cos_sin, size_t n_rot, bool interleaved)
{
    size_t pairs = n_rot / 2, i = 0;
    if (interleaved) {
        for (; i + LANES / 2 <= pairs; i += LANES / 2) {
            vec v = vec_load(head + 2 * i), angles = vec_load(cos_sin + 2 * i);
            vec turned = vec_mul(vec_swap_pairs(v), vec_odd_twice(angles));
            vec_store(head + 2 * i, vec_fmaddsub(v, vec_even_twice(angles), turned));
        }
        rope_ref(head + 2 * i, cos_sin + 2 * i, n_rot - 2 * i, true);
        return;
    }
    for (; i + LANES <= pairs; i += LANES) {
        vec cosine, sine, a = vec_load(head + i), b = vec_load(head + pairs + i);
        vec_unzip(cos_sin + 2 * i, &cosine, &sine);
        vec_store(head + i, vec_fnma(b, sine, vec_mul(a, cosine)));
        vec_store(head + pairs + i, vec_fma(a, sine, vec_mul(b, cosine)));
    }
    for (; i < pairs; i++) {
        float a = head[i], b = head[pairs + i];
        head[i] = a * cos_sin[2 * i] - b * cos_sin[2 * i + 1];
        head[pairs + i] = a * cos_sin[2 * i + 1] + b * cos_sin[2 * i];
    }
}

void VARIANT(store_kv)(const float *x, size_t n, enum td_kv_type kv_type, void *out)
{
    if (kv_type == TD_KV_F32) {
        memcpy(out, x, n * sizeof *x);
        return;
    }
    uint16_t *halves = out;
    size_t i = 0;
    for (; i + LANES <= n; i += LANES)
        half_store(halves + i, vec_load(x + i));
    half_store_part(halves + i, vec_load_part(x + i, n - i), n - i);
}

/* ---- attention ------------------------------------------------------------------------------- */

/* Online softmax over blocks of positions (Milakov & Gimelshein 2018; Dao et al. 2022, section
 * 3.1): scores of one block stand in a small array, the sums so far are rescaled when the maximum
 * grows. Heads go in fours so that each loaded key or value serves four. */
enum { ATTEND_BLOCK = 32, ATTEND_HEADS = 4 };

struct attend_head {
    float maximum;
    float total;
    float scores[ATTEND_BLOCK];
};

SIMD_INLINE vec cache_load(const void *cache, enum td_kv_type kv_type, size_t at)
{
    if (kv_type == TD_KV_F16)
        return half_load((const uint16_t *)cache + at);
    return vec_load((const float *)cache + at);
}

SIMD_INLINE vec cache_load_part(const void *cache, enum td_kv_type kv_type, size_t at, size_t n)
{
    if (kv_type == TD_KV_F16)
        return half_load_part((const uint16_t *)cache + at, n);
    return vec_load_part((const float *)cache + at, n);
}

/* Keys and values of one position are a whole row of all kv heads away from the next: too far apart
 * for the hardware to see a stream, so the position this far ahead is asked for. */
enum { ATTEND_AHEAD = 8 };

SIMD_INLINE void prefetch_position(const void *cache, enum td_kv_type kv_type, size_t at,
                                   size_t head_size)
{
    size_t element_bytes = kv_type == TD_KV_F16 ? 2 : 4;
    const char *line = (const char *)cache + at * element_bytes;
    for (size_t i = 0; i < head_size * element_bytes; i += 64)
        __builtin_prefetch(line + i);
}

/* Scaled scores of `heads` queries with the keys of one block. */
SIMD_INLINE void block_scores(const float *q, const void *k, const void *v, enum td_kv_type kv_type,
                              size_t head_size, int heads, size_t kv_stride, size_t begin,
                              size_t count, float scale, struct attend_head *states)
{
    for (size_t p = 0; p < count; p++) {
        size_t at = (begin + p) * kv_stride, d = 0;
        vec sums[ATTEND_HEADS];
        float scores[ATTEND_HEADS];
        prefetch_position(k, kv_type, at + ATTEND_AHEAD * kv_stride, head_size);
        prefetch_position(v, kv_type, at, head_size);
#pragma GCC unroll 4
        for (int h = 0; h < ATTEND_HEADS; h++)
            sums[h] = vec_set(0);
        for (; d + LANES <= head_size; d += LANES) {
            vec key = cache_load(k, kv_type, at + d);
#pragma GCC unroll 4
            for (int h = 0; h < heads; h++)
                sums[h] = vec_fma(key, vec_load(q + (size_t)h * head_size + d), sums[h]);
        }
        if (d < head_size) {
            size_t n = head_size - d;
            vec key = cache_load_part(k, kv_type, at + d, n);
#pragma GCC unroll 4
            for (int h = 0; h < heads; h++)
                sums[h] = vec_fma(key, vec_load_part(q + (size_t)h * head_size + d, n), sums[h]);
        }
        vec_store_four_sums(scores, sums[0], sums[1], sums[2], sums[3], scale);
#pragma GCC unroll 4
        for (int h = 0; h < heads; h++)
            states[h].scores[p] = scores[h];
    }
}

SIMD_INLINE void block_cap(struct attend_head *state, size_t count, float cap)
{
    for (size_t p = count; p < ATTEND_BLOCK; p++)
        state->scores[p] = 0;
    for (size_t p = 0; p < ATTEND_BLOCK; p += LANES)
        vec_store(state->scores + p, capped(vec_load(state->scores + p), cap));
}

/* Turns scores into weights exp(score - maximum), zero after `count`; returns what the sums so far
 * have to be multiplied with. */
SIMD_INLINE float block_weights(struct attend_head *state, size_t count)
{
    vec largest = vec_set(state->maximum);
    for (size_t p = count; p < ATTEND_BLOCK; p++)
        state->scores[p] = -INFINITY;
    for (size_t p = 0; p < ATTEND_BLOCK; p += LANES)
        largest = vec_max(largest, vec_load(state->scores + p));
    float maximum = vec_largest(largest);
    vec sum = vec_set(0);
    for (size_t p = 0; p < ATTEND_BLOCK; p += LANES) {
        vec weights = vec_exp(vec_sub(vec_load(state->scores + p), vec_set(maximum)));
        vec_store(state->scores + p, weights);
    }
    for (size_t p = count; p < ATTEND_BLOCK; p++)
        state->scores[p] = 0;
    for (size_t p = 0; p < ATTEND_BLOCK; p += LANES)
        sum = vec_add(sum, vec_load(state->scores + p));
    float correction = expf(state->maximum - maximum);
    state->total = state->total * correction + vec_sum(sum);
    state->maximum = maximum;
    return correction;
}

SIMD_INLINE void block_values(const void *v, enum td_kv_type kv_type, size_t head_size, int heads,
                              size_t kv_stride, size_t begin, size_t count,
                              const struct attend_head *states, const float *corrections,
                              float *out)
{
    for (size_t d = 0; d < head_size; d += LANES) {
        size_t n = head_size - d;
        vec sums[ATTEND_HEADS];
#pragma GCC unroll 4
        for (int h = 0; h < heads; h++) {
            float *to = out + (size_t)h * head_size + d;
            vec so_far = n >= LANES ? vec_load(to) : vec_load_part(to, n);
            sums[h] = vec_mul(so_far, vec_set(corrections[h]));
        }
        for (size_t p = 0; p < count; p++) {
            size_t at = (begin + p) * kv_stride + d;
            vec value =
                n >= LANES ? cache_load(v, kv_type, at) : cache_load_part(v, kv_type, at, n);
#pragma GCC unroll 4
            for (int h = 0; h < heads; h++)
                sums[h] = vec_fma(value, vec_set(states[h].scores[p]), sums[h]);
        }
#pragma GCC unroll 4
        for (int h = 0; h < heads; h++) {
            float *to = out + (size_t)h * head_size + d;
            if (n >= LANES)
                vec_store(to, sums[h]);
            else
                vec_store_part(to, sums[h], n);
        }
    }
}

SIMD_INLINE void attend_heads(const float *q, const void *k, const void *v, enum td_kv_type kv_type,
                              size_t head_size, int heads, size_t kv_stride, size_t count,
                              float scale, float cap, float *out)
{
    struct attend_head states[ATTEND_HEADS];
    float corrections[ATTEND_HEADS];
    for (int h = 0; h < heads; h++)
        states[h] = (struct attend_head){.maximum = -INFINITY};
    memset(out, 0, (size_t)heads * head_size * sizeof *out);
    for (size_t begin = 0; begin < count; begin += ATTEND_BLOCK) {
        size_t n = count - begin < ATTEND_BLOCK ? count - begin : ATTEND_BLOCK;
        block_scores(q, k, v, kv_type, head_size, heads, kv_stride, begin, n, scale, states);
        for (int h = 0; h < heads; h++) {
            if (cap > 0)
                block_cap(&states[h], n, cap);
            corrections[h] = block_weights(&states[h], n);
        }
        block_values(v, kv_type, head_size, heads, kv_stride, begin, n, states, corrections, out);
    }
    for (int h = 0; h < heads; h++) {
        float inverse = 1.0f / states[h].total;
        for (size_t d = 0; d < head_size; d++)
            out[(size_t)h * head_size + d] *= inverse;
    }
}

#define ATTEND_DEFINE(kv_type, heads)                                                        \
    static void attend_##kv_type##_##heads(const float *q, const void *k, const void *v,     \
                                           size_t head_size, size_t kv_stride, size_t count, \
                                           float scale, float cap, float *out)               \
    {                                                                                        \
        attend_heads(q, k, v, kv_type, head_size, heads, kv_stride, count, scale, cap, out); \
    }
ATTEND_DEFINE(TD_KV_F16, 1)
ATTEND_DEFINE(TD_KV_F16, 2)
ATTEND_DEFINE(TD_KV_F16, 3)
ATTEND_DEFINE(TD_KV_F16, 4)
ATTEND_DEFINE(TD_KV_F32, 1)
ATTEND_DEFINE(TD_KV_F32, 2)
ATTEND_DEFINE(TD_KV_F32, 3)
ATTEND_DEFINE(TD_KV_F32, 4)

void VARIANT(attend)(const float *q, const void *k, const void *v, enum td_kv_type kv_type,
                     size_t head_size, size_t group, size_t kv_stride, size_t count, float scale,
                     float cap, float *out)
{
    typedef void attend_fn(const float *, const void *, const void *, size_t, size_t, size_t, float,
                           float, float *);
    static attend_fn *const by_heads[2][ATTEND_HEADS] = {
        {attend_TD_KV_F16_1, attend_TD_KV_F16_2, attend_TD_KV_F16_3, attend_TD_KV_F16_4},
        {attend_TD_KV_F32_1, attend_TD_KV_F32_2, attend_TD_KV_F32_3, attend_TD_KV_F32_4},
    };
    for (size_t g = 0; g < group; g += ATTEND_HEADS) {
        size_t heads = group - g < ATTEND_HEADS ? group - g : ATTEND_HEADS;
        by_heads[kv_type == TD_KV_F32][heads - 1](q + g * head_size, k, v, head_size, kv_stride,
                                                  count, scale, cap, out + g * head_size);
    }
}

/* ---- logits ---------------------------------------------------------------------------------- */

enum { STATS_BLOCK = 64 * LANES }; /* in the first-level cache between the two looks at it */

struct stats_lanes {
    vec maximum, second;
    vec_int block; /* number of the vector that holds the lane's maximum */
};

SIMD_INLINE void stats_see(struct stats_lanes *lanes, vec x, size_t number)
{
    vec loser = vec_if_greater(x, lanes->maximum, lanes->maximum, x);
    lanes->second = vec_max(loser, lanes->second);
    lanes->block = int_if_greater(x, lanes->maximum, int_set((int32_t)number), lanes->block);
    lanes->maximum = vec_max(x, lanes->maximum);
}

/* Best and second best over all lanes. A logit that equals the maximum elsewhere is the second. */
static void stats_finish(const struct stats_lanes *lanes, struct logit_stats *out)
{
    float maximum[LANES], second[LANES];
    int32_t block[LANES];
    vec_store(maximum, lanes->maximum);
    vec_store(second, lanes->second);
    int_store(block, lanes->block);
    out->max = out->second = -INFINITY;
    for (size_t i = 0; i < LANES; i++) {
        uint32_t index = (uint32_t)block[i] * LANES + (uint32_t)i;
        if (maximum[i] > out->max || (maximum[i] == out->max && index < out->argmax)) {
            out->second = fmaxf(out->second, out->max);
            out->max = maximum[i];
            out->argmax = index;
        } else {
            out->second = fmaxf(out->second, maximum[i]);
        }
        out->second = fmaxf(out->second, second[i]);
    }
}

/* From here down exp is so close to the smallest normal float that it counts as nothing in a sum of at least 1.
 * Holding arguments here keeps minus infinity from making 0 * infinity, and the sums from subnormal numbers,
 * which cost a hundred times as much where a grammar has forbidden most tokens. */
#define EXP_FLOOR (-87.0f)

/* Adds exp(x - maximum) and exp(x - maximum) (x - maximum) of one block. NaN passes. */
SIMD_INLINE void stats_sum(const float *logits, size_t n, float maximum, struct logit_stats *out)
{
    vec sum = vec_set(0), sum_x = vec_set(0);
    for (size_t i = 0; i < n; i += LANES) {
        float rest[LANES];
        const float *at = logits + i;
        if (n - i < LANES) {
            for (size_t j = 0; j < LANES; j++)
                rest[j] = j < n - i ? at[j] : -INFINITY;
            at = rest;
        }
        vec x = vec_max(vec_set(EXP_FLOOR), vec_sub(vec_load(at), vec_set(maximum)));
        vec e = vec_exp(x);
        sum = vec_add(sum, e);
        sum_x = vec_fma(e, x, sum_x);
    }
    out->sum_exp += (double)vec_sum(sum);
    out->sum_exp_x += (double)vec_sum(sum_x);
}

void VARIANT(logit_stats)(const float *logits, size_t n, struct logit_stats *out)
{
    *out = (struct logit_stats){.max = -INFINITY};
    struct stats_lanes lanes = {vec_set(-INFINITY), vec_set(-INFINITY), int_set(0)};
    float maximum = -INFINITY;
    for (size_t begin = 0; begin < n; begin += STATS_BLOCK) {
        size_t count = n - begin < STATS_BLOCK ? n - begin : STATS_BLOCK;
        size_t i = 0;
        for (; i + LANES <= count; i += LANES)
            stats_see(&lanes, vec_load(logits + begin + i), (begin + i) / LANES);
        if (i < count) {
            float rest[LANES];
            for (size_t j = 0; j < LANES; j++)
                rest[j] = j < count - i ? logits[begin + i + j] : -INFINITY;
            stats_see(&lanes, vec_load(rest), (begin + i) / LANES);
        }
        float grown = vec_largest(lanes.maximum);
        if (!(maximum > -INFINITY) && out->sum_exp > 0) {
            out->sum_exp = out->sum_exp_x = 0; /* of nothing but minus infinity; NaN stays */
        } else if (grown > maximum && out->sum_exp > 0) {
            /* exp(x - new) = exp(x - old) exp(old - new), and (x - new) = (x - old) + (old -
             * new) */
            double shift = (double)maximum - (double)grown, factor = exp(shift);
            out->sum_exp_x = factor * (out->sum_exp_x + shift * out->sum_exp);
            out->sum_exp *= factor;
        }
        maximum = grown;
        /* Nothing but minus infinity so far: its distance to itself is no number, to 0 it is. */
        stats_sum(logits + begin, count, maximum > -INFINITY ? maximum : 0.0f, out);
    }
    stats_finish(&lanes, out);
}

/* The rest of a block, filled up with minus infinity. */
SIMD_INLINE vec logits_rest(const float *logits, size_t n)
{
    float rest[LANES];
    for (size_t j = 0; j < LANES; j++)
        rest[j] = j < n ? logits[j] : -INFINITY;
    return vec_load(rest);
}

void VARIANT(block_maxima)(const float *logits, size_t n, float *maxima)
{
    for (size_t begin = 0; begin < n; begin += LOGIT_BLOCK) {
        size_t end = n - begin < LOGIT_BLOCK ? n : begin + LOGIT_BLOCK, i = begin;
        vec maximum = vec_set(-INFINITY);
        for (; i + LANES <= end; i += LANES)
            maximum = vec_max(vec_load(logits + i), maximum);
        if (i < end)
            maximum = vec_max(logits_rest(logits + i, end - i), maximum);
        maxima[begin / LOGIT_BLOCK] = vec_largest(maximum);
    }
}

SIMD_INLINE vec exp_scaled(vec logit, vec max, vec factor)
{
    return vec_exp(vec_max(vec_set(EXP_FLOOR), vec_mul(vec_sub(logit, max), factor)));
}

void VARIANT(block_exp_sums)(const float *logits, size_t n, float max, float factor, float *sums)
{
    for (size_t begin = 0; begin < n; begin += LOGIT_BLOCK) {
        size_t end = n - begin < LOGIT_BLOCK ? n : begin + LOGIT_BLOCK, i = begin;
        vec sum = vec_set(0);
        for (; i + LANES <= end; i += LANES)
            sum = vec_add(sum, exp_scaled(vec_load(logits + i), vec_set(max), vec_set(factor)));
        if (i < end) {
            vec rest = logits_rest(logits + i, end - i);
            sum = vec_add(sum, exp_scaled(rest, vec_set(max), vec_set(factor)));
        }
        sums[begin / LOGIT_BLOCK] = vec_sum(sum);
    }
}

/* ---- table ----------------------------------------------------------------------------------- */

const struct kernels VARIANT(kernels) = {
    .name = VARIANT_NAME,
    .form_of = activation_form_of,
    .activation_bytes = activation_form_bytes,
    .activation_prepare = VARIANT(activation_prepare),
    .matmul = VARIANT(matmul),
#ifdef VARIANT_PANEL_FORMS
    .panel_forms = VARIANT_PANEL_FORMS,
    .panel_prepare = VARIANT(panel_prepare),
    .matmul_panels = VARIANT(matmul_panels),
#endif
    .dequantize =
        dequantize_ref, /* one row a token: not worth a second version that must be exact */
    .rms_norm = VARIANT(rms_norm),
    .silu_multiply = VARIANT(silu_multiply),
    .gelu_multiply = VARIANT(gelu_multiply),
    .add = VARIANT(add),
    .add_scaled = VARIANT(add_scaled),
    .scale = VARIANT(scale),
    .soft_cap = VARIANT(soft_cap),
    .rope = VARIANT(rope),
    .attend = VARIANT(attend),
    .store_kv = VARIANT(store_kv),
    .logit_stats = VARIANT(logit_stats),
    .block_maxima = VARIANT(block_maxima),
    .block_exp_sums = VARIANT(block_exp_sums),
};

#endif
