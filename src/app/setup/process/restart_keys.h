/* Keys of the configuration that belong to the process, so that a reload cannot change them. */
#ifndef APP_RESTART_KEYS_H
#define APP_RESTART_KEYS_H

#include "app/config/config.h"

/* Logs, once for each section, that such keys of it differ and wait for a restart. */
void restart_keys_warn(const struct config *old, const struct config *new);

#endif
