/* Reading a secret from where the configuration says it is. */
#ifndef APP_SECRET_SOURCE_H
#define APP_SECRET_SOURCE_H

#include "base/crypto/secret.h"

/* From an environment variable or a file (white space around it is dropped). *out NULL when
 * neither is named, or the variable is not set or empty. **returns new** (secret_free). A named
 * file that cannot be read or is empty is a failure. */
TD_MUST_CHECK enum td_status secret_source_read(const char *env_name, const char *file,
                                                struct secret **out, struct td_error *err);

#endif
