/* Sessions: the same numbers however a sequence is cut, whatever the threads, after truncating and
 * after cancelling; every variant of the kernels. */
#include "engine/session/session.h"

#include "test.h"
#include "tiny_model.h"

#include <math.h>
#include <pthread.h>

#define IDS 200

static struct td_model *model;
static int32_t ids[IDS];
static float expected[IDS * TINY_VOCAB];

static struct td_session *open_session(uint32_t thread_count, enum td_kv_type kv_type)
{
    struct td_session *session = NULL;
    struct td_error err = {0};
    struct td_session_options options = {.thread_count = thread_count, .kv_type = kv_type};
    CHECK(td_session_new(model, &options, &session, &err) == TD_OK);
    return session;
}

static bool same(const float *a, const float *b, size_t rows)
{
    return memcmp(a, b, rows * TINY_VOCAB * sizeof *a) == 0;
}

/* All rows in one call with one thread: everything else is compared with this. */
static void fill_expected(enum td_kv_type kv_type)
{
    struct rng rng;
    struct td_error err = {0};
    rng_init(&rng, 5);
    for (int i = 0; i < IDS; i++)
        ids[i] = (int32_t)rng_below(&rng, TINY_VOCAB);
    struct td_session *session = open_session(1, kv_type);
    CHECK(td_session_forward(session, ids, IDS, expected, IDS, &err) == TD_OK);
    CHECK(td_session_length(session) == IDS);
    for (int i = 0; i < IDS * TINY_VOCAB; i++)
        CHECK(isfinite(expected[i]));
    td_session_free(session);
}

static void check_cuts(enum td_kv_type kv_type)
{
    static const size_t cuts[] = {1, 2, 7, 31, 63, 64, 65, 128, 199};
    static float rows[IDS * TINY_VOCAB];
    fill_expected(kv_type);
    for (uint32_t threads = 1; threads <= 3; threads++)
        for (size_t c = 0; c < sizeof cuts / sizeof *cuts; c++) {
            struct td_session *session = open_session(threads, kv_type);
            struct td_error err = {0};
            for (size_t at = 0; at < IDS; at += cuts[c]) {
                size_t count = IDS - at < cuts[c] ? IDS - at : cuts[c];
                CHECK(td_session_forward(session, ids + at, count, rows + at * TINY_VOCAB, count,
                                         &err) == TD_OK);
            }
            CHECK(same(rows, expected, IDS));
            td_session_free(session);
        }
}

static void test_results_do_not_depend_on_cuts_or_threads(void)
{
    check_cuts(TD_KV_F32);
    check_cuts(TD_KV_F16);
}

static void test_only_the_last_rows_are_given(void)
{
    static float rows[100 * TINY_VOCAB + 1];
    struct td_error err = {0};
    fill_expected(TD_KV_F16);
    for (size_t wanted = 0; wanted <= 100; wanted += 33) {
        struct td_session *session = open_session(2, TD_KV_F16);
        rows[wanted * TINY_VOCAB] = 12345.0f;
        CHECK(td_session_forward(session, ids, IDS, wanted ? rows : NULL, wanted, &err) == TD_OK);
        CHECK(same(rows, expected + (IDS - wanted) * TINY_VOCAB, wanted));
        CHECK(rows[wanted * TINY_VOCAB] == 12345.0f);
        td_session_free(session);
    }
}

static void test_truncating_goes_back_exactly(void)
{
    float row[TINY_VOCAB];
    struct td_error err = {0};
    fill_expected(TD_KV_F16);
    struct td_session *session = open_session(1, TD_KV_F16);
    int32_t other[50];
    for (int i = 0; i < 50; i++)
        other[i] = i;
    CHECK(td_session_forward(session, ids, 100, NULL, 0, &err) == TD_OK);
    CHECK(td_session_forward(session, other, 50, NULL, 0, &err) == TD_OK);
    CHECK(sequence_common_prefix(&session->sequence, NULL, ids, IDS) ==
          100 + (ids[100] == other[0]));
    td_session_truncate(session, 300); /* longer than it is: nothing */
    CHECK(td_session_length(session) == 150);
    td_session_truncate(session, 100);
    CHECK(td_session_length(session) == 100);
    CHECK(td_session_forward(session, ids + 100, IDS - 100, row, 1, &err) == TD_OK);
    CHECK(same(row, expected + (IDS - 1) * TINY_VOCAB, 1));
    td_session_truncate(session, 0);
    CHECK(sequence_common_prefix(&session->sequence, NULL, ids, IDS) == 0);
    td_session_free(session);
}

