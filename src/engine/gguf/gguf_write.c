#include "engine/gguf/gguf_write.h"

#include "base/bytes/file.h"
#include "base/core/assertion.h"
#include "base/core/error.h"
#include "base/core/str.h"
#include "engine/gguf/gguf_format.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/statvfs.h>
#include <unistd.h>

#define GGUF_VERSION 3
#define ALIGNMENT_DEFAULT 32

struct gguf_writer {
    char *path, *beside; /* the name, and the one that the file has until it is whole */
    const struct gguf_write_tensor *tensors;
    size_t tensor_count, current; /* current: the tensor that is being written */
    uint64_t written;             /* bytes of the current tensor */
    uint64_t file_bytes;
    uint32_t alignment;
    int fd;
};

/* --- pairs --- */

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

static void put_key(struct buf *pairs, const char *key, enum gguf_type type)
{
    put_text(pairs, str_from(key));
    put_u32(pairs, (uint32_t)type);
}

static void put_array(struct buf *pairs, const char *key, enum gguf_type type, uint64_t count)
{
    put_key(pairs, key, GGUF_ARRAY);
    put_u32(pairs, (uint32_t)type);
    put_u64(pairs, count);
}

void gguf_put_u32(struct buf *pairs, const char *key, uint32_t value)
{
    put_key(pairs, key, GGUF_U32);
    put_u32(pairs, value);
}

void gguf_put_f32(struct buf *pairs, const char *key, float value)
{
    put_key(pairs, key, GGUF_F32);
    buf_append(pairs, &value, sizeof value);
}

void gguf_put_bool(struct buf *pairs, const char *key, bool value)
{
    put_key(pairs, key, GGUF_BOOL);
    buf_append_char(pairs, value);
}

void gguf_put_string(struct buf *pairs, const char *key, struct td_str value)
{
    put_key(pairs, key, GGUF_STRING);
    put_text(pairs, value);
}

void gguf_put_floats(struct buf *pairs, const char *key, const float *values, uint64_t count)
{
    ASSERT(values != NULL || count == 0);
    put_array(pairs, key, GGUF_F32, count);
    buf_append(pairs, values, (size_t)count * sizeof *values);
}

void gguf_put_u32s(struct buf *pairs, const char *key, const uint32_t *values, uint64_t count)
{
    ASSERT(values != NULL || count == 0);
    put_array(pairs, key, GGUF_U32, count);
    buf_append(pairs, values, (size_t)count * sizeof *values);
}

void gguf_put_i32s(struct buf *pairs, const char *key, const int32_t *values, uint64_t count)
{
    ASSERT(values != NULL || count == 0);
    put_array(pairs, key, GGUF_I32, count);
    buf_append(pairs, values, (size_t)count * sizeof *values);
}

void gguf_put_bools(struct buf *pairs, const char *key, const bool *values, uint64_t count)
{
    ASSERT(values != NULL || count == 0);
    put_array(pairs, key, GGUF_BOOL, count);
    for (uint64_t i = 0; i < count; i++)
        buf_append_char(pairs, values[i]);
}

void gguf_put_strings(struct buf *pairs, const char *key, uint64_t count)
{
    put_array(pairs, key, GGUF_STRING, count);
}

