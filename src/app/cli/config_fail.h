/* A configuration that cannot be used, as a command says it. */
#ifndef APP_CONFIG_FAIL_H
#define APP_CONFIG_FAIL_H

#include "tandem/types.h"

/* As command_fail, with all mistakes of the configuration at `path` (NULL as config_load takes it)
 * instead of err, when there are some. */
int config_fail(const char *verb, const char *path, const struct td_error *err);

/* The same as JSON, with the array `errors`. */
int config_fail_as(const char *verb, const char *path, const struct td_error *err, bool json);

#endif
