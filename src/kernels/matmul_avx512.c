/* Matrix products with AVX-512 VNNI. See tiles.h for the cutting and activation.h for the layouts.
 *
 * vpdpbusd multiplies unsigned by signed bytes, so weights are made unsigned (Q4_0, Q5_0, Q3_K and
 * Q6_K are stored so, with an offset of 8, 16, 4 and 32; Q8_0 becomes so by flipping the sign bit,
 * offset 128; the tables of IQ4_NL and MXFP4 are lifted by 128 and 16) and the offset times the sum
 * of the activations is taken off: as the start value of the integer accumulator for blocks of 32,
 * as one multiply-add of the prepared 16-sums for super-blocks. A minimum goes the same way, but in
 * float. IQ4_XS, whose quants are too wide for both, is multiplied as |w| times sign(w) x. */
#include <assert.h>
#include <immintrin.h>

#include "kernels/activation.h"
#include "kernels/formats.h"
#include "kernels/tile_types.h"
#include "kernels/tiles.h"
#include "kernels/unpack_avx512.h"
#include "kernels/variants.h"

#define ROWS_MAX 4
#define TOKENS_MAX 8

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

/* Adds the products of one group to the sums of all rows and tokens of a tile. */
TILE_INLINE void multiply_32(enum tensor_type type, const struct group_32 *weights,
                             const uint8_t *act, size_t act_stride, int rows, int tokens,
                             __m512 sums[ROWS_MAX][TOKENS_MAX])
{
#pragma GCC unroll 8
    for (int t = 0; t < tokens; t++) {
        const uint8_t *a = act + (size_t)t * act_stride;
        __m512i low = _mm512_loadu_si512((const void *)a);
        __m512i high = _mm512_loadu_si512((const void *)(a + ACT32_HIGH_AT));
        __m512i bias = _mm512_loadu_si512((const void *)(a + ACT32_BIAS_AT));
        __m512 scale = _mm512_loadu_ps((const void *)(a + ACT32_SCALE_AT));
        __m512i start = start_32(type, bias);
#pragma GCC unroll 4
        for (int r = 0; r < rows; r++) {
            __m512i dot = _mm512_dpbusd_epi32(start, weights[r].low, low);
            dot = _mm512_dpbusd_epi32(dot, weights[r].high, high);
            sums[r][t] = _mm512_fmadd_ps(_mm512_cvtepi32_ps(dot),
                                         _mm512_mul_ps(weights[r].scale, scale), sums[r][t]);
            if (tile_has_minimum(type))
                sums[r][t] = _mm512_fmadd_ps(_mm512_cvtepi32_ps(bias),
                                             _mm512_mul_ps(weights[r].minimum, scale), sums[r][t]);
        }
    }
}

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

