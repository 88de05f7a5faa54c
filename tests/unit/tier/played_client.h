/* The HTTP client, played by the test: one transfer at a time. What was asked is in `net`; the test
 * answers with net_headers, net_body and net_done. */
#ifndef TESTS_PLAYED_CLIENT_H
#define TESTS_PLAYED_CLIENT_H

#include "base/core/str.h"
#include "net/client/client.h"
#include "test.h"

struct client_transfer {
    struct client_request request;
};

static struct {
    struct client_transfer *running;
    char url[256], headers[1024], body[2048];
    int start_count, cancel_count, progress_count;
    bool refuse, unconnected;
} net;

struct client *client_of_loop(struct loop *loop)
{
    return (struct client *)loop;
}

enum td_status client_start(struct client *client, const struct client_request *request,
                            struct client_transfer **out, struct td_error *err)
{
    (void)client, (void)err;
    net.start_count++;
    if (net.refuse)
        return TD_NO_MEMORY;
    net.running = calloc(1, sizeof *net.running);
    if (!net.running)
        abort();
    net.running->request = *request;
    snprintf(net.url, sizeof net.url, "%s", request->url);
    snprintf(net.body, sizeof net.body, STR_FMT, STR_ARG(request->body));
    net.headers[0] = '\0';
    for (size_t i = 0; request->headers[i]; i++) {
        size_t len = strlen(net.headers);
        snprintf(net.headers + len, sizeof net.headers - len, "%s\n", request->headers[i]);
    }
    *out = net.running;
    return TD_OK;
}

void client_note_progress(struct client_transfer *transfer)
{
    CHECK(transfer == net.running);
    net.progress_count++;
}

void client_cancel(struct client_transfer *transfer)
{
    net.cancel_count++;
    net.running = NULL;
    free(transfer);
}

static inline void net_connected(void)
{
    if (!net.unconnected && net.running->request.on_connected)
        net.running->request.on_connected(net.running->request.ctx);
}

static inline void net_headers(int code, const char *retry_after)
{
    net_connected();
    net.running->request.on_headers(net.running->request.ctx, code, "text/event-stream",
                                    retry_after);
}

static inline void net_body(const char *text)
{
    net.running->request.on_body(net.running->request.ctx, str_from(text));
}

static inline void net_done_with(enum td_status status, int code, const char *message)
{
    net_connected();
    struct client_transfer *transfer = net.running;
    struct td_error err = {.status = status};
    snprintf(err.message, sizeof err.message, "%s", message ? message : "");
    net.running = NULL;
    transfer->request.on_done(transfer->request.ctx, status, code, &err);
    free(transfer);
}

static inline void net_done(enum td_status status, const char *message)
{
    net_done_with(status, 0, message);
}

#endif
