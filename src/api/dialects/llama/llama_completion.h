/* POST /completion of llama-server as a completion of a text: the model goes on after `prompt`,
 * which no template changes.
 *
 *   prompt (a text)                        the completion's text
 *   n_predict                              max_tokens; -1 and 0 are no limit
 *   json_schema                            response_format
 *   n_probs                                logprobs, top_logprobs
 *   grammar, stop, seed, top_k ...         as they are
 *
 * POST /infill asks for the text between input_prefix and input_suffix. input_extra, files that
 * belong to it, go before the prefix, and `prompt` after it. The suffix is that of OpenAI's
 * completions: a tier that does not have it is not asked, and the local one has not.
 *
 * What is about llama-server's own slots and caches (id_slot, cache_prompt, n_keep ...) has no
 * effect. The probabilities of an answer's tokens are those of a chat, without ids. An answer is
 * {"content", "stop": true, "stop_type", "tokens_predicted", "timings", ...}, or server-sent events
 * {"content", "stop": false} and such an object at the end. */
#ifndef API_LLAMA_COMPLETION_H
#define API_LLAMA_COMPLETION_H

#include "api/http/fault.h"

struct json *llama_completion_translate(const struct json *body, struct fault *fault);
struct json *llama_infill_translate(const struct json *body, struct fault *fault);

#endif
