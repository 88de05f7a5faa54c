/* Finds the egress record that a subcommand of `tandem egress` is to read. For one thread. */
#ifndef APP_EGRESS_RECORD_H
#define APP_EGRESS_RECORD_H

#include "app/config/config.h"

/* The exported file `named`, or with NULL the folder of the configuration. *path **borrows** from
 * both; *config is to be freed (config_free), also after a failure. */
TD_MUST_CHECK enum td_status egress_record_find(const char *config_path, const char *named,
                                                struct config **config, const char **path,
                                                struct td_error *err);

#endif
