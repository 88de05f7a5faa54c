/* Attention, written once with the vector functions of simd_<isa>.h and compiled by
 * attention_<isa>.c for each instruction set. Include that header first.
 *
 * Scores and weighted values are both products of a few rows (queries, weights) with a matrix whose
 * rows are adjacent in the page. An element of each row is broadcast, multiplied with a few vectors
 * of a row of the matrix, and summed in registers. Every sum has one accumulator and runs upward
 * over its index, whatever the number of rows. So results do not depend on how queries are
 * grouped. */
#ifndef KERNELS_ATTENTION_BODY_H
#define KERNELS_ATTENTION_BODY_H

#include <math.h>
#include <string.h>

#include "base/core/assertion.h"
#include "kernels/kv_page.h"
#include "kernels/simd_math_body.h"
#include "kernels/variants.h"

enum {
    ROWS_MAX = 6,              /* 6 x 4 sums, 4 operands and a broadcast fill 32 registers, */
    VECS = LANES == 8 ? 2 : 4, /* 6 x 2 the 16 of AVX2 */
    LINE = 64                  /* bytes of one prefetch */
};

/* Weights of the rows at the positions of a page. */
struct weights {
    float at[ROWS_MAX][KV_PAGE_TOKENS];
};

SIMD_INLINE vec element_load(const void *matrix, enum td_kv_type kv_type, size_t at)
{
    if (kv_type == TD_KV_F16)
        return half_load((const uint16_t *)matrix + at);
    return vec_load((const float *)matrix + at);
}

/* sums[r] += sum over k of a[r * a_stride + k] * matrix[k * stride ..], k < count. `ahead` is
 * memory that is needed soon; each row prefetches two lines of it. */
SIMD_INLINE void multiply(const float *a, size_t a_stride, int rows, const void *matrix,
                          enum td_kv_type kv_type, size_t stride, size_t count, int vecs,
                          const char *ahead, vec sums[ROWS_MAX][VECS])
{
    for (size_t k = 0; k < count; k++) {
        vec operand[VECS];
        if (kv_type == TD_KV_F16) {
            __builtin_prefetch(ahead + k * 2 * LINE);
            __builtin_prefetch(ahead + k * 2 * LINE + LINE);
        }
#pragma GCC unroll 4
        for (int v = 0; v < vecs; v++)
            operand[v] = element_load(matrix, kv_type, k * stride + (size_t)v * LANES);
#pragma GCC unroll 6
        for (int r = 0; r < rows; r++) {
            vec x = vec_set(a[(size_t)r * a_stride + k]);
#pragma GCC unroll 4
            for (int v = 0; v < vecs; v++)
                sums[r][v] = vec_fma(x, operand[v], sums[r][v]);
        }
    }
}

/* The same with int8. An element is multiplied with a scale, either of its column or of its row k;
 * the other one is absent. That is exact, so the sums are those of the page that kv_load makes. */
SIMD_INLINE void multiply_bytes(const float *a, size_t a_stride, int rows, const int8_t *matrix,
                                size_t stride, size_t count, int vecs, const vec *column_scales,
                                const float *const *row_scales, vec sums[ROWS_MAX][VECS])
{
    for (size_t k = 0; k < count; k++) {
        vec operand[VECS];
#pragma GCC unroll 4
        for (int v = 0; v < vecs; v++)
            operand[v] = vec_mul(column_scales ? column_scales[v] : vec_set(row_scales[v][k]),
                                 byte_load(matrix + k * stride + (size_t)v * LANES));
#pragma GCC unroll 6
        for (int r = 0; r < rows; r++) {
            vec x = vec_set(a[(size_t)r * a_stride + k]);
#pragma GCC unroll 4
            for (int v = 0; v < vecs; v++)
                sums[r][v] = vec_fma(x, operand[v], sums[r][v]);
        }
    }
}

/* ---- scores ---------------------------------------------------------------------------------- */

