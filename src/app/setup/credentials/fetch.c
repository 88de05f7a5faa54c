#include "app/setup/credentials/fetch.h"

#include "base/core/error.h"
#include "base/core/str.h"
#include "net/client/client.h"
#include "net/client/loop_event.h"
#include "net/client/loopback.h"

#define LOOK_MS 100 /* whether it was cancelled */

struct waiting {
    struct loop *loop;
    struct buf *answer;
    enum td_status status;
    int code;
    struct td_error err;
    const atomic_bool *cancel;
    struct loop_timer *timer;
};

static void on_body(void *ctx, struct td_str bytes)
{
    buf_append_str(((struct waiting *)ctx)->answer, bytes);
}

static void on_done(void *ctx, enum td_status status, int code, const struct td_error *err)
{
    struct waiting *waiting = ctx;
    waiting->status = status;
    waiting->code = code;
    if (status != TD_OK && err)
        waiting->err = *err;
    loop_event_stop(waiting->loop);
}

static void on_look(void *ctx)
{
    struct waiting *waiting = ctx;
    if (!atomic_load(waiting->cancel)) {
        loop_timer_start(waiting->loop, waiting->timer, LOOK_MS);
        return;
    }
    waiting->status = error_set(&waiting->err, TD_CANCELLED, "interrupted");
    loop_event_stop(waiting->loop);
}

enum td_status fetch_now(const struct fetch_ask *ask, struct buf *answer, int *code,
                         struct td_error *err)
{
    static const char *const none[] = {NULL};
    struct waiting waiting = {.answer = answer, .cancel = ask->cancel};
    struct client *client = NULL;
    struct client_transfer *transfer;
    const struct client_request request = {
        .method = ask->method,
        .url = ask->url,
        .headers = ask->headers ? ask->headers : none,
        .body = ask->body,
        .allow_http = ask->direct || loopback_is_url(str_from(ask->url)),
        .direct = ask->direct || loopback_is_url(str_from(ask->url)),
        .ca_file = ask->ca_file,
        .connect_timeout_ms = ask->connect_ms,
        .total_timeout_ms = ask->total_ms,
        .response_bytes_max = answer->bytes_max,
        .on_body = on_body,
        .on_done = on_done,
        .ctx = &waiting,
    };
    enum td_status status = loop_event_new(&waiting.loop, err);
    if (status != TD_OK)
        return status;
    status = client_new(waiting.loop, &client, err);
    if (status == TD_OK)
        status = client_start(client, &request, &transfer, err);
    if (status == TD_OK && ask->cancel)
        waiting.timer = loop_timer_new(waiting.loop, on_look, &waiting);
    if (waiting.timer)
        loop_timer_start(waiting.loop, waiting.timer, LOOK_MS);
    if (status == TD_OK) {
        loop_event_run(waiting.loop);
        status = waiting.status;
        if (status != TD_OK)
            error_set(err, status, "%s", waiting.err.message);
    }
    loop_timer_free(waiting.loop, waiting.timer);
    client_free(client);
    loop_event_free(waiting.loop);
    *code = waiting.code;
    return status;
}
