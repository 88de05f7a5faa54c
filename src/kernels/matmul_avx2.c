/* Matrix products with AVX2. tiles.h says how they are cut, activation.h has the layouts.
 *
 * vpmaddubsw multiplies unsigned with signed bytes, adds pairs and saturates them to 16 bits. Most
 * types are stored unsigned and are small enough (2 * 63 * 127 = 16002). Their offsets and minimums
 * are subtracted as in quants_avx512.c. Q8_0, IQ4_NL and IQ4_XS are multiplied as |w| times
 * sign(w) x, because 2 * 128 * 127 = 32512 fits. */
#include <immintrin.h>

#include "base/assertion.h"
#include "kernels/activation.h"
#include "kernels/formats.h"
#include "kernels/matmul_plain.h"
#include "kernels/simd_avx2.h"
#include "kernels/tile_sums_body.h"
#include "kernels/tile_types.h"
#include "kernels/tiles.h"
#include "kernels/unpack_avx2.h"
#include "kernels/variants.h"

/* ---- two blocks of 32 at a time -------------------------------------------------------------- */

/* Integer products in eight lanes, four a block. a: the low activations of the pair. */
TILE_INLINE __m256i dot_32(enum tensor_type type, const struct pair_32 *w, const uint8_t *a)
{
    const __m256i ones = _mm256_set1_epi16(1);
    __m256i low = _mm256_loadu_si256((const void *)a);
    __m256i high = _mm256_loadu_si256((const void *)(a + ACT32_HIGH_AT));
    if (!is_signed_32(type)) { /* 2 * 2 * 31 * 127 fits 16 bits */
        __m256i pairs = _mm256_add_epi16(_mm256_maddubs_epi16(w->low, low),
                                         _mm256_maddubs_epi16(w->high, high));
        return _mm256_madd_epi16(pairs, ones);
    }
    low = _mm256_maddubs_epi16(w->low_size, _mm256_sign_epi8(low, w->low));
    high = _mm256_maddubs_epi16(w->high_size, _mm256_sign_epi8(high, w->high));
    return _mm256_add_epi32(_mm256_madd_epi16(low, ones), _mm256_madd_epi16(high, ones));
}

TILE_INLINE void multiply_32(enum tensor_type type, const uint8_t *blocks, const uint8_t *act,
                             const struct tile *tile, int tokens, __m256 *sums)
{
    struct pair_32 w = unpack_32(type, blocks);
#pragma GCC unroll 8
    for (int t = 0; t < tokens; t++) {
        const uint8_t *a = act + (size_t)t * tile->act_stride;
        __m256i dot = dot_32(type, &w, a);
        /* Bias and scale have four lanes for a block, as 16 quants have bytes: 32 bytes a pair. */
        __m256i bias = _mm256_loadu_si256((const void *)(a + ACT32_BIAS_AT));
        __m256 scale = _mm256_loadu_ps((const void *)(a + ACT32_SCALE_AT));
        if (type == TENSOR_Q4_0)
            dot = _mm256_add_epi32(dot, bias);
        if (type == TENSOR_Q5_0 || type == TENSOR_MXFP4) /* their offset is 16, not 8 */
            dot = _mm256_add_epi32(dot, _mm256_slli_epi32(bias, 1));
        sums[t] = _mm256_fmadd_ps(_mm256_cvtepi32_ps(dot), _mm256_mul_ps(w.scale, scale), sums[t]);
        if (tile_has_minimum(type))
            sums[t] =
                _mm256_fmadd_ps(_mm256_cvtepi32_ps(bias), _mm256_mul_ps(w.minimum, scale), sums[t]);
    }
}