/* Products with the keys of VECS vectors of positions from `begin` on. */
SIMD_INLINE void multiply_keys(const struct attend_task *task, enum td_kv_type kv_type,
                               const float *q, int rows, size_t begin, vec sums[ROWS_MAX][VECS])
{
    size_t size = task->head_size;
    if (kv_type != TD_KV_Q8_0) {
        const void *keys = (const char *)task->keys + begin * (kv_type == TD_KV_F16 ? 2 : 4);
        multiply(q, size, rows, keys, kv_type, KV_PAGE_TOKENS, size, VECS, task->values, sums);
        return;
    }
    const int8_t *keys = (const int8_t *)task->keys + begin;
    const uint16_t *scales =
        (const uint16_t *)((const void *)((const int8_t *)task->keys + size * KV_PAGE_TOKENS)) +
        begin;
    for (size_t i = 0; i < size; i += KV_SCALE_BLOCK, scales += KV_PAGE_TOKENS) {
        size_t count = size - i < KV_SCALE_BLOCK ? size - i : KV_SCALE_BLOCK;
        vec block[VECS];
        for (int v = 0; v < VECS; v++)
            block[v] = half_load(scales + v * LANES);
        multiply_bytes(q + i, size, rows, keys + i * KV_PAGE_TOKENS, KV_PAGE_TOKENS, count, VECS,
                       block, NULL, sums);
    }
}

SIMD_INLINE void row_scores(const struct attend_task *task, enum td_kv_type kv_type, const float *q,
                            int rows, struct weights *scores)
{
    enum { WIDE = VECS * LANES };
    for (size_t begin = task->begin / WIDE * WIDE; begin < task->end; begin += WIDE) {
        vec sums[ROWS_MAX][VECS];
#pragma GCC unroll 6
        for (int r = 0; r < rows; r++)
#pragma GCC unroll 4
            for (int v = 0; v < VECS; v++)
                sums[r][v] = vec_set(0);
        multiply_keys(task, kv_type, q, rows, begin, sums);
#pragma GCC unroll 6
        for (int r = 0; r < rows; r++)
#pragma GCC unroll 4
            for (int v = 0; v < VECS; v++)
                vec_store(scores->at[r] + begin + (size_t)v * LANES,
                          vec_mul(sums[r][v], vec_set(task->scale)));
    }
}

/* ---- weights --------------------------------------------------------------------------------- */

static void fill_outside(const struct attend_task *task, float *scores, float value)
{
    for (size_t i = 0; i < task->begin; i++)
        scores[i] = value;
    for (size_t i = task->end; i < KV_PAGE_TOKENS; i++)
        scores[i] = value;
}

/* Applies the cap. Scores outside the positions become -INFINITY. */
static void bound_scores(const struct attend_task *task, bool whole, float *scores)
{
    if (!whole)
        fill_outside(task, scores, task->cap > 0 ? 0 : -INFINITY);
    if (task->cap > 0) {
        for (size_t i = 0; i < KV_PAGE_TOKENS; i += LANES)
            vec_store(scores + i, capped(vec_load(scores + i), task->cap));
        if (!whole)
            fill_outside(task, scores, -INFINITY);
    }
}

static float largest_score(const float *scores, float so_far)
{
    vec first = vec_set(so_far), second = first;
#pragma GCC unroll 4
    for (size_t i = 0; i < KV_PAGE_TOKENS; i += 2 * LANES) {
        first = vec_max(first, vec_load(scores + i));
        second = vec_max(second, vec_load(scores + i + LANES));
    }
    return vec_largest(vec_max(first, second));
}

/* Makes weights of scores; returns their sum. */
static float weigh(const struct attend_task *task, bool whole, float *scores, float maximum)
{
    vec first = vec_set(0), second = first;
#pragma GCC unroll 4
    for (size_t i = 0; i < KV_PAGE_TOKENS; i += 2 * LANES) {
        vec weight = vec_exp_weight(vec_sub(vec_load(scores + i), vec_set(maximum)));
        vec next = vec_exp_weight(vec_sub(vec_load(scores + i + LANES), vec_set(maximum)));
        vec_store(scores + i, weight);
        vec_store(scores + i + LANES, next);
        first = vec_add(first, weight);
        second = vec_add(second, next);
    }
    if (whole)
        return vec_sum(vec_add(first, second));
    fill_outside(task, scores, 0);
    first = second = vec_set(0);
    for (size_t i = 0; i < KV_PAGE_TOKENS; i += 2 * LANES) {
        first = vec_add(first, vec_load(scores + i));
        second = vec_add(second, vec_load(scores + i + LANES));
    }
    return vec_sum(vec_add(first, second));
}

/* Turns scores into weights exp(score - maximum), zero outside the positions. If the maximum grew,
 * it rescales the sums of the row. Each step runs for all rows, because a row alone would wait for
 * each of its results. */
