/* The bytes of a download and the state file beside them. PATH.part.json:
 *
 *   {"version":1, "url":U, "validator":V, "total":N, "piece_bytes":P,
 *    "done":[bytes of piece 0, ...]}
 *
 * The state is used only when URL, size and validator (ETag or date) are those of the answer that
 * the server just gave. Otherwise a file that changed in between would become halves of two files.
 * Without a validator, nothing is continued. The state is written under another name and renamed,
 * after the bytes themselves are on the disk. So a power cut leaves an older state, never a wrong
 * one. */
#include "net/download/download_part.h"

#include "base/bytes/buf.h"
#include "base/core/assertion.h"
#include "base/core/error.h"
#include "base/core/str.h"
#include "base/json/json.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

/* A piece is what one request asks for: large enough that requests cost nothing, and small enough
 * that parallel streams end together. The number of pieces is limited, so that the state stays
 * small. */
#define PIECE_BYTES_MIN (UINT64_C(1) << 20)
#define PIECE_BYTES_MAX (UINT64_C(64) << 20)
#define PIECES_WANTED 64
#define PIECES_MAX 65536
#define STATE_BYTES_MAX (2u << 20)
#define STATE_VERSION 1
/* Room left on the disk, so that other programs do not fail. */
#define SPACE_LEFT_BYTES (UINT64_C(1) << 20)
/* The same for a body without a length, which may have no end: a tenth of the room, at most so
 * many. */
#define SPACE_LEFT_ENDLESS_BYTES (UINT64_C(1) << 30)

static char *with_suffix(const char *path, const char *suffix)
{
    char *out = NULL;
    return asprintf(&out, "%s%s", path, suffix) < 0 ? NULL : out;
}

/* The file may be renamed or removed between being opened and being locked. What is locked then is
 * no longer a part, and writing to it would damage a model. */
static bool still_named(int fd, const char *path)
{
    struct stat opened, named;
    return fstat(fd, &opened) == 0 && lstat(path, &named) == 0 && opened.st_dev == named.st_dev &&
           opened.st_ino == named.st_ino;
}

enum td_status download_part_lock(const char *part_path, bool create, int *fd, struct td_error *err)
{
    ASSERT(part_path != NULL && fd != NULL);
    int flags = O_RDWR | O_CLOEXEC | O_NOFOLLOW | (create ? O_CREAT : 0);
    for (;;) {
        *fd = open(part_path, flags, 0644);
        if (*fd < 0)
            return error_set(err, TD_IO, "%s: %s", part_path, strerror(errno));
        bool locked = flock(*fd, LOCK_EX | LOCK_NB) == 0;
        if (locked && still_named(*fd, part_path))
            return TD_OK;
        close(*fd);
        *fd = -1;
        if (!locked)
            return error_set(err, TD_BUSY, "%s: another process is downloading it", part_path);
    }
}

enum td_status download_part_open(struct download_part *part, const char *path,
                                  struct td_error *err)
{
    ASSERT(part != NULL && path != NULL);
    *part = (struct download_part){.fd = -1, .total = UINT64_MAX};
    part->path = with_suffix(path, ".part");
    part->state_path = with_suffix(path, ".part.json");
    if (!part->path || !part->state_path)
        return error_set(err, TD_NO_MEMORY, "no memory for a download");
    return download_part_lock(part->path, true, &part->fd, err);
}

void download_part_close(struct download_part *part)
{
    struct stat file;
    bool endless = part->piece_count > 0 && part->total == UINT64_MAX;
    /* Our file was locked since it was opened, but another file may have its name now. */
    if (part->fd >= 0 && fstat(part->fd, &file) == 0 && (file.st_size == 0 || endless) &&
        still_named(part->fd, part->path)) {
        unlink(part->path); /* no bytes came, or none that are of use */
        unlink(part->state_path);
    }
    if (part->fd >= 0)
        close(part->fd);
    free(part->path);
    free(part->state_path);
    free(part->done);
    *part = (struct download_part){.fd = -1};
}

/* --- pieces --- */

static uint64_t choose_piece_bytes(uint64_t total)
{
    uint64_t bytes = total / PIECES_WANTED;
    bytes = bytes < PIECE_BYTES_MIN ? PIECE_BYTES_MIN : bytes;
    bytes = bytes > PIECE_BYTES_MAX ? PIECE_BYTES_MAX : bytes;
    while (total / bytes >= PIECES_MAX)
        bytes *= 2;
    return bytes;
}

static bool set_pieces(struct download_part *part, uint64_t piece_bytes)
{
    uint64_t count = part->total / piece_bytes + (part->total % piece_bytes != 0);
    if (part->total == UINT64_MAX || count == 0)
        count = 1;
    uint64_t *done = count <= PIECES_MAX ? calloc(count, sizeof *done) : NULL;
    if (done == NULL)
        return false;
    free(part->done);
    part->done = done;
    part->piece_count = (uint32_t)count;
    part->piece_bytes = piece_bytes;
    return true;
}

