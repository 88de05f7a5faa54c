/* A record is appended under the file's lock, which takes some microseconds. What waits for the
 * disk is the thread's, without the lock.
 *
 * A rewrite writes a draft of what the table holds, while records go on into the old file and into
 * `fresh`. Then, under the lock, `fresh` is added to the draft and the draft takes the file's name:
 * no record is in neither of the two. */
#include "privacy/scan/class_file.h"

#include "base/bytes/file.h"
#include "base/bytes/path.h"
#include "base/core/error.h"
#include "base/core/str.h"
#include "base/time/clock.h"
#include "base/time/log.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#define FILE_BYTES_MAX ((size_t)256 << 20)
#define RETRY_MS 1000

struct class_file {
    struct conversation_classes *classes;
    char path[PATH_MAX], draft[PATH_MAX];
    pthread_t thread;
    pthread_mutex_t mutex;
    pthread_cond_t changed;
    int fd; /* replaced by the thread alone */
    size_t record_count;
    uint64_t written, synced; /* records since the start */
    bool rewriting, failed, closing;
    struct buf fresh; /* records since the rewrite began */
    struct td_error failure;
};

/* --- a record --- */

static void fail_locked(struct class_file *file, const char *what, int code)
{
    if (!file->failed) {
        file->failure = (struct td_error){0};
        error_set(&file->failure, TD_IO, "%s: %s: %s", file->path, what, strerror(code));
        log_event(LOG_LEVEL_WARN, "class_not_kept", "error=\"%s\"", file->failure.message);
    }
    file->failed = true;
}

static void append(void *ctx, const uint8_t record[static CONVERSATION_RECORD_BYTES])
{
    struct class_file *file = ctx;
    pthread_mutex_lock(&file->mutex);
    if (write(file->fd, record, CONVERSATION_RECORD_BYTES) == CONVERSATION_RECORD_BYTES)
        file->record_count++;
    else
        fail_locked(file, "cannot be written", errno); /* a rewrite will have the record */
    if (file->rewriting)
        buf_append(&file->fresh, record, CONVERSATION_RECORD_BYTES);
    file->written++;
    pthread_cond_broadcast(&file->changed);
    pthread_mutex_unlock(&file->mutex);
}

/* --- the whole --- */

static int write_draft(struct class_file *file)
{
    struct buf text;
    buf_init(&text, FILE_BYTES_MAX);
    conversation_classes_write(file->classes, &text);
    unlink(file->draft); /* left by a dead process with our id */
    int fd = open(file->draft, O_WRONLY | O_CREAT | O_EXCL | O_APPEND | O_CLOEXEC, 0600);
    bool ok = fd >= 0 && !text.failed && file_write_at(fd, buf_view(&text), 0) && fsync(fd) == 0;
    int code = text.failed ? ENOMEM : errno;
    buf_deinit(&text);
    if (!ok && fd >= 0) {
        close(fd);
        unlink(file->draft);
        fd = -1;
    }
    errno = code;
    return fd;
}

/* The draft takes the name, with what came while it was written. */
static bool put_in_place_locked(struct class_file *file, int fd)
{
    struct td_str fresh = buf_view(&file->fresh);
    if (file->fresh.failed || write(fd, fresh.data, fresh.len) != (ssize_t)fresh.len ||
        rename(file->draft, file->path) != 0)
        return false;
    if (file->fd >= 0)
        close(file->fd);
    file->fd = fd;
    file->record_count = fresh.len / CONVERSATION_RECORD_BYTES;
    return true;
}

static bool rewrite(struct class_file *file)
{
    pthread_mutex_lock(&file->mutex);
    file->rewriting = true;
    buf_clear(&file->fresh);
    pthread_mutex_unlock(&file->mutex);
    int fd = write_draft(file);
    int code = errno;
    pthread_mutex_lock(&file->mutex);
    bool ok = fd >= 0 && put_in_place_locked(file, fd);
    code = fd >= 0 ? errno : code;
    uint64_t written = file->written;
    file->rewriting = false;
    if (!ok)
        fail_locked(file, "cannot be replaced", code);
    pthread_mutex_unlock(&file->mutex);
    if (!ok && fd >= 0) {
        close(fd);
        unlink(file->draft);
    }
    if (!ok)
        return false;
    bool flushed = fsync(fd) == 0; /* what came while the draft was written */
    code = errno;
    file_sync_folder(file->path);
    pthread_mutex_lock(&file->mutex);
    if (!flushed)
        fail_locked(file, "cannot be flushed", code);
    else if (file->failed)
        log_event(LOG_LEVEL_INFO, "class_kept_again", "file=%s", file->path);
    if (flushed) {
        file->failed = false;
        file->synced = written;
        pthread_cond_broadcast(&file->changed);
    }
    pthread_mutex_unlock(&file->mutex);
    return flushed;
}

static void sync_records(struct class_file *file)
{
    pthread_mutex_lock(&file->mutex);
    uint64_t written = file->written;
    int fd = file->fd;
    pthread_mutex_unlock(&file->mutex);
    bool ok = fdatasync(fd) == 0;
    int code = errno;
    pthread_mutex_lock(&file->mutex);
    if (ok)
        file->synced = written;
    else
        fail_locked(file, "cannot be flushed", code);
    pthread_cond_broadcast(&file->changed);
    pthread_mutex_unlock(&file->mutex);
}

enum work { WORK_END, WORK_SYNC, WORK_REWRITE };

