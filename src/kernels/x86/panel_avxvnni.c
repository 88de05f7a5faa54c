/* Products of many tokens with AVX2 and vpdpbusd: see panel_avx2_body.h. AVX-VNNI is the
 * instruction as processors without AVX-512 have it. A test compiles this file with the one of
 * AVX-512 VL, which is the same operation, for processors that have only that. */
#include <immintrin.h>

enum { VNNI = 1 };
#define PANEL_VARIANT(name) name##_avxvnni
#ifndef PANEL_DPBUSD
#define PANEL_DPBUSD _mm256_dpbusd_avx_epi32
#endif

static inline __m256i dpbusd(__m256i sum, __m256i a, __m256i b)
{
    return PANEL_DPBUSD(sum, a, b);
}

#include "kernels/x86/panel_avx2_body.h"
