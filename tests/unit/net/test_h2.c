/* HTTP/2 by hand: each frame is written byte by byte (RFC 9113, section 4.1; RFC 7541, appendix A),
 * so that a hostile client needs no library's consent. */
#include "base/core/str.h"
#include "http_fixture.h"
#include "test.h"

enum { DATA, HEADERS, PRIORITY, RST, SETTINGS, PUSH, PING, GOAWAY, WINDOW, CONTINUATION };
enum { END_STREAM = 1, ACK = 1, END_HEADERS = 4 };
enum { REFUSED_STREAM = 7, CANCEL = 8, CALM = 11, INTERNAL_ERROR = 2, PROTOCOL_ERROR = 1 };

struct frame {
    size_t len;
    int type, flags;
    uint32_t stream;
    char payload[32769];
};

static void put_u32(unsigned char *at, size_t value)
{
    for (int i = 0; i < 4; i++)
        at[i] = (unsigned char)(value >> (24 - 8 * i));
}

static bool send_frame(int fd, int type, int flags, uint32_t stream, const void *payload,
                       size_t len)
{
    static unsigned char bytes[9 + 70000];
    put_u32(bytes, len << 8);
    bytes[3] = (unsigned char)type;
    bytes[4] = (unsigned char)flags;
    put_u32(bytes + 5, stream);
    if (len)
        memcpy(bytes + 9, payload, len);
    return send_bytes(fd, bytes, 9 + len);
}

static bool send_number(int fd, int type, uint32_t stream, uint32_t number)
{
    unsigned char payload[4];
    put_u32(payload, number);
    return send_frame(fd, type, 0, stream, payload, 4);
}

static bool receive_all(int fd, void *out, size_t len, int timeout_ms)
{
    char *at = out;
    while (len > 0) {
        struct pollfd watched = {.fd = fd, .events = POLLIN};
        ssize_t got = poll(&watched, 1, timeout_ms) > 0 ? recv(fd, at, len, 0) : -1;
        if (got <= 0)
            return false;
        at += got;
        len -= (size_t)got;
    }
    return true;
}

/* False when nothing comes, or the connection ended. */
static bool receive_frame(int fd, struct frame *out, int timeout_ms)
{
    unsigned char head[9];
    if (!receive_all(fd, head, 9, timeout_ms))
        return false;
    out->len = (size_t)head[0] << 16 | (size_t)head[1] << 8 | head[2];
    out->type = head[3];
    out->flags = head[4];
    out->stream = (uint32_t)(head[5] & 127) << 24 | (uint32_t)head[6] << 16 |
                  (uint32_t)head[7] << 8 | head[8];
    if (out->len >= sizeof out->payload || !receive_all(fd, out->payload, out->len, timeout_ms))
        return false;
    out->payload[out->len] = '\0';
    return true;
}

/* The next frame of this type; others are passed over. */
static bool expect(int fd, int type, struct frame *out)
{
    while (receive_frame(fd, out, 5000))
        if (out->type == type)
            return true;
    return false;
}

static uint32_t number_at(const struct frame *frame, size_t at)
{
    uint32_t value = 0;
    for (size_t i = 0; i < 4; i++)
        value = value << 8 | (unsigned char)frame->payload[at + i];
    return value;
}

/* Connected, with the preface and empty settings. */
static int dial_h2(uint16_t port)
{
    int fd = dial(port);
    if (send_text(fd, "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n") &&
        send_frame(fd, SETTINGS, 0, 0, NULL, 0))
        return fd;
    close(fd);
    return -1;
}

/* A literal without indexing, of a new name or one of the static table. */
static size_t add_header(unsigned char *out, unsigned name_index, const char *name,
                         const char *value)
{
    size_t at = 0, name_len = strlen(name), value_len = strlen(value);
    out[at++] = (unsigned char)name_index;
    if (!name_index) {
        out[at++] = (unsigned char)name_len;
        memcpy(out + at, name, name_len);
        at += name_len;
    }
    out[at++] = (unsigned char)value_len;
    memcpy(out + at, value, value_len);
    return at + value_len;
}

