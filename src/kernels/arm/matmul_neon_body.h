/* Matrix products with NEON, compiled by matmul_neon.c and matmul_dotprod.c. Before they include
 * this they define MATMUL_VARIANT, BLOCKS_UNROLLED (how many of the eight 32-blocks of a
 * super-block are unrolled), and how sixteen products are added:
 *
 *     dot_16(acc, w, x): acc, to whose lanes the sixteen products w[i] x[i] are added somehow
 *     dot_fours(acc, w, x, lane): acc[i] + the products of w[4i..4i+3] and x[4 lane..4 lane+3]
 *
 * Whole blocks are summed as integers, which is exact in any order. Each row and token has one
 * float sum over the blocks. The panels (panel_neon_body.h) sum in the same order, so a token's
 * results are the same bits in a prompt, in a batch and alone, whatever instructions the processor
 * has. tiles.h says how products are cut, activation.h has the layouts, unpack_neon.h the
 * weights. */
#ifndef KERNELS_MATMUL_NEON_BODY_H
#define KERNELS_MATMUL_NEON_BODY_H

#include "base/core/assertion.h"
#include "kernels/activation.h"
#include "kernels/arm/simd_neon.h"
#include "kernels/arm/token_256_neon_body.h"
#include "kernels/arm/token_neon_body.h"
#include "kernels/arm/unpack_neon.h"
#include "kernels/blocks_low.h"
#include "kernels/formats.h"
#include "kernels/tile_sums_body.h"
#include "kernels/tile_types.h"
#include "kernels/tiles.h"
#include "kernels/variants.h"

/* Prefetches, in the next group of rows, the place that `at` is in this group. The hardware does
 * not prefetch it: each stream that it sees continues into rows that were read already. */
TILE_INLINE void prefetch_next_rows(const struct tile *tile, int rows, const uint8_t *at)
{
    __builtin_prefetch(at + (size_t)rows * tile->row_bytes);
}

/* ---- blocks of 32 ---------------------------------------------------------------------------- */

/* A block of up to four rows. */
struct rows_32 {
    struct block_32 quants[ROWS_MAX];
    float32x4_t scale, minimum; /* a row in each lane; one row: in all */
};

TILE_INLINE struct rows_32 unpack_rows_32(enum tensor_type type, const struct tile *tile, int rows,
                                          size_t block, bool prefetch)
{
    const size_t block_bytes = tile_block_bytes(type);
    const uint8_t *at[ROWS_MAX];
    struct rows_32 out;
#pragma GCC unroll 4
    for (int r = 0; r < rows; r++) {
        at[r] = tile->rows + (size_t)r * tile->row_bytes + block * block_bytes;
        if (prefetch)
            prefetch_next_rows(tile, rows, at[r]);
        out.quants[r] = unpack_32(type, at[r]);
    }
    out.scale = scales_32(type, at, rows);
    if (tile_has_minimum(type))
        out.minimum = minimums_32(at, rows);
    return out;
}

/* Adds the products of a block with each token; lanes of the sums are rows. */
TILE_INLINE void multiply_32(enum tensor_type type, const struct rows_32 *w, const uint8_t *act,
                             const struct tile *tile, int rows, int tokens, float32x4_t *sums)
{
#pragma GCC unroll 8
    for (int t = 0; t < tokens; t++) {
        const uint8_t *a = act + (size_t)t * tile->act_stride;
        const float scale = load_f32(a + ACT32_SCALE_AT);
        int8x16_t low = vld1q_s8((const void *)a);
        int8x16_t high = vld1q_s8((const void *)(a + ACT32_HIGH_AT));
        int32x4_t dots[ROWS_MAX], bias = vdupq_n_s32(0), start = bias;
        if (tile_has_minimum(type) || offset_32(type) != 0)
            bias = vld1q_s32((const void *)(a + ACT32_BIAS_AT));
        if (offset_32(type) != 0)
            start = start_32(type, bias);
#pragma GCC unroll 4
        for (int r = 0; r < rows; r++)
            dots[r] = dot_16(dot_16(start, w->quants[r].low, low), w->quants[r].high, high);
        sums[t] = add_block(sums[t], sum_lanes(dots, rows), vmulq_n_f32(w->scale, scale));
        if (tile_has_minimum(type)) {
            float32x4_t taken = vcvtq_f32_s32(sum_lanes(&bias, 1));
            sums[t] = vfmaq_f32(sums[t], w->minimum, vmulq_n_f32(taken, scale));
        }
    }
}

