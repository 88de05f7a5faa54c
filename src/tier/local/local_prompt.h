/* The prompt of a request as token ids of a model in this process. No state; any thread. */
#ifndef TIER_LOCAL_PROMPT_H
#define TIER_LOCAL_PROMPT_H

#include "engine/model/chat_tools.h"
#include "request/request.h"

/* The tools that may be called, or NULL. **borrows** the request's. */
const struct json *local_prompt_tools(const struct td_request *request);

/* format: of the model's template. *ids **returns new** (free); NULL after a failure: TD_INVALID
 * when the model's template refuses the messages, TD_NO_MEMORY. */
TD_MUST_CHECK enum td_status local_prompt_tokenize(const struct td_model *model,
                                                   enum tool_format format,
                                                   const struct td_request *request, int32_t **ids,
                                                   size_t *count, struct td_error *err);

#endif
