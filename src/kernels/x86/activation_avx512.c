/* Preparation of activations with AVX-512. activation.h has the layouts and the rule. */
#include <immintrin.h>

#include "kernels/activation.h"
#include "kernels/formats.h"
#include "kernels/variants.h"

static inline __m512i magnitude_bits(const float *x)
{
    return _mm512_and_si512(_mm512_loadu_si512((const void *)x), _mm512_set1_epi32(0x7fffffff));
}

/* Sixteen quants. An infinity times zero converts to INT_MIN, whose low byte is 0. */
static inline __m128i quantize_16(const float *x, float inverse)
{
    __m512 scaled = _mm512_mul_ps(_mm512_loadu_ps(x), _mm512_set1_ps(inverse));
    return _mm512_cvtepi32_epi8(_mm512_cvtps_epi32(scaled));
}

static void prepare_32(const float *x, size_t cols, uint8_t *out)
{
    const __m128i ones = _mm_set1_epi8(1);
    if (cols % ACT32_GROUP)
        memset(out + cols / ACT32_GROUP * ACT32_BYTES, 0, ACT32_BYTES);
    for (size_t c = 0; c < cols; c += BLOCK_32) {
        uint8_t *at = out + c / ACT32_GROUP * ACT32_BYTES + c % ACT32_GROUP / BLOCK_32 * 16;
        __m512i bits = _mm512_max_epu32(magnitude_bits(x + c), magnitude_bits(x + c + 16));
        float inverse;
        float scale = activation_scale(_mm512_reduce_max_epu32(bits), &inverse);
        __m128i low = quantize_16(x + c, inverse), high = quantize_16(x + c + 16, inverse);
        __m128i sums = _mm_dpbusd_epi32(_mm_setzero_si128(), ones, low);
        sums = _mm_slli_epi32(_mm_dpbusd_epi32(sums, ones, high), 3);
        _mm_storeu_si128((void *)at, low);
        _mm_storeu_si128((void *)(at + ACT32_HIGH_AT), high);
        _mm_storeu_si128((void *)(at + ACT32_BIAS_AT), _mm_sub_epi32(_mm_setzero_si128(), sums));
        _mm_storeu_ps((void *)(at + ACT32_SCALE_AT), _mm_set1_ps(scale));
    }
}

static void prepare_256(const float *x, size_t cols, uint8_t *out)
{
    const __m128i ones = _mm_set1_epi8(1);
    for (size_t c = 0; c < cols; c += SUPER_BLOCK, x += SUPER_BLOCK, out += ACT256_BYTES) {
        __m512i bits = _mm512_setzero_si512();
        for (size_t i = 0; i < SUPER_BLOCK; i += 16)
            bits = _mm512_max_epu32(bits, magnitude_bits(x + i));
        float inverse;
        float scale = activation_scale(_mm512_reduce_max_epu32(bits), &inverse);
        memset(out + ACT256_SCALE_AT, 0, ACT256_BYTES - ACT256_SCALE_AT);
        memcpy(out + ACT256_SCALE_AT, &scale, sizeof scale);
        for (size_t i = 0; i < SUPER_BLOCK; i += 64) {
            __m128i sums[4];
            for (size_t j = 0; j < 4; j++) {
                __m128i quants = quantize_16(x + i + 16 * j, inverse);
                _mm_storeu_si128((void *)(out + i + 16 * j), quants);
                sums[j] = _mm_dpbusd_epi32(_mm_setzero_si128(), ones, quants);
            }
            __m128i four =
                _mm_hadd_epi32(_mm_hadd_epi32(sums[0], sums[1]), _mm_hadd_epi32(sums[2], sums[3]));
            _mm_storeu_ps((void *)(out + ACT256_SUMS_AT + i / 4),
                          _mm_mul_ps(_mm_cvtepi32_ps(four), _mm_set1_ps(scale)));
            _mm_storel_epi64((void *)(out + ACT256_TOTALS_AT + i / 8), _mm_packs_epi32(four, four));
        }
    }
}

void activation_prepare_avx512(enum activation_form form, const float *x, size_t cols, void *out)
{
    if (form == ACTIVATION_Q8_32)
        prepare_32(x, cols, out);
    else if (form == ACTIVATION_Q8_256)
        prepare_256(x, cols, out);
    else
        activation_prepare_ref(form, x, cols, out);
}
