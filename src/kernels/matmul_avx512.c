/* Matrix products with AVX-512 VNNI. See tiles.h for the cutting and activation.h for the layouts.
 *
 * vpdpbusd multiplies unsigned by signed bytes, so weights are made unsigned (Q4_0, Q5_0, Q3_K and
 * Q6_K are stored so, with an offset of 8, 16, 4 and 32; Q8_0 becomes so by flipping the sign bit,
 * offset 128; the tables of IQ4_NL and MXFP4 are lifted by 128 and 16) and the offset times the sum
 * of the activations is taken off, as whole numbers too: as the start value of the integer
 * accumulator. A minimum goes the same way with a scale of its own. IQ4_XS, whose quants are too wide
 * for that, is multiplied as |w| times sign(w) x. */
#include <assert.h>
#include <immintrin.h>

#include "kernels/activation.h"
#include "kernels/formats.h"
#include "kernels/lanes_avx512.h"
#include "kernels/tile_types.h"
#include "kernels/tiles.h"
#include "kernels/unpack_avx512.h"
#include "kernels/variants.h"

#define ROWS_MAX 4
#define TOKENS_MAX 8

/* ---- sixteen rows of quants -------------------------------------------------------------------
 *
 * Whole blocks are summed as integers, which is exact in any order; each row and token has one float
 * chain over the blocks, a lane of one register. The panels (panel_avx512.c) have the same chain, so
 * that a token's results are the same bits in a prompt, in a batch and alone. */

enum { TILE_ROWS = 16 };

/* Row i of the tile; after the last one the last one again, whose results are not stored. */
TILE_INLINE const uint8_t *tile_row(const struct tile *tile, size_t i)
{
    return tile->rows + (i < tile->row_count ? i : tile->row_count - 1) * tile->row_bytes;
}

/* Asks for the weights that are PREFETCH_BYTES ahead in the same row or, near its end, in the row of
 * the next tile. Sixteen rows at 288 bytes are 4.5 KB on their way, three times what a memory with
 * 100 ns and 13 GB/s a core needs. */
enum { PREFETCH_BYTES = 288 };
TILE_INLINE void prefetch_row(const struct tile *tile, const uint8_t *row, size_t offset,
                              size_t bytes)
{
    size_t ahead = offset + PREFETCH_BYTES;
    if (ahead >= tile->row_bytes)
        ahead += (TILE_ROWS - 1) * tile->row_bytes;
#pragma GCC unroll 4
    for (size_t line = 0; line + 8 < bytes; line += 64)
        _mm_prefetch((const char *)(row + ahead + line), _MM_HINT_T0);
}

TILE_INLINE void store_rows(const struct tile *tile, int tokens, const __m512 sums[TOKENS_MAX])
{
    __mmask16 mask = (__mmask16)(0xffffu >> (TILE_ROWS - tile->row_count));
#pragma GCC unroll 8
    for (int t = 0; t < tokens; t++)
        _mm512_mask_storeu_ps(tile->y + (size_t)t * tile->y_stride, mask, sums[t]);
}

/* ---- groups of four blocks of 32 ------------------------------------------------------------- */

/* What the integer products start with, from the bias that is there for an offset of 8. */
TILE_INLINE __m512i start_32(enum tensor_type type, __m512i bias)
{
    switch (type) {
    case TENSOR_Q4_1:
    case TENSOR_Q5_1:
        return _mm512_setzero_si512();
    case TENSOR_Q5_0:
    case TENSOR_MXFP4:
        return _mm512_slli_epi32(bias, 1); /* offset 16 */
    case TENSOR_Q8_0:
    case TENSOR_IQ4_NL:
        return _mm512_slli_epi32(bias, 4); /* offset 128 */
    default:
        return bias;
    }
}

/* A group (`count` blocks) of the tile, quads of four rows: lane 4b + r is row r of the quad in block
 * b. */
struct dots_32 {
    __m512i dots[TOKENS_MAX][4];
    __m512 scales[4], minimums[4];
};

