/* Detectors of change. Each is a few numbers that are fed one observation at a time; an alarm
 * begins and ends. No clock and no memory of their own; one owner.
 *
 * CUSUM (Page 1954, "Continuous Inspection Schemes", Biometrika 41) sums the log-likelihood ratios
 * of the feared share (or mean) against the usual one, and never falls below zero. No rule with as
 * few false alarms crosses its level sooner on average (Moustakides 1986, "Optimal Stopping Times
 * for Detecting Changes in Distributions"). */
#ifndef ROUTER_DRIFT_H
#define ROUTER_DRIFT_H

#include "tandem/types.h"

/* Measured by tests/unit/router/test_drift.c for a usual share of .20 and a feared one of .35: one
 * false alarm in 23,000 observations, and a median of 88 observations until a true alarm. */
#define DRIFT_LEVEL 7.0
/* Higher for a mean, because it is watched in both directions and its ratios are smaller: 0.08 an
 * observation on average after a shift of .2 at a variance of .25. So an alarm needs about 110
 * observations. */
#define DRIFT_MEAN_LEVEL 9.0

struct drift_cusum {
    double sum, level;
    bool alarm;
};

/* A share of yes and no: log of p1 / p0 for a yes, of (1 - p1) / (1 - p0) for a no. */
struct drift_share {
    struct drift_cusum cusum;
    double yes, no;
};

void drift_share_init(struct drift_share *share, double usual, double feared);
/* Returns the alarm after this observation. It begins above the level and ends when the sum is back
 * at zero. */
bool drift_share_add(struct drift_share *share, bool yes);

/* A mean that should be zero, watched in both directions: (shift / variance) (x - shift / 2), and
 * the same of -x. */
struct drift_mean {
    struct drift_cusum above, below;
    double shift, variance;
};

void drift_mean_init(struct drift_mean *mean, double shift, double variance);
void drift_mean_add(struct drift_mean *mean, double x);

#define DRIFT_BINS 10

/* Population stability index (Siddiqi 2006, "Credit Risk Scorecards", chapter 9): sum of (a_i -
 * e_i) ln(a_i / e_i) over the shares of the bins, with half an observation added to each so that
 * none is empty. Below .1 the distributions are alike, above .25 they differ. */
double drift_psi(const uint32_t expected[static DRIFT_BINS],
                 const uint32_t actual[static DRIFT_BINS]);

/* Compares scores from 0 to 1 with the usual ones. It learns from the first DRIFT_WINDOW scores,
 * cuts them into bins of equal mass, and compares each further DRIFT_WINDOW scores with them. */
#define DRIFT_WINDOW 500

struct drift_scores {
    double first[DRIFT_WINDOW];
    double bound[DRIFT_BINS - 1]; /* upper ends of all bins but the last */
    uint32_t expected[DRIFT_BINS], actual[DRIFT_BINS];
    uint32_t seen; /* in this window */
    bool learnt, alarm;
    double psi; /* of the last whole window; 0 before */
};

/* Zero-initialised is ready. True when this score completes a window. */
bool drift_scores_add(struct drift_scores *scores, double score);

#endif
