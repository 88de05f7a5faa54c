/* For x86-64 with AVX2: vectors of eight floats. */
#define SEARCH_WIDTH 8

#include <immintrin.h>
#include <stdint.h>

typedef __m256 lanes;
typedef int32_t lane_masks __attribute__((vector_size(32)));

static inline lanes search_least(lanes a, lanes b)
{
    return _mm256_min_ps(a, b);
}
static inline lanes search_most(lanes a, lanes b)
{
    return _mm256_max_ps(a, b);
}

#include "quant/encode/search_body.h"

void search_sums_avx2(const struct search *search, struct search_range range,
                      struct search_tries *tries)
{
    all_sums(search, range, tries);
}