TILE_INLINE void tile_32(const struct tile *tile, enum tensor_type type, int rows, int tokens)
{
    const size_t block_bytes = tile_block_bytes(type);
    const size_t pairs = tile->cols / (2 * BLOCK_32);
    const bool odd = tile->cols % (2 * BLOCK_32) != 0;
    __m256 sums[ROWS_MAX][TOKENS_MAX];
    zero_sums(rows, tokens, sums);
    for (size_t p = 0; p < pairs; p++) {
        const uint8_t *act = tile->acts + p / 2 * ACT32_BYTES + p % 2 * 32;
#pragma GCC unroll 4
        for (int r = 0; r < rows; r++) {
            const uint8_t *blocks = tile->rows + (size_t)r * tile->row_bytes + p * 2 * block_bytes;
            if (tokens == 1)
                _mm_prefetch((const char *)(blocks + (size_t)rows * tile->row_bytes), _MM_HINT_T0);
            multiply_32(type, blocks, act, tile, tokens, sums[r]);
        }
    }
    if (odd) {
        const uint8_t *act = tile->acts + pairs / 2 * ACT32_BYTES + pairs % 2 * 32;
#pragma GCC unroll 4
        for (int r = 0; r < rows; r++) {
            uint8_t blocks[2 * Q8_0_BYTES] = {0};
            memcpy(blocks, tile->rows + (size_t)r * tile->row_bytes + pairs * 2 * block_bytes,
                   block_bytes);
            multiply_32(type, blocks, act, tile, tokens, sums[r]);
        }
    }
    store_sums(tile, rows, tokens, sums);
}

/* ---- super-blocks of 256, 32 quants at a time ------------------------------------------------ */

TILE_INLINE void multiply_256(enum tensor_type type, const uint8_t *at, const uint8_t *act,
                              const struct tile *tile, int tokens, __m256 *sums)
{
    struct scales_256 scales = unpack_scales(type, at);
    __m256i dots[TOKENS_MAX];
#pragma GCC unroll 8
    for (int t = 0; t < tokens; t++)
        dots[t] = _mm256_setzero_si256();
#pragma GCC unroll 8
    for (int j = 0; j < 8; j++) {
        __m256i quants = quants_256(type, at, j), factors = factors_256(type, &scales, j);
#pragma GCC unroll 8
        for (int t = 0; t < tokens; t++) {
            const uint8_t *a = act + (size_t)t * tile->act_stride + 32 * j;
            __m256i x = _mm256_loadu_si256((const void *)a);
            __m256i pairs =
                type == TENSOR_IQ4_XS
                    ? _mm256_maddubs_epi16(_mm256_abs_epi8(quants), _mm256_sign_epi8(x, quants))
                    : _mm256_maddubs_epi16(quants, x);
            dots[t] = _mm256_add_epi32(dots[t], _mm256_madd_epi16(pairs, factors));
        }
    }
#pragma GCC unroll 8
    for (int t = 0; t < tokens; t++) {
        const uint8_t *a = act + (size_t)t * tile->act_stride;
        __m256 scale = _mm256_set1_ps(scales.scale * load_f32(a + ACT256_SCALE_AT));
        const float *taken = (const void *)(a + ACT256_SUMS_AT);
        sums[t] = _mm256_fmadd_ps(_mm256_cvtepi32_ps(dots[t]), scale, sums[t]);
        if (type == TENSOR_IQ4_XS)
            continue; /* no offsets */
        sums[t] = _mm256_fnmadd_ps(scales.first, _mm256_loadu_ps(taken), sums[t]);
        sums[t] = _mm256_fnmadd_ps(scales.second, _mm256_loadu_ps(taken + 8), sums[t]);
    }
}

TILE_INLINE void tile_256(const struct tile *tile, enum tensor_type type, int rows, int tokens)
{
    const size_t block_bytes = tile_block_bytes(type);
    const size_t blocks = tile->cols / SUPER_BLOCK;
    __m256 sums[ROWS_MAX][TOKENS_MAX];
    zero_sums(rows, tokens, sums);
    for (size_t b = 0; b < blocks; b++)
        for (int r = 0; r < rows; r++) {
            const uint8_t *at = tile->rows + (size_t)r * tile->row_bytes + b * block_bytes;
            if (tokens == 1)
                for (size_t line = 0; line < block_bytes; line += 64)
                    _mm_prefetch((const char *)(at + (size_t)rows * tile->row_bytes + line),
                                 _MM_HINT_T0);
            multiply_256(type, at, tile->acts + b * ACT256_BYTES, tile, tokens, sums[r]);
        }
    store_sums(tile, rows, tokens, sums);
}

