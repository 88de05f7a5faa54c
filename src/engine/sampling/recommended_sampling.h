/* The sampling settings that a model file recommends, under llama.cpp's keys (general.sampling.*,
 * ggml-org/llama.cpp pull request 17120). No state; any thread. */
#ifndef ENGINE_RECOMMENDED_SAMPLING_H
#define ENGINE_RECOMMENDED_SAMPLING_H

#include "engine/gguf/gguf.h"
#include "tandem/types.h"

/* Sets *out; settings that the file does not have are those of td_sampling_default(). TD_CORRUPT,
 * with file and key, for a number out of range. */
TD_MUST_CHECK enum td_status
recommended_sampling_read(const struct gguf *gguf, struct td_sampling *out, struct td_error *err);

#endif
