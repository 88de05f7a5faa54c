/* Mamba-2 layers have a state after the last position only. So what is forgotten, shared, saved or
 * cancelled goes on from a checkpoint, with the same bits as if the text had been read from its
 * beginning, and reads few tokens again. */
#include "engine/forward/forward.h"
#include "engine/forward/prefix_index.h"
#include "engine/forward/recurrent.h"
#include "engine/session/session.h"
#include "engine/session/session_file.h"

#include "architecture_model.h"
#include "test.h"

enum { LENGTH = 1400, PAGES = 40 };

static struct td_model *model;
static int32_t ids[LENGTH];
static const enum td_kv_type kv_types[] = {TD_KV_F32, TD_KV_F16, TD_KV_Q8_0};
static float expected[TINY_VOCAB], got[TINY_VOCAB];

static struct td_session *open_session(enum td_kv_type kv_type, uint32_t threads)
{
    struct td_session *session = NULL;
    struct td_session_options options = {
        .thread_count = threads, .kv_type = kv_type, .context_tokens = 2048};
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
    struct td_session *session = open_session(kv_type, 1);
    read_on(session, text, end, logits);
    td_session_free(session);
}

static bool is_as_alone(enum td_kv_type kv_type, const int32_t *text, uint32_t end)
{
    alone(kv_type, text, end, expected);
    return memcmp(expected, got, sizeof got) == 0;
}

/* A text that is ids up to `at`, and then another. */
static void part_at(int32_t *text, uint32_t at)
{
    memcpy(text, ids, sizeof ids);
    for (uint32_t i = at; i < LENGTH; i++)
        text[i] = (ids[i] + 1) % TINY_VOCAB;
}

/* How many tokens went through the first layer. */
struct counter {
    uint32_t rows;
    struct workspace_observer observer;
    atomic_bool stop;
    uint32_t stop_after; /* rows of `of` */
    const struct weight *of;
};

static void count_row(void *ctx, const struct weight *weight, uint32_t expert, const float *x)
{
    struct counter *counter = ctx;
    (void)expert;
    (void)x;
    counter->rows += weight == counter->of;
    if (counter->stop_after && counter->rows >= counter->stop_after)
        atomic_store(&counter->stop, true);
}

static void count_in(struct counter *counter, struct workspace *workspace)
{
    counter->observer = (struct workspace_observer){count_row, counter};
    counter->of = counter->of ? counter->of : &model->layers[0].q;
    workspace->observer = &counter->observer;
    workspace->stop = &counter->stop;
}

static void test_cuts_and_threads_change_nothing(void)
{
    static const uint32_t cuts[] = {1, 2, 3, 63, 64, 65, 255, 300};
    alone(TD_KV_F16, ids, 300, expected);
    for (size_t i = 0; i < sizeof cuts / sizeof *cuts; i++) {
        struct td_session *session = open_session(TD_KV_F16, 1 + (uint32_t)i % 4);
        for (uint32_t at = 0; at < 300; at += cuts[i])
            read_on(session, ids, at + cuts[i] < 300 ? at + cuts[i] : 300, got);
        CHECK(memcmp(expected, got, sizeof got) == 0);
        td_session_free(session);
    }
}

static void test_a_text_goes_on_from_any_position(void)
{
    static const uint32_t cuts[] = {1, 3, 63, 64, 65, 128, 511, 512, 513, 1000, 1344, 1390};
    for (size_t t = 0; t < sizeof kv_types / sizeof *kv_types; t++) {
        struct td_session *session = open_session(kv_types[t], 2);
        int32_t text[LENGTH];
        read_on(session, ids, 1395, got);
        for (size_t i = sizeof cuts / sizeof *cuts; i-- > 0;) {
            part_at(text, cuts[i]);
            td_session_truncate(session, cuts[i]);
            CHECK(td_session_length(session) == cuts[i]);
            read_on(session, text, cuts[i] + 5, got);
            CHECK(is_as_alone(kv_types[t], text, cuts[i] + 5));
        }
        td_session_truncate(session, 0);
        part_at(text, 0);
        read_on(session, text, 1, got);
        CHECK(is_as_alone(kv_types[t], text, 1));
        td_session_free(session);
    }
}

