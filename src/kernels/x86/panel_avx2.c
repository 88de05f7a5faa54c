/* Products of many tokens with AVX2 alone: see panel_avx2_body.h. */
#include <immintrin.h>

enum { VNNI = 0 };
#define PANEL_VARIANT(name) name##_avx2

/* Not used, and not compiled into anything. */
static inline __m256i dpbusd(__m256i sum, __m256i a, __m256i b)
{
    __m256i pairs = _mm256_maddubs_epi16(a, b);
    return _mm256_add_epi32(sum, _mm256_madd_epi16(pairs, _mm256_set1_epi16(1)));
}

#include "kernels/x86/panel_avx2_body.h"
