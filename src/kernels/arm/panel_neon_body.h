/* Products of many tokens with NEON, compiled by panel_neon.c, panel_dotprod.c and panel_i8mm.c.
 *
 * Weights stay in memory as the file has them. PANEL_ROWS rows by 256 columns at a time are
 * unpacked into signed bytes in the order in which the products read them. The memory is the
 * caller's and stays in the inner caches while up to TOKENS_AT_ONCE tokens use it. So unpacking
 * costs a few per cent if a hundred tokens or more share it.
 *
 * A register of four results, a unit, belongs to UNIT_ROWS rows and UNIT_TOKENS tokens. A tile has
 * TILE_UNITS units of rows by WIDE or NARROW units of tokens. It holds as many sums as the 32
 * registers allow, because the more there are, the more products share a load. Before a file
 * includes this, it defines these numbers, PANEL_VARIANT, and:
 *
 *     store_weights(rows, to)   stores sixteen columns of four rows. The weights of a tile's rows
 *                               lie side by side: those of column c begin at TILE_ROWS * c, and the
 *                               operand of unit u is 16 * u behind that.
 *     add_dots(weights, panel, begin, end, width, sums)
 *                               adds the products of columns [begin, end) to the sums of a tile of
 *                               `width` units of tokens
 *
 * Whole blocks are summed as integers, and each row and token has one float sum over the blocks,
 * with the same operations as in matmul_neon_body.h. So all give the same bits. */
#ifndef KERNELS_PANEL_NEON_BODY_H
#define KERNELS_PANEL_NEON_BODY_H

#include "base/core/assertion.h"
#include "kernels/arm/panel_neon.h"
#include "kernels/arm/unpack_neon.h"
#include "kernels/blocks_low.h"
#include "kernels/formats.h"
#include "kernels/tile_types.h"
#include "kernels/variants.h"

enum {
    PANEL_ROWS = 64,
    PANEL_COLS = 256,     /* then all unpacked weights take 16 KB, half a small first-level cache */
    TOKENS_AT_ONCE = 256, /* their sums take 64 KB, which stay in the second-level cache */
    UNITS = PANEL_ROWS / UNIT_ROWS,
    TILE_ROWS = TILE_UNITS * UNIT_ROWS,
    SUM_COLS = 16, /* sums of activations that minimums are multiplied with, see panel_neon.h */
    FLOATS_BYTES = UNIT_TOKENS == 1 ? PANEL_FLOATS : PANEL_FLOATS_PAIRED,
    PANEL32_BYTES = PANEL32_FLOATS_AT + 2 * FLOATS_BYTES,
    PANEL256_BYTES = PANEL256_SCALE_AT + FLOATS_BYTES
};

/* Working memory for PANEL_ROWS rows by at most TOKENS_AT_ONCE tokens. The numbers of a unit's rows
 * stand in the lanes of its results. */
struct work {
    _Alignas(64) int8_t quants[PANEL_ROWS * PANEL_COLS];
    int8_t minimums[PANEL_ROWS * SUM_COLS];
    int32x4_t factor[SUPER_BLOCK / 16][UNITS];           /* of sixteen columns */
    float32x4_t scale[PANEL_COLS / BLOCK_32][UNITS];     /* of blocks of 32; else the first */
    float32x4_t min_scale[PANEL_COLS / BLOCK_32][UNITS]; /* of minimums, or of second sixteens */
    float32x4_t sums[TOKENS_AT_ONCE / UNIT_TOKENS][UNITS];
};

/* What a tile multiplies: the rows in `work` by some tokens. */
struct part {
    struct work *work;
    size_t rows; /* a multiple of the tile's */
    size_t blocks;
    const uint8_t *panel;       /* at the first block */
    size_t token;               /* in the panel */
    float32x4_t (*sums)[UNITS]; /* of this token */
    const uint8_t *ahead;       /* weights that are unpacked next, to prefetch */
    size_t row_bytes;
    size_t ahead_bytes; /* of them, for each row; 0 = none */
};

