/* What adapters do to the numbers: the same as changed weights, for every kind of matrix; sums of
 * several adapters; different adapters for the sequences of a batch. */
#include "engine/session/session.h"
#include "nmse.h"
#include "test.h"
#include "tiny_adapter.h"

#include <math.h>

#define IDS 70

static struct td_model *model;
static int32_t ids[IDS];

static struct td_session *open_session(const struct td_model *of, uint32_t threads)
{
    struct td_session *session = NULL;
    struct td_error err = {0};
    struct td_session_options options = {.thread_count = threads, .kv_type = TD_KV_F32};
    CHECK(td_session_new(of, &options, &session, &err) == TD_OK);
    return session;
}

static void set_adapters(struct td_session *session, const struct td_adapter_use *uses,
                         size_t count)
{
    struct td_error err = {0};
    CHECK(td_session_set_adapters(session, uses, count, &err) == TD_OK);
}

/* Logits of all IDS rows. */
static float *run(const struct td_model *of, const struct td_adapter_use *uses, size_t count,
                  uint32_t threads, size_t cut)
{
    float *rows = calloc(IDS * TINY_VOCAB, sizeof *rows);
    struct td_error err = {0};
    struct td_session *session = open_session(of, threads);
    set_adapters(session, uses, count);
    for (size_t at = 0; at < IDS; at += cut) {
        size_t left = IDS - at < cut ? IDS - at : cut;
        CHECK(td_session_forward(session, ids + at, left, rows + at * TINY_VOCAB, left, &err) ==
              TD_OK);
    }
    td_session_free(session);
    return rows;
}

static bool same(const float *a, const float *b, size_t rows)
{
    return memcmp(a, b, rows * TINY_VOCAB * sizeof *a) == 0;
}

static double distance(const float *x, const float *expected)
{
    return nmse(x, expected, (size_t)IDS * TINY_VOCAB);
}

/* Adds factor * B A to a matrix [out, in] of floats; of the embedding, whose rows are tokens, its
 * transpose. */
static void merge_pair(float *weights, const struct td_adapter *adapter, uint32_t number,
                       float scale, bool embedding)
{
    const struct adapter_pair *pair = &adapter->pairs[number];
    uint32_t rank = pair->b.cols;
    const float *a = pair->a.data, *b = pair->b.data;
    uint32_t out = pair->b.rows, in = embedding ? pair->a.rows : pair->a.cols;
    for (uint32_t o = 0; o < out; o++)
        for (uint32_t i = 0; i < in; i++) {
            double sum = 0;
            for (uint32_t r = 0; r < rank; r++)
                sum +=
                    (double)b[o * rank + r] * (double)(embedding ? a[i * rank + r] : a[r * in + i]);
            float change = (float)(sum * (double)scale * (double)adapter->alpha / rank);
            weights[embedding ? i * out + o : o * in + i] += change;
        }
}

/* The tiny model with all matrices of an adapter changed in its file. */
static struct td_model *merged_model(const struct td_adapter *adapter, float scale)
{
    struct gguf_builder builder;
    struct buf file;
    struct gguf *gguf = NULL;
    struct td_error err = {0};
    builder_init(&builder);
    tiny_hyperparameters(&builder);
    tiny_vocabulary(&builder);
    tiny_tensors(&builder, 1);
    builder_finish(&builder, &file);
    CHECK(gguf_open_memory(file.data, file.len, "merged", false, &gguf, &err) == TD_OK);
    for (uint32_t i = 0; i < model->matrix_count; i++) {
        char name[80];
        struct td_str of = model->matrices[i].tensor->name;
        if (adapter->pairs[i].b.rows == 0)
            continue;
        snprintf(name, sizeof name, STR_FMT, STR_ARG(of));
        merge_pair((float *)(uintptr_t)gguf_find_tensor(gguf, name)->data, adapter, i, scale,
                   i == model->embedding.number);
    }
    gguf_close(gguf);
    struct td_model *merged = tiny_open(&file, NULL, &err);
    builder_deinit(&builder);
    buf_deinit(&file);
    return merged;
}

