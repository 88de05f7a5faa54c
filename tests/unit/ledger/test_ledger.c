/* Writing: records survive kill -9, full disks and foreign files. */
#include "base/time/clock.h"
#include "base/time/log.h"

#include "ledger_fixture.h"

#include <pthread.h>

static const struct ledger_attempt two_attempts[] = {
    {.tier = "local",
     .model = "nano",
     .place = "device",
     .outcome = ATTEMPT_ESCALATED,
     .confidence = 0.25,
     .prompt_tokens = 7,
     .completion_tokens = 3,
     .start_ms = 0.5,
     .first_ms = 6.25,
     .total_ms = 9.5},
    {.tier = "cloud",
     .model = "big",
     .place = "cloud",
     .outcome = ATTEMPT_ANSWERED,
     .error = "retried once: 503",
     .confidence = NAN,
     .prompt_tokens = 8,
     .completion_tokens = 40,
     .cached_tokens = 2,
     .exact = true,
     .prompt_estimate = 9,
     .answer_bytes = 150,
     .start_ms = 10,
     .first_ms = 310.125,
     .total_ms = 900,
     .cost_usd = 0.0125,
     .egress_bytes = 4321,
     .span_id = "2222222222222222",
     .model_version = "00aa11bb22cc33dd"},
};

