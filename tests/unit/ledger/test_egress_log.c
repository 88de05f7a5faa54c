/* The egress log: what is written verifies, and every manipulation is found. */
#include "ledger/egress/egress_log.h"

#include "egress_fixture.h"
#include "ledger/egress/egress_pending.h"
#include "ledger/egress/egress_read.h"

#include <pthread.h>

static struct egress_verdict verdict_of(const char *path, const char *key)
{
    struct egress_verdict verdict = {0};
    struct td_error err = {0};
    const struct egress_kept kept = {.key = key};
    enum td_status status = egress_verify(path, &kept, &verdict, &err);
    if (status != TD_OK)
        fprintf(stderr, "%s\n", err.message);
    CHECK(status == TD_OK);
    return verdict;
}

static void test_a_chain_verifies_with_a_head_a_day(void)
{
    const char *folder = make_log("plain", 20, 8);
    struct egress_verdict verdict = verdict_of(folder, NULL);
    CHECK(verdict.sound && verdict.entry_count == 20 && verdict.head_count == 3);
    CHECK(verdict.unsigned_rows == 0 && strlen(verdict.key) == EGRESS_KEY_HEX);
    CHECK(verdict_of(folder, verdict.key).sound);
    verdict.key[0] = verdict.key[0] == '0' ? '1' : '0';
    CHECK(!verdict_of(folder, verdict.key).sound);
    struct stat info;
    CHECK(stat(file_in(folder, "key"), &info) == 0 && (info.st_mode & 0777) == 0600);
}

static enum td_status note_seq(void *ctx, struct td_str line, struct td_error *err)
{
    uint64_t *seen = ctx;
    struct egress_chain chain;
    (void)err;
    CHECK(egress_line_read(line, &chain));
    seen[0] = seen[0] ? seen[0] : chain.count;
    seen[1] = chain.count;
    return TD_OK;
}

static void test_a_span_of_time_is_found_in_a_long_record(void)
{
    const char *folder = make_log("span", 900, 1000); /* several times what is read through */
    for (uint64_t at = 0; at < 900; at += 37) {
        struct egress_span span = {START_MS + at * 1000, START_MS + (at + 9) * 1000, 1u << 20};
        uint64_t seen[2] = {0};
        CHECK(egress_each_between(folder, &span, note_seq, seen, NULL) == TD_OK);
        CHECK(seen[0] == at + 1 && seen[1] == (at + 10 < 900 ? at + 10 : 900));
        span.bytes_max = 100; /* not even the first line; near the end all is said */
        struct td_error err = {0};
        CHECK(egress_each_between(folder, &span, note_seq, seen, &err) == TD_LIMIT);
        CHECK(strstr(err.message, "looked through") != NULL);
    }
    uint64_t seen[2] = {0};
    struct egress_span before = {0, START_MS - 1, 1u << 20},
                       after = {START_MS + DAY_MS, START_MS + 2 * DAY_MS, 1u << 20};
    CHECK(egress_each_between(folder, &before, note_seq, seen, NULL) == TD_OK);
    CHECK(egress_each_between(folder, &after, note_seq, seen, NULL) == TD_OK && seen[0] == 0);
    CHECK(egress_each_between(fixture_path("nowhere"), &after, note_seq, seen, NULL) ==
          TD_NOT_FOUND);
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
        CHECK(!opens(folder));
        whole.data[i] = kept;
        row += kept == '\n';
    }
    write_whole(file_in(folder, "entries.jsonl"), buf_view(&whole));
    CHECK(verdict_of(folder, NULL).sound);
    buf_deinit(&whole);
    /* Likewise in a head, which has no byte of white space to change. */
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

/* The offset where line `number` (from 1) begins. */
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
    CHECK(!opens(folder));
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

/* The whole log made again with another key, as by someone who has the folder but not the key. */
static void test_another_key_is_found_by_who_kept_the_first(void)
{
    struct egress_verdict first = verdict_of(make_log("mine", 3, 100), NULL);
    const char *other = make_log("forged", 3, 100);
    CHECK(verdict_of(other, NULL).sound); /* alone it looks sound */
    CHECK(!verdict_of(other, first.key).sound);
    struct buf heads = read_whole(file_in(other, "heads.jsonl"));
    const char *mine = fixture_path("mine");
    write_whole(file_in(mine, "heads.jsonl"), buf_view(&heads));
    struct egress_verdict verdict = verdict_of(mine, NULL);
    CHECK(!verdict.sound && strstr(verdict.problem, "another key"));
    buf_deinit(&heads);
}

