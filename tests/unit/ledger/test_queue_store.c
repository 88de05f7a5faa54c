/* The queues of tickets: each entry is taken with a lease, ended once, and found again after the
 * process is gone. */
#include "base/core/str.h"
#include "base/time/clock.h"
#include "ledger/store/queue_keeper.h"
#include "ledger/store/queue_store.h"
#include "test.h"

#include <signal.h>
#include <sqlite3.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static char path[128];

static void use_path(void)
{
    char folder[64] = "/tmp/tandem-queue-XXXXXX";
    CHECK(mkdtemp(folder));
    snprintf(path, sizeof path, "%s/queues.db", folder);
}

static void remove_path(void)
{
    char command[256];
    *strrchr(path, '/') = '\0';
    snprintf(command, sizeof command, "rm -r %s", path);
    CHECK(system(command) == 0);
}

static struct queue_store *open_store(void)
{
    struct queue_store *store = NULL;
    CHECK(queue_store_open(path, &store, NULL) == TD_OK);
    return store;
}

static int64_t now_s(void)
{
    return (int64_t)(clock_wall_ms(NULL) / 1000);
}

static struct queue_entry entry(void)
{
    return (struct queue_entry){.queue = "people",
                                .owner = "t1",
                                .user = "ann",
                                .about = "ex_1",
                                .data_class = 1,
                                .expires_s = now_s() + 100,
                                .open_max = 10,
                                .body = STR("{\"question\":[]}")};
}

static bool copy_row(void *ctx, const struct queued *row)
{
    *(struct queued *)ctx = *row;
    return true;
}

static struct queued row_of(struct queue_store *store, const char *id)
{
    struct queued row = {.id = ""};
    CHECK(queue_store_find(store, NULL, id, copy_row, &row, NULL) == TD_OK);
    return row;
}

static void test_an_entry_is_there_after_a_restart_in_a_file_of_its_own(void)
{
    use_path();
    struct queue_store *store = open_store();
    struct queue_entry added = entry();
    struct stat info;
    char id[QUEUED_ID_BYTES];
    CHECK(stat(path, &info) == 0 && (info.st_mode & 0777) == 0600);
    CHECK(queue_store_add(store, &added, id, NULL) == TD_OK);
    queue_store_close(store);
    store = open_store();
    struct queued row = row_of(store, id);
    CHECK(row.state == QUEUED_OPEN && row.data_class == 1);
    CHECK(strcmp(row.owner, "t1") == 0 && strcmp(row.about, "ex_1") == 0);
    CHECK(queue_store_find(store, "t2", id, copy_row, &row, NULL) == TD_NOT_FOUND);
    queue_store_close(store);
    remove_path();
}

static void test_who_takes_an_entry_has_it_until_the_lease_ends(void)
{
    use_path();
    struct queue_store *store = open_store();
    struct queue_entry added = entry();
    char id[QUEUED_ID_BYTES];
    CHECK(queue_store_add(store, &added, id, NULL) == TD_OK);
    CHECK(queue_store_take(store, id, "ann", 100, NULL) == TD_OK);
    CHECK(queue_store_take(store, id, "ann", 100, NULL) == TD_OK); /* longer */
    CHECK(row_of(store, id).takes == 1);
    CHECK(queue_store_take(store, id, "bob", 100, NULL) == TD_BUSY);
    CHECK(queue_store_finish(store, id, "bob", "answered", STR("{}"), NULL) == TD_BUSY);
    CHECK(queue_store_release(store, id, "bob", NULL) == TD_BUSY);
    CHECK(queue_store_release(store, id, "ann", NULL) == TD_OK);
    CHECK(queue_store_take(store, id, "bob", 0, NULL) == TD_OK); /* it has ended at once */
    CHECK(row_of(store, id).state == QUEUED_OPEN);
    CHECK(queue_store_take(store, id, "ann", 100, NULL) == TD_OK);
    CHECK(row_of(store, id).takes == 3 && row_of(store, id).state == QUEUED_TAKEN);
    queue_store_close(store);
    remove_path();
}

