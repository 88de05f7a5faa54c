/* A server on a loop in its own thread, with a handler for every situation, and blocking sockets to
 * talk to it. For the tests of net/ alone. */
#ifndef TESTS_HTTP_FIXTURE_H
#define TESTS_HTTP_FIXTURE_H

#include "base/core/str.h"
#include "net/client/loop_event.h"
#include "net/server/server.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#define BIG_BYTES (8u * 1024 * 1024)

struct fixture {
    struct loop *loop;
    struct server *server;
    pthread_t thread;
    uint16_t port;
    atomic_int gone, answered, handled;
    atomic_bool held; /* /block holds up the loop as long as it is set */
};

/* One exchange that takes several turns of the loop. */
struct exchange {
    struct fixture *fixture;
    struct http_request *request;
    struct loop_timer *timer;
    size_t left;
};

static inline void sleep_ms(long ms)
{
    nanosleep(&(struct timespec){.tv_sec = ms / 1000, .tv_nsec = ms % 1000 * 1000000}, NULL);
}

static inline struct exchange *exchange_new(struct fixture *fixture, struct http_request *request,
                                            loop_fn *on_timer)
{
    struct exchange *exchange = calloc(1, sizeof *exchange);
    exchange->fixture = fixture;
    exchange->request = request;
    exchange->timer = loop_timer_new(fixture->loop, on_timer, exchange);
    return exchange;
}

static inline void exchange_free(struct exchange *exchange)
{
    loop_timer_free(exchange->fixture->loop, exchange->timer);
    free(exchange);
}

static inline void on_gone(void *ctx)
{
    struct exchange *exchange = ctx;
    exchange->fixture->gone++;
    exchange_free(exchange);
}

/* A careless owner: it finishes the reply inside the gone callback. */
static inline void on_gone_reply(void *ctx)
{
    struct exchange *exchange = ctx;
    http_reply(exchange->request, 200, "text/plain", STR("too late"));
    http_stream_write(exchange->request, STR("too late"));
    http_stream_end(exchange->request);
    on_gone(ctx);
}

static inline void on_answer(void *ctx)
{
    struct exchange *exchange = ctx;
    http_reply(exchange->request, 200, "text/plain", STR("late"));
    exchange->fixture->answered++;
    exchange_free(exchange);
}

static inline void on_tick(void *ctx)
{
    struct exchange *exchange = ctx;
    http_stream_write(exchange->request, STR("data: tick\n\n"));
    if (--exchange->left > 0) {
        loop_timer_start(exchange->fixture->loop, exchange->timer, 10);
        return;
    }
    http_stream_end(exchange->request);
    http_stream_end(exchange->request); /* a second end does nothing */
    exchange->fixture->answered++;
    exchange_free(exchange);
}

static inline void on_big_drain(void *ctx)
{
    static const char block[64 * 1024] = {'x'};
    struct exchange *exchange = ctx;
    while (exchange->left > 0 && http_stream_pending(exchange->request) < 128 * 1024) {
        http_stream_write(exchange->request, (struct td_str){block, sizeof block});
        exchange->left -= sizeof block;
    }
    if (exchange->left > 0) {
        http_stream_on_drain(exchange->request, on_big_drain, exchange);
        return;
    }
    http_stream_end(exchange->request);
    exchange->fixture->answered++;
    exchange_free(exchange);
}

static inline void handle_slow(struct fixture *fixture, struct http_request *request,
                               const char *path)
{
    struct exchange *exchange;
    if (strcmp(path, "/late") == 0) { /* without on_gone */
        exchange = exchange_new(fixture, request, on_answer);
        loop_timer_start(fixture->loop, exchange->timer, 100);
    } else if (strcmp(path, "/hang") == 0) {
        exchange = exchange_new(fixture, request, on_answer);
        http_request_on_gone(request, on_gone, exchange);
    } else if (strcmp(path, "/careless") == 0) {
        exchange = exchange_new(fixture, request, on_answer);
        http_request_on_gone(request, on_gone_reply, exchange);
    } else {
        exchange = exchange_new(fixture, request, on_tick);
        http_request_on_gone(request, on_gone, exchange);
        http_stream_start(request, 200, "text/event-stream");
        if (strcmp(path, "/stream") == 0 || strcmp(path, "/drip") == 0) {
            exchange->left = path[1] == 's' ? 5 : 1000000;
            loop_timer_start(fixture->loop, exchange->timer, 10);
        } else if (strcmp(path, "/big") == 0) {
            exchange->left = BIG_BYTES;
            http_stream_on_drain(request, on_big_drain, exchange);
        } else { /* /quiet: one event and silence */
            http_stream_write(request, STR("data: one\n\n"));
        }
    }
}

static inline bool is_slow(const char *path)
{
    static const char *const slow[] = {"/late", "/hang",  "/careless", "/stream",
                                       "/big",  "/quiet", "/drip"};
    for (size_t i = 0; i < sizeof slow / sizeof *slow; i++)
        if (strcmp(path, slow[i]) == 0)
            return true;
    return false;
}

