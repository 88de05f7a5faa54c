/* The last step of loading a configuration: checks that concern several keys. */
#ifndef APP_CONFIG_CHECK_H
#define APP_CONFIG_CHECK_H

#include "app/config/config.h"
#include "app/config/mistakes.h"

/* Adds "label:line: what" for each section and entry in which something is wrong. */
void config_check(const struct config *config, struct config_mistakes *mistakes);

#endif
