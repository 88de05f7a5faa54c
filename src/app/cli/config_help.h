/* The text of `tandem help config`. */
#ifndef APP_CONFIG_HELP_H
#define APP_CONFIG_HELP_H

#include "tandem/types.h"

#include <stdio.h>

/* Prints every key with its default and its meaning, or the keys of one section of the root.
 * TD_NOT_FOUND, with the nearest name, when there is no such section. */
TD_MUST_CHECK enum td_status config_help_print(const char *section, FILE *out,
                                               struct td_error *err);

#endif
