/* Downloads without a network: whom a token may reach, the part and its state, headers. */
#include "test.h"

#include "base/core/str.h"
#include "net/download/download_headers.h"
#include "net/download/download_part.h"
#include "net/download/download_url.h"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

/* Replaces flock: does once what another process may do between opening a file and locking it. */
static void (*before_flock)(void);
int flock(int fd, int operation)
{
    void (*act)(void) = before_flock;
    before_flock = NULL;
    if (act)
        act();
    return (int)syscall(SYS_flock, fd, operation);
}

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

/* What a server may say of its bytes, line by line. A line that does not parse changes nothing. */
static void test_each_line_of_an_answer_says_one_thing(void)
{
    static const struct {
        const char *lines[2];
        uint64_t length;
        bool has_length, encoded;
        const char *validator, *sha256;
    } rows[] = {
        {{"Content-Length: 7"}, 7, true, false, "", ""},
        {{"Content-Length: 7x"}, 0, false, false, "", ""},
        {{"Content-Length: -1"}, 0, false, false, "", ""},
        {{"Content-Length 7"}, 0, false, false, "", ""}, /* no colon */
        {{"Content-Encoding: gzip"}, 0, false, true, "", ""},
        {{"content-encoding: Identity"}, 0, false, false, "", ""},
        {{"Transfer-Encoding: chunked"}, 0, false, false, "", ""},
        {{"ETag: \"\""}, 0, false, false, "\"\"", ""},
        {{"ETag: \""}, 0, false, false, "", ""},
        {{"ETag: \"a"}, 0, false, false, "", ""},
        {{"ETag: a\""}, 0, false, false, "", ""},
        {{"ETag: \"a b~\""}, 0, false, false, "\"a b~\"", ""},
        {{"ETag: \"a\x7f\""}, 0, false, false, "", ""},
        {{"Last-Modified: \x01 now"}, 0, false, false, "", ""},
        {{"Last-Modified: a", "Last-Modified: \x7f"}, 0, false, false, "a", ""},
        {{"X-Linked-ETag: " SHA}, 0, false, false, "", SHA},
        {{"X-Linked-ETag: " SHA "\""}, 0, false, false, "", ""},
        {{"X-Linked-ETag: " SHA, "X-Linked-ETag: \"none\""}, 0, false, false, "", SHA},
        {{"X-Other: " SHA}, 0, false, false, "", ""},
        {{": 7", ""}, 0, false, false, "", ""},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct download_headers h = feed(
            (const char *const[]){"HTTP/1.1 200 OK", rows[i].lines[0], rows[i].lines[1], NULL});
        if (h.has_length != rows[i].has_length || strcmp(h.validator, rows[i].validator) != 0)
            fprintf(stderr, "%s\n", rows[i].lines[0]);
        CHECK(h.has_length == rows[i].has_length && h.length == rows[i].length);
        CHECK(h.encoded == rows[i].encoded && strcmp(h.validator, rows[i].validator) == 0);
        CHECK(strcmp(h.sha256, rows[i].sha256) == 0 && !h.has_range);
    }
    /* One byte of a file is a range, too; and the longest validator is kept whole. */
    struct download_headers h = FEED("Content-Range: bytes 0-0/1");
    CHECK(h.has_range && h.begin == 0 && h.end == 1 && h.total == 1);
    for (int len = DOWNLOAD_TAG_BYTES - 2; len <= DOWNLOAD_TAG_BYTES; len++) {
        char line[DOWNLOAD_TAG_BYTES + 32];
        snprintf(line, sizeof line, "Last-Modified: %0*d", len, 0);
        h = FEED(line);
        CHECK(strlen(h.validator) == (len < DOWNLOAD_TAG_BYTES ? (size_t)len : 0));
    }
}

/* --- addresses --- */

static void test_only_the_web_is_fetched(void)
{
    static const struct {
        const char *url;
        bool is_url, is_web, has_user;
    } rows[] = {
        {"http://h/m", true, true, false},
        {"HTTPS://h/m", true, true, false},
        {"file:///etc/passwd", false, false, false},
        {"ftp://h/m", true, false, false},
        {"hf://h/m", true, false, false},
        {"https://u@h/m", true, true, true},
        {"https://:p@h/m", true, true, true},
        {"http://", false, false, false},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct download_url url;
        bool is_url = download_url_read(&url, rows[i].url);
        if (is_url != rows[i].is_url)
            fprintf(stderr, "%s\n", rows[i].url);
        CHECK(is_url == rows[i].is_url);
        if (is_url)
            CHECK(download_url_is_web(&url) == rows[i].is_web && url.has_user == rows[i].has_user);
        download_url_deinit(&url);
    }
}

