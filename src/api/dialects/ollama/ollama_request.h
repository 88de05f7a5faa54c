/* Requests of Ollama's /api/chat and /api/generate as the chat request that asks the same:
 *
 *   messages[].content, images, tool_calls, tool_name     messages, parts, calls with ids
 *   system, prompt, images (generate)                     a system's and a user's message
 *   options: num_predict, stop, seed, temperature ...     max_completion_tokens, and as they are
 *   format: "json" or a schema                            response_format
 *   think: "low", "medium" or "high"                      reasoning_effort
 *   raw: true (generate)                                  a completion of the text
 *
 * Answers are streamed unless `stream` is false, as Ollama's clients expect. How its models are
 * loaded (keep_alive, num_ctx, num_gpu ...) is checked for its type at most: here the
 * configuration decides. */
#ifndef API_OLLAMA_REQUEST_H
#define API_OLLAMA_REQUEST_H

#include "api/http/fault.h"
#include "api/wire/openai_request.h"

struct arena;

/* As struct dialect's functions of these names. */
struct json *ollama_request_translate_chat(const struct json *body, struct fault *fault);
struct json *ollama_request_translate_generate(const struct json *body, struct fault *fault);
bool ollama_request_finish_chat(const struct json *asked, struct arena *arena,
                                struct chat_request *out, struct fault *fault);
bool ollama_request_finish_generate(const struct json *asked, struct arena *arena,
                                    struct chat_request *out, struct fault *fault);
/* Ollama's clients load and unload a model by a request without words. */
bool ollama_request_asks_nothing(const struct json *asked);

#endif
