/* The chain of what left: what is written verifies, and whatever is done to it is found. */
#include "ledger/egress_log.h"

#include "base/buf.h"
#include "base/str.h"
#include "ledger/egress_read.h"
#include "ledger_fixture.h"

#include <pthread.h>

#define DAY_MS 86400000ull
#define START_MS 1795000000000ull

static struct egress_entry entry_of(uint64_t number)
{
    static const struct egress_replaced replaced[] = {{"PERSON", 2}, {"EMAIL_ADDRESS", 1}};
    return (struct egress_entry){.wall_ms = START_MS + number * 1000,
                                 .exchange = "ex_0123456789abcdef01234567",
                                 .purpose = "attempt",
                                 .tier = "cloud \"quoted\"",
                                 .place = "cloud",
                                 .host = "api.example.com:443",
                                 .data_class = "public",
                                 .payload = STR("{\"messages\":[]}"),
                                 .replaced = replaced,
                                 .replaced_count = 2};
}

/* A folder of its own with `count` transfers, a day apart after each `a_day`. */
static const char *make_log(const char *name, uint64_t count, uint64_t a_day)
{
    struct egress_log *log = NULL;
    const char *folder = fixture_path(name);
    CHECK(egress_log_open(folder, &log, NULL) == TD_OK);
    for (uint64_t i = 0; log && i < count; i++) {
        struct egress_entry entry = entry_of(i);
        entry.wall_ms += i / a_day * DAY_MS;
        CHECK(egress_log_append(log, &entry, NULL) == TD_OK);
    }
    egress_log_close(log);
    return folder;
}

static struct egress_verdict verdict_of(const char *path, const char *key)
{
    struct egress_verdict verdict = {0};
    struct td_error err = {0};
    enum td_status status = egress_verify(path, key, &verdict, &err);
    if (status != TD_OK)
        fprintf(stderr, "%s\n", err.message);
    CHECK(status == TD_OK);
    return verdict;
}

static const char *file_in(const char *folder, const char *name)
{
    static char paths[4][256];
    static unsigned next;
    char *path = paths[next++ % 4];
    snprintf(path, sizeof paths[0], "%s/%s", folder, name);
    return path;
}

static struct buf read_whole(const char *path)
{
    struct buf bytes;
    buf_init(&bytes, 1u << 24);
    CHECK(buf_read_file(&bytes, path, NULL) == TD_OK);
    return bytes;
}

static void write_whole(const char *path, struct td_str bytes)
{
    FILE *file = fopen(path, "wb");
    bool written = file && (bytes.len == 0 || fwrite(bytes.data, 1, bytes.len, file) == bytes.len);
    CHECK(written && fclose(file) == 0);
}

static void test_a_chain_verifies_with_a_head_a_day(void)
{
    const char *folder = make_log("plain", 20, 8);
    struct egress_verdict verdict = verdict_of(folder, NULL);
    CHECK(verdict.sound && verdict.entry_count == 20 && verdict.head_count == 3);
    CHECK(verdict.loose_rows == 0 && strlen(verdict.key) == EGRESS_KEY_HEX);
    CHECK(verdict_of(folder, verdict.key).sound);
    verdict.key[0] = verdict.key[0] == '0' ? '1' : '0';
    CHECK(!verdict_of(folder, verdict.key).sound);
    struct stat info;
    CHECK(stat(file_in(folder, "key"), &info) == 0 && (info.st_mode & 0777) == 0600);
}

static void test_it_goes_on_where_it_ended(void)
{
    const char *folder = make_log("again", 3, 100);
    for (int i = 0; i < 4; i++)
        make_log("again", 2, 100);
    struct egress_verdict verdict = verdict_of(folder, NULL);
    CHECK(verdict.sound && verdict.entry_count == 11 && verdict.head_count == 1);
}

