/* Files of thresholds (router/plan/thresholds.h), as gates name them. No state; any thread. */
#ifndef APP_THRESHOLD_FILE_H
#define APP_THRESHOLD_FILE_H

#include "router/plan/thresholds.h"

/* Also fails for a file that was tuned for another gate. **returns new** (free). */
TD_MUST_CHECK enum td_status threshold_file_read(const char *path, enum threshold_gate gate,
                                                 struct thresholds **out, struct td_error *err);

#endif
