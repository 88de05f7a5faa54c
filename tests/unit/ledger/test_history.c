/* Exchanges with their attempts, as a replay reads them. */
#include "ledger_fixture.h"

#include "base/core/error.h"

static const struct ledger_attempt tried[3] = {
    {.tier = "local",
     .place = "device",
     .outcome = ATTEMPT_ESCALATED,
     .confidence = 0.25,
     .prompt_tokens = 11,
     .completion_tokens = 3,
     .total_ms = 5,
     .cost_usd = 0},
    {.tier = "cloud",
     .place = "cloud",
     .outcome = ATTEMPT_FAILED,
     .confidence = NAN,
     .total_ms = NAN},
    {.tier = "backup",
     .place = "cloud",
     .outcome = ATTEMPT_ANSWERED,
     .confidence = NAN,
     .prompt_tokens = 12,
     .completion_tokens = 40,
     .total_ms = 700,
     .cost_usd = 0.5},
};

static void fill(const char *path)
{
    struct ledger *ledger = NULL;
    if (ledger_open(path, &ledger, NULL) != TD_OK)
        abort();
    for (size_t i = 0; i < 4; i++) {
        char id[16];
        snprintf(id, sizeof id, "ex_%zu", i);
        struct ledger_exchange x = fixture_exchange(id, 1000 + i);
        x.status = ENDED_OK;
        x.user = i == 2 ? "anna" : NULL;
        x.attempts = tried;
        x.attempt_count = i; /* 0, 1, 2, 3 */
        CHECK(ledger_put(ledger, &x, NULL) == TD_OK);
    }
    const struct ledger_feedback feedback = {"ex_3", 2000, 0.75, NULL};
    CHECK(ledger_put_feedback(ledger, &feedback, NULL) == TD_OK);
    ledger_close(ledger);
}

struct seen {
    size_t count;
    char ids[64];
};

/* NAN is kept as none. */
static bool is_number(double got, double put)
{
    return isnan(put) ? isnan(got) : got == put;
}

static enum td_status see(void *ctx, const struct ledger_history *row, struct td_error *err)
{
    struct seen *seen = ctx;
    size_t len = strlen(seen->ids), n = seen->count++;
    (void)err;
    snprintf(seen->ids + len, sizeof seen->ids - len, "%s:%zu ", row->id, row->attempt_count);
    CHECK(strcmp(row->requested_model, "auto") == 0 &&
          strcmp(row->signals_json, "{\"tokens\":10}") == 0);
    CHECK((row->user != NULL) == (strcmp(row->id, "ex_2") == 0));
    CHECK(is_number(row->score, strcmp(row->id, "ex_3") == 0 ? 0.75 : (double)NAN));
    CHECK(row->total_ms == 20 && row->cost_usd == 0.001);
    for (size_t i = 0; i < row->attempt_count; i++) {
        const struct ledger_attempt *a = &row->attempts[i];
        CHECK(strcmp(a->tier, tried[i].tier) == 0 && strcmp(a->place, tried[i].place) == 0);
        CHECK(a->outcome == tried[i].outcome);
        CHECK(a->prompt_tokens == tried[i].prompt_tokens &&
              a->completion_tokens == tried[i].completion_tokens);
        CHECK(is_number(a->confidence, tried[i].confidence));
        CHECK(is_number(a->total_ms, tried[i].total_ms) &&
              is_number(a->cost_usd, tried[i].cost_usd));
    }
    return n == 2 && strstr(seen->ids, "stop") ? TD_CANCELLED : TD_OK;
}