/* Leaves the files as a machine that stopped in the middle of transfer `count` + 1: the head
 * announces the line of `entries`, of which the first `bytes` were written. */
static void stop_in_the_middle(const char *folder, uint64_t count, size_t bytes)
{
    struct buf head, whole = read_whole(file_in(folder, "entries.jsonl"));
    struct egress_head stopped = {.date = "2026-11-17"};
    struct egress_chain next;
    buf_init(&head, 1u << 12);
    size_t at = line_at(&whole, count + 1), end = line_at(&whole, count + 2);
    CHECK(egress_line_read(str_slice(buf_view(&whole), at, end - 1), &next));
    memcpy(stopped.next, next.hash, sizeof stopped.next);
    memcpy(stopped.chain.hash, EGRESS_NO_HASH, sizeof stopped.chain.hash);
    if (count > 0)
        CHECK(egress_line_read(str_slice(buf_view(&whole), line_at(&whole, count), at - 1),
                               &stopped.chain));
    write_whole(file_in(folder, "heads.jsonl"), sign_head(folder, &stopped, &head));
    write_whole(file_in(folder, "entries.jsonl"), str_slice(buf_view(&whole), 0, at + bytes));
    buf_deinit(&head);
    buf_deinit(&whole);
}

/* The log continues, and the announced line is either signed then or was never there. */
static void check_goes_on(const char *folder, uint64_t count)
{
    make_log(folder + strlen(fixture_directory) + 1, 2, 1);
    struct egress_verdict verdict = verdict_of(folder, NULL);
    CHECK(verdict.sound && verdict.entry_count == count);
    CHECK(verdict.unsigned_rows == 0 && verdict.unwritten_rows == 0);
}

static void test_a_machine_that_stopped_in_the_middle_goes_on(void)
{
    const char *folder = make_log("stopped", 4, 100);
    stop_in_the_middle(folder, 3, SIZE_MAX / 2); /* before the head that signs the line */
    struct egress_verdict verdict = verdict_of(folder, NULL);
    CHECK(verdict.sound && verdict.entry_count == 4 && verdict.unsigned_rows == 1);
    check_goes_on(folder, 6);
    stop_in_the_middle(folder, 4, 0); /* before the line */
    verdict = verdict_of(folder, NULL);
    CHECK(verdict.sound && verdict.entry_count == 4 && verdict.unwritten_rows == 1);
    check_goes_on(folder, 6);
    stop_in_the_middle(folder, 5, 100); /* in the line */
    CHECK(verdict_of(folder, NULL).bad_row == 6);
    check_goes_on(folder, 7);
    stop_in_the_middle(folder, 0, 0); /* in the first */
    CHECK(verdict_of(folder, NULL).sound);
    check_goes_on(folder, 2);
    CHECK(verdict_of(folder, NULL).head_count == 3); /* the head of that day stays */
}

/* The files of a log while it is open, after one more line, as a kill leaves them: the head
 * announces the line, and the token is overwritten. */
static const char *killed_after_a_line(const char *name, uint64_t count)
{
    static const char *const files[] = {"entries.jsonl", "heads.jsonl", "key", "key.pub",
                                        "pending"};
    char image[64];
    struct egress_log *log = NULL;
    const char *folder = make_log(name, count, 100);
    snprintf(image, sizeof image, "%s image", name);
    const char *copy = fixture_path(image);
    struct egress_entry entry = entry_of(count);
    CHECK(egress_log_open(folder, &log, NULL) == TD_OK);
    CHECK(mkdir(copy, 0700) == 0 && log && egress_log_append(log, &entry, NULL) == TD_OK);
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        struct buf bytes = read_whole(file_in(folder, files[i]));
        write_whole(file_in(copy, files[i]), buf_view(&bytes));
        CHECK(chmod(file_in(copy, files[i]), 0600) == 0);
        buf_deinit(&bytes);
    }
    egress_log_close(log);
    return copy;
}

