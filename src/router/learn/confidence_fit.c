/* Fitting in three steps: logistic regression by Newton's method, isotonic knots over its scores,
 * and the report. The knots are fitted to scores of models that had not seen their samples
 * (cross-validation). A model's scores for its own samples are too sure, and knots over them would
 * be, too. */
#include "router/learn/confidence_fit.h"

#include "base/core/assertion.h"
#include "base/core/error.h"
#include "base/crypto/hash.h"
#include "router/learn/solve.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define UNKNOWNS (CONFIDENCE_FEATURE_COUNT + 1)
/* Prior of a weight, in answers that say nothing. Features are standardised, and many of them say
 * nearly the same. */
#define RIDGE 3.0
#define NEWTON_STEPS 40
#define ECE_BINS 15

/* --- logistic --- */

static void standardise(const struct confidence_sample *samples, const bool *use, size_t count,
                        struct confidence_head *head)
{
    for (size_t f = 0; f < CONFIDENCE_FEATURE_COUNT; f++) {
        double sum = 0, square = 0, used = 0;
        for (size_t i = 0; i < count; i++) {
            if (!use[i])
                continue;
            sum += samples[i].features.value[f];
            used++;
        }
        head->mean[f] = used > 0 ? sum / used : 0;
        for (size_t i = 0; i < count; i++) {
            double off = samples[i].features.value[f] - head->mean[f];
            square += use[i] ? off * off : 0;
        }
        head->scale[f] = used > 0 ? sqrt(square / used) : 0;
        if (!(head->scale[f] > 1e-6))
            head->scale[f] = 1; /* a constant: its weight stays zero */
    }
}

static void row_of(const struct confidence_head *head, const struct confidence_sample *sample,
                   double row[static UNKNOWNS])
{
    for (size_t f = 0; f < CONFIDENCE_FEATURE_COUNT; f++)
        row[f] = (sample->features.value[f] - head->mean[f]) / head->scale[f];
    row[CONFIDENCE_FEATURE_COUNT] = 1;
}

/* One step of Newton's method on the penalised log-likelihood. The largest move of a weight. */
static double newton_step(const struct confidence_sample *samples, const bool *use, size_t count,
                          struct confidence_head *head)
{
    double a[UNKNOWNS][UNKNOWNS] = {{0}}, b[UNKNOWNS] = {0}, x[UNKNOWNS], row[UNKNOWNS];
    for (size_t i = 0; i < count; i++) {
        if (!use[i])
            continue;
        row_of(head, &samples[i], row);
        double p = confidence_head_raw(head, &samples[i].features), slack = p * (1 - p) + 1e-9;
        for (int r = 0; r < UNKNOWNS; r++) {
            for (int c = 0; c < UNKNOWNS; c++)
                a[r][c] += slack * row[r] * row[c];
            b[r] += (samples[i].right - p) * row[r];
        }
    }
    for (int f = 0; f < CONFIDENCE_FEATURE_COUNT; f++) {
        a[f][f] += RIDGE;
        b[f] -= RIDGE * head->weight[f];
    }
    a[CONFIDENCE_FEATURE_COUNT][CONFIDENCE_FEATURE_COUNT] += 1e-6;
    solve_definite(UNKNOWNS, &a[0][0], b, x);
    double largest = 0;
    for (int i = 0; i < UNKNOWNS; i++) {
        double move = x[i] > 2 ? 2 : x[i] < -2 ? -2 : x[i];
        largest = fmax(largest, fabs(move));
        if (i < CONFIDENCE_FEATURE_COUNT)
            head->weight[i] += move;
        else
            head->bias += move;
    }
    return largest;
}

static void fit_logistic(const struct confidence_sample *samples, const bool *use, size_t count,
                         struct confidence_head *head)
{
    memset(head, 0, sizeof *head);
    standardise(samples, use, count, head);
    for (int step = 0; step < NEWTON_STEPS; step++)
        if (newton_step(samples, use, count, head) < 1e-9)
            return;
}

/* --- isotonic --- */

struct pool {
    double sum, count, first_p, last_p;
};

/* Neighbouring pools that hold the fewest are joined until the rest fits into the knots, two of
 * which (its ends) a pool takes. */
