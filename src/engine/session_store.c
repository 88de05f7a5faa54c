/* Sessions into files and memory and back: the public side of session_file.h. */
#include "base/error.h"
#include "engine/memory.h"
#include "engine/session.h"
#include "engine/session_file.h"

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
    return error_set(err, TD_UNSUPPORTED,
                     "a session with adapters cannot be saved or restored: its values are theirs");
}

static enum td_status io_error(const char *what, const char *path, struct td_error *err)
{
    return error_set(err, TD_IO, "cannot %s %s: %s", what, path, strerror(errno));
}

/* --- memory --- */

enum td_status td_session_export(const struct td_session *session, uint32_t begin, uint32_t count,
                                 void *out, size_t capacity, size_t *bytes, struct td_error *err)
{
    const struct sequence *sequence = &session->sequence;
    *bytes = 0;
    enum td_status status = refuse_adapters(session, err);
    if (status != TD_OK)
        return status;
    if (begin > sequence->length || count > sequence->length - begin)
        return error_set(err, TD_INVALID, "positions %u to %" PRIu64 " of a session that holds %u",
                         begin, (uint64_t)begin + count, sequence->length);
    *bytes = (size_t)session_file_bytes(sequence, count);
    if (*bytes > capacity)
        return error_set(err, TD_LIMIT, "%u positions take %zu bytes, there is room for %zu", count,
                         *bytes, capacity);
    session_file_write(sequence, begin, count, out);
    return TD_OK;
}

enum td_status td_session_import(struct td_session *session, const void *data, size_t bytes,
                                 struct td_error *err)
{
    enum td_status status = refuse_adapters(session, err);
    if (status == TD_OK)
        status = session_file_verify(&session->sequence, data, bytes, err);
    return status == TD_OK ? session_file_read(&session->sequence, data, err) : status;
}

/* --- files --- */

static enum td_status write_all(int fd, const uint8_t *data, size_t size, const char *path,
                                struct td_error *err)
{
    while (size) {
        ssize_t written = write(fd, data, size);
        if (written < 0 && errno == EINTR)
            continue;
        if (written <= 0)
            return io_error("write", path, err);
        data += written;
        size -= (size_t)written;
    }
    return fsync(fd) == 0 ? TD_OK : io_error("write", path, err);
}

/* Under another name first, so that the file is whole or not there. */
static enum td_status write_file(const char *path, const uint8_t *data, size_t size,
                                 struct td_error *err)
{
    char part[4096];
    if ((size_t)snprintf(part, sizeof part, "%s.part", path) >= sizeof part)
        return error_set(err, TD_INVALID, "a path of more than %zu bytes", sizeof part);
    int fd = open(part, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (fd < 0)
        return io_error("write", part, err);
    enum td_status status = write_all(fd, data, size, part, err);
    close(fd);
    if (status == TD_OK && rename(part, path) != 0)
        status = io_error("write", path, err);
    if (status != TD_OK)
        unlink(part);
    return status;
}

enum td_status td_session_save(const struct td_session *session, const char *path,
                               struct td_error *err)
{
    uint64_t bytes = session_file_bytes(&session->sequence, session->sequence.length);
    enum td_status status = refuse_adapters(session, err);
    if (status != TD_OK)
        return status;
    uint8_t *data = memory_map(bytes);
    if (data == NULL)
        return error_set(err, TD_NO_MEMORY, "no memory for a session file of %" PRIu64 " bytes",
                         bytes);
    session_file_write(&session->sequence, 0, session->sequence.length, data);
    status = write_file(path, data, (size_t)bytes, err);
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

/* The bytes of an open file into `data`, as many as its header says and the sequence can hold. */
static enum td_status read_file(int fd, const char *path, const struct sequence *sequence,
                                uint8_t **data, uint64_t *bytes, struct td_error *err)
{
    uint8_t header[SESSION_FILE_HEADER_BYTES];
    struct stat stat;
    size_t got;
    enum td_status status = read_all(fd, header, sizeof header, &got, path, err);
    if (status == TD_OK && got < sizeof header)
        status =
            error_set(err, TD_CORRUPT, "%zu bytes, the header alone has %zu", got, sizeof header);
    if (status == TD_OK)
        status = session_file_check(sequence, header, bytes, err);
    if (status == TD_OK && fstat(fd, &stat) != 0)
        status = io_error("read", path, err);
    if (status == TD_OK && (uint64_t)stat.st_size != *bytes)
        status = error_set(err, TD_CORRUPT,
                           "%" PRIu64 " bytes, there should be %" PRIu64
                           ": it was cut off or something was added",
                           (uint64_t)stat.st_size, *bytes);
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

enum td_status td_session_load(struct td_session *session, const char *path, struct td_error *err)
{
    uint8_t *data = NULL;
    uint64_t bytes = 0;
    enum td_status status = refuse_adapters(session, err);
    if (status != TD_OK)
        return status;
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return error_set(err, errno == ENOENT ? TD_NOT_FOUND : TD_IO, "cannot open %s: %s", path,
                         strerror(errno));
    struct sequence empty = session->sequence; /* only looked at */
    empty.length = 0;
    status = read_file(fd, path, &empty, &data, &bytes, err);
    if (status == TD_OK) {
        td_session_truncate(session, 0);
        status = session_file_read(&session->sequence, data, err);
    } else {
        error_prefix(err, "%s", path);
    }
    memory_unmap(data, bytes);
    close(fd);
    return status;
}
