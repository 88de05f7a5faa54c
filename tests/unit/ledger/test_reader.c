/* Reading: finding, listing, and the report, compared with sums made here. */
#include "base/crypto/rng.h"
#include "base/time/log.h"

#include "ledger_fixture.h"

static struct ledger_reader *reader_of_three(const char *path)
{
    struct ledger *ledger;
    struct ledger_reader *reader;
    if (ledger_open(path, &ledger, NULL) != TD_OK)
        return NULL;
    static const char *const ids[] = {"ex_abc1", "ex_abd2", "ex_abd"};
    for (uint64_t i = 0; i < 3; i++) {
        struct ledger_exchange x = fixture_exchange(ids[i], 1000 + i);
        if (ledger_put(ledger, &x, NULL) != TD_OK)
            return NULL;
    }
    ledger_close(ledger);
    return ledger_reader_open(path, &reader, NULL) == TD_OK ? reader : NULL;
}

static bool finds(struct ledger_reader *reader, const char *id, const char *expected)
{
    struct json *json;
    if (ledger_reader_find(reader, NULL, id, &json, NULL) != TD_OK)
        return false;
    bool same = strcmp(json_cstr(json_get(json, "id")), expected) == 0;
    json_free(json);
    return same;
}

static void test_ids_are_found_whole_by_unique_prefix_and_as_last(void)
{
    struct ledger_reader *reader = reader_of_three(fixture_path("find.db"));
    REQUIRE(reader != NULL);
    CHECK(finds(reader, "ex_abc1", "ex_abc1"));
    CHECK(finds(reader, "ex_abc", "ex_abc1"));
    CHECK(finds(reader, "ex_abd", "ex_abd")); /* an exact id, although another begins with it */
    CHECK(finds(reader, "ex_abd2", "ex_abd2"));
    CHECK(finds(reader, "last", "ex_abd"));
    struct json *json;
    struct td_error err = {0};
    CHECK(ledger_reader_find(reader, NULL, "ex_a", &json, &err) == TD_INVALID && json == NULL);
    CHECK(strstr(err.message, "several") != NULL);
    CHECK(ledger_reader_find(reader, NULL, "ex_abc12", &json, NULL) == TD_NOT_FOUND &&
          json == NULL);
    CHECK(ledger_reader_find(reader, NULL, "nope", &json, NULL) == TD_NOT_FOUND);
    CHECK(ledger_reader_find(reader, NULL, "ex%", &json, NULL) ==
          TD_NOT_FOUND); /* no pattern, no SQL */
    CHECK(ledger_reader_find(reader, NULL, "' OR 1=1 --", &json, NULL) == TD_NOT_FOUND);
    CHECK(ledger_reader_find(reader, NULL, "", &json, NULL) == TD_INVALID);
    char longest[400];
    memset(longest, 'x', sizeof longest - 1);
    longest[sizeof longest - 1] = '\0';
    CHECK(ledger_reader_find(reader, NULL, longest, &json, NULL) == TD_INVALID);
    longest[257] = '\0';
    CHECK(ledger_reader_find(reader, NULL, longest, &json, NULL) == TD_INVALID);
    longest[256] = '\0';
    CHECK(ledger_reader_find(reader, NULL, longest, &json, NULL) == TD_NOT_FOUND);
    ledger_reader_close(reader);
}

