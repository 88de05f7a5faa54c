/* Unpacks weights for the panel product of panel_avx2_body.h: tiles of four rows by 256 columns of
 * blocks of the file become bytes with scales. The memory is the caller's. It stays in the inner
 * caches while all tokens use it. The file that includes this says with VNNI whether it multiplies
 * with vpdpbusd. */
#ifndef KERNELS_PANEL_UNPACK_AVX2_BODY_H
#define KERNELS_PANEL_UNPACK_AVX2_BODY_H

#include "kernels/blocks_low.h"
#include "kernels/x86/lanes_avx2.h"
#include "kernels/x86/unpack_avx2.h"

enum {
    TILE_ROWS = 4,
    PANEL_ROWS = 64,
    PANEL_COLS = 256 /* then the quants of 64 rows are 16 KB, half of the first-level cache */
};

/* How products of a type are made. One operand of vpmaddubsw and vpdpbusd is unsigned. */
enum panel_kind {
    KIND_UNSIGNED, /* unsigned weights, signed activations as the panel has them */
    KIND_SIGNED,   /* signed weights; the activations get 128, which `start` takes off again */
    KIND_WIDE      /* both as 16 bits: weights of 8 bits would overflow vpmaddubsw */
};

/* Q3_K and Q6_K would need their offset times each sum of sixteen activations; as signed bytes they
 * need one number for a row. */
TILE_INLINE enum panel_kind panel_kind(enum tensor_type type)
{
    switch (type) {
    case TENSOR_Q4_0:
    case TENSOR_Q4_1:
    case TENSOR_Q5_0:
    case TENSOR_Q5_1:
    case TENSOR_MXFP4:
    case TENSOR_Q2_K:
    case TENSOR_Q4_K:
    case TENSOR_Q5_K:
        return KIND_UNSIGNED;
    case TENSOR_Q3_K:
    case TENSOR_Q6_K:
        return KIND_SIGNED;
    default: /* Q8_0, IQ4_NL, IQ4_XS, and the types of blocks_low.h */
        return VNNI ? KIND_SIGNED : KIND_WIDE;
    }
}

/* Bytes of four columns of a tile. */
TILE_INLINE size_t four_bytes(enum panel_kind kind)
{
    return kind == KIND_WIDE ? 32 : 16;
}

/* Four rows by 256 columns. Everything is by rows in fours, so that neighbours are used
 * together. */
struct panel_tile {
    union {
        struct { /* of each block of 32 */
            int32_t start[8][TILE_ROWS];
            float scale[8][TILE_ROWS], minimum[8][TILE_ROWS];
        } w32;
        struct { /* of each block of sixteen */
            int32_t start[16][TILE_ROWS];
            float scale[16][TILE_ROWS];
        } w16;
        struct {
            int32_t factor[16][TILE_ROWS]; /* int16 twice; with is_scaled_later() int32 */
            int32_t taken[8][TILE_ROWS];   /* int16 pairs, minimums: for totals32 (4) or totals */
            int32_t start[TILE_ROWS];
            float scale[TILE_ROWS], minimum[TILE_ROWS];
        } w256;
    };
    /* Fours of columns: [rows][4] bytes. KIND_WIDE: [rows][2] words of columns 0 and 2, then of 1
     * and 3. */
    _Alignas(32) uint8_t quants[PANEL_COLS / 4 * 32];
};

/* Whether sums of 32 bits are multiplied with their factor, not sums of 16 bits. */
TILE_INLINE bool is_scaled_later(enum panel_kind kind)
{
    return VNNI || kind == KIND_WIDE;
}

/* Fours of two places: [rows][4] bytes in each half. */
TILE_INLINE void store_fours(enum panel_kind kind, __m256i fours, uint8_t *first, uint8_t *second)
{
    if (kind != KIND_WIDE) {
        _mm_store_si128((void *)first, _mm256_castsi256_si128(fours));
        _mm_store_si128((void *)second, _mm256_extracti128_si256(fours, 1));
        return;
    }
    __m256i even = _mm256_srai_epi16(_mm256_slli_epi16(fours, 8), 8);
    __m256i odd = _mm256_srai_epi16(fours, 8);
    _mm256_store_si256((void *)first, _mm256_permute2x128_si256(even, odd, 0x20));
    _mm256_store_si256((void *)second, _mm256_permute2x128_si256(even, odd, 0x31));
}

/* 32 quants or two halves of blocks of four rows; each half of a register is four fours. */
TILE_INLINE void store_rows(enum panel_kind kind, const __m256i rows[4], uint8_t *first,
                            uint8_t *second)
{
    __m256i fours[4];
    transpose_in_quads(rows, fours);
#pragma GCC unroll 4
    for (size_t g = 0; g < 4; g++)
        store_fours(kind, fours[g], first + g * four_bytes(kind), second + g * four_bytes(kind));
}

