#include "router/learn/confidence_fit.h"

#include "base/core/str.h"
#include "base/crypto/rng.h"
#include "test.h"

#include <math.h>

static bool near(double a, double b, double by)
{
    return fabs(a - b) <= by;
}

/* --- isotonic regression --- */

static void test_violators_are_pooled(void)
{
    /* By hand: 3 2 -> 2.5 2.5; 6 5 4 -> 5 5 5. */
    double p[] = {1, 2, 3, 4, 5, 6, 7}, y[] = {1, 3, 2, 6, 5, 4, 7};
    static const double wanted[] = {1, 2.5, 2.5, 5, 5, 5, 7};
    double knot_p[CONFIDENCE_KNOTS_MAX], knot_y[CONFIDENCE_KNOTS_MAX];
    size_t knots = confidence_isotonic(p, y, 7, knot_p, knot_y);
    for (size_t i = 0; i < 7; i++)
        CHECK(near(y[i], wanted[i], 1e-12));
    CHECK(knots == 6 && knot_p[1] == 2 && knot_p[2] == 3 && knot_y[2] == 2.5);
    CHECK(confidence_knots_value(knot_p, knot_y, knots, 0) == 1);
    CHECK(confidence_knots_value(knot_p, knot_y, knots, 9) == 7);
    CHECK(near(confidence_knots_value(knot_p, knot_y, knots, 3.5), 3.75, 1e-12));
}

static void test_equal_inputs_have_one_output(void)
{
    double p[] = {0.2, 0.5, 0.5, 0.5, 0.8}, y[] = {0, 0, 1, 1, 1};
    double knot_p[CONFIDENCE_KNOTS_MAX], knot_y[CONFIDENCE_KNOTS_MAX];
    size_t knots = confidence_isotonic(p, y, 5, knot_p, knot_y);
    CHECK(near(y[1], 2 / 3.0, 1e-12) && y[1] == y[2] && y[2] == y[3]);
    CHECK(knots == 3);
}

/* The definition: at each place the largest over begins of the smallest over ends of the means
 * (Barlow et al. 1972, "Statistical Inference under Order Restrictions", max-min formula). */
static double by_max_min(const double *y, size_t count, size_t at)
{
    double best = -INFINITY;
    for (size_t begin = 0; begin <= at; begin++) {
        double least = INFINITY;
        for (size_t end = at; end < count; end++) {
            double sum = 0;
            for (size_t i = begin; i <= end; i++)
                sum += y[i];
            least = fmin(least, sum / (double)(end - begin + 1));
        }
        best = fmax(best, least);
    }
    return best;
}

static void test_it_is_the_max_min_of_means_and_never_falls(void)
{
    struct rng rng;
    rng_init(&rng, 5);
    for (int round = 0; round < 50; round++) {
        double p[30], y[30], given[30];
        double knot_p[CONFIDENCE_KNOTS_MAX], knot_y[CONFIDENCE_KNOTS_MAX];
        for (size_t i = 0; i < 30; i++) {
            p[i] = (double)i;
            y[i] = given[i] = rng_double(&rng) + 0.01 * (double)i;
        }
        confidence_isotonic(p, y, 30, knot_p, knot_y);
        for (size_t i = 0; i < 30; i++)
            CHECK(near(y[i], by_max_min(given, 30, i), 1e-9));
    }
}

static void test_many_steps_become_few_knots_that_rise(void)
{
    static double p[5000], y[5000];
    double knot_p[CONFIDENCE_KNOTS_MAX], knot_y[CONFIDENCE_KNOTS_MAX], worst = 0;
    for (size_t i = 0; i < 5000; i++)
        p[i] = y[i] = (double)i / 5000; /* no violator: 5000 pools */
    size_t knots = confidence_isotonic(p, y, 5000, knot_p, knot_y);
    CHECK(knots > 20 && knots <= CONFIDENCE_KNOTS_MAX);
    for (size_t k = 1; k < knots; k++)
        CHECK(knot_p[k] >= knot_p[k - 1] && knot_y[k] >= knot_y[k - 1]);
    for (size_t i = 0; i < 5000; i++)
        worst = fmax(worst, fabs(confidence_knots_value(knot_p, knot_y, knots, p[i]) - y[i]));
    CHECK(worst < 0.05);
}

