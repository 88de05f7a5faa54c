/* Log-probabilities of texts and of labels: the same as one gets by running every token alone. */
#include "tandem/engine.h"

#include "base/crypto/rng.h"
#include "test.h"
#include "tiny_model.h"

#include <math.h>

static const int32_t prompt[] = {1, 70, 80, 90, 261, 70};
enum { PROMPT = 6 };

static struct td_session *open_session(const struct td_model *model)
{
    struct td_session *session = NULL;
    struct td_error err = {0};
    const struct td_session_options options = {.context_tokens = 128, .thread_count = 1};
    CHECK(td_session_new(model, &options, &session, &err) == TD_OK);
    return session;
}

/* Token by token in a session of its own; the probabilities of all tokens after the last go to
 * `last`. */
static double plain_logprob(const struct td_model *model, const int32_t *ids, size_t count,
                            double *each, double last[TINY_VOCAB])
{
    struct td_session *session = open_session(model);
    struct td_error err = {0};
    static float logits[TINY_VOCAB];
    double total = 0;
    CHECK(td_session_forward(session, prompt, PROMPT, logits, 1, &err) == TD_OK);
    for (size_t i = 0; i <= count; i++) {
        double sum = 0;
        for (int id = 0; id < TINY_VOCAB; id++)
            sum += exp((double)logits[id]);
        for (int id = 0; id < TINY_VOCAB; id++)
            last[id] = exp((double)logits[id]) / sum;
        if (i == count)
            break;
        double one = (double)logits[ids[i]] - log(sum);
        if (each)
            each[i] = one;
        total += one;
        CHECK(td_session_forward(session, &ids[i], 1, logits, 1, &err) == TD_OK);
    }
    td_session_free(session);
    return total;
}

static void test_a_text_is_scored_token_by_token(void)
{
    struct td_model *model = tiny_model(5);
    struct td_session *session = open_session(model);
    struct td_error err = {0};
    struct rng rng;
    rng_init(&rng, 1);
    static const size_t counts[] = {1, 2, 15, 16, 17, 18, 60};
    for (size_t c = 0; c < sizeof counts / sizeof *counts; c++) {
        int32_t ids[60];
        float got[60];
        double expected[60], last[TINY_VOCAB];
        for (size_t i = 0; i < counts[c]; i++)
            ids[i] = (int32_t)rng_below(&rng, TINY_VOCAB);
        plain_logprob(model, ids, counts[c], expected, last);
        td_session_truncate(session, 0);
        REQUIRE(td_score_text(session, prompt, PROMPT, ids, counts[c], got, &err) == TD_OK);
        for (size_t i = 0; i < counts[c]; i++)
            CHECK(fabs((double)got[i] - expected[i]) < 1e-4);
        CHECK(td_session_length(session) == PROMPT + counts[c] - 1);
    }
    td_session_free(session);
    td_model_close(model);
}

static const int32_t yes[] = {70}, no[] = {71}, yes_sir[] = {70, 90, 91},
                     yes_madam[] = {70, 90, 92}, other[] = {5, 6, 7, 8, 9, 10}, yes_again[] = {70};
static const struct td_label labels[] = {{other, 6}, {yes, 1},     {yes_madam, 3},
                                         {no, 1},    {yes_sir, 3}, {yes_again, 1}};
enum { LABELS = 6 };

static void test_labels_are_scored_as_if_each_stood_alone(void)
{
    struct td_model *model = tiny_model(6);
    struct td_session *session = open_session(model);
    struct td_error err = {0};
    for (int way = 0; way < 4; way++) {
        const struct td_label_options options = {.normalise = way & 1, .with_end = way & 2};
        float scores[LABELS];
        td_session_truncate(session, 0);
        REQUIRE(td_score_labels(session, prompt, PROMPT, labels, LABELS, &options, scores, &err) ==
                TD_OK);
        CHECK(td_session_length(session) == PROMPT);
        for (int i = 0; i < LABELS; i++) {
            double last[TINY_VOCAB];
            double expected = plain_logprob(model, labels[i].ids, labels[i].count, NULL, last);
            if (options.with_end)
                expected += log(last[2]); /* </s> */
            if (options.normalise)
                expected /= (double)(labels[i].count + options.with_end);
            CHECK(fabs((double)scores[i] - expected) < 1e-4);
        }
        CHECK(scores[1] == scores[5]);
    }
    td_session_free(session);
    td_model_close(model);
}

static void test_a_prompt_goes_on_after_what_the_session_holds(void)
{
    struct td_model *model = tiny_model(6);
    struct td_session *session = open_session(model);
    struct td_error err = {0};
    float whole[LABELS], parts[LABELS];
    REQUIRE(td_score_labels(session, prompt, PROMPT, labels, LABELS, NULL, whole, &err) == TD_OK);
    td_session_truncate(session, 3);
    REQUIRE(td_score_labels(session, prompt + 3, PROMPT - 3, labels, LABELS, NULL, parts, &err) ==
            TD_OK);
    CHECK(memcmp(whole, parts, sizeof whole) == 0);
    td_session_free(session);
    td_model_close(model);
}

static void test_what_cannot_be_scored_is_refused(void)
{
    struct td_model *model = tiny_model(6);
    struct td_session *session = open_session(model);
    struct td_error err = {0};
    float scores[LABELS];
    const int32_t outside[] = {TINY_VOCAB};
    const struct td_label wrong = {outside, 1}, empty = {yes, 0}, far = {yes, 65};
    CHECK(td_score_labels(session, prompt, PROMPT, &wrong, 1, NULL, scores, &err) == TD_INVALID);
    CHECK(strstr(err.message, "320"));
    err = (struct td_error){0};
    CHECK(td_score_labels(session, prompt, PROMPT, &empty, 1, NULL, scores, &err) == TD_INVALID);
    err = (struct td_error){0};
    CHECK(td_score_labels(session, prompt, PROMPT, &far, 1, NULL, scores, &err) == TD_INVALID);
    err = (struct td_error){0};
    CHECK(td_score_labels(session, prompt, PROMPT, labels, 0, NULL, scores, &err) == TD_INVALID);
    err = (struct td_error){0};
    CHECK(td_score_labels(session, prompt, 0, labels, 1, NULL, scores, &err) == TD_INVALID);
    err = (struct td_error){0};
    CHECK(td_score_text(session, prompt, 0, yes, 1, scores, &err) == TD_INVALID);
    err = (struct td_error){0};
    CHECK(td_score_text(session, prompt, PROMPT, outside, 1, scores, &err) == TD_INVALID);
    CHECK(td_session_length(session) == 0); /* nothing was left behind */
    static int32_t long_text[200];
    static float long_scores[200];
    err = (struct td_error){0};
    CHECK(td_score_text(session, prompt, PROMPT, long_text, 200, long_scores, &err) == TD_LIMIT);
    CHECK(td_session_length(session) == 0);
    td_session_free(session);
    td_model_close(model);
}

int main(void)
{
    RUN(test_a_text_is_scored_token_by_token);
    RUN(test_labels_are_scored_as_if_each_stood_alone);
    RUN(test_a_prompt_goes_on_after_what_the_session_holds);
    RUN(test_what_cannot_be_scored_is_refused);
    return test_finish();
}