/* One quad. */
TILE_INLINE void multiply_32(const struct tile *tile, enum tensor_type type, int tokens,
                             size_t group, size_t count, size_t quad, struct dots_32 *out)
{
    const size_t bytes = 4 * tile_block_bytes(type);
    const uint8_t *act = tile->acts + group * ACT32_BYTES;
    struct group_32 w[4];
#pragma GCC unroll 4
    for (size_t r = 0; r < 4; r++) {
        const uint8_t *row = tile_row(tile, 4 * quad + r);
        prefetch_row(tile, row, group * bytes, bytes);
        w[r] = unpack_32(type, row + group * bytes, count);
    }
    out->scales[quad] = blend_rows(w[0].scale, w[1].scale, w[2].scale, w[3].scale);
    if (tile_has_minimum(type))
        out->minimums[quad] = blend_rows(w[0].minimum, w[1].minimum, w[2].minimum, w[3].minimum);
#pragma GCC unroll 8
    for (int t = 0; t < tokens; t++) {
        const uint8_t *a = act + (size_t)t * tile->act_stride;
        __m512i low = _mm512_loadu_si512((const void *)a);
        __m512i high = _mm512_loadu_si512((const void *)(a + ACT32_HIGH_AT));
        __m512i start = start_32(type, _mm512_loadu_si512((const void *)(a + ACT32_BIAS_AT)));
        __m512i dots[4];
#pragma GCC unroll 4
        for (int r = 0; r < 4; r++)
            dots[r] =
                _mm512_dpbusd_epi32(_mm512_dpbusd_epi32(start, w[r].low, low), w[r].high, high);
        out->dots[t][quad] = sum_quads(dots[0], dots[1], dots[2], dots[3]);
    }
}

TILE_INLINE void transpose_floats(const __m512 in[4], __m512 out[4])
{
    __m512i bits[4] = {_mm512_castps_si512(in[0]), _mm512_castps_si512(in[1]),
                       _mm512_castps_si512(in[2]), _mm512_castps_si512(in[3])};
    transpose_quads(bits, bits);
#pragma GCC unroll 4
    for (int i = 0; i < 4; i++)
        out[i] = _mm512_castsi512_ps(bits[i]);
}

/* Adds a group's blocks to the rows' sums, one after the other. */
TILE_INLINE void accumulate_32(const struct tile *tile, enum tensor_type type, int tokens,
                               size_t group, const struct dots_32 *in, __m512 sums[TOKENS_MAX])
{
    const uint8_t *act = tile->acts + group * ACT32_BYTES;
    __m512 scales[4], minimums[4];
    transpose_floats(in->scales, scales);
    if (tile_has_minimum(type))
        transpose_floats(in->minimums, minimums);
#pragma GCC unroll 8
    for (int t = 0; t < tokens; t++) {
        const uint8_t *a = act + (size_t)t * tile->act_stride;
        __m512i dots[4];
        transpose_quads(in->dots[t], dots);
#pragma GCC unroll 4
        for (int b = 0; b < 4; b++) {
            __m512 scale = _mm512_set1_ps(load_f32(a + ACT32_SCALE_AT + 16 * b));
            sums[t] = _mm512_fmadd_ps(_mm512_cvtepi32_ps(dots[b]), _mm512_mul_ps(scales[b], scale),
                                      sums[t]);
            if (tile_has_minimum(type)) {
                const uint8_t *bias = a + ACT32_BIAS_AT + 16 * b;
                int32_t total = (int32_t)(load_u32(bias) + load_u32(bias + 4) + load_u32(bias + 8) +
                                          load_u32(bias + 12));
                sums[t] = _mm512_fmadd_ps(_mm512_set1_ps((float)total),
                                          _mm512_mul_ps(minimums[b], scale), sums[t]);
            }
        }
    }
}