/* Another tenant's exchange is not there: by no id, prefix, trace or name, and not as the last. */
static void test_a_tenant_finds_its_own_exchanges_alone(void)
{
    const char *path = fixture_path("tenants.db");
    static const struct {
        const char *id, *tenant, *trace, *request;
    } rows[] = {{"ex_aa1", "a", "trace-1", "name"},
                {"ex_aa2", "b", "trace-1", "name"},
                {"ex_old", NULL, NULL, NULL},
                {"ex_aa3", "a", "trace-1", NULL},
                {"ex_bb1", "b", "trace-2", "other"}};
    struct ledger *ledger;
    struct ledger_reader *reader;
    struct json *json;
    REQUIRE(ledger_open(path, &ledger, NULL) == TD_OK);
    for (uint64_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct ledger_exchange x = fixture_exchange(rows[i].id, 1000 + i);
        x.tenant = rows[i].tenant;
        x.trace_id = rows[i].trace;
        x.request_id = rows[i].request;
        REQUIRE(ledger_put(ledger, &x, NULL) == TD_OK);
    }
    ledger_close(ledger);
    REQUIRE(ledger_reader_open(path, &reader, NULL) == TD_OK);
    static const struct {
        const char *tenant, *asked, *found; /* NULL = nothing */
    } cases[] = {{"a", "ex_aa1", "ex_aa1"},  {"a", "ex_aa2", NULL},      {"a", "ex_bb", NULL},
                 {"b", "ex_aa", "ex_aa2"},   {"a", "last", "ex_aa3"},    {"b", "last", "ex_bb1"},
                 {"c", "last", NULL},        {"c", "ex_old", NULL},      {"a", "ex_old", NULL},
                 {"a", "other", NULL},       {"b", "name", "ex_aa2"},    {"a", "trace-2", NULL},
                 {"b", "trace-1", "ex_aa2"}, {NULL, "ex_old", "ex_old"}, {NULL, "name", "ex_aa2"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct td_error err = {0}, missing = {0};
        bool found =
            ledger_reader_find(reader, cases[i].tenant, cases[i].asked, &json, &err) == TD_OK;
        CHECK(found == (cases[i].found != NULL));
        if (found)
            CHECK(strcmp(json_cstr(json_get(json, "id")), cases[i].found) == 0);
        else if (strncmp(cases[i].asked, "ex_", 3) == 0)
            CHECK(ledger_reader_find(reader, cases[i].tenant, "ex_none", &json, &missing) ==
                  err.status);
        json_free(found ? json : NULL);
    }
    REQUIRE(ledger_reader_find(reader, "a", "ex_aa1", &json, NULL) == TD_OK);
    const struct json *beside = json_get(json, "same_trace");
    CHECK(json_count(beside) == 1 && strcmp(json_cstr(json_at(beside, 0)), "ex_aa3") == 0);
    json_free(json);
    REQUIRE(ledger_reader_find(reader, NULL, "ex_aa1", &json, NULL) == TD_OK);
    beside = json_get(json, "same_trace");
    CHECK(json_count(beside) == 2 && strcmp(json_cstr(json_at(beside, 0)), "ex_aa3") == 0 &&
          strcmp(json_cstr(json_at(beside, 1)), "ex_aa2") == 0); /* newest first */
    json_free(json);
    for (int i = 0; i < 4; i++) {
        static const char *const who[] = {"a", "b", "c", NULL};
        static const size_t counts[] = {2, 2, 0, 5};
        REQUIRE(ledger_reader_list(reader, &(struct ledger_wanted){.tenant = who[i], .limit = 10},
                                   &json, NULL) == TD_OK);
        CHECK(json_count(json) == counts[i]);
        json_free(json);
    }
    ledger_reader_close(reader);
}

static void test_a_missing_or_foreign_file_cannot_be_read(void)
{
    struct ledger_reader *reader = NULL;
    CHECK(ledger_reader_open(fixture_path("missing.db"), &reader, NULL) == TD_NOT_FOUND && !reader);
    CHECK(access(fixture_path("missing.db"), F_OK) != 0);
    int fd = open(fixture_path("text.db"), O_CREAT | O_WRONLY, 0600);
    CHECK(write(fd, "hello", 5) == 5);
    close(fd);
    CHECK(ledger_reader_open(fixture_path("text.db"), &reader, NULL) == TD_CORRUPT && !reader);
    ledger_reader_close(NULL);
}

static void test_lists_are_newest_first_limited_and_since_a_time(void)
{
    struct ledger_reader *reader = reader_of_three(fixture_path("list.db"));
    REQUIRE(reader != NULL);
    struct json *list;
    REQUIRE(ledger_reader_list(reader, &(struct ledger_wanted){.limit = 10}, &list, NULL) == TD_OK);
    CHECK(json_count(list) == 3);
    CHECK(strcmp(json_cstr(json_get(json_at(list, 0), "id")), "ex_abd") == 0);
    CHECK(strcmp(json_cstr(json_get(json_at(list, 2), "id")), "ex_abc1") == 0);
    CHECK(json_get(json_at(list, 0), "attempts") == NULL &&
          json_get(json_at(list, 0), "signals") == NULL);
    json_free(list);
    REQUIRE(ledger_reader_list(reader, &(struct ledger_wanted){.since_wall_ms = 1001, .limit = 1},
                               &list, NULL) == TD_OK);
    CHECK(json_count(list) == 1);
    json_free(list);
    REQUIRE(ledger_reader_list(reader,
                               &(struct ledger_wanted){.since_wall_ms = 1001, .limit = SIZE_MAX},
                               &list, NULL) == TD_OK);
    CHECK(json_count(list) == 2);
    json_free(list);
    REQUIRE(ledger_reader_list(reader,
                               &(struct ledger_wanted){.since_wall_ms = UINT64_MAX, .limit = 10},
                               &list, NULL) == TD_OK);
    CHECK(json_count(list) == 0);
    json_free(list);
    REQUIRE(ledger_reader_list(reader, &(struct ledger_wanted){.limit = 0}, &list, NULL) == TD_OK);
    CHECK(json_count(list) == 0);
    json_free(list);
    ledger_reader_close(reader);
}

static size_t count_wanted(struct ledger_reader *reader, struct ledger_wanted wanted)
{
    struct json *list = NULL;
    wanted.limit = 10;
    CHECK(ledger_reader_list(reader, &wanted, &list, NULL) == TD_OK);
    size_t count = json_count(list);
    json_free(list);
    return count;
}

static void test_lists_have_what_is_wanted_alone(void)
{
    struct ledger *ledger;
    const char *path = fixture_path("wanted.db");
    REQUIRE(ledger_open(path, &ledger, NULL) == TD_OK);
    struct ledger_exchange ours = fixture_exchange("ex_1", 1000),
                           other = fixture_exchange("ex_2", 1001);
    ours.tenant = "a";
    other.tier = "else'where";
    other.route = "r";
    other.data_class = "restricted";
    other.degraded = !ours.degraded;
    CHECK(ledger_put(ledger, &ours, NULL) == TD_OK && ledger_put(ledger, &other, NULL) == TD_OK);
    ledger_close(ledger);
    struct ledger_reader *reader;
    REQUIRE(ledger_reader_open(path, &reader, NULL) == TD_OK);
    CHECK(count_wanted(reader, (struct ledger_wanted){0}) == 2);
    CHECK(count_wanted(reader, (struct ledger_wanted){.tier = "else'where"}) == 1);
    CHECK(count_wanted(reader, (struct ledger_wanted){.route = "r"}) == 1);
    CHECK(count_wanted(reader, (struct ledger_wanted){.data_class = "restricted"}) == 1);
    CHECK(count_wanted(reader, (struct ledger_wanted){.degraded = true}) == 1);
    CHECK(count_wanted(reader, (struct ledger_wanted){.tier = "none"}) == 0);
    CHECK(count_wanted(reader, (struct ledger_wanted){.tenant = "a", .route = "r"}) == 0);
    CHECK(count_wanted(reader, (struct ledger_wanted){.tier = "else'where", .route = "x"}) == 0);
    ledger_reader_close(reader);
}

static void test_text_that_is_no_json_is_shown_as_text(void)
{
    const char *path = fixture_path("nojson.db");
    struct ledger *ledger;
    struct ledger_reader *reader;
    struct json *json;
    REQUIRE(ledger_open(path, &ledger, NULL) == TD_OK);
    struct ledger_exchange x = fixture_exchange("a", 1);
    x.signals_json = "{broken";
    CHECK(ledger_put(ledger, &x, NULL) == TD_OK);
    ledger_close(ledger);
    REQUIRE(ledger_reader_open(path, &reader, NULL) == TD_OK);
    REQUIRE(ledger_reader_find(reader, NULL, "a", &json, NULL) == TD_OK);
    CHECK(strcmp(json_cstr(json_get(json, "signals")), "{broken") == 0);
    json_free(json);
    ledger_reader_close(reader);
}

static void test_the_report_of_an_empty_ledger_is_all_zero(void)
{
    const char *path = fixture_path("zero.db");
    struct ledger *ledger;
    struct ledger_reader *reader;
    struct json *report;
    REQUIRE(ledger_open(path, &ledger, NULL) == TD_OK);
    ledger_close(ledger);
    REQUIRE(ledger_reader_open(path, &reader, NULL) == TD_OK);
    REQUIRE(ledger_reader_report(reader, 0, &report, NULL) == TD_OK);
    CHECK(json_int(json_get(report, "exchanges"), -1) == 0);
    CHECK(json_number(json_get(report, "saving_share"), -1) == 0);
    CHECK(json_count(json_get(report, "tiers")) == 0);
    CHECK(json_kind_of(json_get(report, "tiers")) == JSON_KIND_ARRAY);
    json_free(report);
    ledger_reader_close(reader);
}

/* 10,000 exchanges, which the test keeps itself, too. */
#define ROWS 10000
#define TIERS 4 /* the last is "none" */
static const char *const tier_names[TIERS] = {"local", "cloud", "premises", NULL};
static struct row {
    uint64_t wall_ms;
    int tier;
    double ttft_ms, total_ms, cost, all_cloud;
    uint32_t prompt, completion;
    bool degraded, failed, escalated;
} rows[ROWS];

static void make_rows(void)
{
    struct rng rng;
    rng_init(&rng, 42);
    for (int i = 0; i < ROWS; i++) {
        struct row *row = &rows[i];
        uint64_t kind = rng_below(&rng, 100);
        row->tier = kind < 60 ? 0 : kind < 85 ? 1 : kind < 97 ? 2 : 3;
        row->wall_ms = 1000 + rng_below(&rng, 100000);
        row->failed = row->tier == 3;
        row->ttft_ms =
            row->failed || rng_below(&rng, 50) == 0 ? NAN : (double)rng_below(&rng, 4000) / 8;
        row->total_ms = (double)rng_below(&rng, 100000) / 16;
        row->cost = row->tier == 1 ? (double)rng_below(&rng, 1000) / 65536 : 0;
        row->all_cloud = (double)rng_below(&rng, 1000) / 32768;
        row->prompt = (uint32_t)rng_below(&rng, 5000);
        row->completion = (uint32_t)rng_below(&rng, 500);
        row->degraded = rng_below(&rng, 20) == 0;
        row->escalated = row->tier == 1 && rng_below(&rng, 2) == 0;
    }
}

static bool put_rows(struct ledger *ledger)
{
    static const struct ledger_attempt attempts[] = {
        {.tier = "local", .outcome = ATTEMPT_ESCALATED, .confidence = NAN},
        {.tier = "premises", .outcome = ATTEMPT_ESCALATED, .confidence = NAN},
        {.tier = "cloud", .outcome = ATTEMPT_ANSWERED, .confidence = NAN},
    };
    for (int i = 0; i < ROWS; i++) {
        char id[24];
        snprintf(id, sizeof id, "ex_%06d", i);
        struct ledger_exchange x = fixture_exchange(id, rows[i].wall_ms);
        x.tier = tier_names[rows[i].tier];
        x.status = rows[i].failed ? ENDED_FAILED : ENDED_OK;
        x.ttft_ms = rows[i].ttft_ms;
        x.total_ms = rows[i].total_ms;
        x.cost_usd = rows[i].cost;
        x.all_cloud_cost_usd = rows[i].all_cloud;
        x.prompt_tokens = rows[i].prompt;
        x.completion_tokens = rows[i].completion;
        x.degraded = rows[i].degraded;
        x.standing = rows[i].failed     ? ANSWER_NONE
                     : rows[i].degraded ? ANSWER_DEGRADED
                                        : ANSWER_FULL;
        x.attempts = rows[i].escalated ? attempts : attempts + 2; /* escalated twice counts once */
        x.attempt_count = rows[i].escalated ? 3 : 1;
        while (ledger_put(ledger, &x, NULL) == TD_BUSY)
            if (ledger_flush(ledger, 10000, NULL) != TD_OK)
                return false;
    }
    return ledger_flush(ledger, 20000, NULL) == TD_OK;
}

static int compare_doubles(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static void check_percentiles(const struct json *object, uint64_t since, int tier, bool first)
{
    static double values[ROWS];
    size_t count = 0;
    for (int i = 0; i < ROWS; i++) {
        double value = first ? rows[i].ttft_ms : rows[i].total_ms;
        if (rows[i].wall_ms >= since && rows[i].tier == tier && !isnan(value))
            values[count++] = value;
    }
    qsort(values, count, sizeof values[0], compare_doubles);
    static const char *const names[] = {"p50", "p95", "p99"};
    static const double percents[] = {50, 95, 99};
    for (int i = 0; i < 3; i++) {
        const struct json *value = json_get(object, names[i]);
        if (count == 0)
            CHECK(json_kind_of(value) == JSON_KIND_NULL);
        else
            CHECK(json_number(value, -1) ==
                  values[(size_t)ceil(percents[i] / 100 * (double)count) - 1]);
    }
}

static void check_report(const struct json *report, uint64_t since)
{
    int64_t count = 0, degraded = 0, failed = 0, escalated = 0, by_tier[TIERS] = {0},
            prompt[TIERS] = {0}, completion[TIERS] = {0};
    double cost = 0, all_cloud = 0, tier_cost[TIERS] = {0};
    for (int i = 0; i < ROWS; i++) {
        if (rows[i].wall_ms < since)
            continue;
        count++;
        degraded += rows[i].degraded && !rows[i].failed;
        failed += rows[i].failed;
        escalated += rows[i].escalated;
        cost += rows[i].cost; /* sums of multiples of 2^-16: exact */
        all_cloud += rows[i].degraded || rows[i].failed ? 0 : rows[i].all_cloud;
        by_tier[rows[i].tier]++;
        prompt[rows[i].tier] += rows[i].prompt;
        completion[rows[i].tier] += rows[i].completion;
        tier_cost[rows[i].tier] += rows[i].cost;
    }
    CHECK(json_int(json_get(report, "exchanges"), -1) == count);
    CHECK(json_int(json_get(report, "degraded"), -1) == degraded);
    CHECK(json_int(json_get(report, "failures"), -1) == failed);
    CHECK(json_int(json_get(report, "escalations"), -1) == escalated);
    CHECK(json_number(json_get(report, "cost_usd"), -1) == cost);
    CHECK(json_number(json_get(report, "all_cloud_cost_usd"), -1) == all_cloud);
    CHECK(json_number(json_get(report, "saving_usd"), -1) == all_cloud - cost);
    CHECK(json_number(json_get(report, "saving_share"), -1) == 1 - cost / all_cloud);
    const struct json *tiers = json_get(report, "tiers");
    CHECK(json_count(tiers) == TIERS);
    for (size_t t = 0; t < json_count(tiers) && t < TIERS; t++) {
        const struct json *tier = json_at(tiers, t); /* by size: local, cloud, premises, none */
        const char *name = json_cstr(json_get(tier, "tier"));
        CHECK(tier_names[t] ? name && strcmp(name, tier_names[t]) == 0 : name == NULL);
        CHECK(json_int(json_get(tier, "exchanges"), -1) == by_tier[t]);
        CHECK(json_number(json_get(tier, "share"), -1) == (double)by_tier[t] / (double)count);
        CHECK(json_int(json_get(tier, "prompt_tokens"), -1) == prompt[t]);
        CHECK(json_int(json_get(tier, "completion_tokens"), -1) == completion[t]);
        CHECK(json_number(json_get(tier, "cost_usd"), -1) == tier_cost[t]);
        check_percentiles(json_get(tier, "ttft_ms"), since, (int)t, true);
        check_percentiles(json_get(tier, "total_ms"), since, (int)t, false);
    }
}

static void test_the_report_of_ten_thousand_rows_is_what_counting_by_hand_gives(void)
{
    const char *path = fixture_path("many.db");
    struct ledger *ledger;
    struct ledger_reader *reader;
    make_rows();
    REQUIRE(ledger_open(path, &ledger, NULL) == TD_OK);
    REQUIRE(put_rows(ledger));
    REQUIRE(ledger_reader_open(path, &reader, NULL) == TD_OK);
    static const uint64_t since[] = {0, 50000, 100500};
    for (size_t i = 0; i < 3; i++) {
        struct json *report;
        REQUIRE(ledger_reader_report(reader, since[i], &report, NULL) == TD_OK);
        check_report(report, since[i]);
        json_free(report);
    }
    ledger_reader_close(reader);
    ledger_close(ledger);
}

/* What was put belongs to the ledger: the caller's texts may be gone at once. */
static void test_nothing_of_the_callers_is_read_after_it_was_put(void)
{
#define OF_EXCHANGE(name) offsetof(struct ledger_exchange, name)
#define OF_ATTEMPT(name) offsetof(struct ledger_attempt, name)
    static const size_t of_exchange[] = {
        OF_EXCHANGE(user),           OF_EXCHANGE(route),      OF_EXCHANGE(policy_version),
        OF_EXCHANGE(tier),           OF_EXCHANGE(model),      OF_EXCHANGE(requested_model),
        OF_EXCHANGE(place),          OF_EXCHANGE(data_class), OF_EXCHANGE(finish),
        OF_EXCHANGE(disclosure),     OF_EXCHANGE(trace_id),   OF_EXCHANGE(span_id),
        OF_EXCHANGE(parent_span_id), OF_EXCHANGE(request_id), OF_EXCHANGE(prompt_text),
        OF_EXCHANGE(answer_text)};
    static const size_t of_attempt[] = {OF_ATTEMPT(tier), OF_ATTEMPT(model), OF_ATTEMPT(place),
                                        OF_ATTEMPT(error), OF_ATTEMPT(span_id)};
#undef OF_EXCHANGE
#undef OF_ATTEMPT
    enum { EXCHANGE = sizeof of_exchange / sizeof *of_exchange };
    enum { COUNT = EXCHANGE + sizeof of_attempt / sizeof *of_attempt };
    static char texts[COUNT][16];
    const char *path = fixture_path("callers.db");
    struct ledger *ledger = NULL;
    struct ledger_reader *reader = NULL;
    struct json *record = NULL;
    struct buf written;
    struct ledger_attempt attempt = {.outcome = ATTEMPT_FAILED};
    struct ledger_exchange exchange = fixture_exchange("ex_1", 1000);
    exchange.attempts = &attempt;
    exchange.attempt_count = 1;
    for (size_t i = 0; i < COUNT; i++) {
        char *base = i < EXCHANGE ? (char *)&exchange : (char *)&attempt;
        size_t offset = i < EXCHANGE ? of_exchange[i] : of_attempt[i - EXCHANGE];
        snprintf(texts[i], sizeof texts[i], "text-%02zu", i);
        *(const char **)(void *)(base + offset) = texts[i];
    }
    REQUIRE(ledger_open(path, &ledger, NULL) == TD_OK);
    CHECK(ledger_put(ledger, &exchange, NULL) == TD_OK);
    for (size_t i = 0; i < COUNT; i++)
        memcpy(texts[i], "GONE-xx", 8);
    ledger_close(ledger);
    REQUIRE(ledger_reader_open(path, &reader, NULL) == TD_OK);
    REQUIRE(ledger_reader_find(reader, NULL, "ex_1", &record, NULL) == TD_OK);
    buf_init(&written, 1 << 16);
    json_write(record, &written);
    buf_append_char(&written, '\0');
    CHECK(strstr(written.data, "GONE") == NULL);
    for (size_t i = 0; i < COUNT; i++) {
        char text[16];
        snprintf(text, sizeof text, "\"text-%02zu\"", i);
        if (!strstr(written.data, text))
            printf("%s is missing\n", text);
        CHECK(strstr(written.data, text) != NULL);
    }
    buf_deinit(&written);
    json_free(record);
    ledger_reader_close(reader);
}

static void test_an_answers_id_names_its_exchange(void)
{
    static const char *const cases[][2] = {
        {"chatcmpl-0123456789abcdef01234567", "ex_0123456789abcdef01234567"},
        {"cmpl-0123456789abcdef01234567", "ex_0123456789abcdef01234567"},
        {"msg_0123456789abcdef01234567", "ex_0123456789abcdef01234567"},
        {"resp_0123456789abcdef01234567", "ex_0123456789abcdef01234567"},
        {"ex_0123456789abcdef01234567", "ex_0123456789abcdef01234567"},
        {"msg_0123456789abcdef0123456", "msg_0123456789abcdef0123456"},
        {"msg_0123456789abcdef012345678", "msg_0123456789abcdef012345678"},
        {"msg_0123456789ABCDEF01234567", "msg_0123456789ABCDEF01234567"},
        {"chatcmpl-", "chatcmpl-"},
        {"last", "last"},
        {"", ""},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char id[64];
        snprintf(id, sizeof id, "%s", cases[i][0]);
        ledger_name_exchange(id);
        CHECK(strcmp(id, cases[i][1]) == 0);
    }
}

int main(void)
{
    RUN(test_an_answers_id_names_its_exchange);
    fixture_begin();
    log_set_level(LOG_LEVEL_OFF);
    RUN(test_ids_are_found_whole_by_unique_prefix_and_as_last);
    RUN(test_a_tenant_finds_its_own_exchanges_alone);
    RUN(test_a_missing_or_foreign_file_cannot_be_read);
    RUN(test_lists_have_what_is_wanted_alone);
    RUN(test_lists_are_newest_first_limited_and_since_a_time);
    RUN(test_text_that_is_no_json_is_shown_as_text);
    RUN(test_the_report_of_an_empty_ledger_is_all_zero);
    RUN(test_the_report_of_ten_thousand_rows_is_what_counting_by_hand_gives);
    RUN(test_nothing_of_the_callers_is_read_after_it_was_put);
    fixture_end();
    return test_finish();
}