TILE_INLINE void tile_32(const struct tile *tile, enum tensor_type type, int rows, int tokens)
{
    const size_t blocks = tile->cols / BLOCK_32;
    float32x4_t sums[TOKENS_MAX];
#pragma GCC unroll 8
    for (int t = 0; t < tokens; t++)
        sums[t] = vdupq_n_f32(0);
    for (size_t b = 0; b < blocks; b++) {
        struct rows_32 weights = unpack_rows_32(type, tile, rows, b, tokens == 1);
        multiply_32(type, &weights, tile->acts + b / 4 * ACT32_BYTES + b % 4 * 16, tile, rows,
                    tokens, sums);
    }
#pragma GCC unroll 8
    for (int t = 0; t < tokens; t++) {
        float *y = tile->y + (size_t)t * tile->y_stride;
        if (rows == ROWS_MAX)
            vst1q_f32(y, sums[t]);
        else
            vst1q_lane_f32(y, sums[t], 0);
    }
}

/* ---- types of blocks_low.h ------------------------------------------------------------------- */

/* Up to 256 columns of four rows. */
struct unpacked_low {
    struct low_span spans[ROWS_MAX];
    float32x4_t scales[SUPER_BLOCK / 16]; /* a row in each lane */
};

static void unpack_rows_low(enum tensor_type type, const uint8_t *const rows[ROWS_MAX], size_t cols,
                            struct unpacked_low *out)
{
    for (size_t r = 0; r < ROWS_MAX; r++)
        block_low_unpack(type, rows[r], cols, &out->spans[r]);
    for (size_t i = 0; i < cols / 16; i++)
        out->scales[i] = (float32x4_t){out->spans[0].scales[i], out->spans[1].scales[i],
                                       out->spans[2].scales[i], out->spans[3].scales[i]};
}

/* Adds the sixteens of a row of activations one after the other; lanes of the sum are rows. */
TILE_INLINE float32x4_t add_span_low(const struct unpacked_low *w, size_t cols, const uint8_t *act,
                                     float32x4_t sum)
{
    for (size_t i = 0; i < cols / 16; i++) {
        const uint8_t *at = act + i / 8 * ACT32_BYTES + i / 2 % 4 * 16;
        int8x16_t x = vld1q_s8((const void *)(at + (i % 2 ? ACT32_HIGH_AT : 0)));
        int32x4_t dots[ROWS_MAX];
#pragma GCC unroll 4
        for (size_t r = 0; r < ROWS_MAX; r++)
            dots[r] = dot_16(vdupq_n_s32(0), vld1q_s8(w->spans[r].quants + 16 * i), x);
        sum = add_block(sum, sum_lanes(dots, ROWS_MAX),
                        vmulq_n_f32(w->scales[i], load_f32(at + ACT32_SCALE_AT)));
    }
    return sum;
}

