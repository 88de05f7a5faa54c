/* Matrix products with AVX2. See tiles.h for the cutting and activation.h for the layouts.
 *
 * vpmaddubsw multiplies unsigned by signed bytes into 16-bit pair sums and saturates. Q4_0, Q4_K
 * and Q6_K are unsigned as stored and small enough (2 * 63 * 127 = 16002), their offsets are taken
 * off as in matmul_avx512.c. Q8_0 is multiplied as |w| times sign(w) x: 2 * 128 * 127 = 32512
 * fits. */
#include <assert.h>
#include <immintrin.h>

#include "kernels/activation.h"
#include "kernels/formats.h"
#include "kernels/tiles.h"
#include "kernels/variants.h"

#define ROWS_MAX 4
#define TOKENS_MAX 8

TILE_INLINE float sum_lanes(__m256 v)
{
    __m128 four = _mm_add_ps(_mm256_castps256_ps128(v), _mm256_extractf128_ps(v, 1));
    __m128 two = _mm_add_ps(four, _mm_movehl_ps(four, four));
    return _mm_cvtss_f32(_mm_add_ss(two, _mm_movehdup_ps(two)));
}

TILE_INLINE void zero_sums(int rows, int tokens, __m256 sums[ROWS_MAX][TOKENS_MAX])
{
#pragma GCC unroll 4
    for (int r = 0; r < rows; r++)
#pragma GCC unroll 8
        for (int t = 0; t < tokens; t++)
            sums[r][t] = _mm256_setzero_ps();
}

TILE_INLINE void store_sums(const struct tile *tile, int rows, int tokens,
                            __m256 sums[ROWS_MAX][TOKENS_MAX])
{
#pragma GCC unroll 4
    for (int r = 0; r < rows; r++)
#pragma GCC unroll 8
        for (int t = 0; t < tokens; t++)
            tile->y[(size_t)t * tile->y_stride + (size_t)r] = sum_lanes(sums[r][t]);
}

/* ---- Q4_0, Q8_0: two blocks of 32 at a time -------------------------------------------------- */

struct pair_32 {
    __m256i low, high;           /* weights 0..15 and 16..31 of both blocks */
    __m256i low_size, high_size; /* Q8_0: magnitudes of the same */
    __m256 scale;                /* four lanes a block */
};

TILE_INLINE __m256i load_two(const uint8_t *at, size_t stride)
{
    return _mm256_inserti128_si256(_mm256_castsi128_si256(_mm_loadu_si128((const void *)at)),
                                   _mm_loadu_si128((const void *)(at + stride)), 1);
}

TILE_INLINE struct pair_32 unpack_32(enum tensor_type type, const uint8_t *blocks)
{
    const size_t block_bytes = type == TENSOR_Q4_0 ? Q4_0_BYTES : Q8_0_BYTES;
    struct pair_32 out;
    uint64_t first = load_u16(blocks), second = load_u16(blocks + block_bytes);
    const uint64_t four = 0x0001000100010001;
    out.scale =
        _mm256_cvtph_ps(_mm_set_epi64x((long long)(second * four), (long long)(first * four)));
    if (type == TENSOR_Q4_0) {
        const __m256i nibble = _mm256_set1_epi8(15);
        __m256i packed = load_two(blocks + Q4_0_QUANTS_AT, block_bytes);
        out.low = out.low_size = _mm256_and_si256(packed, nibble);
        out.high = out.high_size = _mm256_and_si256(_mm256_srli_epi16(packed, 4), nibble);
    } else {
        out.low = load_two(blocks + Q8_0_QUANTS_AT, block_bytes);
        out.high = load_two(blocks + Q8_0_QUANTS_AT + 16, block_bytes);
        out.low_size = _mm256_abs_epi8(out.low);
        out.high_size = _mm256_abs_epi8(out.high);
    }
    return out;
}

