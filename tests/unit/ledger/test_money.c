/* The report on money: what saves, what an accepted answer costs, and how tokens are counted. */
#include "ledger_fixture.h"

#include "base/ratio.h"

#include <stdlib.h>

static double number(const struct json *object, const char *key)
{
    return json_number(json_get(object, key), -1);
}

static void put(struct ledger *ledger, const char *id, enum answer_standing standing,
                const char *reasons)
{
    const struct ledger_attempt attempt = {.tier = "cloud",
                                           .model = "big",
                                           .place = "cloud",
                                           .outcome = ATTEMPT_ANSWERED,
                                           .confidence = NAN,
                                           .prompt_tokens = 30,
                                           .completion_tokens = 12,
                                           .cached_tokens = 3,
                                           .exact = true,
                                           .prompt_estimate = 20,
                                           .answer_bytes = 16};
    struct ledger_exchange x = fixture_exchange(id, 1000);
    x.standing = standing;
    x.all_cloud_basis = BASIS_RATIO;
    x.cost_usd = 1;
    x.all_cloud_cost_usd = 4;
    x.reasons_json = reasons;
    x.attempts = &attempt;
    x.attempt_count = 1;
    CHECK(ledger_put(ledger, &x, NULL) == TD_OK);
}

static void feed(struct ledger *ledger, const char *id, double score)
{
    const struct ledger_feedback feedback = {.exchange = id, .wall_ms = 2000, .score = score};
    CHECK(ledger_put_feedback(ledger, &feedback, NULL) == TD_OK);
}

static void shadow(struct ledger *ledger, const char *id, bool same)
{
    const struct ledger_shadow row = {.exchange = id,
                                      .wall_ms = 2000,
                                      .tier = "other",
                                      .agreement = same,
                                      .same = same,
                                      .kind = "text",
                                      .cost_usd = 0.5};
    CHECK(ledger_put_shadow(ledger, &row, NULL) == TD_OK);
}

static struct json *report_of(const char *path)
{
    struct ledger_reader *reader;
    struct json *report = NULL;
    if (ledger_reader_open(path, &reader, NULL) != TD_OK)
        return NULL;
    CHECK(ledger_reader_report(reader, 0, &report, NULL) == TD_OK);
    ledger_reader_close(reader);
    return report;
}

#define REVIEW "[{\"code\":\"review\",\"tier\":\"local\",\"text\":\"look\"}]"

static void test_only_whole_answers_save_and_everything_costs(void)
{
    const char *path = fixture_path("money.db");
    struct ledger *ledger;
    REQUIRE(ledger_open(path, &ledger, NULL) == TD_OK);
    put(ledger, "full", ANSWER_FULL, "[]");
    put(ledger, "poor", ANSWER_DEGRADED, "[]");
    put(ledger, "none", ANSWER_NONE, "[]");
    shadow(ledger, "full", true);
    ledger_close(ledger);
    struct json *report = report_of(path);
    CHECK(number(report, "answered") == 1 && number(report, "all_cloud_cost_usd") == 4);
    CHECK(number(report, "degraded") == 1 && number(report, "degraded_all_cloud_cost_usd") == 4);
    CHECK(number(report, "unanswered") == 1 && number(report, "unanswered_cost_usd") == 1);
    CHECK(number(report, "cost_usd") == 3 && number(report, "shadow_cost_usd") == 0.5);
    CHECK(number(report, "saving_usd") == 0.5 && number(report, "saving_share") == 0.125);
    CHECK(number(report, "saving_low") < 0.125 && number(report, "saving_high") > 0.125);
    const struct json *counts = json_at(json_get(report, "token_counts"), 0);
    CHECK(number(counts, "usages") == 3 && number(counts, "cached_share") == 0.1);
    CHECK(number(json_get(counts, "prompt"), "ratio") == 1.5);
    CHECK(number(json_get(counts, "answer"), "ratio") == 3);
    json_free(report);
}

/* --- intervals --- */

/* An answered exchange: what it cost, what the cloud would have, and how tokens were counted. */
struct priced {
    double paid, cloud;
    enum cost_basis basis;
    uint32_t prompt_estimate, prompt_tokens, answer_bytes, completion_tokens;
};

