/* A request of Gemini's API (generateContent, streamGenerateContent) as the chat request that asks
 * the same:
 *
 *   systemInstruction, contents                    messages (gemini_parts.h)
 *   tools, toolConfig                              tools, tool_choice (gemini_tools.h)
 *   generationConfig: temperature, topP, topK, seed, presencePenalty, frequencyPenalty,
 *     maxOutputTokens, stopSequences               the chat's names
 *     responseMimeType, responseSchema, responseJsonSchema   response_format
 *     thinkingConfig                               reasoning_effort
 *
 * What is not named here changes nothing and is told to the client, such as safetySettings. What
 * would change the answer is refused: cachedContent, other modalities than text, and more than one
 * candidate. No thread state. */
#ifndef API_GEMINI_REQUEST_H
#define API_GEMINI_REQUEST_H

#include "api/http/fault.h"
#include "base/bytes/buf.h"
#include "base/json/json.h"

/* **returns new** (json_free) a chat's body, or NULL with *fault naming the place. */
struct json *gemini_request_translate(const struct json *body, struct fault *fault);
/* The same for countTokens, whose body may have the request inside. */
struct json *gemini_request_translate_count(const struct json *body, struct fault *fault);
/* Appends what the chat does not have, for the client to know. */
void gemini_request_list_left_out(const struct json *body, struct buf *out);
/* generationConfig.thinkingConfig.includeThoughts */
bool gemini_request_shows_thoughts(const struct json *body);

#endif
