/* The last step of loading a configuration: checks that concern several keys. */
#ifndef APP_CONFIG_CHECK_H
#define APP_CONFIG_CHECK_H

#include "app/config/config.h"

/* TD_INVALID with "label:line: what" for the first mistake. */
TD_MUST_CHECK enum td_status config_check(const struct config *config, struct td_error *err);

#endif