static void test_the_calibration_error_is_that_of_the_formula(void)
{
    double pairs[][2] = {{0.9, 1}, {0.1, 0}, {0.9, 0}, {0.1, 0}}; /* |0 - .2| / 4 + |1 - 1.8| / 4 */
    CHECK(near(confidence_ece(pairs, 4, 2), 0.25, 1e-12));
    CHECK(confidence_ece(pairs, 0, 15) == 0);
}

/* --- fitting --- */

/* Right with a probability that is a sigmoid of two features; the others are noise or constant. */
static double truth(const struct confidence_sample *sample)
{
    const double *value = sample->features.value;
    return 1 / (1 + exp(-(1 + 2 * value[CONFIDENCE_Q10_LOGPROB] + value[CONFIDENCE_MEAN_MARGIN])));
}

static void draw(struct rng *rng, uint32_t answer, struct confidence_sample *out)
{
    memset(out, 0, sizeof *out);
    out->answer = answer;
    for (size_t i = 0; i < CONFIDENCE_FEATURE_COUNT; i++) /* about normal: sum of 12 - 6 */
        for (int n = 0; n < 12; n++)
            out->features.value[i] += rng_double(rng) - 0.5;
    out->features.value[CONFIDENCE_ENDED] = 1;
    out->features.value[CONFIDENCE_PROBE] = 0;
    out->right = rng_double(rng) < truth(out);
}

static struct confidence_sample samples[4000];

static void fill(uint64_t seed, size_t count)
{
    struct rng rng;
    rng_init(&rng, seed);
    for (size_t i = 0; i < count; i++)
        draw(&rng, (uint32_t)i, &samples[i]);
}

static void test_a_fit_finds_the_features_that_tell_and_is_calibrated(void)
{
    static struct confidence_head head;
    struct confidence_fit_report report;
    struct td_error err = {0};
    fill(1, 3000);
    REQUIRE(confidence_fit(samples, 3000, 7, &head, &report, NULL, &err) == TD_OK);
    /* The best that can be is .84 here (measured with the truth as score over a million draws). */
    CHECK(report.auroc > 0.82 && report.calibration_error < 0.05 && report.brier < 0.17);
    CHECK(report.auroc_plain < 0.6); /* the mean is noise here */
    CHECK(near(head.weight[CONFIDENCE_Q10_LOGPROB] / head.scale[CONFIDENCE_Q10_LOGPROB], 2, 0.3));
    CHECK(near(head.weight[CONFIDENCE_MEAN_MARGIN] / head.scale[CONFIDENCE_MEAN_MARGIN], 1, 0.3));
    CHECK(near(head.weight[CONFIDENCE_LENGTH], 0, 0.2) && head.weight[CONFIDENCE_PROBE] == 0);
    static double pairs[4000][2]; /* and on answers that come later */
    fill(2, 4000);
    for (size_t i = 0; i < 4000; i++) {
        pairs[i][0] = confidence_head_value(&head, &samples[i].features);
        pairs[i][1] = samples[i].right;
        CHECK(pairs[i][0] >= 0 && pairs[i][0] <= 1);
    }
    CHECK(confidence_ece(pairs, 4000, 15) < 0.05);
}

static void test_labels_without_a_signal_give_the_base_rate(void)
{
    static struct confidence_head head;
    struct confidence_fit_report report;
    struct td_error err = {0};
    fill(3, 2000);
    struct rng rng;
    rng_init(&rng, 4);
    for (size_t i = 0; i < 2000; i++)
        samples[i].right = rng_double(&rng) < 0.3;
    REQUIRE(confidence_fit(samples, 2000, 7, &head, &report, NULL, &err) == TD_OK);
    CHECK(near(report.auroc, 0.5, 0.05) && report.calibration_error < 0.05);
}

static void test_too_few_answers_are_refused(void)
{
    static struct confidence_head head;
    struct confidence_fit_report report;
    struct td_error err = {0};
    fill(1, 200);
    CHECK(confidence_fit(samples, 40, 1, &head, &report, NULL, &err) == TD_INVALID);
    CHECK(strstr(err.message, "at least 50"));
    for (size_t i = 0; i < 200; i++)
        samples[i].right = i < 5;
    CHECK(confidence_fit(samples, 200, 1, &head, &report, NULL, NULL) == TD_INVALID);
}