static size_t thin(struct pool *pools, size_t count)
{
    while (2 * count > CONFIDENCE_KNOTS_MAX) {
        size_t least = 0;
        for (size_t i = 1; i + 1 < count; i++)
            if (pools[i].count + pools[i + 1].count < pools[least].count + pools[least + 1].count)
                least = i;
        pools[least].sum += pools[least + 1].sum;
        pools[least].count += pools[least + 1].count;
        pools[least].last_p = pools[least + 1].last_p;
        memmove(&pools[least + 1], &pools[least + 2], (count - least - 2) * sizeof *pools);
        count--;
    }
    return count;
}

size_t confidence_isotonic(const double *p, double *y, size_t count,
                           double knot_p[static CONFIDENCE_KNOTS_MAX],
                           double knot_y[static CONFIDENCE_KNOTS_MAX])
{
    struct pool *pools = calloc(count + 1, sizeof *pools);
    size_t used = 0, at = 0, knots = 0;
    if (!pools || count == 0) {
        free(pools);
        return 0;
    }
    for (size_t i = 0; i < count;) {
        struct pool next = {0, 0, p[i], p[i]};
        for (; i < count && p[i] <= next.last_p; i++) { /* equal inputs have one output */
            next.sum += y[i];
            next.count++;
        }
        while (used > 0 && pools[used - 1].sum * next.count >= next.sum * pools[used - 1].count) {
            used--;
            next.sum += pools[used].sum;
            next.count += pools[used].count;
            next.first_p = pools[used].first_p;
        }
        pools[used++] = next;
    }
    for (size_t i = 0; i < used; i++)
        for (size_t n = 0; n < (size_t)pools[i].count; n++)
            y[at++] = pools[i].sum / pools[i].count;
    used = thin(pools, used);
    for (size_t i = 0; i < used; i++) {
        double value = pools[i].sum / pools[i].count;
        knot_p[knots] = pools[i].first_p;
        knot_y[knots++] = value;
        if (pools[i].last_p > pools[i].first_p) {
            knot_p[knots] = pools[i].last_p;
            knot_y[knots++] = value;
        }
    }
    free(pools);
    return knots;
}

/* --- measures --- */

static int by_first(const void *a, const void *b)
{
    double x = ((const double *)a)[0], y = ((const double *)b)[0];
    return (x > y) - (x < y);
}

double confidence_ece(double (*pairs)[2], size_t count, size_t bins)
{
    ASSERT(bins > 0);
    double error = 0;
    qsort(pairs, count, sizeof *pairs, by_first);
    for (size_t b = 0; b < bins && count > 0; b++) {
        size_t begin = b * count / bins, end = (b + 1) * count / bins;
        double confidence = 0, right = 0;
        for (size_t i = begin; i < end; i++) {
            confidence += pairs[i][0];
            right += pairs[i][1];
        }
        error += fabs(right - confidence) / (double)count;
    }
    return error;
}

/* The share of (right, wrong) in which the right one stands above, ties half (Mann and Whitney
 * 1947). */
double confidence_auroc(double (*pairs)[2], size_t count)
{
    double right = 0, wrong = 0, above = 0;
    qsort(pairs, count, sizeof *pairs, by_first);
    for (size_t i = 0; i < count;) {
        size_t end = i;
        double right_here = 0, wrong_here = 0;
        for (; end < count && pairs[end][0] <= pairs[i][0]; end++) {
            right_here += pairs[end][1];
            wrong_here += 1 - pairs[end][1];
        }
        above += right_here * (wrong + wrong_here / 2);
        right += right_here;
        wrong += wrong_here;
        i = end;
    }
    return right > 0 && wrong > 0 ? above / (right * wrong) : (double)NAN;
}

/* --- folds --- */

struct fit {
    const struct confidence_sample *samples;
    size_t count;
    uint64_t seed;
    bool *use;          /* [count] */
    double *score;      /* [count] of a model that had not seen the sample */
    double (*pairs)[2]; /* [count] working memory: score, right */
};

static size_t fold_of(const struct fit *fit, size_t i)
{
    return hash_mix64(fit->seed ^ hash_mix64(fit->samples[i].answer)) % CONFIDENCE_FOLDS;
}

/* Knots over the scores of the marked samples. */
static void fit_knots(struct fit *fit, struct confidence_head *head, double *p, double *y)
{
    size_t count = 0;
    for (size_t i = 0; i < fit->count; i++) {
        if (!fit->use[i])
            continue;
        fit->pairs[count][0] = fit->score[i];
        fit->pairs[count++][1] = fit->samples[i].right;
    }
    qsort(fit->pairs, count, sizeof *fit->pairs, by_first);
    for (size_t i = 0; i < count; i++) {
        p[i] = fit->pairs[i][0];
        y[i] = fit->pairs[i][1];
    }
    head->knot_count = (uint32_t)confidence_isotonic(p, y, count, head->knot_p, head->knot_y);
}

