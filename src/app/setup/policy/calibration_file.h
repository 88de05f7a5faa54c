/* Calibrations of local models, which `tandem calibrate` writes into the state folder and servers
 * find by themselves: calibrations/DIGEST.json, a confidence model with thresholds
 * (router/judge/confidence_model.h). DIGEST is that of what identifies the model, so a model that
 * has changed has none. No state; any thread. */
#ifndef APP_CALIBRATION_FILE_H
#define APP_CALIBRATION_FILE_H

#include "router/judge/confidence_model.h"

#define CALIBRATION_PATH_BYTES 4096

TD_MUST_CHECK enum td_status calibration_file_path(const char *state_dir,
                                                   const struct confidence_binding *identity,
                                                   char out[static CALIBRATION_PATH_BYTES],
                                                   struct td_error *err);

/* *out: NULL when the model has none; **returns new** (free). TD_INVALID and others name a file
 * that is broken, of another model, or without thresholds. */
TD_MUST_CHECK enum td_status calibration_file_find(const char *state_dir,
                                                   const struct confidence_binding *identity,
                                                   struct confidence_model **out,
                                                   struct td_error *err);

/* Makes the folders that are missing, and says whether a file could be written there now. */
TD_MUST_CHECK enum td_status calibration_file_check(const char *path, struct td_error *err);

/* The folders too. After a failure an older calibration is unchanged. */
TD_MUST_CHECK enum td_status calibration_file_write(const char *state_dir,
                                                    const struct confidence_model *model,
                                                    struct td_error *err);

#endif
