/* Batches: the result of a sequence does not depend on the others, and a pass that fails leaves
 * every sequence as it was. */
#include "engine/forward/forward.h"

#include "test.h"
#include "tiny_model.h"

enum { SEQUENCES = 5, LENGTH = 150, ROWS = 64 };

static struct td_model *model;
static struct thread_pool *threads;
static struct kv_pool *pool;
static struct workspace *workspace;
static struct sequence sequences[SEQUENCES];
static int32_t ids[SEQUENCES][LENGTH];
static float expected[SEQUENCES][LENGTH * TINY_VOCAB];
static float logits[ROWS * TINY_VOCAB];

static void open_all(uint32_t page_count)
{
    struct td_error err = {0};
    const struct workspace_options options = {.row_max = ROWS};
    threads = thread_pool_new(2);
    REQUIRE(kv_pool_new(model, TD_KV_F16, page_count, &pool, &err) == TD_OK);
    REQUIRE(workspace_new(model, &options, threads, &workspace, &err) == TD_OK);
    for (int i = 0; i < SEQUENCES; i++)
        REQUIRE(sequence_init(&sequences[i], pool, 0, &err) == TD_OK);
}

static void close_all(void)
{
    for (int i = 0; i < SEQUENCES; i++)
        sequence_deinit(&sequences[i]);
    CHECK(pool->used_count == 0);
    kv_pool_free(pool);
    workspace_free(workspace);
    thread_pool_free(threads);
}

/* Every sequence alone, a token at a time. */
static void fill_expected(void)
{
    struct rng rng;
    struct td_error err = {0};
    rng_init(&rng, 3);
    open_all(3 * SEQUENCES);
    for (int s = 0; s < SEQUENCES; s++)
        for (int i = 0; i < LENGTH; i++) {
            ids[s][i] = (int32_t)rng_below(&rng, TINY_VOCAB);
            struct segment one = {
                .sequence = &sequences[s], .ids = &ids[s][i], .count = 1, .logit_rows = 1};
            CHECK(forward_run(workspace, &one, 1, expected[s] + i * TINY_VOCAB, &err) == TD_OK);
        }
    close_all();
}

/* Fills segments with the next tokens of some sequences; false when nothing is left. */
static bool next_batch(struct rng *rng, struct segment *segments, uint32_t *count)
{
    uint32_t room = ROWS;
    bool left = false;
    *count = 0;
    for (int s = 0; s < SEQUENCES; s++) {
        uint32_t rest = LENGTH - sequences[s].length;
        left |= rest > 0;
        if (rest == 0 || room == 0 || rng_below(rng, 4) == 0)
            continue;
        uint32_t most = 1 + (uint32_t)rng_below(rng, rng_below(rng, 2) ? 1 : 40);
        most = most < rest ? most : rest;
        most = most < room ? most : room;
        room -= most;
        segments[(*count)++] = (struct segment){.sequence = &sequences[s],
                                                .ids = ids[s] + sequences[s].length,
                                                .count = most,
                                                .logit_rows = (uint32_t)rng_below(rng, most + 1)};
    }
    return left;
}

static void test_a_sequence_comes_to_the_same_alone_and_in_a_batch(void)
{
    struct rng rng;
    struct td_error err = {0};
    struct segment segments[SEQUENCES];
    uint32_t count;
    size_t compared = 0;
    rng_init(&rng, 17);
    fill_expected();
    open_all(3 * SEQUENCES);
    while (next_batch(&rng, segments, &count)) {
        REQUIRE(forward_run(workspace, segments, count, logits, &err) == TD_OK);
        const float *row = logits;
        for (uint32_t i = 0; i < count; i++) {
            size_t s = (size_t)(segments[i].sequence - sequences);
            size_t first = sequences[s].length - segments[i].logit_rows;
            size_t size = segments[i].logit_rows * (size_t)TINY_VOCAB;
            CHECK(memcmp(row, expected[s] + first * TINY_VOCAB, size * sizeof *row) == 0);
            row += size;
            compared += segments[i].logit_rows;
        }
    }
    CHECK(compared > SEQUENCES * LENGTH / 4);
    for (int s = 0; s < SEQUENCES; s++)
        CHECK(sequences[s].length == LENGTH &&
              sequence_common_prefix(&sequences[s], NULL, ids[s], LENGTH) == LENGTH);
    close_all();
}

