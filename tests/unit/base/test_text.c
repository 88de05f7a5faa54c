/* ascii, str, utf8, error, path, clock, log: the small text helpers. */
#include "base/bytes/path.h"
#include "base/core/ascii.h"
#include "base/core/error.h"
#include "base/core/str.h"
#include "base/text/utf8.h"
#include "base/time/clock.h"
#include "base/time/log.h"
#include "test.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

static void test_views_compare_by_bytes(void)
{
    CHECK(str_equal(STR("abc"), str_from("abc")));
    CHECK(!str_equal(STR("abc"), STR("abd")));
    CHECK(str_equal((struct td_str){NULL, 0}, STR("")));
    CHECK(str_equal_nocase(STR("Content-Length"), STR("content-LENGTH")));
    CHECK(str_starts_with(STR("data: x"), STR("data:")) &&
          !str_starts_with(STR("da"), STR("data")));
    CHECK(str_ends_with(STR("a.gguf"), STR(".gguf")) && !str_ends_with(STR("f"), STR("gguf")));
    CHECK(str_equal(str_trim(STR(" \t x y \r\n")), STR("x y")));
    CHECK(str_trim(STR("  ")).len == 0);
}

static void test_find_and_next_cover_the_ends(void)
{
    CHECK(str_find(STR("hello"), STR("lo"), 0) == 3);
    CHECK(str_find(STR("hello"), STR("lo"), 4) == SIZE_MAX);
    CHECK(str_find(STR(""), STR("x"), 0) == SIZE_MAX);
    CHECK(str_find(STR("x"), STR("x"), 9) == SIZE_MAX);
    struct td_str rest = STR("a,,b"), part;
    CHECK(str_next(&rest, ',', &part) && str_equal(part, STR("a")));
    CHECK(str_next(&rest, ',', &part) && part.len == 0);
    CHECK(str_next(&rest, ',', &part) && str_equal(part, STR("b")));
    CHECK(!str_next(&rest, ',', &part) && part.len == 0); /* it does not keep the last part */
}

/* Few and many places where the needle might begin: they are looked for in two ways. */
static void test_a_needle_is_found_after_many_that_begin_like_it(void)
{
    for (size_t begun = 0; begun < 200; begun++) {
        char text[1024];
        size_t len = 0;
        for (size_t i = 0; i < begun; i++)
            len += (size_t)snprintf(text + len, sizeof text - len, "ab.");
        const struct td_str before = {text, len};
        CHECK(str_find(before, STR("abc"), 0) == SIZE_MAX);
        CHECK(str_find(before, STR("z"), 0) == SIZE_MAX);
        memcpy(text + len, "abc", 4);
        const struct td_str whole = {text, len + 3};
        CHECK(str_find(whole, STR("abc"), 0) == len);
        CHECK(str_find(whole, STR("c"), 0) == len + 2);
        CHECK(str_find(whole, STR("abcd"), 0) == SIZE_MAX);
        CHECK(str_find(whole, STR("abc"), len + 1) == SIZE_MAX);
    }
}

static void test_numbers_refuse_overflow_and_rubbish(void)
{
    uint64_t u;
    double d;
    CHECK(str_to_u64(STR("18446744073709551615"), &u) && u == UINT64_MAX);
    CHECK(!str_to_u64(STR("18446744073709551616"), &u) && !str_to_u64(STR(""), &u));
    CHECK(!str_to_u64(STR("+1"), &u) && !str_to_u64(STR("1 "), &u));
    int64_t i;
    CHECK(str_to_i64(STR("-9223372036854775808"), &i) && i == INT64_MIN);
    CHECK(!str_to_i64(STR("9223372036854775808"), &i) && !str_to_i64(STR("-"), &i));
    CHECK(str_to_double(STR("-1.5e3"), &d) && d == -1500.0);
    CHECK(!str_to_double(STR("1e999"), &d) && !str_to_double(STR("nan"), &d) &&
          !str_to_double(STR(" 1"), &d) && !str_to_double(STR("1x"), &d));
}

