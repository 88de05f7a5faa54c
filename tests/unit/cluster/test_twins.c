/* The ledger on PostgreSQL says the same as the one in a file: the same records are put into both,
 * and every reading is compared. TANDEM_TEST_POSTGRES is an empty database
 * (tests/support/postgres.py makes one). */
#include "base/core/error.h"
#include "base/time/clock.h"
#include "cluster/postgres.h"
#include "ledger/database/db.h"
#include "ledger/record/forget.h"
#include "ledger_fixture.h"
#include "ledger_readings.h"

static const char *url;

static uint32_t random_state = 12345;
static uint32_t below(uint32_t limit)
{
    random_state = random_state * 1664525u + 1013904223u;
    return (random_state >> 8) % limit;
}

#define PICK(...)           \
    ((const char *const[]){ \
        __VA_ARGS__}[below(sizeof((const char *const[]){__VA_ARGS__}) / sizeof(char *))])

static const char *signals(void)
{
    return PICK(
        NULL, "", "no JSON {", "[1,2]", "{\"cache\":\"hit\",\"cache_saved_usd\":0.125}",
        "{\"cache\":\"miss\"}",
        "broken {\"cache\":", "{\"task\":\"chat\",\"app\":\"shop\",\"key_id\":\"k1\"}",
        "{\"task\":\"code\",\"key\":\"0123456789abcdef\",\"note\":\"it's \\u00e4 ? \\\\ \\\" $1\"}",
        "{\"decision\":{\"earlier\":{\"by\":\"similar\",\"result\":\"moved\",\"given_up\":0.25,"
        "\"usd\":"
        "0.5}}}",
        "{\"decision\":{\"earlier\":{\"by\":\"conversation\",\"result\":\"kept\",\"given_up\":null}"
        "}}");
}

static struct ledger_attempt attempt(void)
{
    return (struct ledger_attempt){
        .tier = PICK("local", "cloud", "cloud", NULL),
        .model = PICK("nano", "big", NULL),
        .place = PICK("device", "cloud"),
        .model_version = PICK(NULL, "v1", "v2"),
        .outcome = (enum attempt_outcome)below(ATTEMPT_ANSWERED + 1),
        .error = below(4) ? NULL : "the peer said \"no\"; it's away\n",
        .confidence = below(3) ? below(1000) / 1000.0 : (double)NAN,
        .prompt_tokens = below(5000),
        .completion_tokens = below(5000),
        .cached_tokens = below(50),
        .exact = below(2),
        .estimated = below(2),
        .prompt_estimate = below(5000),
        .answer_bytes = below(20000),
        .first_ms = below(4) ? below(1000) / 8.0 : (double)NAN,
        .total_ms = below(1000) / 8.0,
        .cost_usd = below(1024) / 1024.0,
        .egress_bytes = below(2) ? 0 : 1ull << 40,
    };
}