/* ---- F32, F16, BF16 -------------------------------------------------------------------------- */

TILE_INLINE __m256 load_weights(enum tensor_type type, const uint8_t *row, size_t c)
{
    if (type == TENSOR_F32)
        return _mm256_loadu_ps((const void *)(row + 4 * c));
    __m128i halves = _mm_loadu_si128((const void *)(row + 2 * c));
    if (type == TENSOR_F16)
        return _mm256_cvtph_ps(halves);
    return _mm256_castsi256_ps(_mm256_slli_epi32(_mm256_cvtepu16_epi32(halves), 16));
}

/* The last n < 8 weights of a row, zero after them. */
TILE_INLINE __m256 load_last_weights(enum tensor_type type, const uint8_t *row, size_t c, size_t n)
{
    const size_t element_bytes = type == TENSOR_F32 ? 4 : 2;
    uint8_t copy[8 * sizeof(float)] = {0};
    memcpy(copy, row + c * element_bytes, n * element_bytes);
    return load_weights(type, copy, 0);
}

TILE_INLINE void tile_float(const struct tile *tile, enum tensor_type type, int rows, int tokens)
{
    const size_t element_bytes = type == TENSOR_F32 ? 4 : 2;
    __m256 sums[ROWS_MAX][TOKENS_MAX];
    zero_sums(rows, tokens, sums);
    for (size_t c = 0; c < tile->cols; c += 8) {
        size_t left = tile->cols - c;
        __m256 weights[ROWS_MAX];
#pragma GCC unroll 4
        for (int r = 0; r < rows; r++) {
            const uint8_t *row = tile->rows + (size_t)r * tile->row_bytes;
            weights[r] =
                left >= 8 ? load_weights(type, row, c) : load_last_weights(type, row, c, left);
            if (tokens == 1)
                _mm_prefetch(
                    (const char *)(row + (size_t)rows * tile->row_bytes + c * element_bytes),
                    _MM_HINT_T0);
        }
#pragma GCC unroll 8
        for (int t = 0; t < tokens; t++) {
            const uint8_t *act = tile->acts + (size_t)t * tile->act_stride;
            __m256 x = _mm256_loadu_ps((const void *)(act + 4 * c));
#pragma GCC unroll 4
            for (int r = 0; r < rows; r++)
                sums[r][t] = _mm256_fmadd_ps(weights[r], x, sums[r][t]);
        }
    }
    store_sums(tile, rows, tokens, sums);
}

/* ---- choice ---------------------------------------------------------------------------------- */

#define TILES_FEW(body, type)     \
    TILE_DEFINE(body, type, 4, 1) \
    TILE_DEFINE(body, type, 1, 1) \
    TILE_DEFINE(body, type, 1, 4)
#define TILES(body, type)         \
    TILES_FEW(body, type)         \
    TILE_DEFINE(body, type, 1, 2) \
    TILE_DEFINE(body, type, 1, 8)
/* A tile of twice as many tokens as `half` has. */
#define TILE_TWICE(body, type, tokens, half)                        \
    static void body##_##type##_1x##tokens(const struct tile *tile) \
    {                                                               \
        struct tile part = *tile;                                   \
        body##_##type##_1x##half(&part);                            \
        part.acts += half * part.act_stride;                        \
        part.y += half * part.y_stride;                             \
        body##_##type##_1x##half(&part);                            \
    }