static const struct priced priced[] = {
    {0.2, 4, BASIS_RATIO, 100, 130, 400, 90}, {3.9, 4, BASIS_CLOUD, 50, 70, 40, 14},
    {0.0, 1, BASIS_RATIO, 10, 11, 80, 25},    {1.5, 2, BASIS_PRIOR, 400, 480, 1000, 300},
    {0.4, 9, BASIS_RATIO, 70, 95, 240, 66},   {2.5, 3, BASIS_RATIO, 20, 33, 120, 21},
};
enum { PRICED = sizeof priced / sizeof *priced };

/* Cochran 1977, 6.13, from the pairs themselves: the standard error of the ratio of the totals. */
static double error_of(const double x[static PRICED], const double y[static PRICED], double *ratio)
{
    double xs = 0, ys = 0, squares = 0;
    for (int i = 0; i < PRICED; i++) {
        xs += x[i];
        ys += y[i];
    }
    *ratio = ys / xs;
    for (int i = 0; i < PRICED; i++)
        squares += (y[i] - *ratio * x[i]) * (y[i] - *ratio * x[i]);
    return sqrt(squares * PRICED / (PRICED - 1)) / xs;
}

static bool near(double a, double b)
{
    return fabs(a - b) < 1e-9;
}

static void check_interval(const struct json *object, double ratio, double error)
{
    CHECK(near(number(object, "ratio"), ratio));
    CHECK(near(number(object, "low"), ratio - RATIO_Z95 * error));
    CHECK(near(number(object, "high"), ratio + RATIO_Z95 * error));
}

static const char *ledger_of_priced(void)
{
    const char *path = fixture_path("intervals.db");
    struct ledger *ledger = NULL;
    if (ledger_open(path, &ledger, NULL) != TD_OK)
        abort();
    for (int i = 0; i < PRICED; i++) {
        char id[16];
        const struct ledger_attempt attempt = {.tier = "cloud",
                                               .model = "big",
                                               .place = "cloud",
                                               .outcome = ATTEMPT_ANSWERED,
                                               .confidence = NAN,
                                               .exact = true,
                                               .prompt_estimate = priced[i].prompt_estimate,
                                               .prompt_tokens = priced[i].prompt_tokens,
                                               .answer_bytes = priced[i].answer_bytes,
                                               .completion_tokens = priced[i].completion_tokens};
        snprintf(id, sizeof id, "ex_%d", i);
        struct ledger_exchange x = fixture_exchange(id, 1000);
        x.standing = ANSWER_FULL;
        x.all_cloud_basis = priced[i].basis;
        x.cost_usd = priced[i].paid;
        x.all_cloud_cost_usd = priced[i].cloud;
        x.attempts = &attempt;
        x.attempt_count = 1;
        CHECK(ledger_put(ledger, &x, NULL) == TD_OK);
    }
    ledger_close(ledger);
    return path;
}

/* Every interval of the report, beside what the same formulas make of the pairs. */
static void test_the_intervals_are_those_of_the_pairs(void)
{
    double cloud[PRICED], paid[PRICED], estimate[PRICED], prompt[PRICED], bytes[PRICED],
        answer[PRICED], all = 0, by_ratio = 0, paid_share, prompt_ratio, answer_ratio;
    for (int i = 0; i < PRICED; i++) {
        cloud[i] = priced[i].cloud;
        paid[i] = priced[i].paid;
        estimate[i] = priced[i].prompt_estimate;
        prompt[i] = priced[i].prompt_tokens;
        bytes[i] = priced[i].answer_bytes / 4.0;
        answer[i] = priced[i].completion_tokens;
        all += cloud[i];
        by_ratio += priced[i].basis == BASIS_RATIO ? cloud[i] : 0;
    }
    double sampling = error_of(cloud, paid, &paid_share);
    double prompt_error = error_of(estimate, prompt, &prompt_ratio);
    double answer_error = error_of(bytes, answer, &answer_ratio);
    double worst = fmax(prompt_error / prompt_ratio, answer_error / answer_ratio);
    double error = hypot(sampling, paid_share * by_ratio / all * worst);
    struct json *report = report_of(ledger_of_priced());
    const struct json *counts = json_at(json_get(report, "token_counts"), 0);
    check_interval(json_get(counts, "prompt"), prompt_ratio, prompt_error);
    check_interval(json_get(counts, "answer"), answer_ratio, answer_error);
    CHECK(near(number(report, "saving_share"), 1 - paid_share));
    CHECK(near(number(report, "saving_low"), 1 - paid_share - RATIO_Z95 * error));
    CHECK(near(number(report, "saving_high"), fmin(1 - paid_share + RATIO_Z95 * error, 1)));
    json_free(report);
}

