/* From the configuration's privacy section to installed rules. */
#ifndef APP_PRIVACY_SETUP_H
#define APP_PRIVACY_SETUP_H

#include "app/config/config.h"
#include "base/names.h"

struct privacy_rules;
struct tagger;

/* What scans need, read and not yet in use. */
struct privacy_parts {
    struct privacy_rules *rules;
    struct tagger *names; /* NULL: not looked for */
    float min_score;
    enum td_data_class names_class;
};

/* Fills *parts (privacy_parts_free or privacy_parts_install); messages name the file's line. A names
 * file that is wanted and cannot be used is an error: nothing is scanned with half of the detectors. */
TD_MUST_CHECK enum td_status privacy_setup_read(const struct config *config,
                                                struct privacy_parts *parts, struct td_error *err);
void privacy_parts_free(struct privacy_parts *parts);
/* Takes what is in parts. */
void privacy_parts_install(struct privacy_parts *parts);
/* Reads and installs. */
TD_MUST_CHECK enum td_status privacy_setup(const struct config *config, struct td_error *err);
/* The same for a command with --config; path NULL as config_load takes it. */
TD_MUST_CHECK enum td_status privacy_setup_file(const char *path, struct td_error *err);

#endif