static inline void fixture_handle(void *ctx, struct http_request *request)
{
    struct fixture *fixture = ctx;
    const char *path = http_request_path(request);
    fixture->handled++;
    if (strcmp(path, "/echo") == 0) {
        http_reply_header(request, "X-Good", "value");
        http_reply_header(request, "X-Bad", "a\r\nX-Injected: yes");
        http_reply(request, 200, "application/octet-stream", http_request_body(request));
        http_reply(request, 500, "text/plain", STR("a second reply does nothing"));
    } else if (strcmp(path, "/peer") == 0) {
        http_reply(request, 200, "text/plain", str_from(http_request_peer(request)));
    } else if (strcmp(path, "/nothing") == 0) {
        http_reply(request, 204, NULL, STR(""));
    } else if (strcmp(path, "/moved") == 0) {
        http_reply_header(request, "Location", "/echo");
        http_reply_header(request, "Retry-After", "7");
        http_reply(request, 302, "text/plain", STR("elsewhere"));
    } else if (strcmp(path, "/header") == 0) {
        const char *value = http_request_header(request, "x-test");
        http_reply(request, value ? 200 : 404, "text/plain", str_from(value));
    } else if (strcmp(path, "/abort") == 0) {
        http_stream_start(request, 200, "text/event-stream");
        http_stream_write(request, STR("data: part\n\n"));
        http_stream_abort(request);
        http_stream_abort(request); /* a second end does nothing */
    } else if (strcmp(path, "/block") == 0) {
        while (atomic_load(&fixture->held))
            sleep_ms(1);
        http_reply(request, 200, "text/plain", STR("at last"));
    } else if (is_slow(path)) {
        handle_slow(fixture, request, path);
    } else {
        http_reply(request, 404, "text/plain", str_from(path));
    }
}

static inline void fixture_refuse(void *ctx, const struct http_refusal *refusal,
                                  struct td_str *body)
{
    (void)ctx;
    static _Thread_local char text[256];
    snprintf(text, sizeof text, "{\"error\":{\"code\":%d,\"message\":\"%s\"}}", refusal->code,
             refusal->reason);
    *body = str_from(text);
}

static inline void *fixture_thread(void *ctx)
{
    loop_event_run(((struct fixture *)ctx)->loop);
    return NULL;
}

static inline struct server_options fixture_options(void)
{
    return (struct server_options){
        .host = "127.0.0.1",
        .body_bytes_max = 1024 * 1024,
        .header_bytes_max = 16 * 1024,
        .connection_max = 1000,
        /* Longer than tests wait for anything else that closes a connection. */
        .header_timeout_ms = 100000,
        .idle_timeout_ms = 100000,
    };
}

/* Everything but the thread. */
static inline bool fixture_make(struct fixture *fixture, struct server_options options)
{
    memset(fixture, 0, sizeof *fixture);
    struct td_error err = {0};
    if (loop_event_new(&fixture->loop, &err) != TD_OK ||
        server_new(fixture->loop, &options, fixture_handle, fixture, &fixture->server, &err) !=
            TD_OK) {
        fprintf(stderr, "fixture: %s\n", err.message);
        return false;
    }
    server_set_refuse(fixture->server, fixture_refuse);
    fixture->port = server_port(fixture->server);
    return true;
}

static inline bool fixture_run(struct fixture *fixture)
{
    return pthread_create(&fixture->thread, NULL, fixture_thread, fixture) == 0;
}

static inline bool fixture_start(struct fixture *fixture, struct server_options options)
{
    return fixture_make(fixture, options) && fixture_run(fixture);
}

static inline void fixture_stop(struct fixture *fixture)
{
    loop_event_stop(fixture->loop);
    pthread_join(fixture->thread, NULL);
}

static inline void fixture_end(struct fixture *fixture)
{
    fixture_stop(fixture);
    server_free(fixture->server);
    loop_event_free(fixture->loop);
}

/* Waits until *counter is at least `wanted`, for a few seconds at most. */
static inline bool wait_for(atomic_int *counter, int wanted)
{
    for (int i = 0; i < 12000 && *counter < wanted; i++)
        sleep_ms(5);
    return *counter >= wanted;
}

static inline int dial(uint16_t port)
{
    struct sockaddr_in address = {
        .sin_family = AF_INET, .sin_port = htons(port), .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    int on = 1;
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    if (connect(fd, (struct sockaddr *)&address, sizeof address) != 0) {
        perror("connect");
        close(fd);
        return -1;
    }
    return fd;
}

static inline bool send_bytes(int fd, const void *bytes, size_t len)
{
    const char *at = bytes;
    while (len > 0) {
        ssize_t sent = send(fd, at, len, MSG_NOSIGNAL);
        if (sent <= 0)
            return false;
        at += sent;
        len -= (size_t)sent;
    }
    return true;
}

static inline bool send_text(int fd, const char *text)
{
    return send_bytes(fd, text, strlen(text));
}

/* Reads until the peer closes, `until` has come, `out` is full, or nothing comes for timeout_ms.
 * Returns the length; out is NUL-terminated. *closed (may be NULL): whether the peer closed. */
static inline size_t receive(int fd, char *out, size_t out_bytes, const char *until, int timeout_ms,
                             bool *closed)
{
    size_t len = 0;
    bool ended = false;
    out[0] = '\0';
    while (len + 1 < out_bytes && !(until && strstr(out, until))) {
        struct pollfd watched = {.fd = fd, .events = POLLIN};
        if (poll(&watched, 1, timeout_ms) <= 0)
            break;
        ssize_t got = recv(fd, out + len, out_bytes - len - 1, 0);
        if (got <= 0) {
            ended = true;
            break;
        }
        len += (size_t)got;
        out[len] = '\0';
    }
    if (closed)
        *closed = ended;
    return len;
}

/* The code of the first status line; 0 when there is none. */
static inline int code_of(const char *reply)
{
    return strncmp(reply, "HTTP/1.1 ", 9) == 0 ? atoi(reply + 9) : 0;
}

#endif
