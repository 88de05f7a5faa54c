/* Layers with short convolutions keep their inputs in pages. So a text may be cut, shared,
 * forgotten from any position on, saved and batched as if all layers had attention, to the bit and
 * with every type of cache. */
#include "engine/forward/forward.h"
#include "engine/forward/prefix_index.h"
#include "engine/session/session.h"

#include "architecture_model.h"
#include "test.h"

#include <math.h>

enum { LENGTH = 200, PAGES = 24 };

static struct td_model *model;
static int32_t ids[LENGTH];
static const enum td_kv_type kv_types[] = {TD_KV_F32, TD_KV_F16, TD_KV_Q8_0};
static float expected[TINY_VOCAB], got[TINY_VOCAB];

static struct td_session *open_session(enum td_kv_type kv_type)
{
    struct td_session *session = NULL;
    struct td_session_options options = {.thread_count = 2, .kv_type = kv_type};
    CHECK(td_session_new(model, &options, &session, NULL) == TD_OK);
    return session;
}

/* Reads text[begin, end), with the last token's logits. */
static void read_on(struct td_session *session, const int32_t *text, uint32_t end, float *logits)
{
    uint32_t begin = (uint32_t)td_session_length(session);
    CHECK(td_session_forward(session, text + begin, end - begin, logits, 1, NULL) == TD_OK);
}

static void alone(enum td_kv_type kv_type, const int32_t *text, uint32_t end, float *logits)
{
    struct td_session *session = open_session(kv_type);
    read_on(session, text, end, logits);
    td_session_free(session);
}

static void test_the_first_token_has_zeroes_before_it(void)
{
    int32_t text[LENGTH];
    memcpy(text, ids, sizeof text);
    struct td_session *session = open_session(TD_KV_F16);
    read_on(session, ids, 100, got);
    text[0] ^= 1;
    td_session_truncate(session, 0);
    read_on(session, text, 1, got);
    alone(TD_KV_F16, text, 1, expected);
    CHECK(memcmp(expected, got, sizeof got) == 0);
    td_session_free(session);
}

static void test_a_text_goes_on_from_any_position(void)
{
    static const uint32_t cuts[] = {1, 2, 3, 62, 63, 64, 65, 66, 127, 128, 129, 190};
    for (size_t t = 0; t < sizeof kv_types / sizeof *kv_types; t++) {
        struct td_session *session = open_session(kv_types[t]);
        read_on(session, ids, LENGTH, got);
        for (size_t i = sizeof cuts / sizeof *cuts; i-- > 0;) {
            int32_t text[LENGTH];
            memcpy(text, ids, sizeof text);
            text[cuts[i]] = (ids[cuts[i]] + 1) % TINY_VOCAB;
            td_session_truncate(session, cuts[i]);
            read_on(session, text, cuts[i] + 5, got);
            alone(kv_types[t], text, cuts[i] + 5, expected);
            CHECK(memcmp(expected, got, sizeof got) == 0);
        }
        td_session_free(session);
    }
}

static void test_a_saved_session_goes_on(void)
{
    for (size_t t = 0; t < sizeof kv_types / sizeof *kv_types; t++) {
        struct td_session *session = open_session(kv_types[t]);
        static uint8_t data[8 << 20];
        size_t bytes = 0;
        read_on(session, ids, 130, got);
        CHECK(td_session_export(session, 0, 130, data, sizeof data, &bytes, NULL) == TD_OK);
        td_session_free(session);
        session = open_session(kv_types[t]);
        CHECK(td_session_import(session, data, bytes, NULL) == TD_OK);
        read_on(session, ids, 133, got);
        alone(kv_types[t], ids, 133, expected);
        CHECK(memcmp(expected, got, sizeof got) == 0);
        CHECK(td_session_import(session, data, bytes - 1, NULL) != TD_OK);
        td_session_free(session);
    }
}

/* --- pages that are shared, and batches --- */

struct bench {
    struct thread_pool *threads;
    struct kv_pool *pool;
    struct workspace *workspace;
    struct prefix_index *prefixes;
};

static void open_bench(struct bench *bench, enum td_kv_type kv_type)
{
    const struct workspace_options options = {.row_max = LENGTH};
    bench->threads = thread_pool_new(2);
    REQUIRE(kv_pool_new(model, kv_type, PAGES, &bench->pool, NULL) == TD_OK);
    REQUIRE(workspace_new(model, &options, bench->threads, &bench->workspace, NULL) == TD_OK);
    bench->prefixes = prefix_index_new(bench->pool);
    REQUIRE(bench->prefixes != NULL);
}

static void close_bench(struct bench *bench)
{
    prefix_index_free(bench->prefixes);
    kv_pool_free(bench->pool);
    workspace_free(bench->workspace);
    thread_pool_free(bench->threads);
}

static struct segment segment_of(struct sequence *sequence, const int32_t *text, uint32_t end)
{
    return (struct segment){.sequence = sequence,
                            .ids = text + sequence->length,
                            .count = end - sequence->length,
                            .logit_rows = 1};
}

