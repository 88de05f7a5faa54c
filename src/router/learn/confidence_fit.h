/* Fits a head of a confidence model (confidence_model.h) to answers that were judged, and says what
 * it is worth on answers that it had not seen. */
#ifndef ROUTER_CONFIDENCE_FIT_H
#define ROUTER_CONFIDENCE_FIT_H

#include "router/judge/confidence_model.h"

#define CONFIDENCE_FOLDS 5
#define CONFIDENCE_ANSWERS_MIN 50 /* of which each outcome has at least: */
#define CONFIDENCE_OUTCOME_MIN 15

struct confidence_sample {
    struct confidence_features features;
    double right;    /* 0 or 1, or between */
    uint32_t answer; /* samples of one answer go into one fold */
    double second;   /* a second signal of a whole answer (second_signal.h), where asked for */
};

/* All on folds that were not fitted to. */
struct confidence_fit_report {
    double auroc;       /* NAN unless both outcomes are there */
    double auroc_plain; /* of the mean log-probability alone, for comparison */
    double brier;
    double calibration_error; /* confidence_ece, 15 bins */
};

/* TD_INVALID when there are too few. seed: of the division into folds. unseen: [count], or NULL:
 * the raw score of each sample (confidence_head_raw), by weights fitted without its fold. */
TD_MUST_CHECK enum td_status confidence_fit(const struct confidence_sample *samples, size_t count,
                                            uint64_t seed, struct confidence_head *out,
                                            struct confidence_fit_report *report, double *unseen,
                                            struct td_error *err);

/* Isotonic regression by pooling adjacent violators (Ayer et al. 1955, "An empirical distribution
 * function for sampling with incomplete information"): the rising step function with the least
 * squares, as at most CONFIDENCE_KNOTS_MAX points. p [count] rises; y [count] is overwritten by the
 * fitted values. Returns the number of knots. */
size_t confidence_isotonic(const double *p, double *y, size_t count,
                           double knot_p[static CONFIDENCE_KNOTS_MAX],
                           double knot_y[static CONFIDENCE_KNOTS_MAX]);

/* Expected calibration error over `bins` parts of equal size: sum of n_b / N |mean right - mean
 * confidence| (Guo et al. 2017, "On Calibration of Modern Neural Networks", with bins of equal
 * mass). Sorts `pairs` ([count][2]: confidence, right). */
double confidence_ece(double (*pairs)[2], size_t count, size_t bins);

/* Of pairs [count][2], which it sorts: score, right. NAN unless both outcomes are there. */
double confidence_auroc(double (*pairs)[2], size_t count);

#endif
