/* Raw bytes against the running server: what is malformed is refused, once, with a JSON body and an
 * end of the connection, and never reaches the handler; what is valid is answered. Each case is
 * sent whole, and again byte by byte, for a reader must not depend on how the network cuts. A
 * second request follows in the same bytes: behind a refused one it must not be answered (that
 * would be request smuggling), behind an accepted one it must. */
#include "../unit/net/http_fixture.h"
#include "test.h"

#define H "Host: a\r\n"
#define POST "POST /echo HTTP/1.1\r\n" H
#define CHUNKED POST "Transfer-Encoding: chunked\r\n\r\n"
#define NEXT "GET /second HTTP/1.1\r\n" H "\r\n"

struct framing_case {
    const char *name;
    struct td_str bytes;
    int code;
    const char *body; /* of an accepted one */
};

#define CASE(name, bytes, code, body)                \
    {                                                \
        name, {bytes, sizeof(bytes) - 1}, code, body \
    }

static const struct framing_case cases[] = {
    /* Where the request ends */
    CASE("Content-Length and Transfer-Encoding",
         POST "Content-Length: 7\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", 400, NULL),
    CASE("Transfer-Encoding and Content-Length",
         POST "Transfer-Encoding: chunked\r\nContent-Length: 7\r\n\r\n0\r\n\r\n", 400, NULL),
    CASE("two different Content-Length", POST "Content-Length: 1\r\nContent-Length: 2\r\n\r\nxx",
         400, NULL),
    CASE("two equal Content-Length", POST "Content-Length: 2\r\nContent-Length: 2\r\n\r\nxx", 400,
         NULL),
    CASE("a list of lengths", POST "Content-Length: 2, 2\r\n\r\nxx", 400, NULL),
    CASE("Content-Length +7", POST "Content-Length: +7\r\n\r\nxxxxxxx", 400, NULL),
    CASE("Content-Length -1", POST "Content-Length: -1\r\n\r\n", 400, NULL),
    CASE("Content-Length 0x7", POST "Content-Length: 0x7\r\n\r\nxxxxxxx", 400, NULL),
    CASE("Content-Length 1e1", POST "Content-Length: 1e1\r\n\r\nxxxxxxxxxx", 400, NULL),
    CASE("empty Content-Length", POST "Content-Length: \r\n\r\n", 400, NULL),
    CASE("Content-Length with a space inside", POST "Content-Length: 1 0\r\n\r\nx", 400, NULL),
    CASE("Content-Length beyond 64 bits", POST "Content-Length: 18446744073709551617\r\n\r\nx", 400,
         NULL),
    CASE("Content-Length over the limit", POST "Content-Length: 9999999\r\n\r\n", 413, NULL),
    CASE("Transfer-Encoding with a space before the colon",
         POST "Transfer-Encoding : chunked\r\n\r\n0\r\n\r\n", 400, NULL),
    CASE("Transfer-Encoding with a tab before the colon",
         POST "Transfer-Encoding\t: chunked\r\n\r\n0\r\n\r\n", 400, NULL),
    CASE("Transfer-Encoding xchunked", POST "Transfer-Encoding: xchunked\r\n\r\n0\r\n\r\n", 501,
         NULL),
    CASE("Transfer-Encoding identity", POST "Transfer-Encoding: identity\r\n\r\n", 501, NULL),
    CASE("Transfer-Encoding gzip, chunked", POST "Transfer-Encoding: gzip, chunked\r\n\r\n", 501,
         NULL),
    CASE("Transfer-Encoding chunked, identity", POST "Transfer-Encoding: chunked, identity\r\n\r\n",
         501, NULL),
    CASE("Transfer-Encoding with a vertical tab", POST "Transfer-Encoding: \vchunked\r\n\r\n", 400,
         NULL),
    CASE("Transfer-Encoding twice",
         POST "Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", 400,
         NULL),
    CASE("Transfer-Encoding in HTTP/1.0",
         "POST /echo HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", 400, NULL),

    /* Chunks */
    CASE("chunk size 0x7", CHUNKED "0x7\r\nabcdefg\r\n0\r\n\r\n", 400, NULL),
    CASE("chunk size +7", CHUNKED "+7\r\nabcdefg\r\n0\r\n\r\n", 400, NULL),
    CASE("chunk size -1", CHUNKED "-1\r\n\r\n0\r\n\r\n", 400, NULL),
    CASE("chunk size with a space before", CHUNKED " 7\r\nabcdefg\r\n0\r\n\r\n", 400, NULL),
    CASE("chunk size with a space behind", CHUNKED "7 \r\nabcdefg\r\n0\r\n\r\n", 400, NULL),
    CASE("empty chunk size", CHUNKED "\r\nabcdefg\r\n0\r\n\r\n", 400, NULL),
    CASE("chunk size is no number", CHUNKED "g\r\nabcdefg\r\n0\r\n\r\n", 400, NULL),
    CASE("chunk size beyond 64 bits", CHUNKED "10000000000000007\r\nabcdefg\r\n0\r\n\r\n", 413,
         NULL),
    CASE("chunk size over the limit", CHUNKED "fffffff\r\n", 413, NULL),
    CASE("chunk size line ends in LF", CHUNKED "7\nabcdefg\r\n0\r\n\r\n", 400, NULL),
    CASE("chunk data longer than its size", CHUNKED "3\r\nabcdefg\r\n0\r\n\r\n", 400, NULL),
    CASE("chunk data ends in LF", CHUNKED "3\r\nabc\n0\r\n\r\n", 400, NULL),
    CASE("chunk extension with a bare LF", CHUNKED "3;a\nb\r\nabc\r\n0\r\n\r\n", 400, NULL),
    CASE("trailer that is no header", CHUNKED "0\r\nno header\r\n\r\n", 400, NULL),
    CASE("trailer ends in LF", CHUNKED "0\r\nA: b\n\r\n", 400, NULL),
    CASE("end of chunks in LF", CHUNKED "0\r\n\n", 400, NULL),

    /* Headers */
    CASE("space in a header name", "GET /peer HTTP/1.1\r\n" H "X Y: z\r\n\r\n", 400, NULL),
    CASE("space before the colon", "GET /peer HTTP/1.1\r\n" H "X : z\r\n\r\n", 400, NULL),
    CASE("empty header name", "GET /peer HTTP/1.1\r\n" H ": z\r\n\r\n", 400, NULL),
    CASE("header without a colon", "GET /peer HTTP/1.1\r\n" H "nothing\r\n\r\n", 400, NULL),
    CASE("control character in a name", "GET /peer HTTP/1.1\r\n" H "X\x01Y: z\r\n\r\n", 400, NULL),
    CASE("byte beyond ASCII in a name", "GET /peer HTTP/1.1\r\n" H "X\xe9: z\r\n\r\n", 400, NULL),
    CASE("NUL in a name", "GET /peer HTTP/1.1\r\n" H "X\0Y: z\r\n\r\n", 400, NULL),
    CASE("NUL in a value", "GET /peer HTTP/1.1\r\n" H "X: a\0b\r\n\r\n", 400, NULL),
    CASE("NUL in Host", "GET /peer HTTP/1.1\r\nHost: a\0b\r\n\r\n", 400, NULL),
    CASE("control character in a value", "GET /peer HTTP/1.1\r\n" H "X: a\x01\r\n\r\n", 400, NULL),
    CASE("DEL in a value", "GET /peer HTTP/1.1\r\n" H "X: a\x7f\r\n\r\n", 400, NULL),
    CASE("CR in a value", "GET /peer HTTP/1.1\r\n" H "X: a\rb\r\n\r\n", 400, NULL),
    CASE("two CR before the LF", "GET /peer HTTP/1.1\r\n" H "X: a\r\r\n\r\n", 400, NULL),
    CASE("header folded with a space", "GET /peer HTTP/1.1\r\n" H "X: a\r\n b\r\n\r\n", 400, NULL),
    CASE("header folded with a tab", "GET /peer HTTP/1.1\r\n" H "X: a\r\n\tb\r\n\r\n", 400, NULL),
    CASE("Content-Length folded", POST "Content-Length:\r\n 7\r\n\r\nxxxxxxx", 400, NULL),
    CASE("space before the first header", "GET /peer HTTP/1.1\r\n " H "\r\n", 400, NULL),
    CASE("header line ends in LF", "GET /peer HTTP/1.1\r\nHost: a\nX: y\r\n\r\n", 400, NULL),
    CASE("all lines end in LF", "GET /peer HTTP/1.1\nHost: a\n\n", 400, NULL),
    CASE("blank line is a bare LF", "GET /peer HTTP/1.1\r\n" H "\n", 400, NULL),
    CASE("no Host", "GET /peer HTTP/1.1\r\nX: y\r\n\r\n", 400, NULL),
    CASE("two Hosts", "GET /peer HTTP/1.1\r\n" H "Host: b\r\n\r\n", 400, NULL),
    CASE("two equal Hosts", "GET /peer HTTP/1.1\r\n" H H "\r\n", 400, NULL),
    CASE("empty Host", "GET /peer HTTP/1.1\r\nHost:\r\n\r\n", 400, NULL),
    CASE("Host with a path", "GET /peer HTTP/1.1\r\nHost: a/b\r\n\r\n", 400, NULL),
    CASE("Host with credentials", "GET /peer HTTP/1.1\r\nHost: u@a\r\n\r\n", 400, NULL),
    CASE("Host is a list", "GET /peer HTTP/1.1\r\nHost: a, b\r\n\r\n", 400, NULL),
    CASE("unknown expectation", POST "Expect: 200-ok\r\nContent-Length: 0\r\n\r\n", 417, NULL),

    /* Request line */
    CASE("version HTTP/2.0", "GET /peer HTTP/2.0\r\n" H "\r\n", 505, NULL),
    CASE("version HTTP/1.2", "GET /peer HTTP/1.2\r\n" H "\r\n", 505, NULL),
    CASE("version HTTP/1.10", "GET /peer HTTP/1.10\r\n" H "\r\n", 400, NULL),
    CASE("version http/1.1", "GET /peer http/1.1\r\n" H "\r\n", 400, NULL),
    CASE("version ICY/1.1", "GET /peer ICY/1.1\r\n" H "\r\n", 400, NULL),
    CASE("no version", "GET /peer\r\n" H "\r\n", 400, NULL),
    CASE("space behind the version", "GET /peer HTTP/1.1 \r\n" H "\r\n", 400, NULL),
    CASE("two spaces before the target", "GET  /peer HTTP/1.1\r\n" H "\r\n", 400, NULL),
    CASE("two spaces before the version", "GET /peer  HTTP/1.1\r\n" H "\r\n", 400, NULL),
    CASE("tabs for spaces", "GET\t/peer\tHTTP/1.1\r\n" H "\r\n", 400, NULL),
    CASE("method is no token", "G(T /peer HTTP/1.1\r\n" H "\r\n", 400, NULL),
    CASE("method begins with no token", "{GET /peer HTTP/1.1\r\n" H "\r\n", 400, NULL),
    CASE("method too long", "AAAAAAAAAABBBBBBBBBBCCCCCCCCCCDDD /peer HTTP/1.1\r\n" H "\r\n", 400,
         NULL),
    CASE("space before the method", " GET /peer HTTP/1.1\r\n" H "\r\n", 400, NULL),
    CASE("bare LF before the method", "\nGET /peer HTTP/1.1\r\n" H "\r\n", 400, NULL),
    CASE("HTTP/2 preface", "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", 505, NULL),
    CASE("TLS", "\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03", 400, NULL),

    /* Target */
    CASE("broken percent encoding", "GET /a%2 HTTP/1.1\r\n" H "\r\n", 400, NULL),
    CASE("percent without digits", "GET /a%zz HTTP/1.1\r\n" H "\r\n", 400, NULL),
    CASE("percent at the end of the query", "GET /a?b=% HTTP/1.1\r\n" H "\r\n", 400, NULL),
    CASE("encoded NUL", "GET /peer%00x HTTP/1.1\r\n" H "\r\n", 400, NULL),
    CASE("encoded line end", "GET /peer%0d%0ax HTTP/1.1\r\n" H "\r\n", 400, NULL),
    CASE("encoded bytes are not UTF-8", "GET /%c0%af HTTP/1.1\r\n" H "\r\n", 400, NULL),
    CASE("byte beyond ASCII", "GET /\xc3\xa9 HTTP/1.1\r\n" H "\r\n", 400, NULL),
    CASE("NUL in the target", "GET /pe\0er HTTP/1.1\r\n" H "\r\n", 400, NULL),
    CASE("fragment", "GET /peer#x HTTP/1.1\r\n" H "\r\n", 400, NULL),
    CASE("dot segment", "GET /x/../peer HTTP/1.1\r\n" H "\r\n", 400, NULL),
    CASE("encoded dot segment", "GET /x/%2e%2e/peer HTTP/1.1\r\n" H "\r\n", 400, NULL),
    CASE("no path", "GET peer HTTP/1.1\r\n" H "\r\n", 400, NULL),
    CASE("authority form", "CONNECT a:443 HTTP/1.1\r\n" H "\r\n", 400, NULL),
    CASE("asterisk form of GET", "GET * HTTP/1.1\r\n" H "\r\n", 400, NULL),
    CASE("absolute form of another host", "GET http://b/peer HTTP/1.1\r\n" H "\r\n", 400, NULL),
    CASE("absolute form without a host", "GET http:///peer HTTP/1.1\r\n" H "\r\n", 400, NULL),
    CASE("absolute form of another scheme", "GET ftp://a/peer HTTP/1.1\r\n" H "\r\n", 400, NULL),

    /* Valid */
    CASE("plain", "GET /peer HTTP/1.1\r\n" H "\r\n", 200, "127.0.0.1"),
    CASE("empty lines before the request", "\r\n\r\nGET /peer HTTP/1.1\r\n" H "\r\n", 200,
         "127.0.0.1"),
    CASE("absolute form", "GET http://A/peer HTTP/1.1\r\n" H "\r\n", 200, "127.0.0.1"),
    CASE("asterisk form of OPTIONS", "OPTIONS * HTTP/1.1\r\n" H "\r\n", 404, "*"),
    CASE("unknown method", "BREW /peer HTTP/1.1\r\n" H "\r\n", 200, "127.0.0.1"),
    CASE("Host with a port", "GET /peer HTTP/1.1\r\nHost: [::1]:8080\r\n\r\n", 200, "127.0.0.1"),
    CASE("no space behind the colon", "GET /peer HTTP/1.1\r\nHost:a\r\n\r\n", 200, "127.0.0.1"),
    CASE("header names in any case",
         "POST /echo HTTP/1.1\r\nhOST: a\r\ncontent-LENGTH: 2\r\n\r\nok", 200, "ok"),
    CASE("empty value", "GET /peer HTTP/1.1\r\n" H "X:\r\nY: \t \r\n\r\n", 200, "127.0.0.1"),
    CASE("bytes beyond ASCII in a value", "GET /header HTTP/1.1\r\n" H "X-Test: \xc3\xa9\r\n\r\n",
         200, "\xc3\xa9"),
    CASE("body with a length", POST "Content-Length: 7\r\n\r\nabcdefg", 200, "abcdefg"),
    CASE("length with zeros before", POST "Content-Length: 007\r\n\r\nabcdefg", 200, "abcdefg"),
    CASE("body of GET", "GET /echo HTTP/1.1\r\n" H "Content-Length: 3\r\n\r\nabc", 200, "abc"),
    CASE("body that looks like a request",
         POST "Content-Length: 35\r\n\r\nGET /smuggled HTTP/1.1\r\nHost: a\r\n\r\n", 200,
         "GET /smuggled HTTP/1.1\r\nHost: a\r\n\r\n"),
    CASE("chunked body", CHUNKED "3\r\nabc\r\n4\r\ndefg\r\n0\r\n\r\n", 200, "abcdefg"),
    CASE("empty chunked body", CHUNKED "0\r\n\r\n", 200, ""),
    CASE("chunk sizes with zeros and capitals", CHUNKED "00A\r\n0123456789\r\n000\r\n\r\n", 200,
         "0123456789"),
    CASE("chunk extension", CHUNKED "3;name=\"value\"\r\nabc\r\n0;x\r\n\r\n", 200, "abc"),
    CASE("trailers", CHUNKED "3\r\nabc\r\n0\r\nX-Sum: 1\r\nY:\r\n\r\n", 200, "abc"),
    CASE("Transfer-Encoding Chunked", POST "Transfer-Encoding: Chunked\r\n\r\n1\r\na\r\n0\r\n\r\n",
         200, "a"),
};

