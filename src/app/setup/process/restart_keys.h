/* The keys of the configuration that a reload cannot change, because they belong to the process. */
#ifndef APP_RESTART_KEYS_H
#define APP_RESTART_KEYS_H

#include "app/config/config.h"

/* Logs each section in which such keys differ between old and new; they wait for a restart. */
void restart_keys_warn(const struct config *old, const struct config *new);

#endif
