/* Finds the scale (and minimum) of a block of weights so that the weighted squared error of what is
 * stored is small: sum of w[i] (x[i] - stored(x[i]))^2.
 *
 * A search tries a row of candidate scales. For each it rounds the weights, and the scale that fits
 * those integers best has a closed form (weighted least squares), so a candidate costs three sums.
 * The first candidates are those of llama.cpp's quantiser (ggml-quants.c, make_qx_quants and
 * make_qkx3_quants); then the best one is rounded and fitted again.
 *
 * The lanes of a vector are candidates and not weights. So every sum is taken in the order of the
 * weights whatever the width of a vector, and the bytes of a file do not depend on the processor.
 * Pure; any thread. */
#ifndef QUANT_SEARCH_H
#define QUANT_SEARCH_H

#include <stdint.h>

#define SEARCH_MAX 32   /* most weights of a block */
#define SEARCH_TRIES 40 /* most candidates at a time; a multiple of SEARCH_LANES */
#define SEARCH_LANES 8

/* What a stored integer stands for: v = q itself, or a value of the table of IQ4_NL. */
struct search_range {
    int low, high; /* of q; below 0, or a table: a scale alone is searched, and offsets are 0 */
    int table;     /* not 0: q is an index of iq4_values */
};

/* Candidates to round with: v = nearest((x + offset) * inverse), and the sums of what comes of
 * it. */
struct search_tries {
    unsigned count; /* a multiple of SEARCH_LANES */
    float offset[SEARCH_TRIES], inverse[SEARCH_TRIES];
    /* Sums of w v, w v^2, w v x. v is 0 but for lines. */
    float v[SEARCH_TRIES], vv[SEARCH_TRIES], vx[SEARCH_TRIES];
};

struct search;
typedef void search_sums_fn(const struct search *search, struct search_range range,
                            struct search_tries *tries);

/* The weights of one block and their importance. */
struct search {
    float x[SEARCH_MAX], w[SEARCH_MAX];
    unsigned count;
    double sum_w, sum_wx, sum_wxx;
    float lowest, highest, widest; /* widest: the x of the largest magnitude, with its sign */
    search_sums_fn *sums;          /* the variant for this processor */
};

/* count: 16 or 32. All of `weights` are at least 0. */
void search_load(struct search *search, const float *x, const float *weights, unsigned count);

/* x ~ scale * v. The scale may be negative. */
float search_scale(const struct search *search, struct search_range range);
/* x ~ scale * q - minimum with q in 0..high, scale >= 0. minimum >= 0 unless `free_minimum`. */
void search_line(const struct search *search, int high, int free_minimum, float *scale,
                 float *minimum);

/* The weighted squared error of candidate i of `tries`, whose scale and minimum are given. */
static inline double search_error(const struct search *search, const struct search_tries *tries,
                                  unsigned i, float scale, float minimum)
{
    double s = (double)scale, m = (double)minimum;
    return search->sum_wxx + s * s * (double)tries->vv[i] + m * m * search->sum_w -
           2 * s * (double)tries->vx[i] + 2 * m * search->sum_wx - 2 * s * m * (double)tries->v[i];
}

/* Rounds x + minimum with the scale: q [count]. */
void search_round(const struct search *search, struct search_range range, float scale,
                  float minimum, int8_t *q);

/* search_variant.h has the choice: the best variant that this processor has. */
search_sums_fn *search_variant(void);
search_sums_fn search_sums_plain, search_sums_avx2;

#endif
