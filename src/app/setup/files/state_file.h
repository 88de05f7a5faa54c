/* Paths of the program's own files in the state folder of the configuration. No state; any
 * thread. */
#ifndef APP_STATE_FILE_H
#define APP_STATE_FILE_H

#include "app/config/config.h"

#define STATE_PATH_BYTES 4096

/* The path of a file in the state folder, which is made when it is missing. The configuration must
 * have a state folder. */
TD_MUST_CHECK enum td_status state_file_path(const struct config *config, const char *name,
                                             char out[static STATE_PATH_BYTES],
                                             struct td_error *err);

/* Makes every folder on the way to a file, like mkdir -p. Folders that exist are left alone. */
TD_MUST_CHECK enum td_status state_file_make_folders(const char *path, struct td_error *err);

#endif
