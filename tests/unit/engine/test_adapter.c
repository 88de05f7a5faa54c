/* Reading adapters and making sets: adapters that fit are accepted, all others are refused with the
 * reason. test_adapter_forward.c tests what they do to the numbers. */
#include "test.h"
#include "tiny_adapter.h"

#include <math.h>

static struct td_model *model;

static const struct tiny_change query = {"blk.0.attn_q.weight", TINY_WIDE, TINY_WIDE};

static struct tiny_adapter_options usual(void)
{
    return (struct tiny_adapter_options){
        .changes = &query, .change_count = 1, .rank = 4, .alpha = 8, .size = 0.5f, .seed = 1};
}

static enum td_status load_bytes(const struct buf *file, struct td_adapter **out,
                                 struct td_error *err)
{
    *err = (struct td_error){0};
    return adapter_load_memory(model, file->data, file->len, "file", out, err);
}

/* Must be refused with this status and these words, and leave no adapter. */
static void check_refused(const struct buf *file, enum td_status expected, const char *words)
{
    struct td_adapter *adapter = (void *)1;
    struct td_error err;
    enum td_status status = load_bytes(file, &adapter, &err);
    if (status != expected || strstr(err.message, words) == NULL)
        fprintf(stderr, "status %s: '%s', wanted '%s'\n", td_status_name(status), err.message,
                words);
    CHECK(status == expected && strstr(err.message, words) != NULL);
    CHECK(adapter == NULL);
}

static void check_options_refused(struct tiny_adapter_options options, enum td_status expected,
                                  const char *words)
{
    struct buf file;
    tiny_adapter_build(&options, &file);
    check_refused(&file, expected, words);
    buf_deinit(&file);
}

static void test_an_adapter_of_all_matrices_is_read(void)
{
    struct td_adapter *adapter = tiny_adapter(model, 3);
    REQUIRE(adapter != NULL);
    const struct td_adapter_info *info = td_adapter_get_info(adapter);
    CHECK(info->matrix_count == TINY_CHANGES + 1 && info->rank_max == 5 && info->alpha == 10.0f);
    CHECK(strcmp(info->name, "tiny adapter") == 0);
    uint32_t changed = 0;
    for (uint32_t i = 0; i < model->matrix_count; i++)
        changed += adapter->pairs[i].b.rows != 0;
    CHECK(changed == TINY_CHANGES + 1);
    const struct adapter_pair *q = &adapter->pairs[model->layers[0].q.number];
    CHECK(q->a.rows == 5 && q->a.cols == TINY_WIDE && q->b.rows == TINY_WIDE && q->b.cols == 5);
    CHECK(adapter->pairs[model->layers[1].q.number].b.rows == 0);
    td_adapter_free(adapter);
}

static void test_an_adapter_is_read_from_a_file_and_outlives_it(void)
{
    struct tiny_adapter_options options = usual();
    char path[] = "/tmp/tandem_test_XXXXXX";
    struct buf file;
    struct td_adapter *adapter = NULL;
    struct td_error err = {0};
    int fd = mkstemp(path);
    REQUIRE(fd >= 0);
    tiny_adapter_build(&options, &file);
    CHECK(write(fd, file.data, file.len) == (ssize_t)file.len);
    CHECK(td_adapter_load(model, path, &adapter, &err) == TD_OK);
    REQUIRE(adapter != NULL);
    const float *first = adapter->pairs[model->layers[0].q.number].a.data;
    float before = *first;
    CHECK(ftruncate(fd, 0) == 0); /* a mapping would now be a bus error */
    CHECK(*first == before && before != 0);
    td_adapter_free(adapter);
    close(fd);
    unlink(path);
    CHECK(td_adapter_load(model, path, &adapter, &err) == TD_NOT_FOUND && adapter == NULL);
    buf_deinit(&file);
}