uint64_t download_part_piece_bytes(const struct download_part *part, uint32_t piece)
{
    ASSERT(piece < part->piece_count);
    if (part->total == UINT64_MAX)
        return UINT64_MAX;
    uint64_t begin = piece * part->piece_bytes;
    uint64_t left = part->total - begin;
    return left < part->piece_bytes ? left : part->piece_bytes;
}

uint64_t download_part_done_bytes(const struct download_part *part)
{
    uint64_t sum = 0;
    for (uint32_t i = 0; i < part->piece_count; i++)
        sum += part->done[i];
    return sum;
}

static enum td_status fail_no_room(const struct download_part *part, struct td_error *err)
{
    const char *text = "the server names no length, and more came than";
    double room = (double)part->room / 1e6;
    if (part->room_of == 0)
        return error_set(err, TD_LIMIT, "%s: %s the %.1f MB that models.file_mb_max allows",
                         part->path, text, room);
    return error_set(err, TD_LIMIT, "%s: %s %.1f MB, while the file system had %.1f MB free",
                     part->path, text, room, (double)part->room_of / 1e6);
}

enum td_status download_part_write(struct download_part *part, uint32_t piece, const void *data,
                                   size_t len, struct td_error *err)
{
    ASSERT(piece < part->piece_count && part->fd >= 0);
    if (len > download_part_piece_bytes(part, piece) - part->done[piece])
        return error_set(err, TD_CORRUPT, "the server sent more bytes than it was asked for");
    if (part->total == UINT64_MAX && len > part->room - part->done[piece])
        return fail_no_room(part, err);
    const char *bytes = data;
    while (len > 0) {
        off_t at = (off_t)(piece * part->piece_bytes + part->done[piece]);
        ssize_t written = pwrite(part->fd, bytes, len, at);
        if (written < 0 && errno == EINTR)
            continue;
        if (written <= 0)
            return error_set(err, TD_IO, "%s: %s", part->path,
                             written < 0 ? strerror(errno) : "nothing could be written");
        part->done[piece] += (uint64_t)written;
        bytes += written;
        len -= (size_t)written;
    }
    return TD_OK;
}

/* --- state --- */

bool download_part_read_state(struct download_part *part, struct td_str text)
{
    struct json *state = NULL;
    if (json_parse(text, &state, NULL) != TD_OK)
        return false;
    const struct json *done = json_get(state, "done");
    int64_t piece_bytes = json_int(json_get(state, "piece_bytes"), 0);
    bool good = json_int(json_get(state, "version"), 0) == STATE_VERSION && part->url &&
                str_equal(json_text(json_get(state, "url")), str_from(part->url)) &&
                str_equal(json_text(json_get(state, "validator")), str_from(part->validator)) &&
                json_int(json_get(state, "total"), -1) == (int64_t)part->total &&
                piece_bytes >= (int64_t)PIECE_BYTES_MIN && part->total <= INT64_MAX &&
                json_kind_of(done) == JSON_KIND_ARRAY && set_pieces(part, (uint64_t)piece_bytes) &&
                json_count(done) == part->piece_count;
    for (uint32_t i = 0; good && i < part->piece_count; i++) {
        int64_t bytes = json_int(json_at(done, i), -1);
        good = bytes >= 0 && (uint64_t)bytes <= download_part_piece_bytes(part, i);
        if (good)
            part->done[i] = (uint64_t)bytes;
    }
    json_free(state);
    return good;
}

static bool load_state(struct download_part *part)
{
    struct buf text;
    struct stat file;
    buf_init(&text, STATE_BYTES_MAX);
    bool good = part->total != UINT64_MAX && *part->validator && fstat(part->fd, &file) == 0 &&
                buf_read_file(&text, part->state_path, NULL) == TD_OK &&
                download_part_read_state(part, buf_view(&text));
    /* Bytes beyond the end of the file cannot have been written. */
    for (uint32_t i = 0; good && i < part->piece_count; i++)
        good =
            part->done[i] == 0 || i * part->piece_bytes + part->done[i] <= (uint64_t)file.st_size;
    buf_deinit(&text);
    return good;
}

enum td_status download_part_clear(struct download_part *part, struct td_error *err)
{
    if (unlink(part->state_path) != 0 && errno != ENOENT)
        return error_set(err, TD_IO, "%s: %s", part->state_path, strerror(errno));
    if (ftruncate(part->fd, 0) != 0)
        return error_set(err, TD_IO, "%s: %s", part->path, strerror(errno));
    for (uint32_t i = 0; i < part->piece_count; i++)
        part->done[i] = 0;
    return TD_OK;
}

