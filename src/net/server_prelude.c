/* What comes before the first request of a connection: the PROXY header of a proxy that is believed
 * (transport/proxy_header.h).
 *
 * Who may send such a header is a list of addresses in the configuration. From those it must come,
 * because a proxy that passes a client's bytes on without one would let the client write it. From
 * all others it is garbage, which the reader of requests refuses. The limit of time for a request
 * holds for this, too, and whoever is in it has no request in work: it makes room for others. */
#include "net/server_internal.h"

#include "base/log.h"
#include "net/transport/address_set.h"
#include "net/transport/proxy_header.h"

#include <errno.h>
#include <event2/buffer.h>
#include <stdio.h>
#include <sys/socket.h>

void conn_expect_prelude(struct conn *conn, const struct listener *listener,
                         const struct sockaddr *address)
{
    conn->wants_proxy = listener->proxies && address_set_has(listener->proxies, address);
    if (conn->wants_proxy)
        conn->state = CONN_PRELUDE;
}

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

bool conn_read_prelude(struct conn *conn)
{
    if (conn->wants_proxy && !read_proxy_header(conn))
        return false;
    conn->state = CONN_HEAD;
    return true;
}