/* 128 times the sums of weights: a product's share of the 128 that the activations get. */
TILE_INLINE __m256i times_128(__m256i weights)
{
    return _mm256_maddubs_epi16(_mm256_set1_epi8(-128), weights);
}

/* ---- blocks of 32 ---------------------------------------------------------------------------- */

/* The first of two blocks, with zeroes after it. */
TILE_INLINE void pad_pair(const uint8_t *block, size_t bytes, uint8_t out[2 * Q8_0_BYTES])
{
    memset(out, 0, 2 * Q8_0_BYTES);
    memcpy(out, block, bytes);
}

TILE_INLINE void unpack_pair(enum tensor_type type, const uint8_t *const blocks[4], size_t b,
                             struct panel_tile *out)
{
    const enum panel_kind kind = panel_kind(type);
    const size_t bytes = tile_block_bytes(type), block_bytes = 8 * four_bytes(kind);
    const __m256i ones = _mm256_set1_epi16(1);
    __m256i low[4], high[4], starts[4];
    uint8_t *to = out->quants + b * block_bytes;
#pragma GCC unroll 4
    for (size_t r = 0; r < 4; r++) {
        struct pair_32 w = unpack_32(type, blocks[r]);
        low[r] = w.low;
        high[r] = w.high;
        if (kind == KIND_SIGNED)
            starts[r] = _mm256_add_epi32(_mm256_madd_epi16(times_128(w.low), ones),
                                         _mm256_madd_epi16(times_128(w.high), ones));
    }
    store_rows(kind, low, to, to + block_bytes);
    store_rows(kind, high, to + block_bytes / 2, to + block_bytes + block_bytes / 2);
    if (kind == KIND_SIGNED)
        _mm256_storeu_si256((void *)out->w32.start[b],
                            _mm256_sub_epi32(_mm256_setzero_si256(), sum_quads(starts)));
#pragma GCC unroll 2
    for (size_t i = 0; i < 2; i++) {
        _mm_storeu_ps(out->w32.scale[b + i], four_scales(type, blocks, i * bytes));
        if (tile_has_minimum(type))
            _mm_storeu_ps(out->w32.minimum[b + i], four_minimums(blocks, i * bytes));
    }
}

/* `blocks` of four rows. */
TILE_INLINE void unpack_tile_32(enum tensor_type type, const uint8_t *const rows[4], size_t blocks,
                                struct panel_tile *out)
{
    const size_t bytes = tile_block_bytes(type);
    for (size_t b = 0; b < blocks; b += 2) {
        uint8_t padded[4][2 * Q8_0_BYTES];
        const uint8_t *at[4];
        for (size_t r = 0; r < 4; r++) {
            at[r] = rows[r] + b * bytes;
            if (blocks - b == 1) {
                pad_pair(at[r], bytes, padded[r]);
                at[r] = padded[r];
            }
        }
        unpack_pair(type, at, b, out);
    }
}

/* Blocks of 32 of four rows of a type of blocks_low.h, an even number. */
static void unpack_tile_low(enum tensor_type type, const uint8_t *const rows[4], size_t blocks,
                            struct panel_tile *out)
{
    const enum panel_kind kind = VNNI ? KIND_SIGNED : KIND_WIDE;
    const size_t half_bytes = 4 * four_bytes(kind);
    const size_t joined = tile_has_sixteens(type) ? 0 : 1; /* whether sixteens share a scale */
    struct low_span spans[4];
#pragma GCC unroll 1
    for (size_t r = 0; r < 4; r++) {
        float *to = joined ? out->w32.scale[0] : out->w16.scale[0];
        block_low_unpack(type, rows[r], blocks * BLOCK_32, &spans[r]);
#pragma GCC unroll 1
        for (size_t i = 0; i < 2 * blocks; i += 1 + joined, to += TILE_ROWS)
            to[r] = spans[r].scales[i];
    }
#pragma GCC unroll 1
    for (size_t i = 0; i < 2 * blocks; i = i % 2 == 0 ? i + 1 : i + 3) { /* sixteens of a pair */
        uint8_t *to = out->quants + i * half_bytes;
        __m256i w[4], starts[4];
#pragma GCC unroll 4
        for (size_t r = 0; r < 4; r++) {
            w[r] = load_two((const uint8_t *)spans[r].quants + 16 * i, BLOCK_32);
            starts[r] = _mm256_madd_epi16(times_128(w[r]), _mm256_set1_epi16(-1));
        }
        store_rows(kind, w, to, to + 2 * half_bytes);
        if (kind == KIND_SIGNED) {
            /* w32.start has the same place. The second sixteen of a block is added to the first. */
            __m128i *start = (void *)out->w16.start;
            __m128i *first = start + (i >> joined), *second = start + ((i + 2) >> joined);
            __m256i both = sum_quads(starts);
            if (i & joined)
                both = _mm256_add_epi32(both, _mm256_set_m128i(*second, *first));
            *first = _mm256_castsi256_si128(both);
            *second = _mm256_extracti128_si256(both, 1);
        }
    }
}

