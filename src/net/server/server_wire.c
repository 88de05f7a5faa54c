/* The bytes of a connection on their way from and to its socket, encrypted or not.
 *
 * TLS hands over records of up to 16 KiB, of which one turn takes as much as it would of a plain
 * socket. The rest lies where no event of the socket tells of it, so the next turn is asked for; a
 * connection that is not read for a while asks when it is read on. */
#include "net/server/server_internal.h"

#include "net/transport/tls.h"

#include <errno.h>
#include <event2/buffer.h>
#include <sys/socket.h>

#define READ_BYTES 4096             /* in one turn: none starves the others */
#define BODY_READ_BYTES (16 * 1024) /* of a body: fewer turns for a large one */
#define RECORD_BYTES (16 * 1024)    /* the most that one record of TLS holds */

void conn_receive_soon(struct conn *conn)
{
    if (conn->tls && tls_session_has_pending(conn->tls))
        event_active(conn->read_event, EV_READ, 1);
}

static int receive_tls(struct conn *conn)
{
    struct evbuffer_iovec space;
    bool wants_write;
    errno = ENOMEM;
    if (evbuffer_reserve_space(conn->in, READ_BYTES, &space, 1) != 1)
        return -1;
    size_t size = space.iov_len < READ_BYTES ? space.iov_len : READ_BYTES;
    ssize_t got = tls_session_read(conn->tls, space.iov_base, size, &wants_write);
    int code = errno;
    space.iov_len = got > 0 ? (size_t)got : 0;
    if (evbuffer_commit_space(conn->in, &space, 1) != 0)
        return -1;
    if (got < 0 && wants_write)
        conn->read_writes = event_add(conn->write_event, NULL) == 0;
    if (got > 0)
        conn_receive_soon(conn);
    errno = code;
    return (int)got;
}

/* Not evbuffer_read, which asks the kernel for how much there is before it reads it. */
static int receive_plain(struct conn *conn)
{
    struct evbuffer_iovec space;
    const size_t wanted = conn->state == CONN_BODY ? BODY_READ_BYTES : READ_BYTES;
    errno = ENOMEM;
    if (evbuffer_reserve_space(conn->in, (ev_ssize_t)wanted, &space, 1) != 1)
        return -1;
    ssize_t got =
        recv(conn->fd, space.iov_base, space.iov_len < wanted ? space.iov_len : wanted, 0);
    int code = errno;
    space.iov_len = got > 0 ? (size_t)got : 0;
    if (evbuffer_commit_space(conn->in, &space, 1) != 0)
        return -1;
    errno = code;
    return (int)got;
}

int conn_receive(struct conn *conn)
{
    return conn->tls ? receive_tls(conn) : receive_plain(conn);
}

/* A record is filled from several small pieces, and a large piece is not copied. */
static int transmit_tls(struct conn *conn)
{
    char record[RECORD_BYTES];
    struct evbuffer_iovec first;
    size_t len = evbuffer_get_length(conn->out);
    len = len < sizeof record ? len : sizeof record;
    errno = ENOMEM;
    if (evbuffer_peek(conn->out, -1, NULL, &first, 1) < 1)
        return -1;
    const void *bytes = first.iov_base;
    if (first.iov_len < len) {
        evbuffer_copyout(conn->out, record, len);
        bytes = record;
    }
    ssize_t written = tls_session_write(conn->tls, bytes, len);
    if (written > 0)
        evbuffer_drain(conn->out, (size_t)written);
    return (int)written;
}

int conn_transmit(struct conn *conn)
{
    return conn->tls ? transmit_tls(conn) : evbuffer_write(conn->out, conn->fd);
}

void conn_shut(struct conn *conn)
{
    if (conn->tls)
        tls_session_end(conn->tls);
    shutdown(conn->fd, SHUT_WR);
}
