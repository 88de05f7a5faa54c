/* Writes a GGUF file with other metadata. The layout is the offset table of gguf.c. Metadata and
 * directory are written new. The data section is copied whole: the tensors' offsets count from its
 * start, so they stay right. The new file is written beside its target and then renamed, so that a
 * crash never leaves half a file. */
#include "engine/gguf/gguf_copy.h"

#include "base/assertion.h"
#include "base/error.h"
#include "base/str.h"
#include "engine/gguf/gguf_format.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

/* Metadata and directory: vocabularies of 256k tokens make 15 MB. */
#define HEAD_BYTES_MAX ((size_t)1 << 30)
#define GGUF_VERSION 3

static void put_u32(struct buf *out, uint32_t value)
{
    buf_append(out, &value, sizeof value);
}

static void put_u64(struct buf *out, uint64_t value)
{
    buf_append(out, &value, sizeof value);
}

static void put_text(struct buf *out, struct td_str text)
{
    put_u64(out, text.len);
    buf_append_str(out, text);
}

void gguf_put_u32(struct buf *pairs, const char *key, uint32_t value)
{
    put_text(pairs, str_from(key));
    put_u32(pairs, GGUF_U32);
    put_u32(pairs, value);
}

void gguf_put_string(struct buf *pairs, const char *key, struct td_str value)
{
    put_text(pairs, str_from(key));
    put_u32(pairs, GGUF_STRING);
    put_text(pairs, value);
}

void gguf_put_floats(struct buf *pairs, const char *key, const float *values, uint64_t count)
{
    ASSERT(values != NULL || count == 0);
    put_text(pairs, str_from(key));
    put_u32(pairs, GGUF_ARRAY);
    put_u32(pairs, GGUF_F32);
    put_u64(pairs, count);
    buf_append(pairs, values, (size_t)count * sizeof *values);
}

static void put_pair(struct buf *out, const struct gguf_pair *pair)
{
    put_text(out, pair->key);
    put_u32(out, (uint32_t)pair->type);
    if (pair->type == GGUF_ARRAY) {
        put_u32(out, (uint32_t)pair->element_type);
        put_u64(out, pair->count);
    }
    buf_append(out, pair->value, pair->value_bytes);
}

static void put_tensor(struct buf *out, const struct gguf *gguf, const struct gguf_tensor *tensor,
                       size_t data_at)
{
    put_text(out, tensor->name);
    put_u32(out, tensor->dim_count);
    for (uint32_t d = 0; d < tensor->dim_count; d++)
        put_u64(out, tensor->dims[d]);
    put_u32(out, tensor->type);
    put_u64(out, (uint64_t)((const uint8_t *)tensor->data - gguf->data) - data_at);
}

static void pad(struct buf *out, uint32_t alignment)
{
    while (!out->failed && out->len % alignment != 0)
        buf_append_char(out, 0);
}

static void put_head(struct buf *out, const struct gguf *gguf, const char *prefix,
                     const struct buf *pairs, uint64_t pair_count, size_t data_at)
{
    uint64_t kept = 0;
    for (size_t i = 0; i < gguf->pair_count; i++)
        kept += !str_starts_with(gguf->pairs[i].key, str_from(prefix));
    buf_append(out, "GGUF", 4);
    put_u32(out, GGUF_VERSION);
    put_u64(out, gguf->tensor_count);
    put_u64(out, kept + pair_count);
    for (size_t i = 0; i < gguf->pair_count; i++)
        if (!str_starts_with(gguf->pairs[i].key, str_from(prefix)))
            put_pair(out, &gguf->pairs[i]);
    buf_append_str(out, buf_view(pairs));
    for (size_t i = 0; i < gguf->tensor_count; i++)
        put_tensor(out, gguf, &gguf->tensors[i], data_at);
    pad(out, gguf->alignment);
}

static enum td_status write_all(int fd, const void *data, size_t len, const char *path,
                                struct td_error *err)
{
    for (size_t at = 0; at < len;) {
        ssize_t done = write(fd, (const char *)data + at, len - at);
        if (done < 0 && errno == EINTR)
            continue;
        if (done <= 0)
            return error_set(err, TD_IO, "%s: cannot write: %s", path, strerror(errno));
        at += (size_t)done;
    }
    return TD_OK;
}

static enum td_status write_file(const struct gguf *gguf, const struct buf *head, size_t data_at,
                                 const char *path, struct td_error *err)
{
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
    if (fd < 0)
        return error_set(err, TD_IO, "%s: %s", path, strerror(errno));
    enum td_status status = write_all(fd, head->data, head->len, path, err);
    if (status == TD_OK && data_at < gguf->file_bytes)
        status = write_all(fd, gguf->data + data_at, gguf->file_bytes - data_at, path, err);
    if (close(fd) != 0 && status == TD_OK)
        status = error_set(err, TD_IO, "%s: %s", path, strerror(errno));
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
    size_t rest = gguf->directory_end % gguf->alignment;
    size_t data_at = gguf->directory_end + (rest ? gguf->alignment - rest : 0);
    struct buf head, beside;
    buf_init(&head, HEAD_BYTES_MAX);
    buf_init(&beside, 1 << 16);
    buf_printf(&beside, "%s.new", path);
    put_head(&head, gguf, prefix, pairs, pair_count, data_at);
    enum td_status status = TD_OK;
    if (head.failed || beside.failed || pairs->failed)
        status = error_set(err, TD_NO_MEMORY, "%s: no memory for the metadata", path);
    if (status == TD_OK)
        status = write_file(gguf, &head, data_at, beside.data, err);
    if (status == TD_OK && rename(beside.data, path) != 0)
        status = error_set(err, TD_IO, "%s: %s", path, strerror(errno));
    if (status != TD_OK && !beside.failed)
        unlink(beside.data);
    buf_deinit(&head);
    buf_deinit(&beside);
    return status;
}