/* Prefetches the next weights of a tile's rows while these are multiplied. Otherwise unpacking
 * would wait for the memory, which is idle during products. They go to the second-level cache,
 * because the first is full of current data. After the last rows the prefetch may be useless. */
TILE_INLINE void prefetch_ahead(const struct part *part, size_t row)
{
    for (size_t r = 0; r < TILE_ROWS && part->ahead_bytes != 0; r++)
        for (size_t line = 0; line < part->ahead_bytes; line += 64)
            __builtin_prefetch(part->ahead + (row + r) * part->row_bytes + line, 0, 2);
}

/* ---- sums of a tile -------------------------------------------------------------------------- */

typedef int32x4_t tile_dots[TILE_UNITS][WIDE];
typedef float32x4_t tile_sums[TILE_UNITS][WIDE];

TILE_INLINE void zero_dots(int width, tile_dots dots)
{
#pragma GCC unroll 4
    for (size_t u = 0; u < TILE_UNITS; u++)
#pragma GCC unroll 6
        for (int t = 0; t < width; t++)
            dots[u][t] = vdupq_n_s32(0);
}

/* Floats of a tile's tokens. */
struct token_floats {
    float32x4_t of[WIDE]; /* of single tokens: four in a vector */
};

TILE_INLINE struct token_floats load_floats(const uint8_t *at, int width)
{
    const float *from = (const float *)(const void *)at;
    struct token_floats out;
#pragma GCC unroll 3
    for (int i = 0; i < (UNIT_TOKENS == 1 ? (width + 3) / 4 : width); i++)
        out.of[i] = vld1q_f32(from + 4 * i);
    return out;
}

/* One float for each row, times those of the tile's token t. */
TILE_INLINE float32x4_t times_floats(float32x4_t rows, const struct token_floats *floats, int t)
{
    if (UNIT_TOKENS == 2)
        return vmulq_f32(rows, floats->of[t]);
    switch (t % 4) {
    case 0:
        return vmulq_laneq_f32(rows, floats->of[t / 4], 0);
    case 1:
        return vmulq_laneq_f32(rows, floats->of[t / 4], 1);
    case 2:
        return vmulq_laneq_f32(rows, floats->of[t / 4], 2);
    default:
        return vmulq_laneq_f32(rows, floats->of[t / 4], 3);
    }
}

/* The same, added to sums. */
TILE_INLINE float32x4_t add_times_floats(float32x4_t sums, float32x4_t rows,
                                         const struct token_floats *floats, int t)
{
    if (UNIT_TOKENS == 2)
        return vfmaq_f32(sums, rows, floats->of[t]);
    switch (t % 4) {
    case 0:
        return vfmaq_laneq_f32(sums, rows, floats->of[t / 4], 0);
    case 1:
        return vfmaq_laneq_f32(sums, rows, floats->of[t / 4], 1);
    case 2:
        return vfmaq_laneq_f32(sums, rows, floats->of[t / 4], 2);
    default:
        return vfmaq_laneq_f32(sums, rows, floats->of[t / 4], 3);
    }
}

/* ---- blocks of 32 ---------------------------------------------------------------------------- */

/* Where the numbers of a tile's block are. */
struct block_at {
    const int8_t *weights, *panel;
    const uint8_t *floats; /* of the panel, for the tile's first token */
    const float32x4_t *scale, *min_scale;
};

enum kind_32 { PLAIN, MINIMUM, SIXTEENS }; /* SIXTEENS: a scale for each, of blocks_low.h */

/* Adds the products of `cols` columns, `first` and later, times the scales of the rows. */
TILE_INLINE void add_cols_32(const struct block_at *at, size_t first, size_t cols,
                             const float32x4_t *rows, int width, tile_sums sums)
{
    tile_dots dots;
    zero_dots(width, dots);
    add_dots(at->weights + TILE_ROWS * first, at->panel + 16 * first, 0, cols, width, dots);
    const struct token_floats scale = load_floats(at->floats, width);
#pragma GCC unroll 4
    for (size_t u = 0; u < TILE_UNITS; u++)
#pragma GCC unroll 6
        for (int t = 0; t < width; t++)
            sums[u][t] =
                vfmaq_f32(sums[u][t], vcvtq_f32_s32(dots[u][t]), times_floats(rows[u], &scale, t));
}

