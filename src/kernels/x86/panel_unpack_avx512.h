/* Unpacks weights for the panel product of panel_avx512.c: PANEL_ROWS rows by 256 columns of blocks
 * of the file become signed bytes with scales. The memory is the caller's. It stays in the inner
 * caches while all tokens use it.
 *
 * Activations are stored plus 128 (panel.h), so each integer product begins with -128 times the sum
 * of its weights (`start`). */
#ifndef KERNELS_PANEL_UNPACK_AVX512_H
#define KERNELS_PANEL_UNPACK_AVX512_H

#include "kernels/blocks_low.h"
#include "kernels/x86/lanes_avx512.h"
#include "kernels/x86/unpack_avx512.h"

enum {
    PANEL_ROWS = 64,
    PANEL_COLS = 256 /* then the quants of 64 tokens are 16 KB, a third of the first-level cache */
};

/* ---- blocks of 32 ---------------------------------------------------------------------------- */

/* Scales in quads of four rows: element 32q + 4b + r is row 4q + r, block b. */
struct panel_weights_32 {
    int8_t quants[PANEL_ROWS][PANEL_COLS]; /* a group: 16 quants of each block, then the others */
    /* With tile_has_sixteens(): of the first sixteen of each block, then of the others. */
    int32_t start[2 * 8 * PANEL_ROWS];
    float scale[2 * 8 * PANEL_ROWS];
    float minimum[8 * PANEL_ROWS];
};

/* The number that unpack_32 adds to make quants unsigned. */
TILE_INLINE char offset_32(enum tensor_type type)
{
    switch (type) {
    case TENSOR_Q4_1:
    case TENSOR_Q5_1:
        return 0;
    case TENSOR_Q5_0:
    case TENSOR_MXFP4:
        return 16;
    case TENSOR_Q8_0:
    case TENSOR_IQ4_NL:
        return -128;
    default:
        return 8;
    }
}

/* Rows 4 * quad .. 4 * quad + 3; rows: of the four. */
TILE_INLINE void panel_unpack_quad(enum tensor_type type, const uint8_t *const rows[4],
                                   size_t group, size_t count, size_t quad,
                                   struct panel_weights_32 *out)
{
    const __m512i offset = _mm512_set1_epi8(offset_32(type));
    const __m512i factor = _mm512_set1_epi8(-128); /* 128, unsigned */
    struct group_32 w[4];
    __m512i totals[4];
#pragma GCC unroll 4
    for (size_t r = 0; r < 4; r++) {
        w[r] = unpack_32(type, rows[r], count);
        __m512i low = _mm512_sub_epi8(w[r].low, offset), high = _mm512_sub_epi8(w[r].high, offset);
        int8_t *to = out->quants[4 * quad + r] + 128 * group;
        _mm512_storeu_si512(to, low);
        _mm512_storeu_si512(to + 64, high);
        totals[r] = _mm512_dpbusd_epi32(_mm512_setzero_si512(), factor, low);
        totals[r] = _mm512_dpbusd_epi32(totals[r], factor, high);
    }
    __m512i sums = sum_quads(totals[0], totals[1], totals[2], totals[3]);
    _mm512_storeu_si512(out->start + 32 * quad + 16 * group,
                        _mm512_sub_epi32(_mm512_setzero_si512(), sums));
    _mm512_storeu_ps(out->scale + 32 * quad + 16 * group,
                     blend_rows(w[0].scale, w[1].scale, w[2].scale, w[3].scale));
    if (tile_has_minimum(type))
        _mm512_storeu_ps(out->minimum + 32 * quad + 16 * group,
                         blend_rows(w[0].minimum, w[1].minimum, w[2].minimum, w[3].minimum));
}

