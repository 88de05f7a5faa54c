/* Adapters of every matrix of every architecture (fused ones, experts and their router too) against
 * the same models with merged weights, on the golden models. */
#include "base/core/str.h"
#include "engine/model/adapter.h"
#include "nmse.h"
#include "shared_data.h"
#include "test.h"
#include "tiny_model.h"

#include <math.h>

#define IDS 40
#define RANK 3

static const char *const names[] = {"llama",  "llama-headdim", "qwen2", "qwen3",   "qwen3moe",
                                    "gemma2", "gemma3",        "phi3",  "smollm3", "granite"};

static bool is_matrix(const struct gguf_tensor *tensor)
{
    return tensor->dim_count > 1 && !str_equal(tensor->name, STR("token_embd.weight"));
}

/* One half of all experts, [cols, rows, experts]. */
static void put_half(struct gguf_builder *builder, const struct gguf_tensor *of, const char *half,
                     uint64_t cols, uint64_t rows, struct rng *rng)
{
    char name[96];
    const uint64_t dims[3] = {cols, rows, of->dims[2]};
    snprintf(name, sizeof name, STR_FMT ".%s", STR_ARG(of->name), half);
    builder_pad(&builder->data);
    builder_entry(builder, name, TENSOR_F32, of->dims[2] > 1 ? 3 : 2, dims, builder->data.len);
    for (uint64_t i = 0; i < cols * rows * dims[2]; i++) {
        float value = (float)(rng_double(rng) * 2 - 1) * 0.3f;
        buf_append(&builder->data, &value, sizeof value);
    }
}

static void build_adapter(const struct gguf *model, const char *architecture, struct buf *file)
{
    struct gguf_builder builder;
    struct rng rng;
    rng_init(&rng, 9);
    builder_init(&builder);
    builder_string(&builder, "general.type", "adapter");
    builder_string(&builder, "general.architecture", architecture);
    builder_string(&builder, "adapter.type", "lora");
    builder_f32(&builder, "adapter.lora.alpha", 2 * RANK);
    for (size_t i = 0; i < gguf_tensor_count(model); i++) {
        const struct gguf_tensor *tensor = gguf_tensor_at(model, i);
        if (!is_matrix(tensor))
            continue;
        put_half(&builder, tensor, "lora_a", tensor->dims[0], RANK, &rng);
        put_half(&builder, tensor, "lora_b", RANK, tensor->dims[1], &rng);
    }
    builder_finish(&builder, file);
    builder_deinit(&builder);
}

/* W += scale * 2 * B A, for each expert. */
static void merge(const struct gguf *model, const struct gguf *adapter, float scale)
{
    for (size_t i = 0; i < gguf_tensor_count(model); i++) {
        const struct gguf_tensor *tensor = gguf_tensor_at(model, i);
        char name[96];
        if (!is_matrix(tensor))
            continue;
        snprintf(name, sizeof name, STR_FMT ".lora_a", STR_ARG(tensor->name));
        const float *a = gguf_find_tensor(adapter, name)->data;
        snprintf(name, sizeof name, STR_FMT ".lora_b", STR_ARG(tensor->name));
        const float *b = gguf_find_tensor(adapter, name)->data;
        float *weights = (float *)(uintptr_t)tensor->data;
        size_t in = (size_t)tensor->dims[0], out = (size_t)tensor->dims[1];
        for (size_t row = 0; row < out * tensor->dims[2]; row++)
            for (size_t col = 0; col < in; col++) {
                double sum = 0;
                for (size_t r = 0; r < RANK; r++)
                    sum += (double)b[row * RANK + r] * (double)a[(row / out * RANK + r) * in + col];
                weights[row * in + col] += (float)(sum * 2 * (double)scale);
            }
    }
}

static float *run(const struct td_model *model, const struct td_adapter *adapter, float scale,
                  uint32_t threads, size_t cut)
{
    size_t vocab = td_model_get_info(model)->vocab_count;
    float *rows = calloc(IDS * vocab, sizeof *rows);
    struct td_session *session = NULL;
    struct td_error err = {0};
    struct td_session_options options = {.thread_count = threads, .kv_type = TD_KV_F32};
    int32_t ids[IDS];
    for (int i = 0; i < IDS; i++)
        ids[i] = (i * 37 + 5) % (int32_t)vocab;
    CHECK(td_session_new(model, &options, &session, &err) == TD_OK);
    if (adapter)
        CHECK(td_session_set_adapters(session, &(struct td_adapter_use){adapter, scale}, 1, &err) ==
              TD_OK);
    for (size_t at = 0; at < IDS; at += cut) {
        size_t count = IDS - at < cut ? IDS - at : cut;
        CHECK(td_session_forward(session, ids + at, count, rows + at * vocab, count, &err) ==
              TD_OK);
    }
    td_session_free(session);
    return rows;
}

static void check(const char *name, struct buf *file)
{
    struct buf adapter_file;
    struct gguf *gguf = NULL, *adapter_gguf = NULL;
    struct td_adapter *adapter = NULL;
    struct td_error err = {0};
    struct td_model *model = tiny_open(file, NULL, &err);
    REQUIRE(model != NULL);
    CHECK(gguf_open_memory(file->data, file->len, name, false, &gguf, &err) == TD_OK);
    build_adapter(gguf, td_model_get_info(model)->architecture, &adapter_file);
    CHECK(adapter_load_memory(model, adapter_file.data, adapter_file.len, "all", &adapter, &err) ==
          TD_OK);
    CHECK(gguf_open_memory(adapter_file.data, adapter_file.len, "all", false, &adapter_gguf,
                           &err) == TD_OK);
    if (err.status != TD_OK)
        fprintf(stderr, "%s: %s\n", name, err.message);
    REQUIRE(adapter != NULL && adapter_gguf != NULL);
    merge(gguf, adapter_gguf, 0.25f);
    struct td_model *merged = tiny_open(file, NULL, &err);
    REQUIRE(merged != NULL);
    size_t count = IDS * (size_t)td_model_get_info(model)->vocab_count;
    float *bare = run(model, NULL, 0, 1, IDS), *wanted = run(merged, NULL, 0, 1, IDS);
    float *got = run(model, adapter, 0.25f, 1, IDS), *cut = run(model, adapter, 0.25f, 3, 7);
    double found = nmse(got, wanted, count), moved = nmse(bare, wanted, count);
    printf("  %-14s nmse %.3g (without the adapter %.3g)\n", name, found, moved);
    CHECK(found < 1e-8 && moved > 1e-3);
    CHECK(memcmp(got, cut, count * sizeof *got) == 0);
    free(bare);
    free(wanted);
    free(got);
    free(cut);
    td_adapter_free(adapter);
    td_model_close(model);
    td_model_close(merged);
    gguf_close(gguf);
    gguf_close(adapter_gguf);
    buf_deinit(&adapter_file);
}

static void test_adapters_of_all_matrices_give_what_merged_weights_give(void)
{
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        char relative[128], path[512];
        struct buf file;
        struct td_error err = {0};
        snprintf(relative, sizeof relative, "golden/models/%s-f32.gguf", names[i]);
        buf_init(&file, 64 << 20);
        if (!shared_path(path, sizeof path, relative)) {
            SKIP(names[i], "no golden model ($TANDEM_SHARED)");
        } else {
            CHECK(buf_read_file(&file, path, &err) == TD_OK);
            check(names[i], &file);
        }
        buf_deinit(&file);
    }
}

int main(void)
{
    RUN(test_adapters_of_all_matrices_give_what_merged_weights_give);
    return test_finish();
}