TILE_INLINE void add_block_32(const struct block_at *at, enum kind_32 kind, int width,
                              tile_sums sums)
{
    add_cols_32(at, 0, kind == SIXTEENS ? 16 : BLOCK_32, at->scale, width, sums);
    if (kind == SIXTEENS)
        add_cols_32(at, 16, 16, at->min_scale, width, sums);
    if (kind != MINIMUM)
        return;
    const struct token_floats share = load_floats(at->floats + FLOATS_BYTES, width);
#pragma GCC unroll 4
    for (size_t u = 0; u < TILE_UNITS; u++)
#pragma GCC unroll 6
        for (int t = 0; t < width; t++)
            sums[u][t] = add_times_floats(sums[u][t], at->min_scale[u], &share, t);
}

TILE_INLINE void multiply_32(const struct part *part, enum kind_32 kind, int width)
{
    const struct work *work = part->work;
    const uint8_t *floats = part->panel + PANEL32_FLOATS_AT;
    for (size_t row = 0; row < part->rows; row += TILE_ROWS) {
        const size_t unit = row / UNIT_ROWS;
        struct block_at at = {
            .weights = work->quants + row * PANEL_COLS,
            .panel = (const int8_t *)part->panel + 16 * part->token / UNIT_TOKENS,
            .floats = floats + part->token * UNIT_TOKENS * sizeof(float),
            .scale = work->scale[0] + unit,
            .min_scale = work->min_scale[0] + unit,
        };
        tile_sums sums;
        prefetch_ahead(part, row);
#pragma GCC unroll 4
        for (size_t u = 0; u < TILE_UNITS; u++)
#pragma GCC unroll 6
            for (int t = 0; t < width; t++)
                sums[u][t] = part->sums[t][unit + u];
#pragma GCC unroll 1
        for (size_t b = 0; b < part->blocks; b++) {
            add_block_32(&at, kind, width, sums);
            at.weights += TILE_ROWS * BLOCK_32;
            at.panel += PANEL32_BYTES;
            at.floats += PANEL32_BYTES;
            at.scale += UNITS;
            at.min_scale += UNITS;
        }
#pragma GCC unroll 4
        for (size_t u = 0; u < TILE_UNITS; u++)
#pragma GCC unroll 6
            for (int t = 0; t < width; t++)
                part->sums[t][unit + u] = sums[u][t];
    }
}

/* ---- super-blocks of 256 --------------------------------------------------------------------- */

/* Quants of two or three bits times their factors fit a byte, so they are stored multiplied. For
 * Q3_K they are negative, because -4 * -32 would not fit. */
TILE_INLINE bool is_premultiplied(enum tensor_type type)
{
    return type == TENSOR_Q2_K || type == TENSOR_Q3_K;
}

/* The sum of all products of a super-block, times their factors. */
TILE_INLINE void dots_256(const struct part *part, enum tensor_type type, int width, size_t row,
                          const int8_t *panel, tile_dots totals)
{
    const int8_t *weights = part->work->quants + row * PANEL_COLS;
    const size_t cols = has_wide_factors(type) ? 32 : 16;
    zero_dots(width, totals);
    if (is_premultiplied(type)) {
#pragma GCC unroll 1
        for (size_t c = 0; c < SUPER_BLOCK; c += 32)
            add_dots(weights + TILE_ROWS * c, panel + 16 * c, 0, 32, width, totals);
        return;
    }
    const int32x4_t *factors = part->work->factor[0] + row / UNIT_ROWS;
#pragma GCC unroll 1
    for (size_t c = 0; c < SUPER_BLOCK; c += cols, factors += cols / 16 * UNITS) {
        tile_dots dots;
        zero_dots(width, dots);
        add_dots(weights + TILE_ROWS * c, panel + 16 * c, 0, cols, width, dots);
#pragma GCC unroll 4
        for (size_t u = 0; u < TILE_UNITS; u++)
#pragma GCC unroll 6
            for (int t = 0; t < width; t++)
                totals[u][t] = vmlaq_s32(totals[u][t], dots[u][t], factors[u]);
    }
}

