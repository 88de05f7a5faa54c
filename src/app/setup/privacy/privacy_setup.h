/* Makes a scanner from the configuration's privacy section. */
#ifndef APP_PRIVACY_SETUP_H
#define APP_PRIVACY_SETUP_H

#include "app/config/config.h"
#include "privacy/scan/scanner.h"

/* *out **returns new** (privacy_scanner_free), and stays as it was after a failure. Messages
 * name the file's line. A names file that is asked for and cannot be used is an error: nothing
 * is scanned with half of the detectors. */
TD_MUST_CHECK enum td_status privacy_setup(const struct config *config,
                                           struct privacy_scanner **out, struct td_error *err);
/* The same for a command with --config; path NULL as config_load takes it. */
TD_MUST_CHECK enum td_status privacy_setup_file(const char *path, struct privacy_scanner **out,
                                                struct td_error *err);

#endif
