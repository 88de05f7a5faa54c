/* Embeddings: encoders against a float64 reference (tests/golden/bert.json), decoders against the
 * logits of the same vectors, and the promises of both. */
#include "base/json/json.h"
#include "engine/embedding/embedding.h"
#include "engine/model/model.h"
#include "gguf_builder.h"
#include "variants.h"

#include <math.h>
#include <unistd.h>

#define KEY(name) "tokenizer.ggml." name
#define WIDE 32
#define VOCAB 121

static struct json *golden;

/* The formula of tests/golden/make_bert.py. */
static float weight_at(uint32_t seed, uint32_t index, double scale, double base)
{
    uint32_t x = (index + seed * 1000003u) * 2654435761u;
    x = (x ^ x >> 16) * 0x45D9F3Bu;
    x ^= x >> 16;
    return (float)(base + scale * ((double)x / 2147483648.0 - 1));
}

static const struct json *golden_model(const char *arch)
{
    const struct json *models = json_get(golden, "models");
    for (size_t i = 0; i < json_count(models); i++)
        if (strcmp(json_cstr(json_get(json_at(models, i), "arch")), arch) == 0)
            return json_at(models, i);
    return NULL;
}

struct change {
    const char *skipped;   /* this tensor is left out */
    const char *misshapen; /* this one has a row too many */
    const char *added;     /* this one comes in addition */
    int32_t pooling;       /* -1 = no key */
    uint32_t context;      /* 0 = 64 */
    const char *damaged;   /* the last element of this one is not a number */
};

static void put_tensor(struct gguf_builder *builder, const struct json *row, uint32_t seed,
                       const struct change *change)
{
    const char *name = json_cstr(json_at(row, 0));
    const struct json *shape = json_at(row, 1);
    bool vector = json_count(shape) == 1;
    uint64_t rows = vector ? 1 : (uint64_t)json_int(json_at(shape, 0), 0);
    uint64_t cols = (uint64_t)json_int(json_at(shape, vector ? 0 : 1), 0);
    if (change->skipped && strcmp(change->skipped, name) == 0)
        return;
    if (change->misshapen && strcmp(change->misshapen, name) == 0)
        rows++, vector = false;
    uint64_t dims[2] = {cols, rows};
    builder_pad(&builder->data);
    builder_entry(builder, name, TENSOR_F32, vector ? 1 : 2, dims, builder->data.len);
    for (uint32_t i = 0; i < rows * cols; i++) {
        float value =
            weight_at(seed, i, json_number(json_at(row, 2), 0), json_number(json_at(row, 3), 0));
        if (change->damaged && strcmp(change->damaged, name) == 0 && i + 1 == rows * cols)
            value = NAN;
        buf_append(&builder->data, &value, sizeof value);
    }
}

static void put_vocabulary(struct gguf_builder *builder)
{
    static const char *const special[] = {"[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"};
    builder_string(builder, KEY("model"), "bert");
    builder_array(builder, KEY("tokens"), GGUF_STRING, VOCAB);
    for (int i = 0; i < VOCAB; i++) {
        char text[32];
        snprintf(text, sizeof text, "\xE2\x96\x81w%d", i);
        builder_put_string(&builder->pairs, str_from(i < 5 ? special[i] : text));
    }
}

