/* Finds and opens the file of the router's classifier. No state; any thread. */
#ifndef APP_CLASSIFIER_FILE_H
#define APP_CLASSIFIER_FILE_H

#include "router/judge/classifier.h"

/* Opens the classifier at `path`; NULL or empty: the default one, beside the program.
 * **returns new** (classifier_close). */
TD_MUST_CHECK enum td_status classifier_file_open(const char *path, struct classifier **out,
                                                  struct td_error *err);
bool classifier_file_has_default(void);

#endif