static void rows_weights(const struct attend_task *task, struct weights *weights, size_t rows,
                         struct attend_state *states, float *sums)
{
    const bool whole = task->begin == 0 && task->end == KV_PAGE_TOKENS;
    const size_t columns = kv_value_columns(task->head_size);
    float maxima[ROWS_MAX], totals[ROWS_MAX];
    if (!whole || task->cap > 0)
        for (size_t r = 0; r < rows; r++)
            bound_scores(task, whole, weights->at[r]);
    for (size_t r = 0; r < rows; r++)
        maxima[r] = largest_score(weights->at[r], states[r].maximum);
    for (size_t r = 0; r < rows; r++)
        totals[r] = weigh(task, whole, weights->at[r], maxima[r]);
    for (size_t r = 0; r < rows; r++, sums += columns) {
        float kept = 1;
        /* Else it is exactly 1, or there is nothing to rescale. */
        if (states[r].total != 0 && maxima[r] != states[r].maximum) {
            kept = expf(states[r].maximum - maxima[r]);
            for (size_t i = 0; i < columns; i += LANES)
                vec_store(sums + i, vec_mul(vec_load(sums + i), vec_set(kept)));
        }
        states[r] = (struct attend_state){maxima[r], states[r].total * kept + totals[r]};
    }
}

/* ---- values ---------------------------------------------------------------------------------- */

/* Products with the values of `vecs` vectors of columns. */
SIMD_INLINE void multiply_values(const struct attend_task *task, enum td_kv_type kv_type, int rows,
                                 size_t column, int vecs, const struct weights *weights,
                                 vec sums[ROWS_MAX][VECS])
{
    size_t columns = kv_value_columns(task->head_size), count = task->end - task->begin;
    const float *a = weights->at[0] + task->begin;
    if (kv_type != TD_KV_Q8_0) {
        size_t element_bytes = kv_type == TD_KV_F16 ? 2 : 4;
        const void *values =
            (const char *)task->values + (task->begin * columns + column) * element_bytes;
        const char *ahead = (const char *)task->next_keys + column * KV_PAGE_TOKENS * 2;
        multiply(a, KV_PAGE_TOKENS, rows, values, kv_type, columns, count, vecs,
                 task->next_keys ? ahead : task->values, sums);
        return;
    }
    const int8_t *values = (const int8_t *)task->values;
    const uint16_t *halves = (const uint16_t *)((const void *)(values + columns * KV_PAGE_TOKENS));
    float scales[VECS][KV_PAGE_TOKENS];
    const float *from[VECS];
    for (int v = 0; v < vecs; v++) {
        size_t block = (column + (size_t)v * LANES) / KV_SCALE_BLOCK;
        for (size_t at = 0; at < KV_PAGE_TOKENS; at += LANES)
            vec_store(scales[v] + at, half_load(halves + block * KV_PAGE_TOKENS + at));
        from[v] = scales[v] + task->begin;
    }
    multiply_bytes(a, KV_PAGE_TOKENS, rows, values + task->begin * columns + column, columns, count,
                   vecs, NULL, from, sums);
}

SIMD_INLINE void column_values(const struct attend_task *task, enum td_kv_type kv_type, int rows,
                               size_t column, int vecs, const struct weights *weights, float *out)
{
    size_t columns = kv_value_columns(task->head_size);
    vec sums[ROWS_MAX][VECS];
#pragma GCC unroll 6
    for (int r = 0; r < rows; r++)
#pragma GCC unroll 4
        for (int v = 0; v < vecs; v++)
            sums[r][v] = vec_load(out + (size_t)r * columns + column + (size_t)v * LANES);
    multiply_values(task, kv_type, rows, column, vecs, weights, sums);
#pragma GCC unroll 6
    for (int r = 0; r < rows; r++)
#pragma GCC unroll 4
        for (int v = 0; v < vecs; v++)
            vec_store(out + (size_t)r * columns + column + (size_t)v * LANES, sums[r][v]);
}

SIMD_INLINE void row_values(const struct attend_task *task, enum td_kv_type kv_type, int rows,
                            const struct weights *weights, float *out)
{
    size_t columns = kv_value_columns(task->head_size), column = 0;
    for (; column + VECS * LANES <= columns; column += VECS * LANES)
        column_values(task, kv_type, rows, column, VECS, weights, out);
    for (; column < columns; column += LANES)
        column_values(task, kv_type, rows, column, 1, weights, out);
}

/* ---- rows ------------------------------------------------------------------------------------ */