static void test_a_failed_pass_changes_no_sequence(void)
{
    struct td_error err = {0};
    atomic_bool cancelled = true, running = false;
    fill_expected();
    open_all(2);
    struct segment segments[3];
    for (int s = 0; s < 3; s++)
        segments[s] = (struct segment){.sequence = &sequences[s], .ids = ids[s], .count = 20};
    CHECK(forward_run(workspace, segments, 3, NULL, &err) == TD_BUSY && pool->used_count == 0);
    CHECK(strstr(err.message, "all 2 pages") != NULL);
    err = (struct td_error){0};
    segments[0].cancel = segments[1].cancel = &cancelled;
    CHECK(forward_run(workspace, segments, 2, NULL, &err) == TD_CANCELLED);
    CHECK(sequences[0].length == 0 && pool->used_count == 0);
    err = (struct td_error){0};
    segments[1].cancel = &running; /* somebody still wants it */
    CHECK(forward_run(workspace, segments, 2, NULL, &err) == TD_OK);
    CHECK(sequences[0].length == 20 && sequences[1].length == 20);
    int32_t bad = TINY_VOCAB;
    segments[1] = (struct segment){.sequence = &sequences[1], .ids = &bad, .count = 1};
    CHECK(forward_run(workspace, segments, 2, NULL, &err) == TD_INVALID);
    CHECK(sequences[0].length == 20 && sequences[1].length == 20);
    err = (struct td_error){0};
    segments[0].count = segments[1].count = ROWS / 2 + 1;
    segments[1].ids = ids[1];
    CHECK(forward_run(workspace, segments, 2, NULL, &err) == TD_INVALID);
    atomic_bool stop = true;
    workspace->stop = &stop;
    segments[0].cancel = NULL;
    segments[0].count = 1;
    err = (struct td_error){0};
    CHECK(forward_run(workspace, segments, 1, NULL, &err) == TD_CANCELLED);
    close_all();
}

/* The last norm of the hidden state after the last layer is what the output matrix saw. */
static void test_hidden_states_come_from_the_layer_asked_for(void)
{
    struct td_error err = {0};
    static float hidden[4][3 * TINY_WIDE], normed[2 * TINY_WIDE], again[TINY_WIDE];
    fill_expected();
    for (uint32_t layer = 0; layer <= TINY_LAYERS; layer++) {
        open_all(2);
        struct segment segments[2] = {
            {.sequence = &sequences[0], .ids = ids[0], .count = 10, .logit_rows = 1},
            {.sequence = &sequences[1], .ids = ids[1], .count = 20, .logit_rows = 1}};
        segments[1].hidden_layer = layer;
        segments[1].hidden_rows = 3;
        segments[1].hidden_out = hidden[layer];
        segments[1].normed_rows = 2;
        segments[1].normed_out = normed;
        CHECK(forward_run(workspace, segments, 2, logits, &err) == TD_OK);
        CHECK(memcmp(logits, expected[0] + 9 * TINY_VOCAB, sizeof *logits * TINY_VOCAB) == 0);
        CHECK(memcmp(logits + TINY_VOCAB, expected[1] + 19 * TINY_VOCAB,
                     sizeof *logits * TINY_VOCAB) == 0);
        close_all();
    }
    CHECK(memcmp(hidden[0], hidden[1], sizeof hidden[0]) != 0);
    CHECK(memcmp(hidden[1], hidden[2], sizeof hidden[0]) != 0);
    for (int row = 0; row < 2; row++) {
        model->kernels->rms_norm(hidden[TINY_LAYERS] + (1 + row) * TINY_WIDE, model->output_norm,
                                 TINY_WIDE, model->norm_epsilon, again);
        CHECK(memcmp(again, normed + row * TINY_WIDE, sizeof again) == 0);
    }
    open_all(3);
    struct segment beyond = {.sequence = &sequences[0],
                             .ids = ids[0],
                             .count = 1,
                             .hidden_rows = 1,
                             .hidden_layer = TINY_LAYERS + 1,
                             .hidden_out = again};
    CHECK(forward_run(workspace, &beyond, 1, NULL, &err) == TD_INVALID);
    close_all();
}

int main(void)
{
    model = tiny_model(1);
    if (model == NULL)
        return 1;
    RUN(test_a_sequence_comes_to_the_same_alone_and_in_a_batch);
    RUN(test_a_failed_pass_changes_no_sequence);
    RUN(test_hidden_states_come_from_the_layer_asked_for);
    td_model_close(model);
    return test_finish();
}
