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
 * Types in blocks of 32 unpack a row in registers and multiply it with one, two or four tokens at
 * once; four is what the sixteen registers allow. Three tokens take the function for four. A
 * super-block unpacks to more than fits registers: for one token it is used up at once, several
 * tokens share it through a buffer in the first-level cache. quants_low_avx2.c has the types of
 * blocks_low.h. */
#include "kernels/x86/quants_avx2.h"

#include <immintrin.h>

#include "base/core/assertion.h"
#include "kernels/activation.h"
#include "kernels/blocks_low.h"
#include "kernels/formats.h"
#include "kernels/tile_types.h"
#include "kernels/x86/lanes_avx2.h"
#include "kernels/x86/unpack_avx2.h"

enum {
    TILE_ROWS = QUANTS_ROWS,
    TOKENS_MAX = QUANTS_TOKENS,
    AT_ONCE = 4 /* tokens whose sums of two rows fit registers */
};

/* Of all rows. With several tokens it takes less time than room. */
TILE_INLINE void prefetch_rows(const struct tile *tile, size_t offset, size_t bytes, int tokens)
{
    if (tokens == 1) {
#pragma GCC unroll 8
        for (size_t r = 0; r < TILE_ROWS; r++)
            quants_prefetch_row(tile, r, offset, bytes);
        return;
    }
#pragma GCC unroll 1
    for (size_t r = 0; r < TILE_ROWS; r++)
        quants_prefetch_row(tile, r, offset, bytes);
}

/* The tokens of a tile. After the last one it is the last one again; those are not stored. */
static void set_tokens(const struct tile *tile, size_t count, const uint8_t *acts[TOKENS_MAX],
                       __m256 sums[TOKENS_MAX])
{
    for (size_t t = 0; t < TOKENS_MAX; t++) {
        acts[t] = tile->acts + (t < count ? t : count - 1) * tile->act_stride;
        sums[t] = _mm256_setzero_ps();
    }
}

static __attribute__((noinline)) void store_rows(const struct tile *tile, size_t token, __m256 sums)
{
    float *y = tile->y + token * tile->y_stride;
    float all[TILE_ROWS];
    _mm256_storeu_ps(all, sums);
#pragma GCC unroll 1
    for (size_t r = 0; r < tile->row_count; r++)
        y[r * tile->row_step] = all[r];
}

/* ---- pairs of blocks of 32 ------------------------------------------------------------------- */

/* Where a pair of blocks begins in the activations. */
TILE_INLINE size_t pair_at(size_t pair)
{
    return pair / 2 * ACT32_BYTES + pair % 2 * 32;
}

struct pair_x {
    __m256i low, high; /* quants 0..15 and 16..31 of both blocks */
};

TILE_INLINE struct pair_x load_pair(const uint8_t *act)
{
    return (struct pair_x){_mm256_loadu_si256((const void *)act),
                           _mm256_loadu_si256((const void *)(act + ACT32_HIGH_AT))};
}

/* Products of a row: sums of four products in 16 bits, of signed types in 32 bits. */
TILE_INLINE __m256i dot_32(bool is_signed, struct pair_32 w, struct pair_x x)
{
    const __m256i ones = _mm256_set1_epi16(1);
    if (!is_signed) /* 2 * 2 * 31 * 127 = 15748, and sum_two() adds two of them */
        return _mm256_add_epi16(_mm256_maddubs_epi16(w.low, x.low),
                                _mm256_maddubs_epi16(w.high, x.high));
    __m256i low = _mm256_maddubs_epi16(_mm256_abs_epi8(w.low), _mm256_sign_epi8(x.low, w.low));
    __m256i high = _mm256_maddubs_epi16(_mm256_abs_epi8(w.high), _mm256_sign_epi8(x.high, w.high));
    return _mm256_add_epi32(_mm256_madd_epi16(low, ones), _mm256_madd_epi16(high, ones));
}

/* The first step of sum_quads(), for two rows. Numbers have 16 bits, of signed types 32. Two of
 * 16 bits must not overflow. */
