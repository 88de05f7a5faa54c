/* Early exits and the probe: they are read from metadata with every length checked; an exit leaves
 * the keys and values that the rest of the model would have made of its state; the probe follows
 * its formula. */
#include "engine/model/heads.h"
#include "engine/session/session.h"
#include "test.h"
#include "tiny_model.h"

#include <math.h>

#define IDS 150
#define WIDE TINY_WIDE

static int32_t ids[IDS];

struct recipe {
    unsigned layers, idle; /* idle UINT_MAX: none */
    void (*heads)(struct gguf_builder *builder);
};

static struct td_model *open_recipe(struct recipe recipe, struct td_error *err)
{
    struct gguf_builder builder;
    struct buf file;
    *err = (struct td_error){0};
    builder_init(&builder);
    tiny_hyperparameters_of(&builder, recipe.layers);
    tiny_vocabulary(&builder);
    tiny_tensors_of(&builder, 1, recipe.layers, recipe.idle);
    if (recipe.heads)
        recipe.heads(&builder);
    builder_finish(&builder, &file);
    struct td_model *model = tiny_open(&file, NULL, err);
    builder_deinit(&builder);
    buf_deinit(&file);
    return model;
}

static void put_floats(struct gguf_builder *builder, const char *key, uint64_t count, uint64_t seed)
{
    struct rng rng;
    rng_init(&rng, seed);
    builder_array(builder, key, GGUF_F32, count);
    for (uint64_t i = 0; i < count; i++) {
        float value = seed ? (float)(rng_double(&rng) * 2 - 1) * 0.2f : 1.0f;
        buf_append(&builder->pairs, &value, sizeof value);
    }
}

static void put_exit_layers(struct gguf_builder *builder, uint32_t count, const uint32_t *layers)
{
    builder_array(builder, "tandem.exit.layers", GGUF_U32, count);
    for (uint32_t i = 0; i < count; i++)
        builder_put_u32(&builder->pairs, layers[i]);
}

static void exit_after_one(struct gguf_builder *builder)
{
    put_exit_layers(builder, 1, &(uint32_t){1});
}

static struct td_session *open_session(const struct td_model *model)
{
    struct td_session *session = NULL;
    struct td_error err = {0};
    struct td_session_options options = {.thread_count = 2, .kv_type = TD_KV_F32};
    CHECK(td_session_new(model, &options, &session, &err) == TD_OK);
    return session;
}

static bool same(const float *a, const float *b)
{
    return memcmp(a, b, TINY_VOCAB * sizeof *a) == 0;
}

/* One token through the model, leaving early when an exit is at least so sure. */
static uint32_t run_token(struct td_session *session, int32_t id, float threshold, float *logits)
{
    uint32_t layers = 0;
    struct td_error err = {0};
    struct segment segment = {.ids = &id,
                              .count = 1,
                              .logit_rows = 1,
                              .exit_threshold = threshold,
                              .layers_run = &layers};
    CHECK(session_run(session, &segment, logits, &err) == TD_OK);
    return layers;
}

#define ALWAYS 1e-9f

/* --- exits --- */

/* If every token takes an exit, the layers above it make no difference. */
static void test_tokens_that_always_exit_are_those_of_a_shorter_model(void)
{
    struct td_error err;
    struct td_model *whole = open_recipe((struct recipe){3, UINT_MAX, exit_after_one}, &err);
    struct td_model *bare = open_recipe((struct recipe){3, UINT_MAX, NULL}, &err);
    REQUIRE(whole != NULL && bare != NULL);
    CHECK(td_model_get_info(whole)->exit_count == 1 && td_model_get_info(bare)->exit_count == 0);
    struct td_session *early = open_session(whole), *full = open_session(bare);
    float got[TINY_VOCAB], wanted[TINY_VOCAB], hidden[WIDE], normed[WIDE];
    CHECK(td_session_forward(early, ids, 20, NULL, 0, &err) == TD_OK);
    CHECK(td_session_forward(full, ids, 20, NULL, 0, &err) == TD_OK);
    for (int i = 20; i < 40; i++) {
        CHECK(run_token(early, ids[i], ALWAYS, got) == 1);
        /* The state after layer 1 depends on layer 0's keys alone: the same in both. */
        CHECK(td_session_forward_hidden(full, ids + i, 1, 1, hidden, 1, &err) == TD_OK);
        bare->kernels->rms_norm(hidden, bare->output_norm, WIDE, bare->norm_epsilon, normed);
        const float *output = bare->output.data;
        for (int r = 0; r < TINY_VOCAB; r++) {
            double sum = 0;
            for (int c = 0; c < WIDE; c++)
                sum += (double)output[r * WIDE + c] * (double)normed[c];
            wanted[r] = (float)sum;
            CHECK(fabs((double)(got[r] - wanted[r])) < 1e-4);
        }
    }
    td_session_free(early);
    td_session_free(full);
    td_model_close(whole);
    td_model_close(bare);
}