static void test_nearest_name_is_found_only_when_near(void)
{
    const char *const names[] = {"timeout_ms", "base_url", "model"};
    CHECK(strcmp(str_nearest(STR("tmeout_ms"), names, 3), "timeout_ms") == 0);
    CHECK(strcmp(str_nearest(STR("Model"), names, 3), "model") == 0);
    CHECK(str_nearest(STR("completely_else"), names, 3) == NULL);
}

/* Header names, prefixes of lines and ends of file names are told apart by any one byte. */
static void test_a_difference_at_any_place_is_a_difference(void)
{
    static const struct {
        const char *a, *b;
        bool nocase, starts, ends;
    } rows[] = {
        {"Content-Length", "content-LENGTH", true, false, false},
        {"Content-Length", "content-LENGTX", false, false, false},
        {"Content-Length", "Xontent-Length", false, false, false},
        {"Content-Length", "Content", false, true, false},
        {"Content", "Content-Length", false, false, false},
        {"a.gguf", ".gguf", false, false, true},
        {"a.gguf", "xgguf", false, false, false},
        {"a.gguf", "a.ggu", false, true, false},
        {"a.gguf", "b.ggu", false, false, false},
        {"same", "same", true, true, true},
        {"", "", true, true, true},
        {"a", "", false, true, true},
        {"", "a", false, false, false},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct td_str a = str_from(rows[i].a), b = str_from(rows[i].b);
        CHECK(str_equal_nocase(a, b) == rows[i].nocase && str_equal_nocase(b, a) == rows[i].nocase);
        CHECK(str_starts_with(a, b) == rows[i].starts && str_ends_with(a, b) == rows[i].ends);
    }
}

static void test_numbers_are_read_whole_or_not_at_all(void)
{
    static const struct {
        const char *text;
        bool is_number;
        int64_t value;
    } integers[] = {
        {"0", true, 0},
        {"-0", true, 0},
        {"7", true, 7},
        {"-7", true, -7},
        {"+12", true, 12},
        {"007", true, 7},
        {"9223372036854775807", true, INT64_MAX},
        {"-9223372036854775808", true, INT64_MIN},
        {"-9223372036854775809", false, 0},
        {"18446744073709551617", false, 0}, /* 2^64 + 1 */
        {"", false, 0},
        {"+", false, 0},
        {"--7", false, 0},
        {"+-7", false, 0},
        {"7-", false, 0},
        {"1_000", false, 0},
        {"0x10", false, 0},
    };
    for (size_t i = 0; i < sizeof integers / sizeof *integers; i++) {
        int64_t value = 0;
        CHECK(str_to_i64(str_from(integers[i].text), &value) == integers[i].is_number &&
              value == integers[i].value);
    }
    static const struct {
        const char *text;
        bool is_number;
        double value;
    } doubles[] = {
        {"5", true, 5},
        {"0.25", true, 0.25},
        {"0.00000000000000000000000000000000000000000000000000000000000000", false, 0}, /* 64 */
        {"0.0000000000000000000000000000000000000000000000000000000000000", true, 0},
        {"", false, 0},
        {"inf", false, 0},
        {"1,5", false, 0},
        {"1 ", false, 0},
    };
    for (size_t i = 0; i < sizeof doubles / sizeof *doubles; i++) {
        double value = 0;
        /* A view has no end mark: what lies behind it is no part of the number. */
        char behind[80];
        snprintf(behind, sizeof behind, "%s9", doubles[i].text);
        CHECK(str_to_double((struct td_str){behind, strlen(doubles[i].text)}, &value) ==
                  doubles[i].is_number &&
              value == doubles[i].value);
    }
}

