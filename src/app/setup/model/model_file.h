/* Finding the model that a user named, or the embedded one. */
#ifndef APP_MODEL_FILE_H
#define APP_MODEL_FILE_H

#include "tandem/types.h"

/* Writes the path of the model to use: `wanted` if not NULL, else TANDEM_MODEL, else the default of
 * models_dir (model_default.h), else the embedded model. That one is in ../share/tandem of an
 * installed program, and in models/nano of the sources in a build tree. A name that is not a file
 * may be a downloaded model in models_dir, with or without .gguf, or a model that came with the
 * program ("nano", "nano-large"). models_dir NULL: the folder of the environment's configuration.
 * TD_NOT_FOUND names the places. */
TD_MUST_CHECK enum td_status model_file_find(const char *wanted, const char *models_dir, char *out,
                                             size_t size, struct td_error *err);

/* Writes the first of these paths, relative to the folder of the program, that can be read. False:
 * none can. */
bool model_file_beside(const char *const *places, size_t count, char *out, size_t size);

#endif