static size_t head_of(unsigned char *out, bool post, const char *path)
{
    size_t len = 0;
    out[len++] = post ? 0x83 : 0x82; /* :method */
    out[len++] = 0x86;               /* :scheme http */
    len += add_header(out + len, 4, "", path);
    len += add_header(out + len, 1, "", "a");
    return len;
}

static bool ask(int fd, uint32_t stream, bool post, const char *path)
{
    unsigned char head[512];
    size_t len = head_of(head, post, path);
    return send_frame(fd, HEADERS, END_HEADERS | (post ? 0 : END_STREAM), stream, head, len);
}

/* Whether the reply of the stream has this status (of the static table) and body. */
static bool replies(int fd, uint32_t stream, unsigned char status, const char *body)
{
    static struct frame frame;
    char text[40000] = "";
    size_t len = 0;
    bool right = false, ended = false;
    while (!ended && receive_frame(fd, &frame, 5000)) {
        if (frame.stream != stream)
            continue;
        if (frame.type == HEADERS)
            right = (unsigned char)frame.payload[0] == status;
        if (frame.type == DATA && len + frame.len < sizeof text) {
            memcpy(text + len, frame.payload, frame.len + 1);
            len += frame.len;
        }
        ended = (frame.type == HEADERS || frame.type == DATA) && frame.flags & END_STREAM;
        if (frame.type == RST)
            return false;
    }
    if (!right || !ended || strcmp(text, body) != 0)
        fprintf(stderr, "  stream %u: %d %d '%.60s'\n", stream, right, ended, text);
    return right && ended && strcmp(text, body) == 0;
}

#define STATUS_200 0x88
#define STATUS_404 0x8d

static struct server_options h2_options(void)
{
    struct server_options options = fixture_options();
    options.http2 = true;
    return options;
}

static void test_requests_of_one_connection_are_answered_side_by_side(void)
{
    struct fixture fixture;
    REQUIRE(fixture_start(&fixture, h2_options()));
    int fd = dial_h2(fixture.port);
    CHECK(ask(fd, 1, false, "/hang"));
    CHECK(ask(fd, 3, false, "/peer") && replies(fd, 3, STATUS_200, "127.0.0.1"));
    CHECK(ask(fd, 5, true, "/echo") && send_frame(fd, DATA, 0, 5, "hel", 3) &&
          send_frame(fd, DATA, 0, 5, NULL, 0) && send_frame(fd, DATA, END_STREAM, 5, "lo", 2));
    CHECK(replies(fd, 5, STATUS_200, "hello"));
    CHECK(ask(fd, 7, false, "/missing") && replies(fd, 7, STATUS_404, "/missing"));
    CHECK(ask(fd, 9, true, "/echo") && send_frame(fd, DATA, END_STREAM, 9, NULL, 0));
    CHECK(replies(fd, 9, STATUS_200, ""));
    CHECK(ask(fd, 11, false, "/stream"));
    CHECK(replies(fd, 11, STATUS_200,
                  "data: tick\n\ndata: tick\n\ndata: tick\n\ndata: tick\n\ndata: tick\n\n"));
    unsigned char head[256];
    size_t len = head_of(head, true, "/echo");
    len += add_header(head + len, 0, "content-length", "5");
    CHECK(send_frame(fd, HEADERS, END_HEADERS, 13, head, len));
    CHECK(send_frame(fd, DATA, END_STREAM, 13, "whole", 5) && replies(fd, 13, STATUS_200, "whole"));
    CHECK(send_frame(fd, PING, 0, 0, "12345678", 8));
    struct frame frame;
    CHECK(expect(fd, PING, &frame) && frame.flags & ACK && strcmp(frame.payload, "12345678") == 0);
    CHECK(fixture.gone == 0);
    close(fd);
    CHECK(wait_for(&fixture.gone, 1));
    fixture_end(&fixture);
}