static struct fixture fixture;
static char reply[64 * 1024];

static void send_case(int fd, struct td_str bytes, bool slowly)
{
    if (!slowly) {
        send_bytes(fd, bytes.data, bytes.len);
        return;
    }
    for (size_t i = 0; i < bytes.len && send_bytes(fd, bytes.data + i, 1); i++)
        continue;
}

static bool accepted_right(const struct framing_case *framing, bool closed)
{
    char wanted[128];
    snprintf(wanted, sizeof wanted, "\r\n\r\n%sHTTP/1.1 404 Not Found\r\n", framing->body);
    return code_of(reply) == framing->code && strstr(reply, wanted) &&
           strstr(reply, "\r\n\r\n/second") && !closed;
}

static bool refused_right(const struct framing_case *framing, bool closed)
{
    return code_of(reply) == framing->code && strstr(reply, "Connection: close\r\n") &&
           strstr(reply, "Content-Type: application/json\r\n") &&
           strstr(reply, "\r\n\r\n{\"error\"") && strstr(reply, "\nHTTP/1.1 ") == NULL && closed;
}

static void run_case(const struct framing_case *framing, bool slowly)
{
    bool valid = framing->body != NULL;
    int handled = fixture.handled;
    int fd = dial(fixture.port);
    send_case(fd, framing->bytes, slowly);
    send_text(fd, NEXT);
    bool closed = false;
    receive(fd, reply, sizeof reply, valid ? "\r\n\r\n/second" : NULL, 2000, &closed);
    bool good = valid ? accepted_right(framing, closed) : refused_right(framing, closed);
    good = good && fixture.handled - handled == (valid ? 2 : 0);
    if (!good)
        fprintf(stderr, "case \"%s\"%s: wanted %d, got: %s\n", framing->name,
                slowly ? " slowly" : "", framing->code, reply);
    CHECK(good);
    close(fd);
}

