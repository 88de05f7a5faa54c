/* Sockets that a server listens on: of an address, of a path, or handed over by the service manager
 * (sd_listen_fds(3)). Nothing is kept here: descriptors belong to the caller. listen_inherit
 * belongs to the main thread, before others run; the rest to any thread. */
#ifndef NET_LISTEN_H
#define NET_LISTEN_H

#include "tandem/types.h"

#include <sys/stat.h>

/* Of a path. The kernel takes 107, and the name under which a socket is made is longer. */
#define LISTEN_PATH_BYTES_MAX 100
#define LISTEN_BACKLOG 1024

/* A socket that listens at an address. port 0 = any free one. With `shared`, several sockets may
 * listen there, and the kernel spreads connections over them (SO_REUSEPORT). -1 with *err set:
 * TD_BUSY when another one listens there. */
int listen_open(const char *host, uint16_t port, bool shared, struct td_error *err);

/* A socket that listens at a path, which then has this mode. One that nobody listens on any more is
 * replaced, without a moment in which there is none. *made says what file it is, for
 * listen_remove. -1 with *err set: TD_BUSY when another one listens there. */
int listen_open_path(const char *path, mode_t mode, struct stat *made, struct td_error *err);
/* Whether it could be made; *err says why not. */
bool listen_try_path(const char *path, struct td_error *err);
/* Takes the path away, unless it has become another one's. */
void listen_remove(const char *path, const struct stat *made);

/* The sockets that the service manager has opened for this process: LISTEN_PID and LISTEN_FDS.
 * Those variables are removed, so that no child takes them for its own. *count is 0 where there are
 * none. TD_INVALID: one of them is no stream socket that listens. */
TD_MUST_CHECK enum td_status listen_inherit(int *fds, size_t fds_max, size_t *count,
                                            struct td_error *err);

/* "127.0.0.1", "::1" or, of a path, "unix"; false when it cannot be told. *port may be NULL. */
#define LISTEN_NAME_BYTES 64
bool listen_name(int fd, char name[static LISTEN_NAME_BYTES], uint16_t *port);
bool listen_is_path(int fd);

#endif
