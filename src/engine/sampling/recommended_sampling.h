/* Sampling settings that a model file recommends, under the names that llama.cpp gives them
 * (general.sampling.*, ggml-org/llama.cpp pull request 17120). */
#ifndef ENGINE_RECOMMENDED_SAMPLING_H
#define ENGINE_RECOMMENDED_SAMPLING_H

#include "engine/gguf/gguf.h"
#include "tandem/types.h"

/* Into *out, td_sampling_default() where the file is silent. TD_CORRUPT for a number that no sampler
 * takes, with file and key. */
TD_MUST_CHECK enum td_status
recommended_sampling_read(const struct gguf *gguf, struct td_sampling *out, struct td_error *err);

#endif