static void test_feedback_goes_before_review_and_review_before_shadows(void)
{
    const char *path = fixture_path("accepted.db");
    struct ledger *ledger;
    REQUIRE(ledger_open(path, &ledger, NULL) == TD_OK);
    put(ledger, "a", ANSWER_FULL, "[]"); /* nobody judged it */
    put(ledger, "b", ANSWER_FULL, REVIEW);
    feed(ledger, "b", 0);
    feed(ledger, "b", 1); /* the newest counts */
    shadow(ledger, "b", false);
    put(ledger, "c", ANSWER_FULL, REVIEW); /* still to be looked at */
    shadow(ledger, "c", true);
    put(ledger, "d", ANSWER_FULL, "[]");
    shadow(ledger, "d", true);
    put(ledger, "e", ANSWER_FULL, "[]");
    shadow(ledger, "e", false);
    ledger_close(ledger);
    struct json *report = report_of(path);
    const struct json *of = json_at(json_get(report, "accepted"), 0);
    CHECK(json_count(json_get(report, "accepted")) == 1);
    CHECK(number(of, "judged") == 4 && number(of, "accepted") == 2);
    CHECK(number(of, "by_feedback") == 1 && number(of, "by_review") == 1);
    CHECK(number(of, "by_shadow") == 2 && number(of, "cost_per_accepted_usd") == 2);
    CHECK(number(report, "cost_per_accepted_usd") == 2);
    json_free(report);
}

/* What is half right is right enough, and a tier without one accepted answer has no cost of one. */
static void test_the_cost_of_an_accepted_answer_has_its_bounds(void)
{
    static const struct {
        double score;    /* of feedback; negative: shadows say it */
        int same, other; /* of shadows */
        int accepted;
    } cases[] = {{0.5, 0, 0, 1}, {0.49, 0, 0, 0}, {1, 0, 0, 1},  {0, 0, 0, 0},
                 {-1, 1, 1, 1},  {-1, 1, 2, 0},   {-1, 2, 1, 1}, {0.4, 3, 0, 0}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char name[32];
        struct ledger *ledger;
        snprintf(name, sizeof name, "accepted%zu.db", i);
        REQUIRE(ledger_open(fixture_path(name), &ledger, NULL) == TD_OK);
        put(ledger, "a", ANSWER_FULL, "[]");
        if (cases[i].score >= 0)
            feed(ledger, "a", cases[i].score);
        for (int k = 0; k < cases[i].same + cases[i].other; k++)
            shadow(ledger, "a", k < cases[i].same);
        ledger_close(ledger);
        struct json *report = report_of(fixture_path(name));
        const struct json *of = json_at(json_get(report, "accepted"), 0);
        REQUIRE(json_count(json_get(report, "accepted")) == 1);
        CHECK(number(of, "judged") == 1 && number(of, "accepted") == cases[i].accepted);
        CHECK(number(of, "share") == cases[i].accepted && number(of, "cost_usd") == 1);
        double low, high;
        ratio_share_interval(cases[i].accepted, 1, &low, &high);
        CHECK(number(of, "share_low") == low && number(of, "share_high") == high);
        CHECK(fabs(number(of, "cost_per_accepted_low") - 1 / high) < 1e-12);
        if (cases[i].accepted) {
            CHECK(number(of, "cost_per_accepted_usd") == 1);
            CHECK(fabs(number(of, "cost_per_accepted_high") - 1 / low) < 1e-12);
            CHECK(number(report, "cost_per_accepted_usd") == 1);
        } else {
            CHECK(json_kind_of(json_get(of, "cost_per_accepted_usd")) == JSON_KIND_NULL);
            CHECK(json_kind_of(json_get(of, "cost_per_accepted_high")) == JSON_KIND_NULL);
            CHECK(json_kind_of(json_get(report, "cost_per_accepted_usd")) == JSON_KIND_NULL);
        }
        json_free(report);
    }
}

