/* The policies that exchanges were decided by: kept once, counted, and not forgotten. */
#include "ledger/record/forget.h"

#include "ledger_fixture.h"

static enum td_status put_policy(struct ledger *ledger, const char *version, uint64_t wall_ms,
                                 const char *text)
{
    const struct ledger_policy policy = {version, wall_ms, text};
    return ledger_put_policy(ledger, &policy, NULL);
}

static void put_exchange(struct ledger *ledger, const char *id, const char *version)
{
    struct ledger_exchange exchange = fixture_exchange(id, 1000);
    exchange.policy_version = version;
    exchange.user = "ann";
    CHECK(ledger_put(ledger, &exchange, NULL) == TD_OK);
}

static struct json *policies_of(const char *path)
{
    struct ledger_reader *reader = NULL;
    struct json *list = NULL;
    if (ledger_reader_open(path, &reader, NULL) == TD_OK)
        CHECK(ledger_reader_policies(reader, &list, NULL) == TD_OK);
    ledger_reader_close(reader);
    return list;
}

static bool is_policy(const struct json *policy, const char *version, int64_t wall_ms,
                      const char *text, int64_t exchanges)
{
    return json_cstr(json_get(policy, "version")) && json_cstr(json_get(policy, "text")) &&
           strcmp(json_cstr(json_get(policy, "version")), version) == 0 &&
           strcmp(json_cstr(json_get(policy, "text")), text) == 0 &&
           json_int(json_get(policy, "wall_ms"), -1) == wall_ms &&
           json_int(json_get(policy, "exchanges"), -1) == exchanges;
}

static void test_a_policy_is_kept_once_with_the_time_of_its_first_use(void)
{
    const char *path = fixture_path("policies.db");
    struct ledger *ledger = NULL;
    REQUIRE(ledger_open(path, &ledger, NULL) == TD_OK);
    CHECK(put_policy(ledger, "bb", 2000, "tier local\n") == TD_OK);
    put_exchange(ledger, "ex_1", "bb");
    put_exchange(ledger, "ex_2", "bb");
    put_exchange(ledger, "ex_3", NULL); /* embeddings have none */
    CHECK(put_policy(ledger, "aa", 3000, "tier cloud\n") == TD_OK);
    CHECK(put_policy(ledger, "bb", 4000, "another text") == TD_OK); /* it came back */
    ledger_close(ledger);
    REQUIRE(ledger_open(path, &ledger, NULL) == TD_OK); /* and again after a restart */
    CHECK(put_policy(ledger, "bb", 5000, "tier local\n") == TD_OK);
    ledger_close(ledger);
    struct json *list = policies_of(path);
    REQUIRE(json_count(list) == 2);
    CHECK(is_policy(json_at(list, 0), "bb", 2000, "tier local\n", 2));
    CHECK(is_policy(json_at(list, 1), "aa", 3000, "tier cloud\n", 0));
    CHECK(fixture_count(path) == 3); /* no exchange was added or refused */
    json_free(list);
}

static void test_forgetting_a_user_leaves_the_policies(void)
{
    const char *path = fixture_path("policies.db");
    struct ledger_forgotten gone;
    REQUIRE(ledger_forget(path, NULL, "ann", &gone, NULL) == TD_OK && gone.exchanges == 3);
    struct json *list = policies_of(path);
    REQUIRE(json_count(list) == 2);
    CHECK(is_policy(json_at(list, 0), "bb", 2000, "tier local\n", 2));
    json_free(list);
}

static void test_a_policy_without_version_or_text_or_of_any_size_is_refused(void)
{
    enum { TOO_MUCH = (16u << 20) + 1 };
    struct ledger *ledger = NULL;
    const char *path = fixture_path("refused.db");
    char *large = malloc(TOO_MUCH);
    REQUIRE(large != NULL && ledger_open(path, &ledger, NULL) == TD_OK);
    memset(large, 'x', TOO_MUCH - 1);
    large[TOO_MUCH - 1] = '\0';
    CHECK(put_policy(ledger, NULL, 1, "text") == TD_INVALID);
    CHECK(put_policy(ledger, "aa", 1, NULL) == TD_INVALID);
    CHECK(put_policy(ledger, "aa", UINT64_MAX, "text") == TD_INVALID);
    CHECK(put_policy(ledger, "aa", 1, large) == TD_LIMIT);
    ledger_close(ledger);
    struct json *list = policies_of(path);
    CHECK(list != NULL && json_count(list) == 0);
    json_free(list);
    free(large);
}

static void test_versions_of_models_are_kept_apart_from_policies_and_counted(void)
{
    const char *path = fixture_path("models.db");
    struct ledger *ledger = NULL;
    struct ledger_reader *reader = NULL;
    struct json *list = NULL, *found = NULL;
    const struct ledger_policy one = {"aa", 2000, "{\"model\":\"m\"}"}, again = {"aa", 9000, "{}"},
                               other = {"bb", 3000, "{}"};
    const struct ledger_attempt attempts[2] = {{.tier = "local", .model_version = "aa"},
                                               {.tier = "cloud", .model_version = "cc"}};
    struct ledger_exchange exchange = fixture_exchange("ex_1", 5000);
    exchange.attempts = attempts;
    exchange.attempt_count = 2;
    REQUIRE(ledger_open(path, &ledger, NULL) == TD_OK);
    CHECK(ledger_put_model(ledger, &one, NULL) == TD_OK);
    CHECK(ledger_put_model(ledger, &again, NULL) == TD_OK);
    CHECK(ledger_put_model(ledger, &other, NULL) == TD_OK);
    CHECK(ledger_put(ledger, &exchange, NULL) == TD_OK);
    ledger_close(ledger);
    REQUIRE(ledger_reader_open(path, &reader, NULL) == TD_OK);
    REQUIRE(ledger_reader_models(reader, &list, NULL) == TD_OK && json_count(list) == 2);
    const struct json *first = json_at(list, 0), *second = json_at(list, 1);
    CHECK(strcmp(json_cstr(json_get(first, "version")), "aa") == 0);
    CHECK(json_int(json_get(first, "wall_ms"), 0) == 2000);
    CHECK(json_int(json_get(first, "attempts"), 0) == 1);
    CHECK(json_int(json_get(first, "last_ms"), 0) == 5000);
    CHECK(json_int(json_get(second, "attempts"), -1) == 0);
    CHECK(json_kind_of(json_get(second, "last_ms")) == JSON_KIND_NULL);
    json_free(list);
    REQUIRE(ledger_reader_policies(reader, &list, NULL) == TD_OK && json_count(list) == 0);
    REQUIRE(ledger_reader_find(reader, NULL, "ex_1", &found, NULL) == TD_OK);
    const struct json *attempt = json_at(json_get(found, "attempts"), 1);
    CHECK(strcmp(json_cstr(json_get(attempt, "model_version")), "cc") == 0);
    json_free(found);
    json_free(list);
    ledger_reader_close(reader);
}

int main(void)
{
    fixture_begin();
    RUN(test_a_policy_is_kept_once_with_the_time_of_its_first_use);
    RUN(test_forgetting_a_user_leaves_the_policies);
    RUN(test_a_policy_without_version_or_text_or_of_any_size_is_refused);
    RUN(test_versions_of_models_are_kept_apart_from_policies_and_counted);
    fixture_end();
    return test_finish();
}