static void test_a_stream_that_is_reset_is_a_client_that_left(void)
{
    struct fixture fixture;
    struct frame frame;
    REQUIRE(fixture_start(&fixture, h2_options()));
    int fd = dial_h2(fixture.port);
    CHECK(ask(fd, 1, false, "/hang") && ask(fd, 3, false, "/quiet"));
    CHECK(wait_for(&fixture.handled, 2));
    CHECK(expect(fd, DATA, &frame) && strcmp(frame.payload, "data: one\n\n") == 0);
    CHECK(send_number(fd, RST, 1, CANCEL) && wait_for(&fixture.gone, 1));
    CHECK(send_number(fd, RST, 3, CANCEL) && wait_for(&fixture.gone, 2));
    CHECK(ask(fd, 5, false, "/peer") && replies(fd, 5, STATUS_200, "127.0.0.1"));
    close(fd);
    fixture_end(&fixture);
}

static void test_a_stream_that_is_not_whole_is_reset(void)
{
    struct fixture fixture;
    struct frame frame;
    REQUIRE(fixture_start(&fixture, h2_options()));
    int fd = dial_h2(fixture.port);
    CHECK(ask(fd, 1, false, "/abort"));
    CHECK(expect(fd, DATA, &frame) && strcmp(frame.payload, "data: part\n\n") == 0);
    CHECK(!(frame.flags & END_STREAM));
    CHECK(expect(fd, RST, &frame) && number_at(&frame, 0) == INTERNAL_ERROR);
    close(fd);
    fixture_end(&fixture);
}

static void test_a_window_that_is_closed_holds_its_producer(void)
{
    struct fixture fixture;
    static struct frame frame;
    REQUIRE(fixture_start(&fixture, h2_options()));
    int fd = dial_h2(fixture.port);
    CHECK(ask(fd, 1, false, "/big"));
    size_t total = 0;
    while (total < 65535 && receive_frame(fd, &frame, 2000))
        total += frame.type == DATA ? frame.len : 0;
    CHECK(total == 65535 && !receive_frame(fd, &frame, 300));
    CHECK(fixture.answered == 0);
    CHECK(ask(fd, 3, false, "/nothing")); /* has no body, so needs no window */
    CHECK(receive_frame(fd, &frame, 2000) && frame.stream == 3 && frame.flags & END_STREAM);
    CHECK(send_number(fd, WINDOW, 0, 1u << 30) && send_number(fd, WINDOW, 1, 1u << 30));
    while (receive_frame(fd, &frame, 2000) && !(frame.type == DATA && frame.flags & END_STREAM))
        total += frame.type == DATA ? frame.len : 0;
    CHECK(total + frame.len == BIG_BYTES && fixture.answered == 1);
    close(fd);
    fixture_end(&fixture);
}

/* Sends a body as the windows allow. */
static bool send_body(int fd, uint32_t stream, size_t len, size_t *stream_window,
                      size_t *conn_window)
{
    static char piece[16384];
    struct frame frame;
    while (len > 0) {
        size_t now = len < sizeof piece ? len : sizeof piece;
        if (now > *stream_window || now > *conn_window) {
            if (!receive_frame(fd, &frame, 3000))
                return false;
            if (frame.type == WINDOW)
                *(frame.stream ? stream_window : conn_window) += number_at(&frame, 0);
            continue;
        }
        len -= now;
        *stream_window -= now;
        *conn_window -= now;
        if (!send_frame(fd, DATA, len ? 0 : END_STREAM, stream, piece, now))
            return false;
    }
    return true;
}

