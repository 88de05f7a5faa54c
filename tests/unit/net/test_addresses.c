/* Which addresses are this machine, what a failure of the client means, and what the head of a
 * download says. */
#include "net/client/client_failure.h"
#include "net/client/loopback.h"
#include "net/download/download_headers.h"
#include "net/download/download_url.h"

#include "base/core/str.h"
#include "test.h"

#include <stdlib.h>

static void test_only_what_nobody_can_redirect_is_this_machine(void)
{
    static const struct {
        const char *host;
        bool here;
    } hosts[] = {
        {"127.0.0.1", true},
        {"127.255.255.255", true},
        {"[::1]", true},
        {"localhost", true},
        {"LOCALHOST", true},
        {"a.localhost", true},
        {"a.LocalHost", true},
        {"126.255.255.255", false},
        {"128.0.0.1", false},
        {"0.0.0.0", false},
        {"::1", false},
        {"[::2]", false},
        {"[::ffff:127.0.0.1]", false},
        {".localhost", false},
        {"xlocalhost", false},
        {"localhost.", false},
        {"localhost.example", false},
        {"127.1", false},
        {"127.0.0.1.example", false},
        {"127.000.000.0001", false},
        {"", false},
    };
    for (size_t i = 0; i < sizeof hosts / sizeof *hosts; i++) {
        CHECK(loopback_is_host(str_from(hosts[i].host)) == hosts[i].here);
        if (loopback_is_host(str_from(hosts[i].host)) != hosts[i].here)
            fprintf(stderr, "  '%s'\n", hosts[i].host);
    }
    static const struct {
        const char *url;
        bool here;
    } urls[] = {
        {"http://127.0.0.1:8080/v1", true},
        {"https://[::1]/v1", true},
        {"http://a.localhost:1", true},
        {"http://127.0.0.1@example.com/", false},
        {"http://example.com/127.0.0.1", false},
        {"http://example.com?localhost", false},
        {"http://example.com#@127.0.0.1", false},
        {"not a url", false},
        {"http://", false},
        {"", false},
    };
    for (size_t i = 0; i < sizeof urls / sizeof *urls; i++) {
        CHECK(loopback_is_url(str_from(urls[i].url)) == urls[i].here);
        if (loopback_is_url(str_from(urls[i].url)) != urls[i].here)
            fprintf(stderr, "  '%s'\n", urls[i].url);
    }
}

static void test_each_failure_of_the_client_has_its_status(void)
{
    static const struct {
        CURLcode code;
        const char *detail;
        bool in_head;
        enum td_status status;
    } cases[] = {
        {CURLE_COULDNT_CONNECT, "", false, TD_UNAVAILABLE},
        {CURLE_COULDNT_RESOLVE_HOST, "Could not resolve secret.example", false, TD_UNAVAILABLE},
        {CURLE_OPERATION_TIMEDOUT, "", false, TD_TIMEOUT},
        {CURLE_RECV_ERROR, "reset by peer", false, TD_UNAVAILABLE},
        {CURLE_RECV_ERROR, "illegal chunk size", false, TD_CORRUPT},
        {CURLE_RECV_ERROR, "Too large response headers", false, TD_CORRUPT},
        {CURLE_OUT_OF_MEMORY, "", true, TD_CORRUPT},
        {CURLE_OUT_OF_MEMORY, "", false, TD_NO_MEMORY},
        {CURLE_WEIRD_SERVER_REPLY, "", false, TD_CORRUPT},
        {CURLE_UNSUPPORTED_PROTOCOL, "", false, TD_CORRUPT},
        {CURLE_SSL_CACERT_BADFILE, "", false, TD_INVALID},
        {CURLE_PARTIAL_FILE, "", false, TD_UNAVAILABLE},
        {CURLE_GOT_NOTHING, "", false, TD_UNAVAILABLE},
        {CURLE_SSL_PINNEDPUBKEYNOTMATCH, "", false, TD_UNAVAILABLE},
        {CURLE_PEER_FAILED_VERIFICATION, "CN=secret.example", false, TD_UNAVAILABLE},
        {CURLE_SSL_CONNECT_ERROR, "wrong version number", false, TD_UNAVAILABLE},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct client_failure failure;
        client_failure_read(cases[i].code, cases[i].detail, cases[i].in_head, &failure);
        CHECK(failure.status == cases[i].status && failure.words[0] && failure.secret[0]);
        CHECK(!strstr(failure.words, "secret.example")); /* those are for anybody */
    }
    struct client_failure failure;
    client_failure_read(CURLE_COULDNT_CONNECT, "10.0.0.9 refused", false, &failure);
    CHECK(strcmp(failure.secret, "10.0.0.9 refused") == 0 && !strstr(failure.words, "10.0.0.9"));
}