/* One letter in three may be wrong, too many or missing, and one more. */
static void test_the_nearest_name_is_the_one_of_fewest_changes(void)
{
    static const char *const names[] = {"timeout_ms", "timeout_s", "model", "models", "mode"};
    static const char longest[] = "a_name_of_sixty_three_bytes_is_the_longest_that_is_still_looked";
    static const char *const long_names[] = {longest};
    static const struct {
        const char *given, *nearest;
    } rows[] = {
        {"models", "models"},
        {"model", "model"},
        {"mode", "mode"},
        {"MODELS", "models"},
        {"modell", "model"},
        {"odel", "model"},
        {"modeks", "models"},
        {"timeout_mss", "timeout_ms"},
        {"imeout_ms", "timeout_ms"},
        {"timeout_sx", "timeout_s"},
        {"mdoe", "mode"},
        {"xxxx", NULL},
        {"", NULL},
        {"m", NULL},
        {"tmot", NULL},
        {"timeoutXXXX", "timeout_ms"},
        {"timeXXXXXX", NULL},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const char *got = str_nearest(str_from(rows[i].given), names, sizeof names / sizeof *names);
        bool same = rows[i].nearest ? got && strcmp(got, rows[i].nearest) == 0 : !got;
        if (!same)
            fprintf(stderr, "'%s': '%s'\n", rows[i].given, got ? got : "");
        CHECK(same);
    }
    CHECK(sizeof longest - 1 == 63 && str_nearest(str_from(longest), long_names, 1) == longest);
    char text[200];
    for (size_t more = 1; more < 100; more++) { /* never beyond what is compared */
        snprintf(text, sizeof text, "%s%0*d", longest, (int)more, 0);
        CHECK(str_nearest(str_from(text), long_names, 1) == NULL);
        const char *const names_too_long[] = {text};
        CHECK(str_nearest(str_from(longest), names_too_long, 1) == NULL);
    }
    CHECK(str_nearest(STR("model"), NULL, 0) == NULL);
}

static void test_ascii_classes_are_those_of_the_c_locale(void)
{
    for (int c = 0; c < 0x80; c++) {
        CHECK(ascii_is_digit(c) == (isdigit(c) != 0) && ascii_is_hex(c) == (isxdigit(c) != 0));
        CHECK(ascii_is_upper(c) == (isupper(c) != 0) && ascii_is_lower(c) == (islower(c) != 0));
        CHECK(ascii_is_letter(c) == (isalpha(c) != 0) && ascii_is_alnum(c) == (isalnum(c) != 0));
        CHECK(ascii_is_space(c) == (isspace(c) != 0));
        CHECK(ascii_lower(c) == tolower(c) && ascii_upper(c) == toupper(c));
        CHECK(ascii_hex_value(c) ==
              (isxdigit(c) ? (int)strtol((char[]){(char)c, 0}, NULL, 16) : -1));
    }
}

static void test_characters_outside_ascii_have_no_class_and_keep_their_value(void)
{
    const int outside[] = {-128,  -63,    -1,     0x80,     0xC1,   0xE1,
                           0x130, 0x212A, 0xFF11, 0x10FFFF, INT_MAX};
    for (size_t i = 0; i < sizeof outside / sizeof *outside; i++) {
        int c = outside[i];
        CHECK(!ascii_is_alnum(c) && !ascii_is_space(c) && !ascii_is_hex(c));
        CHECK(!ascii_is_upper(c) && !ascii_is_lower(c) && ascii_hex_value(c) == -1);
        CHECK(ascii_lower(c) == c && ascii_upper(c) == c);
    }
}

