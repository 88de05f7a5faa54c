/* Models of the golden files whose weights are a formula (tests/golden/make_bert.py): a JSON object
 * with "arch", "keys" and "tensors" becomes a GGUF file and is opened. */
#ifndef TESTS_FORMULA_MODEL_H
#define TESTS_FORMULA_MODEL_H

#include "base/json/json.h"

#include "tiny_model.h"

/* As make_bert.py has it. */
static inline float formula_weight(uint32_t seed, uint32_t index, double scale, double base)
{
    uint32_t x = (index + seed * 1000003u) * 2654435761u;
    x = (x ^ x >> 16) * 0x45D9F3Bu;
    x ^= x >> 16;
    return (float)(base + scale * ((double)x / 2147483648.0 - 1));
}

static inline void formula_tensor(struct gguf_builder *builder, const struct json *row,
                                  uint32_t seed)
{
    const struct json *shape = json_at(row, 1);
    uint64_t dims[3] = {1, 1, 1}, count = 1;
    uint32_t dim_count = (uint32_t)json_count(shape);
    for (uint32_t i = 0; i < dim_count; i++) {
        dims[i] = (uint64_t)json_int(json_at(shape, dim_count - 1 - i), 0);
        count *= dims[i];
    }
    builder_pad(&builder->data);
    builder_entry(builder, json_cstr(json_at(row, 0)), TENSOR_F32, dim_count, dims,
                  builder->data.len);
    uint64_t others = (uint64_t)json_int(json_at(row, 4), 0); /* at the end */
    for (uint32_t i = 0; i < count; i++) {
        float value = formula_weight(seed, i, json_number(json_at(row, 2), 0),
                                     json_number(json_at(row, 3), 0));
        if (i >= count - others)
            value = (float)json_number(json_at(row, 5), 0);
        buf_append(&builder->data, &value, sizeof value);
    }
}

static inline void formula_keys(struct gguf_builder *builder, const struct json *model)
{
    const char *arch = json_cstr(json_get(model, "arch")), *name;
    const struct json *value;
    char key[96];
    builder_string(builder, "general.architecture", arch);
    for (void *at = NULL; json_next(json_get(model, "keys"), &at, &name, &value);) {
        snprintf(key, sizeof key, "%s.%s", arch, name);
        if (json_kind_of(value) == JSON_KIND_TEXT)
            builder_string(builder, key, json_cstr(value));
        else if (json_kind_of(value) == JSON_KIND_ARRAY) {
            builder_array(builder, key, GGUF_I32, json_count(value));
            for (size_t i = 0; i < json_count(value); i++) {
                int32_t number = (int32_t)json_int(json_at(value, i), 0);
                buf_append(&builder->pairs, &number, sizeof number);
            }
        } else if (json_kind_of(value) == JSON_KIND_BOOL)
            builder_bool(builder, key, json_bool(value, false));
        else if (json_kind_of(value) == JSON_KIND_INT)
            builder_u32(builder, key, (uint32_t)json_int(value, 0));
        else
            builder_f32(builder, key, (float)json_number(value, 0));
    }
}

static inline void formula_vocabulary(struct gguf_builder *builder, const char *arch, int count)
{
    static const char *const special[] = {"[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"};
    bool bert = strcmp(arch, "bert") == 0;
    builder_string(builder, "tokenizer.ggml.model", bert ? "bert" : "llama");
    builder_array(builder, "tokenizer.ggml.tokens", GGUF_STRING, (uint64_t)count);
    for (int i = 0; i < count; i++) {
        char text[16];
        if (bert && i < 5)
            snprintf(text, sizeof text, "%s", special[i]);
        else if (i == 0)
            snprintf(text, sizeof text, "<unk>");
        else
            snprintf(text, sizeof text, "%sw%d", bert ? "\xE2\x96\x81" : "", i);
        builder_put_string(&builder->pairs, str_from(text));
    }
    builder_array(builder, "tokenizer.ggml.scores", GGUF_F32, (uint64_t)count);
    for (int i = 0; i < count; i++) {
        float score = (float)-i;
        buf_append(&builder->pairs, &score, sizeof score);
    }
}

/* **returns new** (td_model_close) or NULL. */
static inline struct td_model *formula_model_open(const struct json *model, int vocab,
                                                  const struct td_model_options *options)
{
    struct gguf_builder builder;
    struct buf file;
    struct td_error err = {0};
    const struct json *tensors = json_get(model, "tensors");
    builder_init(&builder);
    formula_keys(&builder, model);
    formula_vocabulary(&builder, json_cstr(json_get(model, "arch")), vocab);
    for (size_t i = 0; i < json_count(tensors); i++)
        formula_tensor(&builder, json_at(tensors, i), (uint32_t)i + 1);
    builder_finish(&builder, &file);
    builder_deinit(&builder);
    struct td_model *made = tiny_open(&file, options, &err);
    if (made == NULL)
        fprintf(stderr, "%s\n", err.message);
    buf_deinit(&file);
    return made;
}

#endif
