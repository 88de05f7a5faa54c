/* Writes GGUF files: metadata and directory first, then the data of one tensor after the other, so
 * that no more than a piece of one tensor is ever in memory. The file appears under its name when
 * it is whole and on the disk, and not before: it is written beside it, synced and renamed. The
 * layout is the offset table of gguf.c. One thread a writer. */
#ifndef ENGINE_GGUF_WRITE_H
#define ENGINE_GGUF_WRITE_H

#include "base/bytes/buf.h"
#include "engine/gguf/gguf.h"

/* Metadata and directory: vocabularies of 256k tokens make 15 MB. */
#define GGUF_HEAD_BYTES_MAX ((size_t)1 << 30)

/* Append one pair in the file's form to the caller's buffer `pairs`. */
void gguf_put_u32(struct buf *pairs, const char *key, uint32_t value);
void gguf_put_f32(struct buf *pairs, const char *key, float value);
void gguf_put_bool(struct buf *pairs, const char *key, bool value);
void gguf_put_string(struct buf *pairs, const char *key, struct td_str value);
void gguf_put_floats(struct buf *pairs, const char *key, const float *values, uint64_t count);
void gguf_put_u32s(struct buf *pairs, const char *key, const uint32_t *values, uint64_t count);
void gguf_put_i32s(struct buf *pairs, const char *key, const int32_t *values, uint64_t count);
void gguf_put_bools(struct buf *pairs, const char *key, const bool *values, uint64_t count);
/* The beginning of an array of strings; `count` calls of gguf_put_element follow. */
void gguf_put_strings(struct buf *pairs, const char *key, uint64_t count);
void gguf_put_element(struct buf *pairs, struct td_str value);
/* The pairs of a file but those whose key begins with one of `dropped`, which NULL ends. Returns
 * how many they are. */
uint64_t gguf_put_kept(struct buf *pairs, const struct gguf *gguf, const char *const *dropped);

struct gguf_write_tensor {
    struct td_str name;
    uint32_t type, dim_count;
    uint64_t dims[4]; /* dims[0] is the contiguous one; the rest 1 */
};

/* 0 when a row is no whole number of the type's blocks, or a product overflows. */
uint64_t gguf_write_tensor_bytes(const struct gguf_write_tensor *tensor);

/* What stands before the data. */
struct gguf_head {
    const struct buf *pairs;
    uint64_t pair_count;
    const struct gguf_write_tensor *tensors;
    size_t tensor_count;
    uint32_t alignment; /* 0 = the format's default */
};

/* Appends it to `out`. *file_bytes: of the file with its data. TD_NO_MEMORY, TD_INVALID (a row that
 * is not whole blocks). */
TD_MUST_CHECK enum td_status gguf_put_head(struct buf *out, const struct gguf_head *head,
                                           uint64_t *file_bytes, struct td_error *err);

struct gguf_writer;

/* Begins the file at `path`, which may be one that is open and replaced at the end. Checks that the
 * disk has room for all of it. head->tensors: **borrows** until gguf_writer_free. **returns new**
 * (gguf_writer_free). TD_IO, TD_LIMIT (no room), and what gguf_put_head gives. */
TD_MUST_CHECK enum td_status gguf_writer_new(const char *path, const struct gguf_head *head,
                                             struct gguf_writer **out, struct td_error *err);
/* The next bytes of the tensors' data, in the order of the directory. The gaps between tensors are
 * filled here. */
TD_MUST_CHECK enum td_status gguf_writer_append(struct gguf_writer *writer, const void *data,
                                                size_t len, struct td_error *err);
/* After the last byte: syncs the file and gives it its name. */
TD_MUST_CHECK enum td_status gguf_writer_finish(struct gguf_writer *writer, struct td_error *err);
uint64_t gguf_writer_file_bytes(const struct gguf_writer *writer);
/* Removes what was written unless it was finished. Accepts NULL. */
void gguf_writer_free(struct gguf_writer *writer);

#endif