/* The end of a page had a checkpoint of the text that stood there before. */
static void test_a_page_that_is_written_again_loses_its_checkpoint(void)
{
    struct td_session *session = open_session(TD_KV_F16, 2);
    int32_t text[LENGTH];
    part_at(text, 150);
    read_on(session, ids, 200, got);
    td_session_truncate(session, 150);
    read_on(session, text, 195, got);
    td_session_truncate(session, 193);
    read_on(session, text, 198, got);
    CHECK(is_as_alone(TD_KV_F16, text, 198));
    td_session_free(session);
}

static void test_few_tokens_are_read_again(void)
{
    struct td_session *session = open_session(TD_KV_F16, 1);
    struct counter counter = {0};
    read_on(session, ids, 1400, got);
    count_in(&counter, session->workspace);
    td_session_truncate(session, 1399);
    read_on(session, ids, 1400, got);
    CHECK(counter.rows == 1400 - 1344);
    counter.rows = 0;
    td_session_truncate(session, 1300); /* before the newest checkpoint */
    read_on(session, ids, 1301, got);
    CHECK(counter.rows == 1301 - 1024);
    counter.rows = 0;
    read_on(session, ids, 1302, got);
    CHECK(counter.rows == 1);
    td_session_free(session);
}

static void test_a_cancelled_pass_leaves_no_trace(void)
{
    struct td_session *session = open_session(TD_KV_F16, 2);
    read_on(session, ids, 200, got);
    for (uint32_t layer = 0; layer < 3; layer += 2) {
        struct counter counter = {.stop_after = 30, .of = &model->layers[layer].q};
        count_in(&counter, session->workspace);
        CHECK(td_session_forward(session, ids + 200, 90, NULL, 0, NULL) == TD_CANCELLED);
        CHECK(td_session_length(session) == 200);
        session->workspace->observer = NULL;
        session->workspace->stop = NULL;
        td_session_truncate(session, 200 - layer);
        read_on(session, ids, 201, got);
        CHECK(is_as_alone(TD_KV_F16, ids, 201));
        td_session_truncate(session, 200);
    }
    td_session_free(session);
}

/* --- saved sessions --- */

static uint8_t saved[8 << 20];

static size_t save(struct td_session *session, uint32_t begin, uint32_t count)
{
    size_t bytes = 0;
    CHECK(td_session_export(session, begin, count, saved, sizeof saved, &bytes, NULL) == TD_OK);
    return bytes;
}

static void test_a_saved_session_goes_on(void)
{
    for (size_t t = 0; t < sizeof kv_types / sizeof *kv_types; t++) {
        struct td_session *session = open_session(kv_types[t], 2), *other;
        struct counter counter = {0};
        read_on(session, ids, 130, got);
        size_t bytes = save(session, 0, 130);
        other = open_session(kv_types[t], 2);
        count_in(&counter, other->workspace);
        CHECK(td_session_import(other, saved, bytes - 1, NULL) != TD_OK);
        CHECK(td_session_import(other, saved, bytes, NULL) == TD_OK);
        read_on(other, ids, 133, got);
        CHECK(counter.rows == 3 && is_as_alone(kv_types[t], ids, 133));
        read_on(session, ids, 190, got); /* the rest in a piece of its own */
        bytes = save(session, 133, 57);
        CHECK(td_session_import(other, saved, bytes, NULL) == TD_OK);
        read_on(other, ids, 195, got);
        CHECK(counter.rows == 3 + 5 && is_as_alone(kv_types[t], ids, 195));
        td_session_free(other);
        td_session_free(session);
    }
}

