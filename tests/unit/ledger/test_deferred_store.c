/* The queue of questions that wait for a connection: each is given out once, in its order, and a
 * clock that jumps harms nothing. */
#include "base/core/str.h"
#include "base/time/clock.h"
#include "ledger/database/small_database.h"
#include "ledger/store/deferred_store.h"
#include "test.h"

#include <sys/stat.h>

static char folder[64], path[128];
static const uint8_t key[KEYED_KEY_BYTES] = {7};
static const struct deferred_limits roomy = {.count_max = 1000000,
                                             .owner_count_max = 1000000,
                                             .bytes_max = 1000000000,
                                             .expires_s = 3600,
                                             .keep_s = 7200};

/* A clock of the test's. */
static uint64_t mono_ms, wall_ms = 1700000000000;
static uint64_t mono(void *ctx)
{
    (void)ctx;
    return mono_ms * 1000000;
}
static uint64_t wall(void *ctx)
{
    (void)ctx;
    return wall_ms;
}
static const struct clock own_clock = {mono, wall, NULL};

static void pass_s(int64_t seconds)
{
    mono_ms += (uint64_t)seconds * 1000;
    wall_ms += (uint64_t)seconds * 1000;
}

static struct deferred_store *open_store(const struct deferred_limits *limits)
{
    struct deferred_store *store = NULL;
    struct td_error err = {0};
    CHECK(deferred_store_open(path, limits, key, &own_clock, &store, &err) == TD_OK);
    return store;
}

static void use_folder(void)
{
    snprintf(folder, sizeof folder, "/tmp/tandem-deferred-XXXXXX");
    CHECK(mkdtemp(folder));
    snprintf(path, sizeof path, "%s/deep/deferred.db", folder);
}

static void remove_folder(void)
{
    char command[128];
    snprintf(command, sizeof command, "rm -r %s", folder);
    CHECK(system(command) == 0);
}

static enum td_status add(struct deferred_store *store, const char *owner, const char *words,
                          struct deferred *out)
{
    const struct deferred_question question = {.owner = owner,
                                               .key_id = "k",
                                               .user = "ann",
                                               .path = "/v1/chat/completions",
                                               .reason = "offline",
                                               .headers = STR("x-tandem-mode: auto\n"),
                                               .body = str_from(words)};
    struct td_error err = {0};
    return deferred_store_add(store, &question, out, &err);
}

/* The text of the owner's next question; it runs then. False: none waits. */
static bool take(struct deferred_store *store, const char *owner, struct deferred *out,
                 char words[static 64])
{
    struct buf headers, body;
    struct td_error err = {0};
    buf_init(&headers, 1000);
    buf_init(&body, 1000);
    bool taken = deferred_store_take(store, owner, out, &headers, &body, &err) == TD_OK;
    if (taken) {
        CHECK(str_equal(buf_view(&headers), STR("x-tandem-mode: auto\n")));
        snprintf(words, 64, STR_FMT, STR_ARG(buf_view(&body)));
    }
    buf_deinit(&headers);
    buf_deinit(&body);
    return taken;
}

static void test_questions_come_in_their_order_and_each_ends_once(void)
{
    use_folder();
    struct deferred_store *store = open_store(&roomy);
    struct deferred one, taken, found;
    char words[64], owner[STORED_OWNER_BYTES];
    CHECK(add(store, "a", "first", &one) == TD_OK && add(store, "a", "second", &found) == TD_OK);
    CHECK(one.expires_s - one.created_s == 3600 && deferred_store_waiting(store) == 2);
    CHECK(deferred_store_next_owner(store, "", owner) && strcmp(owner, "a") == 0);
    CHECK(!deferred_store_next_owner(store, "a", owner));
    CHECK(take(store, "a", &taken, words) && strcmp(words, "first") == 0 && taken.tries == 1);
    CHECK(deferred_store_back(store, taken.id, NULL) == TD_OK);
    CHECK(take(store, "a", &taken, words) && strcmp(words, "first") == 0 && taken.tries == 2);
    CHECK(deferred_store_end(store, taken.id, 200, STR("{\"a\":1}"), NULL) == TD_OK);
    CHECK(deferred_store_end(store, taken.id, 200, STR("again"), NULL) == TD_NOT_FOUND);
    CHECK(deferred_store_back(store, taken.id, NULL) == TD_NOT_FOUND);
    struct buf answer;
    buf_init(&answer, 1000);
    CHECK(deferred_store_answer(store, taken.id, &answer, NULL) == TD_OK);
    CHECK(str_equal(buf_view(&answer), STR("{\"a\":1}")));
    buf_deinit(&answer);
    CHECK(deferred_store_find(store, "a", str_from(taken.id), &found));
    CHECK(found.state == DEFERRED_ANSWERED && found.code == 200);
    CHECK(!deferred_store_find(store, "b", str_from(taken.id), &found));
    CHECK(take(store, "a", &taken, words) && strcmp(words, "second") == 0);
    CHECK(!take(store, "a", &taken, words) && deferred_store_waiting(store) == 1);
    deferred_store_close(store);
    remove_folder();
}

