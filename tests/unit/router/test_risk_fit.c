#include "router/learn/risk_fit.h"

#include "base/crypto/rng.h"
#include "test.h"

#include <math.h>

#define MANY 24000

/* One feature tells how likely the answer is right; the others are noise. */
static void draw(struct rng *rng, uint32_t answer, double base, struct confidence_sample *out)
{
    memset(out, 0, sizeof *out);
    out->answer = answer;
    for (size_t i = 0; i < CONFIDENCE_FEATURE_COUNT; i++)
        out->features.value[i] = 2 * rng_double(rng) - 1;
    double p = 1 / (1 + exp(-(base + 5 * out->features.value[CONFIDENCE_MEAN_LOGPROB])));
    out->right = rng_double(rng) < p;
}

static struct confidence_sample samples[MANY];

static enum td_status fit(size_t count, double base, uint64_t seed, struct confidence_model *model,
                          struct risk_fit_report *report)
{
    struct rng rng;
    struct td_error err = {0};
    rng_init(&rng, seed);
    for (size_t i = 0; i < count; i++)
        draw(&rng, (uint32_t)i, base, &samples[i]);
    memset(model, 0, sizeof *model);
    return risk_fit(&(struct risk_fit_answers){samples, count, samples, count}, seed, model, report,
                    &err);
}

static void test_the_risk_taken_is_the_one_that_was_asked(void)
{
    static struct confidence_model model;
    struct risk_fit_report report;
    REQUIRE(fit(MANY, -0.5, 3, &model, &report) == TD_OK);
    CHECK(report.count == MANY && report.held_count > MANY * 0.48 &&
          report.held_count < MANY * 0.52);
    CHECK(model.samples == MANY - report.held_count && model.has_thresholds);
    for (size_t i = 0; i < CONFIDENCE_RISK_COUNT; i++) {
        const struct risk_fit_line *line = &report.lines[i];
        double held = (double)report.held_count, taken = (double)line->wrong / held;
        CHECK(line->risk == confidence_risks[i] && line->threshold == model.threshold[i]);
        CHECK(fabs(taken - line->risk) < 0.01);
        CHECK(line->wrong_low < taken && taken < line->wrong_high);
        CHECK(line->kept_low < (double)line->kept / held &&
              (double)line->kept / held < line->kept_high);
        CHECK(i == 0 || (line->threshold < report.lines[i - 1].threshold &&
                         line->kept > report.lines[i - 1].kept));
    }
    for (size_t b = 0; b < RISK_FIT_BINS; b++)
        CHECK(fabs(report.bins[b].said - report.bins[b].right) < 0.05);
}

/* As few as come with the program: the mean over many divisions holds what one cannot. */
static void test_few_answers_hold_the_risk_in_the_mean(void)
{
    static struct confidence_model model;
    double sum[CONFIDENCE_RISK_COUNT] = {0};
    for (uint64_t seed = 1; seed <= 40; seed++) {
        struct risk_fit_report report;
        REQUIRE(fit(1100, -0.5, seed, &model, &report) == TD_OK);
        for (size_t i = 0; i < CONFIDENCE_RISK_COUNT; i++)
            sum[i] += (double)report.lines[i].wrong / (double)report.held_count / 40;
    }
    for (size_t i = 0; i < CONFIDENCE_RISK_COUNT; i++)
        CHECK(fabs(sum[i] - confidence_risks[i]) < 0.01);
}

static void test_what_cannot_be_reached_keeps_nothing(void)
{
    static struct confidence_model model;
    struct risk_fit_report report;
    struct rng rng;
    struct td_error err = {0};
    rng_init(&rng, 9);
    for (size_t i = 0; i < 400; i++) { /* nothing tells, and half is wrong */
        draw(&rng, (uint32_t)i, 0, &samples[i]);
        memset(samples[i].features.value, 0, sizeof samples[i].features.value);
    }
    REQUIRE(risk_fit(&(struct risk_fit_answers){samples, 400, samples, 400}, 1, &model, &report,
                     &err) == TD_OK);
    for (size_t i = 0; i < CONFIDENCE_RISK_COUNT; i++)
        CHECK((double)report.lines[i].wrong / (double)report.held_count <
              confidence_risks[i] + 0.06);
    CHECK(isinf(report.lines[0].threshold) && report.lines[0].kept == 0);
}

static void test_too_few_of_one_outcome_are_refused(void)
{
    static struct confidence_model model;
    struct risk_fit_report report;
    CHECK(fit(60, 0, 1, &model, &report) == TD_INVALID);
    CHECK(fit(400, 40, 1, &model, &report) == TD_INVALID && report.right == 400);
    CHECK(fit(400, -40, 1, &model, &report) == TD_INVALID && report.right == 0);
}

/* Isotonic regression alone gives one value to many scores. */
static void test_what_is_surer_stays_surer(void)
{
    static struct confidence_model model;
    struct risk_fit_report report;
    REQUIRE(fit(2000, -0.5, 5, &model, &report) == TD_OK);
    for (uint32_t i = 1; i < model.whole.knot_count; i++)
        CHECK(model.whole.knot_p[i] <= model.whole.knot_p[i - 1] ||
              model.whole.knot_y[i] > model.whole.knot_y[i - 1]);
    CHECK(model.whole.knot_count <= CONFIDENCE_KNOTS_MAX);
}

int main(void)
{
    RUN(test_the_risk_taken_is_the_one_that_was_asked);
    RUN(test_few_answers_hold_the_risk_in_the_mean);
    RUN(test_what_cannot_be_reached_keeps_nothing);
    RUN(test_too_few_of_one_outcome_are_refused);
    RUN(test_what_is_surer_stays_surer);
    return test_finish();
}
