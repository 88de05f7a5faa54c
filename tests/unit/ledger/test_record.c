/* What may be put into the ledger, at the edges of each limit, and that a copy is whole. */
#include "ledger/record/record.h"

#include "ledger_fixture.h"

#include <limits.h>

/* Sixteen attempts are kept, in their order; one more is refused. */
static void test_as_many_attempts_as_the_ledger_holds_come_back(void)
{
    const char *path = fixture_path("attempts.db");
    struct ledger *ledger = NULL;
    struct ledger_reader *reader = NULL;
    struct json *json = NULL;
    struct ledger_attempt attempts[LEDGER_ATTEMPTS_MAX + 1];
    char tiers[LEDGER_ATTEMPTS_MAX + 1][16];
    for (int i = 0; i <= LEDGER_ATTEMPTS_MAX; i++) {
        snprintf(tiers[i], sizeof tiers[i], "tier%d", i);
        attempts[i] = (struct ledger_attempt){.tier = tiers[i], .outcome = ATTEMPT_FAILED};
    }
    REQUIRE(ledger_open(path, &ledger, NULL) == TD_OK);
    struct ledger_exchange x = fixture_exchange("full", 1);
    x.attempts = attempts;
    x.attempt_count = LEDGER_ATTEMPTS_MAX + 1;
    CHECK(ledger_put(ledger, &x, NULL) == TD_INVALID && ledger_dropped(ledger) == 1);
    x.attempt_count = LEDGER_ATTEMPTS_MAX;
    CHECK(ledger_put(ledger, &x, NULL) == TD_OK);
    memset(tiers, 0, sizeof tiers);
    ledger_close(ledger);
    REQUIRE(ledger_reader_open(path, &reader, NULL) == TD_OK);
    REQUIRE(ledger_reader_find(reader, NULL, "full", &json, NULL) == TD_OK);
    const struct json *list = json_get(json, "attempts");
    REQUIRE(json_count(list) == LEDGER_ATTEMPTS_MAX);
    for (int i = 0; i < LEDGER_ATTEMPTS_MAX; i++) {
        char name[16];
        snprintf(name, sizeof name, "tier%d", i);
        CHECK(strcmp(json_cstr(json_get(json_at(list, (size_t)i), "tier")), name) == 0);
    }
    json_free(json);
    ledger_reader_close(reader);
}

/* The limit is of the whole block: one byte less is too little. */
static void test_a_record_may_be_as_large_as_the_limit(void)
{
    struct record *record = NULL;
    const struct ledger_attempt attempt = {.tier = "local", .error = "broken"};
    struct ledger_exchange x = fixture_exchange("one", 1);
    x.attempts = &attempt;
    x.attempt_count = 1;
    REQUIRE(record_new(&x, SIZE_MAX, &record, NULL) == TD_OK);
    size_t bytes = record->bytes;
    free(record);
    CHECK(record_new(&x, bytes - 1, &record, NULL) == TD_LIMIT && !record);
    CHECK(record_new(&x, 1, &record, NULL) == TD_LIMIT && !record);
    REQUIRE(record_new(&x, bytes, &record, NULL) == TD_OK);
    CHECK(record->bytes == bytes && strcmp(record->attempts[0].error, "broken") == 0);
    CHECK(record->exchange.attempts == record->attempts && record->exchange.id != x.id);
    CHECK(!record->feedback.exchange && !record->shadow.exchange && !record->reaction.exchange &&
          !record->policy.version);
    free(record);
    x.wall_ms = (uint64_t)INT64_MAX + 1;
    CHECK(record_new(&x, bytes, &record, NULL) == TD_INVALID && !record);
    x.wall_ms = INT64_MAX;
    CHECK(record_new(&x, bytes, &record, NULL) == TD_OK);
    free(record);
    x.id = "";
    CHECK(record_new(&x, bytes, &record, NULL) == TD_INVALID && !record);
}