/* Writes the model to a file that is removed at once; td_model_open maps it. */
static enum td_status open_model(const char *arch, const struct change *change,
                                 const struct td_model_options *options, struct td_model **out,
                                 struct td_error *err)
{
    static const struct change none = {.pooling = -1};
    struct gguf_builder builder;
    struct buf file;
    char key[64], path[] = "/tmp/test_embedding_XXXXXX";
    const struct json *tensors = json_get(golden_model(arch), "tensors");
    change = change ? change : &none;
    builder_init(&builder);
    builder_string(&builder, "general.architecture", arch);
    put_vocabulary(&builder);
    const struct {
        const char *name;
        uint32_t value;
    } numbers[] = {{"context_length", change->context ? change->context : 64},
                   {"embedding_length", WIDE},
                   {"block_count", 2},
                   {"feed_forward_length", 48},
                   {"attention.head_count", 4}};
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
        snprintf(key, sizeof key, "%s.%s", arch, numbers[i].name);
        builder_u32(&builder, key, numbers[i].value);
    }
    snprintf(key, sizeof key, "%s.attention.layer_norm_epsilon", arch);
    builder_f32(&builder, key, 1e-12f);
    snprintf(key, sizeof key, "%s.rope.freq_base", arch);
    builder_f32(&builder, key, 1000.0f);
    snprintf(key, sizeof key, "%s.pooling_type", arch);
    if (change->pooling >= 0)
        builder_u32(&builder, key, (uint32_t)change->pooling);
    for (size_t i = 0; i < json_count(tensors); i++)
        put_tensor(&builder, json_at(tensors, i), (uint32_t)i + 1, change);
    if (change->added)
        builder_tensor(&builder, change->added, 0, 4, 1, NULL);
    builder_finish(&builder, &file);
    builder_deinit(&builder);
    int fd = mkstemp(path);
    bool written = fd >= 0 && write(fd, file.data, file.len) == (ssize_t)file.len;
    CHECK(written);
    *err = (struct td_error){0};
    enum td_status status = td_model_open(path, options, out, err);
    if (fd >= 0) {
        close(fd);
        unlink(path);
    }
    buf_deinit(&file);
    return status;
}

static struct td_embedder *open_embedder(const struct td_model *model,
                                         const struct td_embedder_options *options)
{
    struct td_embedder *embedder = NULL;
    struct td_error err = {0};
    CHECK(td_embedder_new(model, options, &embedder, &err) == TD_OK);
    return embedder;
}

static size_t read_ids(const struct json *row, int32_t ids[static 64])
{
    const struct json *list = json_get(row, "ids");
    size_t count = json_count(list);
    for (size_t i = 0; i < count && i < 64; i++)
        ids[i] = (int32_t)json_int(json_at(list, i), -1);
    return count;
}

/* --- encoders --- */

static void check_case(struct td_embedder *embedder, const struct json *row, double bound)
{
    int32_t ids[64];
    float vector[WIDE];
    struct td_ids text = {ids, read_ids(row, ids)};
    const struct json *expected = json_get(row, pooling_name(td_embedder_pooling(embedder)));
    REQUIRE(json_count(expected) == WIDE);
    REQUIRE(td_embed(embedder, &text, 1, vector, NULL) == TD_OK);
    double worst = 0;
    for (size_t i = 0; i < WIDE; i++)
        worst = fmax(worst, fabs((double)vector[i] - json_number(json_at(expected, i), 9)));
    if (!(worst <= bound))
        fprintf(stderr, "%zu tokens, %s: off by %g\n", text.count,
                pooling_name(td_embedder_pooling(embedder)), worst);
    CHECK(worst <= bound);
}

/* Elements are of size 0.18 (32 of them make 1); the float sums of the variants and the GELU
 * (vector_body.h) leave some 1e-6, a wrong feature moves them by more than 1e-2. */
static void test_encoders_give_the_vectors_of_the_reference(void)
{
    static const char *const archs[] = {"bert", "nomic-bert"};
    for (size_t a = 0; a < 2; a++)
        for (const struct variant *v = NULL; (v = variant_next(v, archs[a])) != NULL;) {
            struct td_model_options options = {.cpu = v->cpu};
            struct td_model *model;
            struct td_error err;
            enum td_status status = open_model(archs[a], NULL, &options, &model, &err);
            REQUIRE(status == TD_OK);
            const struct json *cases = json_get(golden_model(archs[a]), "cases");
            CHECK(json_count(cases) == 4);
            for (int pooling = TD_POOLING_MEAN; pooling <= TD_POOLING_LAST; pooling++) {
                struct td_embedder_options how = {.pooling = (enum td_pooling)pooling,
                                                  .thread_count = 1};
                struct td_embedder *embedder = open_embedder(model, &how);
                for (size_t i = 0; embedder && i < json_count(cases); i++)
                    check_case(embedder, json_at(cases, i), 4e-6);
                td_embedder_free(embedder);
            }
            td_model_close(model);
        }
}

