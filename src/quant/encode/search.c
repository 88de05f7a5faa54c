#include "quant/encode/search.h"

#include "base/core/assertion.h"
#include "kernels/formats.h"

#include <math.h>
#include <string.h>

/* Candidates of the scale around the one that uses the whole range. With more integers in the range
 * a step of one candidate is finer, so fewer are worth their time. */
#define LINE_FIRST (-0.9f)
#define LINE_TRIES 40 /* for up to 4 bits: -0.9 .. 1.05 of an integer */
#define LINE_STEP 0.05f
#define LINE_TRIES_FINE 16
#define LINE_STEP_FINE 0.125f
#define SCALE_STEP 0.1f
#define SCALE_SIDE 10 /* candidates to each side, for up to 4 bits */
#define SCALE_SIDE_FINE 8
#define COARSE_HIGH 15 /* the highest q of 4 bits */

void search_load(struct search *search, const float *x, const float *weights, unsigned count)
{
    ASSERT(count <= SEARCH_MAX);
    memcpy(search->x, x, count * sizeof *x);
    memcpy(search->w, weights, count * sizeof *weights);
    search->count = count;
    search->sums = search_variant();
    search->sum_w = search->sum_wx = search->sum_wxx = 0;
    search->lowest = search->highest = x[0];
    for (unsigned i = 0; i < count; i++) {
        double w = (double)weights[i], value = (double)x[i];
        search->sum_w += w;
        search->sum_wx += w * value;
        search->sum_wxx += w * value * value;
        search->lowest = x[i] < search->lowest ? x[i] : search->lowest;
        search->highest = x[i] > search->highest ? x[i] : search->highest;
    }
    search->widest = -search->lowest > search->highest ? search->lowest : search->highest;
}

static void add_try(struct search_tries *tries, float offset, float inverse)
{
    tries->offset[tries->count] = offset;
    tries->inverse[tries->count] = inverse;
    tries->count++;
}

/* Fills the last vector with the last candidate. */
static void fill_tries(struct search_tries *tries)
{
    while (tries->count % SEARCH_LANES != 0)
        add_try(tries, tries->offset[tries->count - 1], tries->inverse[tries->count - 1]);
}

/* The sums of the best candidate: vx^2 / vv is how much of sum w x^2 its fit explains. */
struct best_scale {
    double vv, vx;
};

static void take_best_scale(const struct search_tries *tries, struct best_scale *best)
{
    for (unsigned i = 0; i < tries->count; i++) {
        double vv = (double)tries->vv[i], vx = (double)tries->vx[i];
        if (vx * vx * best->vv > best->vx * best->vx * vv) /* no division for each */
            *best = (struct best_scale){vv, vx};
    }
}

float search_scale(const struct search *search, struct search_range range)
{
    struct best_scale best = {1, 0};
    if (fabsf(search->widest) < 1e-30f)
        return 0;
    struct search_tries tries = {.count = 0};
    float low = range.table ? (float)iq4_values[0] : (float)range.low;
    float high = range.table ? (float)iq4_values[15] : (float)range.high;
    /* The largest weight goes to the lower end, which is the wider one. With few integers the upper
     * end is worth a try too. */
    int both = range.table || range.high < COARSE_HIGH;
    int side = both ? SCALE_SIDE : SCALE_SIDE_FINE;
    float step = range.table ? 1.0f : SCALE_STEP;
    for (int i = -side; i < side; i++) {
        add_try(&tries, 0, (low + step * (float)i) / search->widest);
        if (both)
            add_try(&tries, 0, (high + step * (float)i) / search->widest);
    }
    fill_tries(&tries);
    search->sums(search, range, &tries);
    take_best_scale(&tries, &best);
    float scale = (float)(best.vx / best.vv);
    if (scale == 0)
        return 0;
    /* The best, and its neighbours, once more. */
    tries.count = 0;
    for (int i = -4; i < 4; i++)
        add_try(&tries, 0, (1.0f + 0.004f * (float)i) / scale);
    search->sums(search, range, &tries);
    take_best_scale(&tries, &best);
    return (float)(best.vx / best.vv);
}

struct best_line {
    float scale, minimum;
    double error;
};

/* Fits a line through what each candidate rounded to. */
static void take_best_line(const struct search *search, const struct search_tries *tries,
                           int free_minimum, struct best_line *best)
{
    double w = search->sum_w, wx = search->sum_wx;
    for (unsigned i = 0; i < tries->count; i++) {
        double q = (double)tries->v[i], qq = (double)tries->vv[i], qx = (double)tries->vx[i];
        double determinant = w * qq - q * q;
        if (determinant <= 0)
            continue;
        double scale = (w * qx - wx * q) / determinant;
        double minimum = (q * qx - qq * wx) / determinant;
        if (minimum < 0 && !free_minimum) {
            minimum = 0;
            scale = qx / qq;
        }
        if (scale <= 0)
            continue;
        double error = search_error(search, tries, i, (float)scale, (float)minimum);
        if (error < best->error)
            *best = (struct best_line){(float)scale, (float)minimum, error};
    }
}

void search_line(const struct search *search, int high, int free_minimum, float *scale,
                 float *minimum)
{
    const struct search_range range = {0, high, 0};
    float lowest = free_minimum || search->lowest < 0 ? search->lowest : 0;
    float width = search->highest - lowest;
    *scale = 0;
    *minimum = -lowest;
    if (width <= 1e-30f)
        return;
    struct best_line best = {width / (float)high, -lowest, INFINITY};
    struct search_tries tries = {.count = 0};
    int fine = high > COARSE_HIGH, count = fine ? LINE_TRIES_FINE : LINE_TRIES;
    float step = fine ? LINE_STEP_FINE : LINE_STEP;
    for (int i = 0; i < count; i++)
        add_try(&tries, -lowest, (LINE_FIRST + step * (float)i + (float)high) / width);
    search->sums(search, range, &tries);
    take_best_line(search, &tries, free_minimum, &best);
    /* The best line, and lines beside it, once more. */
    tries.count = 0;
    for (int i = -4; i < 4; i++)
        add_try(&tries, best.minimum, (1.0f + 0.01f * (float)i) / best.scale);
    search->sums(search, range, &tries);
    take_best_line(search, &tries, free_minimum, &best);
    *scale = best.scale;
    *minimum = best.minimum;
}

static int nearest_index(float scaled)
{
    int index = 0;
    while (index < 15 && scaled > 0.5f * ((float)iq4_values[index] + (float)iq4_values[index + 1]))
        index++;
    return index;
}

void search_round(const struct search *search, struct search_range range, float scale,
                  float minimum, int8_t *q)
{
    float inverse = fabsf(scale) > 1e-37f ? 1.0f / scale : 0.0f;
    for (unsigned i = 0; i < search->count; i++) {
        float scaled = (search->x[i] + minimum) * inverse;
        float rounded = (scaled + 12582912.0f) - 12582912.0f;
        rounded = rounded < (float)range.low ? (float)range.low : rounded;
        rounded = rounded > (float)range.high ? (float)range.high : rounded;
        q[i] = (int8_t)(range.table ? nearest_index(scaled) : (int)rounded);
    }
}
