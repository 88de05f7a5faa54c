/* Writes a GGUF file whose tensors come row by row as floats, each in a type of its own. This is
 * what quantising, converting and merging have in common. Memory: a stretch of rows of one tensor.
 * One thread calls; the work is divided among a pool. */
#ifndef QUANT_ENCODE_FILE_H
#define QUANT_ENCODE_FILE_H

#include "base/thread/thread_pool.h"
#include "engine/gguf/gguf_write.h"

#include <stdatomic.h>

struct encode_tensor {
    struct gguf_write_tensor to; /* name, shape and the type to write */
    const void *raw;             /* the bytes to copy as they are; NULL = encode rows */
    bool encoded;                /* read_row gives the bytes to write */
    /* [dims[2], dims[0]]: a row for each expert; NULL = none (encode.h) */
    const float *importance;
};

struct encode_job {
    const struct encode_tensor *tensors;
    size_t tensor_count;
    /* Gives row `row` of tensor `index` as dims[0] floats, or as the bytes of its type if it is
     * `encoded`; rows count through the experts. Called from several threads at once, for tensors
     * without raw bytes. */
    void (*read_row)(void *ctx, size_t index, uint64_t row, void *out);
    /* Tells how many of the weights are done; may be NULL. */
    void (*progress)(void *ctx, uint64_t done, uint64_t total);
    void *ctx;
    const struct buf *pairs;
    uint64_t pair_count;
    uint32_t alignment; /* 0 = the format's default */
    bool force;         /* weights that are no numbers become 0 or the largest number */
    const atomic_bool *cancel;
    struct thread_pool *threads;
};

struct encode_result {
    uint64_t file_bytes, weights;
    uint64_t mended; /* weights that were no numbers */
};

/* TD_CORRUPT: a weight is NaN or infinite; the message names tensor, row and column. TD_CANCELLED,
 * TD_IO, TD_LIMIT (no room on the disk), TD_NO_MEMORY. No file is left under `path` by a
 * failure. */
TD_MUST_CHECK enum td_status encode_file(const struct encode_job *job, const char *path,
                                         struct encode_result *result, struct td_error *err);

#endif
