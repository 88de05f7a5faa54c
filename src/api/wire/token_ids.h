/* Ids of tokens as clients write them, in lists. Pure. */
#ifndef API_TOKEN_IDS_H
#define API_TOKEN_IDS_H

#include "api/http/fault.h"
#include "base/json/json.h"
#include "tandem/engine.h"

/* Reads the id at an index of a list that the client calls `param`. model NULL: of any vocabulary.
 * False with *fault filled. */
bool token_id_read(const struct json *list, size_t index, const char *param,
                   const struct td_model *model, int32_t *id, struct fault *fault);

#endif
