/* What comes before the first request of a connection: the PROXY header of a proxy that is believed
 * (transport/proxy_header.h), then the handshake of TLS (transport/tls.h).
 *
 * Who may send such a header is a list of addresses in the configuration. From those it must come,
 * because a proxy that passes a client's bytes on without one would let the client write it. From
 * all others it is garbage, which the reader of requests refuses.
 *
 * The limit of time for a request holds for this, too, and whoever is in it has no request in work:
 * it makes room for others. A handshake takes as many turns of the loop as the client makes it
 * take, and none of them waits. */
#include "net/server/server_internal.h"

#include "base/time/log.h"
#include "net/transport/address_set.h"
#include "net/transport/proxy_header.h"
#include "net/transport/tls.h"

#include <errno.h>
#include <event2/buffer.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>

bool conn_expect_prelude(struct conn *conn, const struct listener *listener,
                         const struct sockaddr *address)
{
    conn->wants_proxy = listener->proxies && address_set_has(listener->proxies, address);
    if (listener->tls && !(conn->tls = tls_session_new(listener->tls, conn->fd)))
        return false;
    if (conn->wants_proxy || conn->tls)
        conn->state = CONN_PRELUDE;
    return true;
}

/* --- the PROXY header --- */

/* Looks at what has come before it takes it, because what follows the header may be for TLS. */
static enum proxy_result take_proxy_header(struct conn *conn, struct proxy_header *header)
{
    char bytes[PROXY_HEADER_BYTES_MAX];
    size_t before = evbuffer_get_length(conn->in), used;
    evbuffer_copyout(conn->in, bytes, before);
    ssize_t got = recv(conn->fd, bytes + before, sizeof bytes - before, MSG_PEEK);
    if (got < 0 && (errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR))
        return PROXY_MORE;
    if (got <= 0)
        return PROXY_BAD;
    size_t len = before + (size_t)got;
    enum proxy_result result = proxy_header_read((struct td_str){bytes, len}, header, &used);
    size_t taken = (result == PROXY_DONE ? used : len) - before;
    if (result == PROXY_BAD || recv(conn->fd, bytes + before, taken, 0) != (ssize_t)taken)
        return PROXY_BAD;
    if (result == PROXY_MORE && evbuffer_add(conn->in, bytes + before, taken) != 0)
        return PROXY_BAD;
    if (result == PROXY_DONE)
        evbuffer_drain(conn->in, before);
    return result;
}

static bool read_proxy_header(struct conn *conn)
{
    struct proxy_header header;
    enum proxy_result result = take_proxy_header(conn, &header);
    if (result == PROXY_BAD) {
        log_event(LOG_LEVEL_DEBUG, "proxy_header_refused", "peer=%s", conn->peer);
        conn_close(conn);
    }
    if (result != PROXY_DONE)
        return false;
    conn->wants_proxy = false;
    if (*header.client)
        snprintf(conn->peer, sizeof conn->peer, "%s", header.client);
    return true;
}

/* --- TLS --- */

/* The name in its certificate is kept; one without a name is as one without a certificate. */
static bool take_client(struct conn *conn)
{
    char name[TLS_NAME_BYTES];
    if (!tls_session_client(conn->tls, name))
        return true;
    conn->client = strdup(name);
    return conn->client != NULL;
}

/* One who speaks HTTP here has the wrong scheme in his address, and is told so. */
static void answer_plain(struct conn *conn)
{
    tls_session_free(conn->tls);
    conn->tls = NULL;
    conn->state = CONN_HEAD;
    conn_refuse(conn, 400, "this port speaks TLS: use https");
}

static bool shake_hands(struct conn *conn)
{
    const char *reason = NULL;
    enum tls_result result = tls_session_accept(conn->tls, &reason);
    if (result == TLS_DONE && take_client(conn))
        return true;
    if (result == TLS_WANT_READ ||
        (result == TLS_WANT_WRITE && event_add(conn->write_event, NULL) == 0))
        return false;
    log_event(LOG_LEVEL_DEBUG, "tls_handshake_failed", "peer=%s reason=\"%s\"", conn->peer,
              reason ? reason : "no memory");
    if (result == TLS_PLAIN_HTTP)
        answer_plain(conn);
    else
        conn_close(conn);
    return false;
}

bool conn_read_prelude(struct conn *conn)
{
    if ((conn->wants_proxy && !read_proxy_header(conn)) || (conn->tls && !shake_hands(conn)))
        return false;
    conn->state = CONN_HEAD;
    conn_begin(conn);
    bool http2 = conn->tls && tls_session_is_http2(conn->tls);
    if (conn->counted_refused && !http2) {
        conn_refuse(conn, 503, "too many connections");
        return false;
    }
    if (http2 && (conn->counted_refused || !conn_start_h2(conn))) {
        conn_close(conn);
        return false;
    }
    return true;
}
