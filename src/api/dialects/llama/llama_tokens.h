/* Token ids in the prompt of a /completion: a list of ids, or of ids and texts. They become the ids
 * of the whole prompt, and beside them its text, which detectors read. */
#ifndef API_LLAMA_TOKENS_H
#define API_LLAMA_TOKENS_H

#include "api/http/fault.h"
#include "base/bytes/arena.h"
#include "base/json/json.h"
#include "tandem/engine.h"

/* Replaces such a prompt of the body by its text, and notes the ids there. model: NULL = there is
 * none on this device. False with *fault filled. */
bool llama_tokens_spell(struct json *body, const struct td_model *model, struct fault *fault);
/* The ids that were noted, [*count] in the arena; NULL with *count 0: none were. False without
 * memory. */
bool llama_tokens_read(const struct json *body, struct arena *arena, const int32_t **ids,
                       size_t *count);

#endif
