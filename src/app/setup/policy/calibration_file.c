/* The name of the file is enough to find it, and its contents say again what it belongs to: a file
 * that was copied under another name is not believed. */
#include "app/setup/policy/calibration_file.h"

#include "app/setup/files/state_file.h"
#include "app/setup/policy/confidence_file.h"
#include "base/bytes/file.h"
#include "base/bytes/path.h"
#include "base/core/error.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum td_status calibration_file_path(const char *state_dir,
                                     const struct confidence_binding *identity,
                                     char out[static CALIBRATION_PATH_BYTES], struct td_error *err)
{
    char digest[CONFIDENCE_DIGEST_BYTES];
    confidence_binding_digest(identity, digest);
    return path_format(out, CALIBRATION_PATH_BYTES, err, "%s/calibrations/%s.json", state_dir,
                       digest);
}

enum td_status calibration_file_find(const char *state_dir,
                                     const struct confidence_binding *identity,
                                     struct confidence_model **out, struct td_error *err)
{
    char path[CALIBRATION_PATH_BYTES], why[160];
    *out = NULL;
    enum td_status status = calibration_file_path(state_dir, identity, path, err);
    if (status != TD_OK || (access(path, F_OK) != 0 && errno == ENOENT))
        return status;
    status = confidence_file_read(path, out, err);
    if (status == TD_OK && !confidence_file_fits(*out, identity, why))
        status = error_set(err, TD_INVALID, "%s: %s", path, why);
    if (status == TD_OK && !(*out)->has_thresholds)
        status = error_set(err, TD_INVALID, "%s: it has no thresholds", path);
    if (status == TD_OK)
        return TD_OK;
    free(*out);
    *out = NULL;
    return status;
}

enum td_status calibration_file_check(const char *path, struct td_error *err)
{
    char folder[CALIBRATION_PATH_BYTES];
    enum td_status status = state_file_make_folders(path, err);
    if (status == TD_OK)
        status = path_format(folder, sizeof folder, err, "%s", path);
    if (status != TD_OK)
        return status;
    *strrchr(folder, '/') = '\0';
    if (access(folder, W_OK | X_OK) != 0)
        return error_set(err, TD_IO,
                         "cannot write into %s: %s; choose another state folder with "
                         "TANDEM_STATE_DIR",
                         folder, strerror(errno));
    return TD_OK;
}

enum td_status calibration_file_write(const char *state_dir, const struct confidence_model *model,
                                      struct td_error *err)
{
    char path[CALIBRATION_PATH_BYTES];
    enum td_status status = calibration_file_path(state_dir, &model->binding, path, err);
    if (status == TD_OK)
        status = calibration_file_check(path, err);
    return status == TD_OK ? confidence_file_write(path, model, 0600, err) : status;
}
