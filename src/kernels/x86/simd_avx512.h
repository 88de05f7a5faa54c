/* Vectors of sixteen floats with AVX-512: the functions that vector_body.h uses. */
#ifndef KERNELS_SIMD_AVX512_H
#define KERNELS_SIMD_AVX512_H

#include <immintrin.h>
#include <stddef.h>
#include <stdint.h>

#define SIMD_INLINE static inline __attribute__((always_inline))
#define VARIANT(name) name##_avx512
#define VARIANT_NAME "avx512"
#define VARIANT_PANEL_FORMS (1u << ACTIVATION_Q8_32 | 1u << ACTIVATION_Q8_256)
#define VARIANT_PANEL_LEAST 9

typedef __m512 vec;
typedef __m512i vec_int;
enum { LANES = 16 };

SIMD_INLINE __mmask16 first_lanes(size_t n)
{
    return (__mmask16)((1u << n) - 1);
}
SIMD_INLINE vec vec_load(const float *at)
{
    return _mm512_loadu_ps(at);
}
/* The first n < LANES floats and zeroes after them; nothing else is read. */
SIMD_INLINE vec vec_load_part(const float *at, size_t n)
{
    return _mm512_maskz_loadu_ps(first_lanes(n), at);
}
SIMD_INLINE void vec_store(float *at, vec v)
{
    _mm512_storeu_ps(at, v);
}
SIMD_INLINE void vec_store_part(float *at, vec v, size_t n)
{
    _mm512_mask_storeu_ps(at, first_lanes(n), v);
}
SIMD_INLINE vec half_load(const uint16_t *at)
{
    return _mm512_cvtph_ps(_mm256_loadu_si256((const void *)at));
}
SIMD_INLINE vec half_load_part(const uint16_t *at, size_t n)
{
    return _mm512_cvtph_ps(_mm256_maskz_loadu_epi16(first_lanes(n), at));
}
SIMD_INLINE void half_store(uint16_t *at, vec v)
{
    _mm256_storeu_si256((void *)at, _mm512_cvtps_ph(v, _MM_FROUND_TO_NEAREST_INT));
}
SIMD_INLINE void half_store_part(uint16_t *at, vec v, size_t n)
{
    _mm256_mask_storeu_epi16(at, first_lanes(n), _mm512_cvtps_ph(v, _MM_FROUND_TO_NEAREST_INT));
}
SIMD_INLINE vec byte_load(const int8_t *at)
{
    return _mm512_cvtepi32_ps(_mm512_cvtepi8_epi32(_mm_loadu_si128((const void *)at)));
}
/* Nibbles of LANES bytes, minus 8. */
SIMD_INLINE void nibbles_load(const uint8_t *at, vec *low, vec *high)
{
    __m512i bytes = _mm512_cvtepu8_epi32(_mm_loadu_si128((const void *)at));
    __m512i lower = _mm512_and_si512(bytes, _mm512_set1_epi32(15)), eight = _mm512_set1_epi32(8);
    *low = _mm512_cvtepi32_ps(_mm512_sub_epi32(lower, eight));
    *high = _mm512_cvtepi32_ps(_mm512_sub_epi32(_mm512_srli_epi32(bytes, 4), eight));
}
SIMD_INLINE vec vec_set(float value)
{
    return _mm512_set1_ps(value);
}
SIMD_INLINE vec vec_add(vec a, vec b)
{
    return _mm512_add_ps(a, b);
}
SIMD_INLINE vec vec_sub(vec a, vec b)
{
    return _mm512_sub_ps(a, b);
}
SIMD_INLINE vec vec_mul(vec a, vec b)
{
    return _mm512_mul_ps(a, b);
}
SIMD_INLINE vec vec_div(vec a, vec b)
{
    return _mm512_div_ps(a, b);
}
/* a * b + c */
SIMD_INLINE vec vec_fma(vec a, vec b, vec c)
{
    return _mm512_fmadd_ps(a, b, c);
}
/* c - a * b */
SIMD_INLINE vec vec_fnma(vec a, vec b, vec c)
{
    return _mm512_fnmadd_ps(a, b, c);
}
/* The larger one; b if either is NaN. */
SIMD_INLINE vec vec_max(vec a, vec b)
{
    return _mm512_max_ps(a, b);
}
SIMD_INLINE vec vec_min(vec a, vec b)
{
    return _mm512_min_ps(a, b);
}
SIMD_INLINE vec vec_round(vec a)
{
    return _mm512_roundscale_ps(a, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
}
/* a * 2^n for whole n */
SIMD_INLINE vec vec_scale(vec a, vec n)
{
    return _mm512_scalef_ps(a, n);
}
/* a * 2^n for whole n, where both numbers and the result are normal; NaN stays NaN */
SIMD_INLINE vec vec_scale_normal(vec a, vec n)
{
    return _mm512_scalef_ps(a, n);
}
SIMD_INLINE float vec_sum(vec a)
{
    return _mm512_reduce_add_ps(a);
}
SIMD_INLINE float vec_largest(vec a)
{
    return _mm512_reduce_max_ps(a);
}
/* a > b ? yes : no, NaN counts as not greater */
SIMD_INLINE vec vec_if_greater(vec a, vec b, vec yes, vec no)
{
    return _mm512_mask_mov_ps(no, _mm512_cmp_ps_mask(a, b, _CMP_GT_OQ), yes);
}
SIMD_INLINE vec_int int_if_greater(vec a, vec b, vec_int yes, vec_int no)
{
    return _mm512_mask_mov_epi32(no, _mm512_cmp_ps_mask(a, b, _CMP_GT_OQ), yes);
}
SIMD_INLINE vec_int int_set(int32_t value)
{
    return _mm512_set1_epi32(value);
}
SIMD_INLINE void int_store(int32_t *at, vec_int v)
{
    _mm512_storeu_si512(at, v);
}
/* Splits 2 * LANES floats into those of even and of odd index. */
SIMD_INLINE void vec_unzip(const float *at, vec *even, vec *odd)
{
    const __m512i index =
        _mm512_set_epi32(30, 28, 26, 24, 22, 20, 18, 16, 14, 12, 10, 8, 6, 4, 2, 0);
    vec first = vec_load(at), second = vec_load(at + LANES);
    *even = _mm512_permutex2var_ps(first, index, second);
    *odd = _mm512_permutex2var_ps(first, _mm512_add_epi32(index, _mm512_set1_epi32(1)), second);
}
SIMD_INLINE vec vec_even_twice(vec a)
{
    return _mm512_moveldup_ps(a);
}
SIMD_INLINE vec vec_odd_twice(vec a)
{
    return _mm512_movehdup_ps(a);
}
SIMD_INLINE vec vec_swap_pairs(vec a)
{
    return _mm512_permute_ps(a, 0xb1);
}
/* a * b - c in even lanes, a * b + c in odd lanes */
SIMD_INLINE vec vec_fmaddsub(vec a, vec b, vec c)
{
    return _mm512_fmaddsub_ps(a, b, c);
}

#endif