static void test_a_token_is_for_one_origin_over_https(void)
{
    static const struct {
        const char *url, *origin;
        bool may;
    } cases[] = {
        {"https://hub.example/a", "https://hub.example", true},
        {"https://HUB.example:443/a?b", "https://hub.example/path", true},
        {"https://hub.example:8443/a", "https://hub.example:8443", true},
        {"https://hub.example:8443/a", "https://hub.example", false},
        {"https://hub.example/a", "https://hub.example:8443", false},
        {"http://hub.example/a", "https://hub.example", false},
        {"http://hub.example:443/a", "https://hub.example", false},
        {"https://hub.example:80/a", "http://hub.example", false},
        {"http://hub.example/a", "http://hub.example", false},
        {"http://127.0.0.1/a", "http://127.0.0.1", false},
        {"https://hub.example.evil/a", "https://hub.example", false},
        {"https://hub.example@evil/a", "https://hub.example", false},
        {"https://evil/hub.example", "https://hub.example", false},
        {"https://u:p@hub.example/a", "https://hub.example", false},
        {"https://hub.example/a", "https://u@hub.example", false},
        {"https://hub.example/a", "", false},
        {"https://hub.example/a", "hub.example", false},
        {"ftp://hub.example/a", "ftp://hub.example", false},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        CHECK(download_url_may_see_token(cases[i].url, cases[i].origin) == cases[i].may);
}

static void test_what_may_be_a_secret_of_an_address_is_cut(void)
{
    static const struct {
        const char *url, *shown;
        bool cut;
    } cases[] = {
        {"https://h/a/m.gguf", "https://h/a/m.gguf", false},
        {"https://h:81/a?sig=SECRET", "https://h:81/a", true},
        {"https://user:SECRET@h/a", "https://h/a", true},
        {"https://SECRET@h/a", "https://h/a", true},
        {"https://h/a#SECRET", "https://h/a", true},
        {"http://:SECRET@h/a?SECRET#SECRET", "http://h/a", true},
        {"https://h/a%3Fb", "https://h/a%3Fb", false},
        {"not an address", NULL, false},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        bool cut = true;
        char *shown = download_url_public(cases[i].url, &cut);
        if (cases[i].shown == NULL)
            CHECK(shown == NULL);
        else
            CHECK(shown && strcmp(shown, cases[i].shown) == 0 && cut == cases[i].cut);
        char *identity = download_url_identity(cases[i].url);
        CHECK(!!identity == !!shown && !(identity && strstr(identity, "SECRET")));
        free(identity);
        free(shown);
    }
    char *a = download_url_identity("https://h/m?file=a"),
         *b = download_url_identity("https://h/m?file=b");
    CHECK(a && b && strcmp(a, b) != 0);
    free(a);
    free(b);
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

static char part_path[80];

static void name_the_part(void)
{
    CHECK(rename(part_path, path) == 0);
}

static void remove_the_part(void)
{
    CHECK(unlink(part_path) == 0);
}

/* Otherwise the next pull of the same name would write into the model. */
static void test_a_part_that_got_its_name_is_not_written_any_more(void)
{
    void (*const acts[])(void) = {name_the_part, remove_the_part};
    for (size_t i = 0; i < sizeof acts / sizeof *acts; i++) {
        struct stat old, locked, named;
        int fd, made = open(part_path, O_RDWR | O_CREAT | O_CLOEXEC, 0644);
        CHECK(made >= 0 && fstat(made, &old) == 0);
        before_flock = acts[i];
        CHECK(download_part_lock(part_path, true, &fd, NULL) == TD_OK);
        CHECK(before_flock == NULL); /* it has happened */
        CHECK(fstat(fd, &locked) == 0 && stat(part_path, &named) == 0);
        CHECK(locked.st_ino == named.st_ino && locked.st_ino != old.st_ino);
        close(fd);
        close(made);
        unlink(part_path);
        unlink(path);
    }
}

static void test_closing_leaves_the_part_of_another_process_alone(void)
{
    struct download_part mine, other;
    CHECK(download_part_open(&mine, path, NULL) == TD_OK);
    CHECK(unlink(part_path) == 0); /* as `models rm` of an older version did */
    CHECK(download_part_open(&other, path, NULL) == TD_OK);
    download_part_close(&mine);
    CHECK(access(part_path, F_OK) == 0);
    download_part_close(&other);
    CHECK(access(part_path, F_OK) != 0);
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
    CHECK(download_part_check_space(&part, 0, &err) == TD_LIMIT);
    CHECK(strstr(err.message, "1152921504606.8 MB are missing") != NULL);
    download_part_close(&part);
}

int main(void)
{
    RUN(test_a_range_is_read_whole_or_not_at_all);
    RUN(test_validators_are_strong_or_none);
    RUN(test_a_hub_s_hash_is_64_digits);
    RUN(test_each_line_of_an_answer_says_one_thing);
    RUN(test_only_the_web_is_fetched);
    RUN(test_a_token_is_for_one_origin_over_https);
    RUN(test_what_may_be_a_secret_of_an_address_is_cut);
    if (mkdtemp(folder) == NULL)
        return 1;
    snprintf(path, sizeof path, "%s/m.gguf", folder);
    snprintf(part_path, sizeof part_path, "%s.part", path);
    RUN(test_a_part_is_taken_up_only_by_the_same_file);
    RUN(test_a_part_that_got_its_name_is_not_written_any_more);
    RUN(test_closing_leaves_the_part_of_another_process_alone);
    RUN(test_a_state_that_lies_is_not_believed);
    RUN(test_bytes_behind_the_end_of_the_part_are_not_believed);
    RUN(test_what_the_disk_cannot_hold_is_refused_with_the_sum);
    rmdir(folder);
    return test_finish();
}
