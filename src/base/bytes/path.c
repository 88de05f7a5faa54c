/* A path that does not fit its buffer must never be opened: snprintf would cut it, and the rest can
 * name another file that exists. So every path of several parts is built here, and a path that is
 * too long is an error that says so, with an empty text left in the buffer. */
#include "base/bytes/path.h"

#include "base/core/assertion.h"
#include "base/core/error.h"

#include <errno.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

enum td_status path_format(char *out, size_t size, struct td_error *err, const char *format, ...)
{
    ASSERT(out != NULL && size > 0);
    va_list args;
    va_start(args, format);
    int len = vsnprintf(out, size, format, args);
    va_end(args);
    if (len >= 0 && (size_t)len < size)
        return TD_OK;
    error_set(err, TD_INVALID, "the path '%.200s...' is too long: %zu bytes are possible", out,
              size - 1);
    out[0] = '\0';
    errno = ENAMETOOLONG;
    return TD_INVALID;
}

enum td_status path_join(char *out, size_t size, const char *folder, const char *name,
                         struct td_error *err)
{
    ASSERT(folder != NULL && name != NULL);
    return path_format(out, size, err, "%s/%s", folder, name);
}

enum td_status path_make_parents(const char *path, unsigned mode, struct td_error *err)
{
    char folder[PATH_MAX];
    ASSERT(path != NULL);
    enum td_status status = path_format(folder, sizeof folder, err, "%s", path);
    if (status != TD_OK)
        return status;
    for (char *at = folder; (at = strchr(at, '/')) != NULL; at++) {
        *at = '\0';
        if (at > folder && mkdir(folder, mode) != 0 && errno != EEXIST)
            return error_set(err, TD_IO, "cannot make the folder %s: %s", folder, strerror(errno));
        *at = '/';
    }
    return TD_OK;
}