static void test_adapters_of_another_base_are_refused(void)
{
    static const struct tiny_change wider = {"blk.0.attn_q.weight", TINY_WIDE + 32, TINY_WIDE};
    static const struct tiny_change taller = {"blk.0.attn_q.weight", TINY_WIDE, TINY_WIDE + 1};
    static const struct tiny_change deeper = {"blk.2.attn_q.weight", TINY_WIDE, TINY_WIDE};
    struct tiny_adapter_options options = usual();
    options.architecture = "qwen2";
    check_options_refused(options, TD_INVALID, "general.architecture is 'qwen2', expected 'llama'");
    options = usual();
    options.changes = &wider;
    check_options_refused(options, TD_INVALID, "do not fit the model's 'blk.0.attn_q.weight'");
    options.changes = &taller;
    check_options_refused(options, TD_INVALID, "made for another model");
    options.changes = &deeper;
    check_options_refused(options, TD_INVALID, "'blk.2.attn_q.weight', which the model");
}

static void test_files_that_are_no_lora_are_refused(void)
{
    struct tiny_adapter_options options = usual();
    options.type = "model";
    check_options_refused(options, TD_INVALID, "general.type is 'model', expected 'adapter'");
    options = usual();
    options.kind = "control_vector";
    check_options_refused(options, TD_UNSUPPORTED, "adapter.type is 'control_vector'");
    options = usual();
    options.change_count = 0;
    check_options_refused(options, TD_CORRUPT, "no tensors");
    options = usual();
    options.alpha = INFINITY;
    check_options_refused(options, TD_CORRUPT, "adapter.lora.alpha");
    struct buf file;
    buf_init(&file, 100);
    buf_append(&file, "not a file of weights", 21);
    check_refused(&file, TD_CORRUPT, "not a GGUF file");
    buf_deinit(&file);
}

static void test_vectors_and_unknown_suffixes_are_refused(void)
{
    static const struct tiny_change norm = {"blk.0.attn_norm.weight", TINY_WIDE, 1};
    struct tiny_adapter_options options = usual();
    options.changes = &norm;
    check_options_refused(options, TD_UNSUPPORTED, "'blk.0.attn_norm.weight', which is no matrix");
    struct gguf_builder builder;
    struct buf file;
    options = usual();
    builder_init(&builder);
    tiny_adapter_keys(&builder, &options);
    builder_tensor(&builder, "blk.0.attn_norm.weight", 0, TINY_WIDE, 1, NULL);
    builder_finish(&builder, &file);
    check_refused(&file, TD_UNSUPPORTED, "neither NAME.lora_a nor NAME.lora_b");
    buf_deinit(&file);
    builder_deinit(&builder);
}

/* A file with the two halves of one matrix in any shape; rank 0 leaves a half out. */
static void build_halves(struct buf *file, uint64_t a_rank, uint64_t b_rank, float value)
{
    struct gguf_builder builder;
    struct tiny_adapter_options options = usual();
    builder_init(&builder);
    tiny_adapter_keys(&builder, &options);
    if (a_rank)
        builder_tensor(&builder, "blk.0.attn_q.weight.lora_a", a_rank, TINY_WIDE, value, NULL);
    if (b_rank)
        builder_tensor(&builder, "blk.0.attn_q.weight.lora_b", TINY_WIDE, b_rank, value, NULL);
    builder_finish(&builder, file);
    builder_deinit(&builder);
}

static void test_halves_that_do_not_belong_together_are_refused(void)
{
    struct buf file;
    build_halves(&file, 4, 0, 1);
    check_refused(&file, TD_CORRUPT, "lora_b' is missing");
    buf_deinit(&file);
    build_halves(&file, 0, 4, 1);
    check_refused(&file, TD_CORRUPT, "lora_a' is missing");
    buf_deinit(&file);
    build_halves(&file, 4, 5, 1);
    check_refused(&file, TD_INVALID, "do not fit");
    buf_deinit(&file);
    build_halves(&file, ADAPTER_RANK_MAX + 1, ADAPTER_RANK_MAX + 1, 1);
    check_refused(&file, TD_LIMIT, "rank 1025");
    buf_deinit(&file);
    build_halves(&file, 4, 4, NAN);
    check_refused(&file, TD_CORRUPT, "a value that is no number (row 0, column 0)");
    buf_deinit(&file);
}