static void check_pooling(int32_t stored, enum td_pooling expected)
{
    struct change change = {.pooling = stored};
    struct td_model *model;
    struct td_error err;
    REQUIRE(open_model("bert", &change, NULL, &model, &err) == TD_OK);
    struct td_embedder *embedder = open_embedder(model, NULL);
    CHECK(embedder && td_embedder_pooling(embedder) == expected);
    td_embedder_free(embedder);
    td_model_close(model);
}

static void test_the_file_chooses_the_pooling_unless_the_caller_does(void)
{
    check_pooling(-1, TD_POOLING_MEAN);
    check_pooling(0, TD_POOLING_MEAN);
    check_pooling(1, TD_POOLING_MEAN);
    check_pooling(2, TD_POOLING_CLS);
    check_pooling(3, TD_POOLING_LAST);
    struct change ranker = {.pooling = 4};
    struct td_embedder_options cls = {.pooling = TD_POOLING_CLS};
    struct td_embedder *embedder;
    struct td_model *model;
    struct td_error err;
    REQUIRE(open_model("bert", &ranker, NULL, &model, &err) == TD_OK);
    CHECK(td_embedder_new(model, NULL, &embedder, &err) == TD_UNSUPPORTED && !embedder);
    CHECK(strstr(err.message, "ranks"));
    embedder = open_embedder(model, &cls);
    CHECK(embedder && td_embedder_pooling(embedder) == TD_POOLING_CLS);
    td_embedder_free(embedder);
    td_model_close(model);
}

static void check_refused(const struct change *change, enum td_status expected, const char *words)
{
    struct td_model *model = NULL;
    struct td_error err;
    CHECK(open_model("bert", change, NULL, &model, &err) == expected);
    if (!strstr(err.message, words))
        fprintf(stderr, "%s\n", err.message);
    CHECK(strstr(err.message, words) && !model);
    td_model_close(model);
}

static void test_files_with_wrong_tensors_are_refused_by_name(void)
{
    check_refused(&(struct change){.skipped = "blk.1.attn_output_norm.bias", .pooling = -1},
                  TD_CORRUPT, "'blk.1.attn_output_norm.bias' is missing");
    check_refused(&(struct change){.skipped = "position_embd.weight", .pooling = -1}, TD_CORRUPT,
                  "'position_embd.weight' is missing");
    check_refused(&(struct change){.misshapen = "blk.0.ffn_up.weight", .pooling = -1}, TD_CORRUPT,
                  "'blk.0.ffn_up.weight' is [32, 49");
    check_refused(&(struct change){.misshapen = "blk.0.attn_q.bias", .pooling = -1}, TD_CORRUPT,
                  "'blk.0.attn_q.bias' is [32, 2");
    check_refused(&(struct change){.added = "blk.0.ffn_gate.weight", .pooling = -1}, TD_UNSUPPORTED,
                  "no use for tensor 'blk.0.ffn_gate.weight'");
    struct td_model *model = NULL;
    struct td_error err;
    struct change head = {.added = "cls.weight", .pooling = -1};
    CHECK(open_model("bert", &head, NULL, &model, &err) == TD_OK);
    td_model_close(model);
}

static void test_a_context_beyond_the_learned_positions_is_cut(void)
{
    struct change change = {.context = 4096, .pooling = -1};
    struct td_model *model;
    struct td_error err;
    int32_t ids[65] = {0};
    float vector[WIDE];
    REQUIRE(open_model("bert", &change, NULL, &model, &err) == TD_OK);
    CHECK(td_model_get_info(model)->context_tokens == 64);
    struct td_embedder *embedder = open_embedder(model, NULL);
    REQUIRE(embedder);
    CHECK(td_embed(embedder, &(struct td_ids){ids, 64}, 1, vector, &err) == TD_OK);
    CHECK(td_embed(embedder, &(struct td_ids){ids, 65}, 1, vector, &err) == TD_LIMIT);
    CHECK(strstr(err.message, "65 tokens; at most 64"));
    td_embedder_free(embedder);
    td_model_close(model);
}

static void test_an_encoder_has_no_session(void)
{
    struct td_model *model;
    struct td_session *session = NULL;
    struct td_error err;
    REQUIRE(open_model("bert", NULL, NULL, &model, &err) == TD_OK);
    CHECK(td_session_new(model, NULL, &session, &err) == TD_UNSUPPORTED && !session);
    CHECK(strstr(err.message, "encoder"));
    td_model_close(model);
}

