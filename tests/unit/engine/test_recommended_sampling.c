/* The settings of a file under general.sampling.* are those of the model, and a number out of range
 * is an error. */
#include "test.h"
#include "tiny_model.h"

#include <math.h>

static struct td_model *open_with(void (*put)(struct gguf_builder *builder), struct td_error *err)
{
    struct gguf_builder builder;
    struct buf file;
    *err = (struct td_error){0};
    builder_init(&builder);
    tiny_hyperparameters_of(&builder, 1);
    tiny_vocabulary(&builder);
    tiny_tensors_of(&builder, 1, 1, UINT_MAX);
    if (put)
        put(&builder);
    builder_finish(&builder, &file);
    struct td_model *model = tiny_open(&file, NULL, err);
    builder_deinit(&builder);
    buf_deinit(&file);
    return model;
}

static struct td_sampling sampling_of(void (*put)(struct gguf_builder *builder))
{
    struct td_error err;
    struct td_model *model = open_with(put, &err);
    CHECK(model != NULL);
    struct td_sampling found = model ? td_model_get_info(model)->sampling : (struct td_sampling){0};
    td_model_close(model);
    return found;
}

static void put_i32(struct gguf_builder *builder, const char *key, int32_t value)
{
    builder_key(builder, key, GGUF_I32);
    builder_put_u32(&builder->pairs, (uint32_t)value);
}

static void put_all(struct gguf_builder *builder)
{
    builder_f32(builder, "general.sampling.temp", 0);
    put_i32(builder, "general.sampling.top_k", 40);
    builder_f32(builder, "general.sampling.top_p", 0.75f);
    builder_f32(builder, "general.sampling.min_p", 0.125f);
    builder_f32(builder, "general.sampling.xtc_probability", 0.5f);
    builder_f32(builder, "general.sampling.xtc_threshold", 0.25f);
    builder_f32(builder, "general.sampling.penalty_repeat", 1.5f);
    put_i32(builder, "general.sampling.penalty_last_n", 128);
    put_i32(builder, "general.sampling.mirostat", 1);
    builder_f32(builder, "general.sampling.mirostat_eta", 0.5f);
}

static void put_off(struct gguf_builder *builder)
{
    put_i32(builder, "general.sampling.top_k", -1);
    builder_f32(builder, "general.sampling.penalty_repeat", 1.5f);
    put_i32(builder, "general.sampling.penalty_last_n", 0);
    put_i32(builder, "general.sampling.mirostat", 0);
    builder_f32(builder, "general.sampling.mirostat_tau", 3);
}

static void put_window(struct gguf_builder *builder)
{
    put_i32(builder, "general.sampling.penalty_last_n", -1);
}

static void test_a_silent_file_leaves_the_defaults(void)
{
    struct td_sampling found = sampling_of(NULL), standard = td_sampling_default();
    CHECK(found.temperature == standard.temperature && found.top_p == standard.top_p);
    CHECK(found.repetition_penalty == standard.repetition_penalty && found.top_k == 0);
    CHECK(found.min_p == 0 && found.mirostat_tau == 0 && found.xtc_probability == 0);
}

static void test_every_key_is_read(void)
{
    struct td_sampling found = sampling_of(put_all);
    CHECK(found.temperature == 0 && found.top_k == 40 && found.top_p == 0.75f);
    CHECK(found.min_p == 0.125f && found.xtc_probability == 0.5f && found.xtc_threshold == 0.25f);
    CHECK(found.repetition_penalty == 1.5f && found.repetition_window == 128);
    CHECK(found.mirostat_version == 1 && found.mirostat_tau == 5 && found.mirostat_eta == 0.5f);
}

static void test_llama_cpps_numbers_for_off_and_for_all_are_understood(void)
{
    struct td_sampling found = sampling_of(put_off);
    CHECK(found.top_k == 0 && found.repetition_penalty == 1 && found.mirostat_tau == 0);
    CHECK(sampling_of(put_window).repetition_window == 4096);
}

static void put_hot(struct gguf_builder *builder)
{
    builder_f32(builder, "general.sampling.temp", NAN);
}

static void put_text(struct gguf_builder *builder)
{
    builder_string(builder, "general.sampling.top_p", "all");
}

static void put_third(struct gguf_builder *builder)
{
    put_i32(builder, "general.sampling.mirostat", 3);
}

static void test_what_no_sampler_takes_is_refused_with_its_key(void)
{
    static const struct {
        void (*put)(struct gguf_builder *builder);
        const char *words;
    } cases[] = {
        {put_hot, "general.sampling.temp: not a number from 0 to 100"},
        {put_text, "general.sampling.top_p: not a number from 0 to 1"},
        {put_third, "general.sampling.mirostat: not 0, 1 or 2"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct td_error err;
        struct td_model *model = open_with(cases[i].put, &err);
        CHECK(model == NULL && err.status == TD_CORRUPT);
        CHECK(strstr(err.message, cases[i].words) != NULL);
        td_model_close(model);
    }
}

int main(void)
{
    RUN(test_a_silent_file_leaves_the_defaults);
    RUN(test_every_key_is_read);
    RUN(test_llama_cpps_numbers_for_off_and_for_all_are_understood);
    RUN(test_what_no_sampler_takes_is_refused_with_its_key);
    return test_finish();
}