/* The layer after the exit adds nothing, so that the state that left early is what the last layer
 * would have seen: its keys and values must be those of the whole pass, bit by bit. */
static void test_keys_and_values_of_skipped_layers_are_made_of_the_state_that_left(void)
{
    struct td_error err;
    struct td_model *model = open_recipe((struct recipe){3, 1, exit_after_one}, &err);
    REQUIRE(model != NULL);
    struct td_session *early = open_session(model), *full = open_session(model);
    float a[TINY_VOCAB], b[TINY_VOCAB];
    CHECK(td_session_forward(early, ids, 70, NULL, 0, &err) == TD_OK);
    CHECK(td_session_forward(full, ids, 70, NULL, 0, &err) == TD_OK);
    for (int i = 70; i < 90; i++) {
        CHECK(run_token(early, ids[i], ALWAYS, a) == 1);
        CHECK(run_token(full, ids[i], 0, b) == 3);
        CHECK(!same(a, b));
    }
    CHECK(run_token(early, ids[90], 0, a) == 3 && run_token(full, ids[90], 0, b) == 3);
    CHECK(same(a, b));
    td_session_free(early);
    td_session_free(full);
    td_model_close(model);
}

static void test_an_unsure_exit_changes_nothing(void)
{
    struct td_error err;
    struct td_model *model = open_recipe((struct recipe){3, UINT_MAX, exit_after_one}, &err);
    REQUIRE(model != NULL);
    struct td_session *asked = open_session(model), *plain = open_session(model);
    float a[TINY_VOCAB], b[TINY_VOCAB];
    CHECK(run_token(asked, ids[0], 1, a) == 3); /* random weights are never certain */
    CHECK(run_token(plain, ids[0], 0, b) == 3);
    CHECK(same(a, b));
    td_session_free(asked);
    td_session_free(plain);
    td_model_close(model);
}

/* Prompts, streams that leave and streams that do not, in one batch: each as alone. */
static void test_company_changes_neither_exits_nor_numbers(void)
{
    enum { SEGMENTS = 5 };
    const float thresholds[SEGMENTS] = {0, ALWAYS, 1, ALWAYS, ALWAYS};
    const uint32_t counts[SEGMENTS] = {1, 1, 1, 9, 1};
    float rows[SEGMENTS * TINY_VOCAB], row[TINY_VOCAB];
    uint32_t layers[SEGMENTS], alone;
    struct td_error err;
    struct td_model *model = open_recipe((struct recipe){3, UINT_MAX, exit_after_one}, &err);
    REQUIRE(model != NULL);
    struct td_session *together[SEGMENTS];
    struct segment segments[SEGMENTS];
    for (int turn = 0; turn < 2; turn++) { /* in the second all layers read what the first left */
        for (int i = 0; i < SEGMENTS; i++) {
            if (turn == 0) {
                together[i] = open_session(model);
                CHECK(td_session_forward(together[i], ids, 10, NULL, 0, &err) == TD_OK);
            }
            segments[i] = (struct segment){.sequence = &together[i]->sequence,
                                           .ids = ids + 10 + 20 * i + turn * 10,
                                           .count = counts[i],
                                           .logit_rows = 1,
                                           .exit_threshold = turn == 0 ? thresholds[i] : 0,
                                           .layers_run = &layers[i]};
        }
        CHECK(forward_run(together[0]->workspace, segments, SEGMENTS, rows, &err) == TD_OK);
        for (int i = 0; i < SEGMENTS; i++) {
            struct td_session *session = open_session(model);
            CHECK(td_session_forward(session, ids, 10, NULL, 0, &err) == TD_OK);
            for (int t = 0; t <= turn; t++) {
                struct segment segment = segments[i];
                segment.ids = ids + 10 + 20 * i + t * 10;
                segment.exit_threshold = t == 0 ? thresholds[i] : 0;
                segment.layers_run = &alone;
                CHECK(session_run(session, &segment, row, &err) == TD_OK);
            }
            CHECK(same(row, rows + i * TINY_VOCAB));
            bool leaves = turn == 0 && (i == 1 || i == 4);
            CHECK(alone == layers[i] && alone == (leaves ? 1u : 3u));
            td_session_free(session);
        }
    }
    for (int i = 0; i < SEGMENTS; i++)
        td_session_free(together[i]);
    td_model_close(model);
}

