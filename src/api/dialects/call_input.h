/* The arguments of a tool call as the object that some dialects have, where a model writes a text.
 * Pure. */
#ifndef API_CALL_INPUT_H
#define API_CALL_INPUT_H

#include "api/http/fault.h"
#include "api/wire/tool_calls.h"

/* Appends the arguments as they were written, if they are a whole object. False with *fault. */
bool call_input_write(const struct tool_call_text *call, struct buf *out, struct fault *fault);

#endif
