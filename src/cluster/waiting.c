#include "cluster/waiting.h"

#include "base/bytes/buf.h"
#include "base/bytes/file.h"
#include "base/core/error.h"
#include "base/core/str.h"
#include "base/time/log.h"

#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Larger than any record of the ledger with its JSON escapes. */
#define LINE_BYTES_MAX ((size_t)128 << 20)
#define PIECE_BYTES 65536
/* A reading ends after so much, however few lines it is. */
#define READ_BYTES_MAX (8u << 20)

struct waiting {
    int fd;
    char *path;
    uint64_t bytes_max;
    uint64_t sent; /* bytes at the front that are done */
    uint64_t size;
    atomic_uint_fast64_t count, left;
};

/* Counts whole lines and cuts what follows the last one. */
static enum td_status look_through(struct waiting *waiting, struct td_error *err)
{
    char piece[PIECE_BYTES];
    uint64_t at = 0, whole = 0, count = 0;
    ssize_t got;
    int fd = waiting->fd;
    while ((got = pread(fd, piece, sizeof piece, (off_t)at)) > 0) {
        for (ssize_t i = 0; i < got; i++)
            if (piece[i] == '\n') {
                count++;
                whole = at + (uint64_t)i + 1;
            }
        at += (uint64_t)got;
    }
    if (got < 0 || (at > whole && ftruncate(fd, (off_t)whole) != 0))
        return error_set(err, TD_IO, "%s: %s", waiting->path, strerror(errno));
    if (at > whole)
        log_event(LOG_LEVEL_WARN, "waiting_half_line_dropped", "bytes=%llu",
                  (unsigned long long)(at - whole));
    waiting->size = whole;
    atomic_store(&waiting->count, count);
    atomic_store(&waiting->left, whole);
    return TD_OK;
}

enum td_status waiting_open(const char *path, uint64_t bytes_max, struct waiting **out,
                            struct td_error *err)
{
    *out = NULL;
    int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (fd < 0)
        return error_set(err, TD_IO, "cannot open %s: %s", path, strerror(errno));
    struct waiting *waiting = calloc(1, sizeof *waiting);
    struct stat info;
    if (fstat(fd, &info) != 0 || !S_ISREG(info.st_mode)) {
        close(fd);
        free(waiting);
        return error_set(err, TD_IO, "%s is not a regular file", path);
    }
    if (!waiting || !(waiting->path = strdup(path))) {
        close(fd);
        free(waiting);
        return error_set(err, TD_NO_MEMORY, "no memory for what waits for the database");
    }
    waiting->fd = fd;
    waiting->bytes_max = bytes_max;
    enum td_status status = look_through(waiting, err);
    if (status == TD_OK)
        *out = waiting;
    else
        waiting_close(waiting);
    return status;
}

void waiting_close(struct waiting *waiting)
{
    if (!waiting)
        return;
    close(waiting->fd);
    free(waiting->path);
    free(waiting);
}

enum td_status waiting_append(struct waiting *waiting, struct td_str lines, size_t count,
                              struct td_error *err)
{
    if (waiting->size > waiting->bytes_max || lines.len > waiting->bytes_max - waiting->size)
        return error_set(err, TD_LIMIT, "%s has its largest size of %llu bytes", waiting->path,
                         (unsigned long long)waiting->bytes_max);
    int fd = waiting->fd;
    if (!file_write_at(fd, lines, (off_t)waiting->size) || fdatasync(fd) != 0)
        return error_set(err, errno == ENOSPC ? TD_LIMIT : TD_IO, "cannot write %s: %s",
                         waiting->path, strerror(errno));
    waiting->size += lines.len;
    atomic_fetch_add(&waiting->count, count);
    atomic_fetch_add(&waiting->left, lines.len);
    return TD_OK;
}

/* Appends what follows to the buffer. */
static enum td_status read_on(struct waiting *waiting, struct buf *into, struct td_error *err)
{
    char piece[PIECE_BYTES];
    uint64_t at = waiting->sent + into->len, left = waiting->size - at;
    ssize_t got = pread(waiting->fd, piece, left < sizeof piece ? left : sizeof piece, (off_t)at);
    if (got <= 0)
        return error_set(err, TD_IO, "cannot read %s: %s", waiting->path,
                         got < 0 ? strerror(errno) : "it has become shorter");
    buf_append(into, piece, (size_t)got);
    return into->failed ? error_set(err, TD_NO_MEMORY, "no memory to read %s", waiting->path)
                        : TD_OK;
}

enum td_status waiting_read(struct waiting *waiting, struct json **lines, size_t count_max,
                            size_t *count, uint64_t *bytes, struct td_error *err)
{
    struct buf text;
    enum td_status status = TD_OK;
    size_t begin = 0, looked = 0; /* of the text: where a line begins, and where none ends before */
    *count = 0;
    buf_init(&text, LINE_BYTES_MAX);
    while (status == TD_OK && *count < count_max && begin < READ_BYTES_MAX &&
           waiting->sent + begin < waiting->size) {
        struct td_str left = str_slice(buf_view(&text), looked, text.len);
        const char *end = left.len ? memchr(left.data, '\n', left.len) : NULL;
        if (!end) {
            looked = text.len;
            status = read_on(waiting, &text, err);
            continue;
        }
        struct td_str line = {text.data + begin, (size_t)(end - text.data) - begin};
        status = json_parse(line, &lines[*count], NULL);
        if (status == TD_NO_MEMORY) {
            error_set(err, status, "no memory to read %s", waiting->path);
            break;
        }
        if (status != TD_OK) {
            lines[*count] = NULL;
            log_event(LOG_LEVEL_ERROR, "waiting_line_unreadable", "bytes=%zu", line.len);
        }
        status = TD_OK;
        ++*count;
        begin = looked = begin + line.len + 1;
    }
    *bytes = begin;
    buf_deinit(&text);
    return status;
}

void waiting_sent(struct waiting *waiting, size_t count, uint64_t bytes)
{
    waiting->sent += bytes;
    atomic_fetch_sub(&waiting->count, count);
    atomic_fetch_sub(&waiting->left, bytes);
    if (waiting->sent < waiting->size)
        return;
    if (ftruncate(waiting->fd, 0) != 0)
        return; /* the rows are sent again after a restart, and stand there once */
    waiting->sent = waiting->size = 0;
    atomic_store(&waiting->count, 0);
    atomic_store(&waiting->left, 0);
}

uint64_t waiting_count(const struct waiting *waiting)
{
    return waiting ? atomic_load(&waiting->count) : 0;
}

uint64_t waiting_bytes(const struct waiting *waiting)
{
    return waiting ? atomic_load(&waiting->left) : 0;
}
