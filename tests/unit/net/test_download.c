#include "test.h"

#include "base/str.h"
#include "net/download_headers.h"
#include "net/download_part.h"

#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define SHA "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"

static struct download_headers feed(const char *const *lines)
{
    struct download_headers headers = {0};
    for (size_t i = 0; lines[i]; i++)
        download_headers_feed(&headers, str_from(lines[i]));
    return headers;
}

#define FEED(...) feed((const char *const[]){__VA_ARGS__, NULL})

static void test_a_range_is_read_whole_or_not_at_all(void)
{
    struct download_headers h = FEED("HTTP/1.1 206 Partial Content\r\n",
                                     "content-RANGE:  bytes 5-9/100 \r\n", "Content-Length: 5\r\n");
    CHECK(h.has_range && h.begin == 5 && h.end == 10 && h.total == 100);
    CHECK(h.has_length && h.length == 5);
    static const char *const bad[] = {
        "bytes 5-9/*",
        "bytes 9-5/100",
        "bytes 5-100/100",
        "bytes -5/100",
        "bytes 5-/100",
        "items 5-9/100",
        "bytes 5-9",
        "bytes 5 - 9/100",
        "bytes a-9/100",
        "bytes 0x5-9/100",
        "bytes 18446744073709551615-18446744073709551615/5",
        "bytes 5-9/99999999999999999999999",
        "",
        "bytes",
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        char line[128];
        snprintf(line, sizeof line, "Content-Range: %s\r\n", bad[i]);
        h = FEED(line);
        CHECK(!h.has_range && !h.total_alone);
    }
    h = FEED("Content-Range: bytes */77\r\n");
    CHECK(!h.has_range && h.total_alone && h.total == 77);
}

static void test_validators_are_strong_or_none(void)
{
    struct download_headers h =
        FEED("Last-Modified: Sat, 21 Nov 2026 20:00:00 GMT\r\n", "ETag: \"abc\"\r\n");
    CHECK(strcmp(h.validator, "\"abc\"") == 0 && h.is_etag);
    h = FEED("ETag: \"abc\"\r\n", "Last-Modified: Sat, 21 Nov 2026 20:00:00 GMT\r\n");
    CHECK(strcmp(h.validator, "\"abc\"") == 0);
    h = FEED("ETag: W/\"abc\"\r\n");
    CHECK(!*h.validator);
    h = FEED("ETag: W/\"abc\"\r\n", "Last-Modified: yesterday\r\n");
    CHECK(strcmp(h.validator, "yesterday") == 0 && !h.is_etag);
    h = FEED("ETag: \"a\x01\"\r\n");
    CHECK(!*h.validator);
    char line[600] = "ETag: \"";
    memset(line + 7, 'x', 500);
    strcpy(line + 507, "\"\r\n");
    h = FEED(line);
    CHECK(!*h.validator);
    h = FEED("ETag: \"old\"\r\n", "HTTP/1.1 200 OK\r\n");
    CHECK(!*h.validator);
}

static void test_a_hub_s_hash_is_64_digits(void)
{
    struct download_headers h = FEED("X-Linked-ETag: \"" SHA "\"\r\n");
    CHECK(strcmp(h.sha256, SHA) == 0);
    h = FEED("X-Linked-ETag: \"0123456789abcdef0123456789abcdef01234567\"\r\n");
    CHECK(!*h.sha256);
    char hex[DOWNLOAD_SHA256_HEX + 1];
    CHECK(download_sha256_parse(
        STR("ABCDEF0123456789abcdef0123456789abcdef0123456789abcdef0123456789"), hex));
    CHECK(strncmp(hex, "abcdef", 6) == 0);
    CHECK(!download_sha256_parse(
        STR("g123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"), hex));
    CHECK(!download_sha256_parse(STR(""), hex));
}

/* --- the part and its state --- */

#define MB UINT64_C(1048576)

static char folder[] = "/tmp/tandem-part-XXXXXX", path[64];

static struct download_part open_part(uint64_t total, const char *validator, uint64_t *resumed)
{
    struct download_part part;
    CHECK(download_part_open(&part, path, NULL) == TD_OK);
    CHECK(download_part_plan(&part, "http://x/m", total, validator, resumed, NULL) == TD_OK);
    return part;
}

static void test_a_part_is_taken_up_only_by_the_same_file(void)
{
    uint64_t resumed;
    char bytes[1000] = "model";
    struct download_part part = open_part(3 * MB + 5, "\"v1\"", &resumed);
    CHECK(resumed == 0 && part.piece_count == 4);
    CHECK(download_part_piece_bytes(&part, 0) == MB && download_part_piece_bytes(&part, 3) == 5);
    CHECK(download_part_write(&part, 1, bytes, sizeof bytes, NULL) == TD_OK);
    CHECK(download_part_write(&part, 3, bytes, 5, NULL) == TD_OK);
    CHECK(download_part_write(&part, 3, bytes, 1, NULL) == TD_CORRUPT);
    CHECK(download_part_save(&part, NULL) == TD_OK);
    struct download_part second;
    CHECK(download_part_open(&second, path, NULL) == TD_BUSY);
    download_part_close(&second);
    download_part_close(&part);

    part = open_part(3 * MB + 5, "\"v1\"", &resumed);
    CHECK(resumed == 1005 && part.done[1] == 1000 && part.done[3] == 5);
    download_part_close(&part);
    part = open_part(3 * MB + 5, "\"v2\"", &resumed);
    CHECK(resumed == 0 && download_part_done_bytes(&part) == 0);
    download_part_close(&part);
    char left[80];
    snprintf(left, sizeof left, "%s.part", path);
    CHECK(access(left, F_OK) != 0); /* an empty part goes away */
}

