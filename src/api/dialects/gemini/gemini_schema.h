/* Schemas of Gemini's API (OpenAPI 3.0's, with types in capitals) as JSON schemas. Pure. */
#ifndef API_GEMINI_SCHEMA_H
#define API_GEMINI_SCHEMA_H

#include "api/http/fault.h"
#include "base/json/json.h"

/* The schema at `place`, or NULL with the fault. Members that JSON Schema has too stay as they are.
 * **returns new** (json_free). */
struct json *gemini_schema(const struct json *schema, const char *place, struct fault *fault);

#endif
