/* A JSON schema that a prompt tells the model to answer by. No thread state. */
#ifndef API_PROMPT_SCHEMA_H
#define API_PROMPT_SCHEMA_H

#include "base/json/json.h"
#include "request/request.h"

/* The one schema that the system's messages or the last one of the user's give for the answer.
 * **returns new** (json_free), or NULL: there is none, several, or it is not clear. */
struct json *prompt_schema_find(const struct td_request *request);

#endif
