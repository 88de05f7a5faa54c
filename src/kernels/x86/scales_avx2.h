/* Unpacks the scales of super-blocks in registers, without a detour through memory. For
 * unpack_avx2.h and unpack_avx512.h. */
#ifndef KERNELS_SCALES_AVX2_H
#define KERNELS_SCALES_AVX2_H

#include <immintrin.h>

#include "kernels/formats.h"
#include "kernels/tiles.h"

/* The sixteen scales of a Q3_K block minus 32, a byte each; see q3_k_scales(). */
TILE_INLINE __m128i q3_k_factors(const uint8_t *block)
{
    const __m128i shift = _mm_set_epi32(6, 4, 2, 0);
    const __m128i nibble = _mm_set1_epi8(15), two_bits = _mm_set1_epi8(3);
    __m128i packed = _mm_loadl_epi64((const void *)(block + Q3_K_SCALES_AT));
    __m128i low = _mm_unpacklo_epi64(packed, _mm_srli_epi16(packed, 4));
    __m128i high = _mm_set1_epi32((int)load_u32(block + Q3_K_SCALES_AT + 8));
    high = _mm_slli_epi16(_mm_and_si128(_mm_srlv_epi32(high, shift), two_bits), 4);
    return _mm_sub_epi8(_mm_or_si128(_mm_and_si128(low, nibble), high), _mm_set1_epi8(32));
}

/* The eight scales of an IQ4_XS block minus 32, 16 bits each. */
TILE_INLINE __m128i iq4_xs_factors(const uint8_t *block)
{
    /* Multiplying by 2^(14 - 2j) brings bits 2j..2j+1 to the top. */
    const __m128i lift =
        _mm_set_epi16(1 << 0, 1 << 2, 1 << 4, 1 << 6, 1 << 8, 1 << 10, 1 << 12, 1 << 14);
    uint32_t packed = load_u32(block + IQ4_XS_LOW_AT);
    __m128i low = _mm_unpacklo_epi8(_mm_cvtsi32_si128((int)(packed & 0x0f0f0f0fu)),
                                    _mm_cvtsi32_si128((int)(packed >> 4 & 0x0f0f0f0fu)));
    __m128i high = _mm_set1_epi16((short)load_u16(block + IQ4_XS_HIGH_AT));
    high = _mm_slli_epi16(_mm_srli_epi16(_mm_mullo_epi16(high, lift), 14), 4);
    return _mm_sub_epi16(_mm_or_si128(_mm_cvtepu8_epi16(low), high), _mm_set1_epi16(32));
}

#endif
