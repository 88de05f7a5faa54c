/* A request of /v1/responses (OpenAI's Responses API) as the chat request that asks the same:
 *
 *   instructions, input (a text, or items of messages, calls and answers to them)    messages
 *   tools (responses_tools.h), tool_choice, parallel_tool_calls   the chat's, where they nest
 *   text.format, max_output_tokens, reasoning.effort              response_format, ...
 *   include of message.output_text.logprobs, top_logprobs         logprobs, top_logprobs
 *
 * Members that name earlier responses, and items that stand for others, are read before
 * (responses_history.h): here the body is whole. Tools that OpenAI's servers run are left
 * out, and so are items of what they found; the answer says so. Items of a model's own reasoning
 * are left out without a word. Unknown members are ignored. No thread state. */
#ifndef API_RESPONSES_REQUEST_H
#define API_RESPONSES_REQUEST_H

#include "api/http/fault.h"
#include "base/bytes/buf.h"
#include "base/json/json.h"

/* **returns new** (json_free) a chat's body, or NULL with *fault naming the place. */
struct json *responses_request_translate(const struct json *body, struct fault *fault);
/* Appends the types of tools and items that the chat does not have, for the client to know. */
void responses_request_list_left_out(const struct json *body, struct buf *out);

#endif
