/* The keys of the configuration that a reload cannot change, because they belong to the process. */
#ifndef APP_RESTART_KEYS_H
#define APP_RESTART_KEYS_H

#include "app/config/config.h"

#define RESTART_SECTIONS_MAX 9
/* The sections in which such keys differ between old and new. How many there are. */
size_t restart_keys_find(const struct config *old, const struct config *new,
                         const char *sections[static RESTART_SECTIONS_MAX]);
/* Logs each section in which such keys differ between old and new; they wait for a restart. */
void restart_keys_warn(const struct config *old, const struct config *new);

#endif