/* A part that does not end where the state is comes without it. */
static void test_a_saved_part_without_a_state_is_read_again(void)
{
    struct td_session *session = open_session(TD_KV_F16, 2), *other = open_session(TD_KV_F16, 2);
    struct counter counter = {0};
    struct td_error err = {0};
    read_on(session, ids, 130, got);
    size_t whole = save(session, 0, 130), part = save(session, 0, 100);
    CHECK(whole - part > 30 && td_session_import(other, saved, part, NULL) == TD_OK);
    struct counter stopped = {.stop_after = 30, .of = &model->layers[2].q};
    count_in(&stopped, other->workspace); /* the reading of what comes again is cut off */
    CHECK(td_session_forward(other, ids + 100, 5, NULL, 0, NULL) == TD_CANCELLED);
    count_in(&counter, other->workspace);
    read_on(other, ids, 105, got);
    CHECK(counter.rows == 105 && is_as_alone(TD_KV_F16, ids, 105));
    saved[52] = 2; /* it says that a state follows */
    session_file_seal(saved, part);
    td_session_truncate(other, 0);
    CHECK(td_session_import(other, saved, part, &err) == TD_CORRUPT);
    saved[52] = 4;
    session_file_seal(saved, part);
    CHECK(td_session_import(other, saved, part, &err) == TD_CORRUPT);
    td_session_free(other);
    td_session_free(session);
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

static void go_on(struct bench *bench, struct sequence *sequence, const int32_t *text, uint32_t end)
{
    struct segment segment = segment_of(sequence, text, end);
    CHECK(forward_run(bench->workspace, &segment, 1, got, NULL) == TD_OK);
}

static void test_shared_pages_end_at_a_checkpoint(void)
{
    /* where the next text parts, and what it finds: at first the newest checkpoint of the first
     * text and 512; then one where a text before it parted */
    static const uint32_t parts[][2] = {{700, 640}, {650, 640}, {600, 512}, {600, 576},
                                        {577, 576}, {100, 0},   {100, 64},  {64, 64}};
    static const struct prefix_scope scope;
    struct bench bench;
    struct sequence next;
    open_bench(&bench, TD_KV_F16);
    REQUIRE(sequence_init(&next, bench.pool, 1400, NULL) == TD_OK);
    go_on(&bench, &next, ids, 512);
    go_on(&bench, &next, ids, 660);
    prefix_publish(bench.prefixes, &next, &scope, true);
    sequence_truncate(&next, 0);
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        int32_t text[LENGTH];
        part_at(text, parts[i][0]);
        for (uint32_t j = parts[i][0]; j < LENGTH; j++) /* unlike the others */
            text[j] = (text[j] + (int32_t)i) % TINY_VOCAB;
        CHECK(prefix_find(bench.prefixes, &next, &scope, text, 800) == parts[i][1]);
        CHECK(prefix_attach(bench.prefixes, &next, &scope, text, 800) == parts[i][1]);
        go_on(&bench, &next, text, parts[i][0] + 30);
        CHECK(is_as_alone(TD_KV_F16, text, parts[i][0] + 30));
        prefix_publish(bench.prefixes, &next, &scope, true);
        sequence_truncate(&next, 0);
    }
    prefix_forget(bench.prefixes, NULL);
    uint8_t any = 0;
    for (size_t i = 0; i < bench.pool->checkpoints.state_bytes * CHECKPOINTS_MAX; i++)
        any |= bench.pool->checkpoints.block[i];
    for (size_t i = 0; i < bench.pool->checkpoints.state_bytes; i++)
        any |= ((const uint8_t *)next.state)[i];
    CHECK(any == 0); /* nothing is left of the texts */
    sequence_deinit(&next);
    close_bench(&bench);
}

