/* A socket of a path stays in its folder when its process is killed, and nobody can bind to it
 * again. So whether somebody listens on it is asked by connecting: a refusal says that it is stale.
 * The new one is made beside it, gets its mode, and is renamed over it. Therefore nobody finds a
 * path without a listener, or one with a wider mode than was asked for.
 *
 * Sockets of the service manager are the protocol of sd_listen_fds(3): descriptors from 3 on, whose
 * number is in the environment. It is a few lines, so libsystemd is not linked for it. */
#include "net/transport/listen.h"

#include "base/core/error.h"
#include "base/core/str.h"

#include <errno.h>
#include <fcntl.h>
#include <netdb.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#define FIRST_INHERITED 3 /* SD_LISTEN_FDS_START */

static enum td_status status_of(int code)
{
    return code == EADDRINUSE ? TD_BUSY : code == EACCES || code == EPERM ? TD_DENIED : TD_IO;
}

int listen_open(const char *host, uint16_t port, bool shared, struct td_error *err)
{
    char text[8];
    snprintf(text, sizeof text, "%u", port);
    struct addrinfo hints = {.ai_flags = AI_PASSIVE | AI_NUMERICSERV, .ai_socktype = SOCK_STREAM};
    struct addrinfo *address = NULL;
    int code = getaddrinfo(host, text, &hints, &address);
    if (code != 0) {
        error_set(err, TD_INVALID, "listen address %s: %s", host, gai_strerror(code));
        return -1;
    }
    int on = 1;
    int fd = socket(address->ai_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    bool open = fd >= 0 && setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on) == 0 &&
                (!shared || setsockopt(fd, SOL_SOCKET, SO_REUSEPORT, &on, sizeof on) == 0) &&
                bind(fd, address->ai_addr, address->ai_addrlen) == 0 &&
                listen(fd, LISTEN_BACKLOG) == 0;
    code = errno;
    freeaddrinfo(address);
    if (open)
        return fd;
    error_set(err, status_of(code), "cannot listen on %s port %u: %s", host, port, strerror(code));
    if (fd >= 0)
        close(fd);
    return -1;
}

/* --- paths --- */

static bool fill_address(struct sockaddr_un *address, const char *path, const char *suffix)
{
    address->sun_family = AF_UNIX;
    int len = snprintf(address->sun_path, sizeof address->sun_path, "%s%s", path, suffix);
    return len > 0 && (size_t)len < sizeof address->sun_path;
}

/* What stands at the path may be replaced: nothing, or a socket without a listener. */
static bool is_free(const char *path, struct td_error *err)
{
    struct stat seen;
    struct sockaddr_un address;
    if (lstat(path, &seen) != 0)
        return errno == ENOENT ||
               (error_set(err, status_of(errno), "cannot listen on %s: %s", path, strerror(errno)),
                false);
    if (!S_ISSOCK(seen.st_mode)) {
        error_set(err, TD_INVALID, "cannot listen on %s: a file that is no socket has this name",
                  path);
        return false;
    }
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    bool stale = fd >= 0 && fill_address(&address, path, "") &&
                 connect(fd, (struct sockaddr *)&address, sizeof address) != 0 &&
                 (errno == ECONNREFUSED || errno == ENOENT);
    int code = errno;
    if (fd >= 0)
        close(fd);
    if (!stale)
        error_set(err, code == EACCES ? TD_DENIED : TD_BUSY, "cannot listen on %s: %s", path,
                  code == EACCES ? strerror(code) : "another process listens there");
    return stale;
}

int listen_open_path(const char *path, mode_t mode, struct stat *made, struct td_error *err)
{
    struct sockaddr_un address;
    if (strlen(path) > LISTEN_PATH_BYTES_MAX || !fill_address(&address, path, ".new")) {
        error_set(err, TD_INVALID, "cannot listen on %s: a path of a socket has at most %d bytes",
                  path, LISTEN_PATH_BYTES_MAX);
        return -1;
    }
    if (!is_free(path, err))
        return -1;
    unlink(address.sun_path); /* of a start that was killed in between */
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    bool open = fd >= 0 && fchmod(fd, mode & 0700) == 0 && /* never wider, not for a moment */
                bind(fd, (struct sockaddr *)&address, sizeof address) == 0 &&
                chmod(address.sun_path, mode) == 0 && listen(fd, LISTEN_BACKLOG) == 0 &&
                lstat(address.sun_path, made) == 0 && rename(address.sun_path, path) == 0;
    if (open)
        return fd;
    int code = errno;
    error_set(err, status_of(code), "cannot listen on %s: %s", path, strerror(code));
    if (fd >= 0) {
        close(fd);
        unlink(address.sun_path);
    }
    return -1;
}

