/* The policies that exchanges were decided by: kept once, counted, and not forgotten. */
#include "ledger/forget.h"

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

int main(void)
{
    fixture_begin();
    RUN(test_a_policy_is_kept_once_with_the_time_of_its_first_use);
    RUN(test_forgetting_a_user_leaves_the_policies);
    RUN(test_a_policy_without_version_or_text_or_of_any_size_is_refused);
    fixture_end();
    return test_finish();
}
