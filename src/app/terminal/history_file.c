/* A text is added by one write to the end of the file, so that two programs do not mix theirs. The
 * file is made shorter when it is read and has twice as many texts as are kept. */
#include "app/terminal/history_file.h"

#include "base/bytes/file.h"
#include "base/core/error.h"
#include "base/core/str.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#define FILE_BYTES_MAX (8u << 20)
#define SHORTENED_AT (2 * HISTORY_TEXTS_MAX)

bool history_file_decode(struct td_str line, struct buf *out)
{
    buf_clear(out);
    for (size_t i = 0; i < line.len; i++) {
        char c = line.data[i];
        if (c == '\\') {
            if (++i == line.len || (line.data[i] != 'n' && line.data[i] != '\\'))
                return false;
            c = line.data[i] == 'n' ? '\n' : '\\';
        }
        if (c == '\0' || out->len >= HISTORY_TEXT_BYTES_MAX)
            return false;
        buf_append_char(out, c);
    }
    return !out->failed && out->len > 0;
}

static void encode(struct td_str text, struct buf *out)
{
    for (size_t i = 0; i < text.len; i++) {
        if (text.data[i] == '\n')
            buf_append_str(out, STR("\\n"));
        else if (text.data[i] == '\\')
            buf_append_str(out, STR("\\\\"));
        else
            buf_append_char(out, text.data[i]);
    }
    buf_append_char(out, '\n');
}

/* Opens it where it is this user's own; others may not read it any more. */
static enum td_status open_own(const char *path, int flags, int *fd, struct td_error *err)
{
    struct stat info;
    *fd = open(path, flags | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY, 0600);
    if (*fd < 0)
        return error_set(err, errno == ENOENT ? TD_NOT_FOUND : TD_IO, "%s: %s", path,
                         errno == ELOOP ? "it is a link" : strerror(errno));
    enum td_status status = TD_OK;
    if (fstat(*fd, &info) != 0)
        status = error_set(err, TD_IO, "%s: %s", path, strerror(errno));
    else if (!S_ISREG(info.st_mode))
        status = error_set(err, TD_IO, "%s: not a regular file", path);
    else if (info.st_uid != geteuid())
        status = error_set(err, TD_DENIED, "%s belongs to another user (uid %u)", path,
                           (unsigned)info.st_uid);
    else if ((info.st_mode & 077) && fchmod(*fd, 0600) != 0)
        status = error_set(err, TD_IO, "%s: others may read it, and it cannot be changed: %s", path,
                           strerror(errno));
    if (status != TD_OK) {
        close(*fd);
        *fd = -1;
    }
    return status;
}

static enum td_status read_all(const char *path, int fd, struct buf *out, struct td_error *err)
{
    char piece[8192];
    ssize_t got;
    while ((got = read(fd, piece, sizeof piece)) > 0)
        buf_append(out, piece, (size_t)got);
    if (got < 0)
        return error_set(err, TD_IO, "%s: %s", path, strerror(errno));
    return out->failed
               ? error_set(err, TD_LIMIT, "%s is longer than %u bytes", path, FILE_BYTES_MAX)
               : TD_OK;
}

static size_t count_lines(struct td_str text)
{
    size_t count = 0;
    struct td_str line;
    while (str_next(&text, '\n', &line))
        count++;
    return count;
}

enum td_status history_file_read(const char *path, void (*each)(void *ctx, struct td_str text),
                                 void *ctx, struct td_error *err)
{
    int fd;
    struct td_error absent = {0};
    struct buf all, text;
    enum td_status status = open_own(path, O_RDONLY, &fd, &absent);
    if (status == TD_NOT_FOUND)
        return TD_OK;
    if (status != TD_OK)
        return error_set(err, status, "%s", absent.message);
    buf_init(&all, FILE_BYTES_MAX);
    buf_init(&text, HISTORY_TEXT_BYTES_MAX + 1);
    status = read_all(path, fd, &all, err);
    close(fd);
    struct td_str rest = buf_view(&all), line;
    size_t count = count_lines(rest), passed = 0;
    size_t over = count > HISTORY_TEXTS_MAX ? count - HISTORY_TEXTS_MAX : 0;
    while (status == TD_OK && passed < over && str_next(&rest, '\n', &line))
        passed++;
    if (status == TD_OK && count > SHORTENED_AT)
        status = file_replace(path, rest, 0600, err);
    while (status == TD_OK && str_next(&rest, '\n', &line))
        if (history_file_decode(line, &text))
            each(ctx, buf_view(&text));
    buf_deinit(&text);
    buf_deinit(&all);
    return status;
}

enum td_status history_file_add(const char *path, struct td_str text, struct td_error *err)
{
    int fd;
    struct buf line;
    if (!text.len || text.len > HISTORY_TEXT_BYTES_MAX)
        return TD_OK;
    enum td_status status = open_own(path, O_WRONLY | O_APPEND | O_CREAT, &fd, err);
    if (status != TD_OK)
        return status;
    buf_init(&line, 2 * HISTORY_TEXT_BYTES_MAX + 2);
    encode(text, &line);
    if (write(fd, line.data, line.len) != (ssize_t)line.len)
        status = error_set(err, TD_IO, "%s: %s", path, strerror(errno));
    close(fd);
    buf_deinit(&line);
    return status;
}