/* --- both kinds --- */

/* Texts of many lengths, in one call and one by one, with one thread and three: the same bits. */
static void check_independence(const struct td_model *model, uint32_t length_max)
{
    enum { TEXTS = 40 };
    size_t size = td_model_get_info(model)->embedding_size;
    int32_t *ids = calloc((size_t)TEXTS * length_max, sizeof *ids);
    float *together = calloc(TEXTS * size, sizeof *together), *alone = calloc(size, sizeof *alone);
    struct td_ids texts[TEXTS];
    struct rng rng;
    rng_init(&rng, 5);
    for (size_t i = 0; i < TEXTS; i++) {
        texts[i] =
            (struct td_ids){ids + i * length_max, 1 + (size_t)(rng_double(&rng) * rng_double(&rng) *
                                                               (i % 8 ? 20 : length_max - 1))};
        for (size_t k = 0; k < texts[i].count; k++)
            ids[i * length_max + k] = (int32_t)(rng_double(&rng) * 100);
    }
    for (int pooling = TD_POOLING_MEAN; pooling <= TD_POOLING_LAST; pooling++) {
        struct td_embedder_options three = {.pooling = (enum td_pooling)pooling, .thread_count = 3};
        struct td_embedder_options one = {.pooling = (enum td_pooling)pooling, .thread_count = 1};
        struct td_embedder *many = open_embedder(model, &three),
                           *single = open_embedder(model, &one);
        REQUIRE(many && single);
        CHECK(td_embed(many, texts, TEXTS, together, NULL) == TD_OK);
        for (size_t i = 0; i < TEXTS; i++) {
            double squares = 0;
            CHECK(td_embed(single, &texts[i], 1, alone, NULL) == TD_OK);
            CHECK(memcmp(alone, together + i * size, size * sizeof *alone) == 0);
            for (size_t k = 0; k < size; k++)
                squares += (double)alone[k] * (double)alone[k];
            CHECK(fabs(squares - 1) < 1e-5);
        }
        td_embedder_free(many);
        td_embedder_free(single);
    }
    free(ids);
    free(together);
    free(alone);
}

static void test_a_vector_does_not_depend_on_threads_or_on_the_texts_beside_it(void)
{
    struct td_model *model;
    struct td_error err = {0};
    REQUIRE(open_model("bert", NULL, NULL, &model, &err) == TD_OK);
    check_independence(model, 64);
    td_model_close(model);
    REQUIRE(open_model("nomic-bert", NULL, NULL, &model, &err) == TD_OK);
    check_independence(model, 64);
    td_model_close(model);
    REQUIRE(td_model_open(TANDEM_NANO_DEFAULT, NULL, &model, &err) == TD_OK);
    check_independence(model, 150); /* also texts of several passes */
    td_model_close(model);
}

static void test_what_cannot_be_embedded_is_refused(void)
{
    struct td_model *model;
    struct td_error err = {0};
    float vector[WIDE];
    int32_t ids[] = {2, VOCAB, 3}, negative[] = {-1};
    REQUIRE(open_model("bert", NULL, NULL, &model, &err) == TD_OK);
    struct td_embedder *embedder = open_embedder(model, NULL);
    REQUIRE(embedder);
    CHECK(td_embed(embedder, &(struct td_ids){ids, 3}, 1, vector, &err) == TD_INVALID);
    CHECK(strstr(err.message, "token 1 is 121"));
    CHECK(td_embed(embedder, &(struct td_ids){negative, 1}, 1, vector, &err) == TD_INVALID);
    CHECK(td_embed(embedder, &(struct td_ids){ids, 0}, 1, vector, &err) == TD_INVALID);
    CHECK(td_embed(embedder, NULL, 0, vector, &err) == TD_OK);
    td_embedder_free(embedder);
    struct td_embedder_options long_texts = {.context_tokens = 65};
    CHECK(td_embedder_new(model, &long_texts, &embedder, &err) == TD_INVALID && !embedder);
    td_model_close(model);
    struct td_model_options vocab_only = {.vocab_only = true};
    REQUIRE(open_model("bert", NULL, &vocab_only, &model, &err) == TD_OK);
    CHECK(td_embedder_new(model, NULL, &embedder, &err) == TD_INVALID && !embedder);
    td_model_close(model);
}