static void own_head(struct gguf_builder *builder)
{
    put_exit_layers(builder, 2, (const uint32_t[]){1, 2});
    put_floats(builder, "tandem.exit.2.norm", WIDE, 3);
    builder_u32(builder, "tandem.exit.2.output.type", TENSOR_F16);
    builder_array(builder, "tandem.exit.2.output.data", GGUF_U8, TINY_VOCAB * WIDE * 2);
    for (int i = 0; i < TINY_VOCAB * WIDE; i++) /* 1.0 in row 7, else 0 */
        buf_append(&builder->pairs, &(uint16_t){i / WIDE == 7 ? 0x3c00 : 0}, 2);
}

static void test_an_exit_may_have_a_norm_and_an_output_of_its_own(void)
{
    struct td_error err;
    struct td_model *model = open_recipe((struct recipe){3, UINT_MAX, own_head}, &err);
    if (model == NULL)
        fprintf(stderr, "%s\n", err.message);
    REQUIRE(model != NULL);
    const struct exit_head *first = heads_exit_at(model, 1), *second = heads_exit_at(model, 2);
    CHECK(heads_exit_at(model, 3) == NULL && td_model_get_info(model)->exit_count == 2);
    CHECK(first->norm == model->output_norm && first->output.data == model->output.data);
    CHECK(second->norm != model->output_norm && second->output.type == TENSOR_F16);
    model->heads->exits[0].layer = 99; /* leave through the second */
    struct td_session *session = open_session(model);
    float logits[TINY_VOCAB], hidden[WIDE], sum = 0;
    CHECK(run_token(session, ids[0], ALWAYS, logits) == 2);
    td_session_truncate(session, 0);
    CHECK(td_session_forward_hidden(session, ids, 1, 2, hidden, 1, &err) == TD_OK);
    model->kernels->rms_norm(hidden, second->norm, WIDE, model->norm_epsilon, hidden);
    for (int i = 0; i < WIDE; i++)
        sum += hidden[i];
    CHECK(fabsf(logits[7] - sum) < 1e-4f && logits[6] == 0 && logits[8] == 0);
    td_session_free(session);
    td_model_close(model);
}

static void test_generation_counts_what_it_saves(void)
{
    struct td_error err;
    struct td_model *model = open_recipe((struct recipe){3, UINT_MAX, exit_after_one}, &err);
    struct td_model *bare = open_recipe((struct recipe){3, UINT_MAX, NULL}, &err);
    REQUIRE(model != NULL && bare != NULL);
    struct td_session *session = open_session(model), *other = open_session(bare);
    struct td_generate_options options = {.sampling = td_sampling_default(),
                                          .tokens_max = 12,
                                          .ignore_eos = true,
                                          .exit_threshold = ALWAYS};
    struct td_generate_result result;
    CHECK(td_generate(session, ids, 30, &options, NULL, NULL, &result, &err) == TD_OK);
    CHECK(result.early_tokens == 11 && result.layers_saved == 22); /* the first is the prompt's */
    CHECK(result.probe == 0);
    CHECK(td_generate(other, ids, 30, &options, NULL, NULL, &result, &err) == TD_INVALID);
    CHECK(strstr(err.message, "no early exits") != NULL);
    options.exit_threshold = 0;
    CHECK(td_generate(session, ids, 30, &options, NULL, NULL, &result, &err) == TD_OK);
    CHECK(result.early_tokens == 0 && result.layers_saved == 0);
    options.exit_threshold = NAN;
    CHECK(td_generate(session, ids, 30, &options, NULL, NULL, &result, NULL) == TD_INVALID);
    td_session_free(session);
    td_session_free(other);
    td_model_close(model);
    td_model_close(bare);
}

/* --- probe --- */

enum { HIDDEN = 6 };