static void test_a_message_suggests_the_nearest_name_or_nothing(void)
{
    const char *const names[] = {"local", "cloud"};
    CHECK(strcmp(error_suggest(STR("clod"), names, 2).text, "; did you mean 'cloud'?") == 0);
    CHECK(strcmp(error_suggest(STR("elsewhere"), names, 2).text, "") == 0);
    CHECK(strcmp(error_suggest(STR("cloud"), names, 0).text, "") == 0);
    char longest[64];
    memset(longest, 'n', 63);
    longest[63] = '\0';
    const char *const one[] = {longest};
    struct td_str text = str_from(error_suggest(str_from(longest), one, 1).text);
    CHECK(str_find(text, str_from(longest), 0) != SIZE_MAX && str_ends_with(text, STR("'?")));
}

static void test_a_path_fits_or_is_refused_whole(void)
{
    char path[12];
    struct td_error err = {0};
    CHECK(path_join(path, sizeof path, "/var", "log.txt", &err) == TD_INVALID && path[0] == '\0');
    CHECK(errno == ENAMETOOLONG);
    CHECK(strcmp(err.message, "the path '/var/log.tx...' is too long: 11 bytes are possible") == 0);
    CHECK(path_join(path, sizeof path, "/var", "log.md", NULL) == TD_OK);
    CHECK(strcmp(path, "/var/log.md") == 0);
    CHECK(path_format(path, sizeof path, NULL, "%s.%d", "/tmp/a", 77) == TD_OK);
    CHECK(strcmp(path, "/tmp/a.77") == 0);
}

static void test_folders_are_made_down_to_the_file(void)
{
    char top[] = "/tmp/test_path_XXXXXX", path[256], file[256];
    struct td_error err = {0};
    struct stat info;
    REQUIRE(mkdtemp(top) != NULL);
    REQUIRE(path_join(path, sizeof path, top, "a/b", NULL) == TD_OK);
    REQUIRE(path_join(file, sizeof file, path, "file", NULL) == TD_OK);
    CHECK(path_make_parents(file, 0700, NULL) == TD_OK && stat(path, &info) == 0);
    CHECK(S_ISDIR(info.st_mode) && (info.st_mode & 0777) == 0700 && stat(file, &info) != 0);
    CHECK(path_make_parents(file, 0700, NULL) == TD_OK); /* they exist already */
    CHECK(path_make_parents("file", 0700, NULL) == TD_OK);
    CHECK(path_make_parents("/dev/null/x/file", 0700, &err) == TD_IO);
    CHECK(strstr(err.message, "/dev/null") != NULL);
    CHECK(rmdir(path) == 0);
    *strrchr(path, '/') = '\0';
    CHECK(rmdir(path) == 0 && rmdir(top) == 0);
}

static void test_utf8_refuses_what_rfc_3629_refuses(void)
{
    CHECK(utf8_is_valid(STR("a\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80")));
    const char *bad[] = {"\xc0\xaf", "\xe0\x80\x80", "\xed\xa0\x80", "\xf4\x90\x80\x80",
                         "\xff",     "\x80",         "\xc3",         "\xe2\x82"};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
        CHECK(!utf8_is_valid(str_from(bad[i])));
    for (uint32_t c = 0; c < 0x110000; c++) {
        char bytes[4];
        size_t len = utf8_encode(c, bytes), offset = 0;
        if (c >= 0xd800 && c < 0xe000) {
            CHECK(len == 0);
            continue;
        }
        CHECK(utf8_next((struct td_str){bytes, len}, &offset) == c && offset == len);
    }
}

static void test_streams_are_cut_between_characters(void)
{
    struct td_str text = STR("x\xf0\x9f\x98\x80y");
    size_t expected[] = {0, 1, 1, 1, 1, 5, 6};
    for (size_t i = 0; i <= text.len; i++)
        CHECK(utf8_complete_len(str_slice(text, 0, i)) == expected[i]);
    CHECK(utf8_complete_len(STR("\x80\x80\x80")) == 3); /* invalid bytes are complete */
}

static void test_a_character_begins_where_its_first_byte_is(void)
{
    struct td_str text = STR("x\xf0\x9f\x98\x80y\x80\xc3");
    size_t expected[] = {0, 1, 1, 1, 1, 5, 6, 7, 8};
    for (size_t i = 0; i <= text.len; i++)
        CHECK(utf8_character_begin(text, i) == expected[i]);
}

