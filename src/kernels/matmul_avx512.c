/* Matrix products with AVX-512 VNNI. See tiles.h for the cutting and activation.h for the layouts.
 *
 * vpdpbusd multiplies unsigned by signed bytes, so weights are made unsigned (Q4_0 and Q6_K are
 * stored so, with an offset of 8 and 32; Q8_0 becomes so by flipping the sign bit, offset 128) and
 * the offset times the sum of the activations is taken off: as the start value of the integer
 * accumulator for blocks of 32, as one multiply-add of the prepared 16-sums for super-blocks. */
#include <assert.h>
#include <immintrin.h>

#include "kernels/activation.h"
#include "kernels/formats.h"
#include "kernels/tiles.h"
#include "kernels/variants.h"

#define ROWS_MAX 4
#define TOKENS_MAX 8

/* ---- Q4_0, Q8_0: groups of four blocks of 32 ------------------------------------------------- */

struct group_32 {
    __m512i low, high; /* unsigned weights 0..15 and 16..31 of each of the four blocks */
    __m512 scale;      /* four lanes a block */
};

/* 16 bytes of each of `count` blocks; zero for the blocks that a shorter last group lacks. */
TILE_INLINE __m512i load_four(const uint8_t *at, size_t stride, size_t count)
{
    __m512i v = _mm512_zextsi128_si512(_mm_loadu_si128((const void *)at));
    if (count > 1)
        v = _mm512_inserti32x4(v, _mm_loadu_si128((const void *)(at + stride)), 1);
    if (count > 2)
        v = _mm512_inserti32x4(v, _mm_loadu_si128((const void *)(at + 2 * stride)), 2);
    if (count > 3)
        v = _mm512_inserti32x4(v, _mm_loadu_si128((const void *)(at + 3 * stride)), 3);
    return v;
}

TILE_INLINE struct group_32 unpack_q4_0(const uint8_t *blocks, size_t count)
{
    /* The four scales are 16-bit words 0, 9, 18 and 27 of the first 64 bytes. */
    const __m512i words =
        _mm512_set_epi64(0, 0, 0, 0, 0x001b001b001b001b, 0x0012001200120012, 0x0009000900090009, 0);
    const __m512i nibble = _mm512_set1_epi8(15);
    const __mmask32 present = count == 4 ? 0xffffffffu : (1u << count * (Q4_0_BYTES / 2)) - 1;
    __m512i packed = load_four(blocks + Q4_0_QUANTS_AT, Q4_0_BYTES, count);
    __m512i halves =
        _mm512_permutexvar_epi16(words, _mm512_maskz_loadu_epi16(present, (const void *)blocks));
    return (struct group_32){
        .low = _mm512_and_si512(packed, nibble),
        .high = _mm512_and_si512(_mm512_srli_epi16(packed, 4), nibble),
        .scale = _mm512_cvtph_ps(_mm512_castsi512_si256(halves)),
    };
}

TILE_INLINE struct group_32 unpack_q8_0(const uint8_t *blocks, size_t count)
{
    const __m512i lanes = _mm512_set_epi32(3, 3, 3, 3, 2, 2, 2, 2, 1, 1, 1, 1, 0, 0, 0, 0);
    const __m512i sign = _mm512_set1_epi8(-128);
    uint64_t halves = load_u16(blocks);
    if (count > 1)
        halves |= (uint64_t)load_u16(blocks + Q8_0_BYTES) << 16;
    if (count > 2)
        halves |= (uint64_t)load_u16(blocks + 2 * Q8_0_BYTES) << 32;
    if (count > 3)
        halves |= (uint64_t)load_u16(blocks + 3 * Q8_0_BYTES) << 48;
    __m128 scales = _mm_cvtph_ps(_mm_cvtsi64_si128((long long)halves));
    const uint8_t *quants = blocks + Q8_0_QUANTS_AT;
    return (struct group_32){
        .low = _mm512_xor_si512(load_four(quants, Q8_0_BYTES, count), sign),
        .high = _mm512_xor_si512(load_four(quants + 16, Q8_0_BYTES, count), sign),
        .scale = _mm512_permutexvar_ps(lanes, _mm512_castps128_ps512(scales)),
    };
}