static void test_every_field_comes_back(void)
{
    const char *path = fixture_path("fields.db");
    struct ledger *ledger;
    REQUIRE(ledger_open(path, &ledger, NULL) == TD_OK);
    struct ledger_exchange x = {
        .id = "ex_0123",
        .wall_ms = 1795253400123,
        .tenant = "0123456789abcdef",
        .user = "ada",
        .route = "10-private",
        .policy_version = "7",
        .requested_model = "auto",
        .tier = "cloud",
        .model = "big",
        .place = "cloud",
        .data_class = "public",
        .status = ENDED_OK,
        .finish = "length",
        .confidence = 0.75,
        .prompt_tokens = 15,
        .completion_tokens = 43,
        .ttft_ms = 320.5,
        .total_ms = 910.25,
        .cost_usd = 0.0125,
        .all_cloud_cost_usd = 0.03,
        .all_cloud_basis = BASIS_RATIO,
        .standing = ANSWER_DEGRADED,
        .degraded = true,
        .streamed = true,
        .disclosure = "reduced \"capability\"",
        .trace_id = "4bf92f3577b34da6a3ce929d0e0e4736",
        .span_id = "1111111111111111",
        .parent_span_id = "00f067aa0ba902b7",
        .request_id = "order-17",
        .signals_json = "{\"a\":[1,2]}",
        .reasons_json = "[{\"code\":\"low_confidence\"}]",
        .prompt_text = "What is \xc3\xa9?",
        .answer_text = "A letter.",
        .attempts = two_attempts,
        .attempt_count = 2,
    };
    CHECK(ledger_put(ledger, &x, NULL) == TD_OK);
    CHECK(ledger_flush(ledger, 5000, NULL) == TD_OK);
    struct ledger_reader *reader;
    struct json *json;
    REQUIRE(ledger_reader_open(path, &reader, NULL) == TD_OK); /* beside the writer */
    REQUIRE(ledger_reader_find(reader, NULL, "ex_0123", &json, NULL) == TD_OK);
    struct buf text;
    buf_init(&text, 1 << 16);
    json_write(json, &text);
    static const char expected[] =
        "{\"id\":\"ex_0123\",\"wall_ms\":1795253400123,\"time\":\"2026-11-21T09:30:00.123Z\","
        "\"tenant\":\"0123456789abcdef\",\"user\":\"ada\",\"route\":\"10-private\",\"policy_"
        "version\":\"7\",\"requested_model\":"
        "\"auto\","
        "\"tier\":\"cloud\",\"model\":\"big\",\"place\":\"cloud\",\"data_class\":\"public\","
        "\"status\":\"ok\",\"finish\":\"length\",\"confidence\":0.75,\"prompt_tokens\":15,"
        "\"completion_tokens\":43,\"ttft_ms\":320.5,\"total_ms\":910.25,\"cost_usd\":0.0125,"
        "\"all_cloud_cost_usd\":0.03,\"all_cloud_basis\":\"ratio\",\"standing\":\"degraded\","
        "\"degraded\":true,\"streamed\":true,"
        "\"disclosure\":\"reduced \\\"capability\\\"\","
        "\"trace_id\":\"4bf92f3577b34da6a3ce929d0e0e4736\",\"span_id\":\"1111111111111111\","
        "\"parent_span_id\":\"00f067aa0ba902b7\",\"request_id\":\"order-17\","
        "\"signals\":{\"a\":[1,2]},"
        "\"reasons\":[{\"code\":\"low_confidence\"}],\"prompt\":\"What is \xc3\xa9?\","
        "\"answer\":\"A letter.\",\"attempts\":["
        "{\"tier\":\"local\",\"model\":\"nano\",\"place\":\"device\",\"outcome\":\"escalated\","
        "\"error\":null,\"confidence\":0.25,\"prompt_tokens\":7,\"completion_tokens\":3,"
        "\"cached_tokens\":0,\"exact\":false,\"prompt_estimate\":0,\"answer_bytes\":0,"
        "\"start_ms\":0.5,\"first_ms\":6.25,\"total_ms\":9.5,\"cost_usd\":0.0,"
        "\"estimated\":false,\"egress_bytes\":0,\"span_id\":null,\"model_version\":null},"
        "{\"tier\":\"cloud\",\"model\":\"big\",\"place\":\"cloud\",\"outcome\":\"answered\","
        "\"error\":\"retried once: 503\",\"confidence\":null,\"prompt_tokens\":8,"
        "\"completion_tokens\":40,\"cached_tokens\":2,\"exact\":true,\"prompt_estimate\":9,"
        "\"answer_bytes\":150,\"start_ms\":10.0,\"first_ms\":310.125,\"total_ms\":900.0,"
        "\"cost_usd\":0.0125,\"estimated\":false,\"egress_bytes\":4321,"
        "\"span_id\":\"2222222222222222\",\"model_version\":\"00aa11bb22cc33dd\"}],"
        "\"shadows\":[],\"reactions\":[],\"same_trace\":[]}";
    CHECK(text.data != NULL && strcmp(text.data, expected) == 0);
    if (text.data == NULL || strcmp(text.data, expected) != 0)
        fprintf(stderr, "got %s\n", text.data ? text.data : "nothing");
    buf_deinit(&text);
    json_free(json);
    ledger_reader_close(reader);
    ledger_close(ledger);
}

static void test_what_is_absent_is_null_and_texts_are_left_out(void)
{
    const char *path = fixture_path("nulls.db");
    struct ledger *ledger;
    REQUIRE(ledger_open(path, &ledger, NULL) == TD_OK);
    struct ledger_exchange x = {.id = "only",
                                .confidence = NAN,
                                .ttft_ms = NAN,
                                .total_ms = INFINITY,
                                .cost_usd = NAN,
                                .all_cloud_cost_usd = -INFINITY};
    CHECK(ledger_put(ledger, &x, NULL) == TD_OK);
    ledger_close(ledger); /* commits what is queued */
    struct ledger_reader *reader;
    struct json *json;
    REQUIRE(ledger_reader_open(path, &reader, NULL) == TD_OK);
    REQUIRE(ledger_reader_find(reader, NULL, "last", &json, NULL) == TD_OK);
    static const char *const nulls[] = {"user",    "tier",     "status",   "confidence",
                                        "ttft_ms", "total_ms", "cost_usd", "all_cloud_cost_usd",
                                        "signals", "reasons"};
    for (size_t i = 0; i < sizeof nulls / sizeof nulls[0]; i++)
        CHECK(json_kind_of(json_get(json, nulls[i])) == JSON_KIND_NULL);
    CHECK(json_get(json, "prompt") == NULL && json_get(json, "answer") == NULL);
    CHECK(json_count(json_get(json, "attempts")) == 0);
    json_free(json);
    ledger_reader_close(reader);
}

