/* Shadows: recorded beside the exchange, reported by tier and task with an interval. */
#include "ledger_fixture.h"

#include "base/core/str.h"
#include "base/json/json.h"
#include "base/time/log.h"

static void put(struct ledger *ledger, const char *id, const char *task, double agreement)
{
    char signals[64];
    struct ledger_exchange x = fixture_exchange(id, 1000);
    snprintf(signals, sizeof signals, "{\"task\":\"%s\"}", task);
    x.status = ENDED_OK;
    x.tier = "cloud";
    x.signals_json = signals;
    CHECK(ledger_put(ledger, &x, NULL) == TD_OK);
    const struct ledger_shadow shadow = {.exchange = id,
                                         .wall_ms = 1500,
                                         .tier = "local",
                                         .agreement = agreement,
                                         .same = agreement >= 0.5,
                                         .kind = "text",
                                         .total_ms = 100,
                                         .cost_usd = 0.5};
    CHECK(ledger_put_shadow(ledger, &shadow, NULL) == TD_OK);
}

static void put_pair(struct ledger *ledger, int number, const char *version, bool same)
{
    char id[16], of_server[] = "c1"; /* gone before it is written */
    snprintf(id, sizeof id, "ex_%d", number);
    struct ledger_exchange x = fixture_exchange(id, 1000 + (uint64_t)number);
    const struct ledger_attempt attempt = {.tier = "local", .model_version = version};
    const struct ledger_shadow shadow = {.exchange = id,
                                         .tier = "cloud",
                                         .model = "big",
                                         .model_version = of_server,
                                         .agreement = same,
                                         .same = same,
                                         .kind = "label"};
    x.attempts = &attempt;
    x.attempt_count = 1;
    CHECK(ledger_put(ledger, &x, NULL) == TD_OK);
    CHECK(ledger_put_shadow(ledger, &shadow, NULL) == TD_OK);
    memset(of_server, '-', sizeof of_server - 1);
}

static void test_skew_is_counted_by_versions_the_newest_first(void)
{
    const char *path = fixture_path("skew.db");
    struct ledger *ledger = NULL;
    struct ledger_reader *reader = NULL;
    struct json *list = NULL;
    REQUIRE(ledger_open(path, &ledger, NULL) == TD_OK);
    for (int i = 0; i < 8; i++)
        put_pair(ledger, i, i < 3 ? "v1" : "v2", i != 0 && i != 7);
    CHECK(ledger_flush(ledger, 5000, NULL) == TD_OK);
    REQUIRE(ledger_reader_open(path, &reader, NULL) == TD_OK);
    REQUIRE(ledger_reader_skew(reader, 0, &list, NULL) == TD_OK && json_count(list) == 2);
    const struct json *new = json_at(list, 0), *old = json_at(list, 1);
    CHECK(strcmp(json_cstr(json_get(new, "version")), "v2") == 0);
    CHECK(strcmp(json_cstr(json_get(new, "shadow_version")), "c1") == 0);
    CHECK(json_int(json_get(new, "compared"), 0) == 5 && json_int(json_get(new, "same"), 0) == 4);
    CHECK(json_int(json_get(new, "first_ms"), 0) == 1003);
    CHECK(json_int(json_get(new, "last_ms"), 0) == 1007);
    CHECK(json_int(json_get(old, "compared"), 0) == 3 && json_int(json_get(old, "same"), 0) == 2);
    json_free(list);
    REQUIRE(ledger_reader_skew(reader, 1005, &list, NULL) == TD_OK && json_count(list) == 1);
    json_free(list);
    ledger_reader_close(reader);
    ledger_close(ledger);
}

static double number(const struct json *object, const char *key)
{
    return json_number(json_get(object, key), -1);
}

