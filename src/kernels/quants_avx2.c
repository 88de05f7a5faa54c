/* Products of quantised weights with a few tokens, with AVX2, in tiles of eight rows. activation.h
 * has the layouts.
 *
 * vpmaddubsw multiplies unsigned with signed bytes, adds pairs and saturates them to 16 bits. Most
 * types are stored unsigned and are small enough (2 * 63 * 127 = 16002). Their offset times the sum
 * of the activations is subtracted as an integer. Q8_0, IQ4_NL and IQ4_XS are multiplied as |w|
 * times sign(w) x, because 2 * 128 * 127 = 32512 fits.
 *
 * Whole blocks are summed as integers, which is exact in any order. Each row and token has one
 * float sum over the blocks, in one lane of a register. The panels (panel_avx2_body.h) sum in the
 * same order, so a token's results are the same bits in a prompt, in a batch and alone.
 *
 * For one token memory is the limit, so each type has a function that unpacks in registers. Several
 * tokens share unpacked weights through a buffer in the first-level cache. */
#include "kernels/quants_avx2.h"

#include <immintrin.h>

#include "base/assertion.h"
#include "kernels/activation.h"
#include "kernels/formats.h"
#include "kernels/lanes_avx2.h"
#include "kernels/tile_types.h"
#include "kernels/unpack_avx2.h"

enum {
    TILE_ROWS = 8,
    TOKENS_MAX = 8 /* of a tile; more are better off as panels */
};

/* The rows of a tile. After the last row it is the last one again; those results are not stored. */
struct rows {
    const uint8_t *at[TILE_ROWS];
};

static void set_rows(const struct tile *tile, struct rows *out)
{
    for (size_t r = 0; r < TILE_ROWS; r++)
        out->at[r] = tile->rows + (r < tile->row_count ? r : tile->row_count - 1) * tile->row_bytes;
}

/* Prefetches the weights PREFETCH_BYTES ahead in the same row or, near its end, in the row of the
 * next tile. Eight rows of 576 bytes are 4.5 KB in flight, twice what a memory of 100 ns and 25
 * GB/s for a core needs. */
enum { PREFETCH_BYTES = 576 };
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

static void store_rows(const struct tile *tile, size_t token, __m256 sums)
{
    float *y = tile->y + token * tile->y_stride;
    if (tile->row_count >= TILE_ROWS) {
        _mm256_storeu_ps(y, sums);
        return;
    }
    float all[TILE_ROWS];
    _mm256_storeu_ps(all, sums);
    memcpy(y, all, tile->row_count * sizeof *y);
}

/* ---- pairs of blocks of 32 ------------------------------------------------------------------- */

/* Activations of a pair of blocks, from `act` on. */
TILE_INLINE const uint8_t *pair_act(const uint8_t *acts, size_t pair)
{
    return acts + pair / 2 * ACT32_BYTES + pair % 2 * 32;
}

/* Products of a row: sums of four products in 16 bits, of signed types in 32 bits. */
TILE_INLINE __m256i dot_32(bool is_signed, __m256i low, __m256i high, const uint8_t *act)
{
    const __m256i ones = _mm256_set1_epi16(1);
    __m256i x_low = _mm256_loadu_si256((const void *)act);
    __m256i x_high = _mm256_loadu_si256((const void *)(act + ACT32_HIGH_AT));
    if (!is_signed) /* 2 * 2 * 31 * 127 = 15748, and sum_words() adds two of them */
        return _mm256_add_epi16(_mm256_maddubs_epi16(low, x_low),
                                _mm256_maddubs_epi16(high, x_high));
    low = _mm256_maddubs_epi16(_mm256_abs_epi8(low), _mm256_sign_epi8(x_low, low));
    high = _mm256_maddubs_epi16(_mm256_abs_epi8(high), _mm256_sign_epi8(x_high, high));
    return _mm256_add_epi32(_mm256_madd_epi16(low, ones), _mm256_madd_epi16(high, ones));
}