static void test_a_vector_that_is_no_number_is_an_error(void)
{
    const struct change change = {.pooling = -1, .damaged = "token_embd.weight"};
    struct td_model *model;
    struct td_error err = {0};
    float vectors[2 * WIDE];
    int32_t good[] = {2, 7, 3}, bad[] = {2, VOCAB - 1, 3};
    REQUIRE(open_model("bert", &change, NULL, &model, &err) == TD_OK);
    for (int pooling = TD_POOLING_MEAN; pooling <= TD_POOLING_LAST; pooling++) {
        struct td_embedder_options how = {.pooling = (enum td_pooling)pooling, .thread_count = 1};
        struct td_embedder *embedder = open_embedder(model, &how);
        REQUIRE(embedder);
        const struct td_ids texts[] = {{good, 3}, {bad, 3}};
        CHECK(td_embed(embedder, texts, 1, vectors, &err) == TD_OK);
        CHECK(td_embed(embedder, texts, 2, vectors, &err) == TD_CORRUPT);
        CHECK(strstr(err.message, "3 tokens is not a number"));
        err = (struct td_error){0};
        td_embedder_free(embedder);
    }
    td_model_close(model);
}

static void test_a_text_is_enclosed_and_counted_before_it_is_embedded(void)
{
    struct td_model *model;
    struct td_error err = {0};
    float from_text[WIDE], from_ids[WIDE];
    int32_t ids[] = {2, 7, 9, 3};
    size_t count = 0;
    REQUIRE(open_model("bert", NULL, NULL, &model, &err) == TD_OK);
    struct td_embedder *embedder = open_embedder(model, NULL);
    REQUIRE(embedder);
    CHECK(td_embed_text(embedder, STR("W7  w9"), from_text, &count, &err) == TD_OK && count == 4);
    CHECK(td_embed(embedder, &(struct td_ids){ids, 4}, 1, from_ids, &err) == TD_OK);
    CHECK(memcmp(from_text, from_ids, sizeof from_ids) == 0);
    char text[3 * 63 + 1];
    for (int i = 0; i < 63; i++)
        memcpy(text + 3 * i, "w7 ", 3);
    CHECK(td_embed_text(embedder, (struct td_str){text, 3 * 63}, from_text, &count, &err) ==
          TD_LIMIT);
    CHECK(count == 65);
    td_embedder_free(embedder);
    td_model_close(model);
}

static void test_a_set_cancel_flag_ends_a_call(void)
{
    struct td_model *models[2] = {0};
    struct td_error err = {0};
    REQUIRE(open_model("bert", NULL, NULL, &models[0], &err) == TD_OK);
    REQUIRE(td_model_open(TANDEM_NANO_DEFAULT, NULL, &models[1], &err) == TD_OK);
    for (int i = 0; i < 2; i++) {
        atomic_bool cancel = true;
        int32_t ids[] = {2, 7, 3};
        float *vector = calloc(td_model_get_info(models[i])->embedding_size, sizeof *vector);
        struct td_embedder *embedder = open_embedder(models[i], NULL);
        REQUIRE(embedder && vector);
        embedder_set_cancel(embedder, &cancel);
        CHECK(td_embed(embedder, &(struct td_ids){ids, 3}, 1, vector, &err) == TD_CANCELLED);
        cancel = false;
        CHECK(td_embed(embedder, &(struct td_ids){ids, 3}, 1, vector, &err) == TD_OK);
        td_embedder_free(embedder);
        td_model_close(models[i]);
        free(vector);
    }
}

/* --- decoders --- */

/* The output matrix times a vector. */
static void project(const struct td_model *model, const float *vector, double *logits)
{
    const struct weight *output = &model->output;
    float *row = calloc(output->cols, sizeof *row);
    for (uint32_t r = 0; r < output->rows; r++) {
        logits[r] = 0;
        model->kernels->dequantize(
            output->type, (const uint8_t *)output->data + r * output->row_bytes, output->cols, row);
        for (uint32_t c = 0; c < output->cols; c++)
            logits[r] += (double)row[c] * (double)vector[c];
    }
    free(row);
}