/* Weights are looked up once for all tokens of a tile; that takes longer than a product. */
static void multiply_low(enum tensor_type type, const struct tile *whole, size_t rows,
                         size_t tokens)
{
    struct unpacked_low w;
    block_low_prepare();
    for (size_t r = 0; r < rows; r += ROWS_MAX)
        for (size_t t = 0; t < tokens; t += TOKENS_MAX) {
            const size_t count = tokens - t < TOKENS_MAX ? tokens - t : TOKENS_MAX;
            const size_t last = rows - r < ROWS_MAX ? rows - r - 1 : ROWS_MAX - 1;
            float32x4_t sums[TOKENS_MAX] = {vdupq_n_f32(0)};
            for (size_t c = 0; c < whole->cols; c += SUPER_BLOCK) {
                const size_t left = whole->cols - c;
                const size_t cols = left < SUPER_BLOCK ? left : SUPER_BLOCK;
                const uint8_t *at[ROWS_MAX];
                for (size_t i = 0; i < ROWS_MAX; i++)
                    at[i] = whole->rows + (r + (i < last ? i : last)) * whole->row_bytes +
                            whole->row_bytes * c / whole->cols;
                unpack_rows_low(type, at, cols, &w);
                for (size_t i = 0; i < count; i++)
                    sums[i] = add_span_low(&w, cols,
                                           whole->acts + (t + i) * whole->act_stride +
                                               c / ACT32_GROUP * ACT32_BYTES,
                                           sums[i]);
            }
            for (size_t i = 0; i < count; i++)
                for (size_t lane = 0; lane <= last; lane++)
                    whole->y[(t + i) * whole->y_stride + r + lane] = sums[i][lane];
        }
}

/* ---- super-blocks of 256 --------------------------------------------------------------------- */

/* Adds the products of 32-block j, times its factors. */
TILE_INLINE int32x4_t dot_32_of_256(enum tensor_type type, int32x4_t acc, const int32_t *factors,
                                    int j, int8x16_t first, int8x16_t second, const uint8_t *a)
{
    const int32x4_t zero = vdupq_n_s32(0);
    int8x16_t x = vld1q_s8((const void *)(a + 32 * j));
    int8x16_t y = vld1q_s8((const void *)(a + 32 * j + 16));
    if (has_wide_factors(type))
        return vmlaq_n_s32(acc, dot_16(dot_16(zero, first, x), second, y), factors[j]);
    acc = vmlaq_n_s32(acc, dot_16(zero, first, x), factors[2 * j]);
    return vmlaq_n_s32(acc, dot_16(zero, second, y), factors[2 * j + 1]);
}

/* Minimums times the sums of the activations that they belong to: at most 4 * 63 * 16 * 127 in a
 * lane. */
TILE_INLINE int32x4_t dot_minimums(const struct factors_256 *factors, const int16_t *totals)
{
    int16x8_t first = vld1q_s16(totals), second = vld1q_s16(totals + 8);
    int32x4_t sum = vmull_s16(vget_low_s16(factors->minimums[0]), vget_low_s16(first));
    sum = vmlal_high_s16(sum, factors->minimums[0], first);
    sum = vmlal_s16(sum, vget_low_s16(factors->minimums[1]), vget_low_s16(second));
    return vmlal_high_s16(sum, factors->minimums[1], second);
}

/* One row's whole numbers for each token: of the products, and of the minimums. Each is the sum of
 * the lanes, at most 2^28 in magnitude. */
TILE_INLINE void multiply_256(enum tensor_type type, const uint8_t *at, const uint8_t *act,
                              const struct tile *tile, int tokens, int32x4_t *dots,
                              int32x4_t *taken)
{
    struct factors_256 factors = unpack_factors(type, at);
#pragma GCC unroll 8
    for (int t = 0; t < tokens; t++)
        dots[t] = vdupq_n_s32(0);
#pragma GCC unroll BLOCKS_UNROLLED
    for (int j = 0; j < 8; j++) {
        int8x16_t first = quants_256(type, at, j, 0), second = quants_256(type, at, j, 1);
#pragma GCC unroll 8
        for (int t = 0; t < tokens; t++)
            dots[t] = dot_32_of_256(type, dots[t], factors.factors, j, first, second,
                                    act + (size_t)t * tile->act_stride);
    }
#pragma GCC unroll 8
    for (int t = 0; t < tokens; t++)
        if (tile_has_minimum(type))
            taken[t] = dot_minimums(
                &factors, (const void *)(act + (size_t)t * tile->act_stride + ACT256_TOTALS_AT));
}