static void test_records_that_cannot_be_are_refused_and_counted(void)
{
    const char *path = fixture_path("refused.db");
    struct ledger *ledger;
    REQUIRE(ledger_open(path, &ledger, NULL) == TD_OK);
    struct ledger_exchange x = fixture_exchange(NULL, 1);
    struct td_error err = {0};
    CHECK(ledger_put(ledger, &x, &err) == TD_INVALID && err.message[0] != '\0');
    x.id = "many";
    x.attempt_count = LEDGER_ATTEMPTS_MAX + 1;
    CHECK(ledger_put(ledger, &x, NULL) == TD_INVALID);
    char *huge = malloc((17u << 20) + 1);
    REQUIRE(huge != NULL);
    memset(huge, 'x', 17u << 20);
    huge[17u << 20] = '\0';
    x = fixture_exchange("huge", 1);
    x.prompt_text = huge;
    CHECK(ledger_put(ledger, &x, NULL) == TD_LIMIT);
    free(huge);
    CHECK(ledger_dropped(ledger) == 3);
    /* A repeated id: the first stays, and so do its neighbours in the batch. */
    x = fixture_exchange("same", 1);
    CHECK(ledger_put(ledger, &x, NULL) == TD_OK);
    CHECK(ledger_put(ledger, &x, NULL) == TD_OK);
    x.id = "next";
    CHECK(ledger_put(ledger, &x, NULL) == TD_OK);
    CHECK(ledger_flush(ledger, 5000, NULL) == TD_OK);
    CHECK(ledger_dropped(ledger) == 4 && fixture_count(path) == 2);
    ledger_close(ledger);
}

static void test_files_are_private(void)
{
    const char *path = fixture_path("deep/er/private.db");
    mode_t before = umask(0);
    struct ledger *ledger;
    REQUIRE(ledger_open(path, &ledger, NULL) == TD_OK);
    struct ledger_exchange x = fixture_exchange("a", 1);
    CHECK(ledger_put(ledger, &x, NULL) == TD_OK && ledger_flush(ledger, 5000, NULL) == TD_OK);
    static const char *const files[] = {"deep/er/private.db", "deep/er/private.db-wal",
                                        "deep/er/private.db-shm"};
    struct stat info;
    for (size_t i = 0; i < 3; i++)
        CHECK(stat(fixture_path(files[i]), &info) == 0 && (info.st_mode & 0777) == 0600);
    CHECK(stat(fixture_path("deep"), &info) == 0 && (info.st_mode & 0777) == 0700);
    CHECK(stat(fixture_path("deep/er"), &info) == 0 && (info.st_mode & 0777) == 0700);
    umask(before);
    ledger_close(ledger);
}

static void test_opening_again_continues(void)
{
    const char *path = fixture_path("again.db");
    for (int round = 0; round < 3; round++) {
        struct ledger *ledger;
        char id[16];
        REQUIRE(ledger_open(path, &ledger, NULL) == TD_OK);
        snprintf(id, sizeof id, "round%d", round);
        struct ledger_exchange x = fixture_exchange(id, 1);
        CHECK(ledger_put(ledger, &x, NULL) == TD_OK);
        ledger_close(ledger);
        CHECK(fixture_count(path) == round + 1);
    }
}

static void test_an_empty_file_becomes_a_ledger(void)
{
    const char *path = fixture_path("empty.db");
    close(open(path, O_CREAT | O_WRONLY, 0600));
    struct ledger *ledger;
    REQUIRE(ledger_open(path, &ledger, NULL) == TD_OK);
    ledger_close(ledger);
    CHECK(fixture_count(path) == 0);
}