static void test_a_token_goes_to_its_own_server_over_https_and_nowhere_else(void)
{
    static const struct {
        const char *url, *origin;
        bool same, token;
    } cases[] = {
        {"https://hub.example/a", "https://hub.example/b", true, true},
        {"https://HUB.example:443/a", "https://hub.example", true, true},
        {"https://hub.example:444/a", "https://hub.example", false, false},
        {"http://hub.example/a", "http://hub.example", true, false},
        {"http://hub.example/a", "https://hub.example", false, false},
        {"https://hub.example.evil/a", "https://hub.example", false, false},
        {"https://cdn.hub.example/a", "https://hub.example", false, false},
        {"https://hub.example@evil.example/a", "https://hub.example", false, false},
        {"https://u:p@hub.example/a", "https://hub.example", true, false},
        {"https://hub.example/a", "https://u@hub.example", true, false},
        {"nonsense:", "nonsense:", false, false},
        {"x://a", "x://a", false, false}, /* no port is known */
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        CHECK(download_url_same_origin(cases[i].url, cases[i].origin) == cases[i].same);
        CHECK(download_url_may_see_token(cases[i].url, cases[i].origin) == cases[i].token);
    }
}

static void test_what_is_secret_in_an_address_is_not_shown(void)
{
    static const struct {
        const char *url, *shown;
        bool cut;
    } cases[] = {
        {"https://hub.example/a", "https://hub.example/a", false},
        {"https://u:secret@hub.example/a", "https://hub.example/a", true},
        {"https://u@hub.example/a", "https://hub.example/a", true},
        {"https://hub.example/a?sig=secret", "https://hub.example/a", true},
        {"https://hub.example/a#secret", "https://hub.example/a", true},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        bool cut = !cases[i].cut;
        char *shown = download_url_public(cases[i].url, &cut);
        char *identity = download_url_identity(cases[i].url);
        CHECK(shown && strcmp(shown, cases[i].shown) == 0 && cut == cases[i].cut);
        CHECK(identity && !strstr(identity, "secret"));
        CHECK(identity && (strcmp(identity, cases[i].shown) == 0) == !cases[i].cut);
        for (size_t b = 0; b < i; b++) { /* two that look alike are told apart */
            char *other = download_url_identity(cases[b].url);
            CHECK(identity && other && strcmp(identity, other) != 0);
            free(other);
        }
        free(shown);
        free(identity);
    }
    bool cut;
    CHECK(download_url_public("", &cut) == NULL && !cut);
}

static struct download_headers read_lines(const char *text)
{
    struct download_headers headers = {0};
    struct td_str rest = str_from(text), line;
    while (str_next(&rest, '\n', &line))
        download_headers_feed(&headers, line);
    return headers;
}

static void test_a_range_is_whole_and_within_its_file(void)
{
    static const struct {
        const char *value;
        bool range, alone;
        uint64_t begin, end, total;
    } cases[] = {
        {"bytes 0-99/1000", true, false, 0, 100, 1000},
        {"BYTES 5-5/6", true, false, 5, 6, 6},
        {"bytes */7", false, true, 0, 0, 7},
        {"bytes 0-5/6", true, false, 0, 6, 6},
        {"bytes 0-6/6", false, false, 0, 0, 0},
        {"bytes 6-5/9", false, false, 0, 0, 0},
        {"bytes 0-5/*", false, false, 0, 0, 0},
        {"lines 0-5/6", false, false, 0, 0, 0},
        {"bytes -5/6", false, false, 0, 0, 0},
        {"bytes 0-/6", false, false, 0, 0, 0},
        {"bytes", false, false, 0, 0, 0},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char text[128];
        snprintf(text, sizeof text, "HTTP/1.1 206\r\nContent-Range: %s\r\n", cases[i].value);
        struct download_headers headers = read_lines(text);
        CHECK(headers.has_range == cases[i].range && headers.total_alone == cases[i].alone);
        CHECK(headers.begin == cases[i].begin && headers.end == cases[i].end);
        CHECK(headers.total == cases[i].total);
        if (headers.has_range != cases[i].range)
            fprintf(stderr, "  %s\n", cases[i].value);
    }
}