/* Integer products in eight lanes, four a block. a: the low activations of the pair. */
TILE_INLINE __m256i dot_32(enum tensor_type type, const struct pair_32 *w, const uint8_t *a)
{
    const __m256i ones = _mm256_set1_epi16(1);
    __m256i low = _mm256_loadu_si256((const void *)a);
    __m256i high = _mm256_loadu_si256((const void *)(a + ACT32_HIGH_AT));
    if (type == TENSOR_Q4_0) {
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
        /* Four lanes of bias and scale a block, against 16 quants: the same 32 bytes a pair. */
        if (type == TENSOR_Q4_0)
            dot = _mm256_add_epi32(dot, _mm256_loadu_si256((const void *)(a + ACT32_BIAS_AT)));
        __m256 scale = _mm256_mul_ps(w.scale, _mm256_loadu_ps((const void *)(a + ACT32_SCALE_AT)));
        sums[t] = _mm256_fmadd_ps(_mm256_cvtepi32_ps(dot), scale, sums[t]);
    }
}

TILE_INLINE void tile_32(const struct tile *tile, enum tensor_type type, int rows, int tokens)
{
    const size_t block_bytes = type == TENSOR_Q4_0 ? Q4_0_BYTES : Q8_0_BYTES;
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

/* ---- Q4_K, Q6_K: super-blocks of 256, 32 quants at a time ------------------------------------ */

struct scales_256 {
    uint8_t factors[16];  /* of 16-block i: Q4_K [i / 2], Q6_K [i] (signed) */
    __m256 first, second; /* offsets of 16-blocks 0..7 and 8..15 */
    float scale;
};

TILE_INLINE struct scales_256 unpack_scales(enum tensor_type type, const uint8_t *at)
{
    struct scales_256 out;
    if (type == TENSOR_Q4_K) {
        const __m128i twice =
            _mm_set_epi8(15, 15, 14, 14, 13, 13, 12, 12, 11, 11, 10, 10, 9, 9, 8, 8);
        q4_k_scales(at + Q4_K_SCALES_AT, out.factors);
        __m128i minimums = _mm_shuffle_epi8(_mm_loadu_si128((const void *)out.factors), twice);
        __m128 d = _mm_cvtph_ps(_mm_cvtsi32_si128((int)load_u32(at)));
        __m256 d_min = _mm256_broadcastss_ps(_mm_movehdup_ps(d));
        out.scale = _mm_cvtss_f32(d);
        out.first = _mm256_mul_ps(_mm256_cvtepi32_ps(_mm256_cvtepu8_epi32(minimums)), d_min);
        out.second = _mm256_mul_ps(
            _mm256_cvtepi32_ps(_mm256_cvtepu8_epi32(_mm_srli_si128(minimums, 8))), d_min);
        return out;
    }
    __m128i factors = _mm_loadu_si128((const void *)(at + Q6_K_SCALES_AT));
    __m128 d = _mm_cvtph_ps(_mm_cvtsi32_si128(load_u16(at + Q6_K_SCALE_AT)));
    __m256 offset = _mm256_mul_ps(_mm256_broadcastss_ps(d), _mm256_set1_ps(32));
    _mm_storeu_si128((void *)out.factors, factors);
    out.scale = _mm_cvtss_f32(d);
    out.first = _mm256_mul_ps(_mm256_cvtepi32_ps(_mm256_cvtepi8_epi32(factors)), offset);
    out.second =
        _mm256_mul_ps(_mm256_cvtepi32_ps(_mm256_cvtepi8_epi32(_mm_srli_si128(factors, 8))), offset);
    return out;
}

/* Unsigned quants 32j .. 32j + 31. */
TILE_INLINE __m256i quants_256(enum tensor_type type, const uint8_t *at, int j)
{
    const __m256i nibble = _mm256_set1_epi8(15);
    if (type == TENSOR_Q4_K) {
        __m256i packed = _mm256_loadu_si256((const void *)(at + Q4_K_QUANTS_AT + 32 * (j / 2)));
        return _mm256_and_si256(j % 2 ? _mm256_srli_epi16(packed, 4) : packed, nibble);
    }
    int half = j / 4, part = j % 4;
    __m256i low = _mm256_loadu_si256((const void *)(at + 64 * half + 32 * (part % 2)));
    __m256i high = _mm256_loadu_si256((const void *)(at + Q6_K_HIGH_AT + 32 * half));
    if (part >= 2)
        low = _mm256_srli_epi16(low, 4);
    high = _mm256_and_si256(_mm256_srli_epi16(high, 2 * part), _mm256_set1_epi8(3));
    return _mm256_or_si256(_mm256_and_si256(low, nibble), _mm256_slli_epi16(high, 4));
}

TILE_INLINE __m256i factors_256(enum tensor_type type, const struct scales_256 *scales, int j)
{
    if (type == TENSOR_Q4_K)
        return _mm256_set1_epi16(scales->factors[j]);
    return _mm256_inserti128_si256(_mm256_set1_epi16((int8_t)scales->factors[2 * j]),
                                   _mm_set1_epi16((int8_t)scales->factors[2 * j + 1]), 1);
}

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
            __m256i pairs = _mm256_maddubs_epi16(quants, _mm256_loadu_si256((const void *)a));
            dots[t] = _mm256_add_epi32(dots[t], _mm256_madd_epi16(pairs, factors));
        }
    }
