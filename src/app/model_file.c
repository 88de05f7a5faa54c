#include "app/model_file.h"

#include "base/error.h"
#include "base/str.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

/* From the executable's folder: installed; build/tandem; build/src/app/tandem. */
static const char *const beside[] = {
    "../share/tandem/nano.gguf",
    "../models/nano/nano.gguf",
    "../../../models/nano/nano.gguf",
};

enum td_status model_file_find(const char *wanted, char *out, size_t size, struct td_error *err)
{
    char folder[4096];
    if (!wanted || !*wanted)
        wanted = getenv("TANDEM_MODEL");
    if (wanted && *wanted) {
        if (snprintf(out, size, "%s", wanted) >= (int)size)
            return error_set(err, TD_INVALID, "the model's path is too long");
        return TD_OK;
    }
    ssize_t len = readlink("/proc/self/exe", folder, sizeof folder - 1);
    if (len <= 0)
        return error_set(err, TD_IO,
                         "cannot read /proc/self/exe to find the embedded model; name "
                         "one with TANDEM_MODEL or -m");
    folder[len] = '\0';
    *strrchr(folder, '/') = '\0';
    for (size_t i = 0; i < sizeof beside / sizeof *beside; i++)
        if (snprintf(out, size, "%s/%s", folder, beside[i]) < (int)size && access(out, R_OK) == 0)
            return TD_OK;
    return error_set(err, TD_NOT_FOUND,
                     "the embedded model nano.gguf is not at %s/%s nor in a "
                     "source tree; name a model with TANDEM_MODEL, engine.model or -m",
                     folder, beside[0]);
}
