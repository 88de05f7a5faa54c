/* Files of confidence models as router.confidence names them. */
#ifndef APP_CONFIDENCE_FILE_H
#define APP_CONFIDENCE_FILE_H

#include "router/judge/confidence_model.h"

/* **returns new** (free). */
TD_MUST_CHECK enum td_status confidence_file_read(const char *path, struct confidence_model **out,
                                                  struct td_error *err);

/* False when the model belongs to something else than `identity`; why then says so in a
 * sentence. */
bool confidence_file_fits(const struct confidence_model *model,
                          const struct confidence_binding *identity, char why[static 160]);

#endif