/* The scales of up to four tokens in lanes. */
TILE_INLINE float32x4_t token_scales(const uint8_t *act, size_t act_stride, int tokens)
{
    float32x4_t scales = vld1q_dup_f32((const void *)(act + ACT256_SCALE_AT));
    if (tokens > 1)
        scales = vld1q_lane_f32((const void *)(act + act_stride + ACT256_SCALE_AT), scales, 1);
    if (tokens > 2) {
        scales = vld1q_lane_f32((const void *)(act + 2 * act_stride + ACT256_SCALE_AT), scales, 2);
        scales = vld1q_lane_f32((const void *)(act + 3 * act_stride + ACT256_SCALE_AT), scales, 3);
    }
    return scales;
}

/* One row and some tokens, four of whose results are a vector; or four rows and one token. */
TILE_INLINE void tile_256(const struct tile *tile, enum tensor_type type, int rows, int tokens)
{
    if (rows == ROWS_MAX && tokens == 1) {
        tile_256_one(tile, type);
        return;
    }
    const size_t block_bytes = tile_block_bytes(type), stride = tile->act_stride;
    const size_t blocks = tile->cols / SUPER_BLOCK;
    const int count = rows * tokens, width = count < 4 ? count : 4;
    float32x4_t sums[TOKENS_MAX / 4] = {vdupq_n_f32(0), vdupq_n_f32(0)};
    for (size_t b = 0; b < blocks; b++) {
        const uint8_t *at[ROWS_MAX], *act = tile->acts + b * ACT256_BYTES;
        int32x4_t dots[TOKENS_MAX], taken[TOKENS_MAX];
#pragma GCC unroll 4
        for (int r = 0; r < rows; r++) {
            at[r] = tile->rows + (size_t)r * tile->row_bytes + b * block_bytes;
            if (tokens == 1)
                for (size_t line = 0; line < block_bytes; line += 64)
                    prefetch_next_rows(tile, rows, at[r] + line);
            multiply_256(type, at[r], act, tile, tokens, dots + r, taken + r);
        }
        float32x4_t scale = scales_256(type, at, rows);
#pragma GCC unroll 2
        for (int i = 0; i < count; i += width) {
            float32x4_t act_scale = token_scales(act + (size_t)i * stride, stride, tokens);
            float32x4_t *sum = &sums[i / 4];
            *sum = add_block(*sum, sum_lanes(dots + i, width), vmulq_f32(scale, act_scale));
            if (tile_has_minimum(type)) {
                float32x4_t minimum = minimums_256(type, at, rows);
                *sum = vfmsq_f32(*sum, vcvtq_f32_s32(sum_lanes(taken + i, width)),
                                 vmulq_f32(minimum, act_scale));
            }
        }
    }
#pragma GCC unroll 8
    for (int i = 0; i < count; i++) {
        float *y = tile->y + (rows == 1 ? (size_t)i * tile->y_stride : (size_t)i);
        *y = sums[i / 4][i % 4];
    }
}

/* ---- F32, F16, BF16 -------------------------------------------------------------------------- */

TILE_INLINE float32x4_t load_weights(enum tensor_type type, const uint8_t *row, size_t c)
{
    if (type == TENSOR_F32)
        return vreinterpretq_f32_u8(vld1q_u8(row + 4 * c));
    uint16x4_t halves = vreinterpret_u16_u8(vld1_u8(row + 2 * c));
    if (type == TENSOR_F16)
        return vcvt_f32_f16(vreinterpret_f16_u16(halves));
    return vreinterpretq_f32_u32(vshll_n_u16(halves, 16));
}

/* The last n < 4 weights of a row, zero after them. */
TILE_INLINE float32x4_t load_last_weights(enum tensor_type type, const uint8_t *row, size_t c,
                                          size_t n)
{
    const size_t element_bytes = type == TENSOR_F32 ? 4 : 2;
    uint8_t copy[4 * sizeof(float)] = {0};
    memcpy(copy, row + c * element_bytes, n * element_bytes);
    return load_weights(type, copy, 0);
}