/* The sum of all minimums times the sums of the activations that they belong to. */
TILE_INLINE void dots_minimums(const struct part *part, enum tensor_type type, int width,
                               size_t row, const int8_t *panel, tile_dots taken)
{
    const int8_t *minimums = part->work->minimums + row * SUM_COLS;
    const bool sixteen = type == TENSOR_Q2_K;
    const size_t at = sixteen ? PANEL256_SUMS16 : PANEL256_SUMS32;
    zero_dots(width, taken);
    add_dots(minimums, panel + 16 * at, 0, sixteen ? 16 : 8, width, taken);
#pragma GCC unroll 4
    for (size_t u = 0; u < TILE_UNITS; u++)
#pragma GCC unroll 6
        for (int t = 0; t < width; t++)
            taken[u][t] = vshlq_n_s32(taken[u][t], PANEL_SUMS_BITS);
    if (sixteen)
        add_dots(minimums, panel + 16 * (at + 16), 0, 16, width, taken);
    else
        add_dots(minimums, panel + 16 * at, 8, 16, width, taken);
}

/* sums += or -= totals * scale of the rows * scale of the tokens. */
TILE_INLINE void add_totals(const struct part *part, size_t row, int width,
                            const struct token_floats *scale, bool subtract, tile_dots totals)
{
    const size_t unit = row / UNIT_ROWS;
#pragma GCC unroll 4
    for (size_t u = 0; u < TILE_UNITS; u++) {
        float32x4_t rows =
            subtract ? part->work->min_scale[0][unit + u] : part->work->scale[0][unit + u];
#pragma GCC unroll 6
        for (int t = 0; t < width; t++) {
            float32x4_t *sum = &part->sums[t][unit + u];
            float32x4_t total = vcvtq_f32_s32(totals[u][t]), factor = times_floats(rows, scale, t);
            *sum = subtract ? vfmsq_f32(*sum, total, factor) : vfmaq_f32(*sum, total, factor);
        }
    }
}

TILE_INLINE void multiply_256(const struct part *part, enum tensor_type type, int width)
{
    const int8_t *panel = (const int8_t *)part->panel + 16 * part->token / UNIT_TOKENS;
    for (size_t row = 0; row < part->rows; row += TILE_ROWS) {
        tile_dots totals;
        prefetch_ahead(part, row);
        dots_256(part, type, width, row, panel, totals);
        struct token_floats scale = load_floats(
            part->panel + PANEL256_SCALE_AT + part->token * UNIT_TOKENS * sizeof(float), width);
        add_totals(part, row, width, &scale, false, totals);
        if (!tile_has_minimum(type))
            continue;
        dots_minimums(part, type, width, row, panel, totals);
        add_totals(part, row, width, &scale, true, totals);
    }
}

/* ---- unpacking ------------------------------------------------------------------------------- */

/* Numbers of four rows, from `row` on, to the lanes of their units. */
TILE_INLINE void spread_rows(float32x4_t four, float32x4_t *to)
{
    if (UNIT_ROWS == 4) {
        *to = four;
    } else {
        to[0] = vcombine_f32(vget_low_f32(four), vget_low_f32(four));
        to[1] = vcombine_f32(vget_high_f32(four), vget_high_f32(four));
    }
}

/* Where the weights of column `col` of `row` are; a row has row_cols of them. */
TILE_INLINE int8_t *weights_at(int8_t *weights, size_t row_cols, size_t row, size_t col)
{
    return weights + row / TILE_ROWS * TILE_ROWS * row_cols + TILE_ROWS * col +
           row % TILE_ROWS / UNIT_ROWS * 16;
}

