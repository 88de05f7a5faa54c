/* The HTTP/1.1 server: the listeners, and which connections it has. server_conn.c says what happens
 * on one of them.
 *
 * A table of connections has an end, and whoever only waits could fill it: with connections that
 * never send a request, or send one byte of it a second. So when all are taken, a new one takes the
 * place of the one that has been without a request in work for longest. An honest client is without
 * one for milliseconds, or has an idle connection that it must be ready to lose at any time. Only
 * when all have requests in work, a connection gets 503, and above a second small limit it is
 * closed. */
#include "base/core/assertion.h"
#include "net/server/server_internal.h"

#include "base/core/error.h"
#include "base/time/log.h"
#include "net/client/loop_event.h"
#include "net/transport/listen.h"

#include <errno.h>
#include <event2/buffer.h>
#include <event2/listener.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define REFUSED_MAX 64 /* connections that get 503 */
#define RESUME_MS 20   /* how often waiting bodies look for room; other loops give it back, too */
#define ACCEPT_RETRY_MS 100

const char *server_date(struct server *server)
{
    static const char days[] = "SunMonTueWedThuFriSat";
    static const char months[] = "JanFebMarAprMayJunJulAugSepOctNovDec";
    time_t now = time(NULL);
    if (now != server->date_second || server->date_text[0] == '\0') {
        struct tm tm;
        gmtime_r(&now, &tm);
        snprintf(server->date_text, sizeof server->date_text,
                 "%.3s, %02d %.3s %04d %02d:%02d:%02d GMT", days + tm.tm_wday * 3, tm.tm_mday % 100,
                 months + tm.tm_mon * 3, (tm.tm_year + 1900) % 10000, tm.tm_hour % 100,
                 tm.tm_min % 100, tm.tm_sec % 100);
        server->date_second = now;
    }
    return server->date_text;
}

/* --- accepting --- */

/* A place for one more: that of whoever has been without a request in work for longest. */
static bool make_room(struct server *server)
{
    struct conn *longest = TAILQ_FIRST(&server->waiting);
    while (longest && longest->counted_refused)
        longest = TAILQ_NEXT(longest, in_waiting);
    if (longest == NULL)
        return false;
    log_event(LOG_LEVEL_DEBUG, "http_displaced", "peer=%s", longest->peer);
    conn_close(longest);
    return server->conn_count < server->options.connection_max;
}

/* *over: it is one too many, and is told so. */
static bool has_place(struct server *server, bool *over)
{
    uint32_t conn_max = server->options.connection_max;
    *over = conn_max > 0 && server->conn_count >= conn_max && !make_room(server);
    return !*over || server->refused_count < REFUSED_MAX;
}

static void settle(struct conn *conn, bool over)
{
    struct server *server = conn->server;
    if (over) {
        conn->counted_refused = true;
        atomic_fetch_sub(&server->conn_count, 1);
        server->refused_count++;
    }
    if (over && conn->state != CONN_PRELUDE)
        conn_refuse(conn, 503, "too many connections");
    else
        conn_begin(conn); /* one too many is told so when it can be */
}

static void on_accept(struct evconnlistener *accepts, evutil_socket_t fd, struct sockaddr *address,
                      int len, void *ctx)
{
    (void)accepts;
    const struct listener *listener = ctx;
    bool over;
    if (!has_place(listener->server, &over)) {
        close(fd);
        return;
    }
    struct conn *conn = conn_new(listener, fd, address, (socklen_t)len);
    if (conn)
        settle(conn, over);
}

bool server_take_inner(const struct conn *outer, int fd)
{
    bool over;
    if (!has_place(outer->server, &over)) {
        close(fd);
        return false;
    }
    struct conn *conn = conn_new_inner(outer, fd);
    if (conn)
        settle(conn, over);
    return conn != NULL;
}

/* Most likely out of descriptors. The listener would report this again at once, for ever, so all
 * pause. */
static void on_accept_error(struct evconnlistener *accepts, void *ctx)
{
    (void)accepts;
    struct server *server = ((struct listener *)ctx)->server;
    log_event(LOG_LEVEL_ERROR, "http_accept_failed", "error=\"%s\"", strerror(errno));
    for (struct listener *listener = server->listeners; listener; listener = listener->next)
        evconnlistener_disable(listener->accepts);
    evtimer_add(server->accept_retry, &(struct timeval){.tv_usec = ACCEPT_RETRY_MS * 1000});
}

static void on_accept_retry(evutil_socket_t fd, short what, void *ctx)
{
    (void)fd, (void)what;
    struct server *server = ctx;
    bool all = true;
    for (struct listener *listener = server->listeners; listener; listener = listener->next)
        all = evconnlistener_enable(listener->accepts) == 0 && all;
    if (!all)
        evtimer_add(server->accept_retry, &(struct timeval){.tv_usec = ACCEPT_RETRY_MS * 1000});
}

static void on_later(evutil_socket_t fd, short what, void *ctx)
{
    (void)fd, (void)what;
    request_run_later(ctx);
}

/* --- bodies that wait for room --- */

void server_resume_later(struct server *server)
{
    if (!evtimer_pending(server->resume, NULL))
        evtimer_add(server->resume, &(struct timeval){.tv_usec = RESUME_MS * 1000});
}

/* Without room, and without a request in work that will give some back, all would wait for ever for
 * each other. Then the one that has waited for longest is read on. */
