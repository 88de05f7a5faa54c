/* Element-wise operations and logit statistics, written once with the vector functions of
 * simd_<isa>.h and compiled by vector_<isa>.c for each instruction set. Include that header
 * first. */
#ifndef KERNELS_VECTOR_BODY_H
#define KERNELS_VECTOR_BODY_H

#include <math.h>
#include <string.h>

#include "kernels/simd_math_body.h"
#include "kernels/variants.h"

/* ---- element-wise ---------------------------------------------------------------------------- */

void VARIANT(rms_norm)(const float *x, const float *w, size_t n, float eps, float *y)
{
    enum { PART = 512 }; /* float sums of 512 are added in double: the error does not grow with n */
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

/* Sum of x - shift (power 1) or of its square (power 2). Float sums of 512 are added in double. */
SIMD_INLINE double sum_shifted(const float *x, size_t n, float shift, int power)
{
    enum { PART = 512 };
    double total = 0;
    for (size_t begin = 0; begin < n; begin += PART) {
        size_t end = n - begin < PART ? n : begin + PART, i = begin;
        vec sum = vec_set(0);
        for (; i + LANES <= end; i += LANES) {
            vec v = vec_sub(vec_load(x + i), vec_set(shift));
            sum = power == 2 ? vec_fma(v, v, sum) : vec_add(sum, v);
        }
        total += (double)vec_sum(sum);
        for (; i < end; i++) {
            double v = (double)x[i] - (double)shift;
            total += power == 2 ? v * v : v;
        }
    }
    return total;
}

/* The first element is subtracted before the mean is known, so that a row of large values that are
 * close together loses no digits. */
void VARIANT(layer_norm)(const float *x, const float *w, const float *b, size_t n, float eps,
                         float *y)
{
    float mean = n ? x[0] : 0;
    mean = (float)((double)mean + sum_shifted(x, n, mean, 1) / (double)n);
    double variance = sum_shifted(x, n, mean, 2) / (double)n;
    float scale = (float)(1.0 / sqrt(variance + (double)eps));
    size_t i = 0;
    for (; i + LANES <= n; i += LANES) {
        vec v = vec_mul(vec_sub(vec_load(x + i), vec_set(mean)), vec_set(scale));
        vec_store(y + i, vec_fma(v, vec_load(w + i), vec_load(b + i)));
    }
    vec v = vec_mul(vec_sub(vec_load_part(x + i, n - i), vec_set(mean)), vec_set(scale));
    v = vec_fma(v, vec_load_part(w + i, n - i), vec_load_part(b + i, n - i));
    vec_store_part(y + i, v, n - i);
}

/* gelu(x) = x - x Q(|x|) for x > 0 and x Q(|x|) otherwise, Q(x) = erfc(x / sqrt(2)) / 2 by
 * Abramowitz & Stegun 1964, 7.1.26: erfc(z) = (a1 t + ... + a5 t^5) exp(-z^2), t = 1 / (1 + p z),
 * within 1.5e-7. */
SIMD_INLINE vec gelu_exact(vec x)
{
    vec size = vec_max(x, vec_sub(vec_set(0), x));
    vec t = vec_div(vec_set(1), vec_fma(size, vec_set(0.3275911f * 0.70710678f), vec_set(1)));
    vec sum = vec_set(0.5f * 1.061405429f);
    sum = vec_fma(sum, t, vec_set(0.5f * -1.453152027f));
    sum = vec_fma(sum, t, vec_set(0.5f * 1.421413741f));
    sum = vec_fma(sum, t, vec_set(0.5f * -0.284496736f));
    sum = vec_fma(sum, t, vec_set(0.5f * 0.254829592f));
    vec e = vec_exp(vec_mul(vec_mul(x, vec_set(-0.5f)), x));
    vec part = vec_mul(vec_mul(vec_mul(sum, t), e), x);
    return vec_if_greater(x, vec_set(0), vec_sub(x, part), part);
}

void VARIANT(gelu)(float *x, size_t n)
{
    size_t i = 0;
    for (; i + LANES <= n; i += LANES)
        vec_store(x + i, gelu_exact(vec_load(x + i)));
    vec_store_part(x + i, gelu_exact(vec_load_part(x + i, n - i)), n - i);
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

/* Rows [row, row + count); several at a time share the loads of b and c. A row's result does not
 * depend on the others. */
SIMD_INLINE void ssm_rows(const struct ssm_task *task, size_t row, int count)
{
    size_t size = task->size, i = 0;
    float *state = task->state + row * size;
    vec decay = vec_set(task->decay), sums[4], added[4];
    for (int r = 0; r < count; r++) {
        sums[r] = vec_set(0);
        added[r] = vec_set(task->dt * task->x[row + (size_t)r]);
    }
    for (; i + LANES <= size; i += LANES) {
        vec b = vec_load(task->b + i), c = vec_load(task->c + i);
        for (int r = 0; r < count; r++) {
            float *at = state + (size_t)r * size + i;
            vec v = vec_fma(added[r], b, vec_mul(decay, vec_load(at)));
            vec_store(at, v);
            sums[r] = vec_fma(v, c, sums[r]);
        }
    }
    vec b = vec_load_part(task->b + i, size - i), c = vec_load_part(task->c + i, size - i);
    for (int r = 0; r < count; r++) {
        float *at = state + (size_t)r * size + i;
        vec v = vec_fma(added[r], b, vec_mul(decay, vec_load_part(at, size - i)));
        vec_store_part(at, v, size - i);
        task->y[row + (size_t)r] = vec_sum(vec_fma(v, c, sums[r]));
    }
}

void VARIANT(ssm_step)(const struct ssm_task *task)
{
    size_t row = 0;
    for (; row + 4 <= task->rows; row += 4)
        ssm_rows(task, row, 4);
    for (; row < task->rows; row++)
        ssm_rows(task, row, 1);
}

/* ---- logits ---------------------------------------------------------------------------------- */

enum { STATS_BLOCK = 64 * LANES }; /* stays in the first-level cache; it is read twice */

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

/* exp of this is close to the smallest normal float, which changes nothing in a sum of at least 1.
 * Arguments below it are raised to it. So minus infinity does not give 0 * infinity, and there are
 * no subnormal numbers, which would be a hundred times slower when a grammar forbids most
 * tokens. */
#define EXP_FLOOR (-87.0f)

/* Adds exp(x - maximum) and exp(x - maximum) (x - maximum) of one block. NaN stays NaN. */
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
            out->sum_exp = out->sum_exp_x = 0; /* only minus infinity so far; NaN stays */
        } else if (grown > maximum && out->sum_exp > 0) {
            /* exp(x - new) = exp(x - old) exp(old - new), and (x - new) = (x - old) + (old -
             * new) */
            double shift = (double)maximum - (double)grown, factor = exp(shift);
            out->sum_exp_x = factor * (out->sum_exp_x + shift * out->sum_exp);
            out->sum_exp *= factor;
        }
        maximum = grown;
        /* While the maximum is minus infinity, 0 is used: its distance to itself is NaN. */
        stats_sum(logits + begin, count, maximum > -INFINITY ? maximum : 0.0f, out);
    }
    stats_finish(&lanes, out);
}

/* The rest of a block, padded with minus infinity. */
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
    .panel_least = VARIANT_PANEL_LEAST,
    .panel_prepare = VARIANT(panel_prepare),
    .matmul_panels = VARIANT(matmul_panels),
#endif
    .dequantize =
        dequantize_ref, /* it runs for one row of a token; a second exact version does not pay */
    .rms_norm = VARIANT(rms_norm),
    .layer_norm = VARIANT(layer_norm),
    .gelu = VARIANT(gelu),
    .silu_multiply = VARIANT(silu_multiply),
    .gelu_multiply = VARIANT(gelu_multiply),
    .add = VARIANT(add),
    .add_scaled = VARIANT(add_scaled),
    .scale = VARIANT(scale),
    .soft_cap = VARIANT(soft_cap),
    .rope = VARIANT(rope),
    .ssm_step = VARIANT(ssm_step),
    .attend = VARIANT(attend),
    .kv_store = VARIANT(kv_store),
    .kv_load = VARIANT(kv_load),
    .logit_stats = VARIANT(logit_stats),
    .block_maxima = VARIANT(block_maxima),
    .block_exp_sums = VARIANT(block_exp_sums),
};

#endif