/* A block of 32 of four rows. */
TILE_INLINE void unpack_rows_32(enum tensor_type type, const uint8_t *const at[4], size_t row,
                                size_t block, struct work *work)
{
    const int8x16_t offset = vdupq_n_s8((int8_t)offset_32(type));
    int8_t *to = weights_at(work->quants, PANEL_COLS, row, BLOCK_32 * block);
    int8x16_t low[4], high[4];
#pragma GCC unroll 4
    for (size_t r = 0; r < 4; r++) {
        struct block_32 quants = unpack_32(type, at[r]);
        low[r] = vsubq_s8(quants.low, offset);
        high[r] = vsubq_s8(quants.high, offset);
    }
    store_weights(low, to);
    store_weights(high, to + 16 * TILE_ROWS);
    spread_rows(scales_32(type, at, 4), &work->scale[block][row / UNIT_ROWS]);
    if (tile_has_minimum(type))
        spread_rows(minimums_32(at, 4), &work->min_scale[block][row / UNIT_ROWS]);
}

/* Minimums of sixteen columns each, in bytes. Those of 32 columns, which then stand there twice,
 * are eight, for the high and for the low parts of the activations' sums. */
TILE_INLINE int8x16_t minimums_bytes(enum tensor_type type, const struct factors_256 *factors)
{
    int8x16_t all = vcombine_s8(vmovn_s16(factors->minimums[0]), vmovn_s16(factors->minimums[1]));
    return type == TENSOR_Q2_K ? all : vuzp1q_s8(all, all);
}

TILE_INLINE void store_factors(enum tensor_type type, const struct factors_256 factors[4],
                               size_t row, struct work *work)
{
    const size_t step = has_wide_factors(type) ? 2 : 1;
    for (size_t i = 0; i < SUPER_BLOCK / 16 && !is_premultiplied(type); i += step) {
        const int32x4_t four = {factors[0].factors[i / step], factors[1].factors[i / step],
                                factors[2].factors[i / step], factors[3].factors[i / step]};
        spread_rows(vreinterpretq_f32_s32(four),
                    (float32x4_t *)(void *)&work->factor[i][row / UNIT_ROWS]);
    }
    if (!tile_has_minimum(type))
        return;
    int8x16_t minimums[4];
#pragma GCC unroll 4
    for (size_t r = 0; r < 4; r++)
        minimums[r] = minimums_bytes(type, &factors[r]);
    store_weights(minimums, weights_at(work->minimums, SUM_COLS, row, 0));
}

/* A super-block of four rows. */
TILE_INLINE void unpack_rows_256(enum tensor_type type, const uint8_t *const at[4], size_t row,
                                 struct work *work)
{
    int8_t *to = weights_at(work->quants, PANEL_COLS, row, 0);
    struct factors_256 factors[4];
#pragma GCC unroll 4
    for (size_t r = 0; r < 4; r++)
        factors[r] = unpack_factors(type, at[r]);
#pragma GCC unroll 8
    for (int j = 0; j < 8; j++)
        for (int h = 0; h < 2; h++) {
            int8x16_t quants[4];
#pragma GCC unroll 4
            for (size_t r = 0; r < 4; r++) {
                quants[r] = quants_256(type, at[r], j, h);
                if (is_premultiplied(type)) {
                    int factor = factors[r].factors[2 * j + h];
                    quants[r] = vmulq_s8(
                        quants[r], vdupq_n_s8((int8_t)(type == TENSOR_Q3_K ? -factor : factor)));
                }
            }
            store_weights(quants, to + TILE_ROWS * (32 * j + 16 * h));
        }
    store_factors(type, factors, row, work);
    float32x4_t scale = scales_256(type, at, 4);
    spread_rows(type == TENSOR_Q3_K ? vnegq_f32(scale) : scale, &work->scale[0][row / UNIT_ROWS]);
    if (tile_has_minimum(type))
        spread_rows(minimums_256(type, at, 4), &work->min_scale[0][row / UNIT_ROWS]);
}

