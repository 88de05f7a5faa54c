/* What has been kept long enough goes, by age, class and size; nothing else does, also on a full
 * disk and beside a writer. */
#include "ledger/record/prune.h"

#include "ledger_fixture.h"

#include <sqlite3.h>

#define DAY_MS UINT64_C(86400000)
#define NOW_DAYS 100

struct rests {
    uint32_t count, stop_after; /* 0 = never */
};

static bool rest(void *ctx, uint32_t ms)
{
    struct rests *rests = ctx;
    CHECK(ms > 0 && ms <= 100);
    return ++rests->count == rests->stop_after;
}

/* One exchange a day, with a day's number as its id and a class in turn; text: of its prompt. */
static void fill(const char *path, int days, size_t text)
{
    static const char *const classes[] = {"public", "sensitive", "contractual", "restricted", NULL};
    struct ledger *ledger = NULL;
    char *prompt = calloc(1, text + 1);
    if (text)
        memset(prompt, 'x', text);
    REQUIRE(ledger_open(path, &ledger, NULL) == TD_OK);
    for (int i = 0; i < days; i++) {
        char id[16];
        snprintf(id, sizeof id, "d%03d", i);
        struct ledger_exchange x = fixture_exchange(id, (uint64_t)i * DAY_MS + 1);
        x.data_class = classes[i % 5];
        x.prompt_text = prompt;
        struct ledger_attempt attempt = {.tier = "local", .place = "device"};
        x.attempts = &attempt;
        x.attempt_count = 1;
        CHECK(ledger_put(ledger, &x, NULL) == TD_OK);
        const struct ledger_feedback feedback = {id, x.wall_ms, 1, "a comment"};
        CHECK(ledger_put_feedback(ledger, &feedback, NULL) == TD_OK);
    }
    ledger_close(ledger);
    free(prompt);
}

static int64_t number(const char *path, const char *sql)
{
    sqlite3 *db = NULL;
    sqlite3_stmt *row = NULL;
    int64_t value = -1;
    if (sqlite3_open(path, &db) == SQLITE_OK &&
        sqlite3_prepare_v2(db, sql, -1, &row, NULL) == SQLITE_OK && sqlite3_step(row) == SQLITE_ROW)
        value = sqlite3_column_int64(row, 0);
    sqlite3_finalize(row);
    sqlite3_close(db);
    return value;
}

static enum td_status prune(const char *path, struct ledger_keep *keep, uint32_t stop_after,
                            struct ledger_pruned *out, struct td_error *err)
{
    struct ledger_pruner *pruner = NULL;
    struct rests rests = {.stop_after = stop_after};
    *out = (struct ledger_pruned){0};
    enum td_status status = ledger_pruner_open(path, &pruner, err);
    if (status == TD_OK)
        status = ledger_prune(pruner, keep, rest, &rests, out, err);
    ledger_pruner_close(pruner);
    return status;
}

static void test_what_is_older_goes_with_all_that_belongs_to_it(void)
{
    const char *path = fixture_path("age.db");
    struct ledger_keep keep = {.before_wall_ms = 60 * DAY_MS};
    struct ledger_pruned pruned;
    struct ledger_pruner *pruner = NULL;
    uint64_t count = 0;
    fill(path, NOW_DAYS, 10);
    REQUIRE(ledger_pruner_open(path, &pruner, NULL) == TD_OK);
    CHECK(ledger_prune_count(pruner, &keep, &count, NULL) == TD_OK && count == 60);
    ledger_pruner_close(pruner);
    CHECK(fixture_count(path) == NOW_DAYS); /* counting removes nothing */
    CHECK(prune(path, &keep, 0, &pruned, NULL) == TD_OK && pruned.exchanges == 60);
    CHECK(pruned.bytes > 0 && fixture_count(path) == 40);
    CHECK(number(path, "SELECT count(*) FROM attempt") == 40);
    CHECK(number(path, "SELECT count(*) FROM feedback") == 40);
    CHECK(number(path, "SELECT min(wall_ms) FROM exchange") == (int64_t)(60 * DAY_MS + 1));
    CHECK(prune(path, &keep, 0, &pruned, NULL) == TD_OK && pruned.exchanges == 0);
    keep.before_wall_ms = 61 * DAY_MS; /* the mark does not hide what comes after it */
    CHECK(prune(path, &keep, 0, &pruned, NULL) == TD_OK && pruned.exchanges == 1);
}