static void probe_of_both(struct gguf_builder *builder)
{
    builder_u32(builder, "tandem.probe.layer", 2);
    builder_string(builder, "tandem.probe.input", "last+mean");
    put_floats(builder, "tandem.probe.0.weight", HIDDEN * 2 * WIDE, 11);
    put_floats(builder, "tandem.probe.0.bias", HIDDEN, 12);
    put_floats(builder, "tandem.probe.1.weight", HIDDEN, 13);
    put_floats(builder, "tandem.probe.1.bias", 1, 14);
}

static void probe_of_last(struct gguf_builder *builder)
{
    builder_u32(builder, "tandem.probe.layer", 1);
    put_floats(builder, "tandem.probe.0.weight", WIDE, 21);
    put_floats(builder, "tandem.probe.0.bias", 1, 22);
}

static float probe_after(struct td_session *session, size_t begin, size_t count)
{
    float probability = -2;
    struct td_error err = {0};
    CHECK(td_session_forward_probe(session, ids + begin, count, &probability, &err) == TD_OK);
    return probability;
}

/* The formula, from the states that the session gives. */
static double expected_probe(const struct td_model *model, size_t count)
{
    const struct probe *probe = &model->heads->probe;
    struct td_session *session = open_session(model);
    struct td_error err = {0};
    float *states = calloc(count * WIDE, sizeof *states);
    double input[2 * WIDE] = {0}, sum = 0;
    CHECK(td_session_forward_hidden(session, ids, count, probe->layer, states, count, &err) ==
          TD_OK);
    for (size_t i = 0; i < WIDE; i++) {
        input[i] = (double)states[(count - 1) * WIDE + i];
        for (size_t p = 0; p < count; p++)
            input[WIDE + i] += (double)states[p * WIDE + i] / (double)count;
    }
    const struct probe_stage *first = &probe->stages[0], *second = &probe->stages[1];
    for (uint32_t row = 0; row < first->out; row++) {
        double value = (double)first->bias[row];
        for (uint32_t i = 0; i < first->in; i++)
            value += (double)first->weight[row * first->in + i] * input[i];
        if (probe->stage_count == 1)
            sum = value;
        else if (value > 0)
            sum += value * (double)second->weight[row];
    }
    if (probe->stage_count == 2)
        sum += (double)second->bias[0];
    td_session_free(session);
    free(states);
    return 1 / (1 + exp(-sum));
}

static void check_probe(void (*heads)(struct gguf_builder *builder))
{
    struct td_error err;
    struct td_model *model = open_recipe((struct recipe){2, UINT_MAX, heads}, &err);
    if (model == NULL)
        fprintf(stderr, "%s\n", err.message);
    REQUIRE(model != NULL && td_model_get_info(model)->has_probe);
    for (size_t count = 1; count <= IDS; count += 37) {
        struct td_session *session = open_session(model);
        double wanted = expected_probe(model, count);
        float whole = probe_after(session, 0, count);
        CHECK(fabs((double)whole - wanted) < 1e-4 && wanted > 0 && wanted < 1);
        /* What is cached need not run again, however much it is. */
        td_session_truncate(session, (uint32_t)count - 1);
        CHECK(probe_after(session, count - 1, 1) == whole);
        td_session_truncate(session, (uint32_t)count / 2);
        CHECK(probe_after(session, count / 2, count - count / 2) == whole);
        td_session_free(session);
    }
    td_model_close(model);
}

static void test_a_probe_gives_what_its_formula_says(void)
{
    check_probe(probe_of_last);
    check_probe(probe_of_both);
}

/* Saved positions contain the numbers that the probe keeps. */
static void test_a_probe_survives_saving(void)
{
    struct td_error err;
    struct td_model *model = open_recipe((struct recipe){2, UINT_MAX, probe_of_both}, &err);
    REQUIRE(model != NULL);
    struct td_session *from = open_session(model), *to = open_session(model);
    size_t bytes = 0;
    CHECK(td_session_forward(from, ids, 100, NULL, 0, &err) == TD_OK);
    CHECK(td_session_export(from, 0, 100, NULL, 0, &bytes, NULL) == TD_LIMIT && bytes > 0);
    void *data = malloc(bytes);
    CHECK(td_session_export(from, 0, 100, data, bytes, &bytes, &err) == TD_OK);
    CHECK(td_session_import(to, data, bytes, &err) == TD_OK);
    CHECK(probe_after(to, 100, 20) == probe_after(from, 100, 20));
    free(data);
    td_session_free(from);
    td_session_free(to);
    td_model_close(model);
}

