/* Adapters that a request asks for: `lora`, a list of {id, scale} as llama.cpp's server has it, and
 * `tandem.adapters`, a list of names or {name, scale}; both take either. An adapter's name as
 * `model` asks for it too (vLLM's way): that is the router's to see. */
#ifndef API_OPENAI_ADAPTERS_H
#define API_OPENAI_ADAPTERS_H

#include "api/http/fault.h"
#include "request/request.h"
#include "tandem/types.h"

/* `list` is the member's value; param is its name. Names are borrowed from it. */
bool openai_adapters_read(const struct json *list, const char *param, struct td_request *request,
                          struct fault *fault);

#endif