static void test_every_flipped_byte_is_found_in_its_row(void)
{
    const char *folder = make_log("flip", 4, 2);
    struct buf whole = read_whole(file_in(folder, "entries.jsonl"));
    uint64_t row = 1;
    for (size_t i = 0; i < whole.len; i++) {
        char kept = whole.data[i];
        whole.data[i] = (char)(kept ^ 1);
        write_whole(file_in(folder, "entries.jsonl"), buf_view(&whole));
        struct egress_verdict verdict = verdict_of(folder, NULL);
        CHECK(!verdict.sound && verdict.bad_row == row);
        whole.data[i] = kept;
        row += kept == '\n';
    }
    write_whole(file_in(folder, "entries.jsonl"), buf_view(&whole));
    CHECK(verdict_of(folder, NULL).sound);
    buf_deinit(&whole);
    /* And in a head, but for a byte of white space there is none to change. */
    struct buf heads = read_whole(file_in(folder, "heads.jsonl"));
    for (size_t i = 0; i < 2 * heads.len; i++) {
        char kept = heads.data[i / 2];
        heads.data[i / 2] = (char)(kept ^ (i % 2 ? 1 : 'a' ^ 'A')); /* hex digits have two cases */
        write_whole(file_in(folder, "heads.jsonl"), buf_view(&heads));
        CHECK(!verdict_of(folder, NULL).sound);
        heads.data[i / 2] = kept;
    }
    buf_deinit(&heads);
}

/* Offset where line `number` (from 1) begins. */
static size_t line_at(const struct buf *bytes, size_t number)
{
    size_t at = 0;
    while (--number)
        at = str_find(buf_view(bytes), STR("\n"), at) + 1;
    return at;
}

static void test_a_removed_row_is_named(void)
{
    const char *folder = make_log("removed", 6, 100);
    struct buf whole = read_whole(file_in(folder, "entries.jsonl")), less;
    size_t from = line_at(&whole, 3), to = line_at(&whole, 4);
    buf_init(&less, 1u << 20);
    buf_append(&less, whole.data, from);
    buf_append(&less, whole.data + to, whole.len - to);
    write_whole(file_in(folder, "entries.jsonl"), buf_view(&less));
    struct egress_verdict verdict = verdict_of(folder, NULL);
    CHECK(!verdict.sound && verdict.bad_row == 3 && strstr(verdict.problem, "missing"));
    buf_deinit(&whole);
    buf_deinit(&less);
}

static void test_a_cut_tail_is_found_at_every_length(void)
{
    const char *folder = make_log("cut", 5, 2);
    struct buf whole = read_whole(file_in(folder, "entries.jsonl"));
    for (size_t rows = 0; rows < 5; rows++) {
        write_whole(file_in(folder, "entries.jsonl"),
                    str_slice(buf_view(&whole), 0, line_at(&whole, rows + 1)));
        struct egress_verdict verdict = verdict_of(folder, NULL);
        CHECK(!verdict.sound && verdict.bad_row == rows + 1);
        struct egress_log *log = NULL;
        struct td_error err = {0};
        CHECK(egress_log_open(folder, &log, &err) == TD_CORRUPT && strstr(err.message, "cut"));
    }
    buf_deinit(&whole);
}

/* All made anew by another key, as who has the folder but not the key could. */
static void test_another_key_is_found_by_who_kept_the_first(void)
{
    struct egress_verdict first = verdict_of(make_log("mine", 3, 100), NULL);
    const char *other = make_log("forged", 3, 100);
    CHECK(verdict_of(other, NULL).sound); /* by itself it is whole */
    CHECK(!verdict_of(other, first.key).sound);
    struct buf heads = read_whole(file_in(other, "heads.jsonl"));
    const char *mine = fixture_path("mine");
    write_whole(file_in(mine, "heads.jsonl"), buf_view(&heads));
    struct egress_verdict verdict = verdict_of(mine, NULL);
    CHECK(!verdict.sound && strstr(verdict.problem, "another key"));
    buf_deinit(&heads);
}

static void test_rows_that_nobody_signed_are_found(void)
{
    const char *folder = make_log("unsigned", 4, 100);
    struct buf early = read_whole(file_in(folder, "heads.jsonl"));
    make_log("unsigned", 1, 100);
    write_whole(file_in(folder, "heads.jsonl"), buf_view(&early));
    struct egress_verdict one = verdict_of(folder, NULL); /* killed between line and head */
    CHECK(one.sound && one.loose_rows == 1);
    make_log("unsigned", 1, 100); /* goes on, and the head covers both */
    CHECK(verdict_of(folder, NULL).sound && verdict_of(folder, NULL).loose_rows == 0);
    write_whole(file_in(folder, "heads.jsonl"), buf_view(&early));
    struct egress_verdict two = verdict_of(folder, NULL);
    CHECK(!two.sound && two.bad_row == 5);
    write_whole(file_in(folder, "heads.jsonl"), (struct td_str){NULL, 0});
    CHECK(verdict_of(folder, NULL).bad_row == 1);
    buf_deinit(&early);
}