/* The same of a type of blocks_low.h, with `cols` columns. */
static void panel_unpack_low(enum tensor_type type, const uint8_t *const rows[4], size_t cols,
                             size_t quad, struct panel_weights_32 *out)
{
    const __m512i factor = _mm512_set1_epi8(-128), zero = _mm512_setzero_si512();
    const size_t joined = tile_has_sixteens(type) ? 0 : 1; /* whether sixteens share a scale */
    struct low_span spans[4];
    memset(spans, 0, sizeof spans);
#pragma GCC unroll 1
    for (size_t r = 0; r < 4; r++) {
        block_low_unpack(type, rows[r], cols, &spans[r]);
#pragma GCC unroll 1
        for (size_t i = 0; i < cols / 16; i += 1 + joined)
            out->scale[i % 2 * 8 * PANEL_ROWS + 32 * quad + i / 2 * 4 + r] = spans[r].scales[i];
    }
#pragma GCC unroll 1
    for (size_t i = 0; i < 2 * ((cols + 127) / 128); i++) { /* half i % 2 of four blocks */
        size_t half = i % 2, group = i / 2;
        __m512i order = half == 0 ? _mm512_set_epi64(13, 12, 9, 8, 5, 4, 1, 0)
                                  : _mm512_set_epi64(15, 14, 11, 10, 7, 6, 3, 2);
        __m512i sums[4];
#pragma GCC unroll 4
        for (size_t r = 0; r < 4; r++) {
            const int8_t *from = spans[r].quants + 128 * group;
            __m512i sixteens = _mm512_permutex2var_epi64(_mm512_loadu_si512(from), order,
                                                         _mm512_loadu_si512(from + 64));
            _mm512_storeu_si512(out->quants[4 * quad + r] + 64 * i, sixteens);
            sums[r] = _mm512_dpbusd_epi32(zero, factor, sixteens);
        }
        int32_t *start = out->start + (half >> joined) * 8 * PANEL_ROWS + 32 * quad + 16 * group;
        __m512i begin = i & joined ? _mm512_loadu_si512(start) : zero;
        begin = _mm512_sub_epi32(begin, sum_quads(sums[0], sums[1], sums[2], sums[3]));
        _mm512_storeu_si512(start, begin);
    }
}

/* ---- super-blocks of 256 --------------------------------------------------------------------- */

/* A dot is the product of dot_cols_256() columns. Its magnitude fits 16 bits (|activation| <= 127),
 * so that vpdpwssd can multiply it with its scale and add it. For that center_256() is subtracted
 * from the quants; it is added again as center * scale times the sums of the activations.
 * has_wide_dots_256(): dots of 32 bits, which vpmulld multiplies. */
struct panel_weights_256 {
    int8_t quants[PANEL_ROWS][PANEL_COLS];
    int32_t start[PANEL_ROWS][64];  /* of the dot that begins at column 4i */
    int32_t factor[PANEL_ROWS][16]; /* scale of sixteen columns: int16, then zero; wide: int32 */
    int32_t center[PANEL_ROWS][4];  /* int16 pairs, for totals32 */
    int32_t taken[PANEL_ROWS][8];   /* int16 pairs, minimums: for totals32 (4 of them) or totals */
    float scale[PANEL_ROWS];
    float minimum[PANEL_ROWS];
};

/* Largest sums of a dot: Q4_K 32 * 8 * 127, Q5_K 16 * 16 * 127, both 32512; Q2_K 16 * 3 * 127; Q3_K
 * 16 * 4 * 127. */
TILE_INLINE int dot_cols_256(enum tensor_type type)
{
    return type == TENSOR_Q4_K || type == TENSOR_IQ4_XS ? 32 : 16;
}

/* Only two or four steps of Q6_K and IQ4_XS fit 16 bits: a vpmulld for more of them is cheaper. */
TILE_INLINE bool has_wide_dots_256(enum tensor_type type)
{
    return type == TENSOR_IQ4_XS || type == TENSOR_Q6_K;
}

TILE_INLINE int center_256(enum tensor_type type)
{
    return type == TENSOR_Q4_K ? 8 : type == TENSOR_Q5_K ? 16 : 0;
}

/* 64 quants of a row, and what their dots start with. */
TILE_INLINE void store_quants_256(enum tensor_type type, __m512i quants, size_t row, size_t j,
                                  struct panel_weights_256 *out)
{
    __m512i zero = _mm512_setzero_si512();
    _mm512_storeu_si512(out->quants[row] + 64 * j, quants);
    __m512i sums = _mm512_dpbusd_epi32(zero, _mm512_set1_epi8(-128), quants); /* fours */
    sums = _mm512_add_epi32(sums, _mm512_shuffle_epi32(sums, 0xb1));
    sums = _mm512_add_epi32(sums, _mm512_shuffle_epi32(sums, 0x4e));
    if (dot_cols_256(type) > 16)
        sums = _mm512_add_epi32(sums, _mm512_shuffle_i32x4(sums, sums, 0xb1));
    _mm512_storeu_si512(out->start[row] + 16 * j, _mm512_sub_epi32(zero, sums));
}

