/* A copy of a GGUF file with other metadata: keys under one prefix go, new ones come. Tensors, their
 * names and types stay as they are, byte for byte. */
#ifndef ENGINE_GGUF_COPY_H
#define ENGINE_GGUF_COPY_H

#include "base/buf.h"
#include "engine/gguf/gguf.h"

/* Pairs in the file's form, for gguf_copy. `pairs` is a buffer of the caller's. */
void gguf_put_u32(struct buf *pairs, const char *key, uint32_t value);
void gguf_put_string(struct buf *pairs, const char *key, struct td_str value);
void gguf_put_floats(struct buf *pairs, const char *key, const float *values, uint64_t count);

/* Writes `path`: first beside it, then renamed, so that there is never half a file and `path` may
 * be the one that is open. Keys that begin with `prefix` are left out; `pair_count` pairs of
 * `pairs` come at the end. TD_IO, TD_NO_MEMORY. */
TD_MUST_CHECK enum td_status gguf_copy(const struct gguf *gguf, const char *prefix,
                                       const struct buf *pairs, uint64_t pair_count,
                                       const char *path, struct td_error *err);

#endif
