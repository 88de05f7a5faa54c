/* What waits on the disk comes out as it went in, in its order, whatever was appended and sent
 * meanwhile and wherever the process ended. */
#include "base/bytes/buf.h"
#include "base/core/str.h"
#include "cluster/waiting.h"

#include "test.h"

#include <fcntl.h>
#include <sys/stat.h>

static char path[] = "/tmp/tandem-waiting-XXXXXX";

static uint32_t state = 7;
static uint32_t below(uint32_t limit)
{
    state = state * 1664525u + 1013904223u;
    return (state >> 8) % limit;
}

static struct waiting *opened(uint64_t bytes_max)
{
    struct waiting *waiting = NULL;
    CHECK(waiting_open(path, bytes_max, &waiting, NULL) == TD_OK);
    return waiting;
}

static void append(struct waiting *waiting, int *next, int count)
{
    struct buf lines;
    buf_init(&lines, 1u << 24);
    for (int i = 0; i < count; i++) {
        buf_printf(&lines, "[%d,\"", (*next)++);
        for (uint32_t n = below(50) ? below(300) : 200000; n > 0; n--)
            buf_append_char(&lines, 'x');
        buf_append_str(&lines, STR("\"]\n"));
    }
    CHECK(waiting_append(waiting, buf_view(&lines), (size_t)count, NULL) == TD_OK);
    buf_deinit(&lines);
}

/* Reads some, and says that they were sent, or not. */
static void take(struct waiting *waiting, int *expected, bool sent)
{
    struct json *lines[64];
    size_t count;
    uint64_t bytes;
    int at = *expected;
    REQUIRE(waiting_read(waiting, lines, 1 + below(64), &count, &bytes, NULL) == TD_OK);
    for (size_t i = 0; i < count; i++) {
        CHECK(json_int(json_at(lines[i], 0), -1) == at++);
        json_free(lines[i]);
    }
    if (sent) {
        waiting_sent(waiting, count, bytes);
        *expected = at;
    }
}

static void test_lines_come_in_their_order_each_once(void)
{
    struct waiting *waiting = opened(1u << 28);
    int next = 0, expected = 0;
    for (int round = 0; round < 600; round++) {
        if (below(2))
            append(waiting, &next, 1 + (int)below(90));
        if (below(3))
            take(waiting, &expected, below(4) > 0);
        CHECK(waiting_count(waiting) == (uint64_t)(next - expected));
        CHECK((waiting_bytes(waiting) == 0) == (next == expected));
    }
    while (waiting_count(waiting) > 0)
        take(waiting, &expected, true);
    CHECK(expected == next);
    struct stat info;
    CHECK(stat(path, &info) == 0 && info.st_size == 0 && (info.st_mode & 0777) == 0600);
    waiting_close(waiting);
}

static void test_a_process_that_ends_leaves_whole_lines(void)
{
    struct waiting *waiting = opened(1u << 28);
    int next = 0, expected = 0;
    append(waiting, &next, 100);
    take(waiting, &expected, true);
    waiting_close(waiting);
    int fd = open(path, O_WRONLY | O_APPEND);
    CHECK(write(fd, "[100,\"half", 10) == 10);
    close(fd);
    waiting = opened(1u << 28);
    CHECK(waiting_count(waiting) == 100); /* what was sent may be sent again */
    append(waiting, &next, 1);
    for (expected = 0; waiting_count(waiting) > 0;)
        take(waiting, &expected, true);
    CHECK(expected == 101);
    waiting_close(waiting);
}

static void test_a_line_that_is_no_json_is_passed_over(void)
{
    struct waiting *waiting = opened(1u << 20);
    struct json *lines[8];
    size_t count;
    uint64_t bytes;
    CHECK(waiting_append(waiting, STR("[0]\nbroken {\n[2]\n"), 3, NULL) == TD_OK);
    REQUIRE(waiting_read(waiting, lines, 8, &count, &bytes, NULL) == TD_OK);
    CHECK(count == 3 && lines[0] && !lines[1] && json_int(json_at(lines[2], 0), -1) == 2);
    json_free(lines[0]);
    json_free(lines[2]);
    waiting_sent(waiting, count, bytes);
    CHECK(waiting_count(waiting) == 0);
    waiting_close(waiting);
}

static void test_the_file_has_a_largest_size(void)
{
    struct waiting *waiting = opened(10);
    struct td_error err = {0};
    CHECK(waiting_append(waiting, STR("[12345]\n"), 1, NULL) == TD_OK);
    CHECK(waiting_append(waiting, STR("[12]\n"), 1, &err) == TD_LIMIT && err.message[0]);
    CHECK(waiting_count(waiting) == 1);
    waiting_close(waiting);
}

static void test_what_is_no_plain_file_is_refused(void)
{
    struct waiting *waiting;
    struct td_error err = {0};
    CHECK(waiting_open("/dev/null", 10, &waiting, &err) == TD_IO && !waiting);
    CHECK(waiting_open("/nowhere/x", 10, &waiting, NULL) == TD_IO && !waiting);
}

int main(void)
{
    close(mkstemp(path));
    RUN(test_lines_come_in_their_order_each_once);
    RUN(test_a_process_that_ends_leaves_whole_lines);
    unlink(path);
    RUN(test_a_line_that_is_no_json_is_passed_over);
    RUN(test_the_file_has_a_largest_size);
    RUN(test_what_is_no_plain_file_is_refused);
    unlink(path);
    return test_finish();
}