static void test_each_exchange_comes_once_with_all_its_attempts(void)
{
    const char *path = fixture_path("history.db");
    struct ledger_reader *reader;
    struct td_error err = {0};
    fill(path);
    REQUIRE(ledger_reader_open(path, &reader, NULL) == TD_OK);
    struct seen seen = {0};
    CHECK(ledger_reader_history(reader, 0, see, &seen, &err) == TD_OK);
    CHECK(strcmp(seen.ids, "ex_0:0 ex_1:1 ex_2:2 ex_3:3 ") == 0);
    struct seen since = {0};
    CHECK(ledger_reader_history(reader, 1002, see, &since, &err) == TD_OK);
    CHECK(strcmp(since.ids, "ex_2:2 ex_3:3 ") == 0);
    struct seen stopped = {.ids = "stop "};
    CHECK(ledger_reader_history(reader, 0, see, &stopped, &err) == TD_CANCELLED);
    CHECK(stopped.count == 3);
    struct seen none = {0};
    CHECK(ledger_reader_history(reader, 5000, see, &none, &err) == TD_OK && none.count == 0);
    ledger_reader_close(reader);
}

struct sums {
    double usd, of_anna, of_app, of_shadows;
    uint64_t tokens;
    size_t rows;
};

static void sum_up(void *ctx, const struct ledger_spent *spent)
{
    struct sums *sums = ctx;
    sums->rows++;
    sums->usd += spent->cost_usd;
    sums->of_shadows += spent->shadow_usd;
    sums->tokens += spent->tokens;
    CHECK(spent->hour == 1 || spent->hour == 2);
    CHECK(spent->route == NULL);
    if (spent->user && strcmp(spent->user, "anna") == 0)
        sums->of_anna += spent->cost_usd;
    if (spent->app && strcmp(spent->app, "mail") == 0)
        sums->of_app += spent->cost_usd;
}

static void test_what_was_spent_is_summed_by_whom_and_hour(void)
{
    static const struct {
        const char *user, *signals;
        uint64_t wall_ms;
        double usd;
    } rows[] = {{"anna", "{\"app\":\"mail\"}", 3600000, 1},
                {"anna", "{\"app\":\"mail\"}", 7199999, 2},
                {"anna", NULL, 7200000, 4},
                {NULL, "no JSON", 7200000, 8},
                {"anna", "{}", 3599999, 1000} /* before the time */};
    const char *path = fixture_path("spent.db");
    struct ledger *ledger = NULL;
    struct ledger_reader *reader = NULL;
    struct sums sums = {0};
    REQUIRE(ledger_open(path, &ledger, NULL) == TD_OK);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char id[16];
        snprintf(id, sizeof id, "ex_%zu", i);
        struct ledger_exchange x = fixture_exchange(id, rows[i].wall_ms);
        x.user = rows[i].user;
        x.signals_json = rows[i].signals;
        x.cost_usd = rows[i].usd;
        x.attempts = tried;
        x.attempt_count = 3;
        CHECK(ledger_put(ledger, &x, NULL) == TD_OK);
    }
    for (int i = 0; i < 2; i++) { /* both are of anna's first one */
        const struct ledger_shadow shadow = {
            .exchange = "ex_0", .tier = "cloud", .kind = "text", .cost_usd = 0.25};
        CHECK(ledger_put_shadow(ledger, &shadow, NULL) == TD_OK);
    }
    ledger_close(ledger);
    REQUIRE(ledger_reader_open(path, &reader, NULL) == TD_OK);
    CHECK(ledger_reader_spent(reader, 3600000, sum_up, &sums, NULL) == TD_OK);
    CHECK(fabs(sums.usd - 15.5) < 1e-9 && fabs(sums.of_anna - 7.5) < 1e-9);
    CHECK(fabs(sums.of_app - 3.5) < 1e-9 && fabs(sums.of_shadows - 0.5) < 1e-9);
    CHECK(sums.rows == 3 && sums.tokens == 4 * (11 + 3 + 12 + 40));
    ledger_reader_close(reader);
}

static void keep_tenants(void *ctx, const struct ledger_spent *spent)
{
    double *usd = ctx;
    CHECK(strcmp(spent->user, "anna") == 0);
    usd[!spent->tenant ? 2 : *spent->tenant - 'a'] += spent->cost_usd;
}