static void test_a_class_has_an_age_of_its_own(void)
{
    const char *path = fixture_path("class.db");
    struct ledger_keep keep = {.before_wall_ms = 50 * DAY_MS, .by_class = true};
    struct ledger_pruned pruned;
    fill(path, NOW_DAYS, 0);
    keep.class_before_wall_ms[TD_CLASS_RESTRICTED] = 90 * DAY_MS; /* kept for ten days */
    keep.class_before_wall_ms[TD_CLASS_SENSITIVE] = 50 * DAY_MS;
    /* public and contractual stay for ever; what has no class goes as everything does */
    CHECK(prune(path, &keep, 0, &pruned, NULL) == TD_OK);
    CHECK(pruned.exchanges == 18 + 10 + 10);
    CHECK(number(path, "SELECT count(*) FROM exchange WHERE data_class = 'restricted'") == 2);
    CHECK(number(path, "SELECT count(*) FROM exchange WHERE data_class = 'sensitive'") == 10);
    CHECK(number(path, "SELECT count(*) FROM exchange WHERE data_class = 'public'") == 20);
    CHECK(number(path, "SELECT count(*) FROM exchange WHERE data_class IS NULL") == 10);
}

static void test_the_oldest_go_until_the_file_is_small_enough(void)
{
    const char *path = fixture_path("size.db");
    struct ledger_keep keep = {.bytes_max = 12000000};
    struct ledger_pruned pruned;
    struct stat before, after;
    fill(path, 400, 100000);
    REQUIRE(stat(path, &before) == 0);
    CHECK(prune(path, &keep, 0, &pruned, NULL) == TD_OK);
    CHECK(pruned.bytes <= keep.bytes_max && pruned.bytes > keep.bytes_max / 2);
    CHECK(number(path, "SELECT max(wall_ms) FROM exchange") == (int64_t)(399 * DAY_MS + 1));
    CHECK(number(path, "SELECT min(wall_ms) FROM exchange") > (int64_t)(200 * DAY_MS));
    CHECK(number(path, "PRAGMA wal_checkpoint(TRUNCATE)") == 0);
    /* The disk gets it back. */
    CHECK(stat(path, &after) == 0 && after.st_size < before.st_size / 2);
    CHECK(prune(path, &keep, 0, &pruned, NULL) == TD_OK && pruned.exchanges == 0);
}

static void test_it_ends_between_two_transactions_when_it_is_asked_to(void)
{
    const char *path = fixture_path("stopped.db");
    struct ledger_keep keep = {.before_wall_ms = UINT64_C(3000) * DAY_MS};
    struct ledger_pruned pruned;
    fill(path, 2000, 0);
    CHECK(prune(path, &keep, 1, &pruned, NULL) == TD_OK);
    CHECK(pruned.exchanges > 0 && pruned.exchanges < 2000);
    CHECK(fixture_count(path) == 2000 - (int64_t)pruned.exchanges);
    CHECK(prune(path, &keep, 0, &pruned, NULL) == TD_OK && fixture_count(path) == 0);
}

/* Exit codes: where it went wrong. */
static int prune_on_a_full_disk(const char *path)
{
    struct ledger_keep keep = {.before_wall_ms = 60 * DAY_MS};
    struct ledger_pruned pruned;
    struct td_error err = {0};
    signal(SIGXFSZ, SIG_IGN);
    struct rlimit full = {.rlim_cur = 1, .rlim_max = RLIM_INFINITY};
    setrlimit(RLIMIT_FSIZE, &full);
    if (prune(path, &keep, 0, &pruned, &err) == TD_OK || pruned.exchanges != 0)
        return 1;
    full.rlim_cur = RLIM_INFINITY;
    setrlimit(RLIMIT_FSIZE, &full);
    return fixture_count(path) == NOW_DAYS ? 0 : 2;
}

static void test_a_full_disk_loses_nothing(void)
{
    const char *path = fixture_path("full.db");
    struct ledger_pruned pruned;
    struct ledger_keep keep = {.before_wall_ms = 60 * DAY_MS};
    fill(path, NOW_DAYS, 10);
    pid_t child = fork();
    if (child == 0)
        _exit(prune_on_a_full_disk(path));
    int status = 0;
    REQUIRE(child > 0 && waitpid(child, &status, 0) == child);
    CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    CHECK(prune(path, &keep, 0, &pruned, NULL) == TD_OK && pruned.exchanges == 60);
}

static void test_where_there_is_no_ledger(void)
{
    struct ledger_pruner *pruner = NULL;
    CHECK(ledger_pruner_open(fixture_path("none.db"), &pruner, NULL) == TD_NOT_FOUND && !pruner);
    ledger_pruner_close(NULL);
}

int main(void)
{
    fixture_begin();
    RUN(test_what_is_older_goes_with_all_that_belongs_to_it);
    RUN(test_a_class_has_an_age_of_its_own);
    RUN(test_the_oldest_go_until_the_file_is_small_enough);
    RUN(test_it_ends_between_two_transactions_when_it_is_asked_to);
    RUN(test_a_full_disk_loses_nothing);
    RUN(test_where_there_is_no_ledger);
    fixture_end();
    return test_finish();
}
