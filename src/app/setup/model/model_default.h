/* Which downloaded model answers where none is named: the file "default" in the model folder. It
 * counts after -m, engine.model and TANDEM_MODEL, and before the model of the program. */
#ifndef APP_MODEL_DEFAULT_H
#define APP_MODEL_DEFAULT_H

#include "app/setup/model/model_source.h"

/* False: none was chosen, or it is not there any more. */
bool model_default_read(const char *dir, char name[static MODEL_NAME_BYTES]);
/* NULL = the model of the program. TD_NOT_FOUND: there is no such model. */
TD_MUST_CHECK enum td_status model_default_write(const char *dir, const char *name,
                                                 struct td_error *err);

#endif
