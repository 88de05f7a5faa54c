/* For any processor: vectors of four floats, which SSE2 and NEON have. */
#define SEARCH_WIDTH 4

#include <stdint.h>

typedef float lanes __attribute__((vector_size(16)));
typedef int32_t lane_masks __attribute__((vector_size(16)));

static inline lanes search_choose(lane_masks mask, lanes yes, lanes no)
{
    return (lanes)((mask & (lane_masks)yes) | (~mask & (lane_masks)no));
}
static inline lanes search_least(lanes a, lanes b)
{
    return search_choose(a < b, a, b);
}
static inline lanes search_most(lanes a, lanes b)
{
    return search_choose(a > b, a, b);
}

#include "quant/encode/search_body.h"

void search_sums_plain(const struct search *search, struct search_range range,
                       struct search_tries *tries)
{
    all_sums(search, range, tries);
}
