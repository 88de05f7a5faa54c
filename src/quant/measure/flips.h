/* Which groups of questions lost more answers than chance explains, when a model was replaced by a
 * compressed one. A mean hides them: 5 % of the traffic whose answers flip in two of five cases
 * move the mean by two points (2407.09141 on flips).
 *
 * Two questions for each group of n lines with f flips, of N lines with K flips in all:
 *
 *   stands out     Were the K flips spread by chance, the group would have X of them, where X is
 *                  hypergeometric (Fisher's exact test). P(X >= f) is its p-value.
 *   over a limit   Were the group's share of flips at most L, then P(X >= f) would be at most that
 *                  of a binomial X with n and L.
 *
 * Both are asked of many groups, so the p-values are adjusted (Holm 1979, "A simple sequentially
 * rejective multiple test procedure"). Whatever the groups have in common, the probability that
 * any group is named without a cause is at most FLIPS_ALPHA. The groups must not have been made by
 * looking at the flips. Pure; any thread. */
#ifndef QUANT_FLIPS_H
#define QUANT_FLIPS_H

#include "tandem/types.h"

#define FLIPS_ALPHA 0.01

struct flips_group {
    size_t count, flips; /* given; flips <= count */
    /* found: */
    double low, high;  /* of the share, at 95 % (Wilson) */
    double p, p_limit; /* adjusted p-values of the two questions */
    bool stands_out, over_limit;
};

/* all: N and K, and gets its own interval and over_limit, as a family of its own. limit: NAN =
 * none. */
TD_MUST_CHECK enum td_status flips_judge(struct flips_group *groups, size_t group_count,
                                         struct flips_group *all, double limit,
                                         struct td_error *err);

/* P(X >= from): X = how many of `marked` among `total` are in a random draw of `count`. */
double flips_draw_tail(size_t total, size_t marked, size_t count, size_t from);
/* P(X >= from): X is binomial. */
double flips_binomial_tail(size_t count, double share, size_t from);

#endif