TILE_INLINE __m256i sum_two(bool is_signed, __m256i first, __m256i second)
{
    __m256i low = _mm256_unpacklo_epi32(first, second);
    __m256i high = _mm256_unpackhi_epi32(first, second);
    if (is_signed)
        return _mm256_add_epi32(low, high);
    return _mm256_madd_epi16(_mm256_add_epi16(low, high), _mm256_set1_epi16(1));
}

/* The last step, for two pairs of rows. */
TILE_INLINE __m256i join_twos(__m256i first, __m256i second)
{
    return _mm256_add_epi32(_mm256_unpacklo_epi64(first, second),
                            _mm256_unpackhi_epi64(first, second));
}

/* Adds a pair's blocks to the rows' sums, one after the other. dots: of four rows
 * each, in lane r of each half the one of row r and the half's block. */
TILE_INLINE __m256 add_pair(bool has_minimum, int shift, __m256i dots[2], const __m256 scales[2],
                            const __m256 minimums[2], const uint8_t *act, __m256 sum)
{
    __m256i total = _mm256_setzero_si256();
    if (shift >= 0 || has_minimum) {
        total = _mm256_loadu_si256((const void *)(act + ACT32_BIAS_AT));
        total = _mm256_add_epi32(total, _mm256_shuffle_epi32(total, 0x4e));
        total = _mm256_add_epi32(total, _mm256_shuffle_epi32(total, 0xb1));
    }
    if (shift >= 0) {
        dots[0] = _mm256_add_epi32(dots[0], _mm256_slli_epi32(total, shift));
        dots[1] = _mm256_add_epi32(dots[1], _mm256_slli_epi32(total, shift));
    }
#pragma GCC unroll 2
    for (int b = 0; b < 2; b++) {
        __m256 dot = _mm256_cvtepi32_ps(join_halves(dots[0], dots[1], b));
        __m256 scale = _mm256_broadcast_ss((const void *)(act + ACT32_SCALE_AT + 16 * b));
        sum = _mm256_fmadd_ps(dot, _mm256_mul_ps(scales[b], scale), sum);
        if (has_minimum)
            sum = _mm256_fmadd_ps(_mm256_cvtepi32_ps(join_halves(total, total, b)),
                                  _mm256_mul_ps(minimums[b], scale), sum);
    }
    return sum;
}

/* The scales, and minimums, of a pair of blocks of eight rows, a vector for each block. */
TILE_INLINE void unpack_scales_32(enum tensor_type type, const uint8_t *const blocks[8],
                                  __m256 scales[2], __m256 minimums[2])
{
#pragma GCC unroll 2
    for (size_t b = 0; b < 2; b++) {
        size_t at = b * tile_block_bytes(type);
        scales[b] =
            _mm256_set_m128(four_scales(type, blocks + 4, at), four_scales(type, blocks, at));
        if (tile_has_minimum(type))
            minimums[b] = _mm256_set_m128(four_minimums(blocks + 4, at), four_minimums(blocks, at));
    }
}

/* Keeps a value in its register; compilers would compute products of all rows first, and store
 * them. */
#define KEEP(register) __asm__("" : "+x"(register))

TILE_INLINE void row_32(enum tensor_type type, const uint8_t *blocks, const uint8_t *const *acts,
                        size_t at, int tokens, __m256i out[AT_ONCE])
{
    struct pair_32 w = unpack_32(type, blocks);
    if (tokens > 1) {
        KEEP(w.low);
        KEEP(w.high);
    }
#pragma GCC unroll 4
    for (int t = 0; t < tokens; t++) {
        out[t] = dot_32(is_signed_32(type), w, load_pair(acts[t] + at));
        if (tokens > 1)
            KEEP(out[t]);
    }
}

/* Four rows of a pair of blocks. out[t][half]: sum_quads() of the rows. */
TILE_INLINE void four_rows_32(enum tensor_type type, const uint8_t *const blocks[4],
                              const uint8_t *const *acts, size_t at, int tokens, size_t half,
                              __m256i out[AT_ONCE][2])
{
    __m256i sums[2][AT_ONCE];
#pragma GCC unroll 2
    for (int i = 0; i < 2; i++) {
        __m256i first[AT_ONCE], second[AT_ONCE];
        row_32(type, blocks[2 * i], acts, at, tokens, first);
        row_32(type, blocks[2 * i + 1], acts, at, tokens, second);
#pragma GCC unroll 4
        for (int t = 0; t < tokens; t++) {
            sums[i][t] = sum_two(is_signed_32(type), first[t], second[t]);
            if (tokens > 1)
                KEEP(sums[i][t]);
        }
    }
#pragma GCC unroll 4
    for (int t = 0; t < tokens; t++)
        out[t][half] = join_twos(sums[0][t], sums[1][t]);
}