SIMD_INLINE void attend_rows(const struct attend_task *task, enum td_kv_type kv_type, size_t row,
                             int rows)
{
    struct weights weights;
    size_t columns = kv_value_columns(task->head_size);
    float *sums = task->sums + row * columns;
    row_scores(task, kv_type, task->q + row * task->head_size, rows, &weights);
    rows_weights(task, &weights, (size_t)rows, &task->states[row], sums);
    row_values(task, kv_type, rows, &weights, sums);
}

#define ATTEND_DEFINE(kv_type, rows)                                                  \
    static void attend_##kv_type##_##rows(const struct attend_task *task, size_t row) \
    {                                                                                 \
        attend_rows(task, kv_type, row, rows);                                        \
    }
#define ATTEND_DEFINE_TYPE(kv_type) \
    ATTEND_DEFINE(kv_type, 1)       \
    ATTEND_DEFINE(kv_type, 2)       \
    ATTEND_DEFINE(kv_type, 3)       \
    ATTEND_DEFINE(kv_type, 4)       \
    ATTEND_DEFINE(kv_type, 5)       \
    ATTEND_DEFINE(kv_type, 6)
ATTEND_DEFINE(TD_KV_Q8_0, 1)
ATTEND_DEFINE(TD_KV_Q8_0, 2)
ATTEND_DEFINE(TD_KV_Q8_0, 3)
ATTEND_DEFINE(TD_KV_Q8_0, 4)
ATTEND_DEFINE_TYPE(TD_KV_F16)
ATTEND_DEFINE_TYPE(TD_KV_F32)

void VARIANT(attend)(const struct attend_task *task)
{
    typedef void attend_fn(const struct attend_task *, size_t);
    static attend_fn *const by_rows[3][ROWS_MAX] = {
        [TD_KV_F16] = {attend_TD_KV_F16_1, attend_TD_KV_F16_2, attend_TD_KV_F16_3,
                       attend_TD_KV_F16_4, attend_TD_KV_F16_5, attend_TD_KV_F16_6},
        [TD_KV_F32] = {attend_TD_KV_F32_1, attend_TD_KV_F32_2, attend_TD_KV_F32_3,
                       attend_TD_KV_F32_4, attend_TD_KV_F32_5, attend_TD_KV_F32_6},
        [TD_KV_Q8_0] = {attend_TD_KV_Q8_0_1, attend_TD_KV_Q8_0_2, attend_TD_KV_Q8_0_3,
                        attend_TD_KV_Q8_0_4}, /* the scales need registers too */
    };
    ASSERT(kv_type_is_read_directly(task->kv_type));
    size_t most = task->kv_type == TD_KV_Q8_0 ? 4 : ROWS_MAX;
    /* seven rows become four and three, not six and one */
    size_t parts = (task->rows + most - 1) / most;
    for (size_t part = 0; part < parts; part++) {
        size_t begin = task->rows * part / parts, end = task->rows * (part + 1) / parts;
        by_rows[task->kv_type][end - begin - 1](task, begin);
    }
}

/* ---- pages ----------------------------------------------------------------------------------- */

void VARIANT(kv_store)(const float *key, const float *value, size_t head_size,
                       enum td_kv_type kv_type, size_t at, void *keys, void *values)
{
    if (kv_type != TD_KV_F16) { /* F32 is for tests; others are quantised once for a row */
        kv_store_ref(key, value, head_size, kv_type, at, keys, values);
        return;
    }
    size_t columns = kv_value_columns(head_size);
    uint16_t *key_out = (uint16_t *)keys + at, *value_out = (uint16_t *)values + at * columns;
    for (size_t i = 0; i < head_size; i += LANES) {
        uint16_t halves[LANES];
        size_t n = head_size - i < LANES ? head_size - i : LANES;
        half_store(halves, n < LANES ? vec_load_part(key + i, n) : vec_load(key + i));
        for (size_t j = 0; j < n; j++)
            key_out[(i + j) * KV_PAGE_TOKENS] = halves[j];
        half_store(value_out + i, n < LANES ? vec_load_part(value + i, n) : vec_load(value + i));
    }
    for (size_t i = (head_size + LANES - 1) / LANES * LANES; i < columns; i++)
        value_out[i] = 0;
}

static void load_keys_q8_0(const int8_t *keys, size_t head_size, size_t count, float *out)
{
    const uint16_t *scales = (const void *)(keys + head_size * KV_PAGE_TOKENS);
    for (size_t i = 0; i < head_size; i++)
        for (size_t at = 0; at < count; at += LANES) {
            vec scale = half_load(scales + i / KV_SCALE_BLOCK * KV_PAGE_TOKENS + at);
            size_t where = i * KV_PAGE_TOKENS + at;
            vec_store(out + where, vec_mul(scale, byte_load(keys + where)));
        }
}