/* Other types have no functions for two and eight tokens, which would take 6 KB for each type. */
#define TILES_SMALL(body, type)  \
    TILES_FEW(body, type)        \
    TILE_TWICE(body, type, 2, 1) \
    TILE_TWICE(body, type, 8, 4)
TILES(tile_32, TENSOR_Q4_0)
TILES(tile_32, TENSOR_Q8_0)
TILES_SMALL(tile_32, TENSOR_Q4_1)
TILES_SMALL(tile_32, TENSOR_Q5_0)
TILES_SMALL(tile_32, TENSOR_Q5_1)
TILES_SMALL(tile_32, TENSOR_IQ4_NL)
TILES_SMALL(tile_32, TENSOR_MXFP4)
TILES_SMALL(tile_256, TENSOR_Q2_K)
TILES_SMALL(tile_256, TENSOR_Q3_K)
TILES_SMALL(tile_256, TENSOR_Q5_K)
TILES_SMALL(tile_256, TENSOR_IQ4_XS)
TILES(tile_256, TENSOR_Q4_K)
TILES(tile_256, TENSOR_Q6_K)
TILES_SMALL(tile_float, TENSOR_F32)
TILES(tile_float, TENSOR_F16)
TILES_SMALL(tile_float, TENSOR_BF16)
TILE_DEFINE(tile_float, TENSOR_F32, 2, 4)
TILE_DEFINE(tile_float, TENSOR_F16, 2, 4)
TILE_DEFINE(tile_float, TENSOR_BF16, 2, 4)

/* clang-format off */
#define SET(body, type, r4)                                                                        \
    {                                                                                              \
        {body##_##type##_4x1, body##_##type##_1x2, body##_##type##_##r4##x4, body##_##type##_1x8}, \
        {4, 1, r4, 1},                                                                             \
        {body##_##type##_1x1, body##_##type##_1x2, body##_##type##_1x4, body##_##type##_1x8},      \
    }
/* clang-format on */

static const struct tile_set tile_sets[TENSOR_TYPE_COUNT] = {
    [TENSOR_Q4_0] = SET(tile_32, TENSOR_Q4_0, 1),
    [TENSOR_Q8_0] = SET(tile_32, TENSOR_Q8_0, 1),
    [TENSOR_Q4_1] = SET(tile_32, TENSOR_Q4_1, 1),
    [TENSOR_Q5_0] = SET(tile_32, TENSOR_Q5_0, 1),
    [TENSOR_Q5_1] = SET(tile_32, TENSOR_Q5_1, 1),
    [TENSOR_IQ4_NL] = SET(tile_32, TENSOR_IQ4_NL, 1),
    [TENSOR_MXFP4] = SET(tile_32, TENSOR_MXFP4, 1),
    [TENSOR_Q2_K] = SET(tile_256, TENSOR_Q2_K, 1),
    [TENSOR_Q3_K] = SET(tile_256, TENSOR_Q3_K, 1),
    [TENSOR_Q5_K] = SET(tile_256, TENSOR_Q5_K, 1),
    [TENSOR_IQ4_XS] = SET(tile_256, TENSOR_IQ4_XS, 1),
    [TENSOR_Q4_K] = SET(tile_256, TENSOR_Q4_K, 1),
    [TENSOR_Q6_K] = SET(tile_256, TENSOR_Q6_K, 1),
    [TENSOR_F32] = SET(tile_float, TENSOR_F32, 2),
    [TENSOR_F16] = SET(tile_float, TENSOR_F16, 2),
    [TENSOR_BF16] = SET(tile_float, TENSOR_BF16, 2),
};

void matmul_avx2(enum tensor_type type, const void *weights, size_t row_bytes, size_t cols,
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
    if (activation_form_of(type) == ACTIVATION_Q8_PLAIN) {
        matmul_plain_avx2(type, &whole, row_end - row_begin, tokens);
        return;
    }
    ASSERT(tile_sets[type].wide[0] != NULL);
    tiles_run(&tile_sets[type], &whole, row_end - row_begin, tokens);
}