static void test_large_bodies_move_and_too_large_ones_are_refused(void)
{
    struct fixture small, large;
    struct server_options options = h2_options(), elsewhere = h2_options();
    static struct frame frame;
    elsewhere.host = NULL;
    REQUIRE(fixture_make(&large, elsewhere) && fixture_make(&small, options));
    server_set_large(small.server, large.server);
    REQUIRE(fixture_run(&large) && fixture_run(&small));
    int fd = dial_h2(small.port);
    size_t conn_window = 65535;
    CHECK(send_number(fd, WINDOW, 0, 1u << 30));
    for (uint32_t id = 1; id < 8; id += 2) {
        size_t window = 65535, total = 0;
        CHECK(ask(fd, id, true, "/echo") && send_body(fd, id, 300000, &window, &conn_window));
        CHECK(send_number(fd, WINDOW, id, 1u << 30));
        do {
            if (!receive_frame(fd, &frame, 3000))
                break;
            total += frame.type == DATA ? frame.len : 0;
            if (frame.type == WINDOW && frame.stream == 0)
                conn_window += number_at(&frame, 0);
        } while (!(frame.type == DATA && frame.flags & END_STREAM));
        CHECK(total == 300000);
    }
    CHECK(large.handled == 4 && small.handled == 0);
    unsigned char head[256];
    size_t len = head_of(head, true, "/echo");
    len += add_header(head + len, 0, "content-length", "99999999");
    CHECK(send_frame(fd, HEADERS, END_HEADERS, 9, head, len));
    CHECK(expect(fd, DATA, &frame) && strstr(frame.payload, "413"));
    CHECK(frame.flags & END_STREAM); /* at once, and what still comes of the body is passed over */
    CHECK(send_frame(fd, DATA, 0, 9, head, sizeof head));
    CHECK(ask(fd, 11, false, "/peer") && replies(fd, 11, STATUS_200, "127.0.0.1"));
    close(fd);
    fixture_end(&small);
    fixture_end(&large);
}

/* The code of the GOAWAY that ends the connection; 999 when it does not end so. */
static uint32_t goodbye(int fd)
{
    static struct frame frame;
    uint32_t code = 999;
    while (receive_frame(fd, &frame, 5000))
        if (frame.type == GOAWAY)
            code = number_at(&frame, 4);
    close(fd);
    return code;
}

static void test_floods_end_with_calm(void)
{
    struct fixture fixture;
    REQUIRE(fixture_start(&fixture, h2_options()));
    int fd = dial_h2(fixture.port); /* rapid reset: CVE-2023-44487 */
    bool sent = true;
    for (uint32_t i = 0; i < 3000 && sent; i++)
        sent = ask(fd, 2 * i + 1, false, "/hang") && send_number(fd, RST, 2 * i + 1, CANCEL);
    CHECK(goodbye(fd) == CALM);
    CHECK(fixture.handled < 500);
    CHECK(wait_for(&fixture.gone, fixture.handled));
    fd = dial_h2(fixture.port);
    for (int i = 0; i < 3000; i++)
        (void)send_frame(fd, SETTINGS, 0, 0, NULL, 0);
    CHECK(goodbye(fd) == CALM);
    fd = dial_h2(fixture.port);
    for (int i = 0; i < 3000; i++)
        (void)send_frame(fd, PING, 0, 0, "12345678", 8);
    CHECK(goodbye(fd) == CALM);
    fd = dial_h2(fixture.port);
    CHECK(ask(fd, 1, true, "/echo"));
    for (int i = 0; i < 3000; i++)
        (void)send_frame(fd, DATA, 0, 1, NULL, 0);
    CHECK(goodbye(fd) == CALM);
    fd = dial_h2(fixture.port);
    for (int i = 0; i < 3000; i++)
        (void)send_frame(fd, PRIORITY, 0, (uint32_t)(2 * i + 1), "\0\0\0\0\1", 5);
    CHECK(goodbye(fd) == CALM);
    unsigned char head[256]; /* CONTINUATION flood: CVE-2024-27316 and its kind */
    size_t len = head_of(head, false, "/peer");
    fd = dial_h2(fixture.port);
    CHECK(send_frame(fd, HEADERS, END_STREAM, 1, head, len));
    for (int i = 0; i < 3000; i++)
        (void)send_frame(fd, CONTINUATION, 0, 1, NULL, 0);
    CHECK(goodbye(fd) == CALM);
    fixture_end(&fixture);
}