/* A time means what was at it and after; without anything, all sums are there and nothing. */
static void test_a_report_since_a_time_begins_with_that_millisecond(void)
{
    static const struct {
        uint64_t since_ms;
        int answered, judged, unanswered;
    } cases[] = {{999, 1, 2, 1}, {1000, 1, 2, 1}, {1001, 0, 0, 0}};
    static const char *const sums[] = {"all_cloud_cost_usd", "degraded_cost_usd",
                                       "degraded_all_cloud_cost_usd", "unanswered_cost_usd"};
    struct ledger *ledger;
    struct ledger_reader *reader;
    REQUIRE(ledger_open(fixture_path("since.db"), &ledger, NULL) == TD_OK);
    put(ledger, "a", ANSWER_FULL, "[]");
    put(ledger, "b", ANSWER_NONE, "[]");
    feed(ledger, "a", 1);
    feed(ledger, "b", 0);
    ledger_close(ledger);
    REQUIRE(ledger_reader_open(fixture_path("since.db"), &reader, NULL) == TD_OK);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct json *report = NULL;
        REQUIRE(ledger_reader_report(reader, cases[i].since_ms, &report, NULL) == TD_OK);
        CHECK(number(report, "answered") == cases[i].answered);
        CHECK(number(report, "unanswered") == cases[i].unanswered);
        CHECK(number(report, "degraded") == 0);
        const struct json *of = json_at(json_get(report, "accepted"), 0);
        CHECK(json_count(json_get(report, "accepted")) == (cases[i].judged > 0));
        CHECK(cases[i].judged == 0 || number(of, "judged") == cases[i].judged);
        CHECK(json_count(json_get(report, "token_counts")) == (cases[i].answered > 0));
        for (size_t k = 0; k < 4; k++)
            CHECK(number(report, sums[k]) >= 0);
        if (cases[i].answered == 0) {
            CHECK(number(report, "saving_usd") == 0 && number(report, "saving_share") == 0);
            CHECK(number(report, "exchanges") == 0 && number(report, "cost_usd") == 0);
        }
        json_free(report);
    }
    ledger_reader_close(reader);
}

static void count_tokens(void *ctx, const struct ledger_tokens *tokens)
{
    double *sum = ctx;
    CHECK(strcmp(tokens->tier, "cloud") == 0 && strcmp(tokens->model, "big") == 0);
    *sum += tokens->count;
}

static void test_a_new_process_reads_what_was_told(void)
{
    const char *path = fixture_path("tokens.db");
    struct ledger *ledger;
    struct ledger_reader *reader;
    double count = 0;
    REQUIRE(ledger_open(path, &ledger, NULL) == TD_OK);
    put(ledger, "a", ANSWER_FULL, "[]");
    put(ledger, "b", ANSWER_NONE, "[]");
    ledger_close(ledger);
    REQUIRE(ledger_reader_open(path, &reader, NULL) == TD_OK);
    CHECK(ledger_reader_tokens(reader, count_tokens, &count, NULL) == TD_OK && count == 2);
    ledger_reader_close(reader);
}

int main(void)
{
    fixture_begin();
    RUN(test_only_whole_answers_save_and_everything_costs);
    RUN(test_the_intervals_are_those_of_the_pairs);
    RUN(test_feedback_goes_before_review_and_review_before_shadows);
    RUN(test_the_cost_of_an_accepted_answer_has_its_bounds);
    RUN(test_a_report_since_a_time_begins_with_that_millisecond);
    RUN(test_a_new_process_reads_what_was_told);
    fixture_end();
    return test_finish();
}
