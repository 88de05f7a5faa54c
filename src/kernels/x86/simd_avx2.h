/* Vectors of eight floats with AVX2, FMA and F16C: the functions that vector_body.h uses. */
#ifndef KERNELS_SIMD_AVX2_H
#define KERNELS_SIMD_AVX2_H

#include <immintrin.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define SIMD_INLINE static inline __attribute__((always_inline))
#define VARIANT(name) name##_avx2
#define VARIANT_NAME "avx2"
#define VARIANT_PANEL_FORMS (1u << ACTIVATION_Q8_32 | 1u << ACTIVATION_Q8_256)
#define VARIANT_PANEL_LEAST 13

typedef __m256 vec;
typedef __m256i vec_int;
enum { LANES = 8 };

SIMD_INLINE __m256i first_lanes(size_t n)
{
    const __m256i lane = _mm256_set_epi32(7, 6, 5, 4, 3, 2, 1, 0);
    return _mm256_cmpgt_epi32(_mm256_set1_epi32((int)n), lane);
}
SIMD_INLINE vec vec_load(const float *at)
{
    return _mm256_loadu_ps(at);
}
/* The first n < LANES floats and zeroes after them; nothing else is read. */
SIMD_INLINE vec vec_load_part(const float *at, size_t n)
{
    return _mm256_maskload_ps(at, first_lanes(n));
}
SIMD_INLINE void vec_store(float *at, vec v)
{
    _mm256_storeu_ps(at, v);
}
SIMD_INLINE void vec_store_part(float *at, vec v, size_t n)
{
    _mm256_maskstore_ps(at, first_lanes(n), v);
}
SIMD_INLINE vec half_load(const uint16_t *at)
{
    return _mm256_cvtph_ps(_mm_loadu_si128((const void *)at));
}
SIMD_INLINE vec half_load_part(const uint16_t *at, size_t n)
{
    uint16_t halves[LANES] = {0};
    memcpy(halves, at, n * sizeof *at);
    return half_load(halves);
}
SIMD_INLINE void half_store(uint16_t *at, vec v)
{
    _mm_storeu_si128((void *)at, _mm256_cvtps_ph(v, _MM_FROUND_TO_NEAREST_INT));
}
SIMD_INLINE void half_store_part(uint16_t *at, vec v, size_t n)
{
    uint16_t halves[LANES];
    half_store(halves, v);
    memcpy(at, halves, n * sizeof *at);
}
SIMD_INLINE vec byte_load(const int8_t *at)
{
    return _mm256_cvtepi32_ps(_mm256_cvtepi8_epi32(_mm_loadl_epi64((const void *)at)));
}
/* Nibbles of LANES bytes, minus 8. */
SIMD_INLINE void nibbles_load(const uint8_t *at, vec *low, vec *high)
{
    __m256i bytes = _mm256_cvtepu8_epi32(_mm_loadl_epi64((const void *)at));
    __m256i lower = _mm256_and_si256(bytes, _mm256_set1_epi32(15)), eight = _mm256_set1_epi32(8);
    *low = _mm256_cvtepi32_ps(_mm256_sub_epi32(lower, eight));
    *high = _mm256_cvtepi32_ps(_mm256_sub_epi32(_mm256_srli_epi32(bytes, 4), eight));
}
SIMD_INLINE vec vec_set(float value)
{
    return _mm256_set1_ps(value);
}
SIMD_INLINE vec vec_add(vec a, vec b)
{
    return _mm256_add_ps(a, b);
}
SIMD_INLINE vec vec_sub(vec a, vec b)
{
    return _mm256_sub_ps(a, b);
}
SIMD_INLINE vec vec_mul(vec a, vec b)
{
    return _mm256_mul_ps(a, b);
}
SIMD_INLINE vec vec_div(vec a, vec b)
{
    return _mm256_div_ps(a, b);
}
/* a * b + c */
SIMD_INLINE vec vec_fma(vec a, vec b, vec c)
{
    return _mm256_fmadd_ps(a, b, c);
}
/* c - a * b */
SIMD_INLINE vec vec_fnma(vec a, vec b, vec c)
{
    return _mm256_fnmadd_ps(a, b, c);
}
/* The larger one; b if either is NaN. */
SIMD_INLINE vec vec_max(vec a, vec b)
{
    return _mm256_max_ps(a, b);
}
SIMD_INLINE vec vec_min(vec a, vec b)
{
    return _mm256_min_ps(a, b);
}
SIMD_INLINE vec vec_round(vec a)
{
    return _mm256_round_ps(a, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
}
/* a * 2^n for whole n, |n| <= 252, in two steps so that each factor is a normal number */
SIMD_INLINE vec vec_scale(vec a, vec n)
{
    const __m256i bias = _mm256_set1_epi32(127);
    __m256i power = _mm256_cvtps_epi32(n);
    __m256i first = _mm256_srai_epi32(power, 1), second = _mm256_sub_epi32(power, first);
    a = _mm256_mul_ps(a, _mm256_castsi256_ps(_mm256_slli_epi32(_mm256_add_epi32(first, bias), 23)));
    return _mm256_mul_ps(
        a, _mm256_castsi256_ps(_mm256_slli_epi32(_mm256_add_epi32(second, bias), 23)));
}
/* a * 2^n for whole n, where both numbers and the result are normal; NaN stays NaN */
SIMD_INLINE vec vec_scale_normal(vec a, vec n)
{
    __m256i power = _mm256_slli_epi32(_mm256_cvtps_epi32(n), 23);
    return _mm256_castsi256_ps(_mm256_add_epi32(_mm256_castps_si256(a), power));
}
SIMD_INLINE float vec_sum(vec a)
{
    __m128 four = _mm_add_ps(_mm256_castps256_ps128(a), _mm256_extractf128_ps(a, 1));
    __m128 two = _mm_add_ps(four, _mm_movehl_ps(four, four));
    return _mm_cvtss_f32(_mm_add_ss(two, _mm_movehdup_ps(two)));
}
SIMD_INLINE float vec_largest(vec a)
{
    __m128 four = _mm_max_ps(_mm256_castps256_ps128(a), _mm256_extractf128_ps(a, 1));
    __m128 two = _mm_max_ps(four, _mm_movehl_ps(four, four));
    return _mm_cvtss_f32(_mm_max_ss(two, _mm_movehdup_ps(two)));
}
/* a > b ? yes : no, NaN counts as not greater */
SIMD_INLINE vec vec_if_greater(vec a, vec b, vec yes, vec no)
{
    return _mm256_blendv_ps(no, yes, _mm256_cmp_ps(a, b, _CMP_GT_OQ));
}
SIMD_INLINE vec_int int_if_greater(vec a, vec b, vec_int yes, vec_int no)
{
    return _mm256_castps_si256(
        vec_if_greater(a, b, _mm256_castsi256_ps(yes), _mm256_castsi256_ps(no)));
}
SIMD_INLINE vec_int int_set(int32_t value)
{
    return _mm256_set1_epi32(value);
}
SIMD_INLINE void int_store(int32_t *at, vec_int v)
{
    _mm256_storeu_si256((void *)at, v);
}
/* Splits 2 * LANES floats into those of even and of odd index. */
SIMD_INLINE void vec_unzip(const float *at, vec *even, vec *odd)
{
    const __m256i order = _mm256_set_epi32(7, 6, 3, 2, 5, 4, 1, 0);
    vec first = vec_load(at), second = vec_load(at + LANES);
    vec low = _mm256_shuffle_ps(first, second, 0x88), high = _mm256_shuffle_ps(first, second, 0xdd);
    *even = _mm256_permutevar8x32_ps(low, order);
    *odd = _mm256_permutevar8x32_ps(high, order);
}
SIMD_INLINE vec vec_even_twice(vec a)
{
    return _mm256_moveldup_ps(a);
}
SIMD_INLINE vec vec_odd_twice(vec a)
{
    return _mm256_movehdup_ps(a);
}
SIMD_INLINE vec vec_swap_pairs(vec a)
{
    return _mm256_permute_ps(a, 0xb1);
}
/* a * b - c in even lanes, a * b + c in odd lanes */
SIMD_INLINE vec vec_fmaddsub(vec a, vec b, vec c)
{
    return _mm256_fmaddsub_ps(a, b, c);
}

#endif
