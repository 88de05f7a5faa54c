/* Products of quantised weights with a few tokens, with AVX-512 VNNI, in tiles of sixteen rows.
 * activation.h has the layouts.
 *
 * vpdpbusd multiplies unsigned with signed bytes, so weights are made unsigned by an offset. Q4_0,
 * Q5_0, Q3_K and Q6_K are stored with one (8, 16, 4, 32). Q8_0 gets one (128) by flipping the sign
 * bit. The tables of IQ4_NL and MXFP4 are raised by 128 and 16. The offset times the sum of the
 * activations is then subtracted, also as integers: it is the start value of the accumulator. A
 * minimum is subtracted the same way, with its own scale. The quants of IQ4_XS are too wide for an
 * offset, so it is multiplied as |w| times sign(w) x.
 *
 * Whole blocks are summed as integers, which is exact in any order. Each row and token has one
 * float sum over the blocks, in one lane of a register. The panels (panel_avx512.c) sum in the same
 * order, so a token's results are the same bits in a prompt, in a batch and alone.
 *
 * One token and two take the tiles of quants_avx2.c, which gives the same bits: memory is the limit
 * then, and a core reads eight long stretches faster than sixteen rows. More tokens share unpacked
 * weights through a buffer in the first-level cache. Their functions get the type as numbers, which
 * keeps the code small. The types of blocks_low.h take AVX2's tiles for any number of tokens. */
#include "kernels/x86/quants_avx512.h"

#include <immintrin.h>

#include "base/core/assertion.h"
#include "kernels/activation.h"
#include "kernels/blocks_low.h"
#include "kernels/formats.h"
#include "kernels/tile_types.h"
#include "kernels/variants.h"
#include "kernels/x86/lanes_avx512.h"
#include "kernels/x86/quants_avx2.h"
#include "kernels/x86/unpack_avx512.h"

enum {
    TILE_ROWS = 16,
    TOKENS_MAX = 8, /* of a tile; more are better off as panels */
    AVX2_TOKENS = 2
};

/* Row i of the tile. After the last row it is the last one again; those results are not stored. */
TILE_INLINE const uint8_t *tile_row(const struct tile *tile, size_t i)
{
    return tile->rows + (i < tile->row_count ? i : tile->row_count - 1) * tile->row_bytes;
}

/* Prefetches the weights PREFETCH_BYTES ahead in the same row or, near its end, in the row of the
 * next tile. Sixteen rows of 288 bytes are 4.5 KB in flight, three times what a memory of 100 ns
 * and 13 GB/s for a core needs. */
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

TILE_INLINE void store_rows(const struct tile *tile, size_t token, __m512 sums)
{
    __mmask16 mask = (__mmask16)(0xffffu >> (TILE_ROWS - tile->row_count));
    _mm512_mask_storeu_ps(tile->y + token * tile->y_stride, mask, sums);
}

/* ---- groups of four blocks of 32 ------------------------------------------------------------- */

/* The bias (-8 times the sum of the activations), shifted left by this number, subtracts the
 * offset. -1 = the type has no offset. */
TILE_INLINE int start_shift(enum tensor_type type)
{
    switch (type) {
    case TENSOR_Q4_1:
    case TENSOR_Q5_1:
        return -1;
    case TENSOR_Q5_0:
    case TENSOR_MXFP4:
        return 1; /* offset 16 */
    case TENSOR_Q8_0:
    case TENSOR_IQ4_NL:
        return 4; /* offset 128 */
    default:
        return 0;
    }
}

/* The activations of one group, and the start values of its integer products. */
struct inputs_32 {
    __m512i low, high, start;
};

TILE_INLINE struct inputs_32 load_inputs_32(const uint8_t *act, int shift)
{
    __m512i bias = _mm512_loadu_si512(act + ACT32_BIAS_AT);
    return (struct inputs_32){
        .low = _mm512_loadu_si512(act),
        .high = _mm512_loadu_si512(act + ACT32_HIGH_AT),
        .start =
            shift < 0 ? _mm512_setzero_si512() : _mm512_sll_epi32(bias, _mm_cvtsi32_si128(shift)),
    };
}

