/* Every number of a report is the one that its name says: each has a value of its own here, so that
 * no two can be exchanged. */
#include "base/core/str.h"
#include "base/ratio.h"
#include "ledger_fixture.h"

#define DAY_MS 86400000ull
#define EARLIER(by, result, given_up, usd)                               \
    "{\"decision\":{\"earlier\":{\"by\":\"" by "\",\"result\":\"" result \
    "\",\"given_up\":" given_up ",\"usd\":" usd "}}}"

static const struct ledger_attempt kept[] = {
    {.tier = "local", .place = "device", .outcome = ATTEMPT_ANSWERED, .confidence = 0.5}};
static const struct ledger_attempt climbed[] = {
    {.tier = "local", .place = "device", .outcome = ATTEMPT_ESCALATED, .confidence = 0.25},
    {.tier = "cloud",
     .place = "cloud",
     .outcome = ATTEMPT_ANSWERED,
     .confidence = NAN,
     .cost_usd = 0.25,
     .exact = true,
     .model = "big",
     .prompt_estimate = 20,
     .prompt_tokens = 30,
     .cached_tokens = 6,
     .answer_bytes = 16,
     .completion_tokens = 12,
     .estimated = true}};
static const struct ledger_attempt guessed[] = {{.tier = "cloud",
                                                 .place = "cloud",
                                                 .outcome = ATTEMPT_FAILED,
                                                 .confidence = NAN,
                                                 .cost_usd = 0.5,
                                                 .estimated = true},
                                                {.tier = "cloud",
                                                 .place = "cloud",
                                                 .outcome = ATTEMPT_ANSWERED,
                                                 .confidence = NAN,
                                                 .cost_usd = 7,
                                                 .estimated = false}};

static const struct {
    uint64_t wall_ms;
    const char *tier;
    enum answer_standing standing;
    enum cost_basis basis;
    double cost_usd, cloud_usd, score; /* negative: nobody said anything */
    uint32_t prompt_tokens, completion_tokens;
    double ttft_ms, total_ms;
    const char *reasons, *signals;
    const struct ledger_attempt *attempts;
    size_t attempt_count;
} told[] = {
    {1000, "local", ANSWER_FULL, BASIS_RATIO, 1, 16, 0.25, 10, 100, 3, 30, "[]",
     EARLIER("similar", "moved", "0", "0"), kept, 1},
    {DAY_MS - 1, "local", ANSWER_FULL, BASIS_CLOUD, 2, 32, 0.75, 20, 200, 5, 50, "[]",
     EARLIER("similar", "kept", "0.5", "0.125"), kept, 1},
    {DAY_MS, "cloud", ANSWER_FULL, BASIS_RATIO, 4, 64, -1, 1, 7, NAN, 60, "[{\"code\":\"review\"}]",
     EARLIER("similar", "barred", "0", "0"), climbed, 2},
    {DAY_MS + 1, "cloud", ANSWER_DEGRADED, BASIS_PRIOR, 8, 128, -1, 2, 8, 9, 70, "[]",
     EARLIER("conversation", "kept", "0.25", "1.5"), guessed, 2},
    {DAY_MS + 2, "cloud", ANSWER_NONE, BASIS_CLOUD, 32, 256, -1, 4, 9, NAN, 80, "[]",
     EARLIER("conversation", "barred", "0", "0"), NULL, 0},
    {DAY_MS + 3, NULL, ANSWER_NONE, BASIS_NONE, 64, 0, -1, 0, 0, NAN, NAN, "[]",
     EARLIER("conversation", "same", "0", "0"), NULL, 0},
};
enum { TOLD = sizeof told / sizeof *told };

static void tell(struct ledger *ledger)
{
    for (size_t i = 0; i < TOLD; i++) {
        char id[16];
        snprintf(id, sizeof id, "ex_%zu", i);
        struct ledger_exchange x = fixture_exchange(id, told[i].wall_ms);
        x.tier = told[i].tier;
        x.standing = told[i].standing;
        x.status = told[i].standing == ANSWER_NONE ? ENDED_FAILED : ENDED_OK;
        x.all_cloud_basis = told[i].basis;
        x.cost_usd = told[i].cost_usd;
        x.all_cloud_cost_usd = told[i].cloud_usd;
        x.prompt_tokens = told[i].prompt_tokens;
        x.completion_tokens = told[i].completion_tokens;
        x.ttft_ms = told[i].ttft_ms;
        x.total_ms = told[i].total_ms;
        x.reasons_json = told[i].reasons;
        x.signals_json = told[i].signals;
        x.attempts = told[i].attempts;
        x.attempt_count = told[i].attempt_count;
        CHECK(ledger_put(ledger, &x, NULL) == TD_OK);
        const struct ledger_feedback said = {id, 9, told[i].score, NULL};
        CHECK(told[i].score < 0 || ledger_put_feedback(ledger, &said, NULL) == TD_OK);
    }
    static const struct ledger_shadow shadows[] = {{.exchange = "ex_0",
                                                    .tier = "cloud",
                                                    .agreement = 0.75,
                                                    .same = true,
                                                    .kind = "text",
                                                    .total_ms = 40,
                                                    .cost_usd = 0.125},
                                                   {.exchange = "ex_1",
                                                    .tier = "cloud",
                                                    .agreement = 0.25,
                                                    .kind = "text",
                                                    .total_ms = 60,
                                                    .cost_usd = 0.25},
                                                   {.exchange = "ex_1",
                                                    .tier = "cloud",
                                                    .agreement = NAN,
                                                    .kind = "text",
                                                    .total_ms = 900,
                                                    .cost_usd = 0.5}};
    for (size_t i = 0; i < sizeof shadows / sizeof *shadows; i++)
        CHECK(ledger_put_shadow(ledger, &shadows[i], NULL) == TD_OK);
    const struct ledger_reaction went = {"ex_0", 9, REACTION_EDITED};
    CHECK(ledger_put_reaction(ledger, &went, NULL) == TD_OK);
}