static void test_an_entry_is_ended_once(void)
{
    use_path();
    struct queue_store *store = open_store(), *beside = open_store();
    struct queue_entry added = entry();
    struct td_error err = {0};
    char id[QUEUED_ID_BYTES];
    CHECK(queue_store_add(store, &added, id, NULL) == TD_OK);
    CHECK(queue_store_finish(store, id, "ann", "accepted", STR("{\"text\":\"A\"}"), NULL) == TD_OK);
    CHECK(queue_store_finish(beside, id, "bob", "answered", STR("{\"text\":\"B\"}"), &err) ==
          TD_UNSUPPORTED);
    CHECK(strstr(err.message, "accepted"));
    CHECK(queue_store_finish(store, id, "ann", "edited", STR("{}"), NULL) == TD_UNSUPPORTED);
    CHECK(queue_store_take(store, id, "ann", 1, NULL) == TD_UNSUPPORTED);
    CHECK(strcmp(row_of(beside, id).outcome, "accepted") == 0);
    CHECK(queue_store_finish(store, "q_none", "ann", "edited", STR("{}"), NULL) == TD_NOT_FOUND);
    queue_store_close(beside);
    queue_store_close(store);
    remove_path();
}

static void test_a_full_queue_an_expired_entry_and_one_that_is_too_long_are_refused(void)
{
    use_path();
    struct queue_store *store = open_store();
    struct queue_entry added = entry();
    struct queue_count count;
    char id[QUEUED_ID_BYTES], late[QUEUED_ID_BYTES];
    added.open_max = 1;
    CHECK(queue_store_add(store, &added, id, NULL) == TD_OK);
    CHECK(queue_store_add(store, &added, late, NULL) == TD_BUSY);
    queue_store_count(store, "people", &count);
    CHECK(count.waiting == 1 && count.taken == 0 && count.oldest_s > 0);
    added.open_max = 5;
    added.expires_s = now_s() - 1;
    CHECK(queue_store_add(store, &added, late, NULL) == TD_OK);
    CHECK(row_of(store, late).state == QUEUED_EXPIRED);
    CHECK(queue_store_take(store, late, "ann", 9, NULL) == TD_UNSUPPORTED);
    CHECK(queue_store_finish(store, late, "ann", "answered", STR("{}"), NULL) == TD_UNSUPPORTED);
    queue_store_count(store, "people", &count);
    CHECK(count.waiting == 1);
    char *long_text = calloc(1, QUEUED_TEXT_BYTES_MAX + 1);
    memset(long_text, 'x', QUEUED_TEXT_BYTES_MAX + 1);
    added.body = (struct td_str){long_text, QUEUED_TEXT_BYTES_MAX + 1};
    CHECK(queue_store_add(store, &added, late, NULL) == TD_LIMIT);
    CHECK(queue_store_finish(store, id, "ann", "answered", added.body, NULL) == TD_LIMIT);
    free(long_text);
    queue_store_close(store);
    remove_path();
}

static bool count_row(void *ctx, const struct queued *row)
{
    (void)row;
    ++*(size_t *)ctx;
    return true;
}

static void count_note(void *ctx, int64_t at_s, const char *who, const char *what)
{
    CHECK(at_s > 0 && strcmp(who, "ann") == 0 && strcmp(what, "saw it whole") == 0);
    ++*(size_t *)ctx;
}

static void test_lists_are_an_owners_and_a_forgotten_user_leaves_nothing(void)
{
    use_path();
    struct queue_store *store = open_store();
    struct queue_entry added = entry();
    char ids[3][QUEUED_ID_BYTES];
    size_t count = 0;
    uint64_t forgotten = 0;
    for (int i = 0; i < 3; i++) {
        added.owner = i == 2 ? "t2" : "t1";
        CHECK(queue_store_add(store, &added, ids[i], NULL) == TD_OK);
    }
    struct queue_filter filter = {.owner = "t1", .waiting = true};
    CHECK(queue_store_each(store, &filter, count_row, &count, NULL) == TD_OK && count == 2);
    filter.after = ids[0];
    count = 0;
    CHECK(queue_store_each(store, &filter, count_row, &count, NULL) == TD_OK && count == 1);
    CHECK(queue_store_note(store, ids[0], "ann", "saw it whole", NULL) == TD_OK);
    count = 0;
    CHECK(queue_store_notes(store, ids[0], count_note, &count, NULL) == TD_OK && count == 1);
    CHECK(queue_store_forget(store, "t1", "ann", &forgotten, NULL) == TD_OK && forgotten == 2);
    CHECK(queue_store_find(store, NULL, ids[0], count_row, &count, NULL) == TD_NOT_FOUND);
    count = 0;
    CHECK(queue_store_notes(store, ids[0], count_note, &count, NULL) == TD_OK && count == 0);
    CHECK(queue_store_find(store, NULL, ids[2], count_row, &count, NULL) == TD_OK);
    queue_store_close(store);
    remove_path();
}

