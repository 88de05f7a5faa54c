/* Large requests are handled beside the small ones.
 *
 * To parse a body of megabytes, to search it for private data and to write it for a tier takes
 * tenths of a second, and all other connections of the loop would wait. So a connection whose
 * request has a large body moves, with the whole request, to a loop that has only such requests. It
 * comes home when the reply has been sent. Handlers do not know of it: for them a request lives on
 * one loop, as ever. Large requests still wait for each other.
 *
 * Rejected: threads for single steps, such as parsing. Each step would need an owned copy of its
 * input and a way to be cancelled, in every handler, and the steps between them would still add
 * up. */
#include "base/core/assertion.h"
#include "net/server/server_internal.h"

#include <event2/buffer.h>

/* On the loop of conn->server. */
static void arrive(void *ctx)
{
    struct conn *conn = ctx;
    bool entered = conn_enter(conn);
    if (conn->request)
        request_enter(conn->request, conn->server);
    else
        conn_wait(conn);
    if (!entered) {
        conn_close(conn);
        return;
    }
    conn_read_on(conn);
    if (conn->request) {
        conn_flush_soon(conn); /* what was not sent yet, such as the reply before this one */
        conn_dispatch(conn);
    } else if (conn->server->stopping || conn->server != conn->home) {
        conn_linger(conn);
    } else {
        conn_await(conn);
    }
}

void conn_move(struct conn *conn, struct server *to)
{
    struct server *from = conn->server;
    ASSERT(!conn->processing && to != from);
    ASSERT(!conn->request || !conn->request->on_later); /* no handler has had it */
    conn->moves = false;
    conn_leave(conn);
    if (conn->request)
        request_leave(conn->request);
    conn->server = to;
    if (loop_post(to->loop, arrive, conn))
        return;
    conn->server = from; /* the other loop has ended, or has too much to do */
    arrive(conn);
}

void server_set_large(struct server *server, struct server *large)
{
    ASSERT(server != large);
    server->large = large;
}
