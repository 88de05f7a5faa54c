/* Dividing, fitting, finding thresholds, measuring: each in its own step, on copies, so that
 * nothing of the held-out half can reach the fit. */
#include "router/learn/risk_fit.h"

#include "base/core/error.h"
#include "base/crypto/hash.h"
#include "base/ratio.h"
#include "router/learn/risk.h"

#include <math.h>
#include <stdlib.h>

/* Less than the confidence can be told from what it says. */
#define TIES_SHARE 0.02

struct work {
    uint64_t seed;
    struct confidence_sample *fit, *held; /* of whole answers */
    struct confidence_sample *running;    /* of the first half */
    size_t fit_count, held_count, running_count;
    double *unseen;            /* [fit_count] raw scores */
    struct risk_sample *risks; /* [fit_count] */
    double (*pairs)[2];        /* [held_count] confidence, right */
};

static bool is_held(const struct work *work, const struct confidence_sample *sample)
{
    return hash_mix64(~work->seed ^ hash_mix64(sample->answer)) & 1;
}

static enum td_status divide(struct work *work, const struct risk_fit_answers *answers,
                             struct td_error *err)
{
    size_t whole = answers->whole_count + 1;
    work->fit = calloc(whole, sizeof *work->fit);
    work->held = calloc(whole, sizeof *work->held);
    work->running = calloc(answers->running_count + 1, sizeof *work->running);
    work->unseen = calloc(whole, sizeof *work->unseen);
    work->risks = calloc(whole, sizeof *work->risks);
    work->pairs = calloc(whole, sizeof *work->pairs);
    if (!work->fit || !work->held || !work->running || !work->unseen || !work->risks ||
        !work->pairs)
        return error_set(err, TD_NO_MEMORY, "no memory to fit %zu answers", answers->whole_count);
    for (size_t i = 0; i < answers->whole_count; i++)
        if (is_held(work, &answers->whole[i]))
            work->held[work->held_count++] = answers->whole[i];
        else
            work->fit[work->fit_count++] = answers->whole[i];
    for (size_t i = 0; i < answers->running_count; i++)
        if (!is_held(work, &answers->running[i]))
            work->running[work->running_count++] = answers->running[i];
    return TD_OK;
}

/* Isotonic regression gives one value to all scores of a pool. A threshold could only keep all of
 * them or none, and would stay far from the asked risk. So a small part of the value is the score
 * itself: what is surer stays surer. */
static void break_ties(struct confidence_head *head)
{
    for (uint32_t i = 0; i < head->knot_count; i++)
        head->knot_y[i] = (1 - TIES_SHARE) * head->knot_y[i] + TIES_SHARE * head->knot_p[i];
    if (head->knot_count + 2 > CONFIDENCE_KNOTS_MAX)
        return;
    uint32_t last = head->knot_count++;
    head->knot_p[last] = 1;
    head->knot_y[last] = head->knot_y[last - 1] + TIES_SHARE * (1 - head->knot_p[last - 1]);
}

static void find_thresholds(struct work *work, struct confidence_model *out)
{
    for (size_t r = 0; r < CONFIDENCE_RISK_COUNT; r++) {
        struct risk_bar bar;
        for (size_t i = 0; i < work->fit_count; i++)
            work->risks[i] =
                (struct risk_sample){confidence_knots_value(out->whole.knot_p, out->whole.knot_y,
                                                            out->whole.knot_count, work->unseen[i]),
                                     1 - work->fit[i].right};
        risk_find_bar(work->risks, work->fit_count, confidence_risks[r], &bar);
        out->threshold[r] = bar.threshold;
    }
    out->has_thresholds = true;
}

/* --- a second signal --- */

static struct second_sample second_of(const struct confidence_sample *sample, double first)
{
    return (struct second_sample){first, sample->second, sample->right};
}

static void count_second(const struct second_sample *sample, const struct second_scale *scale,
                         struct risk_fit_line *line)
{
    bool asked = fabs(sample->first - line->threshold) <= RISK_FIT_BAND;
    double confidence =
        asked ? second_combine(scale, sample->first, sample->second) : sample->first;
    line->asked += asked;
    line->second_kept += confidence >= line->threshold;
    line->second_wrong += confidence >= line->threshold && sample->right < 0.5;
}

/* Its weights, on the first half with scores of the unseen folds; what it is worth, on the other.
 * The thresholds are those of the first signal, as gates use them. */