/* Reads a whole file (at most capacity); returns its length. */
static size_t slurp(const char *path, char *out, size_t capacity)
{
    int fd = open(path, O_RDONLY);
    ssize_t len = fd < 0 ? 0 : read(fd, out, capacity);
    close(fd);
    return len < 0 ? 0 : (size_t)len;
}

static void write_file(const char *path, const char *data, size_t len)
{
    int fd = open(path, O_CREAT | O_TRUNC | O_WRONLY, 0600);
    CHECK(fd >= 0 && write(fd, data, len) == (ssize_t)len);
    close(fd);
}

/* Opening fails with this status and a message, and not a byte of the file changes. */
static void check_refused(const char *path, enum td_status expected, const char *word)
{
    static char before[1 << 20], after[1 << 20];
    size_t len = slurp(path, before, sizeof before);
    struct ledger *ledger = NULL;
    struct td_error err = {0};
    CHECK(ledger_open(path, &ledger, &err) == expected && ledger == NULL);
    CHECK(strstr(err.message, word) != NULL);
    if (strstr(err.message, word) == NULL)
        fprintf(stderr, "message: %s\n", err.message);
    CHECK(slurp(path, after, sizeof after) == len && memcmp(before, after, len) == 0);
}

static void test_foreign_and_damaged_files_are_refused_and_untouched(void)
{
    const char *path = fixture_path("foreign.db");
    static char image[1 << 20];
    write_file(path,
               "this is my diary, not a database, and it is longer than a header would be: "
               "one hundred bytes at least, no less",
               110);
    check_refused(path, TD_CORRUPT, "not a ledger");
    write_file(path, "short", 5);
    check_refused(path, TD_CORRUPT, "not a ledger");

    const char *own = fixture_path("own.db");
    struct ledger *ledger;
    REQUIRE(ledger_open(own, &ledger, NULL) == TD_OK);
    for (int i = 0; i < 300; i++) {
        char id[16];
        snprintf(id, sizeof id, "row%d", i);
        struct ledger_exchange x = fixture_exchange(id, (uint64_t)i);
        CHECK(ledger_put(ledger, &x, NULL) == TD_OK);
    }
    ledger_close(ledger);
    size_t len = slurp(own, image, sizeof image);
    REQUIRE(len > 40000 && len < sizeof image);

    image[68] = 0; /* application id */
    write_file(path, image, len);
    check_refused(path, TD_CORRUPT, "another program");
    image[68] = 'T';
    image[63] = 99; /* user version */
    write_file(path, image, len);
    check_refused(path, TD_UNSUPPORTED, "version 99");
    image[63] = 1;
    write_file(path, image, len / 2 / 4096 * 4096); /* cut */
    check_refused(path, TD_CORRUPT, "ledger");
    memset(image + 8192, 0x5a, 16384); /* pages of rubbish */
    write_file(path, image, len);
    check_refused(path, TD_CORRUPT, "ledger");
    CHECK(mkdir(fixture_path("directory.db"), 0700) == 0);
    struct td_error err = {0};
    CHECK(ledger_open(fixture_path("directory.db"), &ledger, &err) == TD_IO && err.message[0]);
}

static void test_a_flush_with_nothing_to_do_returns_at_once(void)
{
    struct ledger *ledger;
    REQUIRE(ledger_open(fixture_path("flush.db"), &ledger, NULL) == TD_OK);
    CHECK(ledger_flush(ledger, 0, NULL) == TD_OK);
    struct ledger_exchange x = fixture_exchange("a", 1);
    CHECK(ledger_put(ledger, &x, NULL) == TD_OK);
    CHECK(ledger_flush(ledger, 5000, NULL) == TD_OK);
    CHECK(ledger_flush(ledger, 0, NULL) == TD_OK);
    ledger_close(ledger);
}

