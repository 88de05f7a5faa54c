/* What a body says of sampling: numbers, seed, biases, DRY's details and other servers' members. No
 * thread state. */
#ifndef API_OPENAI_SAMPLING_H
#define API_OPENAI_SAMPLING_H

#include "api/http/fault.h"
#include "base/bytes/arena.h"
#include "request/request.h"

/* OpenAI's defaults. */
extern const struct td_sampling openai_sampling;

/* Into request->sampling and its companions. False with *fault naming the member. */
bool openai_sampling_read(const struct json *body, struct arena *arena, struct td_request *request,
                          struct fault *fault);

#endif
