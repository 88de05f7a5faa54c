/* Answers of Ollama's /api/chat and /api/generate: an object whole, or objects as lines (NDJSON)
 *
 *   {"model", "created_at", "message": {"role", "content"}, "done": false} ...
 *   {..., "done": true, "done_reason", "total_duration", "prompt_eval_count", "eval_count", ...}
 *
 * with "response" in place of "message" in those of /api/generate. Calls of tools come whole, in
 * one line before the last, and reasoning as "thinking". Durations are in nanoseconds and measured:
 * total_duration from the request to the answer's end, prompt_eval_duration to its tier's first
 * token, eval_duration between the two. load_duration is 0: loading is part of the prompt's. The
 * last object also has the member `tandem`. */
#ifndef API_OLLAMA_RESPONSE_H
#define API_OLLAMA_RESPONSE_H

#include "api/http/fault.h"
#include "base/bytes/buf.h"

/* {"error": "words", "code", "param"}: the first is Ollama's. */
extern const struct fault_form ollama_fault_form;

#endif