static void test_every_case_of_the_table(void)
{
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        run_case(&cases[i], false);
}

static void test_every_case_byte_by_byte(void)
{
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        run_case(&cases[i], true);
}

/* Sends headers of the given size and number; returns the code. */
static int code_of_headers(int count, int value_bytes)
{
    int fd = dial(fixture.port);
    send_text(fd, "GET /peer HTTP/1.1\r\n" H);
    for (int i = 0; i < count; i++) {
        char line[256];
        snprintf(line, sizeof line, "X-%d: %0*d\r\n", i, value_bytes, 0);
        if (!send_text(fd, line))
            break;
    }
    send_text(fd, "\r\n");
    receive(fd, reply, sizeof reply, "\r\n\r\n", 2000, NULL);
    close(fd);
    return code_of(reply);
}

static void test_large_headers_are_431(void)
{
    CHECK(code_of_headers(50, 200) == 200);
    CHECK(code_of_headers(99, 10) == 200);
    CHECK(code_of_headers(100, 10) == 431);
    CHECK(code_of_headers(90, 200) == 431);
    CHECK(code_of_headers(5000, 200) == 431);
}

static void test_a_head_that_never_ends_is_431(void)
{
    static char flood[64 * 1024];
    memset(flood, 'A', sizeof flood);
    int fd = dial(fixture.port);
    send_bytes(fd, flood, sizeof flood);
    bool closed;
    receive(fd, reply, sizeof reply, NULL, 2000, &closed);
    CHECK(code_of(reply) == 431 && closed);
    close(fd);
}

