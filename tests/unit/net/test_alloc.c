/* Every allocation in a whole conversation of client and server is made to fail once, ours and
 * libevent's: nothing may crash, leak or wait for ever, and everything must work again after. Not
 * libcurl's: 7.88 itself loses a transfer, until its time-out, and some memory after some of
 * them. */
#include "base/bytes/buf.h"
#include "base/core/str.h"
#include "net/client/client.h"
#include "net/client/loop_event.h"
#include "net/client/sse.h"
#include "net/server/server.h"
#include "test.h"

#include <event2/event.h>
#include <limits.h>

/* The linker redirects every call of these functions in our objects here (--wrap). */
void *__real_malloc(size_t bytes);
void *__real_calloc(size_t count, size_t bytes);
void *__real_realloc(void *old, size_t bytes);
void *__wrap_malloc(size_t bytes);
void *__wrap_calloc(size_t count, size_t bytes);
void *__wrap_realloc(void *old, size_t bytes);

static long until_failure = LONG_MAX; /* counts down to the allocation that fails */
static bool failed;

static bool fails_now(void)
{
    bool now = until_failure == 0;
    failed |= now;
    until_failure -= until_failure < LONG_MAX && until_failure >= 0;
    return now;
}

void *__wrap_malloc(size_t bytes)
{
    return fails_now() ? NULL : __real_malloc(bytes);
}

void *__wrap_calloc(size_t count, size_t bytes)
{
    return fails_now() ? NULL : __real_calloc(count, bytes);
}

void *__wrap_realloc(void *old, size_t bytes)
{
    return fails_now() ? NULL : __real_realloc(old, bytes);
}

struct conversation {
    struct loop *loop;
    struct server *server, *large;
    struct sse_reader sse;
    int running, whole, events;
};

static void handle(void *ctx, struct http_request *request)
{
    (void)ctx;
    if (strcmp(http_request_path(request), "/echo") == 0) {
        http_reply_header(request, "X-A", "b");
        http_reply(request, 200, "text/plain", http_request_body(request));
        return;
    }
    if (strcmp(http_request_path(request), "/nothing") == 0) {
        http_reply(request, 200, "text/plain", STR(""));
        return;
    }
    http_stream_start(request, 200, "text/event-stream");
    http_stream_write(request, STR("data: one\n\n"));
    http_stream_write(request, STR("data: two\n\n"));
    http_stream_end(request);
}

static void on_event(void *ctx, struct td_str event, struct td_str data)
{
    struct conversation *talk = ctx;
    talk->events += str_equal(event, STR("message")) && data.len == 3;
}

static void on_body(void *ctx, struct td_str bytes)
{
    struct conversation *talk = ctx;
    enum td_status status = sse_reader_feed(&talk->sse, bytes, on_event, talk, NULL);
    CHECK(status == TD_OK || status == TD_LIMIT);
}

static void on_done(void *ctx, enum td_status status, int code, const struct td_error *err)
{
    struct conversation *talk = ctx;
    CHECK((status == TD_OK) == (err == NULL));
    CHECK(status != TD_TIMEOUT); /* a failure must be reported, not waited for */
    talk->whole += status == TD_OK && code == 200;
    if (--talk->running == 0)
        loop_event_stop(talk->loop);
}

static void ask(struct conversation *talk, const char *path, struct td_str body)
{
    char url[64];
    snprintf(url, sizeof url, "http://127.0.0.1:%u%s", server_port(talk->server), path);
    struct client_request request = {
        .method = body.len ? "POST" : "GET",
        .url = url,
        .headers = (const char *const[]){"X-Key: value", NULL},
        .body = body,
        .allow_http = true,
        .total_timeout_ms = 2000,
        .on_body = on_body,
        .on_done = on_done,
        .ctx = talk,
    };
    struct client *client = client_of_loop(talk->loop);
    struct client_transfer *transfer;
    struct td_error err = {0};
    if (client == NULL)
        return;
    talk->running++;
    enum td_status status = client_start(client, &request, &transfer, &err);
    talk->running -= status != TD_OK;
    CHECK((status == TD_OK) == (err.status == TD_OK));
}

/* Sets everything up and takes it down again; true if all of it worked. */
static bool converse(void)
{
    static const struct server_options options = {.host = "127.0.0.1",
                                                  .body_bytes_max = 2 * SERVER_LARGE_BYTES,
                                                  .header_bytes_max = 4096,
                                                  .header_timeout_ms = 1000,
                                                  .idle_timeout_ms = 1000};
    static const char large[SERVER_LARGE_BYTES] = ": a comment, too";
    struct server_options for_large = options;
    struct conversation talk = {0};
    struct td_error err = {0};
    for_large.host = NULL;
    sse_reader_init(&talk.sse, 1024);
    enum td_status status = loop_event_new(&talk.loop, &err);
    if (status == TD_OK)
        status = server_new(talk.loop, &options, handle, &talk, &talk.server, &err);
    if (status == TD_OK)
        status = server_new(talk.loop, &for_large, handle, &talk, &talk.large, &err);
    CHECK(status == err.status);
    if (status == TD_OK) {
        server_set_large(talk.server, talk.large); /* which moves to the same loop, here */
        ask(&talk, "/nothing", (struct td_str){large, sizeof large});
        ask(&talk, "/echo", STR(": a comment to the reader of events\n"));
        ask(&talk, "/stream", STR(""));
        if (talk.running > 0)
            loop_event_run(talk.loop);
    }
    server_free(talk.large);
    server_free(talk.server);
    loop_event_free(talk.loop);
    sse_reader_deinit(&talk.sse);
    return talk.whole == 3 && talk.events == 2;
}

static void test_each_allocation_may_fail(void)
{
    CHECK(converse()); /* libraries make here what they keep */
    long at = 0;
    do {
        failed = false;
        until_failure = at++;
        converse();
        until_failure = LONG_MAX;
        CHECK(converse() && at < 100000);
    } while (failed && !test_case_failed);
    printf("%ld allocations\n", at - 1);
}

int main(void)
{
    event_set_mem_functions(__wrap_malloc, __wrap_realloc, free);
    RUN(test_each_allocation_may_fail);
    return test_finish();
}