static void test_extreme_features_break_nothing(void)
{
    static struct confidence_head head;
    struct confidence_fit_report report;
    struct td_error err = {0};
    fill(1, 400);
    for (size_t i = 0; i < 400; i++) { /* separable, far apart, and two features alike */
        samples[i].right = (double)(i % 2);
        samples[i].features.value[CONFIDENCE_MIN_LOGPROB] = i % 2 ? 0 : -50;
        samples[i].features.value[CONFIDENCE_Q05_LOGPROB] = i % 2 ? 0 : -50;
        samples[i].features.value[CONFIDENCE_MEAN_ENTROPY] = 1e5;
    }
    REQUIRE(confidence_fit(samples, 400, 1, &head, &report, NULL, &err) == TD_OK);
    CHECK(report.auroc == 1 && isfinite(head.bias));
    CHECK(confidence_head_value(&head, &samples[1].features) > 0.9);
    CHECK(confidence_head_value(&head, &samples[0].features) < 0.1);
}

/* --- files --- */

static void make_model(struct confidence_model *model)
{
    struct confidence_fit_report report;
    struct td_error err = {0};
    memset(model, 0, sizeof *model);
    fill(1, 300);
    CHECK(confidence_fit(samples, 300, 7, &model->whole, &report, NULL, &err) == TD_OK);
    model->running = model->whole;
    model->samples = 300;
    model->has_thresholds = true;
    model->threshold[0] = (double)INFINITY;
    model->threshold[1] = 0.75;
    model->threshold[2] = 0.5;
    model->binding = (struct confidence_binding){"nano", "Q8_0", "0123456789abcdef", "1", "2", "3"};
}

static void test_a_model_survives_its_file(void)
{
    static struct confidence_model one, two, three;
    struct td_error err = {0};
    struct buf text, again;
    make_model(&one);
    buf_init(&text, 1u << 20);
    buf_init(&again, 1u << 20);
    confidence_model_write(&one, &text);
    REQUIRE(!text.failed && confidence_model_read(buf_view(&text), &two, &err) == TD_OK);
    CHECK(!confidence_binding_difference(&one.binding, &two.binding) && two.samples == 300);
    CHECK(two.has_thresholds && isinf(two.threshold[0]));
    CHECK(two.threshold[1] == 0.75 && two.threshold[2] == 0.5);
    for (size_t i = 0; i < 100; i++)
        CHECK(near(confidence_head_value(&one.whole, &samples[i].features),
                   confidence_head_value(&two.whole, &samples[i].features), 1e-9));
    confidence_model_write(&two, &again);
    REQUIRE(confidence_model_read(buf_view(&again), &three, &err) == TD_OK);
    CHECK(strlen(two.digest) == 16 && strcmp(two.digest, three.digest) == 0);
    buf_deinit(&text);
    buf_deinit(&again);
}

static void test_one_without_thresholds_has_none(void)
{
    static struct confidence_model one, two;
    struct td_error err = {0};
    struct buf text;
    make_model(&one);
    one.has_thresholds = false;
    buf_init(&text, 1u << 20);
    confidence_model_write(&one, &text);
    REQUIRE(confidence_model_read(buf_view(&text), &two, &err) == TD_OK && !two.has_thresholds);
    buf_deinit(&text);
}

static void test_every_member_counts_in_the_digest_of_what_it_is_bound_to(void)
{
    struct confidence_binding a = {"nano", "Q8_0", "f", "w", "t", "k"}, b = a;
    char one[CONFIDENCE_DIGEST_BYTES], other[CONFIDENCE_DIGEST_BYTES];
    confidence_binding_digest(&a, one);
    confidence_binding_digest(&b, other);
    CHECK(strlen(one) == 16 && strcmp(one, other) == 0);
    char *const members[] = {b.model,   b.quantization, b.fingerprint,
                             b.weights, b.template,     b.tokenizer};
    for (size_t i = 0; i < sizeof members / sizeof *members; i++) {
        char kept = members[i][0];
        members[i][0] = '#';
        confidence_binding_digest(&b, other);
        CHECK(strcmp(one, other) != 0);
        members[i][0] = kept;
    }
    strcpy(a.fingerprint, "fw"); /* where one ends and the next begins counts, too */
    strcpy(a.weights, "");
    confidence_binding_digest(&a, one);
    confidence_binding_digest(&b, other);
    CHECK(strcmp(one, other) != 0);
}