static uint32_t keep_short(void *ctx, const char *queue)
{
    (void)ctx;
    return strcmp(queue, "people") == 0 ? 100 : 10000;
}

static void add_expired(struct queue_store *store, const char *queue, int64_t ago_s,
                        char id[static QUEUED_ID_BYTES])
{
    struct queue_entry added = entry();
    added.queue = queue;
    added.expires_s = now_s() - ago_s;
    CHECK(queue_store_add(store, &added, id, NULL) == TD_OK);
}

static bool is_there(struct queue_store *store, const char *id)
{
    struct queued row;
    return queue_store_find(store, NULL, id, copy_row, &row, NULL) == TD_OK;
}

static void test_each_queue_keeps_what_ended_as_long_as_it_says_and_no_longer(void)
{
    use_path();
    struct queue_store *store = open_store();
    struct queue_entry added = entry();
    struct stat log;
    char log_path[160], open[QUEUED_ID_BYTES], ids[4][QUEUED_ID_BYTES];
    CHECK(queue_store_add(store, &added, open, NULL) == TD_OK);
    add_expired(store, "people", 1000, ids[0]);
    add_expired(store, "people", 10, ids[1]);
    add_expired(store, "desk", 20000, ids[2]);
    add_expired(store, "desk", 1000, ids[3]);
    CHECK(queue_store_note(store, ids[0], "ann", "saw it whole", NULL) == TD_OK);
    snprintf(log_path, sizeof log_path, "%s-wal", path);
    CHECK(stat(log_path, &log) == 0 && log.st_size > 0);
    CHECK(queue_store_sweep(store, keep_short, NULL, NULL) == TD_OK);
    CHECK(!is_there(store, ids[0]) && is_there(store, ids[1]));
    CHECK(!is_there(store, ids[2]) && is_there(store, ids[3]));
    CHECK(is_there(store, open) && row_of(store, open).state == QUEUED_OPEN);
    CHECK(stat(log_path, &log) == 0 && log.st_size == 0);
    queue_store_close(store);
    remove_path();
}

static void test_a_keeper_counts_what_waits_and_removes_what_nobody_watches_any_more(void)
{
    use_path();
    struct queue_store *store = open_store();
    struct queue_keeper *keeper;
    struct queue_entry added = entry();
    char ids[3][QUEUED_ID_BYTES], id[QUEUED_ID_BYTES];
    added.queue = "desk";
    add_expired(store, "gone", QUEUE_KEEP_S + 1000, ids[0]);
    add_expired(store, "gone", 1000, ids[1]);
    CHECK(queue_keeper_start(store, &keeper, NULL) == TD_OK);
    CHECK(queue_keeper_watch(keeper, "desk", 100, NULL) == TD_OK);
    CHECK(queue_keeper_waiting(keeper, "desk") == 0);
    for (int i = 0; i < 6000 && is_there(store, ids[0]); i++)
        usleep(10000);
    CHECK(!is_there(store, ids[0]) && is_there(store, ids[1]));
    CHECK(queue_store_add(store, &added, id, NULL) == TD_OK);
    for (int i = 0; i < 6000 && queue_keeper_waiting(keeper, "desk") != 1; i++)
        usleep(10000);
    CHECK(queue_keeper_waiting(keeper, "desk") == 1);
    CHECK(queue_keeper_waiting(keeper, "gone") == 0);
    CHECK(queue_store_finish(store, id, "ann", "answered", STR("{}"), NULL) == TD_OK);
    for (int i = 0; i < 6000 && queue_keeper_waiting(keeper, "desk") != 0; i++)
        usleep(10000);
    CHECK(queue_keeper_waiting(keeper, "desk") == 0);
    queue_keeper_stop(keeper);
    queue_store_close(store);
    remove_path();
}