static void put_one(struct ledger *ledgers[2], int number)
{
    char id[32], before[32];
    struct ledger_attempt attempts[3] = {attempt(), attempt(), attempt()};
    snprintf(id, sizeof id, "ex_%d", number);
    snprintf(before, sizeof before, "ex_%d", (int)below((uint32_t)number + 2));
    uint64_t day_ms = 86400000ull * 19000, wall_ms = day_ms + (uint64_t)number * 977777;
    struct ledger_exchange x = fixture_exchange(id, wall_ms);
    x.user = PICK(NULL, "ann", "O'Brien", "\xc3\xa4nne");
    x.route = PICK(NULL, "default", "support");
    x.tenant = PICK(NULL, "t1", "t2");
    x.policy_version = PICK("v1", "v2", NULL);
    x.tier = attempts[0].tier;
    x.place = attempts[0].place;
    x.status = (enum exchange_end)below(4);
    x.standing = (enum answer_standing)below(3);
    x.all_cloud_basis = (enum cost_basis)below(3);
    x.degraded = below(2);
    x.streamed = below(2);
    x.ttft_ms = below(3) ? below(1000) / 8.0 : (double)NAN;
    x.cost_usd = below(1024) / 1024.0;
    x.all_cloud_cost_usd = below(4) ? below(1024) / 512.0 : (double)NAN;
    x.trace_id = PICK(NULL, "trace-a", "trace-b");
    x.request_id = PICK(NULL, "name");
    x.signals_json = signals();
    x.reasons_json = PICK(NULL, "[]", "[{\"code\":\"review\"}]");
    x.prompt_text = PICK(NULL, "why?", "");
    x.answer_text = PICK(NULL, "because");
    x.attempts = attempts;
    x.attempt_count = below(4);
    const struct ledger_feedback said = {before, wall_ms + 1, below(5) / 4.0,
                                         PICK(NULL, "good", "no 'good'")};
    const struct ledger_shadow shadow = {.exchange = before,
                                         .wall_ms = wall_ms + 2,
                                         .tier = PICK("local", "cloud"),
                                         .place = PICK(NULL, "device", "cloud"),
                                         .model_version = PICK(NULL, "c1"),
                                         .agreement = below(4) ? below(9) / 8.0 : (double)NAN,
                                         .same = below(2),
                                         .kind = PICK("text", "label", LEDGER_SHADOW_DROPPED),
                                         .total_ms = below(100),
                                         .cost_usd = below(64) / 64.0};
    const struct ledger_reaction went = {before, wall_ms + 3,
                                         (enum reaction)(1 + below(REACTION_COUNT - 1))};
    const struct ledger_policy policy = {below(2) ? "v1" : "v2", 1 + below(2), "routes: {}"};
    uint32_t more = below(16);
    for (int i = 0; i < 2; i++) {
        CHECK(ledger_put(ledgers[i], &x, NULL) == TD_OK);
        if (more & 1)
            CHECK(ledger_put_feedback(ledgers[i], &said, NULL) == TD_OK);
        if (more & 2)
            CHECK(ledger_put_shadow(ledgers[i], &shadow, NULL) == TD_OK);
        if (more & 4)
            CHECK(ledger_put_reaction(ledgers[i], &went, NULL) == TD_OK);
        if ((more & 8) && number < 4)
            CHECK(ledger_put_policy(ledgers[i], &policy, NULL) == TD_OK);
        if ((more & 8) && number < 8)
            CHECK(ledger_put_model(ledgers[i], &policy, NULL) == TD_OK);
    }
}

