/* Builds GGUF files in memory for tests: pairs and tensors in the order of the calls. */
#ifndef TESTS_GGUF_BUILDER_H
#define TESTS_GGUF_BUILDER_H

#include "base/bytes/buf.h"
#include "base/core/str.h"
#include "base/crypto/rng.h"
#include "engine/gguf/gguf.h"

struct gguf_builder {
    struct buf pairs, directory, data;
    uint64_t pair_count, tensor_count;
    uint32_t version;
};

static inline void builder_init(struct gguf_builder *builder)
{
    *builder = (struct gguf_builder){.version = 3};
    buf_init(&builder->pairs, 1 << 26);
    buf_init(&builder->directory, 1 << 24);
    buf_init(&builder->data, 1 << 28);
}

static inline void builder_deinit(struct gguf_builder *builder)
{
    buf_deinit(&builder->pairs);
    buf_deinit(&builder->directory);
    buf_deinit(&builder->data);
}

static inline void builder_put_u32(struct buf *out, uint32_t value)
{
    buf_append(out, &value, sizeof value);
}

static inline void builder_put_u64(struct buf *out, uint64_t value)
{
    buf_append(out, &value, sizeof value);
}

static inline void builder_put_string(struct buf *out, struct td_str text)
{
    builder_put_u64(out, text.len);
    buf_append_str(out, text);
}

static inline void builder_key(struct gguf_builder *builder, const char *key, enum gguf_type type)
{
    builder_put_string(&builder->pairs, str_from(key));
    builder_put_u32(&builder->pairs, (uint32_t)type);
    builder->pair_count++;
}

static inline void builder_u32(struct gguf_builder *builder, const char *key, uint32_t value)
{
    builder_key(builder, key, GGUF_U32);
    builder_put_u32(&builder->pairs, value);
}

static inline void builder_f32(struct gguf_builder *builder, const char *key, float value)
{
    builder_key(builder, key, GGUF_F32);
    buf_append(&builder->pairs, &value, sizeof value);
}

static inline void builder_bool(struct gguf_builder *builder, const char *key, bool value)
{
    builder_key(builder, key, GGUF_BOOL);
    buf_append_char(&builder->pairs, (char)value);
}

static inline void builder_string(struct gguf_builder *builder, const char *key, const char *value)
{
    builder_key(builder, key, GGUF_STRING);
    builder_put_string(&builder->pairs, str_from(value));
}

/* The caller then appends the elements to builder->pairs. */
static inline void builder_array(struct gguf_builder *builder, const char *key, enum gguf_type type,
                                 uint64_t count)
{
    builder_key(builder, key, GGUF_ARRAY);
    builder_put_u32(&builder->pairs, (uint32_t)type);
    builder_put_u64(&builder->pairs, count);
}

/* A directory entry alone, with any offset. */
static inline void builder_entry(struct gguf_builder *builder, const char *name, uint32_t type,
                                 uint32_t dim_count, const uint64_t *dims, uint64_t offset)
{
    builder_put_string(&builder->directory, str_from(name));
    builder_put_u32(&builder->directory, dim_count);
    for (uint32_t d = 0; d < dim_count; d++)
        builder_put_u64(&builder->directory, dims[d]);
    builder_put_u32(&builder->directory, type);
    builder_put_u64(&builder->directory, offset);
    builder->tensor_count++;
}

static inline void builder_pad(struct buf *out)
{
    while (out->len % 32)
        buf_append_char(out, 0);
}

/* F32 values in [-scale, scale], or all `scale` when rng is NULL. rows 0: a vector. */
static inline void builder_tensor(struct gguf_builder *builder, const char *name, uint64_t rows,
                                  uint64_t cols, float scale, struct rng *rng)
{
    builder_pad(&builder->data);
    uint64_t dims[2] = {cols, rows};
    builder_entry(builder, name, TENSOR_F32, rows ? 2 : 1, dims, builder->data.len);
    for (uint64_t i = 0; i < (rows ? rows : 1) * cols; i++) {
        float value = rng ? (float)(rng_double(rng) * 2 - 1) * scale : scale;
        buf_append(&builder->data, &value, sizeof value);
    }
}

/* The whole file. */
static inline void builder_finish(struct gguf_builder *builder, struct buf *out)
{
    buf_init(out, 1 << 28);
    buf_append(out, "GGUF", 4);
    builder_put_u32(out, builder->version);
    builder_put_u64(out, builder->tensor_count);
    builder_put_u64(out, builder->pair_count);
    buf_append_str(out, buf_view(&builder->pairs));
    buf_append_str(out, buf_view(&builder->directory));
    builder_pad(out);
    buf_append_str(out, buf_view(&builder->data));
}

#endif