static void test_what_was_being_asked_when_the_process_died_waits_again_at_its_place(void)
{
    use_folder();
    struct deferred_store *store = open_store(&roomy);
    struct deferred one, taken;
    char words[64];
    CHECK(add(store, "a", "first", &one) == TD_OK && add(store, "a", "second", &one) == TD_OK);
    CHECK(take(store, "a", &taken, words));
    struct deferred_store *after = open_store(&roomy); /* beside it: as if it had died */
    CHECK(take(after, "a", &one, words) && strcmp(words, "first") == 0 && one.tries == 2);
    CHECK(deferred_store_end(after, one.id, 200, STR("x"), NULL) == TD_OK);
    deferred_store_close(after);
    deferred_store_close(store);
    remove_folder();
}

static void test_limits_hold_for_all_and_for_one(void)
{
    const struct deferred_limits tight = {3, 2, 700, 3600, 3600};
    use_folder();
    struct deferred_store *store = open_store(&tight);
    struct deferred one, taken;
    char words[64], large[1000];
    CHECK(add(store, "a", "1", &one) == TD_OK && add(store, "a", "2", &one) == TD_OK);
    CHECK(add(store, "a", "3", &one) == TD_LIMIT);
    CHECK(add(store, "b", "1", &taken) == TD_OK && add(store, "c", "1", &one) == TD_LIMIT);
    bool removed;
    CHECK(deferred_store_drop(store, "b", str_from(taken.id), &removed, NULL) == TD_OK);
    CHECK(!removed && deferred_store_waiting(store) == 2);
    memset(large, 'x', sizeof large - 1);
    large[sizeof large - 1] = '\0';
    CHECK(add(store, "b", large, &one) == TD_LIMIT);
    /* One that runs still has its place, and one that has ended has not. */
    CHECK(take(store, "a", &taken, words) && add(store, "a", "3", &one) == TD_LIMIT);
    CHECK(deferred_store_end(store, taken.id, 400, STR("no"), NULL) == TD_OK);
    CHECK(add(store, "a", "3", &one) == TD_OK);
    deferred_store_close(store);
    remove_folder();
}

static void expect_state(struct deferred_store *store, const char *id, enum deferred_state state)
{
    struct deferred found;
    deferred_store_sweep(store);
    CHECK(deferred_store_find(store, NULL, str_from(id), &found) && found.state == state);
}

static void test_a_clock_that_jumps_expires_nothing_and_time_that_passes_does(void)
{
    use_folder();
    struct deferred_store *store = open_store(&roomy);
    struct deferred one;
    CHECK(add(store, "a", "1", &one) == TD_OK);
    wall_ms += 10ull * 365 * 86400 * 1000;
    expect_state(store, one.id, DEFERRED_WAITING);
    wall_ms -= 30ull * 365 * 86400 * 1000;
    expect_state(store, one.id, DEFERRED_WAITING);
    pass_s(1800);
    deferred_store_close(store);
    wall_ms -= 86400 * 1000; /* backwards while it is closed: no time has passed */
    store = open_store(&roomy);
    expect_state(store, one.id, DEFERRED_WAITING);
    pass_s(1799);
    expect_state(store, one.id, DEFERRED_WAITING);
    pass_s(2);
    expect_state(store, one.id, DEFERRED_EXPIRED);
    CHECK(deferred_store_waiting(store) == 0);
    pass_s(7201);
    deferred_store_sweep(store);
    CHECK(!deferred_store_find(store, NULL, str_from(one.id), &one));
    CHECK(add(store, "a", "2", &one) == TD_OK);
    deferred_store_close(store);
    wall_ms += 3601 * 1000; /* the time while it is closed counts */
    store = open_store(&roomy);
    expect_state(store, one.id, DEFERRED_EXPIRED);
    deferred_store_close(store);
    remove_folder();
}