static void test_a_chunked_body_over_the_limit_is_413(void)
{
    static char chunk[64 * 1024];
    memset(chunk, 'x', sizeof chunk);
    int fd = dial(fixture.port);
    send_text(fd, CHUNKED);
    for (int i = 0; i < 20; i++) /* 20 * 64 KiB > 1 MiB */
        if (!send_text(fd, "10000\r\n") || !send_bytes(fd, chunk, sizeof chunk) ||
            !send_text(fd, "\r\n"))
            break;
    bool closed;
    receive(fd, reply, sizeof reply, NULL, 2000, &closed);
    CHECK(code_of(reply) == 413 && strstr(reply, "{\"error\"") && closed);
    close(fd);
}

static void test_a_reply_is_delivered_after_a_half_close(void)
{
    int fd = dial(fixture.port);
    send_text(fd, "GET /peer HTTP/1.1\r\n" H "\r\n");
    shutdown(fd, SHUT_WR);
    bool closed;
    receive(fd, reply, sizeof reply, NULL, 2000, &closed);
    CHECK(strstr(reply, "\r\n\r\n127.0.0.1") && closed);
    close(fd);
}

static void test_half_a_request_is_nothing(void)
{
    int handled = fixture.handled;
    int fd = dial(fixture.port);
    send_text(fd, POST "Content-Length: 7\r\n\r\nabc");
    shutdown(fd, SHUT_WR);
    bool closed;
    CHECK(receive(fd, reply, sizeof reply, NULL, 2000, &closed) == 0 && closed);
    CHECK(fixture.handled == handled);
    close(fd);
}

int main(void)
{
    if (!fixture_start(&fixture, fixture_options()))
        return 1;
    RUN(test_every_case_of_the_table);
    RUN(test_every_case_byte_by_byte);
    RUN(test_large_headers_are_431);
    RUN(test_a_head_that_never_ends_is_431);
    RUN(test_a_chunked_body_over_the_limit_is_413);
    RUN(test_a_reply_is_delivered_after_a_half_close);
    RUN(test_half_a_request_is_nothing);
    fixture_end(&fixture);
    printf("%zu framing cases\n", sizeof cases / sizeof *cases);
    return test_finish();
}
