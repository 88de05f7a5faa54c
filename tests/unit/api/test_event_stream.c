/* A stream of events as its client reads it: what is sent, when signs of life come, and how a
 * stream ends. The handlers run in a real server, on timers whose time is played. */
#include "../exchange/virtual_loop.h"
#include "test.h"

#include "api/api.h"
#include "api/http/event_stream.h"
#include "api/http/metrics.h"
#include "api/http/reply.h"
#include "base/core/str.h"
#include "net/client/loop_event.h"

#include <arpa/inet.h>
#include <pthread.h>
#include <stdio.h>
#include <sys/socket.h>

typedef void play_fn(struct event_stream *stream, struct virtual_loop *time);

struct scene {
    const struct event_form *form;
    size_t pad_bytes;
    play_fn *play;
};

static struct scene scene;
static struct api_host host;
static struct api api;
static struct virtual_loop virtual;
static struct loop *loop;

/* What the client got: the head, the body without its framing, and whether that has an end. */
static char head[8192];
static struct buf body;
static bool whole;

/* A server hands its client's whole request to a scene, which plays at once. */
static void handle(void *ctx, struct http_request *http)
{
    (void)ctx;
    struct event_stream stream;
    virtual_loop_init(&virtual);
    host.pad_stream_bytes = scene.pad_bytes;
    api = (struct api){.loop = &virtual.loop, .host = &host};
    rng_init(&api.rng, 1);
    api_begin_event(&api);
    CHECK(event_stream_init(&stream, &api, http, scene.form, NULL));
    scene.play(&stream, &virtual);
    if (stream.http)
        event_stream_done(&stream);
    virtual_loop_run(&virtual, 60000); /* an ended stream has no signs of life */
    event_stream_deinit(&stream);
    CHECK(virtual.timer_count == 0);
}

static void read_chunks(struct td_str rest)
{
    struct td_str line;
    whole = false;
    while (str_next(&rest, '\n', &line)) {
        char size_text[32];
        snprintf(size_text, sizeof size_text, STR_FMT, STR_ARG(line));
        size_t size = strtoul(size_text, NULL, 16);
        whole = size == 0;
        if (whole)
            break;
        buf_append_str(&body, str_slice(rest, 0, size));
        rest = str_slice(rest, size + 2, rest.len);
    }
}

static void *ask(void *ctx)
{
    const uint16_t *port = ctx;
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons(*port)};
    struct buf got;
    static char block[65536];
    ssize_t count;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    static const char request[] = "GET / HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n";
    buf_init(&got, 256u << 20);
    CHECK(connect(fd, (struct sockaddr *)&address, sizeof address) == 0);
    CHECK(write(fd, request, sizeof request - 1) == sizeof request - 1);
    while ((count = read(fd, block, sizeof block)) > 0)
        buf_append(&got, block, (size_t)count);
    close(fd);
    size_t blank = str_find(buf_view(&got), STR("\r\n\r\n"), 0);
    CHECK(blank != SIZE_MAX && blank < sizeof head);
    snprintf(head, sizeof head, STR_FMT, STR_ARG(str_slice(buf_view(&got), 0, blank)));
    read_chunks(str_slice(buf_view(&got), blank + 4, got.len));
    buf_deinit(&got);
    loop_event_stop(loop);
    return NULL;
}

static void show(const struct scene *of)
{
    struct server_options options = {.host = "127.0.0.1",
                                     .body_bytes_max = 4096,
                                     .header_bytes_max = 8192,
                                     .header_timeout_ms = 60000,
                                     .idle_timeout_ms = 60000};
    struct server *server;
    pthread_t client;
    scene = *of;
    host.metrics = metrics_new(1);
    buf_deinit(&body);
    buf_init(&body, 256u << 20);
    REQUIRE(loop_event_new(&loop, NULL) == TD_OK);
    REQUIRE(server_new(loop, &options, handle, NULL, &server, NULL) == TD_OK);
    uint16_t port = server_port(server);
    REQUIRE(pthread_create(&client, NULL, ask, &port) == 0);
    loop_event_run(loop);
    pthread_join(client, NULL);
    server_free(server);
    loop_event_free(loop);
    metrics_free(host.metrics);
}

static size_t count_of(struct td_str text, const char *what)
{
    size_t count = 0, at = 0;
    while ((at = str_find(text, str_from(what), at)) != SIZE_MAX) {
        count++;
        at += strlen(what);
    }
    return count;
}

static void send_text(struct event_stream *stream, const char *text)
{
    struct buf *frame = event_stream_frame(stream);
    sse_begin(frame, NULL);
    buf_printf(frame, "{\"t\":\"%s\"}", text);
    sse_end(frame);
    event_stream_send(stream, "ex_1");
}

/* --- what is sent --- */

static void play_events(struct event_stream *stream, struct virtual_loop *time)
{
    (void)time;
    event_stream_start(stream);
    event_stream_start(stream);
    send_text(stream, "a");
    event_stream_frame(stream);
    event_stream_send(stream, "ex_1"); /* nothing is to be said: a chunk of no bytes is the end */
    send_text(stream, "b");
}

