/* Answers of /v1/messages (Anthropic's Messages API): a message whole, or as the events
 *
 *   message_start, ping, {content_block_start, content_block_delta..., content_block_stop}...,
 *   message_delta (stop_reason, usage), message_stop
 *
 * Blocks come one after another: text, and a tool_use block for each call. message_start,
 * message_delta and a whole message also have the member `tandem`. Tiers do not say which stop
 * sequence ended an answer, so the reason is "end_turn" as for the model's own end. */
#ifndef API_MESSAGES_RESPONSE_H
#define API_MESSAGES_RESPONSE_H

#include "api/http/fault.h"

/* Appends {"type": "error", "error": {"type", "message"}}. "error" also has our `code` and `param`
 * where they are known. */
extern const struct fault_form messages_fault_form;

#endif
