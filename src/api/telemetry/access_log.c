/* Two buffers: workers fill one while the thread writes the other. A write that fails loses its
 * lines and is said once, until one succeeds: an access log is worth less than the requests. */
#include "api/telemetry/access_log.h"

#include "base/bytes/buf.h"
#include "base/core/error.h"
#include "base/core/str.h"
#include "base/thread/periodic.h"
#include "base/time/clock.h"
#include "base/time/log.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define WRITE_MS 200
#define BYTES_MAX ((size_t)4 << 20)

struct access_log {
    struct periodic thread;
    struct buf lines; /* that wait */
    uint64_t dropped;
    bool reopen;

    /* The thread's own. */
    char *path; /* NULL = standard error */
    int fd;
    struct buf writing;
    bool failed; /* and said */
};

static int open_file(const char *path)
{
    return open(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC | O_NOCTTY, 0640);
}

static void write_all(struct access_log *log)
{
    size_t at = 0;
    while (at < log->writing.len) {
        ssize_t count = write(log->fd, log->writing.data + at, log->writing.len - at);
        if (count < 0 && errno == EINTR)
            continue;
        if (count <= 0)
            break;
        at += (size_t)count;
    }
    bool failed = at < log->writing.len;
    if (failed && !log->failed)
        log_event(LOG_LEVEL_WARN, "access_log_failed", "path=%s error=\"%s\"",
                  log->path ? log->path : "stderr", strerror(errno));
    log->failed = failed;
    buf_clear(&log->writing);
}

static void reopen(struct access_log *log)
{
    int fd = log->path ? open_file(log->path) : -1;
    if (fd < 0) {
        if (log->path)
            log_event(LOG_LEVEL_WARN, "access_log_failed", "path=%s error=\"%s\"", log->path,
                      strerror(errno));
        return; /* the old one is written on */
    }
    close(log->fd);
    log->fd = fd;
}

static void wait_locked(struct access_log *log)
{
    const struct timespec until = clock_deadline(WRITE_MS);
    if (!log->thread.stop && !log->reopen)
        pthread_cond_timedwait(&log->thread.wake, &log->thread.lock, &until);
}

static void *access_log_run(void *ctx)
{
    struct access_log *log = ctx;
    bool stopping = false;
    while (!stopping) {
        pthread_mutex_lock(&log->thread.lock);
        wait_locked(log);
        struct buf full = log->lines;
        log->lines = log->writing;
        log->writing = full;
        stopping = log->thread.stop;
        bool again = log->reopen;
        log->reopen = false;
        pthread_mutex_unlock(&log->thread.lock);
        write_all(log); /* what was before the change of names goes where it belongs */
        if (again)
            reopen(log);
    }
    return NULL;
}

void access_log_free(struct access_log *log)
{
    if (!log)
        return;
    periodic_end(&log->thread);
    if (log->path && log->fd >= 0)
        close(log->fd);
    buf_deinit(&log->lines);
    buf_deinit(&log->writing);
    free(log->path);
    free(log);
}

enum td_status access_log_open(const char *path, struct access_log **out, struct td_error *err)
{
    struct access_log *log = calloc(1, sizeof *log);
    *out = NULL;
    if (!log)
        return error_set(err, TD_NO_MEMORY, "no memory for an access log");
    periodic_init(&log->thread);
    buf_init(&log->lines, BYTES_MAX);
    buf_init(&log->writing, BYTES_MAX);
    log->fd = STDERR_FILENO;
    enum td_status status = TD_OK;
    if (strcmp(path, "stderr") != 0) {
        log->path = strdup(path);
        log->fd = log->path ? open_file(path) : -1;
        if (log->fd < 0)
            status =
                error_set(err, TD_IO, "log.access: %s cannot be opened: %s", path, strerror(errno));
    }
    if (status == TD_OK && !periodic_start(&log->thread, access_log_run, log))
        status = error_set(err, TD_NO_MEMORY, "no thread for an access log");
    if (status == TD_OK)
        *out = log;
    else
        access_log_free(log);
    return status;
}

void access_log_reopen(struct access_log *log)
{
    if (!log)
        return;
    pthread_mutex_lock(&log->thread.lock);
    log->reopen = true;
    pthread_cond_signal(&log->thread.wake);
    pthread_mutex_unlock(&log->thread.lock);
}

void access_log_put(struct access_log *log, struct td_str line)
{
    if (!log)
        return;
    pthread_mutex_lock(&log->thread.lock);
    size_t before = log->lines.len;
    buf_append_str(&log->lines, line);
    buf_append_char(&log->lines, '\n');
    if (log->lines.failed) { /* whole lines alone */
        buf_truncate(&log->lines, before);
        log->lines.failed = false;
        log->dropped++;
    }
    pthread_mutex_unlock(&log->thread.lock);
}

uint64_t access_log_dropped(struct access_log *log)
{
    pthread_mutex_lock(&log->thread.lock);
    uint64_t dropped = log->dropped;
    pthread_mutex_unlock(&log->thread.lock);
    return dropped;
}