/* Where the four rows from `row` on begin. Rows after the last one repeat it. */
TILE_INLINE void find_rows(const uint8_t *weights, size_t row_bytes, size_t rows, size_t row,
                           const uint8_t *at[4])
{
#pragma GCC unroll 4
    for (size_t r = 0; r < 4; r++)
        at[r] = weights + (row + r < rows ? row + r : rows - 1) * row_bytes;
}

/* `blocks` blocks of `rows` rows, and up to a whole tile of further ones, whose sums are not
 * stored. */
TILE_INLINE void unpack_32_part(enum tensor_type type, const uint8_t *weights, size_t row_bytes,
                                size_t rows, size_t blocks, struct work *work)
{
    const size_t block_bytes = tile_block_bytes(type);
    for (size_t row = 0; row < (rows + TILE_ROWS - 1) / TILE_ROWS * TILE_ROWS; row += 4)
        for (size_t b = 0; b < blocks; b++) {
            const uint8_t *at[4];
            find_rows(weights + b * block_bytes, row_bytes, rows, row, at);
            unpack_rows_32(type, at, row, b, work);
        }
}

TILE_INLINE void unpack_256_part(enum tensor_type type, const uint8_t *weights, size_t row_bytes,
                                 size_t rows, size_t blocks, struct work *work)
{
    (void)blocks; /* one: as many columns as a part has */
    for (size_t row = 0; row < (rows + TILE_ROWS - 1) / TILE_ROWS * TILE_ROWS; row += 4) {
        const uint8_t *at[4];
        find_rows(weights, row_bytes, rows, row, at);
        unpack_rows_256(type, at, row, work);
    }
}

/* The same of a type of blocks_low.h. */
static void unpack_low_part(enum tensor_type type, const uint8_t *weights, size_t row_bytes,
                            size_t rows, size_t cols, struct work *work)
{
    struct low_span spans[4];
    for (size_t row = 0; row < (rows + TILE_ROWS - 1) / TILE_ROWS * TILE_ROWS; row += 4) {
        const uint8_t *at[4];
        find_rows(weights, row_bytes, rows, row, at);
        for (size_t r = 0; r < 4; r++)
            block_low_unpack(type, at[r], cols, &spans[r]);
        for (size_t i = 0; i < cols / 16; i++) {
            float32x4_t(*scale)[UNITS] = i % 2 ? work->min_scale : work->scale;
            int8x16_t quants[4];
#pragma GCC unroll 4
            for (size_t r = 0; r < 4; r++)
                quants[r] = vld1q_s8(spans[r].quants + 16 * i);
            store_weights(quants, weights_at(work->quants, PANEL_COLS, row, 16 * i));
            spread_rows((float32x4_t){spans[0].scales[i], spans[1].scales[i], spans[2].scales[i],
                                      spans[3].scales[i]},
                        &scale[i / 2][row / UNIT_ROWS]);
        }
    }
}

/* ---- one function a type and width ----------------------------------------------------------- */

typedef void multiply_fn(const struct part *part);
typedef void unpack_fn(const uint8_t *weights, size_t row_bytes, size_t rows, size_t blocks,
                       struct work *work);

struct panel_type {
    unpack_fn *unpack;
    multiply_fn *wide, *narrow;
};

#define MULTIPLY(body, kind, name)                     \
    static void name##_wide(const struct part *part)   \
    {                                                  \
        body(part, kind, WIDE);                        \
    }                                                  \
    static void name##_narrow(const struct part *part) \
    {                                                  \
        body(part, kind, NARROW);                      \
    }
MULTIPLY(multiply_32, PLAIN, plain)
MULTIPLY(multiply_32, MINIMUM, with_minimum)
MULTIPLY(multiply_32, SIXTEENS, sixteens)
MULTIPLY(multiply_256, TENSOR_Q2_K, q2_k)
MULTIPLY(multiply_256, TENSOR_Q3_K, q3_k)
MULTIPLY(multiply_256, TENSOR_Q4_K, q4_k)
MULTIPLY(multiply_256, TENSOR_Q6_K, q6_k)
MULTIPLY(multiply_256, TENSOR_IQ4_XS, iq4_xs)

