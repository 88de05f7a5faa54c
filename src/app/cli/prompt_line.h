/* A line of a file of prompts: {"prompt": text} or {"messages": [...]}, and labels. */
#ifndef APP_PROMPT_LINE_H
#define APP_PROMPT_LINE_H

#include "tandem/engine.h"

struct json;

/* Parses the line and runs its messages through the model's chat template. *line: the object
 * (**new**, json_free); *ids: **new** (free). Both are NULL or to be freed also after a failure. */
TD_MUST_CHECK enum td_status prompt_line_read(const struct td_model *model, struct td_str text,
                                              struct json **line, int32_t **ids, size_t *count,
                                              struct td_error *err);

#endif
