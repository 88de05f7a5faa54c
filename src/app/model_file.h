/* Finding the model that a user named, or the embedded one. */
#ifndef APP_MODEL_FILE_H
#define APP_MODEL_FILE_H

#include "tandem/types.h"

/* Writes the path of the model to use: `wanted` if not NULL, else TANDEM_MODEL, else the embedded
 * model beside the executable (installed: ../share/tandem; in a build tree: models/nano of the
 * sources). What is no file but the name of a pulled model, with or without .gguf, is that model's
 * file in models_dir (NULL = where the configuration of the environment says). TD_NOT_FOUND with
 * the places that were looked at. */
TD_MUST_CHECK enum td_status model_file_find(const char *wanted, const char *models_dir, char *out,
                                             size_t size, struct td_error *err);

/* Writes the path of a file of models/ that came with the program, e.g. "names/names.bin": beside the
 * executable as above. TD_NOT_FOUND with the first place that was looked at. */
TD_MUST_CHECK enum td_status model_file_beside(const char *name, char *out, size_t size,
                                               struct td_error *err);

#endif