TILE_INLINE void tile_float(const struct tile *tile, enum tensor_type type, int rows, int tokens)
{
    const size_t element_bytes = type == TENSOR_F32 ? 4 : 2;
    float32x4_t sums[ROWS_MAX][TOKENS_MAX];
    zero_sums(rows, tokens, sums);
    for (size_t c = 0; c < tile->cols; c += 4) {
        size_t left = tile->cols - c;
        float32x4_t weights[ROWS_MAX];
#pragma GCC unroll 4
        for (int r = 0; r < rows; r++) {
            const uint8_t *row = tile->rows + (size_t)r * tile->row_bytes;
            weights[r] =
                left >= 4 ? load_weights(type, row, c) : load_last_weights(type, row, c, left);
            if (tokens == 1)
                prefetch_next_rows(tile, rows, row + c * element_bytes);
        }
#pragma GCC unroll 8
        for (int t = 0; t < tokens; t++) {
            const uint8_t *act = tile->acts + (size_t)t * tile->act_stride;
            float32x4_t x = vld1q_f32((const void *)(act + 4 * c));
#pragma GCC unroll 4
            for (int r = 0; r < rows; r++)
                sums[r][t] = vfmaq_f32(sums[r][t], weights[r], x);
        }
    }
    store_sums(tile, rows, tokens, sums);
}

/* ---- choice ---------------------------------------------------------------------------------- */

/* Of 32 registers, the unpacked weights of four rows take nine, and each token's sums one. The
 * float tiles have sums for each row and token. Rows of super-blocks run one after another, so more
 * rows would share nothing. Only for a single token there are four, which are four streams from
 * memory. */
#define TILES(body, type)         \
    TILE_DEFINE(body, type, 1, 1) \
    TILE_DEFINE(body, type, 1, 2) \
    TILE_DEFINE(body, type, 1, 4) \
    TILE_DEFINE(body, type, 1, 8) \
    TILE_DEFINE(body, type, 4, 1)
#define TILES_WIDE(body, type)    \
    TILES(body, type)             \
    TILE_DEFINE(body, type, 4, 2) \
    TILE_DEFINE(body, type, 2, 4) \
    TILE_DEFINE(body, type, 2, 8)
#define TILES_32(type)               \
    TILES(tile_32, type)             \
    TILE_DEFINE(tile_32, type, 4, 2) \
    TILE_DEFINE(tile_32, type, 4, 4) \
    TILE_DEFINE(tile_32, type, 4, 8)
TILES_32(TENSOR_Q4_0)
TILES_32(TENSOR_Q8_0)
TILES_32(TENSOR_Q4_1)
TILES_32(TENSOR_Q5_0)
TILES_32(TENSOR_Q5_1)
TILES_32(TENSOR_IQ4_NL)
TILES_32(TENSOR_MXFP4)
TILES(tile_256, TENSOR_Q2_K)
TILES(tile_256, TENSOR_Q3_K)
TILES(tile_256, TENSOR_Q4_K)
TILES(tile_256, TENSOR_Q5_K)
TILES(tile_256, TENSOR_Q6_K)
TILES(tile_256, TENSOR_IQ4_XS)
TILES_WIDE(tile_float, TENSOR_F32)
TILES_WIDE(tile_float, TENSOR_F16)
TILES_WIDE(tile_float, TENSOR_BF16)