/* Activations after the last block are zero, so what stands for missing weights has no effect. */
TILE_INLINE struct group_32 unpack_32(enum tensor_type type, const uint8_t *blocks, size_t count)
{
    return type == TENSOR_Q4_0 ? unpack_q4_0(blocks, count) : unpack_q8_0(blocks, count);
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
        if (type == TENSOR_Q8_0)
            bias = _mm512_slli_epi32(bias, 4); /* offset 128 instead of 8 */
#pragma GCC unroll 4
        for (int r = 0; r < rows; r++) {
            __m512i dot = _mm512_dpbusd_epi32(bias, weights[r].low, low);
            dot = _mm512_dpbusd_epi32(dot, weights[r].high, high);
            sums[r][t] = _mm512_fmadd_ps(_mm512_cvtepi32_ps(dot),
                                         _mm512_mul_ps(weights[r].scale, scale), sums[r][t]);
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
    const size_t block_bytes = type == TENSOR_Q4_0 ? Q4_0_BYTES : Q8_0_BYTES;
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
                if (type == TENSOR_Q8_0)
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

/* ---- Q4_K, Q6_K: super-blocks of 256 --------------------------------------------------------- */

struct block_256 {
    __m512i quants[4]; /* unsigned, in natural order */
    __m512i scales[2]; /* int16 factors of the packed pair sums of each half, see pair_order() */
    __m512 offsets;    /* what each 16-sum of activations is multiplied with and taken off */
    __m512 scale;
};

/* Integer scales of the 16-blocks of one half, repeated as packing arranges the sums: the 128-bit
 * lane k of vpackssdw(first 64 quants, second 64 quants) holds four sums of 16-block k, then of 4 +
 * k. */
TILE_INLINE __m512i pair_scales(__m128i scales, __m256i order)
{
    return _mm512_cvtepi8_epi16(_mm256_shuffle_epi8(_mm256_broadcastsi128_si256(scales), order));
}

/* Byte i of the result is the index of the scale for 16-bit element i. `step`: 16-blocks a
 * scale. */
TILE_INLINE __m256i pair_order(int half, int step)
{
    int first = half * 8 / step, second = first + 4 / step;
    int k1 = 1 / step, k2 = 2 / step, k3 = 3 / step;
    return _mm256_set_epi32(0x01010101 * (second + k3), 0x01010101 * (first + k3),
                            0x01010101 * (second + k2), 0x01010101 * (first + k2),
                            0x01010101 * (second + k1), 0x01010101 * (first + k1),
                            0x01010101 * second, 0x01010101 * first);
}

TILE_INLINE struct block_256 unpack_q4_k(const uint8_t *at)
{
    /* Both nibbles of 32 bytes are two sub-blocks: shift the upper half of the register down. */
    const __m512i shift = _mm512_inserti64x4(_mm512_setzero_si512(), _mm256_set1_epi16(4), 1);
    const __m512i nibble = _mm512_set1_epi8(15);
    const __m128i twice = _mm_set_epi8(15, 15, 14, 14, 13, 13, 12, 12, 11, 11, 10, 10, 9, 9, 8, 8);
    struct block_256 out;
#pragma GCC unroll 4
    for (int j = 0; j < 4; j++) {
        __m256i packed = _mm256_loadu_si256((const void *)(at + Q4_K_QUANTS_AT + 32 * j));
        __m512i both = _mm512_broadcast_i64x4(packed);
        out.quants[j] = _mm512_and_si512(_mm512_srlv_epi16(both, shift), nibble);
    }
    uint8_t scales[16];
    q4_k_scales(at + Q4_K_SCALES_AT, scales);
    __m128i factors = _mm_loadu_si128((const void *)scales);
    out.scales[0] = pair_scales(factors, pair_order(0, 2));
    out.scales[1] = pair_scales(factors, pair_order(1, 2));
    __m512i minimums = _mm512_cvtepu8_epi32(_mm_shuffle_epi8(factors, twice));
    __m128 d = _mm_cvtph_ps(_mm_cvtsi32_si128((int)load_u32(at)));
    out.scale = _mm512_broadcastss_ps(d);
    out.offsets =
        _mm512_mul_ps(_mm512_cvtepi32_ps(minimums), _mm512_broadcastss_ps(_mm_movehdup_ps(d)));
    return out;
}

TILE_INLINE struct block_256 unpack_q6_k(const uint8_t *at)
{
    const __m512i nibble = _mm512_set1_epi8(15), upper = _mm512_set1_epi8(0x30);
    const __m512i left = _mm512_inserti64x4(_mm512_set1_epi16(4), _mm256_set1_epi16(2), 1);
    const __m512i right = _mm512_inserti64x4(_mm512_setzero_si512(), _mm256_set1_epi16(2), 1);
    struct block_256 out;
#pragma GCC unroll 2
    for (int half = 0; half < 2; half++) {
        __m512i low = _mm512_loadu_si512((const void *)(at + 64 * half));
        __m512i high = _mm512_broadcast_i64x4(
            _mm256_loadu_si256((const void *)(at + Q6_K_HIGH_AT + 32 * half)));
        /* Bits 0-1 and 2-3 belong to quants 0..63 (shift left 4, 2), 4-5 and 6-7 to 64..127. */
        __m512i high_first = _mm512_and_si512(_mm512_sllv_epi16(high, left), upper);
        __m512i high_second = _mm512_and_si512(_mm512_srlv_epi16(high, right), upper);
        out.quants[2 * half] = _mm512_or_si512(_mm512_and_si512(low, nibble), high_first);
        out.quants[2 * half + 1] =
            _mm512_or_si512(_mm512_and_si512(_mm512_srli_epi16(low, 4), nibble), high_second);
    }
    __m128i factors = _mm_loadu_si128((const void *)(at + Q6_K_SCALES_AT));
    out.scales[0] = pair_scales(factors, pair_order(0, 1));
    out.scales[1] = pair_scales(factors, pair_order(1, 1));
    __m128 d = _mm_cvtph_ps(_mm_cvtsi32_si128(load_u16(at + Q6_K_SCALE_AT)));
    out.scale = _mm512_broadcastss_ps(d);
    __m512i offsets = _mm512_slli_epi32(_mm512_cvtepi8_epi32(factors), 5);
    out.offsets = _mm512_mul_ps(_mm512_cvtepi32_ps(offsets), out.scale);
    return out;
}

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
    const size_t block_bytes = type == TENSOR_Q4_K ? Q4_K_BYTES : Q6_K_BYTES;
    const size_t blocks = tile->cols / SUPER_BLOCK;
    __m512 sums[ROWS_MAX][TOKENS_MAX];
    zero_sums(rows, tokens, sums);
    for (size_t b = 0; b < blocks; b++) {
#pragma GCC unroll 4
        for (int r = 0; r < rows; r++) {
            const uint8_t *at = tile->rows + (size_t)r * tile->row_bytes + b * block_bytes;
            struct block_256 w = type == TENSOR_Q4_K ? unpack_q4_k(at) : unpack_q6_k(at);
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

#define TILES_256(type)               \
    TILE_DEFINE(tile_256, type, 4, 1) \
    TILE_DEFINE(tile_256, type, 1, 1) \
    TILE_DEFINE(tile_256, type, 1, 2) \
    TILE_DEFINE(tile_256, type, 1, 4) \
    TILE_DEFINE(tile_256, type, 1, 8)
TILES_256(TENSOR_Q4_K)
TILES_256(TENSOR_Q6_K)

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
    [TENSOR_Q4_K] = SET(tile_256, TENSOR_Q4_K, 4, 1, 1, 1),
    [TENSOR_Q6_K] = SET(tile_256, TENSOR_Q6_K, 4, 1, 1, 1),
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