static void test_half_a_line_of_a_dead_machine_is_dropped(void)
{
    const char *folder = make_log("half", 3, 100);
    struct buf whole = read_whole(file_in(folder, "entries.jsonl"));
    buf_append_str(&whole, STR("{\"seq\":4,\"time\":\"20"));
    write_whole(file_in(folder, "entries.jsonl"), buf_view(&whole));
    CHECK(verdict_of(folder, NULL).bad_row == 4);
    make_log("half", 1, 100);
    struct egress_verdict verdict = verdict_of(folder, NULL);
    CHECK(verdict.sound && verdict.entry_count == 4);
    buf_deinit(&whole);
}

static void test_a_lost_or_open_key_is_refused(void)
{
    struct egress_log *log = NULL;
    struct td_error lost = {0}, open_to_all = {0}, bad = {0};
    const char *folder = make_log("key", 1, 100);
    CHECK(chmod(file_in(folder, "key"), 0644) == 0);
    CHECK(egress_log_open(folder, &log, &open_to_all) == TD_DENIED &&
          strstr(open_to_all.message, "chmod 600"));
    CHECK(unlink(file_in(folder, "key")) == 0);
    CHECK(egress_log_open(folder, &log, &lost) == TD_CORRUPT && strstr(lost.message, "lost"));
    write_whole(file_in(folder, "key"), STR("not hex\n"));
    CHECK(chmod(file_in(folder, "key"), 0600) == 0);
    CHECK(egress_log_open(folder, &log, &bad) == TD_CORRUPT && strstr(bad.message, "64 hex"));
}

#define WRITERS 4
#define WRITES 25

static void *write_some(void *ctx)
{
    for (uint64_t i = 0; i < WRITES; i++) {
        struct egress_entry entry = entry_of(i);
        while (egress_log_append(ctx, &entry, NULL) == TD_BUSY)
            continue;
    }
    return NULL;
}

/* Threads share one log, and two logs one folder, as two processes do. */
static void test_writers_do_not_break_each_others_chain(void)
{
    struct egress_log *logs[2] = {NULL, NULL};
    pthread_t threads[WRITERS];
    const char *folder = fixture_path("company");
    for (int i = 0; i < 2; i++)
        REQUIRE(egress_log_open(folder, &logs[i], NULL) == TD_OK);
    for (int i = 0; i < WRITERS; i++)
        CHECK(pthread_create(&threads[i], NULL, write_some, logs[i % 2]) == 0);
    for (int i = 0; i < WRITERS; i++)
        pthread_join(threads[i], NULL);
    struct egress_verdict verdict = verdict_of(folder, NULL);
    CHECK(verdict.sound && verdict.entry_count == WRITERS * WRITES);
    egress_log_close(logs[0]);
    egress_log_close(logs[1]);
}

/* In a process of its own, because the limit stays. */
static void test_a_full_disk_refuses_and_leaves_the_chain_whole(void)
{
    const char *folder = make_log("full", 3, 100);
    struct stat info;
    REQUIRE(stat(file_in(folder, "entries.jsonl"), &info) == 0);
    pid_t child = fork();
    if (child == 0) {
        struct egress_log *log = NULL;
        struct egress_entry entry = entry_of(3);
        struct rlimit limit = {(rlim_t)info.st_size + 100, (rlim_t)info.st_size + 100};
        signal(SIGXFSZ, SIG_IGN);
        bool right = egress_log_open(folder, &log, NULL) == TD_OK &&
                     setrlimit(RLIMIT_FSIZE, &limit) == 0 &&
                     egress_log_append(log, &entry, NULL) == TD_IO &&
                     egress_log_append(log, &entry, NULL) == TD_IO;
        _exit(right ? 0 : 1);
    }
    int code = -1;
    CHECK(waitpid(child, &code, 0) == child && code == 0);
    struct egress_verdict verdict = verdict_of(folder, NULL);
    CHECK(verdict.sound && verdict.entry_count == 3 && verdict.loose_rows == 0);
    make_log("full", 1, 100);
    CHECK(verdict_of(folder, NULL).entry_count == 4);
}

static void test_what_is_too_large_is_refused(void)
{
    struct egress_log *log = NULL;
    REQUIRE(egress_log_open(fixture_path("large"), &log, NULL) == TD_OK);
    char *name = calloc(1, 20000);
    REQUIRE(name != NULL);
    memset(name, 'x', 19999);
    struct egress_entry entry = entry_of(0);
    entry.tier = name;
    CHECK(egress_log_append(log, &entry, NULL) == TD_LIMIT);
    entry = entry_of(0);
    entry.replaced_count = EGRESS_REPLACED_MAX + 1;
    CHECK(egress_log_append(log, &entry, NULL) == TD_LIMIT);
    entry = entry_of(0);
    CHECK(egress_log_append(log, &entry, NULL) == TD_OK);
    egress_log_close(log);
    free(name);
    CHECK(verdict_of(fixture_path("large"), NULL).entry_count == 1);
}

