/* Backups are of one moment, are read whole, and go back only where nothing is lost by it. */
#include "ledger/record/upkeep.h"

#include "ledger_fixture.h"

#include <sqlite3.h>

#define STATE "0123456789abcdef"

static void put(struct ledger *ledger, const char *id, uint64_t wall_ms)
{
    struct ledger_exchange x = fixture_exchange(id, wall_ms);
    x.prompt_text = "a prompt";
    CHECK(ledger_put(ledger, &x, NULL) == TD_OK);
    CHECK(ledger_flush(ledger, 5000, NULL) == TD_OK);
}

static void fill(const char *path, int count)
{
    struct ledger *ledger = NULL;
    REQUIRE(ledger_open(path, &ledger, NULL) == TD_OK);
    for (int i = 0; i < count; i++) {
        char id[16];
        snprintf(id, sizeof id, "ex_%d", i);
        put(ledger, id, 1000 + (uint64_t)i);
    }
    ledger_close(ledger);
}

static enum td_status back_up(const char *path, const char *file, struct ledger_copied *out,
                              struct td_error *err)
{
    const struct ledger_backup_options options = {.path = path, .file = file, .state = STATE};
    return ledger_backup(&options, out, err);
}

static enum td_status restore(const char *file, const char *path, bool replace, char aside[256],
                              struct td_error *err)
{
    struct ledger_copied copied;
    const struct ledger_restore_options options = {
        .file = file, .path = path, .state = STATE, .replace = replace};
    return ledger_restore(&options, &copied, aside, 256, err);
}

static void run_sql(const char *path, const char *sql)
{
    sqlite3 *db = NULL;
    CHECK(sqlite3_open(path, &db) == SQLITE_OK &&
          sqlite3_exec(db, sql, NULL, NULL, NULL) == SQLITE_OK);
    sqlite3_close(db);
}

static bool is_there(const char *path)
{
    return access(path, F_OK) == 0;
}

static void test_a_copy_beside_the_writer_goes_back_whole(void)
{
    const char *path = fixture_path("a.db"), *file = fixture_path("a.backup");
    struct ledger *ledger = NULL;
    struct ledger_copied copied;
    struct ledger_sound sound;
    struct td_error err = {0};
    struct stat info;
    char aside[256];
    REQUIRE(ledger_open(path, &ledger, NULL) == TD_OK);
    put(ledger, "ex_1", 1000);
    put(ledger, "ex_2", 2000);
    CHECK(back_up(path, file, &copied, &err) == TD_OK);
    CHECK(copied.exchanges == 2 && copied.last_wall_ms == 2000 && copied.made_wall_ms > 0);
    CHECK(strcmp(copied.state, STATE) == 0);
    CHECK(stat(file, &info) == 0 && (info.st_mode & 0777) == 0600);
    CHECK(back_up(path, file, &copied, &err) == TD_BUSY); /* it is there already */
    put(ledger, "ex_3", 3000);
    CHECK(restore(file, path, false, aside, &err) == TD_BUSY); /* in use */
    ledger_close(ledger);
    err = (struct td_error){0};
    CHECK(restore(file, path, false, aside, &err) == TD_BUSY && strstr(err.message, "newer"));
    CHECK(fixture_count(path) == 3);
    CHECK(restore(file, path, true, aside, &err) == TD_OK);
    CHECK(fixture_count(path) == 2 && fixture_count(aside) == 3);
    CHECK(ledger_inspect(path, &sound, &err) == TD_OK && sound.sound && sound.exchanges == 2);
    fill(path, 1); /* and is written on: ex_0 */
    CHECK(fixture_count(path) == 3);
}

static void test_a_backup_goes_where_nothing_is_yet(void)
{
    const char *path = fixture_path("b.db"), *file = fixture_path("b.backup");
    const char *new = fixture_path("folder/of/new.db");
    struct ledger_copied copied;
    char aside[256];
    fill(path, 3);
    REQUIRE(back_up(path, file, &copied, NULL) == TD_OK);
    CHECK(restore(file, new, false, aside, NULL) == TD_OK && !*aside && fixture_count(new) == 3);
    CHECK(restore(file, new, false, aside, NULL) == TD_OK && *aside); /* not newer */
}

static void test_a_backup_of_another_state_or_a_newer_program_is_refused(void)
{
    const char *path = fixture_path("c.db"), *file = fixture_path("c.backup");
    const char *new = fixture_path("c2.db");
    struct ledger_copied copied;
    struct td_error err = {0};
    char aside[256];
    struct ledger_restore_options other = {.file = file, .path = new, .state = "fedcba9876543210"};
    fill(path, 3);
    REQUIRE(back_up(path, file, &copied, NULL) == TD_OK);
    CHECK(ledger_restore(&other, &copied, aside, sizeof aside, &err) == TD_DENIED);
    CHECK(strstr(err.message, "installation.key") && !is_there(new));
    other.other_state = true;
    CHECK(ledger_restore(&other, &copied, aside, sizeof aside, &err) == TD_OK);
    CHECK(fixture_count(new) == 3);
    run_sql(file, "PRAGMA user_version = 999");
    err = (struct td_error){0};
    CHECK(restore(file, fixture_path("c3.db"), false, aside, &err) == TD_UNSUPPORTED);
    CHECK(strstr(err.message, "newer program") && !is_there(fixture_path("c3.db")));
}