/* Adds a pair's blocks, `count` of them, to the rows' sums, one after the other. */
TILE_INLINE __m256 add_pair(bool is_signed, bool has_minimum, int shift, size_t count,
                            const __m256i dots[8], const __m256 scales[2], const __m256 minimums[2],
                            const uint8_t *act, __m256 sum)
{
    __m256i first = is_signed ? sum_quads(dots) : sum_words(dots);
    __m256i second = is_signed ? sum_quads(dots + 4) : sum_words(dots + 4);
#pragma GCC unroll 2
    for (int b = 0; b < (int)count; b++) {
        const uint8_t *bias = act + ACT32_BIAS_AT + 16 * b;
        __m256i dot = join_halves(first, second, b);
        __m256i total = _mm256_setzero_si256();
        if (shift >= 0 || has_minimum)
            total = _mm256_set1_epi32((int)(load_u32(bias) + load_u32(bias + 4) +
                                            load_u32(bias + 8) + load_u32(bias + 12)));
        if (shift >= 0)
            dot = _mm256_add_epi32(dot, _mm256_slli_epi32(total, shift));
        __m256 scale = _mm256_broadcast_ss((const void *)(act + ACT32_SCALE_AT + 16 * b));
        sum = _mm256_fmadd_ps(_mm256_cvtepi32_ps(dot), _mm256_mul_ps(scales[b], scale), sum);
        if (has_minimum)
            sum =
                _mm256_fmadd_ps(_mm256_cvtepi32_ps(total), _mm256_mul_ps(minimums[b], scale), sum);
    }
    return sum;
}

/* The scales, and minimums, of a pair of blocks of eight rows, a vector for each block. */
TILE_INLINE void unpack_scales_32(enum tensor_type type, const uint8_t *const blocks[8],
                                  size_t count, __m256 scales[2], __m256 minimums[2])
{
#pragma GCC unroll 2
    for (size_t b = 0; b < count; b++) {
        size_t at = b * tile_block_bytes(type);
        scales[b] =
            _mm256_set_m128(four_scales(type, blocks + 4, at), four_scales(type, blocks, at));
        if (tile_has_minimum(type))
            minimums[b] = _mm256_set_m128(four_minimums(blocks + 4, at), four_minimums(blocks, at));
    }
}

/* A pair whose second block is missing, with zeroes in its place. */
struct padded_pairs {
    uint8_t rows[TILE_ROWS][2 * Q8_0_BYTES];
};

/* Where the blocks of a pair are. */
TILE_INLINE void pair_blocks(enum tensor_type type, const struct rows *rows, size_t pair,
                             size_t count, struct padded_pairs *padded, const uint8_t *out[8])
{
    const size_t bytes = tile_block_bytes(type);
#pragma GCC unroll 8
    for (size_t r = 0; r < TILE_ROWS; r++) {
        out[r] = rows->at[r] + pair * 2 * bytes;
        if (count == 1) {
            memset(padded->rows[r], 0, sizeof padded->rows[r]);
            memcpy(padded->rows[r], out[r], bytes);
            out[r] = padded->rows[r];
        }
    }
}

TILE_INLINE __m256 one_pair_32(enum tensor_type type, const struct rows *rows, size_t pair,
                               size_t count, const uint8_t *act, __m256 sum)
{
    struct padded_pairs padded;
    const uint8_t *blocks[TILE_ROWS];
    __m256i dots[TILE_ROWS];
    __m256 scales[2], minimums[2];
    pair_blocks(type, rows, pair, count, &padded, blocks);
#pragma GCC unroll 8
    for (size_t r = 0; r < TILE_ROWS; r++) {
        struct pair_32 w = unpack_32(type, blocks[r]);
        dots[r] = dot_32(is_signed_32(type), w.low, w.high, act);
    }
    unpack_scales_32(type, blocks, count, scales, minimums);
    return add_pair(is_signed_32(type), tile_has_minimum(type), start_shift(type), count, dots,
                    scales, minimums, act, sum);
}