void gguf_put_element(struct buf *pairs, struct td_str value)
{
    put_text(pairs, value);
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

uint64_t gguf_put_kept(struct buf *pairs, const struct gguf *gguf, const char *const *dropped)
{
    uint64_t kept = 0;
    for (size_t i = 0; i < gguf->pair_count; i++) {
        bool drop = false;
        for (size_t d = 0; dropped[d]; d++)
            drop |= str_starts_with(gguf->pairs[i].key, str_from(dropped[d]));
        if (drop)
            continue;
        put_pair(pairs, &gguf->pairs[i]);
        kept++;
    }
    return kept;
}

/* --- head --- */

uint64_t gguf_write_tensor_bytes(const struct gguf_write_tensor *tensor)
{
    const struct tensor_traits *traits = tensor_traits_get(tensor->type);
    if (traits == NULL || tensor->dims[0] % traits->block_elements != 0)
        return 0;
    uint64_t bytes = tensor->dims[0] / traits->block_elements;
    if (__builtin_mul_overflow(bytes, (uint64_t)traits->block_bytes, &bytes))
        return 0;
    for (int d = 1; d < 4; d++)
        if (__builtin_mul_overflow(bytes, tensor->dims[d], &bytes))
            return 0;
    return bytes;
}

static uint64_t aligned(uint64_t at, uint32_t alignment)
{
    return (at + alignment - 1) / alignment * alignment;
}

static enum td_status put_directory(struct buf *out, const struct gguf_head *head,
                                    uint32_t alignment, uint64_t *file_bytes, struct td_error *err)
{
    uint64_t at = 0;
    for (size_t i = 0; i < head->tensor_count; i++) {
        const struct gguf_write_tensor *tensor = &head->tensors[i];
        uint64_t bytes = gguf_write_tensor_bytes(tensor);
        if (bytes == 0)
            return error_set(err, TD_INVALID,
                             "tensor '" STR_FMT "' has rows of %llu, which is no whole number of "
                             "blocks of its type",
                             STR_ARG(tensor->name), (unsigned long long)tensor->dims[0]);
        put_text(out, tensor->name);
        put_u32(out, tensor->dim_count);
        for (uint32_t d = 0; d < tensor->dim_count; d++)
            put_u64(out, tensor->dims[d]);
        put_u32(out, tensor->type);
        put_u64(out, at);
        at = aligned(at + bytes, alignment);
    }
    while (!out->failed && out->len % alignment != 0)
        buf_append_char(out, 0);
    *file_bytes = out->len + at;
    return TD_OK;
}

static uint32_t alignment_of(const struct gguf_head *head)
{
    return head->alignment ? head->alignment : ALIGNMENT_DEFAULT;
}

enum td_status gguf_put_head(struct buf *out, const struct gguf_head *head, uint64_t *file_bytes,
                             struct td_error *err)
{
    ASSERT(head->tensors != NULL || head->tensor_count == 0);
    buf_append(out, "GGUF", 4);
    put_u32(out, GGUF_VERSION);
    put_u64(out, head->tensor_count);
    put_u64(out, head->pair_count);
    buf_append_str(out, buf_view(head->pairs));
    enum td_status status = put_directory(out, head, alignment_of(head), file_bytes, err);
    return status == TD_OK && (out->failed || head->pairs->failed)
               ? error_set(err, TD_NO_MEMORY, "no memory for the metadata")
               : status;
}

static enum td_status write_all(struct gguf_writer *writer, const void *data, size_t len,
                                struct td_error *err)
{
    for (size_t at = 0; at < len;) {
        ssize_t done = write(writer->fd, (const char *)data + at, len - at);
        if (done < 0 && errno == EINTR)
            continue;
        if (done <= 0)
            return error_set(err, TD_IO, "%s: cannot write: %s", writer->beside, strerror(errno));
        at += (size_t)done;
    }
    return TD_OK;
}

static enum td_status check_room(const struct gguf_writer *writer, struct td_error *err)
{
    struct statvfs disk;
    if (fstatvfs(writer->fd, &disk) != 0)
        return TD_OK;
    uint64_t room = (uint64_t)disk.f_bavail * disk.f_frsize;
    if (room >= writer->file_bytes)
        return TD_OK;
    return error_set(err, TD_LIMIT, "%s: the disk has %.1f MB left, the file takes %.1f MB",
                     writer->path, (double)room / 1e6, (double)writer->file_bytes / 1e6);
}

static enum td_status begin(struct gguf_writer *writer, const struct gguf_head *head,
                            struct td_error *err)
{
    struct buf bytes;
    buf_init(&bytes, GGUF_HEAD_BYTES_MAX);
    enum td_status status = gguf_put_head(&bytes, head, &writer->file_bytes, err);
    if (status != TD_OK)
        error_prefix(err, "%s", writer->path);
    if (status == TD_OK) {
        writer->fd = open(writer->beside, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
        if (writer->fd < 0)
            status = error_set(err, TD_IO, "%s: %s", writer->beside, strerror(errno));
    }
    if (status == TD_OK)
        status = check_room(writer, err);
    if (status == TD_OK)
        status = write_all(writer, bytes.data, bytes.len, err);
    buf_deinit(&bytes);
    return status;
}

enum td_status gguf_writer_new(const char *path, const struct gguf_head *head,
                               struct gguf_writer **out, struct td_error *err)
{
    ASSERT(path != NULL);
    struct gguf_writer *writer = calloc(1, sizeof *writer);
    if (writer == NULL)
        return error_set(err, TD_NO_MEMORY, "%s: no memory", path);
    writer->fd = -1;
    writer->tensors = head->tensors;
    writer->tensor_count = head->tensor_count;
    writer->alignment = alignment_of(head);
    writer->path = strdup(path);
    if (asprintf(&writer->beside, "%s.new", path) < 0)
        writer->beside = NULL;
    enum td_status status = TD_OK;
    if (writer->path == NULL || writer->beside == NULL)
        status = error_set(err, TD_NO_MEMORY, "%s: no memory", path);
    if (status == TD_OK)
        status = begin(writer, head, err);
    if (status != TD_OK) {
        gguf_writer_free(writer);
        return status;
    }
    *out = writer;
    return TD_OK;
}

/* --- data --- */

static enum td_status end_tensor(struct gguf_writer *writer, uint64_t bytes, struct td_error *err)
{
    static const uint8_t zeros[256];
    uint64_t gap = aligned(bytes, writer->alignment) - bytes;
    enum td_status status = TD_OK;
    while (status == TD_OK && gap != 0) {
        size_t part = gap < sizeof zeros ? (size_t)gap : sizeof zeros;
        status = write_all(writer, zeros, part, err);
        gap -= part;
    }
    writer->current++;
    writer->written = 0;
    return status;
}

enum td_status gguf_writer_append(struct gguf_writer *writer, const void *data, size_t len,
                                  struct td_error *err)
{
    const uint8_t *from = data;
    while (len != 0) {
        ASSERT(writer->current < writer->tensor_count);
        uint64_t bytes = gguf_write_tensor_bytes(&writer->tensors[writer->current]);
        uint64_t left = bytes - writer->written;
        size_t part = left < len ? (size_t)left : len;
        enum td_status status = write_all(writer, from, part, err);
        writer->written += part;
        if (status == TD_OK && writer->written == bytes)
            status = end_tensor(writer, bytes, err);
        if (status != TD_OK)
            return status;
        from += part;
        len -= part;
    }
    return TD_OK;
}

enum td_status gguf_writer_finish(struct gguf_writer *writer, struct td_error *err)
{
    ASSERT(writer->current == writer->tensor_count);
    bool synced = fsync(writer->fd) == 0;
    bool closed = close(writer->fd) == 0;
    writer->fd = -1;
    if (!synced || !closed || rename(writer->beside, writer->path) != 0) {
        enum td_status status = error_set(err, TD_IO, "%s: %s", writer->path, strerror(errno));
        unlink(writer->beside);
        return status;
    }
    file_sync_folder(writer->path);
    return TD_OK;
}

uint64_t gguf_writer_file_bytes(const struct gguf_writer *writer)
{
    return writer->file_bytes;
}

void gguf_writer_free(struct gguf_writer *writer)
{
    if (writer == NULL)
        return;
    if (writer->fd >= 0) {
        close(writer->fd);
        unlink(writer->beside);
    }
    free(writer->path);
    free(writer->beside);
    free(writer);
}
