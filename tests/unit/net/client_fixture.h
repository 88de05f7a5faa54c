/* Calls of the upstream client for the tests: one struct call per transfer, and a loop that runs
 * until all have ended. */
#ifndef TESTS_NET_CLIENT_FIXTURE_H
#define TESTS_NET_CLIENT_FIXTURE_H

#include "base/bytes/buf.h"
#include "http_fixture.h"
#include "net/client/client.h"
#include "test.h"
#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>

#define CALLS_MAX 300
#define WATCHDOG_MS 8000

static struct fixture fixture;
static struct loop *loop;
static struct client *client;
static int running; /* calls that have not ended */

/* One transfer and its result. */
struct call {
    struct client_transfer *transfer;
    struct buf body;
    int headers_count, done_count, code;
    enum td_status status;
    struct td_error err;
    char content_type[64], retry_after[32];
    void (*while_body)(struct call *call); /* hooks; may be NULL */
    void (*while_headers)(struct call *call);
    void (*while_done)(struct call *call);
    bool cancelled, called_after_cancel;
};

static void call_ended(void)
{
    if (--running == 0)
        loop_event_stop(loop);
}

static void call_cancel(struct call *call)
{
    client_cancel(call->transfer);
    call->cancelled = true;
    call_ended();
}

static void on_headers(void *ctx, int code, const char *content_type, const char *retry_after)
{
    struct call *call = ctx;
    call->called_after_cancel |= call->cancelled;
    call->headers_count++;
    call->code = code;
    snprintf(call->content_type, sizeof call->content_type, "%s", content_type ? content_type : "");
    snprintf(call->retry_after, sizeof call->retry_after, "%s", retry_after ? retry_after : "");
    if (call->while_headers)
        call->while_headers(call);
}

static void on_body(void *ctx, struct td_str bytes)
{
    struct call *call = ctx;
    call->called_after_cancel |= call->cancelled;
    buf_append_str(&call->body, bytes);
    if (call->while_body)
        call->while_body(call);
}

static void on_done(void *ctx, enum td_status status, int code, const struct td_error *err)
{
    struct call *call = ctx;
    call->called_after_cancel |= call->cancelled;
    call->done_count++;
    call->status = status;
    CHECK(status != TD_OK || code == call->code);
    CHECK((status == TD_OK) == (err == NULL));
    if (err)
        call->err = *err;
    if (call->while_done)
        call->while_done(call);
    call_ended();
}

static struct client_request request_for(struct call *call, const char *url)
{
    buf_init(&call->body, 16 * 1024 * 1024);
    return (struct client_request){.method = "GET",
                                   .url = url,
                                   .allow_http = true,
                                   .response_bytes_max = 32 * 1024 * 1024,
                                   .on_headers = on_headers,
                                   .on_body = on_body,
                                   .on_done = on_done,
                                   .ctx = call};
}

static void call_start(struct call *call, const struct client_request *request)
{
    running++;
    struct td_error err = {0};
    enum td_status status = client_start(client, request, &call->transfer, &err);
    CHECK(status == TD_OK);
    if (status != TD_OK)
        fprintf(stderr, "client_start: %s\n", err.message);
}

static inline const char *url_of(const char *path)
{
    static char url[128];
    snprintf(url, sizeof url, "http://127.0.0.1:%u%s", fixture.port, path);
    return url;
}

static void loop_begin(void)
{
    running = 0;
    CHECK(loop_event_new(&loop, NULL) == TD_OK);
    client = client_of_loop(loop);
    CHECK(client != NULL && client_of_loop(loop) == client);
}

static void on_watchdog(void *ctx)
{
    (void)ctx;
    fprintf(stderr, "the loop did not come to an end\n");
    CHECK(false);
    loop_event_stop(loop);
}

static void loop_until_all_ended(void)
{
    struct loop_timer *watchdog = loop_timer_new(loop, on_watchdog, NULL);
    loop_timer_start(loop, watchdog, WATCHDOG_MS);
    loop_event_run(loop);
    loop_timer_free(loop, watchdog);
}

static void loop_end(void)
{
    loop_event_free(loop);
}

/* Makes one request from start to end on a loop of its own. */
static void call_alone(struct call *call, const struct client_request *request)
{
    loop_begin();
    call_start(call, request);
    loop_until_all_ended();
    loop_end();
    CHECK(call->done_count == 1);
}

#endif