/* The announced line may be missing only while its token is there. */
static void test_a_line_that_was_written_and_not_signed_yet_cannot_be_cut(void)
{
    const char *folder = killed_after_a_line("announced", 3), *name = "entries.jsonl";
    struct buf whole = read_whole(file_in(folder, name));
    struct egress_verdict verdict = verdict_of(folder, NULL);
    CHECK(verdict.sound && verdict.entry_count == 4 && verdict.unsigned_rows == 1);
    write_whole(file_in(folder, name), str_slice(buf_view(&whole), 0, line_at(&whole, 4)));
    verdict = verdict_of(folder, NULL);
    CHECK(!verdict.sound && verdict.bad_row == 4 && strstr(verdict.problem, "it is missing"));
    CHECK(!opens(folder));
    write_whole(file_in(folder, "pending"), str_from("0123456789abcdef0123456789abcdef"
                                                     "0123456789abcdef0123456789abcdef\n"));
    CHECK(verdict_of(folder, NULL).bad_row == 4 && !opens(folder)); /* another token */
    write_whole(file_in(folder, "pending"), (struct td_str){NULL, 0});
    CHECK(verdict_of(folder, NULL).bad_row == 4 && !opens(folder));
    write_whole(file_in(folder, name), buf_view(&whole));
    check_goes_on(folder, 6);
    buf_deinit(&whole);
}

static void test_a_line_whose_token_is_there_was_never_written(void)
{
    const char *folder = make_log("token", 3, 100);
    struct buf heads = read_whole(file_in(folder, "heads.jsonl")), head;
    struct egress_head announcing = head_at(&heads, 1);
    int fd = open(file_in(folder, "pending"), O_RDWR);
    REQUIRE(fd >= 0 && egress_pending_write(fd, announcing.pending, NULL) == TD_OK);
    memset(announcing.next, 'a', EGRESS_HASH_HEX);
    buf_init(&head, 1u << 12);
    write_whole(file_in(folder, "heads.jsonl"), sign_head(folder, &announcing, &head));
    struct egress_verdict verdict = verdict_of(folder, NULL);
    CHECK(verdict.sound && verdict.entry_count == 3 && verdict.unwritten_rows == 1);
    CHECK(egress_pending_erase(fd) && verdict_of(folder, NULL).bad_row == 4);
    CHECK(!opens(folder));
    REQUIRE(egress_pending_write(fd, announcing.pending, NULL) == TD_OK);
    head.len = 0;
    write_whole(file_in(folder, "heads.jsonl"), sign_head(folder, &announcing, &head));
    check_goes_on(folder, 5);
    close(fd);
    buf_deinit(&heads);
    buf_deinit(&head);
}

/* Nobody waits for the signature over the last line, but it comes. */
static void test_the_last_line_before_a_pause_is_signed(void)
{
    struct egress_log *log = NULL;
    const char *folder = make_log("pause", 2, 100);
    struct egress_entry entry = entry_of(2);
    REQUIRE(egress_log_open(folder, &log, NULL) == TD_OK);
    CHECK(egress_log_append(log, &entry, NULL) == TD_OK);
    bool is_signed = false;
    for (int i = 0; i < 6000 && !is_signed; i++) {
        usleep(10000);
        is_signed = verdict_of(folder, NULL).unsigned_rows == 0;
    }
    CHECK(is_signed && verdict_of(folder, NULL).entry_count == 3);
    egress_log_close(log);
}

/* A line that follows by number and hash, as someone with the folder but not the key can append
 * it. */
static void test_a_line_that_nobody_announced_is_forged(void)
{
    const char *folder = make_log("forge", 4, 100), *name = "entries.jsonl";
    struct buf heads = read_whole(file_in(folder, "heads.jsonl"));
    struct buf whole = read_whole(file_in(folder, name));
    struct egress_chain chain;
    struct egress_entry entry = entry_of(9);
    size_t honest = whole.len;
    CHECK(egress_line_read(str_slice(buf_view(&whole), line_at(&whole, 4), whole.len - 1), &chain));
    CHECK(egress_line_write(&entry, &chain, &whole, NULL) == TD_OK);
    write_whole(file_in(folder, name), buf_view(&whole));
    struct egress_verdict verdict = verdict_of(folder, NULL);
    CHECK(!verdict.sound && verdict.bad_row == 5 && !opens(folder));
    write_whole(file_in(folder, "heads.jsonl"), (struct td_str){NULL, 0});
    CHECK(verdict_of(folder, NULL).bad_row == 1 && !opens(folder));
    write_whole(file_in(folder, "heads.jsonl"), buf_view(&heads));
    /* Half a line is innocent only where the head announces it. */
    write_whole(file_in(folder, name), str_slice(buf_view(&whole), 0, honest + 30));
    CHECK(verdict_of(folder, NULL).bad_row == 5 && !opens(folder));
    write_whole(file_in(folder, name), str_slice(buf_view(&whole), 0, honest - 1));
    CHECK(verdict_of(folder, NULL).bad_row == 4 && !opens(folder));
    write_whole(file_in(folder, name), str_slice(buf_view(&whole), 0, honest));
    /* Also in place of the announced one. */
    make_log("forge", 1, 100);
    stop_in_the_middle(folder, 4, 0);
    write_whole(file_in(folder, name), buf_view(&whole));
    CHECK(verdict_of(folder, NULL).bad_row == 5 && !opens(folder));
    buf_deinit(&whole);
    buf_deinit(&heads);
}

