/* Finding the model that a user named, or the embedded one. */
#ifndef APP_MODEL_FILE_H
#define APP_MODEL_FILE_H

#include "tandem/types.h"

/* Writes the path of the model to use: `wanted` if not NULL, else TANDEM_MODEL, else the embedded
 * model beside the executable (installed: ../share/tandem; in a build tree: models/nano of the
 * sources). What is no file but the name of a pulled model, with or without .gguf, is that model's
 * file in models_dir (NULL = where the configuration of the environment says), and after those a
 * model that came with the program ("nano", "nano-large"). TD_NOT_FOUND with the places that were
 * looked at. */
TD_MUST_CHECK enum td_status model_file_find(const char *wanted, const char *models_dir, char *out,
                                             size_t size, struct td_error *err);

/* The first of these paths, from the executable's folder, that can be read; false when there is
 * none. */
bool model_file_beside(const char *const *places, size_t count, char *out, size_t size);

#endif
