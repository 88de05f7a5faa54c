/* What a request wants the answer to look like: response_format (OpenAI's), grammar (ours: GBNF)
 * and logit_bias. No thread state. */
#ifndef API_OPENAI_FORMAT_H
#define API_OPENAI_FORMAT_H

#include "api/fault.h"
#include "base/arena.h"
#include "base/json.h"

/* Fills request->format and request->grammar (**returns new**: td_grammar_free). A schema with
 * keywords that the local engine cannot promise leaves grammar NULL, for a cloud that can; with
 * only-local it is refused, and so the mode must have been read. */
bool openai_format_read(const struct json *body, struct td_request *request, struct fault *fault);

/* {"token id": bias from -100 to 100, ...} of the model that answers. */
bool openai_format_read_biases(const struct json *body, struct arena *arena,
                               struct td_sampling *sampling, struct fault *fault);

#endif