static void test_wrong_input_is_refused_and_changes_nothing(void)
{
    static int32_t many[TINY_CONTEXT + 1];
    float row[TINY_VOCAB];
    struct td_error err = {0};
    struct td_session *session = open_session(1, TD_KV_F16);
    int32_t bad[] = {1, TINY_VOCAB};
    CHECK(td_session_forward(session, bad, 2, NULL, 0, &err) == TD_INVALID &&
          strstr(err.message, "token 1 is 320"));
    bad[1] = -1;
    err = (struct td_error){0};
    CHECK(td_session_forward(session, bad, 2, NULL, 0, &err) == TD_INVALID);
    err = (struct td_error){0};
    CHECK(td_session_forward(session, ids, 1, row, 2, &err) == TD_INVALID);
    err = (struct td_error){0};
    CHECK(td_session_forward(session, many, TINY_CONTEXT + 1, NULL, 0, &err) == TD_LIMIT);
    CHECK(td_session_length(session) == 0);
    err = (struct td_error){0};
    CHECK(td_session_forward(session, many, TINY_CONTEXT, NULL, 0, &err) == TD_OK);
    CHECK(td_session_forward(session, many, 1, NULL, 0, &err) == TD_LIMIT);
    CHECK(td_session_forward(session, many, 0, NULL, 0, &err) == TD_OK);
    td_session_free(session);
}

static void test_cancelling_leaves_the_session_as_it_was(void)
{
    float row[TINY_VOCAB];
    atomic_bool cancel = true;
    struct td_error err = {0};
    fill_expected(TD_KV_F16);
    struct td_session *session = open_session(2, TD_KV_F16);
    CHECK(td_session_forward(session, ids, 50, NULL, 0, &err) == TD_OK);
    session->cancel = &cancel;
    CHECK(td_session_forward(session, ids + 50, 100, NULL, 0, &err) == TD_CANCELLED);
    CHECK(td_session_length(session) == 50);
    atomic_store(&cancel, false);
    err = (struct td_error){0};
    CHECK(td_session_forward(session, ids + 50, IDS - 50, row, 1, &err) == TD_OK);
    CHECK(same(row, expected + (IDS - 1) * TINY_VOCAB, 1));
    td_session_free(session);
}

/* As if the dropped tokens had never been there. */
static void test_a_shifted_session_is_that_of_the_shorter_text(void)
{
    static const uint32_t cases[][3] = {{150, 4, 70},  {150, 0, 150}, {150, 64, 64},
                                        {100, 100, 0}, {130, 1, 1},   {150, 70, 79}};
    fill_expected(TD_KV_F16);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        uint32_t length = cases[i][0], keep = cases[i][1], drop = cases[i][2];
        float got[TINY_VOCAB], wanted[TINY_VOCAB];
        int32_t shorter[IDS];
        struct td_error err = {0};
        struct td_session *session = open_session(1, TD_KV_F16),
                          *fresh = open_session(1, TD_KV_F16);
        memcpy(shorter, ids, keep * sizeof *ids);
        memcpy(shorter + keep, ids + keep + drop, (IDS - keep - drop) * sizeof *ids);
        CHECK(td_session_forward(session, ids, length, NULL, 0, &err) == TD_OK);
        CHECK(td_session_shift(session, keep, drop, &err) == TD_OK);
        CHECK(td_session_length(session) == length - drop);
        CHECK(sequence_common_prefix(&session->sequence, NULL, shorter, IDS) == length - drop);
        CHECK(td_session_forward(session, shorter + length - drop, 10, got, 1, &err) == TD_OK);
        CHECK(td_session_forward(fresh, shorter, length - drop + 10, wanted, 1, &err) == TD_OK);
        CHECK(same(got, wanted, 1));
        CHECK(td_session_shift(session, 5, 1000, &err) == TD_INVALID);
        CHECK(td_session_shift(session, UINT32_MAX, 2, NULL) == TD_INVALID);
        CHECK(td_session_length(session) == length - drop + 10);
        td_session_free(session);
        td_session_free(fresh);
    }
}

/* Two sessions of one model at the same time. */
static void *run_alone(void *arg)
{
    float *row = arg;
    struct td_error err = {0};
    struct td_session *session = NULL;
    struct td_session_options options = {.thread_count = 2};
    if (td_session_new(model, &options, &session, &err) == TD_OK &&
        td_session_forward(session, ids, IDS, row, 1, &err) != TD_OK)
        row[0] = NAN;
    td_session_free(session);
    return NULL;
}

static void test_one_model_serves_many_threads(void)
{
    static float rows[3][TINY_VOCAB];
    pthread_t threads[3];
    fill_expected(TD_KV_F16);
    for (int i = 0; i < 3; i++)
        CHECK(pthread_create(&threads[i], NULL, run_alone, rows[i]) == 0);
    for (int i = 0; i < 3; i++) {
        pthread_join(threads[i], NULL);
        CHECK(same(rows[i], expected + (IDS - 1) * TINY_VOCAB, 1));
    }
}

int main(void)
{
    model = tiny_model(1);
    if (model == NULL)
        return 1;
    RUN(test_results_do_not_depend_on_cuts_or_threads);
    RUN(test_only_the_last_rows_are_given);
    RUN(test_truncating_goes_back_exactly);
    RUN(test_wrong_input_is_refused_and_changes_nothing);
    RUN(test_cancelling_leaves_the_session_as_it_was);
    RUN(test_a_shifted_session_is_that_of_the_shorter_text);
    RUN(test_one_model_serves_many_threads);
    td_model_close(model);
    return test_finish();
}