/* Else the next pull of the same name would write into the model. */
static void test_a_part_that_got_its_name_is_not_written_any_more(void)
{
    enum { TURNS = 300 };
    char part[80];
    int wrong = 0, done = 0, status, fd;
    snprintf(part, sizeof part, "%s.part", path);
    pid_t other = fork();
    for (int i = 0; other == 0 && i < TURNS;) {
        if (download_part_lock(part, true, &fd, NULL) != TD_OK)
            continue;
        (void)rename(part, path);
        close(fd);
        i++;
    }
    if (other == 0)
        _exit(0);
    while (waitpid(other, &status, WNOHANG) == 0) {
        struct stat locked, model;
        if (download_part_lock(part, true, &fd, NULL) != TD_OK)
            continue;
        if (stat(path, &model) == 0 && fstat(fd, &locked) == 0)
            wrong += locked.st_ino == model.st_ino;
        close(fd);
        done++;
    }
    CHECK(done > 0 && wrong == 0);
    unlink(part);
    unlink(path);
}

static void test_a_state_that_lies_is_not_believed(void)
{
    static const char *const states[] = {
        "",
        "{}",
        "[]",
        "null",
        "{\"version\":1,\"url\":\"u\",\"validator\":\"v\",\"total\":2097152,\"piece_bytes\":0,"
        "\"done\":[]}",
        "{\"version\":1,\"url\":\"u\",\"validator\":\"v\",\"total\":2097152,\"piece_bytes\":"
        "1048576,\"done\":[0]}",
        "{\"version\":1,\"url\":\"u\",\"validator\":\"v\",\"total\":2097152,\"piece_bytes\":"
        "1048576,\"done\":[0,1048577]}",
        "{\"version\":1,\"url\":\"u\",\"validator\":\"v\",\"total\":2097152,\"piece_bytes\":"
        "1048576,\"done\":[0,-1]}",
        "{\"version\":1,\"url\":\"u\",\"validator\":\"v\",\"total\":2097152,\"piece_bytes\":1,"
        "\"done\":[0,0]}",
        "{\"version\":1,\"url\":\"u\",\"validator\":\"w\",\"total\":2097152,\"piece_bytes\":"
        "1048576,\"done\":[0,0]}",
        "{\"version\":2,\"url\":\"u\",\"validator\":\"v\",\"total\":2097152,\"piece_bytes\":"
        "1048576,\"done\":[0,0]}",
        "{\"version\":1,\"url\":\"u\",\"validator\":\"v\",\"total\":2097153,\"piece_bytes\":"
        "1048576,\"done\":[0,0]}",
    };
    for (size_t i = 0; i <= sizeof states / sizeof *states; i++) {
        struct download_part part = {.fd = -1, .url = "u", .validator = "v", .total = 2 * MB};
        bool honest = i == sizeof states / sizeof *states;
        const char *state =
            honest ? "{\"version\":1,\"url\":\"u\",\"validator\":\"v\",\"total\":2097152,"
                     "\"piece_bytes\":1048576,\"done\":[0,7]}"
                   : states[i];
        CHECK(download_part_read_state(&part, str_from(state)) == honest);
        download_part_close(&part);
    }
}

static void test_bytes_behind_the_end_of_the_part_are_not_believed(void)
{
    uint64_t resumed;
    char bytes[100] = "x";
    struct download_part part = open_part(2 * MB, "\"v\"", &resumed);
    CHECK(download_part_write(&part, 1, bytes, sizeof bytes, NULL) == TD_OK);
    CHECK(download_part_save(&part, NULL) == TD_OK);
    CHECK(ftruncate(part.fd, (off_t)MB) == 0);
    download_part_close(&part);
    part = open_part(2 * MB, "\"v\"", &resumed);
    CHECK(resumed == 0);
    download_part_close(&part);
}

static void test_what_the_disk_cannot_hold_is_refused_with_the_sum(void)
{
    uint64_t resumed;
    struct td_error err = {0};
    struct download_part part = open_part(UINT64_C(1) << 60, "\"v\"", &resumed);
    CHECK(part.piece_count <= 65536);
    CHECK(download_part_check_space(&part, &err) == TD_LIMIT);
    CHECK(strstr(err.message, "1152921504606.8 MB are missing") != NULL);
    download_part_close(&part);
}

int main(void)
{
    RUN(test_a_range_is_read_whole_or_not_at_all);
    RUN(test_validators_are_strong_or_none);
    RUN(test_a_hub_s_hash_is_64_digits);
    if (mkdtemp(folder) == NULL)
        return 1;
    snprintf(path, sizeof path, "%s/m.gguf", folder);
    RUN(test_a_part_is_taken_up_only_by_the_same_file);
    RUN(test_a_part_that_got_its_name_is_not_written_any_more);
    RUN(test_a_state_that_lies_is_not_believed);
    RUN(test_bytes_behind_the_end_of_the_part_are_not_believed);
    RUN(test_what_the_disk_cannot_hold_is_refused_with_the_sum);
    rmdir(folder);
    return test_finish();
}