TILE_INLINE void tile_32(const struct tile *tile, enum tensor_type type, int tokens)
{
    const size_t groups = tile->cols / ACT32_GROUP;
    const size_t rest = tile->cols % ACT32_GROUP / BLOCK_32;
    struct dots_32 dots;
    __m512 sums[TOKENS_MAX];
#pragma GCC unroll 8
    for (int t = 0; t < tokens; t++)
        sums[t] = _mm512_setzero_ps();
    for (size_t g = 0; g < groups; g++) {
#pragma GCC unroll 1
        for (size_t quad = 0; quad < 4; quad++)
            multiply_32(tile, type, tokens, g, 4, quad, &dots);
        accumulate_32(tile, type, tokens, g, &dots, sums);
    }
    if (rest) {
#pragma GCC unroll 1
        for (size_t quad = 0; quad < 4; quad++)
            multiply_32(tile, type, tokens, groups, rest, quad, &dots);
        accumulate_32(tile, type, tokens, groups, &dots, sums);
    }
    store_rows(tile, tokens, sums);
}

/* ---- super-blocks of 256 --------------------------------------------------------------------- */

/* Scaled integer products of one half (128 quants), added to `sum`. The four-element sums are at
 * most 4 * 63 * 127 = 32004 and fit 16 bits, so packing loses nothing. */
TILE_INLINE __m512i dot_half(__m512i sum, const struct block_256 *w, const uint8_t *act, int half)
{
    const __m512i zero = _mm512_setzero_si512();
    __m512i first = _mm512_dpbusd_epi32(zero, w->quants[2 * half],
                                        _mm512_loadu_si512((const void *)(act + 128 * half)));
    __m512i second = _mm512_dpbusd_epi32(zero, w->quants[2 * half + 1],
                                         _mm512_loadu_si512((const void *)(act + 128 * half + 64)));
    return _mm512_dpwssd_epi32(sum, _mm512_packs_epi32(first, second), w->scales[half]);
}

/* IQ4_XS, signed. Pairs of products are at most 2 * 127 * 127 = 32258 and fit 16 bits. */
TILE_INLINE __m512i dot_signed(const struct block_signed *w, const uint8_t *act)
{
    const __m512i zero = _mm512_setzero_si512();
    __m512i sum = zero;
#pragma GCC unroll 4
    for (int j = 0; j < 4; j++) {
        __m512i x = _mm512_loadu_si512((const void *)(act + 64 * j));
        x = _mm512_mask_sub_epi8(x, w->negative[j], zero, x);
        sum = _mm512_dpwssd_epi32(sum, _mm512_maddubs_epi16(w->sizes[j], x), w->scales[j]);
    }
    return sum;
}

/* One super-block of the tile: quad q has four partial sums of each of its rows, one in every
 * 128-bit lane. */
struct dots_256 {
    __m512i dots[TOKENS_MAX][4], taken[TOKENS_MAX][4];
    __m512 scales, minimums; /* of the sixteen rows */
};

TILE_INLINE void multiply_256(const struct tile *tile, enum tensor_type type, int tokens,
                              size_t block, size_t quad, struct dots_256 *out)
{
    const size_t bytes = tile_block_bytes(type);
    const uint8_t *act = tile->acts + block * ACT256_BYTES;
    __m512i dots[TOKENS_MAX][4], taken[TOKENS_MAX][4];
#pragma GCC unroll 4
    for (size_t r = 0; r < 4; r++) {
        const uint8_t *row = tile_row(tile, 4 * quad + r), *at = row + block * bytes;
        __mmask16 lane = (__mmask16)(1u << (4 * quad + r));
        prefetch_row(tile, row, block * bytes, bytes);
        if (type == TENSOR_IQ4_XS) {
            struct block_signed w = unpack_iq4_xs(at);
            out->scales = _mm512_mask_mov_ps(out->scales, lane, w.scale);
#pragma GCC unroll 8
            for (int t = 0; t < tokens; t++)
                dots[t][r] = dot_signed(&w, act + (size_t)t * tile->act_stride);
            continue;
        }
        struct block_256 w = unpack_256(type, at);
        out->scales = _mm512_mask_mov_ps(out->scales, lane, w.scale);
        if (tile_has_minimum(type))
            out->minimums = _mm512_mask_mov_ps(out->minimums, lane, w.minimum);
#pragma GCC unroll 8
        for (int t = 0; t < tokens; t++) {
            const uint8_t *a = act + (size_t)t * tile->act_stride;
            __m256i totals = _mm256_loadu_si256((const void *)(a + ACT256_TOTALS_AT));
            __m512i off = _mm512_zextsi256_si512(_mm256_madd_epi16(totals, w.taken));
            __m512i start = tile_has_minimum(type) ? _mm512_setzero_si512() : off;
            dots[t][r] = dot_half(dot_half(start, &w, a, 0), &w, a, 1);
            taken[t][r] = off;
        }
    }
#pragma GCC unroll 8
    for (int t = 0; t < tokens; t++) {
        out->dots[t][quad] = sum_quads(dots[t][0], dots[t][1], dots[t][2], dots[t][3]);
        if (tile_has_minimum(type))
            out->taken[t][quad] = sum_quads(taken[t][0], taken[t][1], taken[t][2], taken[t][3]);
    }
}