TILE_INLINE void tile_32(const struct tile *tile, enum tensor_type type, int rows, int tokens)
{
    const size_t block_bytes = tile_block_bytes(type);
    const size_t groups = tile->cols / ACT32_GROUP;
    const size_t rest = tile->cols % ACT32_GROUP / BLOCK_32;
    const uint8_t *act = tile->acts;
    const uint8_t *at = tile->rows;
    struct group_32 weights[ROWS_MAX];
    __m512 sums[ROWS_MAX][TOKENS_MAX];
    zero_sums(rows, tokens, sums);
    for (size_t g = 0; g < groups; g++, at += 4 * block_bytes, act += ACT32_BYTES) {
#pragma GCC unroll 4
        for (int r = 0; r < rows; r++) {
            const uint8_t *blocks = at + (size_t)r * tile->row_bytes;
            weights[r] = unpack_32(type, blocks, 4);
            if (tokens == 1) { /* the same place in the next tile's rows */
                _mm_prefetch((const char *)(blocks + (size_t)rows * tile->row_bytes), _MM_HINT_T0);
                if (4 * block_bytes > 72) /* more than a line, as a rule */
                    _mm_prefetch((const char *)(blocks + (size_t)rows * tile->row_bytes + 64),
                                 _MM_HINT_T0);
            }
        }
        multiply_32(type, weights, act, tile->act_stride, rows, tokens, sums);
    }
    if (rest) {
#pragma GCC unroll 4
        for (int r = 0; r < rows; r++) {
            weights[r] = unpack_32(type, at + (size_t)r * tile->row_bytes, rest);
        }
        multiply_32(type, weights, act, tile->act_stride, rows, tokens, sums);
    }
    store_sums(tile, rows, tokens, sums);
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

TILE_INLINE void tile_256(const struct tile *tile, enum tensor_type type, int rows, int tokens)
{
    const size_t block_bytes = tile_block_bytes(type);
    const size_t blocks = tile->cols / SUPER_BLOCK;
    __m512 sums[ROWS_MAX][TOKENS_MAX];
    zero_sums(rows, tokens, sums);
    for (size_t b = 0; b < blocks; b++) {
#pragma GCC unroll 4
        for (int r = 0; r < rows; r++) {
            const uint8_t *at = tile->rows + (size_t)r * tile->row_bytes + b * block_bytes;
            struct block_256 w = unpack_256(type, at);
            if (tokens == 1)
#pragma GCC unroll 4
                for (size_t line = 0; line < block_bytes; line += 64)
                    _mm_prefetch((const char *)(at + (size_t)rows * tile->row_bytes + line),
                                 _MM_HINT_T0);
#pragma GCC unroll 8
            for (int t = 0; t < tokens; t++) {
                const uint8_t *act = tile->acts + (size_t)t * tile->act_stride + b * ACT256_BYTES;
                __m512i dot = dot_half(_mm512_setzero_si512(), &w, act, 0);
                dot = dot_half(dot, &w, act, 1);
                __m512 scale =
                    _mm512_mul_ps(w.scale, _mm512_set1_ps(load_f32(act + ACT256_SCALE_AT)));
                __m512 taken = _mm512_loadu_ps((const void *)(act + ACT256_SUMS_AT));
                sums[r][t] = _mm512_fmadd_ps(_mm512_cvtepi32_ps(dot), scale, sums[r][t]);
                sums[r][t] = _mm512_fnmadd_ps(w.offsets, taken, sums[r][t]);
            }
        }
    }
    store_sums(tile, rows, tokens, sums);
}

/* Pairs of products are at most 2 * 127 * 127 = 32258 and fit 16 bits. */
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

TILE_INLINE void tile_signed(const struct tile *tile, enum tensor_type type, int rows, int tokens)
{
    const size_t block_bytes = tile_block_bytes(type);
    const size_t blocks = tile->cols / SUPER_BLOCK;
    __m512 sums[ROWS_MAX][TOKENS_MAX];
    zero_sums(rows, tokens, sums);
    for (size_t b = 0; b < blocks; b++) {
#pragma GCC unroll 4
        for (int r = 0; r < rows; r++) {
            const uint8_t *at = tile->rows + (size_t)r * tile->row_bytes + b * block_bytes;
            struct block_signed w = unpack_iq4_xs(at);
            if (tokens == 1)
#pragma GCC unroll 4
                for (size_t line = 0; line < block_bytes; line += 64)
                    _mm_prefetch((const char *)(at + (size_t)rows * tile->row_bytes + line),
                                 _MM_HINT_T0);
#pragma GCC unroll 8
            for (int t = 0; t < tokens; t++) {
                const uint8_t *act = tile->acts + (size_t)t * tile->act_stride + b * ACT256_BYTES;
                __m512 scale =
                    _mm512_mul_ps(w.scale, _mm512_set1_ps(load_f32(act + ACT256_SCALE_AT)));
                sums[r][t] =
                    _mm512_fmadd_ps(_mm512_cvtepi32_ps(dot_signed(&w, act)), scale, sums[r][t]);
            }
        }
    }
    store_sums(tile, rows, tokens, sums);
}

/* ---- F32, F16, BF16 -------------------------------------------------------------------------- */

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

#define TILES_32(type)               \
    TILE_DEFINE(tile_32, type, 4, 1) \
    TILE_DEFINE(tile_32, type, 1, 1) \
    TILE_DEFINE(tile_32, type, 2, 2) \
    TILE_DEFINE(tile_32, type, 1, 2) \
    TILE_DEFINE(tile_32, type, 2, 4) \
    TILE_DEFINE(tile_32, type, 1, 4) \
    TILE_DEFINE(tile_32, type, 2, 8) \
    TILE_DEFINE(tile_32, type, 1, 8)
TILES_32(TENSOR_Q4_0)
TILES_32(TENSOR_Q8_0)
TILES_32(TENSOR_Q4_1)
TILES_32(TENSOR_Q5_0)
TILES_32(TENSOR_Q5_1)
TILES_32(TENSOR_IQ4_NL)
TILES_32(TENSOR_MXFP4)

#define TILES_256(body, type)     \
    TILE_DEFINE(body, type, 4, 1) \
    TILE_DEFINE(body, type, 1, 1) \
    TILE_DEFINE(body, type, 1, 2) \
    TILE_DEFINE(body, type, 1, 4) \
    TILE_DEFINE(body, type, 1, 8)
TILES_256(tile_256, TENSOR_Q4_K)
TILES_256(tile_256, TENSOR_Q6_K)
TILES_256(tile_256, TENSOR_Q2_K)
TILES_256(tile_256, TENSOR_Q3_K)
TILES_256(tile_256, TENSOR_Q5_K)
TILES_256(tile_signed, TENSOR_IQ4_XS)

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
    [TENSOR_Q4_0] = SET(tile_32, TENSOR_Q4_0, 4, 2, 2, 2),
    [TENSOR_Q8_0] = SET(tile_32, TENSOR_Q8_0, 4, 2, 2, 2),
    [TENSOR_Q4_1] = SET(tile_32, TENSOR_Q4_1, 4, 2, 2, 2),
    [TENSOR_Q5_0] = SET(tile_32, TENSOR_Q5_0, 4, 2, 2, 2),
    [TENSOR_Q5_1] = SET(tile_32, TENSOR_Q5_1, 4, 2, 2, 2),
    [TENSOR_IQ4_NL] = SET(tile_32, TENSOR_IQ4_NL, 4, 2, 2, 2),
    [TENSOR_MXFP4] = SET(tile_32, TENSOR_MXFP4, 4, 2, 2, 2),
    [TENSOR_Q4_K] = SET(tile_256, TENSOR_Q4_K, 4, 1, 1, 1),
    [TENSOR_Q6_K] = SET(tile_256, TENSOR_Q6_K, 4, 1, 1, 1),
    [TENSOR_Q2_K] = SET(tile_256, TENSOR_Q2_K, 4, 1, 1, 1),
    [TENSOR_Q3_K] = SET(tile_256, TENSOR_Q3_K, 4, 1, 1, 1),
    [TENSOR_Q5_K] = SET(tile_256, TENSOR_Q5_K, 4, 1, 1, 1),
    [TENSOR_IQ4_XS] = SET(tile_signed, TENSOR_IQ4_XS, 4, 1, 1, 1),
    [TENSOR_F32] = SET(tile_float, TENSOR_F32, 4, 4, 4, 2),
    [TENSOR_F16] = SET(tile_float, TENSOR_F16, 4, 4, 4, 2),
    [TENSOR_BF16] = SET(tile_float, TENSOR_BF16, 4, 4, 4, 2),
};

void matmul_avx512(enum tensor_type type, const void *weights, size_t row_bytes, size_t cols,
                   size_t row_begin, size_t row_end, const void *activations, size_t act_stride,
                   size_t tokens, float *y, size_t y_stride)
{
    assert((unsigned)type < TENSOR_TYPE_COUNT && tile_sets[type].wide[0] != NULL);
    struct tile whole = {
        .rows = (const uint8_t *)weights + row_begin * row_bytes,
        .row_bytes = row_bytes,
        .cols = cols,
        .acts = activations,
        .act_stride = act_stride,
        .y = y + row_begin,
        .y_stride = y_stride,
    };
    tiles_run(&tile_sets[type], &whole, row_end - row_begin, tokens);
}
