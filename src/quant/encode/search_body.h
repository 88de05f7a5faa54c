/* The sums of a search for vectors of SEARCH_WIDTH floats, which divides SEARCH_LANES. The file
 * that includes this defines SEARCH_WIDTH, and search_least and search_most of two vectors. No two
 * operations are fused, so that every width gives the same bits. */
#include "kernels/formats.h"
#include "quant/encode/search.h"

/* 1.5 * 2^23: adding and subtracting it rounds a float below 2^22 to the nearest integer. */
#define ROUNDER 12582912.0f
#define PARTS (SEARCH_LANES / SEARCH_WIDTH)

static inline lanes splat(float value)
{
    return value - (lanes){0};
}

static inline lanes nearest_integer(lanes x, lanes low, lanes high)
{
    lanes rounded = (x + splat(ROUNDER)) - splat(ROUNDER);
    return search_least(search_most(rounded, low), high);
}

static inline lanes nearest_value(lanes x)
{
    lanes value = splat((float)iq4_values[0]);
    for (int k = 0; k < 15; k++) {
        float here = (float)iq4_values[k], next = (float)iq4_values[k + 1];
        lane_masks above = x > splat(0.5f * (here + next));
        value += (lanes)(above & (lane_masks)splat(next - here));
    }
    return value;
}

enum sums_of { OF_SCALES, OF_VALUES, OF_LINES };

/* One group of SEARCH_LANES candidates from `from` on. Scales have no offset, and need no v. */
static inline void group_sums(const struct search *search, struct search_range range,
                              struct search_tries *tries, unsigned from, enum sums_of kind)
{
    lanes low = splat((float)range.low), high = splat((float)range.high);
    lanes offset[PARTS], inverse[PARTS], v_sum[PARTS], vv_sum[PARTS], vx_sum[PARTS];
    memcpy(offset, tries->offset + from, sizeof offset);
    memcpy(inverse, tries->inverse + from, sizeof inverse);
    for (int p = 0; p < PARTS; p++)
        v_sum[p] = vv_sum[p] = vx_sum[p] = splat(0);
    for (unsigned i = 0; i < search->count; i++) {
        lanes x = splat(search->x[i]), w = splat(search->w[i]);
        for (int p = 0; p < PARTS; p++) {
            lanes scaled = x * inverse[p];
            if (kind == OF_LINES)
                scaled = (x + offset[p]) * inverse[p];
            lanes v =
                kind == OF_VALUES ? nearest_value(scaled) : nearest_integer(scaled, low, high);
            lanes wv = w * v;
            if (kind == OF_LINES)
                v_sum[p] += wv;
            vv_sum[p] += wv * v;
            vx_sum[p] += wv * x;
        }
    }
    memcpy(tries->v + from, v_sum, sizeof v_sum);
    memcpy(tries->vv + from, vv_sum, sizeof vv_sum);
    memcpy(tries->vx + from, vx_sum, sizeof vx_sum);
}

static inline void all_sums(const struct search *search, struct search_range range,
                            struct search_tries *tries)
{
    for (unsigned from = 0; from < tries->count; from += SEARCH_LANES) {
        if (range.table)
            group_sums(search, range, tries, from, OF_VALUES);
        else if (range.low < 0)
            group_sums(search, range, tries, from, OF_SCALES);
        else
            group_sums(search, range, tries, from, OF_LINES);
    }
}