/* A dimension of 0 and a tensor beyond the end of the file: the reader's own checks hold here
 * too. */
static void test_hostile_shapes_are_refused(void)
{
    struct gguf_builder builder;
    struct tiny_adapter_options options = usual();
    struct buf file;
    const uint64_t none[2] = {TINY_WIDE, 0}, huge[2] = {TINY_WIDE, UINT64_MAX / 2};
    const uint64_t far[2] = {TINY_WIDE, 1 << 20};
    const uint64_t *const shapes[] = {none, huge, far};
    for (int i = 0; i < 3; i++) {
        builder_init(&builder);
        tiny_adapter_keys(&builder, &options);
        builder_entry(&builder, "blk.0.attn_q.weight.lora_a", TENSOR_F32, 2, shapes[i], 0);
        builder_entry(&builder, "blk.0.attn_q.weight.lora_b", TENSOR_F32, 2, shapes[i], 0);
        builder_finish(&builder, &file);
        check_refused(&file, TD_CORRUPT, "lora_a'");
        buf_deinit(&file);
        builder_deinit(&builder);
    }
}

static void test_every_truncation_is_refused(void)
{
    struct tiny_adapter_options options = usual();
    struct buf file;
    options.rank = 1;
    tiny_adapter_build(&options, &file);
    size_t whole = file.len;
    for (size_t len = 0; len < whole; len += len < 500 ? 1 : 37) {
        struct td_adapter *adapter;
        struct td_error err;
        file.len = len;
        CHECK(load_bytes(&file, &adapter, &err) != TD_OK && adapter == NULL);
    }
    buf_deinit(&file);
}

/* --- sets --- */

static void test_a_set_does_not_depend_on_the_order_of_its_adapters(void)
{
    struct td_adapter *one = tiny_adapter(model, 1), *two = tiny_adapter(model, 2);
    const struct td_adapter_use ab[] = {{one, 0.5f}, {two, 2}}, ba[] = {{two, 2}, {one, 0.5f}};
    struct adapter_set *a = NULL, *b = NULL, *other = NULL;
    struct td_error err = {0};
    CHECK(adapter_set_new(model, ab, 2, &a, &err) == TD_OK);
    CHECK(adapter_set_new(model, ba, 2, &b, &err) == TD_OK);
    CHECK(adapter_set_same(a, b));
    CHECK(adapter_set_new(model, ab, 1, &other, &err) == TD_OK);
    CHECK(!adapter_set_same(a, other) && !adapter_set_same(other, NULL));
    td_adapter_free(one); /* the sets keep them */
    td_adapter_free(two);
    CHECK(a->adapters[0] == b->adapters[0] && a->adapters[1]->info.rank_max == 5);
    adapter_set_release(a);
    adapter_set_release(b);
    adapter_set_release(other);
}

static void test_a_reloaded_adapter_has_another_id(void)
{
    struct td_adapter *before = tiny_adapter(model, 1), *after = tiny_adapter(model, 1);
    struct adapter_set *a = NULL, *b = NULL;
    struct td_error err = {0};
    CHECK(adapter_set_new(model, &(struct td_adapter_use){before, 1}, 1, &a, &err) == TD_OK);
    CHECK(adapter_set_new(model, &(struct td_adapter_use){after, 1}, 1, &b, &err) == TD_OK);
    CHECK(!adapter_set_same(a, b));
    adapter_set_release(a);
    adapter_set_release(b);
    td_adapter_free(before);
    td_adapter_free(after);
}

static void test_sets_without_effect_are_none(void)
{
    struct td_adapter *adapter = tiny_adapter(model, 1);
    struct adapter_set *set = (void *)1;
    struct td_error err = {0};
    CHECK(adapter_set_new(model, NULL, 0, &set, &err) == TD_OK && set == NULL);
    CHECK(adapter_set_new(model, &(struct td_adapter_use){adapter, 0}, 1, &set, &err) == TD_OK);
    CHECK(set == NULL && adapter_set_same(NULL, set));
    td_adapter_free(adapter);
}