TILE_INLINE void tile_256(const struct tile *tile, enum tensor_type type, int tokens)
{
    const size_t blocks = tile->cols / SUPER_BLOCK;
    struct dots_256 dots = {.scales = _mm512_setzero_ps(), .minimums = _mm512_setzero_ps()};
    __m512 sums[TOKENS_MAX];
#pragma GCC unroll 8
    for (int t = 0; t < tokens; t++)
        sums[t] = _mm512_setzero_ps();
    for (size_t b = 0; b < blocks; b++) {
#pragma GCC unroll 1
        for (size_t quad = 0; quad < 4; quad++)
            multiply_256(tile, type, tokens, b, quad, &dots);
#pragma GCC unroll 8
        for (int t = 0; t < tokens; t++) {
            const uint8_t *act = tile->acts + (size_t)t * tile->act_stride + b * ACT256_BYTES;
            __m512 scale = _mm512_set1_ps(load_f32(act + ACT256_SCALE_AT));
            __m512 total = _mm512_cvtepi32_ps(sum_across_quads(dots.dots[t]));
            sums[t] = _mm512_fmadd_ps(total, _mm512_mul_ps(dots.scales, scale), sums[t]);
            if (tile_has_minimum(type)) {
                total = _mm512_cvtepi32_ps(sum_across_quads(dots.taken[t]));
                sums[t] = _mm512_fnmadd_ps(total, _mm512_mul_ps(dots.minimums, scale), sums[t]);
            }
        }
    }
    store_rows(tile, tokens, sums);
}

/* ---- F32, F16, BF16 -------------------------------------------------------------------------- */

TILE_INLINE void zero_sums(int rows, int tokens, __m512 sums[ROWS_MAX][TOKENS_MAX])
{
#pragma GCC unroll 4
    for (int r = 0; r < rows; r++)
#pragma GCC unroll 8
        for (int t = 0; t < tokens; t++)
            sums[r][t] = _mm512_setzero_ps();
}

TILE_INLINE void store_sums(const struct tile *tile, int rows, int tokens,
                            __m512 sums[ROWS_MAX][TOKENS_MAX])
{
#pragma GCC unroll 4
    for (int r = 0; r < rows; r++)
#pragma GCC unroll 8
        for (int t = 0; t < tokens; t++)
            tile->y[(size_t)t * tile->y_stride + (size_t)r] = _mm512_reduce_add_ps(sums[r][t]);
}

/* Sixteen weights as float; those not in `mask` are not read and count as zero. */
TILE_INLINE __m512 load_weights(enum tensor_type type, const uint8_t *row, size_t c, __mmask16 mask)
{
    if (type == TENSOR_F32)
        return _mm512_maskz_loadu_ps(mask, (const void *)(row + 4 * c));
    __m256i halves = _mm256_maskz_loadu_epi16(mask, (const void *)(row + 2 * c));
    if (type == TENSOR_F16)
        return _mm512_cvtph_ps(halves);
    return _mm512_castsi512_ps(_mm512_slli_epi32(_mm512_cvtepu16_epi32(halves), 16));
}

