/* From the configuration's privacy section to installed rules. */
#ifndef APP_PRIVACY_SETUP_H
#define APP_PRIVACY_SETUP_H

#include "app/config.h"

struct privacy_rules;

/* *out **returns new** (privacy_rules_free or privacy_rules_install); messages name the file's
 * line. */
TD_MUST_CHECK enum td_status privacy_setup_read(const struct config *config,
                                                struct privacy_rules **out, struct td_error *err);
/* Reads and installs. */
TD_MUST_CHECK enum td_status privacy_setup(const struct config *config, struct td_error *err);
/* The same for a command with --config; path NULL as config_load takes it. */
TD_MUST_CHECK enum td_status privacy_setup_file(const char *path, struct td_error *err);

#endif