static void test_heads_are_bounded_in_bytes_and_time(void)
{
    struct fixture fixture;
    struct server_options options = h2_options();
    static unsigned char head[40000];
    static struct frame frame;
    char value[121];
    options.header_timeout_ms = 500;
    REQUIRE(fixture_start(&fixture, options));
    int fd = dial_h2(fixture.port);
    size_t len = head_of(head, false, "/peer");
    memset(value, 'v', 120);
    value[120] = '\0';
    while (len < 16200)
        len += add_header(head + len, 0, "x-a", value);
    CHECK(send_frame(fd, HEADERS, END_STREAM, 1, head, len));
    for (int i = 0; i < 5; i++)
        CHECK(send_frame(fd, CONTINUATION, i == 4 ? END_HEADERS : 0, 1, head + len - 1260, 1260));
    CHECK(expect(fd, DATA, &frame) && strstr(frame.payload, "431"));
    CHECK(ask(fd, 3, false, "/peer") && replies(fd, 3, STATUS_200, "127.0.0.1"));
    len = head_of(head, false, "/peer");
    CHECK(send_frame(fd, HEADERS, END_STREAM, 5, head, len)); /* without its end */
    CHECK(goodbye(fd) != 0);
    fd = dial_h2(fixture.port);
    CHECK(ask(fd, 1, true, "/echo")); /* a body that does not come */
    CHECK(expect(fd, DATA, &frame) && strstr(frame.payload, "408"));
    close(fd);
    fd = dial(fixture.port);
    bool closed = false;
    char reply[256];
    CHECK(send_text(fd, "PRI * HTTP/2.0\r\n\r\nS")); /* a preface that does not end */
    receive(fd, reply, sizeof reply, NULL, 30000, &closed);
    CHECK(closed);
    close(fd);
    fixture_end(&fixture);
}

static void test_what_http2_forbids_is_refused(void)
{
    static const struct {
        const char *name, *value;
    } headers[] = {{"Upper", "x"},
                   {"connection", "close"},
                   {"a b", "x"},
                   {"x-a", "a\r\nb: c"},
                   {"transfer-encoding", "chunked"},
                   {":status", "200"},
                   {"content-length", "x"},
                   {"x-nul", "\x01"},
                   {"te", "gzip"}};
    struct fixture fixture;
    struct frame frame;
    unsigned char head[512];
    REQUIRE(fixture_start(&fixture, h2_options()));
    int fd = dial_h2(fixture.port);
    for (uint32_t i = 0; i < sizeof headers / sizeof *headers; i++) {
        size_t len = head_of(head, false, "/peer");
        len += add_header(head + len, 0, headers[i].name, headers[i].value);
        CHECK(send_frame(fd, HEADERS, END_HEADERS | END_STREAM, 2 * i + 1, head, len));
        bool reset = expect(fd, RST, &frame) && frame.stream == 2 * i + 1;
        if (!reset)
            fprintf(stderr, "  %s: %s\n", headers[i].name, headers[i].value);
        CHECK(reset);
    }
    CHECK(fixture.handled == 0);
    CHECK(ask(fd, 101, false, "/peer") && replies(fd, 101, STATUS_200, "127.0.0.1"));
    CHECK(ask(fd, 103, false, "/a b"));
    while (receive_frame(fd, &frame, 2000) && frame.type != RST && frame.type != HEADERS)
        ;
    CHECK(fixture.handled == 1);
    CHECK(send_frame(fd, DATA, 0, 0, "x", 1));
    CHECK(goodbye(fd) == PROTOCOL_ERROR);
    static const struct {
        int type, flags;
        uint32_t stream;
        const char *payload;
        size_t len;
    } frames[] = {{HEADERS, END_HEADERS, 2, "\x82", 1},
                  {WINDOW, 0, 0, "\0\0\0\0", 4},
                  {SETTINGS, 0, 0, "\0\4\xff\xff\xff\xff", 6},
                  {PING, 0, 0, "1", 1},
                  {PUSH, 0, 1, "\0\0\0\2", 4},
                  {CONTINUATION, 0, 1, "", 0},
                  {HEADERS, END_HEADERS, 1, "\xff\xff\xff\xff\xff\xff\xff\xff", 8}};
    for (size_t i = 0; i < sizeof frames / sizeof *frames; i++) {
        fd = dial_h2(fixture.port);
        CHECK(send_frame(fd, frames[i].type, frames[i].flags, frames[i].stream, frames[i].payload,
                         frames[i].len));
        uint32_t code = goodbye(fd);
        CHECK(code != 0 && code != 999);
    }
    fixture_end(&fixture);
}