static void test_without_a_flush_it_is_written(void)
{
    const char *path = fixture_path("soon.db");
    struct ledger *ledger;
    REQUIRE(ledger_open(path, &ledger, NULL) == TD_OK);
    struct ledger_exchange x = fixture_exchange("a", 1);
    double begin = clock_monotonic_ms(NULL);
    CHECK(ledger_put(ledger, &x, NULL) == TD_OK);
    while (fixture_count(path) != 1 && clock_monotonic_ms(NULL) - begin < 60000)
        usleep(5000);
    CHECK(fixture_count(path) == 1);
    ledger_close(ledger);
}

/* A child that answers 500 exchanges a second and reports each over a pipe, until it is killed. */
static void answer_until_killed(const char *path, int report_fd)
{
    struct ledger *ledger;
    if (ledger_open(path, &ledger, NULL) != TD_OK)
        _exit(1);
    for (uint32_t i = 0;; i++) {
        char id[24];
        snprintf(id, sizeof id, "ex_%08u", i);
        struct ledger_exchange x = fixture_exchange(id, i);
        double at = clock_monotonic_ms(NULL);
        if (ledger_put(ledger, &x, NULL) != TD_OK || write(report_fd, &at, sizeof at) != sizeof at)
            _exit(1);
        usleep(2000);
    }
}

/* A batch is committed within 200 ms; ten times that leaves room for a busy machine. */
static void test_kill_9_keeps_all_that_is_not_recent(void)
{
    const char *path = fixture_path("killed.db");
    int report[2];
    REQUIRE(pipe(report) == 0);
    pid_t child = fork();
    if (child == 0) {
        close(report[0]);
        answer_until_killed(path, report[1]);
    }
    close(report[1]);
    static double at[20000];
    uint32_t put = 0, due = 0;
    /* Goes on until a hundred are old enough, however busy the machine is. */
    while (put <= 100 || at[put - 1] - at[100] < 3000) {
        REQUIRE(put < sizeof at / sizeof *at &&
                read(report[0], &at[put], sizeof *at) == sizeof *at);
        put++;
    }
    kill(child, SIGKILL);
    double killed_at = clock_monotonic_ms(NULL);
    waitpid(child, NULL, 0);
    while (put < sizeof at / sizeof *at && read(report[0], &at[put], sizeof *at) == sizeof *at)
        put++;
    close(report[0]);
    while (due < put && at[due] < killed_at - 2000)
        due++;
    CHECK(due > 100 && put > due);
    /* The survivors are a prefix without holes, and the file opens for writing. */
    int64_t kept = fixture_count(path);
    CHECK(kept >= due && kept <= put);
    struct ledger *ledger;
    REQUIRE(ledger_open(path, &ledger, NULL) == TD_OK);
    struct ledger_exchange x = fixture_exchange("after", 1);
    CHECK(ledger_put(ledger, &x, NULL) == TD_OK && ledger_flush(ledger, 5000, NULL) == TD_OK);
    CHECK(fixture_count(path) == kept + 1);
    ledger_close(ledger);
    printf("kill -9: %u put, %u older than 2 s, %lld kept\n", put, due, (long long)kept);
    fflush(stdout); /* later tests fork */
}

static void test_another_process_reads_while_this_one_writes(void)
{
    const char *path = fixture_path("shared.db");
    struct ledger *ledger;
    int opened[2];
    REQUIRE(pipe(opened) == 0);
    /* Forks before the ledger is open: its thread could hold a lock of the allocator, which the
     * child would inherit locked. */
    pid_t child = fork();
    if (child == 0) { /* only grows, never fails, ends when all is seen */
        char go;
        if (read(opened[0], &go, 1) != 1)
            _exit(1);
        int64_t seen = 0;
        for (int i = 0; i < 12000 && seen < 1000; i++) {
            int64_t count = fixture_count(path);
            if (count < seen)
                _exit(2);
            seen = count;
            usleep(5000);
        }
        _exit(seen == 1000 ? 0 : 3);
    }
    REQUIRE(ledger_open(path, &ledger, NULL) == TD_OK);
    CHECK(write(opened[1], "", 1) == 1);
    close(opened[0]), close(opened[1]);
    for (int i = 0; i < 1000; i++) {
        char id[16];
        snprintf(id, sizeof id, "s%d", i);
        struct ledger_exchange x = fixture_exchange(id, (uint64_t)i);
        CHECK(ledger_put(ledger, &x, NULL) == TD_OK);
        if (i % 100 == 0)
            usleep(20000);
    }
    int exit_status = -1;
    waitpid(child, &exit_status, 0);
    CHECK(WIFEXITED(exit_status) && WEXITSTATUS(exit_status) == 0);
    ledger_close(ledger);
}