static double cosine(const double *a, const double *b, size_t n)
{
    double dot = 0, aa = 0, bb = 0;
    for (size_t i = 0; i < n; i++) {
        dot += a[i] * b[i];
        aa += a[i] * a[i];
        bb += b[i] * b[i];
    }
    return dot / sqrt(aa * bb);
}

/* A decoder's vector times the output matrix points where the logits do: of the last token, of the
 * first, or of the sum of all. */
static void test_decoder_vectors_are_those_that_make_the_logits(void)
{
    enum { TOKENS = 100 };
    struct td_model *model;
    struct td_session *session;
    struct td_error err = {0};
    struct td_session_options options = {.thread_count = 1, .context_tokens = TOKENS};
    struct td_model_options reference = {.cpu =
                                             TD_CPU_REF}; /* no rounding of activations to hide */
    int32_t ids[TOKENS];
    REQUIRE(td_model_open(TANDEM_NANO_DEFAULT, &reference, &model, &err) == TD_OK);
    REQUIRE(td_session_new(model, &options, &session, &err) == TD_OK);
    size_t vocab = td_model_get_info(model)->vocab_count;
    float *logits = calloc(TOKENS * vocab, sizeof *logits);
    double *expected = calloc(vocab, sizeof *expected), *got = calloc(vocab, sizeof *got);
    float *vector = calloc(td_model_get_info(model)->embedding_size, sizeof *vector);
    for (int i = 0; i < TOKENS; i++)
        ids[i] = (i * 37) % 300;
    REQUIRE(td_session_forward(session, ids, TOKENS, logits, TOKENS, &err) == TD_OK);
    for (int pooling = TD_POOLING_MEAN; pooling <= TD_POOLING_LAST; pooling++) {
        struct td_embedder_options how = {.pooling = (enum td_pooling)pooling, .thread_count = 1};
        struct td_embedder *embedder = open_embedder(model, &how);
        size_t begin = pooling == TD_POOLING_LAST ? TOKENS - 1 : 0;
        size_t end = pooling == TD_POOLING_CLS ? 1 : TOKENS;
        REQUIRE(embedder);
        memset(expected, 0, vocab * sizeof *expected);
        for (size_t t = begin; t < end; t++)
            for (size_t i = 0; i < vocab; i++)
                expected[i] += (double)logits[t * vocab + i];
        CHECK(td_embed(embedder, &(struct td_ids){ids, TOKENS}, 1, vector, &err) == TD_OK);
        project(model, vector, got);
        double near = cosine(expected, got, vocab);
        if (!(near > 0.9999))
            fprintf(stderr, "%s: cosine %g\n", pooling_name((enum td_pooling)pooling), near);
        CHECK(near > 0.9999);
        td_embedder_free(embedder);
    }
    free(logits);
    free(expected);
    free(got);
    free(vector);
    td_session_free(session);
    td_model_close(model);
}

int main(void)
{
    struct buf text;
    struct td_error err = {0};
    buf_init(&text, 1 << 20);
    if (buf_read_file(&text, TANDEM_GOLDEN_DIR "/bert.json", &err) != TD_OK ||
        json_parse(buf_view(&text), &golden, &err) != TD_OK) {
        fprintf(stderr, "%s\n", err.message);
        return 1;
    }
    RUN(test_encoders_give_the_vectors_of_the_reference);
    RUN(test_the_file_chooses_the_pooling_unless_the_caller_does);
    RUN(test_files_with_wrong_tensors_are_refused_by_name);
    RUN(test_a_context_beyond_the_learned_positions_is_cut);
    RUN(test_an_encoder_has_no_session);
    RUN(test_a_vector_does_not_depend_on_threads_or_on_the_texts_beside_it);
    RUN(test_what_cannot_be_embedded_is_refused);
    RUN(test_a_vector_that_is_no_number_is_an_error);
    RUN(test_a_text_is_enclosed_and_counted_before_it_is_embedded);
    RUN(test_a_set_cancel_flag_ends_a_call);
    RUN(test_decoder_vectors_are_those_that_make_the_logits);
    json_free(golden);
    buf_deinit(&text);
    return test_finish();
}
