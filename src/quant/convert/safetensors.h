/* Reads the weights of a Hugging Face folder: model.safetensors, or the shards that
 * model.safetensors.index.json names. A file is hostile until it was opened here: after
 * safetensors_open every tensor lies inside its file, its size is that of its shape, and none
 * overlaps another. Immutable after open; any thread. */
#ifndef QUANT_SAFETENSORS_H
#define QUANT_SAFETENSORS_H

#include "tandem/types.h"

#include <stdio.h>

struct safetensors;

enum safetensors_type {
    SAFE_F32,
    SAFE_F16,
    SAFE_BF16,
    SAFE_F64,
    SAFE_I32,
    SAFE_I64,
    SAFE_U8,
    SAFE_OTHER
};

struct safetensor {
    char *name;
    enum safetensors_type type;
    uint32_t dim_count;
    uint64_t dims[4]; /* the last one is the contiguous one */
    const uint8_t *data;
    uint64_t bytes, count;
};

/* **returns new** (safetensors_close). TD_CORRUPT with file, tensor and reason. */
TD_MUST_CHECK enum td_status safetensors_open(const char *folder, struct safetensors **out,
                                              struct td_error *err);
/* One file. */
TD_MUST_CHECK enum td_status safetensors_open_file(const char *path, struct safetensors **out,
                                                   struct td_error *err);
/* One file in memory of the caller, which must outlive it (for fuzzing and tests). */
TD_MUST_CHECK enum td_status safetensors_open_memory(const void *data, size_t len,
                                                     struct safetensors **out,
                                                     struct td_error *err);
void safetensors_close(struct safetensors *tensors);

size_t safetensors_count(const struct safetensors *tensors);
const struct safetensor *safetensors_at(const struct safetensors *tensors, size_t index);
const struct safetensor *safetensors_find(const struct safetensors *tensors, const char *name);

/* Elements [at, at + count) as floats. The type must be one of floats. */
void safetensor_read(const struct safetensor *tensor, uint64_t at, size_t count, float *out);
bool safetensor_is_float(const struct safetensor *tensor);

/* The files, for their hashes. */
size_t safetensors_file_count(const struct safetensors *tensors);
const char *safetensors_file(const struct safetensors *tensors, size_t index, const void **data,
                             size_t *len);

#endif
