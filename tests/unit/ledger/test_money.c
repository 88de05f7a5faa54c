/* The report on money: what saves, what an accepted answer costs, and how tokens are counted. */
#include "ledger_fixture.h"

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
    RUN(test_feedback_goes_before_review_and_review_before_shadows);
    RUN(test_a_new_process_reads_what_was_told);
    fixture_end();
    return test_finish();
}