static void load_keys_q4_0(const uint8_t *keys, size_t head_size, size_t count, float *out)
{
    const uint16_t *scales = (const void *)(keys + (head_size + 1) / 2 * KV_PAGE_TOKENS);
    for (size_t begin = 0; begin < head_size; begin += KV_SCALE_BLOCK, scales += KV_PAGE_TOKENS) {
        size_t rest = head_size - begin, n = rest < KV_SCALE_BLOCK ? rest : KV_SCALE_BLOCK;
        size_t half = (n + 1) / 2;
        for (size_t r = 0; r < half; r++, keys += KV_PAGE_TOKENS)
            for (size_t at = 0; at < count; at += LANES) {
                float *row = out + (begin + r) * KV_PAGE_TOKENS + at;
                vec scale = half_load(scales + at), low, high;
                nibbles_load(keys + at, &low, &high);
                vec_store(row, vec_mul(scale, low));
                if (half + r < n)
                    vec_store(row + half * KV_PAGE_TOKENS, vec_mul(scale, high));
            }
    }
}

/* One block of one position: 2 * half values. When half is fewer than the lanes, the high nibbles
 * overwrite what is behind the low ones. */
SIMD_INLINE void load_value_nibbles(const uint8_t *bytes, size_t half, vec scale, float *out)
{
    float values[KV_SCALE_BLOCK / 4 + LANES];
    float *to = half < LANES ? values : out;
    for (size_t i = 0; i < half; i += LANES) {
        vec low, high;
        nibbles_load(bytes + i, &low, &high);
        vec_store(to + i, vec_mul(scale, low));
        vec_store(to + half + i, vec_mul(scale, high));
    }
    if (half < LANES)
        memcpy(out, values, 2 * half * sizeof *out);
}

static void load_values_scaled(const int8_t *values, bool nibbles, size_t head_size, size_t count,
                               float *out)
{
    size_t columns = kv_value_columns(head_size), row = nibbles ? columns / 2 : columns;
    const uint16_t *halves = (const void *)(values + row * KV_PAGE_TOKENS);
    for (size_t begin = 0; begin < columns; begin += KV_SCALE_BLOCK, halves += KV_PAGE_TOKENS) {
        size_t rest = columns - begin, n = rest < KV_SCALE_BLOCK ? rest : KV_SCALE_BLOCK;
        float scales[KV_PAGE_TOKENS];
        for (size_t at = 0; at < KV_PAGE_TOKENS; at += LANES)
            vec_store(scales + at, half_load(halves + at));
        for (size_t at = 0; at < count; at++) {
            const int8_t *from = values + at * row + (nibbles ? begin / 2 : begin);
            float *to = out + at * columns + begin;
            vec scale = vec_set(scales[at]);
            if (nibbles)
                load_value_nibbles((const uint8_t *)from, n / 2, scale, to);
            for (size_t i = 0; !nibbles && i < n; i += LANES)
                vec_store(to + i, vec_mul(scale, byte_load(from + i)));
        }
    }
}

void VARIANT(kv_load)(enum td_kv_type kv_type, const void *keys, const void *values,
                      size_t head_size, size_t count, float *keys_out, float *values_out)
{
    enum td_kv_type of_keys = kv_type_of_keys(kv_type), of_values = kv_type_of_values(kv_type);
    size_t columns = kv_value_columns(head_size);
    if (of_keys == TD_KV_Q8_0)
        load_keys_q8_0(keys, head_size, count, keys_out);
    else if (of_keys == TD_KV_Q4_0)
        load_keys_q4_0(keys, head_size, count, keys_out);
    else
        for (size_t i = 0; i < head_size; i++)
            for (size_t at = 0; at < count; at += LANES)
                vec_store(keys_out + i * KV_PAGE_TOKENS + at,
                          element_load(keys, of_keys, i * KV_PAGE_TOKENS + at));
    if (of_values == TD_KV_Q8_0 || of_values == TD_KV_Q4_0)
        load_values_scaled(values, of_values == TD_KV_Q4_0, head_size, count, values_out);
    else
        for (size_t i = 0; i < count * columns; i += LANES)
            vec_store(values_out + i, element_load(values, of_values, i));
}

#endif