static void test_an_adapter_gives_what_merged_weights_give(void)
{
    struct td_adapter *adapter = tiny_adapter(model, 7);
    for (int i = 0; i < 2; i++) {
        float scale = i ? -0.5f : 1.0f;
        struct td_model *merged = merged_model(adapter, scale);
        REQUIRE(merged != NULL);
        float *bare = run(model, NULL, 0, 1, IDS), *wanted = run(merged, NULL, 0, 1, IDS);
        float *got = run(model, &(struct td_adapter_use){adapter, scale}, 1, 1, IDS);
        CHECK(distance(got, wanted) < 1e-10);
        CHECK(distance(bare, wanted) > 1e-2); /* it does change something */
        free(bare);
        free(wanted);
        free(got);
        td_model_close(merged);
    }
    td_adapter_free(adapter);
}

/* Each matrix alone, so that a change that is left out would show. */
static void test_every_matrix_alone_gives_what_merged_weights_give(void)
{
    for (size_t i = 0; i <= TINY_CHANGES; i++) {
        struct tiny_adapter_options options = {.changes = &tiny_changes[i % TINY_CHANGES],
                                               .change_count = i < TINY_CHANGES,
                                               .rank = 3,
                                               .alpha = -1, /* no alpha: the scale alone */
                                               .size = 0.3f,
                                               .seed = i,
                                               .embedding = i == TINY_CHANGES};
        struct buf file;
        struct td_adapter *adapter = NULL;
        struct td_error err = {0};
        tiny_adapter_build(&options, &file);
        CHECK(adapter_load_memory(model, file.data, file.len, "one", &adapter, &err) == TD_OK);
        REQUIRE(adapter != NULL);
        adapter->alpha = 3; /* = rank, for the merging; the factor is 1 either way */
        struct td_model *merged = merged_model(adapter, 1);
        adapter->alpha = 0;
        float *bare = run(model, NULL, 0, 1, IDS), *wanted = run(merged, NULL, 0, 1, IDS);
        float *got = run(model, &(struct td_adapter_use){adapter, 1}, 1, 1, IDS);
        CHECK(distance(got, wanted) < 1e-10);
        CHECK(distance(bare, wanted) > 1e-5);
        free(bare);
        free(wanted);
        free(got);
        td_model_close(merged);
        td_adapter_free(adapter);
        buf_deinit(&file);
    }
}

static void test_several_adapters_are_their_sum(void)
{
    struct td_adapter *one = tiny_adapter(model, 1), *two = tiny_adapter(model, 2);
    struct td_model *merged = merged_model(one, 0.5f);
    REQUIRE(merged != NULL);
    /* An adapter merged into the weights and two beside them give the same as two beside the
     * other's weights. */
    two->model = merged;
    float *wanted = run(merged, &(struct td_adapter_use){two, 2}, 1, 1, IDS);
    two->model = model;
    const struct td_adapter_use both[] = {{one, 0.5f}, {two, 2}}, turned[] = {both[1], both[0]};
    float *got = run(model, both, 2, 1, IDS), *other = run(model, turned, 2, 1, IDS);
    CHECK(distance(got, wanted) < 1e-9);
    CHECK(same(got, other, IDS));
    free(wanted);
    free(got);
    free(other);
    td_adapter_free(one);
    td_adapter_free(two);
    td_model_close(merged);
}

static void test_results_do_not_depend_on_cuts_or_threads(void)
{
    static const size_t cuts[] = {1, 3, 8, 31, 64};
    struct td_adapter *one = tiny_adapter(model, 1), *two = tiny_adapter(model, 2);
    const struct td_adapter_use both[] = {{one, 1}, {two, 0.25f}};
    float *wanted = run(model, both, 2, 1, IDS);
    for (uint32_t threads = 1; threads <= 3; threads++)
        for (size_t c = 0; c < sizeof cuts / sizeof *cuts; c++) {
            float *got = run(model, both, 2, threads, cuts[c]);
            CHECK(same(got, wanted, IDS));
            free(got);
        }
    free(wanted);
    td_adapter_free(one);
    td_adapter_free(two);
}