/* Adds `pairs` pairs of blocks to the sums of `tokens` tokens. */
TILE_INLINE void add_pairs(enum tensor_type type, const struct tile *tile, size_t pairs, int tokens,
                           const uint8_t *const *acts, __m256 *to)
{
    const size_t bytes = 2 * tile_block_bytes(type);
    __m256 sums[AT_ONCE];
#pragma GCC unroll 4
    for (int t = 0; t < tokens; t++)
        sums[t] = to[t];
    for (size_t pair = 0; pair < pairs; pair++) {
        const uint8_t *at[TILE_ROWS];
        __m256i dots[AT_ONCE][2];
        __m256 scales[2], minimums[2];
        if (pair % 2 == 0)
            prefetch_rows(tile, pair * bytes, 2 * bytes, tokens);
#pragma GCC unroll 8
        for (size_t r = 0; r < TILE_ROWS; r++)
            at[r] = tile->at[r] + pair * bytes;
        four_rows_32(type, at, acts, pair_at(pair), tokens, 0, dots);
        four_rows_32(type, at + 4, acts, pair_at(pair), tokens, 1, dots);
        unpack_scales_32(type, at, scales, minimums);
#pragma GCC unroll 4
        for (int t = 0; t < tokens; t++)
            sums[t] = add_pair(tile_has_minimum(type), start_shift(type), dots[t], scales, minimums,
                               acts[t] + pair_at(pair), sums[t]);
    }
#pragma GCC unroll 4
    for (int t = 0; t < tokens; t++)
        to[t] = sums[t];
}

typedef void add_pairs_fn(const struct tile *tile, size_t pairs, const uint8_t *const *acts,
                          __m256 *sums);

/* The last block of the rows, if it has no partner: zeroes are the partner. They add exactly
 * nothing, as their scales are zero, too. */
static void add_last_block(const struct tile *tile, add_pairs_fn *add, const uint8_t *acts[AT_ONCE],
                           __m256 *sums)
{
    const size_t pairs = tile->cols / (2 * BLOCK_32), bytes = tile->row_bytes / (2 * pairs + 1);
    uint8_t padded[TILE_ROWS][2 * Q8_0_BYTES] = {0};
    struct tile last = *tile;
    last.row_bytes = sizeof padded[0];
    for (size_t r = 0; r < TILE_ROWS; r++) {
        memcpy(padded[r], tile->at[r] + 2 * pairs * bytes, bytes);
        last.at[r] = padded[r];
    }
    for (size_t t = 0; t < AT_ONCE; t++)
        acts[t] += pair_at(pairs);
    add(&last, 1, acts, sums);
}