/* One token. */
TILE_INLINE void one_32(const struct tile *tile, enum tensor_type type)
{
    const size_t pairs = tile->cols / (2 * BLOCK_32), bytes = 2 * tile_block_bytes(type);
    struct rows rows;
    __m256 sum = _mm256_setzero_ps();
    set_rows(tile, &rows);
    for (size_t p = 0; p < pairs; p++) {
        if (p % 2 == 0)
#pragma GCC unroll 8
            for (size_t r = 0; r < TILE_ROWS; r++)
                prefetch_row(tile, rows.at[r], p * bytes, 2 * bytes);
        sum = one_pair_32(type, &rows, p, 2, pair_act(tile->acts, p), sum);
    }
    if (tile->cols % (2 * BLOCK_32))
        sum = one_pair_32(type, &rows, pairs, 1, pair_act(tile->acts, pairs), sum);
    store_rows(tile, 0, sum);
}

/* A pair of blocks of the tile's rows, unpacked. */
struct unpacked_32 {
    __m256i quants[TILE_ROWS][2]; /* low and high halves of the blocks */
    __m256 scales[2], minimums[2];
};

typedef void unpack_32_fn(const struct rows *rows, size_t pair, size_t count,
                          struct unpacked_32 *out);

TILE_INLINE void unpack_rows_32(enum tensor_type type, const struct rows *rows, size_t pair,
                                size_t count, struct unpacked_32 *out)
{
    struct padded_pairs padded;
    const uint8_t *blocks[TILE_ROWS];
    pair_blocks(type, rows, pair, count, &padded, blocks);
#pragma GCC unroll 8
    for (size_t r = 0; r < TILE_ROWS; r++) {
        struct pair_32 w = unpack_32(type, blocks[r]);
        out->quants[r][0] = w.low;
        out->quants[r][1] = w.high;
    }
    unpack_scales_32(type, blocks, count, out->scales, out->minimums);
}

/* Several tokens. */
TILE_INLINE void many_32(const struct tile *tile, size_t tokens, unpack_32_fn *unpack,
                         bool is_signed, bool has_minimum, int shift)
{
    const size_t blocks = tile->cols / BLOCK_32, block_bytes = tile->row_bytes / blocks;
    struct rows rows;
    struct unpacked_32 w;
    __m256 sums[TOKENS_MAX];
    set_rows(tile, &rows);
    for (size_t t = 0; t < tokens; t++)
        sums[t] = _mm256_setzero_ps();
    for (size_t b = 0; b < blocks; b += 2) {
        size_t count = blocks - b < 2 ? 1 : 2;
        if (b % 4 == 0)
            for (size_t r = 0; r < TILE_ROWS; r++)
                prefetch_row(tile, rows.at[r], b * block_bytes, 4 * block_bytes);
        unpack(&rows, b / 2, count, &w);
        for (size_t t = 0; t < tokens; t++) {
            const uint8_t *act = pair_act(tile->acts + t * tile->act_stride, b / 2);
            __m256i dots[TILE_ROWS];
#pragma GCC unroll 8
            for (size_t r = 0; r < TILE_ROWS; r++)
                dots[r] = dot_32(is_signed, w.quants[r][0], w.quants[r][1], act);
            sums[t] = add_pair(is_signed, has_minimum, shift, count, dots, w.scales, w.minimums,
                               act, sums[t]);
        }
    }
    for (size_t t = 0; t < tokens; t++)
        store_rows(tile, t, sums[t]);
}

/* One copy for several types. */
#define ONCE static __attribute__((noinline))
ONCE void many_plain_32(const struct tile *tile, size_t tokens, unpack_32_fn *unpack)
{
    many_32(tile, tokens, unpack, false, false, 0);
}
ONCE void many_five_bits_32(const struct tile *tile, size_t tokens, unpack_32_fn *unpack)
{
    many_32(tile, tokens, unpack, false, false, 1);
}
ONCE void many_minimum_32(const struct tile *tile, size_t tokens, unpack_32_fn *unpack)
{
    many_32(tile, tokens, unpack, false, true, -1);
}
ONCE void many_signed_32(const struct tile *tile, size_t tokens, unpack_32_fn *unpack)
{
    many_32(tile, tokens, unpack, true, false, -1);
}