/* A different line break, or none. */
static void test_heads_are_read_to_the_byte(void)
{
    const char *folder = make_log("bytes", 4, 2), *name = "heads.jsonl";
    struct buf heads = read_whole(file_in(folder, name)), other;
    buf_init(&other, 1u << 16);
    for (size_t i = 0; i < heads.len; i++) {
        if (heads.data[i] == '\n')
            buf_append_char(&other, '\r');
        buf_append_char(&other, heads.data[i]);
    }
    write_whole(file_in(folder, name), buf_view(&other));
    CHECK(!verdict_of(folder, NULL).sound && !opens(folder));
    write_whole(file_in(folder, name), str_slice(buf_view(&heads), 0, heads.len - 1));
    CHECK(!verdict_of(folder, NULL).sound && !opens(folder));
    write_whole(file_in(folder, name), buf_view(&heads));
    CHECK(verdict_of(folder, NULL).sound && opens(folder));
    buf_deinit(&heads);
    buf_deinit(&other);
}

/* The problem of a log whose heads are the first `kept` of four days and then this one, signed by
 * the log's own key. */
static const char *problem_after_head(const char *folder, size_t kept,
                                      const struct egress_head *head)
{
    static struct egress_verdict verdict;
    const char *name = file_in(folder, "heads.jsonl");
    struct buf heads = read_whole(name), more;
    buf_init(&more, 1u << 16);
    buf_append_str(&more, str_slice(buf_view(&heads), 0, line_at(&heads, kept + 1)));
    (void)sign_head(folder, head, &more);
    write_whole(name, buf_view(&more));
    verdict = verdict_of(folder, NULL);
    write_whole(name, buf_view(&heads));
    CHECK(verdict.sound == !verdict.problem[0]);
    buf_deinit(&heads);
    buf_deinit(&more);
    return verdict.problem;
}

/* Whoever has the key has signed each of these, and they still are no record of days. */
static void test_a_head_that_does_not_follow_is_found(void)
{
    const char *folder = make_log("order", 8, 2), *wrong = "does not continue";
    struct buf heads = read_whole(file_in(folder, "heads.jsonl"));
    struct egress_head third = head_at(&heads, 3), last = head_at(&heads, 4), other = last;
    CHECK(!*problem_after_head(folder, 3, &last));              /* as it was */
    CHECK(strstr(problem_after_head(folder, 4, &last), wrong)); /* two of a day */
    memcpy(other.date, third.date, sizeof other.date);
    CHECK(strstr(problem_after_head(folder, 3, &other), wrong)); /* that count on */
    memcpy(other.date, "2020-01-01", sizeof other.date);
    CHECK(strstr(problem_after_head(folder, 3, &other), wrong)); /* of an earlier day */
    other = third;
    memcpy(other.date, "2030-01-01", sizeof other.date);
    CHECK(strstr(problem_after_head(folder, 4, &other), wrong)); /* of fewer transfers */
    buf_deinit(&heads);
}

static enum td_status collect(void *ctx, struct td_str line, struct td_error *err);