/* Products of a tile with `count` tokens. add: for 1, 2, and AT_ONCE tokens. */
static void multiply_32(const struct tile *tile, size_t count, add_pairs_fn *const add[3])
{
    const uint8_t *acts[TOKENS_MAX];
    __m256 sums[TOKENS_MAX];
    set_tokens(tile, count, acts, sums);
    for (size_t t = 0; t < count; t += AT_ONCE) {
        add_pairs_fn *chosen = add[count - t > 2 ? 2 : count - t - 1];
        chosen(tile, tile->cols / (2 * BLOCK_32), acts + t, sums + t);
        if (tile->cols % (2 * BLOCK_32))
            add_last_block(tile, chosen, acts + t, sums + t);
    }
    for (size_t t = 0; t < count; t++)
        store_rows(tile, t, sums[t]);
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

TILE_INLINE void unpack_scales_256(enum tensor_type type, const struct tile *tile, size_t offset,
                                   __m256 *scales, __m256 *minimums)
{
    size_t at = offset + scale_at_256(type);
    *scales = _mm256_set_m128(four_halves(tile->at + 4, at), four_halves(tile->at, at));
    at = offset + minimum_at_256(type);
    if (tile_has_minimum(type))
        *minimums = _mm256_set_m128(four_halves(tile->at + 4, at), four_halves(tile->at, at));
}

/* One token. */
TILE_INLINE void one_256(const struct tile *tile, enum tensor_type type)
{
    const size_t blocks = tile->cols / SUPER_BLOCK, bytes = tile_block_bytes(type);
    const bool is_signed = type == TENSOR_IQ4_XS;
    __m256 sum = _mm256_setzero_ps(), scales, minimums = sum;
    for (size_t b = 0; b < blocks; b++) {
        const uint8_t *act = tile->acts + b * ACT256_BYTES;
        __m256i dots[TILE_ROWS], taken[TILE_ROWS];
#pragma GCC unroll 1
        for (size_t r = 0; r < TILE_ROWS; r++) {
            const uint8_t *at = tile->at[r] + b * bytes;
            quants_prefetch_row(tile, r, b * bytes, bytes);
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
        unpack_scales_256(type, tile, b * bytes, &scales, &minimums);
        sum = add_super_block(tile_has_minimum(type), dots, taken, scales, minimums, act, sum);
    }
    store_rows(tile, 0, sum);
}

/* A super-block of the tile's rows, unpacked. */
struct unpacked_256 {
    struct {
        __m256i quants[8], taken;
        union {
            __m256i sixteen[8]; /* spread_factors() */
            int32_t eight[8];   /* int16 twice, of types with eight */
        } factors;
    } rows[TILE_ROWS];
    __m256 scales, minimums;
};

TILE_INLINE void store_eight(__m256i factors, int32_t out[8])
{
    _mm_storeu_si128((void *)out, _mm256_castsi256_si128(_mm256_unpacklo_epi16(factors, factors)));
    _mm_storeu_si128((void *)(out + 4),
                     _mm256_castsi256_si128(_mm256_unpackhi_epi16(factors, factors)));
}

TILE_INLINE void unpack_rows_256(enum tensor_type type, const struct tile *tile, size_t block,
                                 struct unpacked_256 *out)
{
    const size_t offset = block * tile_block_bytes(type);
#pragma GCC unroll 1
    for (size_t r = 0; r < TILE_ROWS; r++) {
        const uint8_t *at = tile->at[r] + offset;
        struct factors_256 factors = unpack_factors(type, at);
        quants_prefetch_row(tile, r, offset, tile_block_bytes(type));
#pragma GCC unroll 8
        for (int j = 0; j < 8; j++) {
            out->rows[r].quants[j] = quants_256(type, at, j);
            if (has_sixteen_factors(type))
                out->rows[r].factors.sixteen[j] = spread_factors(type, &factors, j);
        }
        if (!has_sixteen_factors(type))
            store_eight(factors.low, out->rows[r].factors.eight);
        out->rows[r].taken = factors.taken;
    }
    unpack_scales_256(type, tile, offset, &out->scales, &out->minimums);
}

typedef void unpack_256_fn(const struct tile *tile, size_t block, struct unpacked_256 *out);

/* What types with the same product have in common. */
struct traits_256 {
    bool is_signed, has_minimum; /* neither: an offset */
    bool sixteen;                /* factors */
};

/* A super-block of the tile's rows; `at` is where it begins in the activations. */
TILE_INLINE void add_block_256(struct traits_256 traits, const struct unpacked_256 *w, size_t at,
                               const uint8_t *const *acts, int tokens, __m256 *sums)
{
    __m256i dots[AT_ONCE][TILE_ROWS], taken[AT_ONCE][TILE_ROWS];
#pragma GCC unroll 1
    for (size_t r = 0; r < TILE_ROWS; r++) {
        __m256i dot[AT_ONCE];
#pragma GCC unroll 4
        for (int t = 0; t < tokens; t++) {
            dot[t] = _mm256_setzero_si256();
            if (traits.has_minimum)
                taken[t][r] = taken_256(w->rows[r].taken, acts[t] + at);
            else if (!traits.is_signed)
                dot[t] = _mm256_sub_epi32(dot[t], taken_256(w->rows[r].taken, acts[t] + at));
        }
#pragma GCC unroll 2
        for (int j = 0; j < 8; j++) {
            __m256i quants = w->rows[r].quants[j];
            __m256i factors = traits.sixteen ? w->rows[r].factors.sixteen[j]
                                             : _mm256_set1_epi32(w->rows[r].factors.eight[j]);
            KEEP(quants);
            KEEP(factors);
#pragma GCC unroll 4
            for (int t = 0; t < tokens; t++) {
                dot[t] = add_dot_256(traits.is_signed, dot[t], quants, factors, acts[t] + at, j);
                KEEP(dot[t]);
            }
        }
#pragma GCC unroll 4
        for (int t = 0; t < tokens; t++)
            dots[t][r] = dot[t];
    }
#pragma GCC unroll 4
    for (int t = 0; t < tokens; t++)
        sums[t] = add_super_block(traits.has_minimum, dots[t], taken[t], w->scales, w->minimums,
                                  acts[t] + at, sums[t]);
}

/* Several tokens. */
TILE_INLINE void many_256(const struct tile *tile, size_t count, unpack_256_fn *unpack,
                          struct traits_256 traits)
{
    const size_t blocks = tile->cols / SUPER_BLOCK;
    const uint8_t *acts[TOKENS_MAX];
    struct unpacked_256 w;
    __m256 sums[TOKENS_MAX];
    set_tokens(tile, count, acts, sums);
    for (size_t b = 0; b < blocks; b++) {
        unpack(tile, b, &w);
        for (size_t t = 0; t < count; t += AT_ONCE)
            if (count - t > 2)
                add_block_256(traits, &w, b * ACT256_BYTES, acts + t, AT_ONCE, sums + t);
            else
                add_block_256(traits, &w, b * ACT256_BYTES, acts + t, 2, sums + t);
    }
    for (size_t t = 0; t < count; t++)
        store_rows(tile, t, sums[t]);
}

/* One copy for several types. */
#define MANY_256(name, ...)                                                           \
    static __attribute__((noinline)) void name(const struct tile *tile, size_t count, \
                                               unpack_256_fn *unpack)                 \
    {                                                                                 \
        many_256(tile, count, unpack, (struct traits_256){__VA_ARGS__});              \
    }
MANY_256(many_offset_256, .sixteen = true)
MANY_256(many_minimum_256, .has_minimum = true)
MANY_256(many_q2_k, .has_minimum = true, .sixteen = true)
MANY_256(many_signed_256, .is_signed = true)

/* ---- types of blocks_low.h ------------------------------------------------------------------- */

static void multiply_low(enum tensor_type type, const struct tile *tile, size_t count)
{
    _Alignas(32) float sums[TOKENS_MAX][TILE_ROWS] = {0};
    quants_low_add_avx2(type, tile, count, sums);
    for (size_t t = 0; t < count; t++)
        store_rows(tile, t, _mm256_load_ps(sums[t]));
}

/* ---- choice ---------------------------------------------------------------------------------- */

/* A function for each type, for up to TOKENS_MAX tokens. */
#define ADD_PAIRS(type, tokens)                                                 \
    static void add_##type##_##tokens(const struct tile *tile, size_t pairs,    \
                                      const uint8_t *const *acts, __m256 *sums) \
    {                                                                           \
        add_pairs(type, tile, pairs, tokens, acts, sums);                       \
    }
#define QUANT_32(type)                                                                        \
    ADD_PAIRS(type, 1)                                                                        \
    ADD_PAIRS(type, 2)                                                                        \
    ADD_PAIRS(type, 4)                                                                        \
    static void multiply_##type(const struct tile *tile, size_t count)                        \
    {                                                                                         \
        static add_pairs_fn *const add[3] = {add_##type##_1, add_##type##_2, add_##type##_4}; \
        multiply_32(tile, count, add);                                                        \
    }
#define QUANT_256(type, many)                                                                  \
    static void unpack_##type(const struct tile *tile, size_t block, struct unpacked_256 *out) \
    {                                                                                          \
        unpack_rows_256(type, tile, block, out);                                               \
    }                                                                                          \
    static void multiply_##type(const struct tile *tile, size_t count)                         \
    {                                                                                          \
        if (count > 1)                                                                         \
            many(tile, count, unpack_##type);                                                  \
        else                                                                                   \
            one_256(tile, type);                                                               \
    }
QUANT_32(TENSOR_Q4_0)
QUANT_32(TENSOR_Q4_1)
QUANT_32(TENSOR_Q5_0)
QUANT_32(TENSOR_Q5_1)
QUANT_32(TENSOR_Q8_0)
QUANT_32(TENSOR_IQ4_NL)
QUANT_32(TENSOR_MXFP4)
QUANT_256(TENSOR_Q2_K, many_q2_k)
QUANT_256(TENSOR_Q3_K, many_offset_256)
QUANT_256(TENSOR_Q4_K, many_minimum_256)
QUANT_256(TENSOR_Q5_K, many_minimum_256)
QUANT_256(TENSOR_Q6_K, many_offset_256)
QUANT_256(TENSOR_IQ4_XS, many_signed_256)

#define FUNCTION(type) [type] = multiply_##type
typedef void multiply_fn(const struct tile *tile, size_t count);
static multiply_fn *const functions[TENSOR_TYPE_COUNT] = {
    FUNCTION(TENSOR_Q4_0),   FUNCTION(TENSOR_Q4_1),   FUNCTION(TENSOR_Q5_0),  FUNCTION(TENSOR_Q5_1),
    FUNCTION(TENSOR_Q8_0),   FUNCTION(TENSOR_IQ4_NL), FUNCTION(TENSOR_MXFP4), FUNCTION(TENSOR_Q2_K),
    FUNCTION(TENSOR_Q3_K),   FUNCTION(TENSOR_Q4_K),   FUNCTION(TENSOR_Q5_K),  FUNCTION(TENSOR_Q6_K),
    FUNCTION(TENSOR_IQ4_XS),
};

/* Runs the tile whose first row is `row`. */
static void multiply_tile(enum tensor_type type, const struct tile *tiles, size_t row,
                          size_t tokens)
{
    struct tile tile = *tiles;
    for (size_t i = 0; i < TILE_ROWS; i++) {
        size_t place = i < tile.row_count ? i : tile.row_count - 1;
        tile.at[i] = tile.rows + (row + place * tile.row_step) * tile.row_bytes;
    }
    tile.y += row;
    if (functions[type] != NULL)
        functions[type](&tile, tokens);
    else
        multiply_low(type, &tile, tokens);
}

/* The rows of a tile are read side by side. They are not neighbours: the tiles of a block take one
 * row after another from eight stretches. So each stretch is read from its begin to its end, and
 * the processor fetches ahead by itself. With neighbours it has to find eight new places for each
 * tile, and a row of 2048 weights is over before it has. */
static void multiply_block(enum tensor_type type, struct tile *tile, size_t rows, size_t tokens)
{
    tile->row_count = TILE_ROWS;
    tile->row_step = rows / TILE_ROWS;
    for (size_t row = 0; row < rows / TILE_ROWS; row++)
        multiply_tile(type, tile, row, tokens);
    tile->row_count = rows % TILE_ROWS;
    tile->row_step = 1;
    if (tile->row_count)
        multiply_tile(type, tile, rows - tile->row_count, tokens);
}

void quants_multiply_avx2(enum tensor_type type, const struct tile *whole, size_t rows,
                          size_t tokens)
{
    ASSERT(functions[type] != NULL || block_low_has(type));
    block_low_prepare();
    for (size_t begin = 0; begin < rows; begin += TILE_ROWS_BLOCK) {
        size_t count = rows - begin < TILE_ROWS_BLOCK ? rows - begin : TILE_ROWS_BLOCK;
        for (size_t t = 0; t < tokens; t += TOKENS_MAX) {
            struct tile tile = *whole;
            tile.acts += t * whole->act_stride;
            tile.rows += begin * whole->row_bytes;
            tile.y += t * whole->y_stride + begin;
            multiply_block(type, &tile, count, tokens - t < TOKENS_MAX ? tokens - t : TOKENS_MAX);
        }
    }
}