static void test_bad_sets_are_refused(void)
{
    struct td_model *other = tiny_model(2);
    struct td_adapter *adapter = tiny_adapter(model, 1);
    struct adapter_set *set = NULL;
    const struct td_adapter_use twice[] = {{adapter, 1}, {adapter, 1}}, nan = {adapter, NAN};
    const struct td_adapter_use large = {adapter, 1e5f}, nobody = {NULL, 1};
    struct td_error err = {0};
    CHECK(adapter_set_new(model, twice, 2, &set, &err) == TD_INVALID && set == NULL);
    CHECK(strstr(err.message, "tiny adapter is named twice") != NULL);
    CHECK(adapter_set_new(model, &nan, 1, &set, NULL) == TD_INVALID);
    CHECK(adapter_set_new(model, &large, 1, &set, NULL) == TD_INVALID);
    CHECK(adapter_set_new(model, &nobody, 1, &set, NULL) == TD_INVALID);
    err = (struct td_error){0};
    CHECK(adapter_set_new(other, twice, 1, &set, &err) == TD_INVALID);
    CHECK(strstr(err.message, "loaded for another model") != NULL);
    td_adapter_free(adapter);
    td_model_close(other);
}

static void test_a_set_is_bounded(void)
{
    struct td_adapter *adapters[TD_ADAPTERS_MAX + 1];
    struct td_adapter_use uses[TD_ADAPTERS_MAX + 1];
    struct adapter_set *set = NULL;
    struct td_error err = {0};
    struct tiny_adapter_options options = usual();
    struct buf file;
    options.rank = 600;
    tiny_adapter_build(&options, &file);
    for (int i = 0; i <= TD_ADAPTERS_MAX; i++) {
        adapters[i] = tiny_adapter(model, (uint64_t)i);
        uses[i] = (struct td_adapter_use){adapters[i], 1};
    }
    CHECK(adapter_set_new(model, uses, TD_ADAPTERS_MAX, &set, &err) == TD_OK);
    CHECK(set && set->count == TD_ADAPTERS_MAX);
    adapter_set_release(set);
    CHECK(adapter_set_new(model, uses, TD_ADAPTERS_MAX + 1, &set, &err) == TD_LIMIT);
    CHECK(strstr(err.message, "more than 8 adapters") != NULL && set == NULL);
    for (int i = 0; i < 2; i++) {
        td_adapter_free(adapters[i]);
        CHECK(load_bytes(&file, &adapters[i], &err) == TD_OK);
        uses[i].adapter = adapters[i];
    }
    CHECK(adapter_set_new(model, uses, 1, &set, &err) == TD_OK);
    adapter_set_release(set);
    CHECK(adapter_set_new(model, uses, 2, &set, &err) == TD_LIMIT);
    CHECK(strstr(err.message, "ranks add up") != NULL);
    for (int i = 0; i <= TD_ADAPTERS_MAX; i++)
        td_adapter_free(adapters[i]);
    buf_deinit(&file);
}

int main(void)
{
    model = tiny_model(1);
    if (model == NULL)
        return 1;
    RUN(test_an_adapter_of_all_matrices_is_read);
    RUN(test_an_adapter_is_read_from_a_file_and_outlives_it);
    RUN(test_adapters_of_another_base_are_refused);
    RUN(test_files_that_are_no_lora_are_refused);
    RUN(test_vectors_and_unknown_suffixes_are_refused);
    RUN(test_halves_that_do_not_belong_together_are_refused);
    RUN(test_hostile_shapes_are_refused);
    RUN(test_every_truncation_is_refused);
    RUN(test_a_set_does_not_depend_on_the_order_of_its_adapters);
    RUN(test_a_reloaded_adapter_has_another_id);
    RUN(test_sets_without_effect_are_none);
    RUN(test_bad_sets_are_refused);
    RUN(test_a_set_is_bounded);
    td_model_close(model);
    return test_finish();
}