static void on_resume(evutil_socket_t fd, short what, void *ctx)
{
    (void)fd, (void)what;
    struct server *server = ctx;
    struct body_budget *budget = server->options.budget;
    struct conn *conn;
    while ((conn = TAILQ_FIRST(&server->paused)) != NULL) {
        bool room = body_budget_has_room(budget);
        if (!room && (server->favoured || body_budget_moves(budget)))
            break;
        if (!room)
            server->favoured = conn;
        conn_resume(conn);
    }
    if (conn)
        server_resume_later(server);
}

/* --- listening --- */

enum td_status server_listen(struct server *server, const struct server_socket *entrance,
                             struct td_error *err)
{
    /* Enabled separately: otherwise a failure to do so is not reported. */
    unsigned flags = LEV_OPT_CLOSE_ON_FREE | LEV_OPT_CLOSE_ON_EXEC | LEV_OPT_DISABLED;
    struct listener *listener = calloc(1, sizeof *listener);
    char name[LISTEN_NAME_BYTES];
    if (listener)
        listener->accepts =
            evconnlistener_new(server->base, on_accept, listener, flags, 0, entrance->fd);
    if (!listener || !listener->accepts) {
        close(entrance->fd);
        free(listener);
        return error_set(err, TD_NO_MEMORY, "no memory for the server");
    }
    listener->server = server;
    listener->proxies = entrance->proxies;
    listener->tls = entrance->tls;
    listener->next = server->listeners;
    server->listeners = listener;
    if (!server->port && !listen_name(entrance->fd, name, &server->port))
        server->port = 0;
    evconnlistener_set_error_cb(listener->accepts, on_accept_error);
    return evconnlistener_enable(listener->accepts) == 0
               ? TD_OK
               : error_set(err, TD_NO_MEMORY, "no memory for the server");
}

static void stop_listening(struct server *server)
{
    struct listener *next;
    for (struct listener *listener = server->listeners; listener; listener = next) {
        next = listener->next;
        evconnlistener_free(listener->accepts);
        free(listener);
    }
    server->listeners = NULL;
}

enum td_status server_new(struct loop *loop, const struct server_options *options,
                          server_fn *handler, void *ctx, struct server **out, struct td_error *err)
{
    ASSERT(loop != NULL && options != NULL && out != NULL);
    int fd =
        options->host ? listen_open(options->host, options->port, options->reuse_port, err) : -1;
    if (fd < 0 && options->host)
        return err ? err->status : TD_IO;
    struct server *server = calloc(1, sizeof *server);
    if (server == NULL) {
        if (fd >= 0)
            close(fd);
        return error_set(err, TD_NO_MEMORY, "no memory for the server");
    }
    TAILQ_INIT(&server->waiting);
    TAILQ_INIT(&server->paused);
    server->loop = loop;
    server->base = loop_event_base(loop);
    server->options = *options;
    server->options.host = NULL; /* borrowed for this call only */
    server->handler = handler;
    server->ctx = ctx;
    server->accept_retry = evtimer_new(server->base, on_accept_retry, server);
    server->later_event = evtimer_new(server->base, on_later, server);
    server->resume = evtimer_new(server->base, on_resume, server);
    if (server->accept_retry == NULL || server->later_event == NULL || server->resume == NULL) {
        if (fd >= 0)
            close(fd);
        server_free(server);
        return error_set(err, TD_NO_MEMORY, "no memory for the server");
    }
    const struct server_socket entrance = {.fd = fd};
    enum td_status status = fd >= 0 ? server_listen(server, &entrance, err) : TD_OK;
    if (status != TD_OK) {
        server_free(server);
        return status;
    }
    *out = server;
    return TD_OK;
}

void server_set_head(struct server *server, server_head_fn *head)
{
    server->head = head;
}

void server_set_end(struct server *server, server_end_fn *end)
{
    server->end = end;
}

void server_set_refuse(struct server *server, server_refuse_fn *refuse)
{
    server->refuse = refuse;
}

uint16_t server_port(const struct server *server)
{
    return server->port;
}

void server_stop_accepting(struct server *server)
{
    server->stopping = true;
    stop_listening(server);
    struct conn *next;
    for (struct conn *conn = server->conns; conn; conn = next) {
        next = conn->next;
        bool idle = conn_is_idle(conn);
        if (conn->h2)
            h2_stop(conn);
        else if (idle && evbuffer_get_length(conn->out) == 0 && !conn->processing)
            conn_close(conn);
        else if (idle)
            conn_linger(conn);
    }
}

uint32_t server_active(const struct server *server)
{
    uint32_t active = 0;
    for (const struct http_request *request = server->requests; request; request = request->next)
        active += request->dispatched && !request->ended;
    for (const struct conn *conn = server->conns; conn; conn = conn->next)
        active += (conn->request == NULL && evbuffer_get_length(conn->out) > 0) ||
                  (conn->h2 && h2_active(conn) > 0);
    return active;
}

void server_free(struct server *server)
{
    if (server == NULL)
        return;
    stop_listening(server);
    while (server->conns)
        conn_close(server->conns);
    struct http_request *next;
    for (struct http_request *request = server->requests; request; request = next) {
        next = request->next;
        request_gone(request); /* for an owner that asked after the client had left */
        if (request->ended) {
            request_free(request);
        } else { /* the handler still has it, and ends it */
            request->server = NULL;
            request_drained(request);
        }
    }
    if (server->accept_retry)
        event_free(server->accept_retry);
    if (server->later_event)
        event_free(server->later_event);
    if (server->resume)
        event_free(server->resume);
    free(server);
}