static void test_users_of_one_name_spend_for_themselves(void)
{
    static const char *const tenants[] = {"a", "b", NULL};
    const char *path = fixture_path("tenants.db");
    struct ledger *ledger = NULL;
    struct ledger_reader *reader = NULL;
    double usd[3] = {0};
    REQUIRE(ledger_open(path, &ledger, NULL) == TD_OK);
    for (int i = 0; i < 3; i++) {
        char id[16];
        snprintf(id, sizeof id, "ex_%d", i);
        struct ledger_exchange x = fixture_exchange(id, 1000);
        x.user = "anna";
        x.tenant = tenants[i];
        x.cost_usd = 1 << i;
        CHECK(ledger_put(ledger, &x, NULL) == TD_OK);
    }
    ledger_close(ledger);
    REQUIRE(ledger_reader_open(path, &reader, NULL) == TD_OK);
    CHECK(ledger_reader_spent(reader, 0, keep_tenants, usd, NULL) == TD_OK);
    CHECK(fabs(usd[0] - 1) < 1e-9 && fabs(usd[1] - 2) < 1e-9 && fabs(usd[2] - 4) < 1e-9);
    ledger_reader_close(reader);
}

/* What each reading makes of several judgements of one answer. */
struct judged {
    double history, outcomes, judged;
};

static enum td_status see_history(void *ctx, const struct ledger_history *row, struct td_error *err)
{
    (void)err;
    ((struct judged *)ctx)->history = row->score;
    return TD_OK;
}

static void see_outcome(void *ctx, const char *signals, double right)
{
    (void)signals;
    ((struct judged *)ctx)->outcomes = right;
}

static enum td_status see_judged(void *ctx, const struct ledger_judged *judged,
                                 struct td_error *err)
{
    (void)err;
    ((struct judged *)ctx)->judged = judged->score;
    return TD_OK;
}

static void test_of_several_judgements_the_newest_counts_in_every_reading(void)
{
    static const double orders[][3] = {{0, 0.5, 1}, {1, 0.5, 0}, {0.5, 0, 1}, {1, 0, 0.5}};
    for (size_t i = 0; i < sizeof orders / sizeof *orders; i++) {
        char name[32];
        snprintf(name, sizeof name, "newest_%zu.db", i);
        const char *path = fixture_path(name);
        struct ledger *ledger = NULL;
        struct ledger_reader *reader = NULL;
        struct json *report = NULL;
        struct judged judged = {NAN, NAN, NAN};
        struct ledger_exchange x = fixture_exchange("ex_0", 1000);
        const struct ledger_attempt answered = {
            .tier = "local", .place = "device", .outcome = ATTEMPT_ANSWERED, .confidence = 0.9};
        x.attempts = &answered;
        x.attempt_count = 1;
        REQUIRE(ledger_open(path, &ledger, NULL) == TD_OK);
        CHECK(ledger_put(ledger, &x, NULL) == TD_OK);
        for (size_t k = 0; k < 3; k++) { /* all in one millisecond */
            const struct ledger_feedback feedback = {"ex_0", 2000, orders[i][k], NULL};
            CHECK(ledger_put_feedback(ledger, &feedback, NULL) == TD_OK);
        }
        ledger_close(ledger);
        REQUIRE(ledger_reader_open(path, &reader, NULL) == TD_OK);
        CHECK(ledger_reader_history(reader, 0, see_history, &judged, NULL) == TD_OK);
        CHECK(ledger_reader_outcomes(reader, 0, see_outcome, &judged, NULL) == TD_OK);
        CHECK(ledger_reader_judged(reader, 0, see_judged, &judged, NULL) == TD_OK);
        CHECK(ledger_reader_report(reader, 0, &report, NULL) == TD_OK);
        double newest = orders[i][2], reported = json_number(json_get(report, "score"), -1);
        CHECK(judged.history == newest && judged.outcomes == newest && judged.judged == newest);
        CHECK(reported == newest && json_int(json_get(report, "feedback"), -1) == 1);
        json_free(report);
        ledger_reader_close(reader);
    }
}

int main(void)
{
    fixture_begin();
    RUN(test_each_exchange_comes_once_with_all_its_attempts);
    RUN(test_what_was_spent_is_summed_by_whom_and_hour);
    RUN(test_users_of_one_name_spend_for_themselves);
    RUN(test_of_several_judgements_the_newest_counts_in_every_reading);
    fixture_end();
    return test_finish();
}
