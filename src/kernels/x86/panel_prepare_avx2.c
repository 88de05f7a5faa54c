/* Makes panels of sixteen rows of activations. panel.h has the layouts. */
#include <immintrin.h>

#include "kernels/formats.h"
#include "kernels/panel.h"
#include "kernels/variants.h"
#include "kernels/x86/lanes_avx2.h"

/* Sixteen bytes of each of eight tokens at `rows`, `stride` apart: four g of token t to lane t of
 * out[g]. */
TILE_INLINE void transpose_fours(const uint8_t *rows, size_t stride, __m256i out[4])
{
    __m256i in[4]; /* 128-bit half q of in[k]: token 4q + k */
#pragma GCC unroll 4
    for (size_t k = 0; k < 4; k++) {
        const uint8_t *at = rows + k * stride;
        in[k] = _mm256_castsi128_si256(_mm_loadu_si128((const void *)at));
        in[k] = _mm256_inserti128_si256(in[k], _mm_loadu_si128((const void *)(at + 4 * stride)), 1);
    }
    transpose_in_quads(in, out);
}

/* Four numbers of 32 bits, or of 16 bits twice, of each of eight tokens, to out[i][16]. */
static void store_fours(const uint8_t *rows, uint8_t *out)
{
    __m256i fours[4];
    transpose_fours(rows, ACT256_BYTES, fours);
#pragma GCC unroll 4
    for (size_t g = 0; g < 4; g++)
        _mm256_storeu_si256((void *)(out + 64 * g), fours[g]);
}

/* The rows of eight tokens; `out` is their half of the panel. */
static void store_block_32(const uint8_t *rows, size_t block, uint8_t *out)
{
    __m256i lanes[4];
    const uint8_t *at = rows + 16 * block;
    store_fours(at, out);
    store_fours(at + ACT32_HIGH_AT, out + 256);
    transpose_fours(at + ACT32_SCALE_AT, ACT256_BYTES, lanes);
    _mm256_storeu_si256((void *)(out + PANEL32_SCALE_AT), lanes[0]);
    transpose_fours(at + ACT32_BIAS_AT, ACT256_BYTES, lanes);
    __m256i bias = _mm256_add_epi32(_mm256_add_epi32(lanes[0], lanes[1]),
                                    _mm256_add_epi32(lanes[2], lanes[3]));
    _mm256_storeu_si256((void *)(out + PANEL32_BIAS_AT), bias);
}

static void store_block_256(const uint8_t *rows, uint8_t *out)
{
    const __m256i ones = _mm256_set1_epi16(1);
    __m256i lanes[4];
    for (size_t i = 0; i < 16; i++)
        store_fours(rows + 16 * i, out + 256 * i);
    transpose_fours(rows + ACT256_SCALE_AT, ACT256_BYTES, lanes);
    _mm256_storeu_si256((void *)(out + PANEL256_SCALE_AT), lanes[0]);
    for (size_t i = 0; i < 2; i++) {
        const uint8_t *totals = rows + ACT256_TOTALS_AT + 16 * i;
        store_fours(totals, out + PANEL256_TOTALS_AT + 256 * i);
        transpose_fours(totals, ACT256_BYTES, lanes);
        for (size_t pair = 0; pair < 2; pair++) {
            __m256i first = _mm256_madd_epi16(lanes[2 * pair], ones);
            __m256i second = _mm256_madd_epi16(lanes[2 * pair + 1], ones);
            __m256i both = _mm256_blend_epi16(first, _mm256_slli_epi32(second, 16), 0xaa);
            _mm256_storeu_si256((void *)(out + PANEL256_TOTALS32_AT + 128 * i + 64 * pair), both);
        }
    }
}

void panel_prepare_avx2(enum activation_form form, const float *x, size_t x_stride, size_t cols,
                        size_t tokens, void *out)
{
    /* Rows of one group or super-block; the larger of the two is ACT256_BYTES. */
    _Alignas(64) uint8_t rows[KERNELS_PANEL_TOKENS * ACT256_BYTES];
    const size_t step = form == ACTIVATION_Q8_32 ? ACT32_GROUP : SUPER_BLOCK;
    const size_t half = 8 * ACT256_BYTES;
    uint8_t *to = out;
    memset(rows, 0, sizeof rows);
    for (size_t c = 0; c < cols; c += step) {
        size_t count = cols - c < step ? cols - c : step;
        for (size_t t = 0; t < tokens; t++)
            activation_prepare_avx2(form, x + t * x_stride + c, count, rows + t * ACT256_BYTES);
        if (form == ACTIVATION_Q8_256) {
            store_block_256(rows, to);
            store_block_256(rows + half, to + 32);
            to += PANEL256_BYTES;
            continue;
        }
        for (size_t b = 0; b < count / BLOCK_32; b++, to += PANEL32_BYTES) {
            store_block_32(rows, b, to);
            store_block_32(rows + half, b, to + 32);
        }
    }
}
