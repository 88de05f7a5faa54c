/* A request of /v1/messages (Anthropic's Messages API, version 2023-06-01) as the chat request that
 * asks the same:
 *
 *   system, messages[].content of text, tool_use and tool_result blocks   messages
 *   tools[].input_schema, tool_choice {auto, any, tool, none}             tools, tool_choice
 *   max_tokens (required), stop_sequences, metadata.user_id          the chat's names
 *   output_config.format (or output_format) of type json_schema           response_format
 *   thinking.budget_tokens, output_config.effort                          reasoning_effort
 *   service_tier                                                          service_tier
 *   is_error of a tool's result                                           "Error: " before it
 *
 * A message of the role system stays where it is. Thoughts that are signed stand beside
 * the message, for Anthropic's models; others are left out, and so are blocks of what Anthropic's
 * servers ran. cache_control stays at what it marks. Tools of
 * Anthropic's types are left out, and the answer says so. Other new blocks are texts of JSON. A
 * prefilled answer is refused, because the answer without it would be another one. Other members
 * are left out, and the answer names them. No thread state. */
#ifndef API_MESSAGES_REQUEST_H
#define API_MESSAGES_REQUEST_H

#include "api/http/fault.h"
#include "base/bytes/buf.h"
#include "base/json/json.h"

/* **returns new** (json_free) a chat's body, or NULL with *fault naming the place. */
struct json *messages_request_translate(const struct json *body, struct fault *fault);
/* Appends the members, and the types of tools, that the chat does not have, for the client to
 * know. */
void messages_request_list_left_out(const struct json *body, struct buf *out);
/* Whether the model may think, and whether the client wants to see the model's thinking as
 * blocks. */
bool messages_request_thinks(const struct json *body);
bool messages_request_shows_thinking(const struct json *body);
/* The same for /v1/messages/count_tokens, which has no max_tokens. */
struct json *messages_request_translate_count(const struct json *body, struct fault *fault);

#endif
