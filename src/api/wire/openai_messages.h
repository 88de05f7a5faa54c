/* The `messages` member of a chat request. */
#ifndef API_OPENAI_MESSAGES_H
#define API_OPENAI_MESSAGES_H

#include "api/http/fault.h"
#include "base/bytes/arena.h"
#include "request/request.h"

/* Reads body.messages into request->messages, parts and has_calls; they live in the arena. False
 * with *fault naming the place. */
bool openai_messages_read(const struct json *body, struct arena *arena, struct td_request *request,
                          struct fault *fault);

#endif
