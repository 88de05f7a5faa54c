/* Makes panels of sixteen rows of activations. panel.h has the layouts. */
#include <immintrin.h>

#include "kernels/formats.h"
#include "kernels/panel.h"
#include "kernels/variants.h"
#include "kernels/x86/lanes_avx512.h"

/* Sixteen bytes of each token at `rows`, `stride` apart: four g of token t to lane t of out[g]. */
TILE_INLINE void transpose_fours(const uint8_t *rows, size_t stride, __m512i out[4])
{
    __m512i in[4]; /* 128-bit lane q of in[k]: token 4q + k */
#pragma GCC unroll 4
    for (size_t k = 0; k < 4; k++) {
        const uint8_t *at = rows + k * stride;
        in[k] = _mm512_castsi128_si512(_mm_loadu_si128((const void *)at));
        in[k] = _mm512_inserti32x4(in[k], _mm_loadu_si128((const void *)(at + 4 * stride)), 1);
        in[k] = _mm512_inserti32x4(in[k], _mm_loadu_si128((const void *)(at + 8 * stride)), 2);
        in[k] = _mm512_inserti32x4(in[k], _mm_loadu_si128((const void *)(at + 12 * stride)), 3);
    }
    transpose_in_quads(in, out);
}

/* Sixteen quants of each token. */
TILE_INLINE void store_quants(const uint8_t *rows, size_t stride, uint8_t *out)
{
    __m512i fours[4];
    transpose_fours(rows, stride, fours);
#pragma GCC unroll 4
    for (size_t g = 0; g < 4; g++)
        _mm512_storeu_si512(out + 64 * g, _mm512_xor_si512(fours[g], _mm512_set1_epi8(-128)));
}

static void store_block_32(const uint8_t *rows, size_t block, uint8_t *out)
{
    __m512i lanes[4];
    const uint8_t *at = rows + 16 * block;
    store_quants(at, ACT256_BYTES, out);
    store_quants(at + ACT32_HIGH_AT, ACT256_BYTES, out + 256);
    transpose_fours(at + ACT32_SCALE_AT, ACT256_BYTES, lanes);
    _mm512_storeu_si512(out + PANEL32_SCALE_AT, lanes[0]);
    transpose_fours(at + ACT32_BIAS_AT, ACT256_BYTES, lanes);
    __m512i bias = _mm512_add_epi32(_mm512_add_epi32(lanes[0], lanes[1]),
                                    _mm512_add_epi32(lanes[2], lanes[3]));
    _mm512_storeu_ps(out + PANEL32_BIAS_AT, _mm512_cvtepi32_ps(bias));
}

static void store_block_256(const uint8_t *rows, uint8_t *out)
{
    __m512i lanes[4];
    for (size_t i = 0; i < 16; i++)
        store_quants(rows + 16 * i, ACT256_BYTES, out + 256 * i);
    transpose_fours(rows + ACT256_SCALE_AT, ACT256_BYTES, lanes);
    _mm512_storeu_si512(out + PANEL256_SCALE_AT, lanes[0]);
    const __m512i ones = _mm512_set1_epi16(1);
    for (size_t i = 0; i < 2; i++) {
        transpose_fours(rows + ACT256_TOTALS_AT + 16 * i, ACT256_BYTES, lanes);
        for (size_t g = 0; g < 4; g++)
            _mm512_storeu_si512(out + PANEL256_TOTALS_AT + 256 * i + 64 * g, lanes[g]);
        for (size_t pair = 0; pair < 2; pair++) {
            __m512i first = _mm512_madd_epi16(lanes[2 * pair], ones);
            __m512i second = _mm512_madd_epi16(lanes[2 * pair + 1], ones);
            __m512i both = _mm512_mask_mov_epi16(first, 0xaaaaaaaa, _mm512_slli_epi32(second, 16));
            _mm512_storeu_si512(out + PANEL256_TOTALS32_AT + 128 * i + 64 * pair, both);
        }
    }
}

void panel_prepare_avx512(enum activation_form form, const float *x, size_t x_stride, size_t cols,
                          size_t tokens, void *out)
{
    /* Rows of one group or super-block; the larger of the two is ACT256_BYTES. */
    _Alignas(64) uint8_t rows[KERNELS_PANEL_TOKENS * ACT256_BYTES];
    const size_t step = form == ACTIVATION_Q8_32 ? ACT32_GROUP : SUPER_BLOCK;
    uint8_t *to = out;
    memset(rows, 0, sizeof rows);
    for (size_t c = 0; c < cols; c += step) {
        size_t count = cols - c < step ? cols - c : step;
        for (size_t t = 0; t < tokens; t++)
            activation_prepare_avx512(form, x + t * x_stride + c, count, rows + t * ACT256_BYTES);
        if (form == ACTIVATION_Q8_256) {
            store_block_256(rows, to);
            to += PANEL256_BYTES;
            continue;
        }
        for (size_t b = 0; b < count / BLOCK_32; b++, to += PANEL32_BYTES)
            store_block_32(rows, b, to);
    }
}