/* ---- super-blocks of 256 --------------------------------------------------------------------- */

/* Four factors of 16 bits of each row, as numbers of 32 bits: i of all rows to to[i]; those of the
 * upper halves to to[8 + i]. */
TILE_INLINE void store_factors(enum tensor_type type, const __m256i rows[4], int32_t (*to)[4])
{
    __m256i factors[4];
    transpose_in_quads(rows, factors);
#pragma GCC unroll 4
    for (size_t i = 0; i < 4; i++) {
        if (is_scaled_later(panel_kind(type)))
            factors[i] = _mm256_srai_epi32(factors[i], 16);
        _mm_storeu_si128((void *)to[i], _mm256_castsi256_si128(factors[i]));
        if (has_sixteen_factors(type))
            _mm_storeu_si128((void *)to[8 + i], _mm256_extracti128_si256(factors[i], 1));
    }
}

/* The minimums of four rows. */
TILE_INLINE void store_taken(enum tensor_type type, __m256i taken[4], int32_t (*to)[4])
{
    __m256i pairs[4];
    if (type != TENSOR_Q2_K) /* each twice: the second of the two goes */
#pragma GCC unroll 4
        for (size_t r = 0; r < 4; r++) {
            __m256i once = _mm256_and_si256(taken[r], _mm256_set1_epi32(0xffff));
            once = _mm256_packs_epi32(once, once);
            taken[r] = _mm256_permute4x64_epi64(once, 0x88);
        }
    transpose_in_quads(taken, pairs);
#pragma GCC unroll 4
    for (size_t i = 0; i < 4; i++) {
        _mm_storeu_si128((void *)to[i], _mm256_castsi256_si128(pairs[i]));
        _mm_storeu_si128((void *)to[4 + i], _mm256_extracti128_si256(pairs[i], 1));
    }
}

/* A super-block of four rows. */
TILE_INLINE void unpack_tile_256(enum tensor_type type, const uint8_t *const rows[4],
                                 struct panel_tile *out)
{
    const enum panel_kind kind = panel_kind(type);
    struct factors_256 factors[4];
    __m256i words[4], twice[4], taken[4], starts[4];
#pragma GCC unroll 4
    for (size_t r = 0; r < 4; r++) {
        factors[r] = unpack_factors(type, rows[r]);
        words[r] = _mm256_blend_epi32(factors[r].low, factors[r].high, 0xf0);
        taken[r] = factors[r].taken;
        starts[r] = _mm256_setzero_si256();
    }
#pragma GCC unroll 4
    for (size_t r = 0; r < 4; r++)
        twice[r] = _mm256_unpacklo_epi16(words[r], words[r]);
    store_factors(type, twice, out->w256.factor);
#pragma GCC unroll 4
    for (size_t r = 0; r < 4; r++)
        twice[r] = _mm256_unpackhi_epi16(words[r], words[r]);
    store_factors(type, twice, out->w256.factor + 4);
    if (tile_has_minimum(type))
        store_taken(type, taken, out->w256.taken);
#pragma GCC unroll 8
    for (int j = 0; j < 8; j++) {
        uint8_t *to = out->quants + 8 * (size_t)j * four_bytes(kind);
        __m256i quants[4];
#pragma GCC unroll 4
        for (size_t r = 0; r < 4; r++) {
            quants[r] = quants_256(type, rows[r], j);
            if (kind != KIND_SIGNED)
                continue;
            quants[r] = _mm256_sub_epi8(quants[r], _mm256_set1_epi8((char)offset_256(type)));
            starts[r] = _mm256_sub_epi32(
                starts[r],
                _mm256_madd_epi16(times_128(quants[r]), spread_factors(type, &factors[r], j)));
        }
        store_rows(kind, quants, to, to + 4 * four_bytes(kind));
    }
    if (kind == KIND_SIGNED) {
        __m256i sums = sum_quads(starts);
        _mm_storeu_si128((void *)out->w256.start, _mm_add_epi32(_mm256_castsi256_si128(sums),
                                                                _mm256_extracti128_si256(sums, 1)));
    }
    _mm_storeu_ps(out->w256.scale, four_halves(rows, scale_at_256(type)));
    if (tile_has_minimum(type))
        _mm_storeu_ps(out->w256.minimum, four_halves(rows, minimum_at_256(type)));
}

#endif