static void test_feedback_shadows_reactions_and_policies_have_edges_too(void)
{
    static const uint64_t late = (uint64_t)INT64_MAX + 1;
    static const struct {
        struct ledger_feedback feedback;
        size_t bytes_max;
        enum td_status status;
    } said[] = {
        {{"ex", 1, 0, NULL}, 3, TD_OK},          {{"ex", 1, 1, NULL}, 3, TD_OK},
        {{"ex", 1, 0, NULL}, 2, TD_LIMIT},       {{"ex", 1, 1, "no"}, 6, TD_OK},
        {{"ex", 1, 1, "no"}, 5, TD_LIMIT},       {{"ex", 1, -1e-9, NULL}, 9, TD_INVALID},
        {{"ex", 1, 1.001, NULL}, 9, TD_INVALID}, {{"ex", late, 1, NULL}, 9, TD_INVALID},
        {{"ex", 1, NAN, NULL}, 9, TD_INVALID},
    };
    static const struct {
        struct ledger_shadow shadow;
        size_t bytes_max;
        enum td_status status;
    } shadows[] = {
        {{"ex", 1, "t", NULL, NULL, NULL, 0, .kind = "text"}, 10, TD_OK},
        {{"ex", 1, "t", NULL, NULL, NULL, 1, .kind = "text"}, 10, TD_OK},
        {{"ex", 1, "t", NULL, NULL, NULL, NAN, .kind = "text"}, 10, TD_OK},
        {{"ex", 1, "t", NULL, NULL, NULL, 0, .kind = "text"}, 9, TD_LIMIT},
        {{"ex", 1, "t", "p", "m", NULL, 0, .kind = "text"}, 14, TD_OK},
        {{"ex", 1, "t", "p", "m", NULL, 0, .kind = "text"}, 13, TD_LIMIT},
        {{"ex", 1, "t", "p", "m", "v1", 0, .kind = "text"}, 17, TD_OK},
        {{"ex", 1, "t", "p", "m", "v1", 0, .kind = "text"}, 16, TD_LIMIT},
        {{"ex", 1, "t", NULL, NULL, NULL, -0.001, .kind = "text"}, 99, TD_INVALID},
        {{"ex", 1, "t", NULL, NULL, NULL, 1.001, .kind = "text"}, 99, TD_INVALID},
        {{"ex", late, "t", NULL, NULL, NULL, 1, .kind = "text"}, 99, TD_INVALID},
        {{"ex", 1, NULL, NULL, NULL, NULL, 1, .kind = "text"}, 99, TD_INVALID},
        {{"", 1, "t", NULL, NULL, NULL, 1, .kind = "text"}, 99, TD_INVALID},
        {{NULL, 1, "t", NULL, NULL, NULL, 1, .kind = "text"}, 99, TD_INVALID},
        {{"ex", 1, "t", NULL, NULL, NULL, 1, .kind = NULL}, 99, TD_INVALID},
    };
    static const struct {
        struct ledger_reaction reaction;
        enum td_status status;
    } reactions[] = {
        {{"ex", 1, REACTION_NONE}, TD_INVALID},
        {{"ex", 1, (enum reaction)(REACTION_NONE + 1)}, TD_OK},
        {{"ex", 1, (enum reaction)(REACTION_COUNT - 1)}, TD_OK},
        {{"ex", 1, REACTION_COUNT}, TD_INVALID},
        {{"", 1, (enum reaction)(REACTION_NONE + 1)}, TD_INVALID},
        {{NULL, 1, (enum reaction)(REACTION_NONE + 1)}, TD_INVALID},
        {{"ex", late, (enum reaction)(REACTION_NONE + 1)}, TD_INVALID},
    };
    static const struct {
        struct ledger_policy policy;
        size_t bytes_max;
        enum td_status status;
    } policies[] = {
        {{"v", 1, "text"}, 7, TD_OK},         {{"v", 1, "text"}, 6, TD_LIMIT},
        {{NULL, 1, "text"}, 9, TD_INVALID},   {{"v", 1, NULL}, 9, TD_INVALID},
        {{"v", late, "text"}, 9, TD_INVALID},
    };
    struct record *record;
    for (size_t i = 0; i < sizeof said / sizeof *said; i++) {
        CHECK(record_new_feedback(&said[i].feedback, said[i].bytes_max, &record, NULL) ==
              said[i].status);
        CHECK((record != NULL) == (said[i].status == TD_OK));
        free(record);
    }
    for (size_t i = 0; i < sizeof shadows / sizeof *shadows; i++) {
        CHECK(record_new_shadow(&shadows[i].shadow, shadows[i].bytes_max, &record, NULL) ==
              shadows[i].status);
        CHECK((record != NULL) == (shadows[i].status == TD_OK));
        free(record);
    }
    for (size_t i = 0; i < sizeof reactions / sizeof *reactions; i++) {
        CHECK(record_new_reaction(&reactions[i].reaction, &record, NULL) == reactions[i].status);
        CHECK((record != NULL) == (reactions[i].status == TD_OK));
        free(record);
    }
    for (size_t i = 0; i < sizeof policies / sizeof *policies; i++) {
        CHECK(record_new_policy(&policies[i].policy, policies[i].bytes_max, &record, NULL) ==
              policies[i].status);
        CHECK((record != NULL) == (policies[i].status == TD_OK));
        free(record);
    }
}

int main(void)
{
    fixture_begin();
    RUN(test_as_many_attempts_as_the_ledger_holds_come_back);
    RUN(test_a_record_may_be_as_large_as_the_limit);
    RUN(test_feedback_shadows_reactions_and_policies_have_edges_too);
    fixture_end();
    return test_finish();
}
