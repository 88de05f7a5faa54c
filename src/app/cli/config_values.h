/* Every value that is in force, as a YAML file, with where it comes from. */
#ifndef APP_CONFIG_VALUES_H
#define APP_CONFIG_VALUES_H

#include "app/config/config.h"
#include "base/bytes/buf.h"

/* `all` = false leaves out what is a default. Keys without a value are left out. What is written
 * can be read as a configuration. */
void config_values_write(const struct config *config, bool all, struct buf *out);

#endif