/* ---- super-blocks of 256 --------------------------------------------------------------------- */

/* Adds the scaled products of quants 32j .. 32j + 31 to `sum`. */
TILE_INLINE __m256i add_dot_256(bool is_signed, __m256i sum, __m256i quants, __m256i factors,
                                const uint8_t *act, int j)
{
    __m256i x = _mm256_loadu_si256((const void *)(act + 32 * j));
    __m256i pairs = is_signed
                        ? _mm256_maddubs_epi16(_mm256_abs_epi8(quants), _mm256_sign_epi8(x, quants))
                        : _mm256_maddubs_epi16(quants, x);
    return _mm256_add_epi32(sum, _mm256_madd_epi16(pairs, factors));
}

/* What the offsets or minimums of a row take. */
TILE_INLINE __m256i taken_256(__m256i factors, const uint8_t *act)
{
    return _mm256_madd_epi16(_mm256_loadu_si256((const void *)(act + ACT256_TOTALS_AT)), factors);
}

/* Adds one super-block of the tile's rows. */
TILE_INLINE __m256 add_super_block(bool has_minimum, const __m256i dots[8], const __m256i taken[8],
                                   __m256 scales, __m256 minimums, const uint8_t *act, __m256 sum)
{
    __m256 scale = _mm256_broadcast_ss((const void *)(act + ACT256_SCALE_AT));
    sum = _mm256_fmadd_ps(_mm256_cvtepi32_ps(sum_rows(dots)), _mm256_mul_ps(scales, scale), sum);
    if (has_minimum)
        sum = _mm256_fnmadd_ps(_mm256_cvtepi32_ps(sum_rows(taken)), _mm256_mul_ps(minimums, scale),
                               sum);
    return sum;
}

TILE_INLINE void unpack_scales_256(enum tensor_type type, const struct rows *rows, size_t offset,
                                   __m256 *scales, __m256 *minimums)
{
    size_t at = offset + scale_at_256(type);
    *scales = _mm256_set_m128(four_halves(rows->at + 4, at), four_halves(rows->at, at));
    at = offset + minimum_at_256(type);
    if (tile_has_minimum(type))
        *minimums = _mm256_set_m128(four_halves(rows->at + 4, at), four_halves(rows->at, at));
}

/* One token. */
TILE_INLINE void one_256(const struct tile *tile, enum tensor_type type)
{
    const size_t blocks = tile->cols / SUPER_BLOCK, bytes = tile_block_bytes(type);
    const bool is_signed = type == TENSOR_IQ4_XS;
    struct rows rows;
    __m256 sum = _mm256_setzero_ps(), scales, minimums = sum;
    set_rows(tile, &rows);
    for (size_t b = 0; b < blocks; b++) {
        const uint8_t *act = tile->acts + b * ACT256_BYTES;
        __m256i dots[TILE_ROWS], taken[TILE_ROWS];
#pragma GCC unroll 1
        for (size_t r = 0; r < TILE_ROWS; r++) {
            const uint8_t *at = rows.at[r] + b * bytes;
            prefetch_row(tile, rows.at[r], b * bytes, bytes);
            struct factors_256 factors = unpack_factors(type, at);
            __m256i dot = _mm256_setzero_si256();
            if (tile_has_minimum(type))
                taken[r] = taken_256(factors.taken, act);
            else if (!is_signed)
                dot = _mm256_sub_epi32(dot, taken_256(factors.taken, act));
#pragma GCC unroll 8
            for (int j = 0; j < 8; j++)
                dot = add_dot_256(is_signed, dot, quants_256(type, at, j),
                                  spread_factors(type, &factors, j), act, j);
            dots[r] = dot;
        }
        unpack_scales_256(type, &rows, b * bytes, &scales, &minimums);
        sum = add_super_block(tile_has_minimum(type), dots, taken, scales, minimums, act, sum);
    }
    store_rows(tile, 0, sum);
}

