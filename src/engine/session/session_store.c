/* Saves sessions to files and memory and restores them: the public side of session_file.h. A file
 * is written under another name and then renamed, so it is whole or absent. It is read into memory
 * and checked there before the session gives up anything, so a bad file changes nothing. */
#include "base/bytes/file.h"
#include "base/core/assertion.h"
#include "base/core/error.h"
#include "engine/model/memory.h"
#include "engine/session/session.h"
#include "engine/session/session_file.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static enum td_status refuse_adapters(const struct td_session *session, struct td_error *err)
{
    if (session->sequence.adapters == NULL)
        return TD_OK;
    return error_set(
        err, TD_UNSUPPORTED,
        "a session with adapters cannot be saved or restored: its values depend on them");
}

static enum td_status io_error(const char *what, const char *path, struct td_error *err)
{
    return error_set(err, TD_IO, "cannot %s %s: %s", what, path, strerror(errno));
}

/* --- memory --- */

enum td_status td_session_export(const struct td_session *session, uint32_t begin, uint32_t count,
                                 void *out, size_t capacity, size_t *bytes, struct td_error *err)
{
    ASSERT(session != NULL && bytes != NULL && (out != NULL || capacity == 0));
    const struct sequence *sequence = &session->sequence;
    *bytes = 0;
    enum td_status status = refuse_adapters(session, err);
    if (status != TD_OK)
        return status;
    if (begin > sequence->length || count > sequence->length - begin)
        return error_set(err, TD_INVALID, "positions %u to %" PRIu64 " of a session that holds %u",
                         begin, (uint64_t)begin + count, sequence->length);
    *bytes = (size_t)session_file_bytes(sequence, begin, count);
    if (*bytes > capacity)
        return error_set(err, TD_LIMIT, "%u positions take %zu bytes, there is room for %zu", count,
                         *bytes, capacity);
    session_file_write(sequence, begin, count, out);
    return TD_OK;
}

enum td_status td_session_import(struct td_session *session, const void *data, size_t bytes,
                                 struct td_error *err)
{
    ASSERT(session != NULL && (data != NULL || bytes == 0));
    enum td_status status = refuse_adapters(session, err);
    if (status == TD_OK)
        status = session_file_verify(&session->sequence, data, bytes, err);
    return status == TD_OK ? session_file_read(&session->sequence, data, err) : status;
}

/* --- files --- */

enum td_status td_session_save(const struct td_session *session, const char *path,
                               struct td_error *err)
{
    ASSERT(session != NULL && path != NULL);
    uint64_t bytes = session_file_bytes(&session->sequence, 0, session->sequence.length);
    enum td_status status = refuse_adapters(session, err);
    if (status != TD_OK)
        return status;
    uint8_t *data = memory_map(bytes);
    if (data == NULL)
        return error_set(err, TD_NO_MEMORY, "no memory for a session file of %" PRIu64 " bytes",
                         bytes);
    session_file_write(&session->sequence, 0, session->sequence.length, data);
    status = file_replace(path, (struct td_str){(const char *)data, (size_t)bytes}, 0600, err);
    memory_unmap(data, bytes);
    return status;
}

/* Reads up to `size` bytes; fewer only at the end of the file. */
static enum td_status read_all(int fd, uint8_t *data, size_t size, size_t *got, const char *path,
                               struct td_error *err)
{
    *got = 0;
    while (*got < size) {
        ssize_t part = read(fd, data + *got, size - *got);
        if (part < 0 && errno == EINTR)
            continue;
        if (part < 0)
            return io_error("read", path, err);
        if (part == 0)
            break;
        *got += (size_t)part;
    }
    return TD_OK;
}

/* Opens a regular file. It does not wait for the writer of a FIFO, which is then refused. */
static enum td_status open_file(const char *path, int *fd, uint64_t *bytes, struct td_error *err)
{
    struct stat stat;
    *fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (*fd < 0)
        return error_set(err, errno == ENOENT ? TD_NOT_FOUND : TD_IO, "cannot open %s: %s", path,
                         strerror(errno));
    if (fstat(*fd, &stat) != 0)
        return io_error("read", path, err);
    if (!S_ISREG(stat.st_mode))
        return error_set(err, TD_IO, "cannot read %s: it is not a regular file", path);
    *bytes = (uint64_t)stat.st_size;
    return TD_OK;
}

/* Reads an open file into `data`: as many bytes as its header says, if the sequence can hold
 * them. */
static enum td_status read_file(int fd, const char *path, uint64_t file_bytes,
                                const struct sequence *sequence, uint8_t **data, uint64_t *bytes,
                                struct td_error *err)
{
    uint8_t header[SESSION_FILE_HEADER_BYTES];
    size_t got;
    enum td_status status = read_all(fd, header, sizeof header, &got, path, err);
    if (status == TD_OK && got < sizeof header)
        status =
            error_set(err, TD_CORRUPT, "%zu bytes, the header alone has %zu", got, sizeof header);
    if (status == TD_OK)
        status = session_file_check(sequence, header, bytes, err);
    if (status == TD_OK && file_bytes != *bytes)
        status = error_set(err, TD_CORRUPT,
                           "%" PRIu64 " bytes, there should be %" PRIu64
                           ": it was cut off or something was added",
                           file_bytes, *bytes);
    if (status != TD_OK)
        return status;
    *data = memory_map(*bytes);
    if (*data == NULL)
        return error_set(err, TD_NO_MEMORY, "no memory for %" PRIu64 " bytes", *bytes);
    memcpy(*data, header, sizeof header);
    status = read_all(fd, *data + sizeof header, (size_t)*bytes - sizeof header, &got, path, err);
    if (status == TD_OK)
        status = session_file_verify(sequence, *data, got + sizeof header, err);
    return status;
}

/* Replaces the cached positions. Missing pages are reserved before any position is given up. */
static enum td_status replace(struct sequence *sequence, const uint8_t *data, struct td_error *err)
{
    uint32_t count = session_file_count(data);
    enum td_status status = TD_OK;
    if (count > sequence->length)
        status = sequence_reserve(sequence, count - sequence->length, err);
    if (status != TD_OK)
        return status;
    sequence_truncate(sequence, 0);
    return session_file_read(sequence, data, err);
}

enum td_status td_session_load(struct td_session *session, const char *path, struct td_error *err)
{
    ASSERT(session != NULL && path != NULL);
    uint8_t *data = NULL;
    uint64_t bytes = 0, file_bytes = 0;
    int fd = -1;
    enum td_status status = refuse_adapters(session, err);
    if (status == TD_OK)
        status = open_file(path, &fd, &file_bytes, err);
    if (status != TD_OK)
        goto out;
    struct sequence empty = session->sequence; /* a copy for the check only */
    empty.length = 0;
    status = read_file(fd, path, file_bytes, &empty, &data, &bytes, err);
    if (status == TD_OK)
        status = replace(&session->sequence, data, err);
    else
        error_prefix(err, "%s", path);
    memory_unmap(data, bytes);
out:
    if (fd >= 0)
        close(fd);
    return status;
}