#pragma GCC unroll 8
    for (int t = 0; t < tokens; t++) {
        const uint8_t *a = act + (size_t)t * tile->act_stride;
        __m256 scale = _mm256_set1_ps(scales.scale * load_f32(a + ACT256_SCALE_AT));
        const float *taken = (const void *)(a + ACT256_SUMS_AT);
        sums[t] = _mm256_fmadd_ps(_mm256_cvtepi32_ps(dots[t]), scale, sums[t]);
        sums[t] = _mm256_fnmadd_ps(scales.first, _mm256_loadu_ps(taken), sums[t]);
        sums[t] = _mm256_fnmadd_ps(scales.second, _mm256_loadu_ps(taken + 8), sums[t]);
    }
}

TILE_INLINE void tile_256(const struct tile *tile, enum tensor_type type, int rows, int tokens)
{
    const size_t block_bytes = type == TENSOR_Q4_K ? Q4_K_BYTES : Q6_K_BYTES;
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

#define TILES(body, type)         \
    TILE_DEFINE(body, type, 4, 1) \
    TILE_DEFINE(body, type, 1, 1) \
    TILE_DEFINE(body, type, 1, 2) \
    TILE_DEFINE(body, type, 1, 4) \
    TILE_DEFINE(body, type, 1, 8)
TILES(tile_32, TENSOR_Q4_0)
TILES(tile_32, TENSOR_Q8_0)
TILES(tile_256, TENSOR_Q4_K)
TILES(tile_256, TENSOR_Q6_K)
TILES(tile_float, TENSOR_F32)
TILES(tile_float, TENSOR_F16)
TILES(tile_float, TENSOR_BF16)
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
    [TENSOR_Q4_0] = SET(tile_32, TENSOR_Q4_0, 1),    [TENSOR_Q8_0] = SET(tile_32, TENSOR_Q8_0, 1),
    [TENSOR_Q4_K] = SET(tile_256, TENSOR_Q4_K, 1),   [TENSOR_Q6_K] = SET(tile_256, TENSOR_Q6_K, 1),
    [TENSOR_F32] = SET(tile_float, TENSOR_F32, 2),   [TENSOR_F16] = SET(tile_float, TENSOR_F16, 2),
    [TENSOR_BF16] = SET(tile_float, TENSOR_BF16, 2),
};

void matmul_avx2(enum tensor_type type, const void *weights, size_t row_bytes, size_t cols,
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