static void test_events_come_as_they_were_sent_and_proxies_let_them_through(void)
{
    show(&(struct scene){.form = &event_form_openai, .play = play_events});
    CHECK(whole && str_equal(buf_view(&body), STR("data: {\"t\":\"a\"}\n\ndata: {\"t\":\"b\"}\n\n"
                                                  "data: [DONE]\n\n")));
    static const char *const headers[] = {"HTTP/1.1 200 ", "cache-control: no-cache",
                                          "x-accel-buffering: no",
                                          ": text/event-stream; charset=utf-8"};
    for (size_t i = 0; i < sizeof headers / sizeof *headers; i++)
        CHECK(count_of(str_from(head), headers[i]) == 1);
    CHECK(count_of(str_from(head), "x-tandem-exchange") == 0);
}

static void play_fault(struct event_stream *stream, struct virtual_loop *time)
{
    struct fault fault;
    (void)time;
    fault_set(&fault, 502, "server_error", "bad_upstream_answer", "why");
    event_stream_start(stream);
    event_stream_send_fault(stream, &fault);
}

static void play_left(struct event_stream *stream, struct virtual_loop *time)
{
    struct http_request *http = stream->http;
    event_stream_await(stream, "ex_1", 0);
    event_stream_start(stream);
    send_text(stream, "a");
    event_stream_forget(stream); /* whoever took over the request answers it */
    send_text(stream, "b");
    event_stream_done(stream);
    event_stream_abort(stream);
    virtual_loop_run(time, 60000);
    http_stream_write(http, STR("taken over"));
    http_stream_end(http);
}

static void play_abort(struct event_stream *stream, struct virtual_loop *time)
{
    (void)time;
    event_stream_start(stream);
    send_text(stream, "a");
    event_stream_abort(stream);
    CHECK(stream->http == NULL);
}

/* A frame of four megabytes and more, as JSON. */
static void fill(struct event_stream *stream, size_t len)
{
    struct buf *frame = event_stream_frame(stream);
    char *text = malloc(len + 1);
    REQUIRE(text != NULL);
    memset(text, 'x', len);
    text[len] = '\0';
    sse_begin(frame, NULL);
    buf_append_str(frame, STR("{\"t\":\""));
    buf_append(frame, text, len);
    buf_append_str(frame, STR("\"}"));
    sse_end(frame);
    free(text);
    event_stream_send(stream, "ex_1");
}

static void play_too_large(struct event_stream *stream, struct virtual_loop *time)
{
    (void)time;
    event_stream_start(stream);
    send_text(stream, "a");
    fill(stream, stream->form->frame_bytes_max);
    CHECK(stream->http == NULL && stream->cut && strcmp(stream->cut, "chunk_too_large") == 0);
    send_text(stream, "after the hole");
}

static const struct event_form tiny_form = {.frame_bytes_max = 24};
static void write_long_fault(void *ctx, const struct fault *fault, struct buf *out)
{
    event_form_openai.write_fault(ctx, fault, out);
}