static bool collect_probe(void *ctx, const struct td_token *token, struct td_str text)
{
    float *probes = ctx;
    (void)text;
    if (token && probes[0] < 3)
        probes[1 + (int)probes[0]++] = token->stats.probe;
    return true;
}

static void test_generation_tells_the_probe_with_the_first_token(void)
{
    struct td_error err;
    struct td_model *model = open_recipe((struct recipe){2, UINT_MAX, probe_of_both}, &err);
    REQUIRE(model != NULL);
    struct td_session *session = open_session(model), *other = open_session(model);
    struct td_generate_options options = {
        .sampling = td_sampling_default(), .tokens_max = 3, .ignore_eos = true};
    struct td_generate_result result;
    float probes[4] = {0}, wanted = probe_after(other, 0, 90);
    CHECK(td_generate(session, ids, 90, &options, collect_probe, probes, &result, &err) == TD_OK);
    CHECK(result.probe == wanted && probes[1] == wanted);
    CHECK(probes[2] == 0 && probes[3] == 0);
    td_session_free(session);
    td_session_free(other);
    td_model_close(model);
    model = open_recipe((struct recipe){2, UINT_MAX, NULL}, &err);
    session = open_session(model);
    CHECK(td_session_forward_probe(session, ids, 1, probes, &err) == TD_INVALID);
    td_session_free(session);
    td_model_close(model);
}

/* --- calibration --- */

static void put_calibration(struct gguf_builder *builder)
{
    builder_f32(builder, "tandem.calibration.temperature", 1.5f);
    builder_f32(builder, "tandem.calibration.bias", -0.25f);
}

static void put_calibrations(struct gguf_builder *builder)
{
    put_calibration(builder);
    builder_f32(builder, "tandem.calibration.call.temperature", 3.0f);
    builder_f32(builder, "tandem.calibration.label.temperature", 0.5f);
    builder_f32(builder, "tandem.calibration.label.bias", 2.0f);
}

static void test_a_calibration_is_told_and_absent_where_the_file_has_none(void)
{
    struct td_error err;
    struct td_model *model = open_recipe((struct recipe){1, UINT_MAX, put_calibration}, &err);
    REQUIRE(model != NULL);
    struct td_calibration found = td_model_get_info(model)->calibration;
    CHECK(found.temperature == 1.5f && found.bias == -0.25f);
    found = td_model_get_info(model)->call_calibration; /* the general one */
    CHECK(found.temperature == 1.5f && found.bias == -0.25f);
    td_model_close(model);
    model = open_recipe((struct recipe){1, UINT_MAX, put_calibrations}, &err);
    REQUIRE(model != NULL);
    found = td_model_get_info(model)->call_calibration;
    CHECK(found.temperature == 3.0f && found.bias == 0);
    found = td_model_get_info(model)->label_calibration;
    CHECK(found.temperature == 0.5f && found.bias == 2.0f);
    found = td_model_get_info(model)->calibration;
    CHECK(found.temperature == 1.5f && found.bias == -0.25f);
    td_model_close(model);
    model = open_recipe((struct recipe){1, UINT_MAX, NULL}, &err);
    REQUIRE(model != NULL);
    found = td_model_get_info(model)->calibration;
    CHECK(found.temperature == 0 && found.bias == 0);
    td_model_close(model);
}

/* --- refusals --- */

static const char *bad_what;

