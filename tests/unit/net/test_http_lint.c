/* Heads and chunks alone. conformance/test_http_framing.c tests what is refused over the wire. */
#include "base/core/str.h"
#include "net/server/http_lint.h"
#include "test.h"

static char text[8192];
static struct http_header headers[HTTP_HEADERS_MAX];
static struct http_head head = {.headers = headers, .headers_max = HTTP_HEADERS_MAX};
static const char *reason;

static int parse(const char *request)
{
    size_t len = strlen(request);
    memcpy(text, request, len);
    return http_head_parse(&head, text, len, &reason);
}

static void test_a_head_is_taken_apart(void)
{
    CHECK(parse("POST /v1/a%20b?q=%41&r HTTP/1.1\r\nHost: h:1\r\nA:  x y\t\r\nContent-Length: "
                "12\r\n\r\n") == 0);
    CHECK(strcmp(head.method, "POST") == 0 && strcmp(head.path, "/v1/a b") == 0);
    CHECK(strcmp(head.query, "q=%41&r") == 0 && head.header_count == 3);
    CHECK(strcmp(http_head_find(&head, "a"), "x y") == 0 && http_head_find(&head, "b") == NULL);
    CHECK(head.has_length && head.content_length == 12 && !head.chunked && head.keep_alive);
    CHECK(parse("GET http://H:1?x HTTP/1.1\r\nHost: h:1\r\n\r\n") == 400);
    CHECK(parse("GET http://H:1/?x=/y HTTP/1.1\r\nHost: h:1\r\n\r\n") == 0);
    CHECK(strcmp(head.path, "/") == 0 && strcmp(head.query, "x=/y") == 0);
    CHECK(parse("GET / HTTP/1.1\r\nHost: h\r\n\r\n") == 0 && head.query == NULL &&
          !head.has_length);
}

/* The server gives a head as much room as it has lines. */
static void test_a_head_has_no_more_headers_than_there_is_room_for(void)
{
    head.headers_max = 2;
    CHECK(parse("GET / HTTP/1.1\r\nHost: h\r\nA: 1\r\n\r\n") == 0 && head.header_count == 2);
    CHECK(parse("GET / HTTP/1.1\r\nHost: h\r\nA: 1\r\nB: 2\r\n\r\n") == 431);
    head.headers_max = HTTP_HEADERS_MAX;
}

static void test_keep_alive_follows_version_and_header(void)
{
    static const struct {
        const char *version, *connection;
        bool kept;
    } cases[] = {{"1.1", "x", true},
                 {"1.1", "close", false},
                 {"1.1", "Keep-Alive, CLOSE", false},
                 {"1.0", "x", false},
                 {"1.0", "keep-alive", true},
                 {"1.0", "keep-alive, close", false},
                 {"1.0", "keep-alivex", false}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char request[256];
        snprintf(request, sizeof request, "GET / HTTP/%s\r\nHost: a\r\nConnection: %s\r\n\r\n",
                 cases[i].version, cases[i].connection);
        CHECK(parse(request) == 0 && head.keep_alive == cases[i].kept);
    }
}

static void test_the_end_of_a_head_is_found_whatever_the_cut(void)
{
    static const char *const heads[] = {"GET / HTTP/1.1\r\nHost: a\r\n\r\n", "a\n\n", "a\n\r\n",
                                        "\n\n", "a\r\nb\n\rc\r\n\r\n"};
    for (size_t i = 0; i < sizeof heads / sizeof *heads; i++) {
        size_t len = strlen(heads[i]), scanned = 0;
        char bytes[128];
        snprintf(bytes, sizeof bytes, "%sNEXT\r\n\r\n", heads[i]);
        CHECK(http_head_end(str_from(bytes), &scanned) == len);
        scanned = 0;
        for (size_t some = 0; some < len; some++)
            CHECK(http_head_end((struct td_str){bytes, some}, &scanned) == 0);
        CHECK(http_head_end((struct td_str){bytes, len}, &scanned) == len);
    }
}

static void test_chunks_cut_anywhere_give_the_same_body(void)
{
    static const char bytes[] =
        "5\r\nhello\r\n1;x=y\r\n \r\n0B\r\nchunked\r\nyz\r\n000\r\nA: b\r\nC:\r\n\r\n";
    size_t len = sizeof bytes - 1;
    for (size_t a = 0; a <= len; a++)
        for (size_t b = a; b <= len; b++) {
            struct td_str parts[] = {{bytes, a}, {bytes + a, b - a}, {bytes + b, len - b}};
            struct http_chunks chunks = {0};
            char body[64];
            size_t body_bytes = 0;
            enum http_chunks_result result = HTTP_CHUNKS_MORE;
            for (int i = 0; i < 3; i++)
                for (size_t at = 0; at < parts[i].len;) {
                    struct td_str data = {0};
                    size_t used = 0;
                    result = http_chunks_feed(&chunks, str_slice(parts[i], at, parts[i].len), &used,
                                              &data);
                    if (data.len)
                        memcpy(body + body_bytes, data.data, data.len);
                    body_bytes += data.len;
                    at += used;
                }
            CHECK(result == HTTP_CHUNKS_END && body_bytes == 17);
            CHECK(memcmp(body, "hello chunked\r\nyz", 17) == 0);
        }
}

static void test_overlong_chunk_lines_and_trailers_are_refused(void)
{
    static char line[8192];
    struct td_str data;
    size_t used;
    for (size_t len = 100; len <= 400; len += 300) {
        struct http_chunks chunks = {0};
        memset(line, 'x', len);
        memcpy(line, "1;", 2);
        CHECK(http_chunks_feed(&chunks, (struct td_str){line, len}, &used, &data) ==
              (len == 100 ? HTTP_CHUNKS_MORE : HTTP_CHUNKS_BAD));
    }
    struct http_chunks chunks = {0};
    CHECK(http_chunks_feed(&chunks, STR("0\r\nA: "), &used, &data) == HTTP_CHUNKS_MORE);
    memset(line, 'x', sizeof line);
    CHECK(http_chunks_feed(&chunks, (struct td_str){line, sizeof line}, &used, &data) ==
          HTTP_CHUNKS_BAD);
}

int main(void)
{
    RUN(test_a_head_is_taken_apart);
    RUN(test_a_head_has_no_more_headers_than_there_is_room_for);
    RUN(test_keep_alive_follows_version_and_header);
    RUN(test_the_end_of_a_head_is_found_whatever_the_cut);
    RUN(test_chunks_cut_anywhere_give_the_same_body);
    RUN(test_overlong_chunk_lines_and_trailers_are_refused);
    return test_finish();
}