TILE_INLINE void tile_float(const struct tile *tile, enum tensor_type type, int rows, int tokens)
{
    const size_t element_bytes = type == TENSOR_F32 ? 4 : 2;
    __m512 sums[ROWS_MAX][TOKENS_MAX];
    zero_sums(rows, tokens, sums);
    for (size_t c = 0; c < tile->cols; c += 16) {
        size_t left = tile->cols - c;
        __mmask16 mask = (__mmask16)(left >= 16 ? 0xffff : (1u << left) - 1);
        __m512 weights[ROWS_MAX];
#pragma GCC unroll 4
        for (int r = 0; r < rows; r++) {
            const uint8_t *row = tile->rows + (size_t)r * tile->row_bytes;
            weights[r] = load_weights(type, row, c, mask);
            if (tokens == 1)
                _mm_prefetch(
                    (const char *)(row + (size_t)rows * tile->row_bytes + c * element_bytes),
                    _MM_HINT_T0);
        }
#pragma GCC unroll 8
        for (int t = 0; t < tokens; t++) {
            const uint8_t *act = tile->acts + (size_t)t * tile->act_stride;
            __m512 x = _mm512_loadu_ps((const void *)(act + 4 * c));
#pragma GCC unroll 4
            for (int r = 0; r < rows; r++)
                sums[r][t] = _mm512_fmadd_ps(weights[r], x, sums[r][t]);
        }
    }
    store_sums(tile, rows, tokens, sums);
}

/* ---- choice ---------------------------------------------------------------------------------- */

/* One function for each type and 1, 2 and 4 tokens; more are better off as panels. */
enum { QUANT_SHAPES = 3 };
#define TILE_OF(body, type, token_count)                               \
    static void body##_##type##_##token_count(const struct tile *tile) \
    {                                                                  \
        body(tile, type, token_count);                                 \
    }
#define TILES_OF(body, type) \
    TILE_OF(body, type, 1)   \
    TILE_OF(body, type, 2)   \
    TILE_OF(body, type, 4)
TILES_OF(tile_32, TENSOR_Q4_0)
TILES_OF(tile_32, TENSOR_Q8_0)
TILES_OF(tile_32, TENSOR_Q4_1)
TILES_OF(tile_32, TENSOR_Q5_0)
TILES_OF(tile_32, TENSOR_Q5_1)
TILES_OF(tile_32, TENSOR_IQ4_NL)
TILES_OF(tile_32, TENSOR_MXFP4)
TILES_OF(tile_256, TENSOR_Q4_K)
TILES_OF(tile_256, TENSOR_Q6_K)
TILES_OF(tile_256, TENSOR_Q2_K)
TILES_OF(tile_256, TENSOR_Q3_K)
TILES_OF(tile_256, TENSOR_Q5_K)
TILES_OF(tile_256, TENSOR_IQ4_XS)

#define ALL(body, type)                                         \
    {                                                           \
        body##_##type##_1, body##_##type##_2, body##_##type##_4 \
    }
static tile_fn *const quant_tiles[TENSOR_TYPE_COUNT][QUANT_SHAPES] = {
    [TENSOR_Q4_0] = ALL(tile_32, TENSOR_Q4_0),      [TENSOR_Q8_0] = ALL(tile_32, TENSOR_Q8_0),
    [TENSOR_Q4_1] = ALL(tile_32, TENSOR_Q4_1),      [TENSOR_Q5_0] = ALL(tile_32, TENSOR_Q5_0),
    [TENSOR_Q5_1] = ALL(tile_32, TENSOR_Q5_1),      [TENSOR_IQ4_NL] = ALL(tile_32, TENSOR_IQ4_NL),
    [TENSOR_MXFP4] = ALL(tile_32, TENSOR_MXFP4),    [TENSOR_Q4_K] = ALL(tile_256, TENSOR_Q4_K),
    [TENSOR_Q6_K] = ALL(tile_256, TENSOR_Q6_K),     [TENSOR_Q2_K] = ALL(tile_256, TENSOR_Q2_K),
    [TENSOR_Q3_K] = ALL(tile_256, TENSOR_Q3_K),     [TENSOR_Q5_K] = ALL(tile_256, TENSOR_Q5_K),
    [TENSOR_IQ4_XS] = ALL(tile_256, TENSOR_IQ4_XS),
};

