/* Answers of Gemini's API: one object (GenerateContentResponse), whole or as a stream of them
 *
 *   {"candidates": [{"content": {"parts": [...], "role": "model"}, "finishReason", "index"}],
 *    "usageMetadata", "modelVersion", "responseId", "tandem"}
 *
 * as server-sent events (alt=sse) or as the elements of one JSON array. Parts are text, thoughts
 * where they were asked for, and calls of functions, which come whole and last. A thought signature
 * stands in its part. Only the last object of a stream has finishReason and usageMetadata. */
#ifndef API_GEMINI_RESPONSE_H
#define API_GEMINI_RESPONSE_H

#include "api/http/fault.h"

/* Appends {"error": {"code", "message", "status", "details"}}. The details have our `code` as the
 * reason of an ErrorInfo, and a BadRequest's field where one is at fault. */
extern const struct fault_form gemini_fault_form;

#endif