static void test_shadows_are_counted_by_tiers_and_tasks(void)
{
    const char *path = fixture_path("shadows.db");
    struct ledger *ledger = NULL;
    struct ledger_reader *reader = NULL;
    struct json *list = NULL;
    REQUIRE(ledger_open(path, &ledger, NULL) == TD_OK);
    put(ledger, "ex_1", "chat", 0.9);
    put(ledger, "ex_2", "chat", 0.8);
    put(ledger, "ex_3", "code", 0.2);
    put(ledger, "ex_4", "code", NAN);
    put(ledger, "ex_5", "code", 0.1);
    const struct ledger_shadow dropped = {.exchange = "ex_5",
                                          .tier = "local",
                                          .agreement = NAN,
                                          .kind = LEDGER_SHADOW_DROPPED,
                                          .cost_usd = 0.5};
    CHECK(ledger_put_shadow(ledger, &dropped, NULL) == TD_OK); /* its cost counts, nothing else */
    CHECK(ledger_flush(ledger, 5000, NULL) == TD_OK);
    REQUIRE(ledger_reader_open(path, &reader, NULL) == TD_OK);
    REQUIRE(ledger_reader_shadows(reader, 0, &list, NULL) == TD_OK);
    CHECK(json_count(list) == 1);
    const struct json *pair = json_at(list, 0), *tasks = json_get(pair, "tasks");
    CHECK(number(pair, "compared") == 4 && number(pair, "same") == 2);
    CHECK(number(pair, "failed") == 1 && number(pair, "cost_usd") == 3.0);
    CHECK(fabs(number(pair, "agreement") - 0.5) < 1e-12 && number(pair, "total_ms") == 100);
    /* Wilson's interval of 2 in 4, by the formula: (2 + z²/2 ± z sqrt(1 + z²/4)) / (4 + z²) */
    CHECK(fabs(number(pair, "same_low") - 0.15004) < 1e-4);
    CHECK(fabs(number(pair, "same_high") - 0.84996) < 1e-4);
    CHECK(json_count(tasks) == 2);
    CHECK(strcmp(json_cstr(json_get(json_at(tasks, 0), "task")), "chat") == 0);
    CHECK(number(json_at(tasks, 0), "same_share") == 1);
    CHECK(number(json_at(tasks, 0), "same_high") == 1 &&
          number(json_at(tasks, 0), "same_low") > 0.3);
    CHECK(number(json_at(tasks, 1), "same") == 0 && number(json_at(tasks, 1), "same_low") == 0);
    const struct json *examples = json_get(pair, "examples");
    CHECK(json_count(examples) == 2 && strcmp(json_cstr(json_at(examples, 0)), "ex_5") == 0);
    json_free(list);
    REQUIRE(ledger_reader_shadows(reader, 2000, &list, NULL) == TD_OK);
    CHECK(json_count(list) == 0);
    json_free(list);
    REQUIRE(ledger_reader_find(reader, NULL, "ex_4", &list, NULL) == TD_OK);
    const struct json *shadow = json_at(json_get(list, "shadows"), 0);
    CHECK(json_count(json_get(list, "shadows")) == 1);
    CHECK(json_kind_of(json_get(shadow, "agreement")) == JSON_KIND_NULL);
    CHECK(strcmp(json_cstr(json_get(shadow, "kind")), "text") == 0);
    json_free(list);
    ledger_reader_close(reader);
    ledger_close(ledger);
}

static void test_a_shadow_of_no_exchange_or_without_sense_is_refused(void)
{
    const char *path = fixture_path("refused.db");
    struct ledger *ledger = NULL;
    REQUIRE(ledger_open(path, &ledger, NULL) == TD_OK);
    struct ledger_shadow shadow = {.exchange = "ex_0", .tier = "local", .kind = "label"};
    log_set_level(LOG_LEVEL_OFF);
    CHECK(ledger_put_shadow(ledger, &shadow, NULL) == TD_OK);
    CHECK(ledger_flush(ledger, 5000, NULL) == TD_OK && ledger_dropped(ledger) == 1);
    shadow.agreement = 1.5;
    CHECK(ledger_put_shadow(ledger, &shadow, NULL) == TD_INVALID);
    shadow.agreement = 1;
    shadow.kind = NULL;
    CHECK(ledger_put_shadow(ledger, &shadow, NULL) == TD_INVALID);
    log_set_level(LOG_LEVEL_INFO);
    ledger_close(ledger);
}

int main(void)
{
    fixture_begin();
    RUN(test_shadows_are_counted_by_tiers_and_tasks);
    RUN(test_skew_is_counted_by_versions_the_newest_first);
    RUN(test_a_shadow_of_no_exchange_or_without_sense_is_refused);
    fixture_end();
    return test_finish();
}