static bool fit_second(const struct work *work, struct confidence_model *out,
                       struct risk_fit_report *report)
{
    size_t count = work->fit_count + work->held_count;
    struct second_sample *samples = calloc(count + 1, sizeof *samples);
    if (!samples)
        return false;
    for (size_t i = 0; i < work->fit_count; i++)
        samples[i] = second_of(&work->fit[i],
                               confidence_knots_value(out->whole.knot_p, out->whole.knot_y,
                                                      out->whole.knot_count, work->unseen[i]));
    second_fit(samples, work->fit_count, &out->second);
    for (size_t i = 0; i < work->held_count; i++) {
        samples[i] =
            second_of(&work->held[i], confidence_head_value(&out->whole, &work->held[i].features));
        for (size_t r = 0; r < CONFIDENCE_RISK_COUNT; r++)
            count_second(&samples[i], &out->second, &report->lines[r]);
    }
    bool ok = second_measure(samples, work->held_count, &out->second, &report->second);
    if (!(report->second.auroc_both > report->second.auroc_first))
        out->second.second = 0; /* it orders new answers no better: nobody is to pay for it */
    free(samples);
    return ok;
}

static int by_confidence(const void *a, const void *b)
{
    double x = ((const double *)a)[0], y = ((const double *)b)[0];
    return (x > y) - (x < y);
}

static void measure_line(const struct work *work, double risk, double threshold,
                         struct risk_fit_line *out)
{
    *out = (struct risk_fit_line){.risk = risk, .threshold = threshold};
    for (size_t i = 0; i < work->held_count; i++) {
        bool kept = work->pairs[i][0] >= threshold;
        out->kept += kept;
        out->wrong += kept && work->pairs[i][1] < 0.5;
    }
    ratio_share_interval((double)out->kept, (double)work->held_count, &out->kept_low,
                         &out->kept_high);
    ratio_share_interval((double)out->wrong, (double)work->held_count, &out->wrong_low,
                         &out->wrong_high);
}

static void measure(struct work *work, const struct confidence_model *model,
                    struct risk_fit_report *report)
{
    for (size_t i = 0; i < work->held_count; i++) {
        work->pairs[i][0] = confidence_head_value(&model->whole, &work->held[i].features);
        work->pairs[i][1] = work->held[i].right;
        report->held_right += work->held[i].right >= 0.5;
    }
    report->held_count = work->held_count;
    for (size_t r = 0; r < CONFIDENCE_RISK_COUNT; r++)
        measure_line(work, confidence_risks[r], model->threshold[r], &report->lines[r]);
    qsort(work->pairs, work->held_count, sizeof *work->pairs, by_confidence);
    for (size_t b = 0; b < RISK_FIT_BINS; b++) {
        size_t begin = b * work->held_count / RISK_FIT_BINS;
        size_t end = (b + 1) * work->held_count / RISK_FIT_BINS;
        for (size_t i = begin; i < end; i++) {
            report->bins[b].said += work->pairs[i][0] / (double)(end - begin);
            report->bins[b].right += work->pairs[i][1] / (double)(end - begin);
        }
    }
}

enum td_status risk_fit(const struct risk_fit_answers *answers, uint64_t seed,
                        struct confidence_model *out, struct risk_fit_report *report,
                        struct td_error *err)
{
    struct work work = {.seed = seed};
    struct confidence_fit_report running;
    *report = (struct risk_fit_report){.count = answers->whole_count};
    for (size_t i = 0; i < answers->whole_count; i++)
        report->right += answers->whole[i].right >= 0.5;
    enum td_status status = divide(&work, answers, err);
    if (status == TD_OK)
        status = confidence_fit(work.fit, work.fit_count, seed, &out->whole, &report->fit,
                                work.unseen, err);
    if (status == TD_OK)
        status = confidence_fit(work.running, work.running_count, seed, &out->running, &running,
                                NULL, err);
    if (status == TD_OK) {
        out->samples = (uint32_t)work.fit_count;
        break_ties(&out->whole);
        break_ties(&out->running);
        find_thresholds(&work, out);
        measure(&work, out, report);
        if (out->second.by != SECOND_OFF && !fit_second(&work, out, report))
            status = error_set(err, TD_NO_MEMORY, "no memory for a second signal");
    }
    free(work.fit);
    free(work.held);
    free(work.running);
    free(work.unseen);
    free(work.risks);
    free(work.pairs);
    return status;
}