/* More sequences end a page in one pass than there are checkpoints. */
static void test_sequences_of_a_batch_do_not_see_each_other(void)
{
    enum { SEQUENCES = CHECKPOINTS_MAX + 3 };
    static float rows[SEQUENCES][TINY_VOCAB];
    struct bench bench;
    struct sequence sequences[SEQUENCES];
    struct segment segments[SEQUENCES];
    open_bench(&bench, TD_KV_F16);
    for (int i = 0; i < SEQUENCES; i++)
        REQUIRE(sequence_init(&sequences[i], bench.pool, 1400, NULL) == TD_OK);
    for (uint32_t step = 0; step < 3; step++) {
        for (int i = 0; i < SEQUENCES; i++)
            segments[i] = segment_of(&sequences[i], ids + i, 70 + (uint32_t)i + step);
        CHECK(forward_run(bench.workspace, segments, SEQUENCES, rows[0], NULL) == TD_OK);
        for (int i = 0; i < SEQUENCES; i++) {
            alone(TD_KV_F16, ids + i, 70 + (uint32_t)i + step, expected);
            CHECK(memcmp(expected, rows[i], sizeof expected) == 0);
        }
    }
    for (int i = 0; i < SEQUENCES; i++) {
        sequence_truncate(&sequences[i], 65);
        go_on(&bench, &sequences[i], ids + i, 68);
        CHECK(is_as_alone(TD_KV_F16, ids + i, 68));
        sequence_deinit(&sequences[i]);
    }
    close_bench(&bench);
}

/* Sequences that share, go on, go back and part at random, in a pool that is too small for all. */
static void test_anything_at_random(void)
{
    enum { SEQUENCES = 3, STEPS = 250, MOST = 300 };
    static const struct prefix_scope scope;
    static int32_t texts[SEQUENCES][LENGTH];
    struct bench bench;
    struct sequence sequences[SEQUENCES];
    struct rng rng;
    uint32_t shared = 0, checked = 0;
    rng_init(&rng, 23);
    open_bench(&bench, TD_KV_F16);
    for (int i = 0; i < SEQUENCES; i++)
        REQUIRE(sequence_init(&sequences[i], bench.pool, 1400, NULL) == TD_OK);
    for (int step = 0; step < STEPS; step++) {
        uint32_t which = (uint32_t)rng_below(&rng, SEQUENCES);
        struct sequence *sequence = &sequences[which];
        int32_t *text = texts[which];
        if (sequence->length == 0) {
            uint32_t at = (uint32_t)rng_below(&rng, MOST);
            memcpy(text, ids, sizeof ids);
            for (uint32_t i = at; i < LENGTH; i++)
                text[i] = (int32_t)rng_below(&rng, 3);
            shared += prefix_attach(bench.prefixes, sequence, &scope, text, MOST);
        } else if (rng_below(&rng, 3) == 0) {
            uint32_t keep = (uint32_t)rng_below(&rng, sequence->length);
            sequence_truncate(sequence, keep);
            text[keep] = (text[keep] + 1) % TINY_VOCAB;
        }
        uint32_t end = sequence->length + 1 + (uint32_t)rng_below(&rng, 150);
        go_on(&bench, sequence, text, end);
        prefix_publish(bench.prefixes, sequence, &scope, false);
        if (step % 5 == 0) {
            checked++;
            CHECK(is_as_alone(TD_KV_F16, text, end));
        }
        if (sequence->length > MOST) {
            prefix_publish(bench.prefixes, sequence, &scope, true);
            sequence_truncate(sequence, 0);
        }
    }
    printf("  %u positions shared, %u logits checked\n", shared, checked);
    CHECK(shared > 500);
    for (int i = 0; i < SEQUENCES; i++)
        sequence_deinit(&sequences[i]);
    close_bench(&bench);
}

/* --- guesses, memory --- */

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

static void generate(struct td_session *session, struct td_session *draft, struct answer *answer,
                     struct td_generate_result *result)
{
    struct td_generate_options options = {.sampling = td_sampling_default(),
                                          .tokens_max = 60,
                                          .ignore_eos = true,
                                          .speculation =
                                              draft ? TD_SPECULATION_DRAFT : TD_SPECULATION_NGRAM,
                                          .draft = draft};
    options.sampling.temperature = 0;
    CHECK(td_generate(session, ids, 100, &options, collect, answer, result, NULL) == TD_OK);
}