/* A super-block of the tile's rows, unpacked. */
struct unpacked_256 {
    struct {
        __m256i quants[8], factors[8], taken;
    } rows[TILE_ROWS];
    __m256 scales, minimums;
};

TILE_INLINE void unpack_rows_256(enum tensor_type type, const struct rows *rows, size_t block,
                                 struct unpacked_256 *out)
{
    const size_t offset = block * tile_block_bytes(type);
#pragma GCC unroll 1
    for (size_t r = 0; r < TILE_ROWS; r++) {
        const uint8_t *at = rows->at[r] + offset;
        struct factors_256 factors = unpack_factors(type, at);
#pragma GCC unroll 8
        for (int j = 0; j < 8; j++) {
            out->rows[r].quants[j] = quants_256(type, at, j);
            out->rows[r].factors[j] = spread_factors(type, &factors, j);
        }
        out->rows[r].taken = factors.taken;
    }
    unpack_scales_256(type, rows, offset, &out->scales, &out->minimums);
}

typedef void unpack_256_fn(const struct rows *rows, size_t block, struct unpacked_256 *out);

/* How the quants of a type become the stored values: with an offset, with a minimum, or signed. */
enum kind_256 { KIND_OFFSET, KIND_MINIMUM, KIND_SIGNED };

/* Several tokens. */
TILE_INLINE void many_256(const struct tile *tile, size_t tokens, unpack_256_fn *unpack,
                          enum kind_256 kind)
{
    const size_t blocks = tile->cols / SUPER_BLOCK, block_bytes = tile->row_bytes / blocks;
    struct rows rows;
    struct unpacked_256 w;
    __m256 sums[TOKENS_MAX];
    set_rows(tile, &rows);
    for (size_t t = 0; t < tokens; t++)
        sums[t] = _mm256_setzero_ps();
    for (size_t b = 0; b < blocks; b++) {
        for (size_t r = 0; r < TILE_ROWS; r++)
            prefetch_row(tile, rows.at[r], b * block_bytes, block_bytes);
        unpack(&rows, b, &w);
        for (size_t t = 0; t < tokens; t++) {
            const uint8_t *act = tile->acts + t * tile->act_stride + b * ACT256_BYTES;
            __m256i dots[TILE_ROWS], taken[TILE_ROWS];
#pragma GCC unroll 1
            for (size_t r = 0; r < TILE_ROWS; r++) {
                __m256i dot = _mm256_setzero_si256();
                if (kind == KIND_MINIMUM)
                    taken[r] = taken_256(w.rows[r].taken, act);
                else if (kind == KIND_OFFSET)
                    dot = _mm256_sub_epi32(dot, taken_256(w.rows[r].taken, act));
#pragma GCC unroll 8
                for (int j = 0; j < 8; j++)
                    dot = add_dot_256(kind == KIND_SIGNED, dot, w.rows[r].quants[j],
                                      w.rows[r].factors[j], act, j);
                dots[r] = dot;
            }
            sums[t] = add_super_block(kind == KIND_MINIMUM, dots, taken, w.scales, w.minimums, act,
                                      sums[t]);
        }
    }
    for (size_t t = 0; t < tokens; t++)
        store_rows(tile, t, sums[t]);
}

ONCE void many_offset_256(const struct tile *tile, size_t tokens, unpack_256_fn *unpack)
{
    many_256(tile, tokens, unpack, KIND_OFFSET);
}
ONCE void many_minimum_256(const struct tile *tile, size_t tokens, unpack_256_fn *unpack)
{
    many_256(tile, tokens, unpack, KIND_MINIMUM);
}
ONCE void many_signed_256(const struct tile *tile, size_t tokens, unpack_256_fn *unpack)
{
    many_256(tile, tokens, unpack, KIND_SIGNED);
}

/* ---- choice ---------------------------------------------------------------------------------- */