static void test_a_user_is_forgotten_and_texts_are_not_on_the_disk(void)
{
    use_folder();
    struct deferred_store *store = open_store(&roomy);
    struct deferred one;
    uint64_t count;
    char command[512];
    CHECK(add(store, "a", "a-canary-in-a-question", &one) == TD_OK);
    CHECK(add(store, "b", "2", &one) == TD_OK);
    snprintf(command, sizeof command, "! grep -q -e canary -e ann %s %s-wal", path, path);
    CHECK(system(command) == 0);
    CHECK(deferred_store_forget(store, "b", "ann", &count, NULL) == TD_OK && count == 1);
    CHECK(deferred_store_forget(store, NULL, "bob", &count, NULL) == TD_OK && count == 0);
    CHECK(deferred_store_forget(store, NULL, "ann", &count, NULL) == TD_OK && count == 1);
    CHECK(deferred_store_waiting(store) == 0);
    deferred_store_close(store);
    remove_folder();
}

static void test_a_key_that_is_another_one_ends_the_question_and_bars_no_other(void)
{
    static const uint8_t other[KEYED_KEY_BYTES] = {8};
    use_folder();
    struct deferred_store *store = open_store(&roomy);
    struct deferred one, taken;
    struct td_error err = {0};
    struct buf headers, body;
    char words[64];
    CHECK(add(store, "a", "1", &one) == TD_OK);
    deferred_store_close(store);
    CHECK(deferred_store_open(path, &roomy, other, &own_clock, &store, &err) == TD_OK);
    buf_init(&headers, 100);
    buf_init(&body, 100);
    CHECK(deferred_store_take(store, "a", &taken, &headers, &body, &err) == TD_CORRUPT);
    buf_deinit(&headers);
    buf_deinit(&body);
    expect_state(store, one.id, DEFERRED_FAILED);
    CHECK(add(store, "a", "2", &one) == TD_OK && take(store, "a", &taken, words));
    deferred_store_close(store);
    remove_folder();
}

/* In and out, twenty times: the mean in ms. */
static double rounds_ms(struct deferred_store *store)
{
    struct deferred one, taken;
    char words[64], owner[STORED_OWNER_BYTES];
    double begin = clock_monotonic_ms(NULL);
    for (int i = 0; i < 20; i++) {
        CHECK(add(store, "a", "2", &one) == TD_OK);
        CHECK(deferred_store_next_owner(store, i % 2 ? "a" : "", owner));
        CHECK(take(store, "a", &taken, words));
        CHECK(deferred_store_end(store, taken.id, 200, STR("x"), NULL) == TD_OK);
    }
    return (clock_monotonic_ms(NULL) - begin) / 20;
}

/* What a request pays for a long queue: taking and adding do not get slower with its length. */
static void test_a_queue_of_100000_is_as_quick_as_a_short_one(void)
{
    use_folder();
    struct deferred_store *store = open_store(&roomy);
    struct deferred one;
    char command[400];
    CHECK(add(store, "b", "1", &one) == TD_OK);
    double short_ms = rounds_ms(store);
    CHECK(add(store, "a", "1", &one) == TD_OK);
    deferred_store_close(store);
    snprintf(command, sizeof command,
             "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 100000)"
             " INSERT INTO deferred SELECT NULL, 'def_' || i, 'b', k.key_id, k.user, k.path,"
             " k.reason, k.headers, k.body, '', 0, k.created_s, k.expires_age, 0, 0, 0, 0, 100"
             " FROM n, deferred k WHERE k.id = '%s'",
             one.id);
    struct db *db = NULL;
    CHECK(small_database_open(path, "", 1, &db, NULL) == TD_OK && db_exec(db, command));
    db_close(db);
    store = open_store(&roomy);
    CHECK(deferred_store_waiting(store) == 100002);
    double ms = rounds_ms(store);
    printf("a question in and out of a queue of 100000: %.1f ms, of a short one %.1f ms\n", ms,
           short_ms);
    /* Four commits to the disk, as long as that takes. A scan of the queue is many times that. */
    CHECK(ms < 200 + 4 * short_ms);
    deferred_store_sweep(store);
    deferred_store_close(store);
    remove_folder();
}

int main(void)
{
    RUN(test_questions_come_in_their_order_and_each_ends_once);
    RUN(test_what_was_being_asked_when_the_process_died_waits_again_at_its_place);
    RUN(test_limits_hold_for_all_and_for_one);
    RUN(test_a_clock_that_jumps_expires_nothing_and_time_that_passes_does);
    RUN(test_a_user_is_forgotten_and_texts_are_not_on_the_disk);
    RUN(test_a_key_that_is_another_one_ends_the_question_and_bars_no_other);
    RUN(test_a_queue_of_100000_is_as_quick_as_a_short_one);
    return test_finish();
}