static void test_shared_pages_give_the_same_bits(void)
{
    static const uint32_t lengths[] = {1, 63, 64, 65, 127, 128, 150};
    static const struct prefix_scope scope;
    for (size_t t = 0; t < sizeof kv_types / sizeof *kv_types; t++) {
        struct bench bench;
        struct sequence first, next;
        open_bench(&bench, kv_types[t]);
        REQUIRE(sequence_init(&first, bench.pool, 0, NULL) == TD_OK);
        struct segment segment = segment_of(&first, ids, 160);
        CHECK(forward_run(bench.workspace, &segment, 1, got, NULL) == TD_OK);
        prefix_publish(bench.prefixes, &first, &scope, true);
        sequence_deinit(&first);
        for (size_t i = 0; i < sizeof lengths / sizeof *lengths; i++) {
            int32_t text[LENGTH];
            memcpy(text, ids, sizeof text);
            text[lengths[i]] = (ids[lengths[i]] + 1) % TINY_VOCAB;
            REQUIRE(sequence_init(&next, bench.pool, 0, NULL) == TD_OK);
            CHECK(prefix_attach(bench.prefixes, &next, &scope, text, 170) == lengths[i]);
            segment = segment_of(&next, text, 170);
            CHECK(forward_run(bench.workspace, &segment, 1, got, NULL) == TD_OK);
            alone(kv_types[t], text, 170, expected);
            CHECK(memcmp(expected, got, sizeof got) == 0);
            sequence_deinit(&next);
        }
        close_bench(&bench);
    }
}

static void test_sequences_of_a_batch_do_not_see_each_other(void)
{
    enum { SEQUENCES = 3 };
    static const uint32_t ends[SEQUENCES] = {70, 1, 90};
    static float rows[SEQUENCES][TINY_VOCAB];
    struct bench bench;
    struct sequence sequences[SEQUENCES];
    struct segment segments[SEQUENCES];
    open_bench(&bench, TD_KV_F16);
    for (int i = 0; i < SEQUENCES; i++)
        REQUIRE(sequence_init(&sequences[i], bench.pool, 0, NULL) == TD_OK);
    for (uint32_t step = 0; step < 3; step++) {
        for (int i = 0; i < SEQUENCES; i++)
            segments[i] = segment_of(&sequences[i], ids + i, ends[i] + step);
        CHECK(forward_run(bench.workspace, segments, SEQUENCES, rows[0], NULL) == TD_OK);
        for (int i = 0; i < SEQUENCES; i++) {
            alone(TD_KV_F16, ids + i, ends[i] + step, expected);
            CHECK(memcmp(expected, rows[i], sizeof expected) == 0);
        }
    }
    for (int i = 0; i < SEQUENCES; i++)
        sequence_deinit(&sequences[i]);
    close_bench(&bench);
}

/* --- guesses --- */

struct answer {
    char text[2048];
    size_t len;
};

static bool collect(void *ctx, const struct td_token *token, struct td_str text)
{
    struct answer *answer = ctx;
    (void)token;
    if (answer->len + text.len < sizeof answer->text) {
        memcpy(answer->text + answer->len, text.data, text.len);
        answer->len += text.len;
    }
    return true;
}

static void test_guesses_change_nothing(void)
{
    struct answer answers[2] = {{.len = 0}, {.len = 0}};
    struct td_generate_result result = {0};
    for (int guess = 0; guess < 2; guess++) {
        struct td_session *session = open_session(TD_KV_F16), *draft = open_session(TD_KV_F16);
        struct td_generate_options options = {.sampling = td_sampling_default(),
                                              .tokens_max = 60,
                                              .ignore_eos = true,
                                              .speculation = guess ? TD_SPECULATION_DRAFT
                                                                   : TD_SPECULATION_NONE,
                                              .draft = guess ? draft : NULL};
        options.sampling.temperature = 0;
        CHECK(td_generate(session, ids, 100, &options, collect, &answers[guess], &result, NULL) ==
              TD_OK);
        td_session_free(session);
        td_session_free(draft);
    }
    CHECK(result.drafted_tokens > 0);
    CHECK(answers[0].len > 0 && answers[0].len == answers[1].len &&
          memcmp(answers[0].text, answers[1].text, answers[0].len) == 0);
}

/* The cache of bfloat16 is near that of floats, and a convolution is not left out. */
static void test_halves_are_near_floats(void)
{
    double square = 0, distance = 0;
    alone(TD_KV_F32, ids, 150, expected);
    alone(TD_KV_F16, ids, 150, got);
    for (int i = 0; i < TINY_VOCAB; i++) {
        square += (double)expected[i] * (double)expected[i];
        distance += pow((double)expected[i] - (double)got[i], 2);
    }
    printf("  nmse %.1e\n", distance / square);
    CHECK(distance / square < 1e-4 && distance > 0);
}

int main(void)
{
    struct td_error err;
    struct spec spec = usual_spec("lfm2");
    struct rng rng;
    rng_init(&rng, 17);
    for (int i = 0; i < LENGTH; i++)
        ids[i] = (int32_t)rng_below(&rng, TINY_VOCAB);
    model = make(&spec, TD_CPU_AUTO, &err);
    if (model == NULL) {
        fprintf(stderr, "%s\n", err.message);
        return 1;
    }
    RUN(test_the_first_token_has_zeroes_before_it);
    RUN(test_a_text_goes_on_from_any_position);
    RUN(test_a_saved_session_goes_on);
    RUN(test_shared_pages_give_the_same_bits);
    RUN(test_sequences_of_a_batch_do_not_see_each_other);
    RUN(test_guesses_change_nothing);
    RUN(test_halves_are_near_floats);
    td_model_close(model);
    return test_finish();
}