/* In a child process, because the limit and the ignored signal stay set. */
static int write_on_a_full_disk(const char *path)
{
    struct ledger *ledger;
    signal(SIGXFSZ, SIG_IGN);
    log_set_level(LOG_LEVEL_OFF);
    if (ledger_open(path, &ledger, NULL) != TD_OK)
        return 1;
    struct ledger_exchange x = fixture_exchange("before", 1);
    if (ledger_put(ledger, &x, NULL) != TD_OK || ledger_flush(ledger, 5000, NULL) != TD_OK)
        return 2;
    struct rlimit full = {.rlim_cur = 1, .rlim_max = RLIM_INFINITY};
    setrlimit(RLIMIT_FSIZE, &full);
    x = fixture_exchange("held", 2);
    struct td_error err = {0};
    if (ledger_put(ledger, &x, NULL) != TD_OK || ledger_flush(ledger, 700, &err) != TD_IO)
        return 3;
    if (strstr(err.message, "not written yet") == NULL)
        return 4;
    /* The queue fills; further records are counted, and nothing waits. */
    uint64_t busy = 0;
    for (int i = 0; i < 6000; i++) {
        char id[16];
        snprintf(id, sizeof id, "f%d", i);
        x = fixture_exchange(id, 3);
        err = (struct td_error){0};
        enum td_status status = ledger_put(ledger, &x, &err);
        if (status != TD_OK && (status != TD_BUSY || strstr(err.message, "queue is full") == NULL))
            return 5;
        busy += status == TD_BUSY;
    }
    if (busy == 0 || ledger_dropped(ledger) != busy)
        return 6;
    struct rlimit space = {.rlim_cur = RLIM_INFINITY, .rlim_max = RLIM_INFINITY};
    setrlimit(RLIMIT_FSIZE, &space);
    if (ledger_flush(ledger, 8000, NULL) != TD_OK)
        return 7;
    if (fixture_count(path) != 2 + 6000 - (int64_t)busy)
        return 8;
    ledger_close(ledger);
    return 0;
}

static void test_a_full_disk_is_waited_out_and_overflow_is_counted(void)
{
    pid_t child = fork();
    if (child == 0)
        _exit(write_on_a_full_disk(fixture_path("full.db")));
    int status = -1;
    waitpid(child, &status, 0);
    CHECK(WIFEXITED(status));
    if (WEXITSTATUS(status) != 0)
        fprintf(stderr, "full disk: step %d failed\n", WEXITSTATUS(status));
    CHECK(WEXITSTATUS(status) == 0);
}

/* What was written makes room: a server would refuse everything after the first 64 MB else. */
static void test_the_queue_has_room_again_after_each_commit(void)
{
    const char *path = fixture_path("room.db");
    const size_t bytes = 15u << 20; /* five of them are more than the queue holds */
    char *text = malloc(bytes + 1);
    struct ledger *ledger;
    REQUIRE(text && ledger_open(path, &ledger, NULL) == TD_OK);
    memset(text, 'a', bytes);
    text[bytes] = '\0';
    for (int i = 0; i < 6; i++) {
        char id[16];
        snprintf(id, sizeof id, "r%d", i);
        struct ledger_exchange x = fixture_exchange(id, (uint64_t)i);
        x.prompt_text = text;
        CHECK(ledger_put(ledger, &x, NULL) == TD_OK);
        CHECK(ledger_flush(ledger, 20000, NULL) == TD_OK);
    }
    CHECK(ledger_dropped(ledger) == 0);
    ledger_close(ledger);
    CHECK(fixture_count(path) == 6);
    free(text);
}