/* Sequences with no adapter, one, another, and both in one batch: each has the same bits as
 * alone. */
static void test_each_sequence_of_a_batch_has_its_own_adapters(void)
{
    enum { SEQUENCES = 4, EACH = 15 };
    struct td_adapter *one = tiny_adapter(model, 1), *two = tiny_adapter(model, 2);
    const struct td_adapter_use uses[] = {{one, 1}, {two, -1}};
    const size_t first[SEQUENCES] = {0, 0, 1, 0}, count[SEQUENCES] = {0, 1, 1, 2};
    static float rows[SEQUENCES * EACH * TINY_VOCAB];
    struct td_session *sessions[SEQUENCES];
    struct segment segments[SEQUENCES];
    struct td_error err = {0};
    for (int i = 0; i < SEQUENCES; i++) {
        sessions[i] = open_session(model, 2);
        set_adapters(sessions[i], uses + first[i], count[i]);
        segments[i] = (struct segment){
            .sequence = &sessions[i]->sequence, .ids = ids + i, .count = EACH, .logit_rows = EACH};
    }
    CHECK(forward_run(sessions[0]->workspace, segments, SEQUENCES, rows, &err) == TD_OK);
    for (int i = 0; i < SEQUENCES; i++) {
        float alone[EACH * TINY_VOCAB];
        struct td_session *session = open_session(model, 1);
        set_adapters(session, uses + first[i], count[i]);
        CHECK(td_session_forward(session, ids + i, EACH, alone, EACH, &err) == TD_OK);
        CHECK(same(alone, rows + i * EACH * TINY_VOCAB, EACH));
        td_session_free(session);
        td_session_free(sessions[i]);
    }
    td_adapter_free(one);
    td_adapter_free(two);
}

static void test_other_adapters_forget_what_the_session_holds(void)
{
    struct td_adapter *adapter = tiny_adapter(model, 1);
    const struct td_adapter_use use = {adapter, 1}, weaker = {adapter, 0.5f};
    struct td_session *session = open_session(model, 1);
    struct td_error err = {0};
    CHECK(td_session_forward(session, ids, 20, NULL, 0, &err) == TD_OK);
    set_adapters(session, &use, 1);
    CHECK(td_session_length(session) == 0);
    CHECK(td_session_forward(session, ids, 20, NULL, 0, &err) == TD_OK);
    set_adapters(session, &use, 1); /* the same: nothing is lost */
    CHECK(td_session_length(session) == 20);
    set_adapters(session, &weaker, 1);
    CHECK(td_session_length(session) == 0);
    CHECK(td_session_forward(session, ids, 20, NULL, 0, &err) == TD_OK);
    td_adapter_free(adapter); /* the session keeps it */
    CHECK(td_session_forward(session, ids + 20, 20, NULL, 0, &err) == TD_OK);
    CHECK(td_session_length(session) == 40);
    set_adapters(session, NULL, 0);
    CHECK(td_session_length(session) == 0);
    td_session_free(session);
}

int main(void)
{
    struct rng rng;
    model = tiny_model(1);
    if (model == NULL)
        return 1;
    rng_init(&rng, 3);
    for (int i = 0; i < IDS; i++)
        ids[i] = (int32_t)rng_below(&rng, TINY_VOCAB);
    RUN(test_an_adapter_gives_what_merged_weights_give);
    RUN(test_every_matrix_alone_gives_what_merged_weights_give);
    RUN(test_several_adapters_are_their_sum);
    RUN(test_results_do_not_depend_on_cuts_or_threads);
    RUN(test_each_sequence_of_a_batch_has_its_own_adapters);
    RUN(test_other_adapters_forget_what_the_session_holds);
    td_model_close(model);
    return test_finish();
}