#define UNPACK(body, type)                                                           \
    static void unpack_##type(const uint8_t *weights, size_t row_bytes, size_t rows, \
                              size_t blocks, struct work *work)                      \
    {                                                                                \
        body(type, weights, row_bytes, rows, blocks, work);                          \
    }
UNPACK(unpack_32_part, TENSOR_Q4_0)
UNPACK(unpack_32_part, TENSOR_Q4_1)
UNPACK(unpack_32_part, TENSOR_Q5_0)
UNPACK(unpack_32_part, TENSOR_Q5_1)
UNPACK(unpack_32_part, TENSOR_Q8_0)
UNPACK(unpack_32_part, TENSOR_IQ4_NL)
UNPACK(unpack_32_part, TENSOR_MXFP4)
UNPACK(unpack_256_part, TENSOR_Q2_K)
UNPACK(unpack_256_part, TENSOR_Q3_K)
UNPACK(unpack_256_part, TENSOR_Q4_K)
UNPACK(unpack_256_part, TENSOR_Q5_K)
UNPACK(unpack_256_part, TENSOR_Q6_K)
UNPACK(unpack_256_part, TENSOR_IQ4_XS)

#define PANEL_TYPE(type, name) [type] = {unpack_##type, name##_wide, name##_narrow}
static const struct panel_type panel_types[TENSOR_TYPE_COUNT] = {
    PANEL_TYPE(TENSOR_Q4_0, plain),    PANEL_TYPE(TENSOR_Q4_1, with_minimum),
    PANEL_TYPE(TENSOR_Q5_0, plain),    PANEL_TYPE(TENSOR_Q5_1, with_minimum),
    PANEL_TYPE(TENSOR_Q8_0, plain),    PANEL_TYPE(TENSOR_IQ4_NL, plain),
    PANEL_TYPE(TENSOR_MXFP4, plain),   PANEL_TYPE(TENSOR_Q2_K, q2_k),
    PANEL_TYPE(TENSOR_Q3_K, q3_k),     PANEL_TYPE(TENSOR_Q4_K, q4_k),
    PANEL_TYPE(TENSOR_Q5_K, q4_k),     PANEL_TYPE(TENSOR_Q6_K, q6_k),
    PANEL_TYPE(TENSOR_IQ4_XS, iq4_xs),
};

/* Of the types of blocks_low.h; unpack_low_part() unpacks them. */
static const struct panel_type low_types = {NULL, sixteens_wide, sixteens_narrow};

/* ---- the whole ------------------------------------------------------------------------------- */

/* The sums of four rows, whose first unit this is, and token t of the unit. */
TILE_INLINE float32x4_t sums_of(const float32x4_t *unit, size_t t)
{
    if (UNIT_ROWS == 4)
        return unit[0];
    return t == 0 ? vcombine_f32(vget_low_f32(unit[0]), vget_low_f32(unit[1]))
                  : vcombine_f32(vget_high_f32(unit[0]), vget_high_f32(unit[1]));
}

static void store_all(const struct work *work, size_t rows, size_t tokens, float *y,
                      size_t y_stride)
{
    for (size_t t = 0; t < tokens; t++, y += y_stride) {
        const float32x4_t *unit = work->sums[t / UNIT_TOKENS];
        size_t row = 0;
        for (; row + 4 <= rows; row += 4, unit += 4 / UNIT_ROWS)
            vst1q_f32(y + row, sums_of(unit, t % UNIT_TOKENS));
        for (size_t r = row; r < rows; r++)
            y[r] = sums_of(unit, t % UNIT_TOKENS)[r - row];
    }
}

