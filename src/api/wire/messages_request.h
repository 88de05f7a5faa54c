/* A request of /v1/messages (Anthropic's Messages API, version 2023-06-01) as the chat request that
 * asks the same:
 *
 *   system, messages[].content of text, tool_use and tool_result blocks   messages
 *   tools[].input_schema, tool_choice {auto, any, tool, none}             tools, tool_choice
 *   max_tokens (required), stop_sequences, metadata.user_id          the chat's names
 *   output_config.format (or output_format) of type json_schema           response_format
 *
 * Blocks of a model's own thinking are left out, because no other model can use them. Images,
 * documents, tools that Anthropic's servers run and a prefilled answer are refused, because the
 * answer without them would be another one. Unknown members are ignored. No thread state. */
#ifndef API_MESSAGES_REQUEST_H
#define API_MESSAGES_REQUEST_H

#include "api/http/fault.h"
#include "base/json.h"

/* **returns new** (json_free) a chat's body, or NULL with *fault naming the place. */
struct json *messages_request_translate(const struct json *body, struct fault *fault);
/* The same for /v1/messages/count_tokens, which has no max_tokens. */
struct json *messages_request_translate_count(const struct json *body, struct fault *fault);

#endif
