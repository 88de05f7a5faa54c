/* A request of /v1/responses (OpenAI's Responses API) as the chat request that asks the same:
 *
 *   instructions, input (a text, or items of type message, function_call, function_call_output)
 *       messages
 *   tools of type function, tool_choice, parallel_tool_calls      the chat's, where they nest
 *   text.format, max_output_tokens, reasoning.effort              response_format, ...
 *   include of message.output_text.logprobs, top_logprobs         logprobs, top_logprobs
 *
 * Nothing is kept from one response to the next, so members that name an earlier one are refused
 * (previous_response_id, conversation, an item_reference). Tools that OpenAI's servers run, images
 * and files are refused too, because the answer without them would be another one. Items of a
 * model's own reasoning are left out. Unknown members are ignored. No thread state. */
#ifndef API_RESPONSES_REQUEST_H
#define API_RESPONSES_REQUEST_H

#include "api/http/fault.h"
#include "base/json.h"

/* **returns new** (json_free) a chat's body, or NULL with *fault naming the place. */
struct json *responses_request_translate(const struct json *body, struct fault *fault);

#endif