/* The tiles of one panel, of which `tokens` tokens are wanted. */
static void multiply_panel(const struct panel_type *functions, struct part *part, size_t tokens)
{
    float32x4_t(*sums)[UNITS] = part->sums;
    for (part->token = 0; part->token < tokens;) {
        const bool wide = KERNELS_PANEL_TOKENS - part->token >= WIDE * UNIT_TOKENS;
        part->sums = sums + part->token / UNIT_TOKENS;
        (wide ? functions->wide : functions->narrow)(part);
        part->token += (size_t)(wide ? WIDE : NARROW) * UNIT_TOKENS;
        part->ahead_bytes = 0;
    }
}

/* All columns of up to PANEL_ROWS rows times up to TOKENS_AT_ONCE tokens, into work->sums. */
static void multiply_all(enum tensor_type type, const uint8_t *weights, size_t row_bytes,
                         size_t cols, size_t rows, const uint8_t *panels, size_t panel_bytes,
                         size_t tokens, struct work *work)
{
    const struct panel_type *functions = block_low_has(type) ? &low_types : &panel_types[type];
    const bool small = activation_form_of(type) == ACTIVATION_Q8_32;
    const size_t block_cols = small ? BLOCK_32 : SUPER_BLOCK;
    const size_t block_bytes = small ? PANEL32_BYTES : PANEL256_BYTES;
    memset(work->sums, 0,
           (tokens + KERNELS_PANEL_TOKENS - 1) / KERNELS_PANEL_TOKENS * KERNELS_PANEL_TOKENS /
               UNIT_TOKENS * sizeof work->sums[0]);
    for (size_t c = 0; c < cols; c += PANEL_COLS) {
        const size_t left = cols - c < PANEL_COLS ? cols - c : PANEL_COLS;
        const uint8_t *at = weights + row_bytes * c / cols;
        const size_t bytes = row_bytes * left / cols;
        if (functions->unpack != NULL)
            functions->unpack(at, row_bytes, rows, left / block_cols, work);
        else
            unpack_low_part(type, at, row_bytes, rows, left, work);
        struct part part = {
            .work = work,
            .rows = (rows + TILE_ROWS - 1) / TILE_ROWS * TILE_ROWS,
            .blocks = left / block_cols,
            .row_bytes = row_bytes,
            .ahead = c + left < cols ? at + bytes : weights + rows * row_bytes,
            .ahead_bytes = bytes,
        };
        for (size_t t = 0; t < tokens; t += KERNELS_PANEL_TOKENS) {
            part.panel =
                panels + t / KERNELS_PANEL_TOKENS * panel_bytes + c / block_cols * block_bytes;
            part.sums = work->sums + t / UNIT_TOKENS;
            multiply_panel(functions, &part,
                           tokens - t < KERNELS_PANEL_TOKENS ? tokens - t : KERNELS_PANEL_TOKENS);
        }
    }
}

void PANEL_VARIANT(enum tensor_type type, const void *weights, size_t row_bytes, size_t cols,
                   size_t row_begin, size_t row_end, const void *panels, size_t act_stride,
                   size_t tokens, float *y, size_t y_stride)
{
    ASSERT((unsigned)type < TENSOR_TYPE_COUNT);
    ASSERT(panel_types[type].unpack != NULL || block_low_has(type));
    struct work work;
    block_low_prepare();
    for (size_t row = row_begin; row < row_end; row += PANEL_ROWS) {
        size_t rows = row_end - row < PANEL_ROWS ? row_end - row : PANEL_ROWS;
        for (size_t t = 0; t < tokens; t += TOKENS_AT_ONCE) {
            size_t count = tokens - t < TOKENS_AT_ONCE ? tokens - t : TOKENS_AT_ONCE;
            multiply_all(type, (const uint8_t *)weights + row * row_bytes, row_bytes, cols, rows,
                         (const uint8_t *)panels + t * act_stride,
                         KERNELS_PANEL_TOKENS * act_stride, count, &work);
            store_all(&work, rows, count, y + t * y_stride + row, y_stride);
        }
    }
}

#endif