enum td_status download_part_plan(struct download_part *part, const char *url, uint64_t total,
                                  const char *validator, uint64_t *resumed, struct td_error *err)
{
    ASSERT(part->fd >= 0);
    part->url = url;
    part->total = total;
    snprintf(part->validator, sizeof part->validator, "%s", validator);
    *resumed = 0;
    if (load_state(part)) {
        *resumed = download_part_done_bytes(part);
        return TD_OK;
    }
    /* A download that cannot be continued is one piece. */
    bool whole = total == UINT64_MAX || !*part->validator;
    if (!set_pieces(part, whole ? UINT64_MAX : choose_piece_bytes(total)))
        return error_set(err, TD_NO_MEMORY, "no memory for a download");
    return download_part_clear(part, err);
}

static enum td_status write_file(const char *path, struct td_str text, struct td_error *err)
{
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (fd < 0)
        return error_set(err, TD_IO, "%s: %s", path, strerror(errno));
    bool good = write(fd, text.data, text.len) == (ssize_t)text.len && fsync(fd) == 0;
    int cause = errno;
    good &= close(fd) == 0;
    return good ? TD_OK : error_set(err, TD_IO, "%s: %s", path, strerror(cause));
}

enum td_status download_part_save(struct download_part *part, struct td_error *err)
{
    if (part->total == UINT64_MAX || part->total > INT64_MAX || !*part->validator)
        return TD_OK; /* it could not be continued anyway */
    struct json *state = json_new_object(), *done = json_new_array();
    json_put(state, "version", json_new_int(STATE_VERSION));
    json_put(state, "url", json_new_cstr(part->url));
    json_put(state, "validator", json_new_cstr(part->validator));
    json_put(state, "total", json_new_int((int64_t)part->total));
    json_put(state, "piece_bytes", json_new_int((int64_t)part->piece_bytes));
    for (uint32_t i = 0; i < part->piece_count; i++)
        json_push(done, json_new_int((int64_t)part->done[i]));
    json_put(state, "done", done);
    struct buf text;
    buf_init(&text, STATE_BYTES_MAX);
    json_write(state, &text);
    json_free(state);
    char *fresh = with_suffix(part->state_path, ".new");
    enum td_status status = TD_OK;
    if (text.failed || fresh == NULL)
        status = error_set(err, TD_NO_MEMORY, "no memory for the state of a download");
    else if (fdatasync(part->fd) != 0)
        status = error_set(err, TD_IO, "%s: %s", part->path, strerror(errno));
    else
        status = write_file(fresh, buf_view(&text), err);
    if (status == TD_OK && rename(fresh, part->state_path) != 0)
        status = error_set(err, TD_IO, "%s: %s", part->state_path, strerror(errno));
    if (status != TD_OK && fresh)
        unlink(fresh);
    free(fresh);
    buf_deinit(&text);
    return status;
}

/* --- space --- */

static bool free_bytes_of(const struct download_part *part, uint64_t *out)
{
    struct statvfs system;
    return fstatvfs(part->fd, &system) == 0 &&
           !__builtin_mul_overflow((uint64_t)system.f_bavail, (uint64_t)system.f_frsize, out);
}

enum td_status download_part_check_space(struct download_part *part, uint64_t bytes_max,
                                         struct td_error *err)
{
    struct stat file;
    uint64_t free_bytes = UINT64_MAX;
    bool known = free_bytes_of(part, &free_bytes);
    uint64_t left = free_bytes / 10;
    left = left < SPACE_LEFT_ENDLESS_BYTES ? left : SPACE_LEFT_ENDLESS_BYTES;
    bool is_disk = !bytes_max || bytes_max > free_bytes - left;
    part->room = is_disk ? free_bytes - left : bytes_max;
    part->room_of = is_disk ? free_bytes : 0;
    if (part->total == UINT64_MAX)
        return TD_OK;
    if (bytes_max && part->total > bytes_max)
        return error_set(err, TD_LIMIT, "the file has %.1f MB; models.file_mb_max allows %.1f MB",
                         (double)part->total / 1e6, (double)bytes_max / 1e6);
    if (!known || fstat(part->fd, &file) != 0)
        return TD_OK; /* a write will show it */
    uint64_t there = (uint64_t)file.st_blocks * 512;
    uint64_t missing = part->total > there ? part->total - there : 0;
    if (missing == 0 || (free_bytes > SPACE_LEFT_BYTES && missing <= free_bytes - SPACE_LEFT_BYTES))
        return TD_OK;
    return error_set(err, TD_LIMIT,
                     "%s: %.1f MB are missing (of %.1f MB), the file system has %.1f MB free; "
                     "remove something or choose another folder with TANDEM_MODELS",
                     part->path, (double)missing / 1e6, (double)part->total / 1e6,
                     (double)free_bytes / 1e6);
}