static void test_one_stream_too_many_is_refused(void)
{
    struct fixture fixture;
    struct frame frame;
    REQUIRE(fixture_start(&fixture, h2_options()));
    int fd = dial_h2(fixture.port);
    for (uint32_t i = 0; i < 101; i++)
        CHECK(ask(fd, 2 * i + 1, false, "/hang"));
    CHECK(expect(fd, RST, &frame) && frame.stream == 201 && number_at(&frame, 0) == REFUSED_STREAM);
    CHECK(wait_for(&fixture.handled, 100));
    close(fd);
    CHECK(wait_for(&fixture.gone, 100));
    fixture_end(&fixture);
}

static void stop(void *ctx)
{
    server_stop_accepting(((struct fixture *)ctx)->server);
}

static void test_a_server_that_stops_says_so_and_ends_what_runs(void)
{
    struct fixture fixture;
    struct frame frame;
    REQUIRE(fixture_start(&fixture, h2_options()));
    int fd = dial_h2(fixture.port), idle = dial_h2(fixture.port);
    CHECK(ask(fd, 1, false, "/stream"));
    CHECK(expect(fd, DATA, &frame) && expect(idle, SETTINGS, &frame));
    CHECK(loop_post(fixture.loop, stop, &fixture));
    CHECK(goodbye(idle) == 0);
    CHECK(expect(fd, GOAWAY, &frame) && number_at(&frame, 0) == 1 && number_at(&frame, 4) == 0);
    size_t ticks = 0;
    while (receive_frame(fd, &frame, 3000))
        ticks += frame.type == DATA && frame.len > 0;
    CHECK(ticks >= 3 && fixture.answered == 1);
    close(fd);
    fixture_stop(&fixture);
    CHECK(server_active(fixture.server) == 0);
    server_free(fixture.server);
    loop_event_free(fixture.loop);
}

static void test_an_idle_connection_is_closed(void)
{
    struct fixture fixture;
    struct server_options options = h2_options();
    options.idle_timeout_ms = 300;
    REQUIRE(fixture_start(&fixture, options));
    int fd = dial_h2(fixture.port);
    CHECK(ask(fd, 1, false, "/peer") && replies(fd, 1, STATUS_200, "127.0.0.1"));
    CHECK(goodbye(fd) == 0);
    fixture_end(&fixture);
}

