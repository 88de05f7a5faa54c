/* llama.cpp's `samplers` list, and members of other servers that our engine lacks. No state. */
#ifndef API_SAMPLERS_H
#define API_SAMPLERS_H

#include "base/json/json.h"

/* Turns off in *sampling the samplers that the body's list leaves out. Returns the member that the
 * local engine would ignore, or NULL. The name is static. */
const char *samplers_read(const struct json *body, struct td_sampling *sampling);

#endif
