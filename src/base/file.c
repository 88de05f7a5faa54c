#include "base/file.h"

#include "base/error.h"
#include "base/str.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

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

enum td_status file_replace(const char *path, struct td_str text, unsigned mode,
                            struct td_error *err)
{
    char partial[4096];
    if (snprintf(partial, sizeof partial, "%s.%ld.part", path, (long)getpid()) >=
        (int)sizeof partial)
        return error_set(err, TD_INVALID, "a path is longer than %zu bytes", sizeof partial);
    enum td_status status = TD_OK;
    int fd = open(partial, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode);
    if (fd < 0 || !write_whole(fd, text) || fsync(fd) != 0 || rename(partial, path) != 0)
        status = error_set(err, TD_IO, "cannot write %s: %s", path, strerror(errno));
    if (fd >= 0)
        close(fd);
    if (fd >= 0 && status != TD_OK)
        unlink(partial);
    return status;
}