static void test_a_stream_that_ends_otherwise_says_so(void)
{
    struct event_form small = tiny_form;
    small.write_fault = write_long_fault;
    const struct {
        struct scene scene;
        bool whole;
        const char *begins, *has, *ends;
    } rows[] = {
        {{.form = &event_form_openai, .play = play_fault},
         true,
         "data: {\"error\":{",
         "\"bad_upstream_answer\"",
         "}}\n\ndata: [DONE]\n\n"},
        {{.form = &event_form_openai, .play = play_left},
         true,
         "data: {\"t\":\"a\"}\n\n",
         "",
         "\n\ntaken over"},
        {{.form = &event_form_openai, .play = play_abort},
         false,
         "data: {\"t\":\"a\"}\n\n",
         "",
         "\"a\"}\n\n"},
        {{.form = &event_form_openai, .play = play_too_large},
         true,
         "data: {\"t\":\"a\"}\n\ndata: {\"error\":{",
         "\"chunk_too_large\"",
         "}}\n\ndata: [DONE]\n\n"},
        /* Where even the error does not fit, there is no normal end. */
        {{.form = &small, .play = play_too_large},
         false,
         "data: {\"t\":\"a\"}\n\n",
         "",
         "\"a\"}\n\n"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        show(&rows[i].scene);
        struct td_str got = buf_view(&body);
        bool right = whole == rows[i].whole && str_starts_with(got, str_from(rows[i].begins)) &&
                     str_ends_with(got, str_from(rows[i].ends)) &&
                     str_find(got, str_from(rows[i].has), 0) != SIZE_MAX &&
                     count_of(got, "hole") == 0 && count_of(got, "keep-alive") == 0;
        if (!right)
            fprintf(stderr, "row %zu: %d '" STR_FMT "'\n", i, whole, STR_ARG(got));
        CHECK(right);
    }
}

/* --- signs of life --- */

static struct {
    const char *exchange;
    uint32_t patience_ms;
    bool says_something;
    uint64_t silence_ms;
    size_t beats;
} wait_row;

static void play_wait(struct event_stream *stream, struct virtual_loop *time)
{
    event_stream_await(stream, wait_row.exchange, wait_row.patience_ms);
    if (wait_row.says_something) {
        virtual_loop_run(time, 9000);
        event_stream_start(stream);
        send_text(stream, "a");
    }
    virtual_loop_run(time, wait_row.silence_ms);
    CHECK(stream->started == (wait_row.says_something || wait_row.beats > 0));
    event_stream_start(stream);
}

static void test_a_silent_stream_gives_signs_of_life(void)
{
    static const typeof(wait_row) rows[] = {
        /* A failure before the first of them can still have its own status. */
        {"ex_1", 0, false, 9000, 0},
        {"ex_1", 0, false, 11000, 1},
        {"e", 0, false, 11000, 1},
        {NULL, 0, false, 35000, 3},
        {"ex_1", 0, true, 9000, 0},
        {"ex_1", 0, true, 35000, 3},
        /* A client of little patience gets them within half of it, once text has begun. */
        {"ex_1", 4000, true, 1500, 0},
        {"ex_1", 4000, true, 2100, 1},
        {"ex_1", 4000, true, 10000, 4},
        {"ex_1", 4000, false, 9000, 0},
        {"ex_1", 4000, false, 14500, 3},
        {"ex_1", 16000, true, 17000, 2},
        {"ex_1", 600000, true, 35000, 3},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        wait_row = rows[i];
        show(&(struct scene){.form = &event_form_openai, .play = play_wait});
        size_t beats = count_of(buf_view(&body), ": keep-alive\n\n");
        bool named = rows[i].exchange && !rows[i].says_something && rows[i].beats;
        char header[64];
        snprintf(header, sizeof header, "\r\nx-tandem-exchange: %s\r\n",
                 rows[i].exchange ? rows[i].exchange : "");
        if (beats != rows[i].beats)
            fprintf(stderr, "row %zu: %zu signs\n", i, beats);
        CHECK(whole && beats == rows[i].beats);
        CHECK(body.len == 14 * beats + 14 + (rows[i].says_something ? 17 : 0));
        CHECK(count_of(str_from(head), header) == (named ? 1 : 0));
        CHECK(count_of(str_from(head), "x-tandem-exchange") == (named ? 1 : 0));
    }
}

/* --- lengths --- */

static bool asks_for_padding;

static void play_padding(struct event_stream *stream, struct virtual_loop *time)
{
    (void)time;
    if (asks_for_padding)
        event_stream_obfuscate(stream);
    event_stream_start(stream);
    send_text(stream, "a");
    send_text(stream, "bcdefg");
    fill(stream, ((size_t)4 << 20) - 30); /* the largest that is sent at all, and its padding */
}

static void test_events_are_padded_where_the_server_or_its_client_wants_it(void)
{
    static const struct {
        size_t pad_bytes;
        bool asks;
        size_t multiple;
    } rows[] = {{0, false, 0}, {0, true, 256}, {64, false, 64}, {64, true, 64}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        asks_for_padding = rows[i].asks;
        show(&(struct scene){&event_form_openai, rows[i].pad_bytes, play_padding});
        struct td_str rest = buf_view(&body), line;
        size_t events = 0;
        while (str_next(&rest, '\n', &line)) {
            if (!str_starts_with(line, STR("data: {\"t\"")))
                continue;
            /* With the two line ends after it: what an observer can count. */
            CHECK(!rows[i].multiple || (line.len + 2) % rows[i].multiple == 0);
            events++;
        }
        CHECK(whole && events == 3);
        CHECK((count_of(buf_view(&body), "\"obfuscation\"") == 3) == (rows[i].multiple > 0));
    }
}

/* --- slow clients --- */

static void play_flood(struct event_stream *stream, struct virtual_loop *time)
{
    size_t pieces = 0;
    (void)time;
    event_stream_start(stream);
    for (; pieces < 100 && !stream->broken; pieces++)
        fill(stream, 1 << 20);
    /* What waits is bounded, and no client is cut off that is a few megabytes behind. */
    CHECK(stream->broken && pieces > 4 && http_stream_pending(stream->http) < (8u << 20));
    event_stream_abort(stream);
}

static void test_a_client_that_does_not_read_is_cut_off(void)
{
    show(&(struct scene){.form = &event_form_openai, .play = play_flood});
    CHECK(!whole);
}

int main(void)
{
    RUN(test_events_come_as_they_were_sent_and_proxies_let_them_through);
    RUN(test_a_stream_that_ends_otherwise_says_so);
    RUN(test_a_silent_stream_gives_signs_of_life);
    RUN(test_events_are_padded_where_the_server_or_its_client_wants_it);
    RUN(test_a_client_that_does_not_read_is_cut_off);
    buf_deinit(&body);
    return test_finish();
}
