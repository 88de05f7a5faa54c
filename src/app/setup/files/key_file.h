/* The store of API keys that the configuration names: a file in the state folder, or the database
 * that nodes share. No state; any thread. */
#ifndef APP_KEY_FILE_H
#define APP_KEY_FILE_H

#include "app/config/config.h"

struct key_store;

/* What key_store_open is given. Without a state folder TD_NOT_FOUND. */
TD_MUST_CHECK enum td_status key_file_name(const struct config *config, char *out, size_t size,
                                           struct td_error *err);
/* create: the file is made when it is missing; else that is TD_NOT_FOUND, and so is a
 * configuration without a state folder. **returns new** (key_store_close). */
TD_MUST_CHECK enum td_status key_file_open(const struct config *config, bool create,
                                           struct key_store **out, struct td_error *err);
/* Whether there are keys in it, also such that were revoked. */
bool key_file_has_keys(const struct config *config);

#endif
