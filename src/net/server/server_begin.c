/* How a connection begins: its socket, and whose it is. */
#include "net/server/server_internal.h"

#include "net/transport/listen.h"

#include <event2/buffer.h>
#include <netdb.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

/* Whoever comes by a socket of a path has no address, but a user. */
static void write_peer(struct conn *conn, const struct sockaddr *address, socklen_t len)
{
    struct ucred who;
    socklen_t who_len = sizeof who;
    if (address->sa_family != AF_UNIX) {
        if (getnameinfo(address, len, conn->peer, sizeof conn->peer, NULL, 0, NI_NUMERICHOST) != 0)
            snprintf(conn->peer, sizeof conn->peer, "?");
    } else if (getsockopt(conn->fd, SOL_SOCKET, SO_PEERCRED, &who, &who_len) == 0) {
        snprintf(conn->peer, sizeof conn->peer, "unix:%u", who.uid);
    } else {
        snprintf(conn->peer, sizeof conn->peer, "unix");
    }
}

/* Small writes go out at once. A peer whose machine vanished is noticed after about a minute. */
static void set_socket_options(int fd)
{
    int on = 1, idle_s = 30, interval_s = 10, probes = 3;
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    setsockopt(fd, SOL_SOCKET, SO_KEEPALIVE, &on, sizeof on);
    setsockopt(fd, IPPROTO_TCP, TCP_KEEPIDLE, &idle_s, sizeof idle_s);
    setsockopt(fd, IPPROTO_TCP, TCP_KEEPINTVL, &interval_s, sizeof interval_s);
    setsockopt(fd, IPPROTO_TCP, TCP_KEEPCNT, &probes, sizeof probes);
}

/* Whose it is, and what it begins with, is the caller's. **takes** fd. */
static struct conn *make(struct server *server, int fd)
{
    struct conn *conn = calloc(1, sizeof *conn);
    if (conn == NULL) {
        close(fd);
        return NULL;
    }
    conn->server = conn->home = server;
    conn->fd = fd;
    conn->state = CONN_HEAD;
    atomic_fetch_add(&server->conn_count, 1);
    bool entered = conn_enter(conn);
    conn_wait(conn);
    conn->in = evbuffer_new();
    conn->out = evbuffer_new();
    if (entered && conn->in && conn->out && event_add(conn->read_event, NULL) == 0)
        return conn;
    conn_free(conn);
    return NULL;
}

struct conn *conn_new(const struct listener *listener, int fd, struct sockaddr *address,
                      socklen_t len)
{
    struct conn *conn = make(listener->server, fd);
    if (conn == NULL)
        return NULL;
    if (address->sa_family != AF_UNIX)
        set_socket_options(fd);
    write_peer(conn, address, len);
    if (!listen_name(fd, conn->local, NULL))
        snprintf(conn->local, sizeof conn->local, "?");
    if (conn_expect_prelude(conn, listener, address))
        return conn;
    conn_free(conn);
    return NULL;
}

struct conn *conn_new_inner(const struct conn *outer, int fd)
{
    struct conn *conn = make(outer->server, fd);
    if (conn == NULL)
        return NULL;
    conn->inner = true;
    memcpy(conn->peer, outer->peer, sizeof conn->peer);
    memcpy(conn->local, outer->local, sizeof conn->local);
    if (!outer->client || (conn->client = strdup(outer->client)))
        return conn;
    conn_free(conn);
    return NULL;
}

void conn_begin(struct conn *conn)
{
    conn_set_timer(conn, conn->server->options.header_timeout_ms);
}
