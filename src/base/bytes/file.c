/* Replaces a file so that a reader sees the old contents or the new ones, never a part: write
 * beside it, flush to the disk, rename. The name of the draft has the process id, so two processes
 * do not write to one draft. */
#include "base/bytes/file.h"

#include "base/bytes/path.h"
#include "base/core/assertion.h"
#include "base/core/error.h"
#include "base/core/str.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

enum td_status file_open_regular(const char *path, int flags, int *fd, uint64_t *bytes,
                                 struct td_error *err)
{
    ASSERT(path && fd);
    struct stat info;
    *fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY | flags);
    if (*fd < 0)
        return error_set(err, errno == ENOENT ? TD_NOT_FOUND : TD_IO, "%s: %s", path,
                         strerror(errno));
    bool known = fstat(*fd, &info) == 0;
    if (known && S_ISREG(info.st_mode)) {
        if (bytes)
            *bytes = (uint64_t)info.st_size;
        return TD_OK;
    }
    error_set(err, TD_IO, "%s: %s", path, known ? "not a regular file" : strerror(errno));
    close(*fd);
    *fd = -1;
    errno = EINVAL;
    return TD_IO;
}

enum td_status file_check_regular(const char *path, struct td_error *err)
{
    int fd = -1;
    enum td_status status = path ? file_open_regular(path, 0, &fd, NULL, err) : TD_OK;
    if (fd >= 0)
        close(fd);
    return status;
}

enum td_status file_map(const char *path, size_t bytes_max, struct td_str *out,
                        struct td_error *err)
{
    int fd;
    uint64_t bytes;
    enum td_status status = file_open_regular(path, 0, &fd, &bytes, err);
    if (status != TD_OK)
        return status;
    if (bytes == 0 || bytes > bytes_max) {
        close(fd);
        return error_set(err, TD_LIMIT, "%s: %llu bytes; it may have 1 to %zu", path,
                         (unsigned long long)bytes, bytes_max);
    }
    void *data = mmap(NULL, bytes, PROT_READ, MAP_PRIVATE, fd, 0);
    int code = errno;
    close(fd);
    if (data == MAP_FAILED)
        return error_set(err, TD_IO, "%s: cannot be mapped: %s", path, strerror(code));
    *out = (struct td_str){data, bytes};
    return TD_OK;
}

void file_unmap(struct td_str file)
{
    if (file.len > 0)
        munmap((void *)(uintptr_t)file.data, file.len);
}

void file_rest(struct td_str file)
{
    if (file.len > 0)
        (void)madvise((void *)(uintptr_t)file.data, file.len, MADV_DONTNEED);
}

bool file_write_at(int fd, struct td_str text, off_t at)
{
    while (text.len > 0) {
        ssize_t wrote = pwrite(fd, text.data, text.len, at);
        if (wrote < 0 && errno == EINTR)
            continue;
        if (wrote <= 0)
            return false;
        text = str_slice(text, (size_t)wrote, text.len);
        at += wrote;
    }
    return true;
}

/* On a file system that cannot do this, the names are valid all the same. */
void file_sync_folder(const char *path)
{
    char folder[4096];
    const char *slash = strrchr(path, '/');
    snprintf(folder, sizeof folder, "%.*s", slash ? (int)(slash - path + 1) : 1,
             slash ? path : ".");
    int fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0)
        return;
    (void)fsync(fd);
    close(fd);
}

/* Writes the draft of a file and flushes it to the disk. */
static enum td_status write_draft(const char *path, struct td_str text, unsigned mode,
                                  char draft[static PATH_MAX], struct td_error *err)
{
    enum td_status status = path_format(draft, PATH_MAX, err, "%s.%ld.part", path, (long)getpid());
    if (status != TD_OK)
        return status;
    unlink(draft); /* left by a dead process with our id */
    int fd = open(draft, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode);
    if (fd < 0 || !file_write_at(fd, text, 0) || fsync(fd) != 0)
        status = error_set(err, TD_IO, "cannot write %s: %s", path, strerror(errno));
    if (fd >= 0)
        close(fd);
    if (fd >= 0 && status != TD_OK)
        unlink(draft);
    return status;
}

/* place gives the draft its name: rename takes it from whoever has it, link does not. */
static enum td_status put(const char *path, struct td_str text, unsigned mode,
                          int (*place)(const char *draft, const char *path), struct td_error *err)
{
    ASSERT(path != NULL);
    char draft[PATH_MAX];
    enum td_status status = write_draft(path, text, mode, draft, err);
    if (status != TD_OK)
        return status;
    if (place(draft, path) != 0)
        status = error_set(err, errno == EEXIST ? TD_BUSY : TD_IO, "cannot write %s: %s", path,
                           strerror(errno));
    if (status != TD_OK || place == link)
        unlink(draft);
    file_sync_folder(path);
    return status;
}

enum td_status file_replace(const char *path, struct td_str text, unsigned mode,
                            struct td_error *err)
{
    return put(path, text, mode, rename, err);
}

enum td_status file_create(const char *path, struct td_str text, unsigned mode,
                           struct td_error *err)
{
    return put(path, text, mode, link, err);
}

enum td_status file_remove(const char *path, struct td_error *err)
{
    ASSERT(path != NULL);
    if (unlink(path) != 0)
        return errno == ENOENT
                   ? TD_OK
                   : error_set(err, TD_IO, "cannot remove %s: %s", path, strerror(errno));
    file_sync_folder(path);
    return TD_OK;
}

bool file_read_line(FILE *file, struct buf *line)
{
    int c;
    bool begun = false;
    buf_clear(line);
    while ((c = getc_unlocked(file)) != EOF && c != '\n') {
        begun = true;
        if (!line->failed)
            buf_append_char(line, (char)c);
    }
    return c != EOF || begun;
}