#define DIGITS "0123456789abcdef0123456789ABCDEF0123456789abcdef0123456789abcde"

static void test_each_answers_head_counts_alone_and_the_stronger_mark_stays(void)
{
    struct download_headers headers = read_lines(
        "HTTP/1.1 302\r\nContent-Length: 5\r\nETag: \"old\"\r\nX-Linked-ETag: " DIGITS "f\r\n"
        "Content-Encoding: gzip\r\nHTTP/1.1 200\r\nContent-Length: 7\r\n");
    CHECK(headers.has_length && headers.length == 7 && !headers.validator[0]);
    CHECK(!headers.encoded && !headers.sha256[0]);
    headers = read_lines("Last-Modified: Mon\r\nETag: \"e\"\r\nLast-Modified: Tue\r\n");
    CHECK(headers.is_etag && strcmp(headers.validator, "\"e\"") == 0);
    headers = read_lines("ETag: W/\"weak\"\r\nLast-Modified: Mon\r\n");
    CHECK(!headers.is_etag && strcmp(headers.validator, "Mon") == 0);
    headers = read_lines("ETag: \"a\x01\"\r\nContent-Length: x\r\nno colon\r\n");
    CHECK(!headers.is_etag && !headers.has_length && headers.length == 0);
    CHECK(read_lines("Content-Encoding: br\r\n").encoded);
    CHECK(!read_lines("Content-Encoding: Identity\r\n").encoded);
    CHECK(strcmp(read_lines("X-Linked-ETag: \"" DIGITS "F\"\r\n").sha256 + 60, "cdef") == 0);
    CHECK(!read_lines("X-Linked-ETag: " DIGITS "\r\n").sha256[0]);   /* 63 */
    CHECK(!read_lines("X-Linked-ETag: " DIGITS "ff\r\n").sha256[0]); /* 65 */
    CHECK(!read_lines("X-Linked-ETag: " DIGITS "g\r\n").sha256[0]);
}

static void test_a_servers_own_address_is_known(void)
{
    static const struct {
        const char *url, *host;
        uint16_t port;
        bool own;
    } cases[] = {
        {"http://127.0.0.1:8080/v1", "127.0.0.1", 8080, true},
        {"http://localhost:8080/v1", "127.0.0.1", 8080, true},
        {"http://127.0.0.1:8080/v1", "0.0.0.0", 8080, true},
        {"http://127.0.0.1:8080/v1", "localhost", 8080, true},
        {"http://[::1]:8080", "::1", 8080, true},
        {"http://[::1]:8080", "::", 8080, true},
        {"http://localhost", "127.0.0.1", 80, true},
        {"https://localhost", "127.0.0.1", 443, true},
        {"http://127.0.0.1:8081/v1", "127.0.0.1", 8080, false},
        {"http://127.0.0.2:8080/v1", "127.0.0.1", 8080, false},
        {"http://[::1]:8080", "127.0.0.1", 8080, false},
        {"http://127.0.0.1:8080", "::1", 8080, false},
        {"http://127.0.0.1:8080", "10.0.0.1", 8080, false},
        {"http://localhost:8080", "10.0.0.1", 8080, false},
        {"http://10.0.0.1:8080", "0.0.0.0", 8080, false},
        {"http://127.0.0.1:0", "127.0.0.1", 0, false},
        {"not a url", "127.0.0.1", 8080, false},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        bool own = loopback_is_url_of(str_from(cases[i].url), cases[i].host, cases[i].port);
        CHECK(own == cases[i].own);
        if (own != cases[i].own)
            fprintf(stderr, "  '%s' of %s:%u\n", cases[i].url, cases[i].host, cases[i].port);
    }
}

int main(void)
{
    RUN(test_only_what_nobody_can_redirect_is_this_machine);
    RUN(test_a_servers_own_address_is_known);
    RUN(test_each_failure_of_the_client_has_its_status);
    RUN(test_a_token_goes_to_its_own_server_over_https_and_nowhere_else);
    RUN(test_what_is_secret_in_an_address_is_not_shown);
    RUN(test_a_range_is_whole_and_within_its_file);
    RUN(test_each_answers_head_counts_alone_and_the_stronger_mark_stays);
    return test_finish();
}
