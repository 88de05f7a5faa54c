#include "exchange/limits/confidence.h"

#include "test.h"

#include <math.h>
#include <string.h>

static struct confidence confidence_of(const double *probabilities, size_t count, double not_mine)
{
    struct confidence confidence;
    confidence_init(&confidence, 0, 0);
    for (size_t i = 0; i < count; i++) {
        struct td_token_stats stats = {.logprob = (float)log(probabilities[i]),
                                       .not_mine = (float)(i == 0 ? not_mine : 0.9)};
        confidence_add(&confidence, &stats);
    }
    return confidence;
}

static bool near(double a, double b)
{
    return fabs(a - b) < 1e-6;
}

static void test_no_token_no_confidence(void)
{
    struct confidence confidence;
    confidence_init(&confidence, 0, 0);
    CHECK(isnan(confidence_value(&confidence)));
}

static void test_the_lowest_quarter_decides(void)
{
    static const double p[] = {0.9, 0.2, 0.8, 0.4, 0.95, 0.99, 0.99, 0.99};
    struct confidence confidence = confidence_of(p, 8, 0);
    CHECK(near(confidence_value(&confidence), sqrt(0.2 * 0.4)));
    confidence = confidence_of(p, 7, 0); /* a quarter of seven is one */
    CHECK(near(confidence_value(&confidence), 0.2));
    confidence = confidence_of(p, 1, 0);
    CHECK(near(confidence_value(&confidence), 0.9));
}

static void test_only_the_first_tokens_not_mine_counts(void)
{
    static const double p[] = {0.5, 0.5};
    struct confidence confidence = confidence_of(p, 2, 0.3);
    CHECK(near(confidence_value(&confidence), 0.7 * 0.5));
}

static void test_an_impossible_token_gives_zero(void)
{
    static const double p[] = {0.0, 1.0};
    struct confidence confidence = confidence_of(p, 2, 0);
    CHECK(confidence_value(&confidence) == 0);
}

static void test_numbers_that_are_no_logprobs_never_raise_it(void)
{
    static const float bad[] = {NAN, INFINITY, 3, -INFINITY};
    for (size_t i = 0; i < 4; i++) {
        struct confidence confidence;
        confidence_init(&confidence, 0, 0);
        struct td_token_stats stats = {
            .logprob = bad[i], .not_mine = NAN, .margin = NAN, .entropy = NAN};
        confidence_add(&confidence, &stats);
        CHECK(confidence_value(&confidence) == 0);
    }
}

static void test_more_tokens_than_fit_are_safe(void)
{
    struct confidence confidence;
    confidence_init(&confidence, 0, 0);
    struct td_token_stats stats = {.logprob = (float)log(0.5), .margin = 0.25f, .entropy = 1};
    for (int i = 0; i < 4 * CONFIDENCE_TOKENS_MAX; i++)
        confidence_add(&confidence, &stats);
    CHECK(confidence.count == CONFIDENCE_TOKENS_MAX && near(confidence_value(&confidence), 0.5));
    CHECK(near(confidence.margin_min, 0.25) &&
          near(confidence.entropy_sum, 4.0 * CONFIDENCE_TOKENS_MAX));
    confidence_deinit(&confidence);
}

static void test_a_calibration_scales_and_moves_the_log_odds(void)
{
    struct td_token_stats stats = {.logprob = (float)log(0.8)};
    struct confidence confidence;
    confidence_init(&confidence, 2, 0.5);
    confidence_add(&confidence, &stats);
    CHECK(near(confidence_value(&confidence), 1 / (1 + exp(-(log(4) / 2 + 0.5)))));
    confidence_init(&confidence, 2, 50); /* what is impossible stays so */
    stats.logprob = -INFINITY;
    confidence_add(&confidence, &stats);
    CHECK(confidence_value(&confidence) == 0);
    confidence_init(&confidence, 0.01, 0); /* a sure answer has no infinite log-odds */
    stats.logprob = 0;
    confidence_add(&confidence, &stats);
    CHECK(confidence_value(&confidence) == 1);
}

/* The grammar forces what a model would hardly have written; it says nothing of the call. */
static void test_of_a_call_only_what_was_chosen_counts(void)
{
    static const struct {
        double p;
        uint32_t forced;
    } tokens[] = {{0.9, 0}, {1e-6, 1}, {0.8, 0}, {1e-9, 1}, {0.95, 0}};
    struct confidence c;
    confidence_init(&c, 2, 0);
    c.call = (struct confidence_scale){1, 0.5};
    for (size_t i = 0; i < sizeof tokens / sizeof *tokens; i++) {
        struct td_token_stats stats = {.logprob = (float)log(tokens[i].p),
                                       .not_mine = i == 0 ? 0.25f : 0,
                                       .forced = tokens[i].forced};
        confidence_add_call(&c);
        confidence_add(&c, &stats);
    }
    CHECK(c.count == 3 && confidence_kind(&c) == CONFIDENCE_CALL);
    CHECK(near(confidence_value(&c), 1 / (1 + exp(-(log(0.6 / 0.4) + 0.5)))));
    confidence_end(&c, true);
    CHECK(strcmp(confidence_kind_name(confidence_kind(&c)), "call") == 0);
    struct td_token_stats forced = {.logprob = -9, .forced = 1}; /* in an answer it counts */
    confidence_init(&c, 0, 0);
    confidence_add(&c, &forced);
    CHECK(near(confidence_value(&c), exp(-9)));
    confidence_init(&c, 0, 0); /* a call of nothing but forced tokens is not judged */
    confidence_add_call(&c);
    confidence_add(&c, &forced);
    CHECK(isnan(confidence_value(&c)));
}