static int close_on_a_full_disk(const char *path)
{
    struct ledger *ledger;
    signal(SIGXFSZ, SIG_IGN);
    log_set_level(LOG_LEVEL_OFF);
    if (ledger_open(path, &ledger, NULL) != TD_OK)
        return 1;
    struct rlimit full = {.rlim_cur = 1, .rlim_max = RLIM_INFINITY};
    setrlimit(RLIMIT_FSIZE, &full);
    struct ledger_exchange x = fixture_exchange("lost", 2);
    if (ledger_put(ledger, &x, NULL) != TD_OK)
        return 2;
    alarm(60); /* kills the test if it waits for the disk */
    ledger_close(ledger);
    return 0;
}

static void test_closing_on_a_full_disk_ends(void)
{
    pid_t child = fork();
    if (child == 0)
        _exit(close_on_a_full_disk(fixture_path("closing.db")));
    int status = -1;
    waitpid(child, &status, 0);
    CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

struct putter {
    struct ledger *ledger;
    int number;
    uint64_t refused;
};

static void *put_many(void *ctx)
{
    struct putter *putter = ctx;
    for (int i = 0; i < 500; i++) {
        char id[24];
        snprintf(id, sizeof id, "t%d_%d", putter->number, i);
        struct ledger_exchange x = fixture_exchange(id, (uint64_t)i);
        x.attempts = two_attempts;
        x.attempt_count = 2;
        putter->refused += ledger_put(putter->ledger, &x, NULL) != TD_OK;
        if (i % 100 == 0)
            putter->refused += ledger_flush(putter->ledger, 10000, NULL) != TD_OK;
    }
    return NULL;
}

static void test_threads_may_put_and_flush_together(void)
{
    const char *path = fixture_path("threads.db");
    struct putter putters[4];
    pthread_t threads[4];
    struct ledger *ledger;
    REQUIRE(ledger_open(path, &ledger, NULL) == TD_OK);
    for (int i = 0; i < 4; i++) {
        putters[i] = (struct putter){ledger, i, 0};
        REQUIRE(pthread_create(&threads[i], NULL, put_many, &putters[i]) == 0);
    }
    for (int i = 0; i < 4; i++) {
        pthread_join(threads[i], NULL);
        CHECK(putters[i].refused == 0);
    }
    CHECK(ledger_flush(ledger, 10000, NULL) == TD_OK);
    CHECK(fixture_count(path) == 2000 && ledger_dropped(ledger) == 0);
    ledger_close(ledger);
}

int main(void)
{
    fixture_begin();
    log_set_level(LOG_LEVEL_OFF);
    RUN(test_every_field_comes_back);
    RUN(test_what_is_absent_is_null_and_texts_are_left_out);
    RUN(test_records_that_cannot_be_are_refused_and_counted);
    RUN(test_files_are_private);
    RUN(test_opening_again_continues);
    RUN(test_an_empty_file_becomes_a_ledger);
    RUN(test_foreign_and_damaged_files_are_refused_and_untouched);
    RUN(test_a_flush_with_nothing_to_do_returns_at_once);
    RUN(test_without_a_flush_it_is_written);
    RUN(test_kill_9_keeps_all_that_is_not_recent);
    RUN(test_another_process_reads_while_this_one_writes);
    RUN(test_a_full_disk_is_waited_out_and_overflow_is_counted);
    RUN(test_closing_on_a_full_disk_ends);
    RUN(test_the_queue_has_room_again_after_each_commit);
    RUN(test_threads_may_put_and_flush_together);
    fixture_end();
    return test_finish();
}
