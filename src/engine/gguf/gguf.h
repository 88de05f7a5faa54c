/* Reads GGUF files, versions 2 and 3, by mmap. A file is hostile until it has been checked here:
 * after gguf_open succeeds, every string, array and tensor lies inside the file and no size has
 * overflowed. Immutable after open; any thread. The layout is the offset table in gguf.c. */
#ifndef ENGINE_GGUF_H
#define ENGINE_GGUF_H

#include "kernels/kernels.h"
#include "tandem/types.h"

struct gguf;

enum gguf_type {
    GGUF_U8,
    GGUF_I8,
    GGUF_U16,
    GGUF_I16,
    GGUF_U32,
    GGUF_I32,
    GGUF_F32,
    GGUF_BOOL,
    GGUF_STRING,
    GGUF_ARRAY,
    GGUF_U64,
    GGUF_I64,
    GGUF_F64
};

struct gguf_tensor {
    struct td_str name;
    uint32_t type; /* a GGUF tensor type; supported unless opened vocab_only */
    uint32_t dim_count;
    uint64_t dims[4]; /* dims[0] is the contiguous one (cols) */
    const void *data; /* inside the mapping */
    size_t bytes;
};

/* vocab_only: the tensor directory is parsed, but the tensors' types and data are not checked.
 * `path` may be any part of a model in several files (gguf_split.h): all are opened, and are one
 * here. **returns new** (gguf_close). */
TD_MUST_CHECK enum td_status gguf_open(const char *path, bool vocab_only, struct gguf **out,
                                       struct td_error *err);
/* One file alone, though it may be a part of a model. **returns new** (gguf_close). */
TD_MUST_CHECK enum td_status gguf_open_file(const char *path, bool vocab_only, struct gguf **out,
                                            struct td_error *err);
/* The same over memory of the caller, which must outlive it (for fuzzing and tests). */
TD_MUST_CHECK enum td_status gguf_open_memory(const void *data, size_t len, const char *label,
                                              bool vocab_only, struct gguf **out,
                                              struct td_error *err);
void gguf_close(struct gguf *gguf);

/* Calls madvise for the mapped file; does nothing for memory of the caller's. */
void gguf_advise(const struct gguf *gguf, int advice);

const char *gguf_path(const struct gguf *gguf);
uint64_t gguf_file_bytes(const struct gguf *gguf);

/* Scalars: false when the key is absent or has another type. Every integer type is accepted if the
 * value fits. */
bool gguf_get_u32(const struct gguf *gguf, const char *key, uint32_t *out);
bool gguf_get_f32(const struct gguf *gguf, const char *key, float *out);
bool gguf_get_bool(const struct gguf *gguf, const char *key, bool *out);
bool gguf_get_string(const struct gguf *gguf, const char *key, struct td_str *out);
bool gguf_has(const struct gguf *gguf, const char *key);

/* Arrays of numbers: element type, count and packed little-endian data, which may be unaligned. */
bool gguf_get_array(const struct gguf *gguf, const char *key, enum gguf_type *type,
                    const void **data, uint64_t *count);
/* Walks an array of strings: start with *cursor = NULL. False at the end, or if `key` is no array
 * of strings. */
bool gguf_next_string(const struct gguf *gguf, const char *key, const void **cursor,
                      struct td_str *out);
uint64_t gguf_array_count(const struct gguf *gguf, const char *key); /* 0 when absent */

const struct gguf_tensor *gguf_find_tensor(const struct gguf *gguf, const char *name);
size_t gguf_tensor_count(const struct gguf *gguf);
const struct gguf_tensor *gguf_tensor_at(const struct gguf *gguf, size_t index);
/* hash_words64 over header, metadata and tensor directory. These are megabytes that are hashed
 * before the first token, so the hash is a fast one. */
uint64_t gguf_fingerprint(const struct gguf *gguf);

/* Pair `index` of the metadata for display: key, type and a printable text in `value`. False when
 * there is no such pair. */
bool gguf_describe(const struct gguf *gguf, size_t index, struct td_str *key, enum gguf_type *type,
                   char *value, size_t value_size);

#endif
