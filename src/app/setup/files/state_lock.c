/* The file is never removed: between a look at it and its removal another process may have locked
 * it, and then two would each hold a lock on a file of that name. */
#include "app/setup/files/state_lock.h"

#include "base/bytes/file.h"
#include "base/bytes/path.h"
#include "base/core/error.h"
#include "base/core/str.h"
#include "base/time/clock.h"
#include "base/time/log.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define OWNER_BYTES STATE_OWNER_BYTES
#define LOOK_MS 50

struct state_lock {
    int fd;
    char *path, *what, *instead;
    char owner[OWNER_BYTES]; /* what the file says */
};

/* Who holds the file, as far as it says so. Control characters of a strange file are not shown. */
static void read_owner(int fd, char out[static OWNER_BYTES])
{
    ssize_t got = pread(fd, out, OWNER_BYTES - 1, 0);
    size_t len = 0;
    while (got > 0 && len < (size_t)got && out[len] >= ' ' && out[len] < 0x7f)
        len++;
    out[len] = '\0';
    if (len == 0)
        snprintf(out, OWNER_BYTES, "another process");
}

static bool is_in_place(const struct state_lock *lock)
{
    struct stat named, held;
    return lock->fd >= 0 && fstat(lock->fd, &held) == 0 && lstat(lock->path, &named) == 0 &&
           named.st_dev == held.st_dev && named.st_ino == held.st_ino;
}

/* TD_BUSY: another process has it. */
static enum td_status try_once(struct state_lock *lock, struct td_error *err)
{
    char owner[OWNER_BYTES];
    if (lock->fd >= 0)
        close(lock->fd);
    lock->fd = open(lock->path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0600);
    if (lock->fd < 0)
        return error_set(err, TD_IO, "%s: cannot open %s: %s", lock->what, lock->path,
                         strerror(errno));
    if (flock(lock->fd, LOCK_EX | LOCK_NB) != 0) {
        if (errno != EWOULDBLOCK && errno != EINTR)
            return error_set(err, TD_IO, "%s: cannot lock %s: %s", lock->what, lock->path,
                             strerror(errno));
        read_owner(lock->fd, owner);
        return error_set(err, TD_BUSY, "%s is in use by %s: stop it, or %s", lock->what, owner,
                         lock->instead);
    }
    if (!is_in_place(lock)) /* removed between the two calls */
        return error_set(err, TD_BUSY, "%s: %s is being replaced", lock->what, lock->path);
    return TD_OK;
}

static enum td_status try_until(struct state_lock *lock, uint32_t wait_ms, struct td_error *err)
{
    const struct timespec pause = {.tv_nsec = LOOK_MS * 1000000};
    const double until = clock_monotonic_ms(NULL) + wait_ms;
    struct td_error cause = {0};
    bool told = false;
    enum td_status status;
    while ((status = try_once(lock, &cause)) == TD_BUSY && clock_monotonic_ms(NULL) < until) {
        if (!told)
            log_event(LOG_LEVEL_INFO, "state_awaited", "wait_ms=%u reason=\"%s\"", wait_ms,
                      cause.message);
        told = true;
        cause = (struct td_error){0};
        nanosleep(&pause, NULL);
    }
    return status == TD_OK ? TD_OK : error_set(err, status, "%s", cause.message);
}

static void write_owner(struct state_lock *lock)
{
    struct td_str text = str_from(lock->owner);
    if (!file_write_at(lock->fd, text, 0) || ftruncate(lock->fd, (off_t)text.len) != 0)
        log_event(LOG_LEVEL_WARN, "state_owner_not_written", "file=%s error=\"%s\"", lock->path,
                  strerror(errno));
}

void state_lock_tell(struct state_lock *lock, const char *address)
{
    char host[128] = "";
    if (gethostname(host, sizeof host - 1) != 0)
        host[0] = '\0';
    snprintf(lock->owner, sizeof lock->owner, "process %ld on %s%s%s\n", (long)getpid(), host,
             address ? ", which serves " : "", address ? address : "");
    write_owner(lock);
}

enum td_status state_lock_take(const struct state_lock_options *options, struct state_lock **out,
                               struct td_error *err)
{
    *out = NULL;
    struct state_lock *lock = calloc(1, sizeof *lock);
    if (!lock)
        return error_set(err, TD_NO_MEMORY, "no memory for a lock");
    lock->fd = -1;
    lock->path = strdup(options->path);
    lock->what = strdup(options->what);
    lock->instead = strdup(options->instead);
    enum td_status status = lock->path && lock->what && lock->instead
                                ? try_until(lock, options->wait_ms, err)
                                : error_set(err, TD_NO_MEMORY, "no memory for a lock");
    if (status != TD_OK) {
        state_lock_release(lock);
        return status;
    }
    state_lock_tell(lock, NULL);
    *out = lock;
    return TD_OK;
}

enum td_status state_lock_check(struct state_lock *lock, struct td_error *err)
{
    if (is_in_place(lock))
        return TD_OK;
    enum td_status status = try_once(lock, err);
    if (status != TD_OK)
        return status;
    log_event(LOG_LEVEL_WARN, "state_locked_again", "file=%s reason=\"it was removed\"",
              lock->path);
    write_owner(lock);
    return TD_OK;
}

void state_lock_release(struct state_lock *lock)
{
    if (!lock)
        return;
    if (lock->fd >= 0)
        close(lock->fd);
    free(lock->path);
    free(lock->what);
    free(lock->instead);
    free(lock);
}

/* --- the owner, seen from outside --- */

static bool is_held(int fd)
{
    if (flock(fd, LOCK_SH | LOCK_NB) == 0) {
        flock(fd, LOCK_UN);
        return false;
    }
    return errno == EWOULDBLOCK;
}

/* "process 42 on host, which serves ...": the number means this process only on this host. */
static long pid_of(const char *owner)
{
    char host[128] = "", named[128] = "";
    long pid = 0;
    if (gethostname(host, sizeof host - 1) != 0 ||
        sscanf(owner, "process %ld on %127[^,]", &pid, named) != 2 || strcmp(host, named) != 0)
        return 0;
    return pid;
}

enum td_status state_lock_end_owner(const char *dir, uint32_t wait_ms,
                                    char owner[static STATE_OWNER_BYTES], struct td_error *err)
{
    const struct timespec pause = {.tv_nsec = LOOK_MS * 1000000};
    const double until = clock_monotonic_ms(NULL) + wait_ms;
    char path[4096];
    enum td_status status = path_join(path, sizeof path, dir, "server.lock", err);
    if (status != TD_OK)
        return status;
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    if (fd < 0 || !is_held(fd)) {
        if (fd >= 0)
            close(fd);
        return error_set(err, TD_NOT_FOUND, "no server runs with the state folder %s", dir);
    }
    read_owner(fd, owner);
    long pid = pid_of(owner);
    if (pid <= 1)
        status = error_set(err, TD_UNSUPPORTED, "it is %s: stop it there", owner);
    else if (kill((pid_t)pid, SIGTERM) != 0)
        status = error_set(err, TD_DENIED, "%s cannot be asked to end: %s", owner, strerror(errno));
    bool held = true;
    while (status == TD_OK && (held = is_held(fd)) && clock_monotonic_ms(NULL) < until)
        nanosleep(&pause, NULL);
    if (status == TD_OK && held)
        status = error_set(err, TD_TIMEOUT, "%s still finishes what it answers", owner);
    close(fd);
    return status;
}
