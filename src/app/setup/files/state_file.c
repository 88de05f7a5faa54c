/* Folders of the state belong to the user who runs the program: mode 0700. */
#include "app/setup/files/state_file.h"

#include "base/bytes/file.h"
#include "base/bytes/path.h"
#include "base/core/assertion.h"
#include "base/core/error.h"
#include "base/core/str.h"

#include <errno.h>
#include <sys/stat.h>

enum td_status state_file_make_folders(const char *path, struct td_error *err)
{
    char folder[STATE_PATH_BYTES];
    enum td_status status = path_format(folder, sizeof folder, err, "%s", path);
    if (status != TD_OK)
        return status;
    for (char *at = folder + 1; *at; at++) {
        if (*at != '/')
            continue;
        *at = '\0';
        if (mkdir(folder, 0700) == 0)
            file_sync_folder(folder);
        else if (errno != EEXIST)
            return error_set(err, TD_IO,
                             "cannot make the folder %s: %s; choose another with TANDEM_STATE_DIR",
                             folder, strerror(errno));
        *at = '/';
    }
    return TD_OK;
}

enum td_status state_file_path(const struct config *config, const char *name,
                               char out[static STATE_PATH_BYTES], struct td_error *err)
{
    ASSERT(config->state_dir);
    enum td_status status = path_join(out, STATE_PATH_BYTES, config->state_dir, name, err);
    return status == TD_OK ? state_file_make_folders(out, err) : status;
}
