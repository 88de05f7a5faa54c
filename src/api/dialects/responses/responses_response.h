/* Answers of /v1/responses (OpenAI's Responses API): a response whole, or as the events
 *
 *   response.created, response.in_progress,
 *   { response.output_item.added, response.content_part.added, response.output_text.delta...,
 *     response.output_text.done, response.content_part.done, response.output_item.done
 *   | response.output_item.added, response.function_call_arguments.delta...,
 *     response.function_call_arguments.done, response.output_item.done }...,
 *   response.completed | response.incomplete | response.failed
 *
 * each with its sequence_number. An item is a message of one part, text or refusal, or a call. A
 * response repeats what was asked (chat_request.asked). Unless it failed, it also has the member
 * `tandem`. */
#ifndef API_RESPONSES_RESPONSE_H
#define API_RESPONSES_RESPONSE_H

#include "api/dialects/dialect.h"

extern const struct dialect_name responses_names[];
void responses_response_write_usage(const struct response_answer *answer,
                                    const struct tier_usage *usage, struct buf *out);

#endif
