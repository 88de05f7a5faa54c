/* Decoders of the architectures that the shared golden data do not have, against logits by another
 * implementation in float64 (tests/golden/make_decoders.py). Weights are a formula. */
#include "base/json.h"
#include "tandem/engine.h"

#include "nmse.h"
#include "tiny_model.h"
#include "variants.h"

#include <math.h>

/* A feature that is left out moves the logits by more than 1e-3. */
#define NMSE_MAX 1e-9

static struct json *golden;

/* As make_bert.py has it. */
static float weight_at(uint32_t seed, uint32_t index, double scale, double base)
{
    uint32_t x = (index + seed * 1000003u) * 2654435761u;
    x = (x ^ x >> 16) * 0x45D9F3Bu;
    x ^= x >> 16;
    return (float)(base + scale * ((double)x / 2147483648.0 - 1));
}

static void put_tensor(struct gguf_builder *builder, const struct json *row, uint32_t seed)
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
    for (uint32_t i = 0; i < count; i++) {
        float value =
            weight_at(seed, i, json_number(json_at(row, 2), 0), json_number(json_at(row, 3), 0));
        buf_append(&builder->data, &value, sizeof value);
    }
}

static void put_keys(struct gguf_builder *builder, const struct json *model)
{
    const char *arch = json_cstr(json_get(model, "arch")), *name;
    const struct json *value;
    char key[96];
    builder_string(builder, "general.architecture", arch);
    for (void *at = NULL; json_next(json_get(model, "keys"), &at, &name, &value);) {
        snprintf(key, sizeof key, "%s.%s", arch, name);
        if (json_kind_of(value) == JSON_KIND_TEXT)
            builder_string(builder, key, json_cstr(value));
        else if (json_kind_of(value) == JSON_KIND_INT)
            builder_u32(builder, key, (uint32_t)json_int(value, 0));
        else
            builder_f32(builder, key, (float)json_number(value, 0));
    }
}

static void put_vocabulary(struct gguf_builder *builder, int count)
{
    builder_string(builder, "tokenizer.ggml.model", "llama");
    builder_array(builder, "tokenizer.ggml.tokens", GGUF_STRING, (uint64_t)count);
    for (int i = 0; i < count; i++) {
        char text[16];
        snprintf(text, sizeof text, i == 0 ? "<unk>" : "w%d", i);
        builder_put_string(&builder->pairs, str_from(text));
    }
    builder_array(builder, "tokenizer.ggml.scores", GGUF_F32, (uint64_t)count);
    for (int i = 0; i < count; i++) {
        float score = (float)-i;
        buf_append(&builder->pairs, &score, sizeof score);
    }
}

/* **returns new** (td_model_close) or NULL. */
static struct td_model *make(const struct json *model, const struct td_model_options *options)
{
    struct gguf_builder builder;
    struct buf file;
    struct td_error err = {0};
    const struct json *tensors = json_get(model, "tensors");
    builder_init(&builder);
    put_keys(&builder, model);
    put_vocabulary(&builder, (int)json_int(json_get(golden, "vocab"), 0));
    for (size_t i = 0; i < json_count(tensors); i++)
        put_tensor(&builder, json_at(tensors, i), (uint32_t)i + 1);
    builder_finish(&builder, &file);
    builder_deinit(&builder);
    struct td_model *made = tiny_open(&file, options, &err);
    if (made == NULL)
        fprintf(stderr, "%s\n", err.message);
    buf_deinit(&file);
    return made;
}

static void check_logits(const struct json *model, const struct td_model *made, const char *variant)
{
    enum { IDS_MAX = 64, LOGITS_MAX = 256 };
    const struct json *ids_json = json_get(golden, "ids"), *rows = json_get(model, "logits");
    size_t count = json_count(ids_json), row_count = json_count(rows);
    size_t vocab = json_count(json_at(rows, 0));
    int32_t ids[IDS_MAX];
    float got[LOGITS_MAX], expected[LOGITS_MAX];
    REQUIRE(count > 0 && count <= IDS_MAX && row_count * vocab <= LOGITS_MAX && vocab > 0);
    for (size_t i = 0; i < count; i++)
        ids[i] = (int32_t)json_int(json_at(ids_json, i), -1);
    for (size_t i = 0; i < row_count * vocab; i++)
        expected[i] = (float)json_number(json_at(json_at(rows, i / vocab), i % vocab), NAN);
    struct td_session *session = NULL;
    struct td_session_options options = {.kv_type = TD_KV_F32, .thread_count = 1};
    REQUIRE(td_session_new(made, &options, &session, NULL) == TD_OK);
    CHECK(td_session_forward(session, ids, count, got, row_count, NULL) == TD_OK);
    double error = nmse(got, expected, row_count * vocab);
    CHECK(error <= NMSE_MAX);
    printf("  %-16s %-8s nmse %.1e\n", json_cstr(json_get(model, "name")), variant, error);
    td_session_free(session);
}

static void test_logits_are_those_of_the_other_implementation(void)
{
    const struct json *models = json_get(golden, "models");
    CHECK(json_count(models) >= 12);
    for (size_t i = 0; i < json_count(models); i++) {
        const struct json *model = json_at(models, i);
        const char *name = json_cstr(json_get(model, "name"));
        for (const struct variant *v = NULL; (v = variant_next(v, name)) != NULL;) {
            struct td_model_options options = {.cpu = v->cpu};
            struct td_model *made = make(model, &options);
            CHECK(made != NULL);
            if (made)
                check_logits(model, made, v->name);
            td_model_close(made);
        }
    }
}

int main(void)
{
    struct buf text;
    struct td_error err = {0};
    buf_init(&text, 1 << 22);
    if (buf_read_file(&text, TANDEM_GOLDEN_DIR "/decoders.json", &err) != TD_OK ||
        json_parse(buf_view(&text), &golden, &err) != TD_OK) {
        fprintf(stderr, "%s\n", err.message);
        return 1;
    }
    buf_deinit(&text);
    RUN(test_logits_are_those_of_the_other_implementation);
    json_free(golden);
    return test_finish();
}