static enum td_status collect(void *ctx, struct td_str line, struct td_error *err)
{
    (void)err;
    buf_append_str(ctx, line);
    buf_append_char(ctx, '\n');
    return TD_OK;
}

static void test_an_export_verifies_by_itself(void)
{
    const char *folder = make_log("source", 7, 3), *file = fixture_path("export.jsonl");
    struct buf lines;
    buf_init(&lines, 1u << 20);
    CHECK(egress_each_line(folder, collect, &lines, NULL) == TD_OK);
    write_whole(file, buf_view(&lines));
    struct egress_verdict verdict = verdict_of(file, verdict_of(folder, NULL).key);
    CHECK(verdict.sound && verdict.entry_count == 7 && verdict.head_count == 3);
    write_whole(file, str_slice(buf_view(&lines), 0, line_at(&lines, 9))); /* less three rows */
    verdict = verdict_of(file, NULL);
    CHECK(!verdict.sound && verdict.bad_row == 5);
    buf_deinit(&lines);
}

static void test_nothing_there_is_said(void)
{
    struct egress_verdict verdict;
    struct td_error err = {0};
    CHECK(egress_verify(fixture_path("nowhere"), NULL, &verdict, &err) == TD_NOT_FOUND);
    CHECK(strstr(err.message, "no egress ledger"));
}

/* Appended to while a file of it is elsewhere, and after it was put back. */
static void check_refused_without(const char *folder, const char *name)
{
    struct egress_log *log = NULL;
    struct egress_entry entry = entry_of(3);
    struct td_error err = {0};
    char path[256], away[256];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    snprintf(away, sizeof away, "%s/away", folder);
    REQUIRE(egress_log_open(folder, &log, NULL) == TD_OK);
    CHECK(rename(path, away) == 0);
    CHECK(egress_log_append(log, &entry, &err) == TD_CORRUPT && strstr(err.message, name) &&
          strstr(err.message, "removed"));
    CHECK(!verdict_of(folder, NULL).sound);
    struct buf copy = read_whole(away);
    write_whole(path, buf_view(&copy)); /* the same bytes, another file */
    CHECK(egress_log_append(log, &entry, NULL) == TD_CORRUPT);
    CHECK(rename(away, path) == 0);
    CHECK(egress_log_append(log, &entry, NULL) == TD_OK);
    egress_log_close(log);
    buf_deinit(&copy);
}

static void test_nothing_is_written_into_a_file_that_was_removed(void)
{
    const char *folder = make_log("gone", 3, 100);
    check_refused_without(folder, "entries.jsonl");
    check_refused_without(folder, "heads.jsonl");
    struct egress_verdict verdict = verdict_of(folder, NULL);
    CHECK(verdict.sound && verdict.entry_count == 5);
    CHECK(unlink(file_in(folder, "entries.jsonl")) == 0);
    verdict = verdict_of(folder, NULL);
    CHECK(!verdict.sound && verdict.bad_row == 1 && strstr(verdict.problem, "removed"));
}

int main(void)
{
    fixture_begin();
    RUN(test_a_full_disk_refuses_and_leaves_the_chain_whole); /* forks: before any thread */
    RUN(test_a_chain_verifies_with_a_head_a_day);
    RUN(test_it_goes_on_where_it_ended);
    RUN(test_every_flipped_byte_is_found_in_its_row);
    RUN(test_a_removed_row_is_named);
    RUN(test_a_cut_tail_is_found_at_every_length);
    RUN(test_another_key_is_found_by_who_kept_the_first);
    RUN(test_rows_that_nobody_signed_are_found);
    RUN(test_half_a_line_of_a_dead_machine_is_dropped);
    RUN(test_a_lost_or_open_key_is_refused);
    RUN(test_writers_do_not_break_each_others_chain);
    RUN(test_what_is_too_large_is_refused);
    RUN(test_an_export_verifies_by_itself);
    RUN(test_nothing_there_is_said);
    RUN(test_nothing_is_written_into_a_file_that_was_removed);
    fixture_end();
    return test_finish();
}