static void test_http2_begins_a_connection_or_does_not_come(void)
{
    struct fixture fixture;
    char reply[2048];
    REQUIRE(fixture_start(&fixture, h2_options()));
    int fd = dial(fixture.port);
    CHECK(send_text(fd, "GET /peer HTTP/1.1\r\nHost: a\r\n\r\nPRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"));
    receive(fd, reply, sizeof reply, "505", 30000, NULL);
    CHECK(code_of(reply) == 200 && strstr(reply, "HTTP/1.1 505"));
    close(fd);
    fd = dial(fixture.port);
    CHECK(send_text(fd, "PRI * HTTP/2.0\r\n\r\nXX\r\n\r\n"));
    receive(fd, reply, sizeof reply, NULL, 30000, NULL);
    CHECK(code_of(reply) == 505);
    close(fd);
    fd = dial(fixture.port);
    CHECK(send_text(fd, "PUT /echo HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\n\r\nok"));
    receive(fd, reply, sizeof reply, "ok", 30000, NULL);
    CHECK(code_of(reply) == 200);
    close(fd);
    fixture_end(&fixture);
    struct server_options options = h2_options();
    options.http2 = false;
    REQUIRE(fixture_start(&fixture, options));
    fd = dial(fixture.port);
    CHECK(send_text(fd, "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"));
    receive(fd, reply, sizeof reply, NULL, 30000, NULL);
    CHECK(code_of(reply) == 505);
    close(fd);
    fixture_end(&fixture);
}

static void test_streams_count_as_connections(void)
{
    struct fixture fixture;
    struct server_options options = h2_options();
    static struct frame frame;
    options.connection_max = 3;
    REQUIRE(fixture_start(&fixture, options));
    int fd = dial_h2(fixture.port);
    CHECK(ask(fd, 1, false, "/hang") && ask(fd, 3, false, "/hang"));
    CHECK(wait_for(&fixture.handled, 2));
    CHECK(ask(fd, 5, false, "/peer"));
    CHECK(expect(fd, DATA, &frame) && strstr(frame.payload, "503"));
    close(fd);
    CHECK(wait_for(&fixture.gone, 2));
    fixture_end(&fixture);
}

/* Any frames in any order: the server lives, and gives back all that it took (under ASan). */
static void test_any_frames_do_no_harm(void)
{
    struct fixture fixture;
    unsigned state = 12345;
    static unsigned char payload[300];
    REQUIRE(fixture_start(&fixture, h2_options()));
    for (int round = 0; round < 300; round++) {
        int fd = dial_h2(fixture.port);
        for (int i = 0; i < 30; i++) {
            state = state * 1103515245 + 12345;
            int type = (int)(state >> 16) % 11;
            uint32_t stream = (state >> 20) % 8;
            size_t len = (state >> 8) % 40;
            for (size_t at = 0; at < len; at++)
                payload[at] = (unsigned char)((state = state * 1103515245 + 12345) >> 16);
            if (type == HEADERS && state % 4) {
                len = head_of(payload, state % 2, state % 3 ? "/echo" : "/stream");
                stream |= 1;
            }
            if (type == RST || type == WINDOW)
                len = 4;
            if (!send_frame(fd, type, (int)(state >> 24) % 48, stream, payload, len))
                break;
        }
        close(fd);
    }
    int fd = dial_h2(fixture.port);
    CHECK(ask(fd, 1, false, "/peer") && replies(fd, 1, STATUS_200, "127.0.0.1"));
    close(fd);
    fixture_end(&fixture);
}

int main(void)
{
    RUN(test_requests_of_one_connection_are_answered_side_by_side);
    RUN(test_a_stream_that_is_reset_is_a_client_that_left);
    RUN(test_a_stream_that_is_not_whole_is_reset);
    RUN(test_a_window_that_is_closed_holds_its_producer);
    RUN(test_large_bodies_move_and_too_large_ones_are_refused);
    RUN(test_floods_end_with_calm);
    RUN(test_heads_are_bounded_in_bytes_and_time);
    RUN(test_what_http2_forbids_is_refused);
    RUN(test_one_stream_too_many_is_refused);
    RUN(test_a_server_that_stops_says_so_and_ends_what_runs);
    RUN(test_an_idle_connection_is_closed);
    RUN(test_http2_begins_a_connection_or_does_not_come);
    RUN(test_streams_count_as_connections);
    RUN(test_any_frames_do_no_harm);
    return test_finish();
}