/* clang-format off */
#define NARROW(body, type) \
    {body##_##type##_1x1, body##_##type##_1x2, body##_##type##_1x4, body##_##type##_1x8}
#define SET(body, type)                                                                    \
    {                                                                                      \
        {body##_##type##_4x1, body##_##type##_1x2, body##_##type##_1x4, body##_##type##_1x8}, \
        {4, 1, 1, 1},                                                                      \
        NARROW(body, type),                                                                \
    }
#define SET_WIDE(body, type)                                                               \
    {                                                                                      \
        {body##_##type##_4x1, body##_##type##_4x2, body##_##type##_2x4, body##_##type##_2x8}, \
        {4, 4, 2, 2},                                                                      \
        NARROW(body, type),                                                                \
    }
#define SET_32(type)                                                                       \
    {                                                                                      \
        {tile_32_##type##_4x1, tile_32_##type##_4x2, tile_32_##type##_4x4, tile_32_##type##_4x8}, \
        {4, 4, 4, 4},                                                                      \
        NARROW(tile_32, type),                                                             \
    }
/* clang-format on */

static const struct tile_set tile_sets[TENSOR_TYPE_COUNT] = {
    [TENSOR_Q4_0] = SET_32(TENSOR_Q4_0),
    [TENSOR_Q8_0] = SET_32(TENSOR_Q8_0),
    [TENSOR_Q4_1] = SET_32(TENSOR_Q4_1),
    [TENSOR_Q5_0] = SET_32(TENSOR_Q5_0),
    [TENSOR_Q5_1] = SET_32(TENSOR_Q5_1),
    [TENSOR_IQ4_NL] = SET_32(TENSOR_IQ4_NL),
    [TENSOR_MXFP4] = SET_32(TENSOR_MXFP4),
    [TENSOR_Q2_K] = SET(tile_256, TENSOR_Q2_K),
    [TENSOR_Q3_K] = SET(tile_256, TENSOR_Q3_K),
    [TENSOR_Q4_K] = SET(tile_256, TENSOR_Q4_K),
    [TENSOR_Q5_K] = SET(tile_256, TENSOR_Q5_K),
    [TENSOR_Q6_K] = SET(tile_256, TENSOR_Q6_K),
    [TENSOR_IQ4_XS] = SET(tile_256, TENSOR_IQ4_XS),
    [TENSOR_F32] = SET_WIDE(tile_float, TENSOR_F32),
    [TENSOR_F16] = SET_WIDE(tile_float, TENSOR_F16),
    [TENSOR_BF16] = SET_WIDE(tile_float, TENSOR_BF16),
};

/* ---- one token ------------------------------------------------------------------------------- */

typedef size_t one_token_fn(const struct tile *whole, size_t rows);

#define ONE_TOKEN(type)                                                      \
    static size_t multiply_##type##_1(const struct tile *whole, size_t rows) \
    {                                                                        \
        return rows_32_one(whole, type, rows);                               \
    }
ONE_TOKEN(TENSOR_Q4_0)
ONE_TOKEN(TENSOR_Q5_0)
ONE_TOKEN(TENSOR_Q8_0)
ONE_TOKEN(TENSOR_IQ4_NL)

static one_token_fn *const one_token[TENSOR_TYPE_COUNT] = {
    [TENSOR_Q4_0] = multiply_TENSOR_Q4_0_1,
    [TENSOR_Q5_0] = multiply_TENSOR_Q5_0_1,
    [TENSOR_Q8_0] = multiply_TENSOR_Q8_0_1,
    [TENSOR_IQ4_NL] = multiply_TENSOR_IQ4_NL_1,
};

void MATMUL_VARIANT(enum tensor_type type, const void *weights, size_t row_bytes, size_t cols,
                    size_t row_begin, size_t row_end, const void *activations, size_t act_stride,
                    size_t tokens, float *y, size_t y_stride)
{
    ASSERT((unsigned)type < TENSOR_TYPE_COUNT);
    struct tile whole = {
        .rows = (const uint8_t *)weights + row_begin * row_bytes,
        .row_bytes = row_bytes,
        .cols = cols,
        .acts = activations,
        .act_stride = act_stride,
        .y = y + row_begin,
        .y_stride = y_stride,
    };
    if (block_low_has(type)) {
        multiply_low(type, &whole, row_end - row_begin, tokens);
        return;
    }
    ASSERT(tile_sets[type].wide[0] != NULL);
    const size_t rows = row_end - row_begin;
    const size_t alone = one_token[type] != NULL ? tokens % 2 : 0; /* tokens, the last one */
    tiles_run(&tile_sets[type], &whole, rows, tokens - alone);
    if (alone == 0)
        return;
    whole.acts += (tokens - 1) * act_stride;
    whole.y += (tokens - 1) * y_stride;
    const size_t done = one_token[type](&whole, rows);
    whole.rows += done * row_bytes;
    whole.y += done;
    tiles_run(&tile_sets[type], &whole, rows - done, 1);
}

#endif