/* Eight scales and eight minimums of 32 columns each. */
TILE_INLINE void store_factors_q4_k(enum tensor_type type, const uint8_t *at, size_t row,
                                    struct panel_weights_256 *out)
{
    const __m128i twice = _mm_set_epi8(7, 7, 6, 6, 5, 5, 4, 4, 3, 3, 2, 2, 1, 1, 0, 0);
    uint8_t scales[16];
    q4_k_scales(at + Q4_K_SCALES_AT, scales);
    __m128i factors = _mm_loadu_si128((const void *)scales);
    __m256i wide = _mm256_cvtepu8_epi16(factors);
    _mm512_storeu_si512(out->factor[row], _mm512_cvtepu8_epi32(_mm_shuffle_epi8(factors, twice)));
    _mm_storeu_si128(
        (void *)out->center[row],
        _mm_mullo_epi16(_mm256_castsi256_si128(wide), _mm_set1_epi16((short)center_256(type))));
    _mm_storeu_si128((void *)out->taken[row], _mm256_extracti128_si256(wide, 1));
}

TILE_INLINE void store_factors_256(enum tensor_type type, const uint8_t *at, size_t row,
                                   struct panel_weights_256 *out)
{
    const __m512i low_half = _mm512_set1_epi32(0xffff);
    const __m128i nibble = _mm_set1_epi8(15);
    __m128i packed = _mm_loadu_si128((const void *)at);
    __m512i factors;
    switch (type) {
    case TENSOR_Q2_K:
        factors = _mm512_cvtepu8_epi32(_mm_and_si128(packed, nibble));
        packed = _mm_and_si128(_mm_srli_epi16(packed, 4), nibble);
        _mm256_storeu_si256((void *)out->taken[row], _mm256_cvtepu8_epi16(packed));
        break;
    case TENSOR_Q3_K:
        factors = _mm512_and_si512(_mm512_cvtepi8_epi32(q3_k_factors(at)), low_half);
        break;
    case TENSOR_Q6_K:
        packed = _mm_loadu_si128((const void *)(at + Q6_K_SCALES_AT));
        factors = _mm512_cvtepi8_epi32(packed);
        break;
    default: { /* IQ4_XS: eight, each for two sixteens */
        __m128i eight = iq4_xs_factors(at);
        factors = _mm512_cvtepi16_epi32(
            _mm256_set_m128i(_mm_unpackhi_epi16(eight, eight), _mm_unpacklo_epi16(eight, eight)));
    }
    }
    _mm512_storeu_si512(out->factor[row], factors);
}

/* One row's super-block. */
TILE_INLINE void panel_unpack_256(enum tensor_type type, const uint8_t *at, size_t row,
                                  struct panel_weights_256 *out)
{
    if (type == TENSOR_IQ4_XS) {
        struct block_signed w = unpack_iq4_xs(at);
#pragma GCC unroll 4
        for (size_t j = 0; j < 4; j++)
            store_quants_256(
                type,
                _mm512_mask_sub_epi8(w.sizes[j], w.negative[j], _mm512_setzero_si512(), w.sizes[j]),
                row, j, out);
        out->scale[row] = _mm512_cvtss_f32(w.scale);
        store_factors_256(type, at, row, out);
        return;
    }
    char offset = type == TENSOR_Q6_K ? 32 : type == TENSOR_Q3_K ? 4 : (char)center_256(type);
    struct block_256 w = unpack_256(type, at);
#pragma GCC unroll 4
    for (size_t j = 0; j < 4; j++)
        store_quants_256(type, _mm512_sub_epi8(w.quants[j], _mm512_set1_epi8(offset)), row, j, out);
    out->scale[row] = _mm512_cvtss_f32(w.scale);
    if (tile_has_minimum(type))
        out->minimum[row] = _mm512_cvtss_f32(w.minimum);
    if (type == TENSOR_Q4_K || type == TENSOR_Q5_K)
        store_factors_q4_k(type, at, row, out);
    else
        store_factors_256(type, at, row, out);
}

#endif