/* Such a model makes guesses for others, and none are made for it. */
static void test_guesses_are_made_by_it_and_not_for_it(void)
{
    struct td_error err;
    struct spec spec = usual_spec("lfm2");
    struct td_model *other = make(&spec, TD_CPU_AUTO, &err);
    struct answer answers[2] = {{.len = 0}, {.len = 0}};
    struct td_generate_result result = {0};
    for (int guess = 0; guess < 2; guess++) {
        struct td_session *session = NULL, *draft = guess ? open_session(TD_KV_F16, 1) : NULL;
        struct td_session_options options = {.thread_count = 1};
        REQUIRE(td_session_new(other, &options, &session, NULL) == TD_OK);
        generate(session, draft, &answers[guess], &result);
        td_session_free(session);
        td_session_free(draft);
    }
    CHECK(answers[0].len > 0 && answers[0].len == answers[1].len &&
          memcmp(answers[0].text, answers[1].text, answers[0].len) == 0);
    struct td_session *session = open_session(TD_KV_F16, 1);
    generate(session, NULL, &answers[0], &result);
    CHECK(result.drafted_tokens == 0 && result.completion_tokens == 60);
    td_session_free(session);
    td_model_close(other);
}

static void test_the_states_are_counted(void)
{
    const uint64_t inner = SSM_HEADS * SSM_HEAD, channels = inner + 2 * SSM_GROUPS * SSM_STATE;
    uint64_t floats = 2 * (inner * SSM_STATE + channels * (SSM_CONV - 1)); /* of two layers */
    uint64_t one = (floats * sizeof(float) + 4095) / 4096 * 4096;
    CHECK(recurrent_state_bytes(model) == one);
    uint64_t page = kv_page_bytes(model, TD_KV_F16);
    CHECK(kv_pool_bytes(model, TD_KV_F16, 3) == 3 * page + 4 * one);
    CHECK(kv_pool_bytes(model, TD_KV_F16, 1000) == 1000 * page + (CHECKPOINTS_MAX + 1) * one);
}

static void test_embeddings_are_refused(void)
{
    struct td_embedder *embedder = NULL;
    struct td_error err = {0};
    CHECK(td_embedder_new(model, NULL, &embedder, &err) == TD_UNSUPPORTED && embedder == NULL);
    CHECK(strstr(err.message, "Mamba-2 layers") != NULL);
}

int main(void)
{
    struct td_error err;
    struct spec spec = usual_spec("granitehybrid");
    struct rng rng;
    spec.number = "context_length";
    spec.value = 2048;
    rng_init(&rng, 17);
    for (int i = 0; i < LENGTH; i++)
        ids[i] = (int32_t)rng_below(&rng, TINY_VOCAB);
    model = make(&spec, TD_CPU_AUTO, &err);
    if (model == NULL) {
        fprintf(stderr, "%s\n", err.message);
        return 1;
    }
    RUN(test_cuts_and_threads_change_nothing);
    RUN(test_a_text_goes_on_from_any_position);
    RUN(test_a_page_that_is_written_again_loses_its_checkpoint);
    RUN(test_few_tokens_are_read_again);
    RUN(test_a_cancelled_pass_leaves_no_trace);
    RUN(test_a_saved_session_goes_on);
    RUN(test_a_saved_part_without_a_state_is_read_again);
    RUN(test_shared_pages_end_at_a_checkpoint);
    RUN(test_sequences_of_a_batch_do_not_see_each_other);
    RUN(test_anything_at_random);
    RUN(test_guesses_are_made_by_it_and_not_for_it);
    RUN(test_the_states_are_counted);
    RUN(test_embeddings_are_refused);
    td_model_close(model);
    return test_finish();
}