static enum work next_work(struct class_file *file)
{
    enum work work = WORK_END;
    struct timespec until = clock_deadline(RETRY_MS);
    pthread_mutex_lock(&file->mutex);
    while (!file->closing && file->failed)
        if (pthread_cond_timedwait(&file->changed, &file->mutex, &until) != 0)
            break;
    while (!file->closing && !file->failed && file->synced == file->written)
        pthread_cond_wait(&file->changed, &file->mutex);
    if (file->failed || file->record_count > conversation_classes_records_max(file->classes))
        work = WORK_REWRITE;
    else if (file->synced != file->written)
        work = WORK_SYNC;
    pthread_mutex_unlock(&file->mutex);
    return work;
}

static void *run(void *ctx)
{
    struct class_file *file = ctx;
    for (;;) {
        enum work work = next_work(file);
        bool ok = true;
        if (work == WORK_SYNC)
            sync_records(file);
        else if (work == WORK_REWRITE)
            ok = rewrite(file);
        pthread_mutex_lock(&file->mutex);
        bool end = file->closing && (!ok || file->synced == file->written);
        pthread_mutex_unlock(&file->mutex);
        if (end)
            return NULL;
    }
}

/* --- life --- */

static enum td_status read_file(struct class_file *file, struct td_error *err)
{
    struct buf text;
    struct td_error unread = {0};
    size_t damaged = 0;
    buf_init(&text, FILE_BYTES_MAX);
    enum td_status status = buf_read_file(&text, file->path, &unread);
    if (status == TD_OK && !conversation_classes_read(file->classes, buf_view(&text), &damaged))
        status = error_set(err, TD_CORRUPT,
                           "%s is no list of conversations' classes; move it away, and the classes "
                           "of conversations that go on are not known",
                           file->path);
    else if (status == TD_NOT_FOUND) /* a first start; no word of it to the caller */
        status = TD_OK;
    else if (status != TD_OK)
        error_set(err, status, "%s", unread.message);
    if (damaged)
        log_event(LOG_LEVEL_WARN, "class_records_dropped", "file=%s records=%zu", file->path,
                  damaged);
    buf_deinit(&text);
    return status;
}

static enum td_status start(struct class_file *file, struct td_error *err)
{
    enum td_status status = read_file(file, err);
    if (status == TD_OK && !rewrite(file))
        status = error_set(err, TD_IO, "%s", file->failure.message);
    if (status == TD_OK && pthread_create(&file->thread, NULL, run, file) != 0)
        status = error_set(err, TD_NO_MEMORY, "no thread to keep the classes of conversations");
    return status;
}

static void free_file(struct class_file *file)
{
    if (file->fd >= 0)
        close(file->fd);
    buf_deinit(&file->fresh);
    pthread_cond_destroy(&file->changed);
    pthread_mutex_destroy(&file->mutex);
    free(file);
}

enum td_status class_file_open(const char *path, struct conversation_classes *classes,
                               struct class_file **out, struct td_error *err)
{
    *out = NULL;
    struct class_file *file = calloc(1, sizeof *file);
    if (!file)
        return error_set(err, TD_NO_MEMORY, "no memory to keep the classes of conversations");
    pthread_mutex_init(&file->mutex, NULL);
    clock_cond_init(&file->changed);
    buf_init(&file->fresh, FILE_BYTES_MAX);
    file->fd = -1;
    file->classes = classes;
    enum td_status status = path_format(file->path, sizeof file->path, err, "%s", path);
    if (status == TD_OK)
        status =
            path_format(file->draft, sizeof file->draft, err, "%s.%ld.part", path, (long)getpid());
    if (status == TD_OK)
        status = start(file, err);
    if (status != TD_OK) {
        free_file(file);
        return status;
    }
    conversation_classes_watch(classes, append, file);
    *out = file;
    return TD_OK;
}

void class_file_close(struct class_file *file)
{
    if (!file)
        return;
    conversation_classes_watch(file->classes, NULL, NULL);
    pthread_mutex_lock(&file->mutex);
    file->closing = true;
    pthread_cond_broadcast(&file->changed);
    pthread_mutex_unlock(&file->mutex);
    pthread_join(file->thread, NULL);
    free_file(file);
}

/* --- use --- */

/* A file that was removed or replaced is written again. */
static void look_locked(struct class_file *file)
{
    struct stat named, held;
    if (fstat(file->fd, &held) == 0 && lstat(file->path, &named) == 0 &&
        held.st_dev == named.st_dev && held.st_ino == named.st_ino)
        return;
    fail_locked(file, "was removed or replaced, and is written again", ENOENT);
    pthread_cond_broadcast(&file->changed);
}

enum td_status class_file_check(struct class_file *file, struct td_error *err)
{
    enum td_status status = TD_OK;
    pthread_mutex_lock(&file->mutex);
    if (!file->failed)
        look_locked(file);
    if (file->failed)
        status = error_set(err, TD_IO, "%s", file->failure.message);
    pthread_mutex_unlock(&file->mutex);
    return status;
}

enum td_status class_file_flush(struct class_file *file, uint32_t timeout_ms, struct td_error *err)
{
    struct timespec until = clock_deadline(timeout_ms);
    enum td_status status = TD_OK;
    int code = 0;
    pthread_mutex_lock(&file->mutex);
    uint64_t target = file->written;
    while (file->synced < target && code == 0)
        code = pthread_cond_timedwait(&file->changed, &file->mutex, &until);
    if (file->synced < target)
        status = error_set(err, file->failed ? TD_IO : TD_TIMEOUT,
                           file->failed ? "%s" : "%s: not on the disk in time",
                           file->failed ? file->failure.message : file->path);
    pthread_mutex_unlock(&file->mutex);
    return status;
}