/* Two functions for each type: one token, and several. */
#define QUANT_32(type, many)                                                      \
    static void one_##type(const struct tile *tile)                               \
    {                                                                             \
        one_32(tile, type);                                                       \
    }                                                                             \
    static void unpack_##type(const struct rows *rows, size_t pair, size_t count, \
                              struct unpacked_32 *out)                            \
    {                                                                             \
        if (count == 2)                                                           \
            unpack_rows_32(type, rows, pair, 2, out);                             \
        else                                                                      \
            unpack_rows_32(type, rows, pair, 1, out);                             \
    }                                                                             \
    static void many_##type(const struct tile *tile, size_t tokens)               \
    {                                                                             \
        many(tile, tokens, unpack_##type);                                        \
    }
#define QUANT_256(type, many)                                                                  \
    static void one_##type(const struct tile *tile)                                            \
    {                                                                                          \
        one_256(tile, type);                                                                   \
    }                                                                                          \
    static void unpack_##type(const struct rows *rows, size_t block, struct unpacked_256 *out) \
    {                                                                                          \
        unpack_rows_256(type, rows, block, out);                                               \
    }                                                                                          \
    static void many_##type(const struct tile *tile, size_t tokens)                            \
    {                                                                                          \
        many(tile, tokens, unpack_##type);                                                     \
    }
QUANT_32(TENSOR_Q4_0, many_plain_32)
QUANT_32(TENSOR_Q4_1, many_minimum_32)
QUANT_32(TENSOR_Q5_0, many_five_bits_32)
QUANT_32(TENSOR_Q5_1, many_minimum_32)
QUANT_32(TENSOR_Q8_0, many_signed_32)
QUANT_32(TENSOR_IQ4_NL, many_signed_32)
QUANT_32(TENSOR_MXFP4, many_five_bits_32)
QUANT_256(TENSOR_Q2_K, many_minimum_256)
QUANT_256(TENSOR_Q3_K, many_offset_256)
QUANT_256(TENSOR_Q4_K, many_minimum_256)
QUANT_256(TENSOR_Q5_K, many_minimum_256)
QUANT_256(TENSOR_Q6_K, many_offset_256)
QUANT_256(TENSOR_IQ4_XS, many_signed_256)

#define FUNCTIONS(type) [type] = {one_##type, many_##type}
static const struct quant_functions {
    void (*one)(const struct tile *tile);
    void (*many)(const struct tile *tile, size_t tokens);
} functions[TENSOR_TYPE_COUNT] = {
    FUNCTIONS(TENSOR_Q4_0),   FUNCTIONS(TENSOR_Q4_1), FUNCTIONS(TENSOR_Q5_0),
    FUNCTIONS(TENSOR_Q5_1),   FUNCTIONS(TENSOR_Q8_0), FUNCTIONS(TENSOR_IQ4_NL),
    FUNCTIONS(TENSOR_MXFP4),  FUNCTIONS(TENSOR_Q2_K), FUNCTIONS(TENSOR_Q3_K),
    FUNCTIONS(TENSOR_Q4_K),   FUNCTIONS(TENSOR_Q5_K), FUNCTIONS(TENSOR_Q6_K),
    FUNCTIONS(TENSOR_IQ4_XS),
};

void quants_multiply_avx2(enum tensor_type type, const struct tile *whole, size_t rows,
                          size_t tokens)
{
    ASSERT(functions[type].one != NULL);
    for (size_t begin = 0; begin < rows; begin += TILE_ROWS_BLOCK) {
        size_t end = rows - begin < TILE_ROWS_BLOCK ? rows : begin + TILE_ROWS_BLOCK;
        for (size_t t = 0; t < tokens; t += TOKENS_MAX) {
            size_t count = tokens - t < TOKENS_MAX ? tokens - t : TOKENS_MAX;
            struct tile tile = *whole;
            tile.acts += t * whole->act_stride;
            for (size_t r = begin; r < end; r += TILE_ROWS) {
                tile.row_count = end - r < TILE_ROWS ? end - r : TILE_ROWS;
                tile.rows = whole->rows + r * whole->row_bytes;
                tile.y = whole->y + t * whole->y_stride + r;
                if (count == 1)
                    functions[type].one(&tile);
                else
                    functions[type].many(&tile, count);
            }
        }
    }
}