static void damage(const char *path, off_t at)
{
    char bytes[64];
    int fd = open(path, O_RDWR | O_CLOEXEC);
    memset(bytes, 0xa5, sizeof bytes);
    CHECK(fd >= 0 && pwrite(fd, bytes, sizeof bytes, at) == (ssize_t)sizeof bytes);
    close(fd);
}

static void test_what_is_damaged_is_found_and_gives_way_only_when_asked(void)
{
    const char *path = fixture_path("d.db"), *file = fixture_path("d.backup");
    const char *bad = fixture_path("d.bad");
    struct ledger_copied copied;
    struct ledger_sound sound;
    char aside[256];
    fill(path, 200);
    REQUIRE(back_up(path, file, &copied, NULL) == TD_OK);
    REQUIRE(back_up(path, bad, &copied, NULL) == TD_OK);
    damage(bad, 4096 * 3);
    CHECK(restore(bad, fixture_path("d2.db"), false, aside, NULL) == TD_CORRUPT);
    damage(path, 4096 * 3);
    CHECK(ledger_inspect(path, &sound, NULL) == TD_OK && !sound.sound && *sound.problem);
    CHECK(restore(file, path, false, aside, NULL) == TD_CORRUPT);
    CHECK(restore(file, path, true, aside, NULL) == TD_OK && fixture_count(path) == 200);
    CHECK(ledger_inspect(path, &sound, NULL) == TD_OK && sound.sound && sound.attempts == 0);
    CHECK(restore(fixture_path("d.none"), path, true, aside, NULL) == TD_NOT_FOUND);
}

static void test_a_damaged_packed_text_is_found(void)
{
    const char *path = fixture_path("e.db");
    struct ledger_sound sound;
    struct ledger_reader *reader = NULL;
    struct json *record = NULL;
    fill(path, 3);
    run_sql(path, "UPDATE exchange SET packed = x'0105000000000011223344' WHERE id = 'ex_1'");
    CHECK(ledger_inspect(path, &sound, NULL) == TD_OK && !sound.sound);
    CHECK(strstr(sound.problem, "packed") != NULL);
    REQUIRE(ledger_reader_open(path, &reader, NULL) == TD_OK);
    CHECK(ledger_reader_find(reader, NULL, "ex_1", &record, NULL) == TD_CORRUPT);
    CHECK(ledger_reader_find(reader, NULL, "ex_2", &record, NULL) == TD_OK);
    json_free(record);
    ledger_reader_close(reader);
}

/* Exit codes: where it went wrong. */
static int copy_on_a_full_disk(const char *path, const char *file)
{
    struct ledger_copied copied;
    struct td_error err = {0};
    char aside[256];
    const char *first = fixture_path("f.first");
    if (back_up(path, first, &copied, &err) != TD_OK)
        return 1;
    signal(SIGXFSZ, SIG_IGN);
    struct rlimit full = {.rlim_cur = 8192, .rlim_max = RLIM_INFINITY};
    setrlimit(RLIMIT_FSIZE, &full);
    if (back_up(path, file, &copied, &err) == TD_OK || is_there(file))
        return 2;
    if (restore(first, fixture_path("f2.db"), false, aside, &err) == TD_OK ||
        is_there(fixture_path("f2.db")))
        return 3;
    full.rlim_cur = RLIM_INFINITY;
    setrlimit(RLIMIT_FSIZE, &full);
    return fixture_count(path) == 100 ? 0 : 4;
}

static void test_a_full_disk_leaves_no_half_copy_and_loses_nothing(void)
{
    const char *path = fixture_path("f.db"), *file = fixture_path("f.backup");
    char command[160];
    fill(path, 100);
    pid_t child = fork();
    if (child == 0)
        _exit(copy_on_a_full_disk(path, file));
    int status = 0;
    REQUIRE(child > 0 && waitpid(child, &status, 0) == child);
    CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    snprintf(command, sizeof command, "ls %s | grep -E 'part|restored'", fixture_directory);
    CHECK(system(command) != 0); /* nothing half is left */
}

static bool stop(void *ctx, uint64_t done, uint64_t all)
{
    (void)ctx;
    CHECK(done <= all);
    return false;
}

static void test_a_copy_that_is_stopped_leaves_nothing(void)
{
    const char *path = fixture_path("g.db"), *file = fixture_path("g.backup");
    struct ledger_copied copied;
    struct ledger *ledger = NULL;
    REQUIRE(ledger_open(path, &ledger, NULL) == TD_OK);
    char *large = calloc(1, 4u << 20);
    memset(large, 'x', (4u << 20) - 1);
    struct ledger_exchange x = fixture_exchange("ex_large", 1);
    x.prompt_text = large;
    CHECK(ledger_put(ledger, &x, NULL) == TD_OK);
    ledger_close(ledger);
    const struct ledger_backup_options options = {
        .path = path, .file = file, .state = "", .copying = stop};
    CHECK(ledger_backup(&options, &copied, NULL) == TD_CANCELLED && !is_there(file));
    free(large);
}

int main(void)
{
    fixture_begin();
    RUN(test_a_copy_beside_the_writer_goes_back_whole);
    RUN(test_a_backup_goes_where_nothing_is_yet);
    RUN(test_a_backup_of_another_state_or_a_newer_program_is_refused);
    RUN(test_what_is_damaged_is_found_and_gives_way_only_when_asked);
    RUN(test_a_damaged_packed_text_is_found);
    RUN(test_a_full_disk_leaves_no_half_copy_and_loses_nothing);
    RUN(test_a_copy_that_is_stopped_leaves_nothing);
    fixture_end();
    return test_finish();
}