static void test_a_label_is_one_token_and_its_end_and_has_its_own_calibration(void)
{
    struct td_token_stats stats = {.logprob = (float)log(0.8)};
    struct confidence c;
    confidence_init(&c, 2, 0);
    c.label = (struct confidence_scale){1, 1};
    confidence_add(&c, &stats);
    CHECK(confidence_kind(&c) == CONFIDENCE_ANSWER); /* more may come */
    confidence_add(&c, &stats);
    confidence_end(&c, true);
    CHECK(confidence_kind(&c) == CONFIDENCE_LABEL);
    CHECK(near(confidence_value(&c), 1 / (1 + exp(-(log(4) + 1)))));
    confidence_end(&c, false); /* cut after two tokens */
    CHECK(confidence_kind(&c) == CONFIDENCE_ANSWER);
    CHECK(near(confidence_value(&c), 1 / (1 + exp(-log(4) / 2))));
}

static void test_features_are_what_their_names_say(void)
{
    struct confidence c;
    struct confidence_features features;
    const double *value = features.value;
    confidence_init(&c, 0, 0);
    for (int i = 0; i < 20; i++) { /* 20 log-probabilities: -1, -2, ... -20 */
        struct td_token_stats stats = {.logprob = (float)-(i + 1),
                                       .margin = (float)(0.5 - i * 0.02),
                                       .entropy = 2,
                                       .not_mine = i == 0 ? 0.25f : 0,
                                       .probe = i == 0 ? 0.8f : 0};
        confidence_add(&c, &stats);
    }
    confidence_features(&c, &features);
    CHECK(near(value[CONFIDENCE_MIN_LOGPROB], -20) && near(value[CONFIDENCE_Q05_LOGPROB], -20));
    CHECK(near(value[CONFIDENCE_Q10_LOGPROB], -19) && near(value[CONFIDENCE_Q25_LOGPROB], -16));
    CHECK(near(value[CONFIDENCE_MEAN_LOGPROB], -10.5) && near(value[CONFIDENCE_FIRST_LOGPROB], -1));
    CHECK(near(value[CONFIDENCE_MEAN_MARGIN], 0.31) && near(value[CONFIDENCE_MIN_MARGIN], 0.12));
    CHECK(near(value[CONFIDENCE_MEAN_ENTROPY], 2) && near(value[CONFIDENCE_LENGTH], log(21)));
    CHECK(near(value[CONFIDENCE_MINE], log(0.75)) && near(value[CONFIDENCE_PROBE], log(4)));
    CHECK(value[CONFIDENCE_ENDED] == 0);
    confidence_end(&c, true);
    confidence_features(&c, &features);
    CHECK(value[CONFIDENCE_ENDED] == 1);
    confidence_deinit(&c);
}

static void test_features_of_broken_numbers_are_finite(void)
{
    static const float bad[] = {NAN, INFINITY, -INFINITY, 1e30f, -1e30f};
    struct confidence c;
    struct confidence_features features;
    for (size_t i = 0; i < 5; i++) {
        struct td_token_stats stats = {bad[i], bad[i], bad[i], bad[i], bad[i], 0};
        confidence_init(&c, 0, 0);
        confidence_add(&c, &stats);
        confidence_features(&c, &features);
        for (size_t f = 0; f < CONFIDENCE_FEATURE_COUNT; f++)
            CHECK(isfinite(features.value[f]));
    }
}

static void test_a_model_takes_the_rules_place_with_a_head_for_running_answers(void)
{
    static struct confidence_model model;
    static const double p[] = {0.5, 0.5};
    struct confidence c = confidence_of(p, 2, 0);
    for (size_t i = 0; i < CONFIDENCE_FEATURE_COUNT; i++)
        model.whole.scale[i] = model.running.scale[i] = 1;
    model.whole.weight[CONFIDENCE_MEAN_LOGPROB] = 1; /* sigma(log .5) = 1 / 3 */
    model.whole.knot_count = model.running.knot_count = 2;
    model.whole.knot_p[1] = model.whole.knot_y[1] = 1;
    model.running.knot_p[1] = 1;
    model.running.knot_y[0] = model.running.knot_y[1] = 0.125;
    c.model = &model;
    CHECK(near(confidence_value(&c), 0.125));
    confidence_end(&c, true);
    CHECK(near(confidence_value(&c), 1 / 3.0));
    struct confidence none;
    confidence_init(&none, 0, 0);
    none.model = &model;
    CHECK(isnan(confidence_value(&none)));
}

int main(void)
{
    RUN(test_no_token_no_confidence);
    RUN(test_the_lowest_quarter_decides);
    RUN(test_only_the_first_tokens_not_mine_counts);
    RUN(test_an_impossible_token_gives_zero);
    RUN(test_numbers_that_are_no_logprobs_never_raise_it);
    RUN(test_more_tokens_than_fit_are_safe);
    RUN(test_a_calibration_scales_and_moves_the_log_odds);
    RUN(test_of_a_call_only_what_was_chosen_counts);
    RUN(test_a_label_is_one_token_and_its_end_and_has_its_own_calibration);
    RUN(test_features_are_what_their_names_say);
    RUN(test_features_of_broken_numbers_are_finite);
    RUN(test_a_model_takes_the_rules_place_with_a_head_for_running_answers);
    return test_finish();
}
