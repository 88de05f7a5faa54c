/* Copies a GGUF file with other metadata: keys under one prefix are left out, new ones are added.
 * Tensors, their names and types stay as they are, byte for byte. No state; any thread. */
#ifndef ENGINE_GGUF_COPY_H
#define ENGINE_GGUF_COPY_H

#include "engine/gguf/gguf_write.h"

/* Writes `path`, which may be the file that is open. Keys that begin with `prefix` are left out;
 * the `pair_count` pairs of `pairs` come at the end. TD_IO, TD_NO_MEMORY, TD_LIMIT (no room). */
TD_MUST_CHECK enum td_status gguf_copy(const struct gguf *gguf, const char *prefix,
                                       const struct buf *pairs, uint64_t pair_count,
                                       const char *path, struct td_error *err);

#endif