static void score_folds(struct fit *fit)
{
    struct confidence_head head;
    for (size_t fold = 0; fold < CONFIDENCE_FOLDS; fold++) {
        for (size_t i = 0; i < fit->count; i++)
            fit->use[i] = fold_of(fit, i) != fold;
        fit_logistic(fit->samples, fit->use, fit->count, &head);
        for (size_t i = 0; i < fit->count; i++)
            if (!fit->use[i])
                fit->score[i] = confidence_head_raw(&head, &fit->samples[i].features);
    }
}

/* The knots of each fold are fitted to the scores of the others. */
static void report_folds(struct fit *fit, double *p, double *y, double (*calibrated)[2],
                         struct confidence_fit_report *report)
{
    struct confidence_head head;
    double square = 0;
    for (size_t fold = 0; fold < CONFIDENCE_FOLDS; fold++) {
        for (size_t i = 0; i < fit->count; i++)
            fit->use[i] = fold_of(fit, i) != fold;
        fit_knots(fit, &head, p, y);
        for (size_t i = 0; i < fit->count; i++) {
            if (fit->use[i])
                continue;
            calibrated[i][0] = head.knot_count
                                   ? confidence_knots_value(head.knot_p, head.knot_y,
                                                            head.knot_count, fit->score[i])
                                   : 0.5;
            calibrated[i][1] = fit->samples[i].right;
            double off = calibrated[i][0] - calibrated[i][1];
            square += off * off;
        }
    }
    report->brier = square / (double)fit->count;
    report->calibration_error = confidence_ece(calibrated, fit->count, ECE_BINS);
    for (int plain = 0; plain < 2; plain++) {
        for (size_t i = 0; i < fit->count; i++) {
            const double *value = fit->samples[i].features.value;
            fit->pairs[i][0] = plain ? value[CONFIDENCE_MEAN_LOGPROB] : fit->score[i];
            fit->pairs[i][1] = fit->samples[i].right;
        }
        *(plain ? &report->auroc_plain : &report->auroc) = confidence_auroc(fit->pairs, fit->count);
    }
}

static enum td_status check_counts(const struct confidence_sample *samples, size_t count,
                                   struct td_error *err)
{
    double right = 0;
    for (size_t i = 0; i < count; i++)
        right += samples[i].right;
    if (count < CONFIDENCE_ANSWERS_MIN || right < CONFIDENCE_OUTCOME_MIN ||
        (double)count - right < CONFIDENCE_OUTCOME_MIN)
        return error_set(
            err, TD_INVALID,
            "%zu answers, %.0f of them right, are too few: at least %d, and %d of each "
            "outcome",
            count, right, CONFIDENCE_ANSWERS_MIN, CONFIDENCE_OUTCOME_MIN);
    return TD_OK;
}

enum td_status confidence_fit(const struct confidence_sample *samples, size_t count, uint64_t seed,
                              struct confidence_head *out, struct confidence_fit_report *report,
                              double *unseen, struct td_error *err)
{
    enum td_status status = check_counts(samples, count, err);
    if (status != TD_OK)
        return status;
    struct fit fit = {.samples = samples, .count = count, .seed = seed};
    double *numbers = calloc(count, 7 * sizeof *numbers);
    fit.use = calloc(count, sizeof *fit.use);
    if (numbers && fit.use) {
        double *p = numbers + count, *y = p + count;
        fit.score = numbers;
        fit.pairs = (double(*)[2])(y + count);
        score_folds(&fit);
        report_folds(&fit, p, y, (double(*)[2])(y + 3 * count), report);
        memset(fit.use, 1, count * sizeof *fit.use);
        fit_logistic(samples, fit.use, count, out);
        /* On scores of models that had not seen their samples: its own would be too sure. */
        fit_knots(&fit, out, p, y);
        if (unseen)
            memcpy(unseen, fit.score, count * sizeof *unseen);
    }
    if (!numbers || !fit.use || out->knot_count == 0)
        status = error_set(err, TD_NO_MEMORY, "no memory to fit %zu answers", count);
    free(numbers);
    free(fit.use);
    return status;
}