static void note_told(void *ctx, const struct queued *row)
{
    (void)row;
    ++*(size_t *)ctx;
}

static void test_a_listener_that_comes_late_is_told_of_what_follows(void)
{
    use_path();
    struct queue_store *store = open_store();
    struct queue_entry added = entry();
    size_t told = 0;
    char id[QUEUED_ID_BYTES];
    CHECK(queue_store_add(store, &added, id, NULL) == TD_OK);
    queue_store_set_listener(store, note_told, &told);
    CHECK(queue_store_finish(store, id, "ann", "answered", STR("{}"), NULL) == TD_OK);
    CHECK(told == 1);
    queue_store_close(store);
    remove_path();
}

/* A process that adds, takes and ends entries until it is killed. What it says on the pipe was
 * done; what it was doing then may be done or not. */
static void work_until_killed(int fd)
{
    struct queue_store *store = open_store();
    struct queue_entry added = entry();
    added.open_max = 1000000;
    for (;;) {
        char id[QUEUED_ID_BYTES], line[64];
        CHECK(queue_store_add(store, &added, id, NULL) == TD_OK);
        CHECK(write(fd, line, (size_t)snprintf(line, sizeof line, "+%s\n", id)) > 0);
        CHECK(queue_store_take(store, id, "ann", 100, NULL) == TD_OK);
        CHECK(queue_store_finish(store, id, "ann", "answered", STR("{\"text\":\"A\"}"), NULL) ==
              TD_OK);
        CHECK(write(fd, line, (size_t)snprintf(line, sizeof line, "-%s\n", id)) > 0);
    }
}

/* Each entry that was told of is there; one whose end was told of has ended, once. */
static void check_after_kill(FILE *said)
{
    char line[64];
    struct queue_store *store = open_store();
    while (fgets(line, sizeof line, said) && strchr(line, '\n')) {
        line[strcspn(line, "\n")] = '\0';
        struct queued row = row_of(store, line + 1);
        if (line[0] == '-') {
            CHECK(row.state == QUEUED_ENDED && row.takes == 1);
            CHECK(queue_store_finish(store, row.id, "bob", "answered", STR("{}"), NULL) ==
                  TD_UNSUPPORTED);
        }
    }
    queue_store_close(store);
}

static void test_a_kill_at_any_moment_loses_no_entry_and_ends_none_twice(void)
{
    use_path();
    const char *rounds = getenv("TEST_KILLS");
    for (int i = 0, count = rounds ? atoi(rounds) : 12; i < count; i++) {
        int fds[2];
        CHECK(pipe(fds) == 0);
        pid_t child = fork();
        CHECK(child >= 0);
        if (child == 0) {
            close(fds[0]);
            work_until_killed(fds[1]);
            _exit(1);
        }
        close(fds[1]);
        usleep((useconds_t)(20000 + 1000 * ((i * 7919) % 150)));
        CHECK(kill(child, SIGKILL) == 0);
        CHECK(waitpid(child, NULL, 0) == child);
        FILE *said = fdopen(fds[0], "r");
        CHECK(said);
        check_after_kill(said);
        fclose(said);
    }
    remove_path();
}

int main(void)
{
    RUN(test_an_entry_is_there_after_a_restart_in_a_file_of_its_own);
    RUN(test_who_takes_an_entry_has_it_until_the_lease_ends);
    RUN(test_an_entry_is_ended_once);
    RUN(test_a_full_queue_an_expired_entry_and_one_that_is_too_long_are_refused);
    RUN(test_lists_are_an_owners_and_a_forgotten_user_leaves_nothing);
    RUN(test_each_queue_keeps_what_ended_as_long_as_it_says_and_no_longer);
    RUN(test_a_keeper_counts_what_waits_and_removes_what_nobody_watches_any_more);
    RUN(test_a_listener_that_comes_late_is_told_of_what_follows);
    RUN(test_a_kill_at_any_moment_loses_no_entry_and_ends_none_twice);
    return test_finish();
}