static int by_text(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* Rows whose order means nothing, each of which ends with a semicolon. */
static void sort_rows(struct buf *rows)
{
    size_t count = 0;
    char **items = calloc(rows->len + 1, sizeof *items),
         *copy = strdup(rows->data ? rows->data : "");
    if (!items || !copy)
        abort();
    for (char *rest = copy, *item; (item = strsep(&rest, ";")) != NULL;)
        items[count++] = item;
    qsort(items, count, sizeof *items, by_text);
    buf_clear(rows);
    for (size_t i = 0; i < count; i++)
        buf_printf(rows, "%s;", items[i]);
    free(items);
    free(copy);
}

static void compare(const char *path)
{
    struct ledger_reader *readers[2];
    struct td_error err = {0};
    REQUIRE(ledger_reader_open(path, &readers[0], NULL) == TD_OK);
    REQUIRE(ledger_reader_open(url, &readers[1], &err) == TD_OK);
    for (size_t r = 0; r < sizeof readings / sizeof *readings; r++) {
        struct buf said[2];
        enum td_status status[2];
        for (int i = 0; i < 2; i++) {
            err = (struct td_error){0};
            buf_init(&said[i], 64u << 20);
            status[i] = readings[r].read(readers[i], &said[i], &err);
            if (status[i] != TD_OK)
                fprintf(stderr, "%s: %s\n", readings[r].name, err.message);
            if (readings[r].read == read_spent || readings[r].read == read_tokens ||
                readings[r].read == read_outcomes)
                sort_rows(&said[i]);
        }
        CHECK(status[0] == status[1]);
        bool same = str_equal(buf_view(&said[0]), buf_view(&said[1]));
        if (!same)
            fprintf(stderr, "%s:\n%.3000s\n%.3000s\n", readings[r].name, said[0].data,
                    said[1].data);
        CHECK(same);
        for (int i = 0; i < 2; i++)
            buf_deinit(&said[i]);
    }
    for (int i = 0; i < 2; i++)
        ledger_reader_close(readers[i]);
}

enum { EXCHANGES = 700 }; /* more than a cursor gives at a time */

/* Until all is in its database: what a busy one does not take in 400 ms waits on this disk, and is
 * tried again once a second. */
static bool settle(struct ledger *ledger)
{
    double end_ms = clock_monotonic_ms(NULL) + 60000;
    uint64_t waiting = 0;
    if (ledger_flush(ledger, 60000, NULL) != TD_OK)
        return false;
    while ((ledger_is_away(ledger, &waiting) || waiting) && clock_monotonic_ms(NULL) < end_ms)
        usleep(20000);
    return waiting == 0;
}

static void test_both_say_the_same(void)
{
    const char *path = fixture_path("twin.db");
    struct ledger *ledgers[2];
    struct td_error err = {0};
    REQUIRE(ledger_open(path, &ledgers[0], NULL) == TD_OK);
    enum td_status status = ledger_open(url, &ledgers[1], &err);
    if (status != TD_OK)
        fprintf(stderr, "%s\n", err.message);
    REQUIRE(status == TD_OK);
    for (int i = 0; i < EXCHANGES; i++)
        put_one(ledgers, i);
    for (int i = 0; i < 2; i++)
        CHECK(settle(ledgers[i]));
    CHECK(ledger_dropped(ledgers[0]) == ledger_dropped(ledgers[1]));
    /* An id that is there is refused by both, and leaves nothing behind. */
    struct ledger_attempt more = attempt();
    struct ledger_exchange again = fixture_exchange("ex_1", 7);
    again.attempts = &more;
    again.attempt_count = 1;
    for (int i = 0; i < 2; i++) {
        uint64_t before = ledger_dropped(ledgers[i]);
        CHECK(ledger_put(ledgers[i], &again, NULL) == TD_OK);
        CHECK(settle(ledgers[i]));
        CHECK(ledger_dropped(ledgers[i]) == before + 1);
    }
    compare(path);
    struct ledger_forgotten gone[2] = {{0}};
    CHECK(ledger_forget(path, "t1", "O'Brien", &gone[0], NULL) == TD_OK);
    CHECK(ledger_forget(url, "t1", "O'Brien", &gone[1], &err) == TD_OK);
    CHECK(gone[0].exchanges > 0 && gone[0].exchanges == gone[1].exchanges &&
          gone[0].comments == gone[1].comments && gone[0].texts == gone[1].texts);
    compare(path);
    for (int i = 0; i < 2; i++)
        ledger_close(ledgers[i]);
}

static void test_text_that_is_no_utf8_is_stored(void)
{
    struct ledger *ledger;
    struct ledger_reader *reader;
    struct json *found = NULL;
    REQUIRE(ledger_open(url, &ledger, NULL) == TD_OK);
    struct ledger_exchange x = fixture_exchange("ex_bytes", 5);
    x.request_id = "a\xff"
                   "b";
    CHECK(ledger_put(ledger, &x, NULL) == TD_OK && settle(ledger));
    CHECK(ledger_dropped(ledger) == 0);
    ledger_close(ledger);
    REQUIRE(ledger_reader_open(url, &reader, NULL) == TD_OK);
    CHECK(ledger_reader_find(reader, NULL, "ex_byt", &found, NULL) == TD_OK);
    CHECK(str_equal(json_text(json_get(found, "request_id")), STR("a\xef\xbf\xbd"
                                                                  "b")));
    json_free(found);
    ledger_reader_close(reader);
}

static void test_a_name_that_nobody_serves_is_refused(void)
{
    struct ledger *ledger;
    struct td_error err = {0};
    CHECK(ledger_open("mysql://x/y", &ledger, &err) == TD_UNSUPPORTED && err.message[0]);
    err = (struct td_error){0};
    CHECK(ledger_open("postgresql://ann:secret@127.0.0.1/x", &ledger, &err) == TD_INVALID);
    CHECK(strstr(err.message, "PGPASSWORD") && !strstr(err.message, "secret"));
}

int main(void)
{
    fixture_begin();
    url = getenv("TANDEM_TEST_POSTGRES");
    if (!url)
        SKIP("twins", "TANDEM_TEST_POSTGRES is not set");
    else {
        static char waiting[160];
        snprintf(waiting, sizeof waiting, "%s", fixture_path("waiting"));
        postgres_announce();
        postgres_set_node("unit", waiting);
        RUN(test_both_say_the_same);
        RUN(test_text_that_is_no_utf8_is_stored);
        RUN(test_a_name_that_nobody_serves_is_refused);
    }
    fixture_end();
    return test_finish();
}