/* The value at a path, such as "tiers.0.cost_usd". */
static const struct json *at(const struct json *value, const char *path)
{
    struct td_str rest = str_from(path), part;
    while (str_next(&rest, '.', &part)) {
        char key[64];
        uint64_t index;
        snprintf(key, sizeof key, STR_FMT, STR_ARG(part));
        value = str_to_u64(part, &index) ? json_at(value, index) : json_get(value, key);
    }
    return value;
}

/* An expected number; NAN: null. */
struct expected {
    const char *path;
    double value;
};

static void check_numbers(const struct json *report, const struct expected *expected, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        const struct json *value = at(report, expected[i].path);
        bool right = isnan(expected[i].value)
                         ? value && json_kind_of(value) == JSON_KIND_NULL
                         : fabs(json_number(value, NAN) - expected[i].value) < 1e-9;
        if (!right)
            printf("%s: not %g but %g\n", expected[i].path, expected[i].value,
                   json_number(value, NAN));
        CHECK(right);
    }
}

/* The report since a time, of the exchanges above. */
static struct json *report_since(const char *name, uint64_t since_ms)
{
    struct ledger *ledger = NULL;
    struct ledger_reader *reader = NULL;
    struct json *report = NULL;
    if (ledger_open(fixture_path(name), &ledger, NULL) != TD_OK)
        abort();
    tell(ledger);
    ledger_close(ledger);
    if (ledger_reader_open(fixture_path(name), &reader, NULL) != TD_OK)
        abort();
    CHECK(ledger_reader_report(reader, since_ms, &report, NULL) == TD_OK);
    ledger_reader_close(reader);
    return report;
}