static void test_first_failure_wins(void)
{
    struct td_error err = {0};
    CHECK(error_set(&err, TD_IO, "disk %d", 1) == TD_IO);
    CHECK(error_set(&err, TD_INVALID, "later") == TD_INVALID);
    CHECK(err.status == TD_IO && strcmp(err.message, "disk 1") == 0);
    error_prefix(&err, "opening %s", "x");
    CHECK(strcmp(err.message, "opening x: disk 1") == 0);
    CHECK(error_set(NULL, TD_BUSY, "nobody listens") == TD_BUSY);
    CHECK(strcmp(td_status_name(TD_NOT_FOUND), "not_found") == 0);
    CHECK(strcmp(td_status_name((enum td_status)99), "unknown") == 0);
}

static void test_iso8601(void)
{
    char text[25];
    clock_format_iso8601(UINT64_C(1795253400123), text);
    CHECK(strcmp(text, "2026-11-21T09:30:00.123Z") == 0);
}

static void test_a_log_line_cannot_be_forged(void)
{
    int fds[2];
    REQUIRE(pipe(fds) == 0);
    log_set_fd(fds[1]);
    log_event(LOG_LEVEL_INFO, "test.event", "name=%s", "a\nlevel=error event=fake");
    log_event(LOG_LEVEL_DEBUG, "test.hidden", "x=1");
    log_set_fd(2);
    char line[512] = "";
    ssize_t got = read(fds[0], line, sizeof line - 1);
    CHECK(got > 0 && strchr(line, '\n') == line + got - 1);
    CHECK(strstr(line, "event=test.event name=a?level=error"));
    CHECK(strstr(line, "hidden") == NULL);
    close(fds[0]);
    close(fds[1]);
}

static void test_a_log_line_commands_no_terminal(void)
{
    int fds[2];
    REQUIRE(pipe(fds) == 0);
    log_set_fd(fds[1]);
    log_event(LOG_LEVEL_INFO, "test.event", "name=%s",
              "\x1b[2J \xc2\x9b"
              "31m \x9b \xc3\xa9 \xe6\xb5\xb7 \xc2");
    log_set_fd(2);
    char line[512] = "";
    CHECK(read(fds[0], line, sizeof line - 1) > 0);
    CHECK(strstr(line, "name=?[2J ??31m ? \xc3\xa9 \xe6\xb5\xb7 ?\n"));
    close(fds[0]);
    close(fds[1]);
}

int main(void)
{
    RUN(test_views_compare_by_bytes);
    RUN(test_find_and_next_cover_the_ends);
    RUN(test_a_needle_is_found_after_many_that_begin_like_it);
    RUN(test_numbers_refuse_overflow_and_rubbish);
    RUN(test_nearest_name_is_found_only_when_near);
    RUN(test_a_difference_at_any_place_is_a_difference);
    RUN(test_numbers_are_read_whole_or_not_at_all);
    RUN(test_the_nearest_name_is_the_one_of_fewest_changes);
    RUN(test_ascii_classes_are_those_of_the_c_locale);
    RUN(test_characters_outside_ascii_have_no_class_and_keep_their_value);
    RUN(test_a_message_suggests_the_nearest_name_or_nothing);
    RUN(test_a_path_fits_or_is_refused_whole);
    RUN(test_folders_are_made_down_to_the_file);
    RUN(test_utf8_refuses_what_rfc_3629_refuses);
    RUN(test_streams_are_cut_between_characters);
    RUN(test_a_character_begins_where_its_first_byte_is);
    RUN(test_first_failure_wins);
    RUN(test_iso8601);
    RUN(test_a_log_line_cannot_be_forged);
    RUN(test_a_log_line_commands_no_terminal);
    return test_finish();
}