static void test_a_head_after_transfers_is_found(void)
{
    const char *folder = make_log("after", 4, 2), *file = fixture_path("after.jsonl");
    struct buf heads = read_whole(file_in(folder, "heads.jsonl")), lines;
    struct egress_head later = head_at(&heads, 2);
    buf_init(&lines, 1u << 20);
    CHECK(egress_each_line(folder, collect, &lines, NULL) == TD_OK);
    size_t honest = lines.len;
    memcpy(later.date, "2030-01-01", sizeof later.date);
    (void)sign_head(folder, &later, &lines);
    write_whole(file, str_slice(buf_view(&lines), 0, honest));
    CHECK(verdict_of(file, NULL).sound);
    write_whole(file, buf_view(&lines));
    struct egress_verdict verdict = verdict_of(file, NULL);
    CHECK(!verdict.sound && strstr(verdict.problem, "comes after entries"));
    buf_deinit(&heads);
    buf_deinit(&lines);
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

/* Threads share one log, and two logs share one folder, as two processes do. */
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

/* In a child process, because the limit stays set. */
static void refuse_on_a_full_disk(const char *name, uint64_t a_day)
{
    const char *folder = make_log(name, 3, 100);
    struct stat info, heads;
    REQUIRE(stat(file_in(folder, "entries.jsonl"), &info) == 0);
    REQUIRE(stat(file_in(folder, "heads.jsonl"), &heads) == 0);
    pid_t child = fork();
    if (child == 0) {
        struct egress_log *log = NULL;
        struct egress_entry entry = entry_of(3);
        entry.wall_ms += 3 / a_day * DAY_MS;
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
    CHECK(verdict.sound && verdict.entry_count == 3 && verdict.unwritten_rows == 0);
    off_t heads_bytes = heads.st_size;
    CHECK(stat(file_in(folder, "heads.jsonl"), &heads) == 0 && heads.st_size == heads_bytes);
    make_log(name, 1, 100);
    CHECK(verdict_of(folder, NULL).entry_count == 4);
}

/* On the same day, and on a new one, which begins with a head of its own. */
static void test_a_full_disk_refuses_and_leaves_the_chain_whole(void)
{
    refuse_on_a_full_disk("full", 100);
    refuse_on_a_full_disk("full on a new day", 3);
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
    write_whole(file, str_slice(buf_view(&lines), 0, line_at(&lines, 9))); /* three rows cut off */
    verdict = verdict_of(file, NULL);
    CHECK(!verdict.sound && verdict.bad_row == 5);
    buf_deinit(&lines);
}

/* The line of the newest head, as kept elsewhere. */
static void keep_head(const char *folder, struct buf *out)
{
    struct buf heads = read_whole(file_in(folder, "heads.jsonl"));
    const char *before = memrchr(heads.data, '\n', heads.len - 1);
    size_t at = before ? (size_t)(before - heads.data) + 1 : 0;
    buf_append_str(out, str_slice(buf_view(&heads), at, heads.len));
    buf_deinit(&heads);
}

static struct egress_verdict verdict_with(const char *path, struct td_str heads)
{
    struct egress_verdict verdict = {0};
    const struct egress_kept kept = {.heads = heads};
    CHECK(egress_verify(path, &kept, &verdict, NULL) == TD_OK);
    return verdict;
}

static void test_a_kept_head_finds_a_record_that_was_put_back(void)
{
    const char *folder = make_log("rollback", 3, 2);
    struct buf kept, rows = read_whole(file_in(folder, "entries.jsonl"));
    struct buf heads = read_whole(file_in(folder, "heads.jsonl"));
    buf_init(&kept, 1u << 16);
    keep_head(folder, &kept);
    make_log("rollback", 4, 100);
    buf_append_str(&kept, STR("\r\n  ")); /* as a mail may show it */
    keep_head(folder, &kept);
    CHECK(verdict_with(folder, buf_view(&kept)).sound);
    make_log("rollback", 2, 100);
    CHECK(verdict_with(folder, buf_view(&kept)).sound);
    write_whole(file_in(folder, "entries.jsonl"), buf_view(&rows));
    write_whole(file_in(folder, "heads.jsonl"), buf_view(&heads));
    CHECK(verdict_of(folder, NULL).sound && opens(folder)); /* alone nothing shows it */
    struct egress_verdict verdict = verdict_with(folder, buf_view(&kept));
    CHECK(!verdict.sound && verdict.bad_row == 4 && strstr(verdict.problem, "kept head"));
    make_log("rollback", 9, 1); /* also when it has become longer than before */
    verdict = verdict_with(folder, buf_view(&kept));
    CHECK(!verdict.sound && verdict.bad_row == 7 && strstr(verdict.problem, "kept head"));
    verdict = verdict_with(make_log("elsewhere", 9, 100), buf_view(&kept));
    CHECK(!verdict.sound && verdict.bad_row == 0);
    kept.data[40] ^= 1;
    CHECK(!verdict_with(folder, buf_view(&kept)).sound);
    buf_deinit(&kept);
    buf_deinit(&rows);
    buf_deinit(&heads);
}

static void test_nothing_there_is_said(void)
{
    struct egress_verdict verdict;
    struct td_error err = {0};
    CHECK(egress_verify(fixture_path("nowhere"), NULL, &verdict, &err) == TD_NOT_FOUND);
    CHECK(strstr(err.message, "no egress ledger"));
}

/* Appends while a file of the log is elsewhere, and after it was put back. */
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

/* By the same key a new record would look as if there had been none before. */
static void test_a_record_that_was_removed_is_not_begun_anew_by_its_key(void)
{
    static const char *const files[] = {"entries.jsonl", "heads.jsonl", "pending", "synced"};
    const char *folder = make_log("begun_anew", 3, 100);
    struct egress_log *log = NULL;
    struct td_error err = {0};
    for (size_t i = 0; i < sizeof files / sizeof *files; i++)
        CHECK(unlink(file_in(folder, files[i])) == 0);
    for (int keys = 2; keys > 0; keys--) {
        CHECK(egress_log_open(folder, &log, &err) == TD_CORRUPT);
        CHECK(strstr(err.message, "entries.jsonl was removed") && strstr(err.message, folder));
        CHECK(unlink(file_in(folder, keys == 2 ? "key" : "key.pub")) == 0);
    }
    CHECK(egress_log_open(folder, &log, NULL) == TD_OK); /* all of it is gone */
    egress_log_close(log);
}

/* A log that was found damaged is looked at again, and does not go on from what is not known. */
static void test_a_damaged_log_is_refused_until_it_is_mended(void)
{
    static const char *const damages[] = {"{}\n", "half a line"};
    const char *folder = make_log("mended", 3, 100);
    struct egress_log *log = NULL;
    struct buf sound = read_whole(file_in(folder, "entries.jsonl")), damaged;
    const struct egress_entry entry = entry_of(9);
    CHECK(egress_log_open(folder, &log, NULL) == TD_OK);
    buf_init(&damaged, 1u << 20);
    for (size_t i = 0; log && i < sizeof damages / sizeof *damages; i++) {
        buf_clear(&damaged);
        buf_append_str(&damaged, buf_view(&sound));
        buf_append_str(&damaged, str_from(damages[i]));
        write_whole(file_in(folder, "entries.jsonl"), buf_view(&damaged));
        for (int again = 0; again < 3; again++)
            CHECK(egress_log_append(log, &entry, NULL) == TD_CORRUPT);
        write_whole(file_in(folder, "entries.jsonl"), buf_view(&sound));
    }
    CHECK(log && egress_log_append(log, &entry, NULL) == TD_OK);
    egress_log_close(log);
    struct egress_verdict verdict = verdict_of(folder, NULL);
    CHECK(verdict.sound && verdict.entry_count == 4);
    buf_deinit(&damaged);
    buf_deinit(&sound);
}

int main(void)
{
    fixture_begin();
    RUN(test_a_full_disk_refuses_and_leaves_the_chain_whole); /* forks, so it runs before any */
    RUN(test_a_chain_verifies_with_a_head_a_day);
    RUN(test_it_goes_on_where_it_ended);
    RUN(test_a_span_of_time_is_found_in_a_long_record);
    RUN(test_every_flipped_byte_is_found_in_its_row);
    RUN(test_a_removed_row_is_named);
    RUN(test_a_cut_tail_is_found_at_every_length);
    RUN(test_another_key_is_found_by_who_kept_the_first);
    RUN(test_a_machine_that_stopped_in_the_middle_goes_on);
    RUN(test_a_line_that_was_written_and_not_signed_yet_cannot_be_cut);
    RUN(test_a_line_whose_token_is_there_was_never_written);
    RUN(test_the_last_line_before_a_pause_is_signed);
    RUN(test_a_line_that_nobody_announced_is_forged);
    RUN(test_heads_are_read_to_the_byte);
    RUN(test_a_head_that_does_not_follow_is_found);
    RUN(test_a_head_after_transfers_is_found);
    RUN(test_a_lost_or_open_key_is_refused);
    RUN(test_writers_do_not_break_each_others_chain);
    RUN(test_what_is_too_large_is_refused);
    RUN(test_an_export_verifies_by_itself);
    RUN(test_a_kept_head_finds_a_record_that_was_put_back);
    RUN(test_nothing_there_is_said);
    RUN(test_a_damaged_log_is_refused_until_it_is_mended);
    RUN(test_nothing_is_written_into_a_file_that_was_removed);
    RUN(test_a_record_that_was_removed_is_not_begun_anew_by_its_key);
    fixture_end();
    return test_finish();
}
