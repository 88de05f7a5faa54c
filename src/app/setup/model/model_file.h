/* Finding the model that a user named, or the embedded one. */
#ifndef APP_MODEL_FILE_H
#define APP_MODEL_FILE_H

#include "tandem/types.h"

/* Writes the path of the model to use: `wanted` if not NULL, else TANDEM_MODEL, else the
 * embedded model beside the program (installed: ../share/tandem; in a build tree: models/nano of
 * the sources). What is not a file may be the name of a downloaded model in models_dir, with or
 * without .gguf (NULL = the folder of the environment's configuration), or of a model that came
 * with the program ("nano", "nano-large"). TD_NOT_FOUND names the places. */
TD_MUST_CHECK enum td_status model_file_find(const char *wanted, const char *models_dir, char *out,
                                             size_t size, struct td_error *err);

/* The first of these paths, relative to the folder of the program, that can be read; false when
 * there is none. */
bool model_file_beside(const char *const *places, size_t count, char *out, size_t size);

#endif
