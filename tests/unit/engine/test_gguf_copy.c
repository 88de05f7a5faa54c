/* A copied model is the same model with other metadata. */
#include "engine/gguf/gguf_copy.h"

#include "base/crypto/rng.h"
#include "test.h"
#include "tiny_model.h"

#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

static char folder[] = "/tmp/tandem-copy-XXXXXX";

static const char *path_of(const char *name)
{
    static char path[256];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    return path;
}

/* A whole small model with an old probe in the middle of its metadata. */
static struct gguf *open_original(struct buf *file)
{
    struct gguf_builder builder;
    struct gguf *gguf = NULL;
    struct td_error err = {0};
    builder_init(&builder);
    builder_u32(&builder, "tandem.probe.layer", 1);
    tiny_hyperparameters(&builder);
    builder_string(&builder, "tandem.probe.input", "last");
    tiny_vocabulary(&builder);
    builder_bool(&builder, "tandem.probed", true);
    tiny_tensors_of(&builder, 1, TINY_LAYERS, UINT_MAX);
    builder_finish(&builder, file);
    builder_deinit(&builder);
    CHECK(gguf_open_memory(file->data, file->len, "memory", false, &gguf, &err) == TD_OK);
    return gguf;
}

static enum td_status copy_to(const struct gguf *gguf, const char *path, uint32_t layer,
                              struct td_error *err)
{
    static const float weights[] = {1, -2, 3};
    struct buf pairs;
    buf_init(&pairs, 1 << 16);
    gguf_put_u32(&pairs, "tandem.probe.layer", layer);
    gguf_put_string(&pairs, "tandem.probe.input", STR("mean"));
    gguf_put_floats(&pairs, "tandem.probe.0.bias", weights, 3);
    enum td_status status = gguf_copy(gguf, "tandem.probe.", &pairs, 3, path, err);
    buf_deinit(&pairs);
    return status;
}

static void check_copy(const struct gguf *original, const struct gguf *copy, uint32_t layer)
{
    uint32_t found = 0;
    struct td_str text;
    enum gguf_type type;
    const void *data;
    uint64_t count;
    bool flag = false;
    CHECK(gguf_get_u32(copy, "tandem.probe.layer", &found) && found == layer);
    CHECK(gguf_get_string(copy, "tandem.probe.input", &text) && str_equal(text, STR("mean")));
    CHECK(gguf_get_array(copy, "tandem.probe.0.bias", &type, &data, &count) && type == GGUF_F32);
    CHECK(count == 3 && memcmp(data, (float[]){1, -2, 3}, 12) == 0);
    CHECK(gguf_get_bool(copy, "tandem.probed", &flag) && flag); /* only like the prefix */
    CHECK(gguf_array_count(copy, "tokenizer.ggml.tokens") ==
          gguf_array_count(original, "tokenizer.ggml.tokens"));
    const void *a = NULL, *b = NULL;
    struct td_str x, y;
    while (gguf_next_string(original, "tokenizer.ggml.tokens", &a, &x))
        CHECK(gguf_next_string(copy, "tokenizer.ggml.tokens", &b, &y) && str_equal(x, y));
    REQUIRE(gguf_tensor_count(copy) == gguf_tensor_count(original));
    for (size_t i = 0; i < gguf_tensor_count(copy); i++) {
        const struct gguf_tensor *from = gguf_tensor_at(original, i);
        const struct gguf_tensor *to = gguf_tensor_at(copy, i);
        CHECK(str_equal(from->name, to->name) && from->type == to->type);
        CHECK(memcmp(from->dims, to->dims, sizeof from->dims) == 0 && from->bytes == to->bytes);
        CHECK(memcmp(from->data, to->data, from->bytes) == 0);
    }
}

static void test_keys_of_the_prefix_are_replaced_and_all_else_stays(void)
{
    struct buf file;
    struct td_error err = {0};
    struct gguf *original = open_original(&file), *copy = NULL, *again = NULL;
    CHECK(copy_to(original, path_of("copy.gguf"), 2, &err) == TD_OK);
    REQUIRE(gguf_open(path_of("copy.gguf"), false, &copy, &err) == TD_OK);
    check_copy(original, copy, 2);
    /* Replaces the file that is open; its mapping keeps the old content. */
    CHECK(copy_to(copy, path_of("copy.gguf"), 1, &err) == TD_OK);
    check_copy(original, copy, 2);
    REQUIRE(gguf_open(path_of("copy.gguf"), false, &again, &err) == TD_OK);
    check_copy(original, again, 1);
    CHECK(gguf_file_bytes(again) == gguf_file_bytes(copy));
    gguf_close(again);
    gguf_close(copy);
    gguf_close(original);
    buf_deinit(&file);
    unlink(path_of("copy.gguf"));
}

static void test_a_copy_is_a_model_that_runs(void)
{
    struct buf file;
    struct td_error err = {0};
    struct gguf *original = open_original(&file);
    struct buf none;
    struct td_model *model = NULL;
    buf_init(&none, 1 << 10);
    CHECK(gguf_copy(original, "tandem.probe.", &none, 0, path_of("plain.gguf"), &err) == TD_OK);
    CHECK(td_model_open(path_of("plain.gguf"), NULL, &model, &err) == TD_OK);
    REQUIRE(model != NULL);
    CHECK(!td_model_get_info(model)->has_probe);
    td_model_close(model);
    buf_deinit(&none);
    gguf_close(original);
    buf_deinit(&file);
    unlink(path_of("plain.gguf"));
}

static void test_what_cannot_be_written_says_where_and_leaves_nothing(void)
{
    struct buf file;
    struct td_error err = {0};
    struct stat stat_;
    struct gguf *original = open_original(&file);
    CHECK(copy_to(original, "/tmp/no/such/folder/copy.gguf", 1, &err) == TD_IO);
    CHECK(strstr(err.message, "/tmp/no/such/folder/copy.gguf") != NULL);
    CHECK(mkdir(path_of("taken.gguf"), 0700) == 0); /* a folder cannot be replaced by a file */
    err = (struct td_error){0};
    CHECK(copy_to(original, path_of("taken.gguf"), 1, &err) == TD_IO);
    CHECK(stat(path_of("taken.gguf.new"), &stat_) != 0);
    rmdir(path_of("taken.gguf"));
    gguf_close(original);
    buf_deinit(&file);
}

int main(void)
{
    CHECK(mkdtemp(folder) != NULL);
    RUN(test_keys_of_the_prefix_are_replaced_and_all_else_stays);
    RUN(test_a_copy_is_a_model_that_runs);
    RUN(test_what_cannot_be_written_says_where_and_leaves_nothing);
    rmdir(folder);
    return test_finish();
}
