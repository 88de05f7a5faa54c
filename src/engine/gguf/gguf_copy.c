#include "engine/gguf/gguf_copy.h"

#include "base/core/assertion.h"
#include "base/core/error.h"
#include "engine/gguf/gguf_format.h"

#include <stdlib.h>

static enum td_status write_copy(const struct gguf *gguf, const struct gguf_head *head,
                                 const char *path, struct td_error *err)
{
    struct gguf_writer *writer = NULL;
    enum td_status status = gguf_writer_new(path, head, &writer, err);
    for (size_t i = 0; status == TD_OK && i < gguf->tensor_count; i++)
        status = gguf_writer_append(writer, gguf->tensors[i].data, gguf->tensors[i].bytes, err);
    if (status == TD_OK)
        status = gguf_writer_finish(writer, err);
    gguf_writer_free(writer);
    return status;
}

enum td_status gguf_copy(const struct gguf *gguf, const char *prefix, const struct buf *pairs,
                         uint64_t pair_count, const char *path, struct td_error *err)
{
    ASSERT(prefix != NULL && path != NULL);
    ASSERT(pairs->failed || (pairs->len == 0) == (pair_count == 0));
    if (gguf->part_count)
        return error_set(err, TD_UNSUPPORTED,
                         "%s: a model in %zu files cannot be written; make one file of it first",
                         gguf->path, gguf->part_count + 1);
    const char *const dropped[] = {prefix, NULL};
    struct buf all;
    buf_init(&all, GGUF_HEAD_BYTES_MAX);
    uint64_t kept = gguf_put_kept(&all, gguf, dropped);
    buf_append_str(&all, buf_view(pairs));
    struct gguf_write_tensor *tensors = calloc(gguf->tensor_count + 1, sizeof *tensors);
    enum td_status status = TD_OK;
    if (tensors == NULL || all.failed || pairs->failed)
        status = error_set(err, TD_NO_MEMORY, "%s: no memory for the metadata", path);
    for (size_t i = 0; status == TD_OK && i < gguf->tensor_count; i++) {
        const struct gguf_tensor *tensor = &gguf->tensors[i];
        tensors[i] = (struct gguf_write_tensor){tensor->name, tensor->type, tensor->dim_count, {0}};
        memcpy(tensors[i].dims, tensor->dims, sizeof tensor->dims);
    }
    const struct gguf_head head = {&all, kept + pair_count, tensors, gguf->tensor_count,
                                   gguf->alignment};
    if (status == TD_OK)
        status = write_copy(gguf, &head, path, err);
    free(tensors);
    buf_deinit(&all);
    return status;
}