static void test_every_number_is_the_one_that_its_name_says(void)
{
    double local_low, local_high;
    ratio_share_interval(2, TOLD, &local_low, &local_high);
    const struct expected expected[] = {
        {"exchanges", 6},
        {"cost_usd", 111},
        {"escalations", 1},
        {"failures", 2},
        {"feedback", 2},
        {"score", 0.5},
        {"answered", 3},
        {"all_cloud_cost_usd", 112},
        {"degraded", 1},
        {"degraded_cost_usd", 8},
        {"degraded_all_cloud_cost_usd", 128},
        {"unanswered", 2},
        {"unanswered_cost_usd", 96},
        {"shadow_cost_usd", 0.875},
        {"saving_usd", 112 - 111 - 0.875},
        {"saving_share", (112 - 111 - 0.875) / 112},
        {"estimated_attempts", 2},
        {"estimated_cost_usd", 0.75},
        {"all_cloud_basis.ratio.exchanges", 2}, /* of whole answers only */
        {"all_cloud_basis.ratio.usd", 80},
        {"all_cloud_basis.cloud.exchanges", 1},
        {"all_cloud_basis.cloud.usd", 32},
        {"accepted.0.judged", 2},
        {"accepted.0.by_feedback", 2},
        {"accepted.0.by_review", 0},
        {"accepted.0.by_shadow", 0},
        {"accepted.0.accepted", 1},
        {"accepted.0.share", 0.5},
        {"accepted.0.cost_usd", 3},
        {"accepted.0.cost_per_accepted_usd", 3},
        {"accepted.1.judged", 1},
        {"accepted.1.by_feedback", 0},
        {"accepted.1.by_review", 1},
        {"accepted.1.accepted", 0},
        {"accepted.1.cost_usd", 4},
        {"accepted.1.cost_per_accepted_usd", NAN},
        {"cost_per_accepted_usd", 7}, /* what was not accepted has its part in it */
        {"tiers.0.exchanges", 3},
        {"tiers.0.prompt_tokens", 7},
        {"tiers.0.completion_tokens", 24},
        {"tiers.0.cost_usd", 44},
        {"tiers.0.feedback", 0},
        {"tiers.0.score", NAN},
        {"tiers.0.ttft_ms.p50", 9}, /* of the one that is known */
        {"tiers.0.ttft_ms.p99", 9},
        {"tiers.0.total_ms.p50", 70},
        {"tiers.0.total_ms.p95", 80},
        {"tiers.1.exchanges", 2},
        {"tiers.1.share", 1.0 / 3},
        {"tiers.1.share_low", local_low},
        {"tiers.1.share_high", local_high},
        {"tiers.1.prompt_tokens", 30},
        {"tiers.1.completion_tokens", 300},
        {"tiers.1.cost_usd", 3},
        {"tiers.1.feedback", 2},
        {"tiers.1.score", 0.5},
        {"tiers.1.ttft_ms.p50", 3},
        {"tiers.1.ttft_ms.p95", 5},
        {"tiers.1.total_ms.p50", 30},
        {"tiers.1.total_ms.p99", 50},
        {"tiers.2.tier", NAN},
        {"tiers.2.cost_usd", 64},
        {"tiers.2.ttft_ms.p50", NAN},
        {"tiers.2.total_ms.p99", NAN},
        {"consistency.similar", 3},
        {"consistency.flipped", 2},
        {"consistency.flip_rate", 2.0 / 3},
        {"consistency.turns", 3},
        {"consistency.turns_moved", 1},
        {"consistency.kept", 2},
        {"consistency.given_up", 0.75},
        {"consistency.usd", 1.625},
        {"consistency.days.0.similar", 2},
        {"consistency.days.0.flipped", 1},
        {"consistency.days.0.flip_rate", 0.5},
        {"consistency.days.1.similar", 1},
        {"consistency.days.1.flipped", 1},
        {"consistency.days.1.flip_rate", 1},
        {"token_counts.0.usages", 1},
        {"token_counts.0.prompt.ratio", 1.5},
        {"token_counts.0.prompt.low", NAN}, /* of one usage nothing is known */
        {"token_counts.0.prompt.high", NAN},
        {"token_counts.0.answer.ratio", 3},
        {"token_counts.0.cached_share", 0.2},
        {"shadows.0.compared", 2},
        {"shadows.0.same", 1},
        {"shadows.0.same_share", 0.5},
        {"shadows.0.failed", 1},
        {"shadows.0.agreement", 0.5},
        {"shadows.0.cost_usd", 0.875},
        {"shadows.0.total_ms", 50},
        {"reactions.0.edited", 1},
        {"reactions.0.regenerated", 0},
    };
    static const struct {
        const char *path, *text;
    } texts[] = {{"accepted.0.tier", "local"},
                 {"accepted.1.tier", "cloud"},
                 {"tiers.0.tier", "cloud"},
                 {"tiers.1.tier", "local"},
                 {"consistency.days.0.day", "1970-01-01"},
                 {"consistency.days.1.day", "1970-01-02"},
                 {"token_counts.0.tier", "cloud"},
                 {"token_counts.0.model", "big"},
                 {"shadows.0.tier", "local"},
                 {"shadows.0.shadow", "cloud"},
                 {"shadows.0.examples.0", "ex_1"},
                 {"reactions.0.tier", "local"}};
    static const struct {
        const char *path;
        size_t count;
    } counts[] = {{"all_cloud_basis", 2},  {"accepted", 2}, {"tiers", 3},
                  {"consistency.days", 2}, {"shadows", 1},  {"reactions", 1}};
    struct json *report = report_since("every.db", 0);
    check_numbers(report, expected, sizeof expected / sizeof *expected);
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        CHECK(str_equal(json_text(at(report, texts[i].path)), str_from(texts[i].text)));
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++)
        CHECK(json_count(at(report, counts[i].path)) == counts[i].count);
    json_free(report);
}

/* No part of a report looks further back than it was asked to. */
static void test_all_of_a_report_begins_with_its_millisecond(void)
{
    static const struct expected expected[] = {
        {"since_wall_ms", DAY_MS},
        {"exchanges", 4},
        {"cost_usd", 108},
        {"escalations", 1},
        {"failures", 2},
        {"feedback", 0},
        {"score", NAN},
        {"answered", 1},
        {"shadow_cost_usd", 0},
        {"estimated_attempts", 2},
        {"all_cloud_basis.ratio.exchanges", 1},
        {"accepted.0.judged", 1},
        {"tiers.0.exchanges", 3},
        {"tiers.0.share", 0.75},
        {"tiers.0.total_ms.p50", 70},
        {"consistency.similar", 1},
        {"consistency.turns", 3},
        {"consistency.given_up", 0.25},
    };
    static const struct {
        const char *path;
        size_t count;
    } counts[] = {{"all_cloud_basis", 1},  {"accepted", 1}, {"tiers", 2},
                  {"consistency.days", 1}, {"shadows", 0},  {"reactions", 0}};
    struct json *report = report_since("since.db", DAY_MS);
    check_numbers(report, expected, sizeof expected / sizeof *expected);
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++)
        CHECK(json_count(at(report, counts[i].path)) == counts[i].count);
    json_free(report);
}

int main(void)
{
    fixture_begin();
    RUN(test_every_number_is_the_one_that_its_name_says);
    RUN(test_all_of_a_report_begins_with_its_millisecond);
    fixture_end();
    return test_finish();
}