/* As tiles_run, in tiles of sixteen rows or what is left of them. */
static void quant_tiles_run(tile_fn *const tiles[QUANT_SHAPES], const struct tile *whole,
                            size_t rows, size_t tokens)
{
    for (size_t begin = 0; begin < rows; begin += TILE_ROWS_BLOCK) {
        size_t end = rows - begin < TILE_ROWS_BLOCK ? rows : begin + TILE_ROWS_BLOCK;
        for (size_t t = 0; t < tokens;) {
            size_t left = tokens - t;
            size_t shape = left >= 4 ? 2 : left >= 2 ? 1 : 0;
            struct tile tile = *whole;
            tile.acts += t * whole->act_stride;
            for (size_t r = begin; r < end; r += TILE_ROWS) {
                tile.row_count = end - r < TILE_ROWS ? end - r : TILE_ROWS;
                tile.rows = whole->rows + r * whole->row_bytes;
                tile.y = whole->y + t * whole->y_stride + r;
                tiles[shape](&tile);
            }
            t += (size_t)1 << shape;
        }
    }
}

#define TILES_FLOAT(type)               \
    TILE_DEFINE(tile_float, type, 4, 1) \
    TILE_DEFINE(tile_float, type, 1, 1) \
    TILE_DEFINE(tile_float, type, 4, 2) \
    TILE_DEFINE(tile_float, type, 1, 2) \
    TILE_DEFINE(tile_float, type, 4, 4) \
    TILE_DEFINE(tile_float, type, 1, 4) \
    TILE_DEFINE(tile_float, type, 2, 8) \
    TILE_DEFINE(tile_float, type, 1, 8)
TILES_FLOAT(TENSOR_F32)
TILES_FLOAT(TENSOR_F16)
TILES_FLOAT(TENSOR_BF16)

/* clang-format off */
#define SET(body, type, r1, r2, r4, r8)                                                            \
    {                                                                                              \
        {body##_##type##_##r1##x1, body##_##type##_##r2##x2, body##_##type##_##r4##x4,             \
         body##_##type##_##r8##x8},                                                                \
        {r1, r2, r4, r8},                                                                          \
        {body##_##type##_1x1, body##_##type##_1x2, body##_##type##_1x4, body##_##type##_1x8},      \
    }
/* clang-format on */

static const struct tile_set tile_sets[TENSOR_TYPE_COUNT] = {
    [TENSOR_F32] = SET(tile_float, TENSOR_F32, 4, 4, 4, 2),
    [TENSOR_F16] = SET(tile_float, TENSOR_F16, 4, 4, 4, 2),
    [TENSOR_BF16] = SET(tile_float, TENSOR_BF16, 4, 4, 4, 2),
};

void matmul_avx512(enum tensor_type type, const void *weights, size_t row_bytes, size_t cols,
                   size_t row_begin, size_t row_end, const void *activations, size_t act_stride,
                   size_t tokens, float *y, size_t y_stride)
{
    assert((unsigned)type < TENSOR_TYPE_COUNT);
    struct tile whole = {
        .rows = (const uint8_t *)weights + row_begin * row_bytes,
        .row_bytes = row_bytes,
        .cols = cols,
        .acts = activations,
        .act_stride = act_stride,
        .y = y + row_begin,
        .y_stride = y_stride,
    };
    if (quant_tiles[type][0] != NULL) {
        quant_tiles_run(quant_tiles[type], &whole, row_end - row_begin, tokens);
        return;
    }
    assert(tile_sets[type].wide[0] != NULL);
    tiles_run(&tile_sets[type], &whole, row_end - row_begin, tokens);
}