static void test_what_it_is_bound_to_is_compared_member_by_member(void)
{
    struct confidence_binding a = {"nano", "Q8_0", "f", "w", "t", "k"}, b = a;
    CHECK(!confidence_binding_difference(&a, &b));
    strcpy(b.tokenizer, "x");
    CHECK(strcmp(confidence_binding_difference(&a, &b), "tokenizer") == 0);
    strcpy(b.template, "x");
    CHECK(strcmp(confidence_binding_difference(&a, &b), "template") == 0);
    strcpy(b.weights, "x");
    CHECK(strcmp(confidence_binding_difference(&a, &b), "weights") == 0);
    strcpy(b.quantization, "Q4_0");
    CHECK(strcmp(confidence_binding_difference(&a, &b), "quantization") == 0);
    strcpy(b.model, "other");
    CHECK(strcmp(confidence_binding_difference(&a, &b), "model") == 0);
}

/* The written text with `from` replaced. */
static bool refused(const char *from, const char *to, const char *word)
{
    static struct confidence_model model, read;
    struct td_error err = {0};
    struct buf text, broken;
    make_model(&model);
    buf_init(&text, 1u << 20);
    buf_init(&broken, 1u << 20);
    confidence_model_write(&model, &text);
    size_t at = str_find(buf_view(&text), str_from(from), 0);
    if (at == SIZE_MAX)
        return false;
    buf_append(&broken, text.data, at);
    buf_append_str(&broken, str_from(to));
    buf_append_str(&broken, str_slice(buf_view(&text), at + strlen(from), text.len));
    bool ok = confidence_model_read(buf_view(&broken), &read, &err) == TD_OK;
    if (!ok && !strstr(err.message, word))
        fprintf(stderr, "  says: %s\n", err.message);
    bool right = !ok && strstr(err.message, word);
    buf_deinit(&text);
    buf_deinit(&broken);
    return right;
}

static void test_broken_files_are_refused_with_the_member(void)
{
    CHECK(refused("\"tandem_confidence\":1", "\"tandem_confidence\":2", "version 2"));
    CHECK(refused("\"tandem_confidence\"", "\"other\"", "tandem_confidence"));
    CHECK(refused("\"quantization\":\"Q8_0\"", "\"quantization\":7", "bound.quantization"));
    CHECK(refused("\"samples\":300", "\"samples\":-1", "samples"));
    CHECK(refused("\"min_logprob\"", "\"max_logprob\"", "whole.features[0]"));
    CHECK(refused("\"scale\":", "\"scale\":0,\"x\":", "features[0]"));
    CHECK(refused("\"weight\":", "\"weight\":1e300,\"x\":", "features[0]"));
    CHECK(refused("\"bias\":", "\"bias\":null,\"x\":", "whole.bias"));
    CHECK(refused("\"knots\":[[", "\"knots\":[[1,1],[", "whole.knots[1]"));
    CHECK(refused("\"knots\":[[", "\"knots\":[[-1,0],[", "whole.knots[0]"));
    CHECK(refused("\"running\":", "\"walking\":", "running.bias"));
    CHECK(refused("\"thresholds\":[", "\"thresholds\":[{},", "thresholds has 4"));
    CHECK(refused("\"risk\":0.05", "\"risk\":0.06", "thresholds[1]"));
    CHECK(refused("\"threshold\":0.75", "\"threshold\":1.5", "thresholds[1]"));
    CHECK(refused("\"threshold\":0.5", "\"threshold\":null", "thresholds[2]"));
    CHECK(refused("\"threshold\":0.5", "\"threshold\":\"0.5\"", "thresholds[2]"));
}

int main(void)
{
    RUN(test_violators_are_pooled);
    RUN(test_equal_inputs_have_one_output);
    RUN(test_it_is_the_max_min_of_means_and_never_falls);
    RUN(test_many_steps_become_few_knots_that_rise);
    RUN(test_the_calibration_error_is_that_of_the_formula);
    RUN(test_a_fit_finds_the_features_that_tell_and_is_calibrated);
    RUN(test_labels_without_a_signal_give_the_base_rate);
    RUN(test_too_few_answers_are_refused);
    RUN(test_extreme_features_break_nothing);
    RUN(test_a_model_survives_its_file);
    RUN(test_one_without_thresholds_has_none);
    RUN(test_every_member_counts_in_the_digest_of_what_it_is_bound_to);
    RUN(test_what_it_is_bound_to_is_compared_member_by_member);
    RUN(test_broken_files_are_refused_with_the_member);
    return test_finish();
}
