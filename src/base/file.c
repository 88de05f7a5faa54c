/* Replaces a file so that a reader sees the old contents or the new ones, never a part: write
 * beside it, flush to the disk, rename. The name of the draft has the process id, so two processes
 * do not write to one draft. */
#include "base/file.h"

#include "base/error.h"
#include "base/path.h"
#include "base/str.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum td_status file_open_regular(const char *path, int flags, int *fd, uint64_t *bytes,
                                 struct td_error *err)
{
    assert(path && fd);
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

static bool write_whole(int fd, struct td_str text)
{
    while (text.len > 0) {
        ssize_t wrote = write(fd, text.data, text.len);
        if (wrote < 0 && errno == EINTR)
            continue;
        if (wrote <= 0)
            return false;
        text = str_slice(text, (size_t)wrote, text.len);
    }
    return true;
}

/* Makes the new name survive a loss of power. On a file system that cannot do this, the rename is
 * valid all the same. */
static void sync_folder(const char *path)
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

enum td_status file_replace(const char *path, struct td_str text, unsigned mode,
                            struct td_error *err)
{
    assert(path != NULL);
    char partial[4096];
    enum td_status status =
        path_format(partial, sizeof partial, err, "%s.%ld.part", path, (long)getpid());
    if (status != TD_OK)
        return status;
    unlink(partial); /* left by a dead process with our id */
    int fd = open(partial, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode);
    if (fd < 0 || !write_whole(fd, text) || fsync(fd) != 0 || rename(partial, path) != 0)
        status = error_set(err, TD_IO, "cannot write %s: %s", path, strerror(errno));
    if (fd >= 0)
        close(fd);
    if (fd >= 0 && status != TD_OK)
        unlink(partial);
    if (status == TD_OK)
        sync_folder(path);
    return status;
}