static void bad_heads(struct gguf_builder *builder)
{
    if (strcmp(bad_what, "descending") == 0)
        put_exit_layers(builder, 2, (const uint32_t[]){2, 1});
    if (strcmp(bad_what, "beyond") == 0)
        put_exit_layers(builder, 1, &(uint32_t){3});
    if (strcmp(bad_what, "zero") == 0)
        put_exit_layers(builder, 1, &(uint32_t){0});
    if (strcmp(bad_what, "none") == 0)
        put_exit_layers(builder, 0, NULL);
    if (strcmp(bad_what, "one number") == 0)
        builder_u32(builder, "tandem.exit.layers", 1);
    if (strcmp(bad_what, "norm") == 0 || strcmp(bad_what, "output") == 0 ||
        strcmp(bad_what, "type") == 0)
        exit_after_one(builder);
    if (strcmp(bad_what, "norm") == 0)
        put_floats(builder, "tandem.exit.1.norm", WIDE - 1, 1);
    if (strcmp(bad_what, "output") == 0)
        put_floats(builder, "tandem.exit.1.output.data", WIDE, 1);
    if (strcmp(bad_what, "type") == 0) {
        builder_u32(builder, "tandem.exit.1.output.type", TENSOR_Q4_K); /* rows of 256 */
        builder_array(builder, "tandem.exit.1.output.data", GGUF_U8, 0);
    }
    if (strcmp(bad_what, "temperature") == 0)
        builder_f32(builder, "tandem.calibration.temperature", 0);
    if (strcmp(bad_what, "bias") == 0)
        builder_f32(builder, "tandem.calibration.bias", NAN);
    else if (strcmp(bad_what, "call bias") == 0)
        builder_f32(builder, "tandem.calibration.call.bias", 101);
    if (strncmp(bad_what, "probe", 5) != 0)
        return;
    bool layer = strcmp(bad_what, "probe layer") == 0, input = strcmp(bad_what, "probe input") == 0;
    bool wide = strcmp(bad_what, "probe width") == 0, two = strcmp(bad_what, "probe two") == 0;
    builder_u32(builder, "tandem.probe.layer", layer ? 4 : 1);
    if (input)
        builder_string(builder, "tandem.probe.input", "first");
    uint64_t out = wide ? PROBE_WIDTH_MAX + 1 : two ? 2 : 1;
    put_floats(builder, "tandem.probe.0.bias", out, 1);
    if (strcmp(bad_what, "probe weight") != 0)
        put_floats(builder, "tandem.probe.0.weight", WIDE * out, 2);
}

static void test_bad_heads_are_refused_with_their_key(void)
{
    static const struct {
        const char *what, *words;
    } cases[] = {
        {"descending", "tandem.exit.layers: not ascending"},
        {"beyond", "tandem.exit.layers: not ascending, or not inside"},
        {"zero", "tandem.exit.layers"},
        {"none", "tandem.exit.layers: not an array of 1 to 16"},
        {"one number", "tandem.exit.layers: not an array"},
        {"norm", "tandem.exit.1.norm: 63 numbers, expected 64"},
        {"output", "tandem.exit.1.output.data: not the bytes"},
        {"type", "tandem.exit.1.output.type: no type"},
        {"probe layer", "tandem.probe.layer"},
        {"probe input", "tandem.probe.input"},
        {"probe width", "tandem.probe.0.bias: not an array of 1 to 256"},
        {"probe weight", "tandem.probe.0.weight: missing"},
        {"probe two", "one output"},
        {"temperature", "tandem.calibration.temperature: not a number from 0.01"},
        {"bias", "tandem.calibration.bias: not a number"},
        {"call bias", "tandem.calibration.call.bias: not a number"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct td_error err;
        bad_what = cases[i].what;
        struct td_model *model = open_recipe((struct recipe){3, UINT_MAX, bad_heads}, &err);
        if (model != NULL || strstr(err.message, cases[i].words) == NULL)
            fprintf(stderr, "%s: '%s'\n", cases[i].what, err.message);
        CHECK(model == NULL && err.status == TD_CORRUPT);
        CHECK(strstr(err.message, cases[i].words) != NULL);
        td_model_close(model);
    }
}

int main(void)
{
    struct rng rng;
    rng_init(&rng, 3);
    for (int i = 0; i < IDS; i++)
        ids[i] = (int32_t)rng_below(&rng, TINY_VOCAB);
    RUN(test_tokens_that_always_exit_are_those_of_a_shorter_model);
    RUN(test_keys_and_values_of_skipped_layers_are_made_of_the_state_that_left);
    RUN(test_an_unsure_exit_changes_nothing);
    RUN(test_company_changes_neither_exits_nor_numbers);
    RUN(test_an_exit_may_have_a_norm_and_an_output_of_its_own);
    RUN(test_generation_counts_what_it_saves);
    RUN(test_a_probe_gives_what_its_formula_says);
    RUN(test_a_probe_survives_saving);
    RUN(test_generation_tells_the_probe_with_the_first_token);
    RUN(test_a_calibration_is_told_and_absent_where_the_file_has_none);
    RUN(test_bad_heads_are_refused_with_their_key);
    return test_finish();
}
