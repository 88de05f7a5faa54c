/* Matrix products with AVX-512. Float weights are here, quantised ones in quants_avx512.c and, for
 * many tokens, in panel_avx512.c. tiles.h says how products are cut, activation.h has the
 * layouts. */
#include <immintrin.h>

#include "base/core/assertion.h"
#include "kernels/activation.h"
#include "kernels/formats.h"
#include "kernels/tile_types.h"
#include "kernels/tiles.h"
#include "kernels/variants.h"
#include "kernels/x86/quants_avx512.h"
#include "kernels/x86/simd_avx512.h"
/* In the words of the header above. */
#include "kernels/tile_sums_body.h"

/* ---- F32, F16, BF16 -------------------------------------------------------------------------- */

/* Sixteen weights as float. Those outside `mask` are zero and are not read. */
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
    [TENSOR_F32] = SET(tile_float, TENSOR_F32, 4, 4, 4, 2),
    [TENSOR_F16] = SET(tile_float, TENSOR_F16, 4, 4, 4, 2),
    [TENSOR_BF16] = SET(tile_float, TENSOR_BF16, 4, 4, 4, 2),
};

void matmul_avx512(enum tensor_type type, const void *weights, size_t row_bytes, size_t cols,
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
    if (activation_form_of(type) != ACTIVATION_F32) {
        quants_multiply_avx512(type, &whole, row_end - row_begin, tokens);
        return;
    }
    ASSERT(tile_sets[type].wide[0] != NULL);
    tiles_run(&tile_sets[type], &whole, row_end - row_begin, tokens);
}