bool listen_try_path(const char *path, struct td_error *err)
{
    const char *slash = strrchr(path, '/');
    char folder[LISTEN_PATH_BYTES_MAX + 2];
    snprintf(folder, sizeof folder, "%.*s", slash ? (int)(slash - path) + 1 : 1,
             slash ? path : ".");
    if (!is_free(path, err))
        return false;
    if (access(folder, W_OK | X_OK) == 0)
        return true;
    error_set(err, TD_DENIED, "cannot listen on %s: %s: %s", path, folder, strerror(errno));
    return false;
}

void listen_remove(const char *path, const struct stat *made)
{
    struct stat now;
    if (lstat(path, &now) == 0 && now.st_dev == made->st_dev && now.st_ino == made->st_ino)
        unlink(path);
}

/* --- sockets of the service manager --- */

static bool is_listener(int fd)
{
    int type = 0, listens = 0;
    socklen_t len = sizeof type, listens_len = sizeof listens;
    return getsockopt(fd, SOL_SOCKET, SO_TYPE, &type, &len) == 0 && type == SOCK_STREAM &&
           getsockopt(fd, SOL_SOCKET, SO_ACCEPTCONN, &listens, &listens_len) == 0 && listens;
}

static bool read_number(const char *variable, uint64_t *out)
{
    const char *text = getenv(variable);
    return text && str_to_u64(str_from(text), out);
}

enum td_status listen_inherit(int *fds, size_t fds_max, size_t *count, struct td_error *err)
{
    uint64_t pid = 0, number = 0;
    *count = 0;
    bool ours = read_number("LISTEN_PID", &pid) && pid == (uint64_t)getpid() &&
                read_number("LISTEN_FDS", &number);
    unsetenv("LISTEN_PID");
    unsetenv("LISTEN_FDS");
    unsetenv("LISTEN_FDNAMES");
    if (!ours)
        return TD_OK;
    if (number > fds_max)
        return error_set(err, TD_INVALID,
                         "the service manager hands over %llu sockets (LISTEN_FDS); at most %zu "
                         "are used",
                         (unsigned long long)number, fds_max);
    for (size_t i = 0; i < number; i++) {
        int fd = FIRST_INHERITED + (int)i;
        if (!is_listener(fd))
            return error_set(err, TD_INVALID,
                             "descriptor %d of the service manager is no socket that listens: "
                             "write ListenStream=, without Accept=yes, into the .socket unit",
                             fd);
        int flags = fcntl(fd, F_GETFL);
        if (flags < 0 || fcntl(fd, F_SETFL, flags | O_NONBLOCK) != 0 ||
            fcntl(fd, F_SETFD, FD_CLOEXEC) != 0)
            return error_set(err, TD_IO, "descriptor %d of the service manager: %s", fd,
                             strerror(errno));
        fds[i] = fd;
    }
    *count = (size_t)number;
    return TD_OK;
}

/* --- names --- */

bool listen_name(int fd, char name[static LISTEN_NAME_BYTES], uint16_t *port)
{
    struct sockaddr_storage address;
    socklen_t len = sizeof address;
    char number[8] = "0";
    uint64_t value = 0;
    if (getsockname(fd, (struct sockaddr *)&address, &len) != 0)
        return false;
    if (address.ss_family == AF_UNIX)
        snprintf(name, LISTEN_NAME_BYTES, "unix");
    else if (getnameinfo((struct sockaddr *)&address, len, name, LISTEN_NAME_BYTES, number,
                         sizeof number, NI_NUMERICHOST | NI_NUMERICSERV) != 0)
        return false;
    if (port)
        *port = str_to_u64(str_from(number), &value) ? (uint16_t)value : 0;
    return true;
}

bool listen_is_path(int fd)
{
    struct sockaddr_storage address;
    socklen_t len = sizeof address;
    return getsockname(fd, (struct sockaddr *)&address, &len) == 0 && address.ss_family == AF_UNIX;
}
