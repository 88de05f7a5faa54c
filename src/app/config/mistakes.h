/* What is wrong in a configuration, all of it: who mends a file wants to see every line at once.
 * For one thread. */
#ifndef APP_MISTAKES_H
#define APP_MISTAKES_H

#include "tandem/types.h"

#define CONFIG_MISTAKES_MAX 32 /* kept; further ones are only counted */

struct config_mistakes {
    char text[CONFIG_MISTAKES_MAX][TD_ERROR_BYTES]; /* "file:line: what" */
    size_t count;                                   /* all; at most the array's are kept */
};

/* Always false, for `return mistake(...)`. */
bool config_mistakes_add(struct config_mistakes *mistakes, const char *format, ...) TD_PRINTF(2, 3);

/* TD_OK without mistakes; otherwise the first one, and how many follow. */
TD_MUST_CHECK enum td_status config_mistakes_status(const struct config_mistakes *mistakes,
                                                    struct td_error *err);

#endif
