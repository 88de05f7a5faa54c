/* Preparation of activations with AVX2. activation.h has the layouts and the rule. */
#include <immintrin.h>

#include "kernels/activation.h"
#include "kernels/formats.h"
#include "kernels/variants.h"

/* The largest of eight bit patterns of magnitudes. As integers they are ordered like the floats,
 * with infinity and NaN on top. */
static uint32_t largest(__m256i bits)
{
    __m128i four = _mm_max_epu32(_mm256_castsi256_si128(bits), _mm256_extracti128_si256(bits, 1));
    four = _mm_max_epu32(four, _mm_shuffle_epi32(four, 0x4e));
    return (uint32_t)_mm_cvtsi128_si32(_mm_max_epu32(four, _mm_shuffle_epi32(four, 0xb1)));
}

static uint32_t largest_magnitude(const float *x, size_t n)
{
    const __m256i magnitude = _mm256_set1_epi32(0x7fffffff);
    __m256i bits = _mm256_setzero_si256();
    for (size_t i = 0; i < n; i += 8)
        bits = _mm256_max_epu32(
            bits, _mm256_and_si256(_mm256_loadu_si256((const void *)(x + i)), magnitude));
    return largest(bits);
}

/* Sixteen quants. With inverse 0 an infinity becomes INT_MIN, which is packed to -128 and cleared
 * by the mask. */
static __m128i quantize_16(const float *x, float inverse)
{
    __m256 factor = _mm256_set1_ps(inverse);
    __m256i a = _mm256_cvtps_epi32(_mm256_mul_ps(_mm256_loadu_ps(x), factor));
    __m256i b = _mm256_cvtps_epi32(_mm256_mul_ps(_mm256_loadu_ps(x + 8), factor));
    __m256i words = _mm256_permute4x64_epi64(_mm256_packs_epi32(a, b), 0xd8);
    __m128i bytes =
        _mm_packs_epi16(_mm256_castsi256_si128(words), _mm256_extracti128_si256(words, 1));
    return inverse == 0 ? _mm_setzero_si128() : bytes;
}

/* Sums of each four quants, four lanes. */
static __m128i sum_fours(__m128i quants)
{
    __m128i pairs = _mm_maddubs_epi16(_mm_set1_epi8(1), quants);
    return _mm_madd_epi16(pairs, _mm_set1_epi16(1));
}

static void prepare_32(const float *x, size_t cols, uint8_t *out)
{
    if (cols % ACT32_GROUP)
        memset(out + cols / ACT32_GROUP * ACT32_BYTES, 0, ACT32_BYTES);
    for (size_t c = 0; c < cols; c += BLOCK_32) {
        uint8_t *at = out + c / ACT32_GROUP * ACT32_BYTES + c % ACT32_GROUP / BLOCK_32 * 16;
        float inverse;
        float scale = activation_scale(largest_magnitude(x + c, BLOCK_32), &inverse);
        __m128i low = quantize_16(x + c, inverse), high = quantize_16(x + c + 16, inverse);
        __m128i sums = _mm_slli_epi32(_mm_add_epi32(sum_fours(low), sum_fours(high)), 3);
        _mm_storeu_si128((void *)at, low);
        _mm_storeu_si128((void *)(at + ACT32_HIGH_AT), high);
        _mm_storeu_si128((void *)(at + ACT32_BIAS_AT), _mm_sub_epi32(_mm_setzero_si128(), sums));
        _mm_storeu_ps((void *)(at + ACT32_SCALE_AT), _mm_set1_ps(scale));
    }
}

static void prepare_256(const float *x, size_t cols, uint8_t *out)
{
    for (size_t c = 0; c < cols; c += SUPER_BLOCK, x += SUPER_BLOCK, out += ACT256_BYTES) {
        float inverse;
        float scale = activation_scale(largest_magnitude(x, SUPER_BLOCK), &inverse);
        memset(out + ACT256_SCALE_AT, 0, ACT256_BYTES - ACT256_SCALE_AT);
        memcpy(out + ACT256_SCALE_AT, &scale, sizeof scale);
        for (size_t i = 0; i < SUPER_BLOCK; i += 64) {
            __m128i sums[4];
            for (size_t j = 0; j < 4; j++) {
                __m128i quants = quantize_16(x + i + 16 * j, inverse);
                _mm_storeu_si128((void *)(out + i + 16 * j), quants);
                sums[j] = sum_fours(quants);
            }
            __m128i four =
                _mm_hadd_epi32(_mm_hadd_epi32(sums[0], sums[1]), _mm_hadd_epi32(sums[2], sums[3]));
            _mm_storeu_ps((void *)(out + ACT256_SUMS_AT + i / 4),
                          _mm_mul_ps(_mm_cvtepi32_ps(four), _mm_set1_ps(scale)));
            _mm_storel_epi64((void *)(out + ACT256_TOTALS_AT + i / 8), _mm_packs_epi32(four, four));
        }
    }
}

void activation_prepare_avx2(enum activation_form form, const float *x, size_t cols, void *out)
{
    if (form == ACTIVATION_Q8_32)
        prepare_32(x, cols, out);
    else if (form == ACTIVATION_Q8_256)
        prepare_256(x, cols, out);
    else
        activation_prepare_ref(form, x, cols, out);
}