TILE_INLINE __m512i dot_32(const struct inputs_32 *x, __m512i low, __m512i high)
{
    return _mm512_dpbusd_epi32(_mm512_dpbusd_epi32(x->start, low, x->low), high, x->high);
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

/* Adds a group's four blocks to the rows' sums, one after the other. quads: lane 4b + r of quad q
 * is row 4q + r in block b. */
TILE_INLINE __m512 add_blocks(const __m512i quads[4], const __m512 scales[4],
                              const __m512 minimums[4], bool has_minimum, const uint8_t *act,
                              __m512 sum)
{
    __m512i dots[4];
    transpose_quads(quads, dots);
#pragma GCC unroll 4
    for (int b = 0; b < 4; b++) {
        __m512 scale = _mm512_set1_ps(load_f32(act + ACT32_SCALE_AT + 16 * b));
        sum = _mm512_fmadd_ps(_mm512_cvtepi32_ps(dots[b]), _mm512_mul_ps(scales[b], scale), sum);
        if (has_minimum) {
            const uint8_t *bias = act + ACT32_BIAS_AT + 16 * b;
            uint32_t total =
                load_u32(bias) + load_u32(bias + 4) + load_u32(bias + 8) + load_u32(bias + 12);
            sum = _mm512_fmadd_ps(_mm512_set1_ps((float)(int32_t)total),
                                  _mm512_mul_ps(minimums[b], scale), sum);
        }
    }
    return sum;
}

/* Four rows of a group of `count` blocks. */
TILE_INLINE void unpack_quad_32(const struct tile *tile, enum tensor_type type, size_t group,
                                size_t count, size_t quad, struct group_32 w[4])
{
    const size_t bytes = 4 * tile_block_bytes(type);
#pragma GCC unroll 4
    for (size_t r = 0; r < 4; r++) {
        const uint8_t *row = tile_row(tile, 4 * quad + r);
        prefetch_row(tile, row, group * bytes, bytes);
        w[r] = unpack_32(type, row + group * bytes, count);
    }
}

/* One copy for all types. */
#define ONCE static __attribute__((noinline))

/* A group of the tile's rows, unpacked. */
struct unpacked_32 {
    __m512i quants[TILE_ROWS][2];  /* low and high halves of the blocks */
    __m512 scales[4], minimums[4]; /* of each block, a row a lane */
};

TILE_INLINE void unpack_rows_32(const struct tile *tile, enum tensor_type type, size_t group,
                                size_t count, struct unpacked_32 *out)
{
#pragma GCC unroll 1
    for (size_t quad = 0; quad < 4; quad++) {
        struct group_32 w[4];
        unpack_quad_32(tile, type, group, count, quad, w);
#pragma GCC unroll 4
        for (size_t r = 0; r < 4; r++) {
            out->quants[4 * quad + r][0] = w[r].low;
            out->quants[4 * quad + r][1] = w[r].high;
        }
        out->scales[quad] = blend_rows(w[0].scale, w[1].scale, w[2].scale, w[3].scale);
        if (tile_has_minimum(type))
            out->minimums[quad] =
                blend_rows(w[0].minimum, w[1].minimum, w[2].minimum, w[3].minimum);
    }
    transpose_floats(out->scales, out->scales);
    if (tile_has_minimum(type))
        transpose_floats(out->minimums, out->minimums);
}

typedef void unpack_32_fn(const struct tile *tile, size_t group, size_t count,
                          struct unpacked_32 *out);

/* Several tokens. */
TILE_INLINE void many_32(const struct tile *tile, size_t tokens, unpack_32_fn *unpack,
                         bool has_minimum, int shift)
{
    const size_t blocks = tile->cols / BLOCK_32;
    struct unpacked_32 w;
    __m512 sums[TOKENS_MAX];
    for (size_t t = 0; t < tokens; t++)
        sums[t] = _mm512_setzero_ps();
    for (size_t b = 0; b < blocks; b += 4) {
        unpack(tile, b / 4, blocks - b < 4 ? blocks - b : 4, &w);
        for (size_t t = 0; t < tokens; t++) {
            const uint8_t *act = tile->acts + t * tile->act_stride + b / 4 * ACT32_BYTES;
            struct inputs_32 x = load_inputs_32(act, shift);
            __m512i quads[4];
#pragma GCC unroll 4
            for (size_t q = 0; q < 4; q++) {
                __m512i dots[4];
#pragma GCC unroll 4
                for (size_t r = 0; r < 4; r++)
                    dots[r] = dot_32(&x, w.quants[4 * q + r][0], w.quants[4 * q + r][1]);
                quads[q] = sum_quads(dots[0], dots[1], dots[2], dots[3]);
            }
            sums[t] = add_blocks(quads, w.scales, w.minimums, has_minimum, act, sums[t]);
        }
    }
    for (size_t t = 0; t < tokens; t++)
        store_rows(tile, t, sums[t]);
}

ONCE void many_plain_32(const struct tile *tile, size_t tokens, unpack_32_fn *unpack, int shift)
{
    many_32(tile, tokens, unpack, false, shift);
}

ONCE void many_minimum_32(const struct tile *tile, size_t tokens, unpack_32_fn *unpack, int shift)
{
    many_32(tile, tokens, unpack, true, shift);
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

/* The product of a row with one super-block, in lanes that must be added up. The share of the
 * minimum or the offset goes to *taken, or is in the result already. */
TILE_INLINE __m512i dot_256(const struct block_256 *w, bool has_minimum, const uint8_t *act,
                            __m512i *taken)
{
    __m256i totals = _mm256_loadu_si256((const void *)(act + ACT256_TOTALS_AT));
    *taken = _mm512_zextsi256_si512(_mm256_madd_epi16(totals, w->taken));
    __m512i start = has_minimum ? _mm512_setzero_si512() : *taken;
    return dot_half(dot_half(start, w, act, 0), w, act, 1);
}

/* Adds one super-block of the tile's rows. Quad q has four partial sums of each of its rows, one in
 * every 128-bit lane. */
TILE_INLINE __m512 add_super_block(const __m512i dots[4], const __m512i taken[4], __m512 scales,
                                   __m512 minimums, bool has_minimum, const uint8_t *act,
                                   __m512 sum)
{
    __m512 scale = _mm512_set1_ps(load_f32(act + ACT256_SCALE_AT));
    __m512 total = _mm512_cvtepi32_ps(sum_across_quads(dots));
    sum = _mm512_fmadd_ps(total, _mm512_mul_ps(scales, scale), sum);
    if (has_minimum) {
        total = _mm512_cvtepi32_ps(sum_across_quads(taken));
        sum = _mm512_fnmadd_ps(total, _mm512_mul_ps(minimums, scale), sum);
    }
    return sum;
}

/* The address of super-block `block` of row `r` of the tile. Later weights are prefetched. */
TILE_INLINE const uint8_t *super_block(const struct tile *tile, enum tensor_type type, size_t block,
                                       size_t r)
{
    const size_t bytes = tile_block_bytes(type);
    const uint8_t *row = tile_row(tile, r);
    prefetch_row(tile, row, block * bytes, bytes);
    return row + block * bytes;
}

/* A super-block of the tile's rows, unpacked. */
struct unpacked_256 {
    union {
        struct block_256 blocks[TILE_ROWS];
        struct block_signed signeds[TILE_ROWS]; /* IQ4_XS */
    };
    __m512 scales, minimums; /* a row a lane */
};

TILE_INLINE void unpack_rows_256(const struct tile *tile, enum tensor_type type, size_t block,
                                 struct unpacked_256 *out)
{
    out->scales = out->minimums = _mm512_setzero_ps();
#pragma GCC unroll 1
    for (size_t r = 0; r < TILE_ROWS; r++) {
        const uint8_t *at = super_block(tile, type, block, r);
        __mmask16 lane = (__mmask16)(1u << r);
        if (type == TENSOR_IQ4_XS) {
            out->signeds[r] = unpack_iq4_xs(at);
            out->scales = _mm512_mask_mov_ps(out->scales, lane, out->signeds[r].scale);
            continue;
        }
        struct block_256 w = unpack_256(type, at);
        out->scales = _mm512_mask_mov_ps(out->scales, lane, w.scale);
        if (tile_has_minimum(type))
            out->minimums = _mm512_mask_mov_ps(out->minimums, lane, w.minimum);
        out->blocks[r] = w;
    }
}

typedef void unpack_256_fn(const struct tile *tile, size_t block, struct unpacked_256 *out);
enum kind_256 { KIND_PLAIN, KIND_MINIMUM, KIND_SIGNED };

/* Several tokens. */
TILE_INLINE void many_256(const struct tile *tile, size_t tokens, unpack_256_fn *unpack,
                          enum kind_256 kind)
{
    const size_t blocks = tile->cols / SUPER_BLOCK;
    struct unpacked_256 w;
    __m512 sums[TOKENS_MAX];
    for (size_t t = 0; t < tokens; t++)
        sums[t] = _mm512_setzero_ps();
    for (size_t b = 0; b < blocks; b++) {
        unpack(tile, b, &w);
        for (size_t t = 0; t < tokens; t++) {
            const uint8_t *act = tile->acts + t * tile->act_stride + b * ACT256_BYTES;
            __m512i quads[4], taken_quads[4];
#pragma GCC unroll 4
            for (size_t q = 0; q < 4; q++) {
                __m512i dots[4], taken[4];
#pragma GCC unroll 4
                for (size_t r = 0; r < 4; r++)
                    dots[r] = kind == KIND_SIGNED ? dot_signed(&w.signeds[4 * q + r], act)
                                                  : dot_256(&w.blocks[4 * q + r],
                                                            kind == KIND_MINIMUM, act, &taken[r]);
                quads[q] = sum_quads(dots[0], dots[1], dots[2], dots[3]);
                if (kind == KIND_MINIMUM)
                    taken_quads[q] = sum_quads(taken[0], taken[1], taken[2], taken[3]);
            }
            sums[t] = add_super_block(quads, taken_quads, w.scales, w.minimums,
                                      kind == KIND_MINIMUM, act, sums[t]);
        }
    }
    for (size_t t = 0; t < tokens; t++)
        store_rows(tile, t, sums[t]);
}

ONCE void many_plain_256(const struct tile *tile, size_t tokens, unpack_256_fn *unpack)
{
    many_256(tile, tokens, unpack, KIND_PLAIN);
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

#define QUANT_32(type)                                                             \
    static void unpack_##type(const struct tile *tile, size_t group, size_t count, \
                              struct unpacked_32 *out)                             \
    {                                                                              \
        if (count == 4)                                                            \
            unpack_rows_32(tile, type, group, 4, out);                             \
        else                                                                       \
            unpack_rows_32(tile, type, group, count, out);                         \
    }                                                                              \
    static void many_##type(const struct tile *tile, size_t tokens)                \
    {                                                                              \
        if (tile_has_minimum(type))                                                \
            many_minimum_32(tile, tokens, unpack_##type, start_shift(type));       \
        else                                                                       \
            many_plain_32(tile, tokens, unpack_##type, start_shift(type));         \
    }
#define QUANT_256(type)                                                                        \
    static void unpack_##type(const struct tile *tile, size_t block, struct unpacked_256 *out) \
    {                                                                                          \
        unpack_rows_256(tile, type, block, out);                                               \
    }                                                                                          \
    static void many_##type(const struct tile *tile, size_t tokens)                            \
    {                                                                                          \
        if (type == TENSOR_IQ4_XS)                                                             \
            many_signed_256(tile, tokens, unpack_##type);                                      \
        else if (tile_has_minimum(type))                                                       \
            many_minimum_256(tile, tokens, unpack_##type);                                     \
        else                                                                                   \
            many_plain_256(tile, tokens, unpack_##type);                                       \
    }
QUANT_32(TENSOR_Q4_0)
QUANT_32(TENSOR_Q4_1)
QUANT_32(TENSOR_Q5_0)
QUANT_32(TENSOR_Q5_1)
QUANT_32(TENSOR_Q8_0)
QUANT_32(TENSOR_IQ4_NL)
QUANT_32(TENSOR_MXFP4)
QUANT_256(TENSOR_Q2_K)
QUANT_256(TENSOR_Q3_K)
QUANT_256(TENSOR_Q4_K)
QUANT_256(TENSOR_Q5_K)
QUANT_256(TENSOR_Q6_K)
QUANT_256(TENSOR_IQ4_XS)

#define FUNCTION(type) [type] = many_##type
typedef void many_fn(const struct tile *tile, size_t tokens);
static many_fn *const functions[TENSOR_TYPE_COUNT] = {
    FUNCTION(TENSOR_Q4_0),   FUNCTION(TENSOR_Q4_1),   FUNCTION(TENSOR_Q5_0),  FUNCTION(TENSOR_Q5_1),
    FUNCTION(TENSOR_Q8_0),   FUNCTION(TENSOR_IQ4_NL), FUNCTION(TENSOR_MXFP4), FUNCTION(TENSOR_Q2_K),
    FUNCTION(TENSOR_Q3_K),   FUNCTION(TENSOR_Q4_K),   FUNCTION(TENSOR_Q5_K),  FUNCTION(TENSOR_Q6_K),
    FUNCTION(TENSOR_IQ4_XS),
};

void quants_multiply_avx512(enum tensor_type type, const struct tile *whole, size_t rows,
                            size_t tokens)
{
    if (tokens <= AVX2_TOKENS || block_low_has(type)) {
        quants_multiply_avx2(type, whole, rows, tokens);
        return;
    }
    ASSERT(functions[type] != NULL);
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
                functions[type](&tile, count);
            }
        }
    }
}
