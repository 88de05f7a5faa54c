/* Speculation changes only the speed of an answer: with guesses from the text, from a smaller model
 * and from a grammar, every token, probability and end is the same as without. */
#include "engine/session/speculation.h"

#include "engine/session/generate.h"
#include "engine/session/session.h"
#include "test.h"
#include "tiny_model.h"

#include <math.h>

#define TOKENS_MAX 200

struct answer {
    int32_t ids[TOKENS_MAX];
    struct td_token_stats stats[TOKENS_MAX];
    int32_t top[TOKENS_MAX];
    uint32_t count, length; /* length: of the session afterwards */
    char text[4096];
    size_t text_len;
    struct td_generate_result result;
    enum td_status status;
};

static bool collect(void *ctx, const struct td_token *token, struct td_str text)
{
    struct answer *answer = ctx;
    if (token && answer->count < TOKENS_MAX) {
        answer->ids[answer->count] = token->id;
        answer->stats[answer->count] = token->stats;
        answer->top[answer->count++] = token->top_count ? token->top[0].id : -1;
    }
    if (text.len && answer->text_len + text.len < sizeof answer->text) {
        memcpy(answer->text + answer->text_len, text.data, text.len);
        answer->text_len += text.len;
    }
    return true;
}

static struct td_session *open_session(struct td_model *model)
{
    struct td_session *session = NULL;
    struct td_error err = {0};
    const struct td_session_options options = {.thread_count = 1};
    CHECK(td_session_new(model, &options, &session, &err) == TD_OK);
    return session;
}

static const int32_t prompt[] = {1, 70, 80, 90, 261, 70, 80, 90, 262, 70, 80};

/* As td_generate, but guesses are always tried, whatever they cost, because the time of a test is
 * no measure. */
static enum td_status run(struct td_session *session, const struct td_generate_options *options,
                          struct answer *answer, struct td_error *err)
{
    static struct generation generation;
    struct workspace *work = session->workspace;
    enum td_status status = generation_init(&generation, &session->sequence, prompt,
                                            sizeof prompt / sizeof *prompt, options, err);
    generation.speculation.always = true;
    for (bool done = false; status == TD_OK && !done;) {
        struct generation_event event;
        struct generation_due due = generation_due(&generation, work->row_max);
        struct generation_due again = generation_due(&generation, work->row_max);
        CHECK(due.count == again.count && due.ids == again.ids);
        status = td_session_forward(session, due.ids, due.count, work->logits, due.logit_rows, err);
        if (status == TD_OK)
            status =
                generation_take(&generation, &due, work->logits, work->candidates, &event, err);
        done = status != TD_OK || event.kind == GENERATION_DONE;
        if (!done && event.kind != GENERATION_PREFILL)
            collect(answer, event.kind == GENERATION_TOKEN ? &event.token : NULL, event.text);
    }
    answer->result = generation.result;
    generation_deinit(&generation);
    return status;
}

static void generate(struct td_model *model, const struct td_generate_options *options,
                     struct answer *answer)
{
    struct td_session *session = open_session(model);
    struct td_error err = {0};
    memset(answer, 0, sizeof *answer);
    answer->status = run(session, options, answer, &err);
    answer->length = td_session_length(session);
    td_session_free(session);
}

static bool same(const struct answer *a, const struct answer *b)
{
    return a->status == b->status && a->count == b->count && a->length == b->length &&
           a->text_len == b->text_len && memcmp(a->text, b->text, a->text_len) == 0 &&
           memcmp(a->ids, b->ids, a->count * sizeof *a->ids) == 0 &&
           memcmp(a->stats, b->stats, a->count * sizeof *a->stats) == 0 &&
           memcmp(a->top, b->top, a->count * sizeof *a->top) == 0 &&
           a->result.finish == b->result.finish &&
           a->result.completion_tokens == b->result.completion_tokens;
}

static struct td_sampling sampling_of(int way)
{
    struct td_sampling sampling = td_sampling_default();
    sampling.seed = (uint64_t)way;
    sampling.seed_set = true;
    if (way % 4 == 0)
        sampling.temperature = 0;
    if (way % 4 == 1)
        sampling.temperature = 0.4f;
    if (way % 4 == 2) {
        sampling.temperature = 0.7f;
        sampling.top_k = 5;
        sampling.repetition_penalty = 1.1f;
        sampling.frequency_penalty = 0.2f;
    }
    if (way % 4 == 3)
        sampling.mirostat_tau = 3;
    return sampling;
}

/* Plainly and with speculation. */
static void check_same(struct td_model *model, struct td_generate_options options,
                       struct answer *speculated)
{
    struct answer plain;
    struct td_generate_options without = options;
    without.speculation = TD_SPECULATION_NONE;
    without.draft = NULL;
    without.draft_tokens = 0;
    generate(model, &without, &plain);
    generate(model, &options, speculated);
    CHECK(plain.count > 0 && same(&plain, speculated));
    CHECK(plain.result.drafted_tokens == 0 &&
          speculated->result.accepted_tokens <= speculated->result.drafted_tokens);
}

static void test_guesses_from_the_text_change_nothing(void)
{
    /* Three tokens and no others: the text repeats itself. */
    static const struct td_logit_bias few[] = {{70, 60}, {80, 60}, {90, 60}};
    uint32_t drafted = 0, accepted = 0;
    for (uint64_t seed = 1; seed <= 4; seed++) {
        struct td_model *model = tiny_model(seed);
        for (int way = 0; way < 12; way++) {
            struct answer answer;
            struct td_generate_options options = {.sampling = sampling_of(way),
                                                  .tokens_max = 120,
                                                  .top_logprobs = 2,
                                                  .ignore_eos = way % 3 == 0,
                                                  .speculation = TD_SPECULATION_NGRAM,
                                                  .draft_tokens = 1 + (uint32_t)way};
            options.sampling.biases = few;
            options.sampling.bias_count = way % 2 ? 3 : 0;
            check_same(model, options, &answer);
            drafted += answer.result.drafted_tokens;
            accepted += answer.result.accepted_tokens;
        }
        td_model_close(model);
    }
    CHECK(drafted > 100 && accepted > 50);
}

static void test_guesses_of_a_smaller_model_change_nothing(void)
{
    struct td_model *model = tiny_model(3), *other = tiny_model(4);
    struct td_session *same_model = open_session(model), *different = open_session(other);
    for (int way = 0; way < 12; way++) {
        struct answer answer;
        struct td_generate_options options = {.sampling = sampling_of(way),
                                              .tokens_max = 100,
                                              .top_logprobs = 1,
                                              .speculation = TD_SPECULATION_DRAFT,
                                              .draft_tokens = 5,
                                              .draft = different};
        check_same(model, options, &answer);
        /* The model itself is never wrong: it draws with the same random numbers. */
        options.draft = same_model;
        check_same(model, options, &answer);
        if (way % 4 != 2) /* whose penalties the smaller model does not know in full */
            CHECK(answer.result.accepted_tokens + 1 >= answer.result.drafted_tokens);
    }
    td_session_free(same_model);
    td_session_free(different);
    td_model_close(model);
    td_model_close(other);
}

static struct td_grammar *grammar_of(const char *text)
{
    struct td_grammar *grammar = NULL;
    struct td_error err = {0};
    CHECK(td_grammar_parse(str_from(text), &grammar, &err) == TD_OK);
    return grammar;
}

static void test_a_grammar_and_stops_hold_with_speculation(void)
{
    struct td_model *model = tiny_model(2);
    struct td_session *draft = open_session(model);
    struct td_grammar *grammar =
        grammar_of("root ::= (\"the abc abc \" [a-c]{1,9} \" STOP the end is forced \"){1,9}\n");
    struct td_str stop = STR("ced the");
    uint32_t accepted = 0;
    for (int way = 0; way < 24; way++) {
        struct answer answer;
        struct td_generate_options options = {.sampling = sampling_of(way),
                                              .tokens_max = 20 + 10 * (uint32_t)way % 100,
                                              .grammar = grammar,
                                              .stops = &stop,
                                              .stop_count = way % 2,
                                              .speculation = way % 3 ? TD_SPECULATION_NGRAM
                                                                     : TD_SPECULATION_DRAFT,
                                              .draft = way % 3 ? NULL : draft};
        check_same(model, options, &answer);
        accepted += answer.result.accepted_tokens;
    }
    CHECK(accepted > 20);
    td_grammar_free(grammar);
    td_session_free(draft);
    td_model_close(model);
}

/* The end of the context, and a limit, within a run of right guesses. */
static void test_limits_hold_with_speculation(void)
{
    struct td_model *model = tiny_model(3);
    struct td_session *draft = open_session(model);
    for (uint32_t max = 1; max <= 12; max++) {
        struct answer answer;
        struct td_generate_options options = {.sampling = sampling_of(0),
                                              .tokens_max = max,
                                              .ignore_eos = true,
                                              .speculation = TD_SPECULATION_DRAFT,
                                              .draft = draft};
        check_same(model, options, &answer);
        CHECK(answer.count == max && answer.result.finish == TD_FINISH_LENGTH);
    }
    for (uint32_t context = 14; context < 24; context++) {
        struct answer answers[2];
        for (int speculated = 0; speculated < 2; speculated++) {
            struct td_session *session = NULL;
            struct td_error err = {0};
            const struct td_session_options small = {.context_tokens = context, .thread_count = 1};
            REQUIRE(td_session_new(model, &small, &session, &err) == TD_OK);
            struct td_generate_options options = {.sampling = sampling_of(0), .ignore_eos = true};
            options.speculation = speculated ? TD_SPECULATION_DRAFT : TD_SPECULATION_NONE;
            options.draft = speculated ? draft : NULL;
            struct answer *answer = &answers[speculated];
            memset(answer, 0, sizeof *answer);
            answer->status = run(session, &options, answer, &err);
            answer->length = td_session_length(session);
            td_session_free(session);
        }
        CHECK(same(&answers[0], &answers[1]) && answers[0].length == context);
    }
    td_session_free(draft);
    td_model_close(model);
}

static void test_a_model_with_other_tokens_is_refused_with_the_difference(void)
{
    struct td_model *model = tiny_model(3), *other = tiny_model_renamed(3);
    REQUIRE(model && other);
    struct td_session *session = open_session(model), *draft = open_session(other);
    struct td_error err = {0};
    struct td_generate_options options = {.sampling = sampling_of(0),
                                          .tokens_max = 4,
                                          .speculation = TD_SPECULATION_DRAFT,
                                          .draft = draft};
    CHECK(td_generate(session, prompt, 3, &options, NULL, NULL, NULL, &err) == TD_INVALID);
    CHECK(strstr(err.message, "token 300") && strstr(err.message, "same vocabulary"));
    options.draft = NULL;
    err = (struct td_error){0};
    CHECK(td_generate(session, prompt, 3, &options, NULL, NULL, NULL, &err) == TD_INVALID);
    options.speculation = TD_SPECULATION_NGRAM;
    options.draft_tokens = SPECULATION_TOKENS_MAX + 1;
    err = (struct td_error){0};
    CHECK(td_generate(session, prompt, 3, &options, NULL, NULL, NULL, &err) == TD_INVALID);
    CHECK(strstr(err.message, "draft_tokens"));
    td_session_free(session);
    td_session_free(draft);
    td_model_close(model);
    td_model_close(other);
}

static void test_the_longest_and_latest_run_is_continued(void)
{
    int32_t out[8];
    const int32_t ids[] = {9, 1, 2, 3, 50, 7, 2, 3, 60, 8, 2};
    /* "2 3" ends twice: after 1 (a run of two) and after 7; the text ends with 8 2 3. The later one
     * wins. */
    CHECK(guess_from_text(ids, 11, 3, 3, out) == 3);
    CHECK(out[0] == 60 && out[1] == 8 && out[2] == 2);
    const int32_t longer[] = {5, 1, 2, 3, 50, 7, 2, 3, 60, 1, 2};
    CHECK(guess_from_text(longer, 11, 3, 1, out) == 1 && out[0] == 50);
    const int32_t once[] = {3, 4, 5};
    CHECK(guess_from_text(once, 3, 5, 4, out) == 0); /* "5" alone is no run */
    CHECK(guess_from_text(once, 0, 5, 4, out) == 0);
    const int32_t periodic[] = {6, 7, 6, 7, 6};
    CHECK(guess_from_text(periodic, 5, 7, 8, out) == 8);
    for (int i = 0; i < 8; i++)
        CHECK(out[i] == (i % 2 ? 7 : 6));
}

static void test_guesses_are_as_many_as_pay(void)
{
    struct guess_pace pace = {.right = 0.6};
    CHECK(guess_count(&pace, 8) == 0); /* nothing is known: a plain pass first */
    guess_note(&pace, 0, 0, 10);
    CHECK(guess_count(&pace, 8) > 0 && guess_count(&pace, 1) == 1);
    for (int i = 0; i < 60; i++)
        guess_note(&pace, 4, 4, 10.4); /* right and cheap */
    CHECK(guess_count(&pace, 8) == 8);
    for (int i = 0; i < 60; i++)
        guess_note(&pace, 4, 0, 30); /* wrong and dear */
    CHECK(guess_count(&pace, 8) == 0);
    pace.skipped = 1000; /* texts change */
    CHECK(guess_count(&pace, 8) > 0);
    for (int i = 0; i < 60; i++)
        guess_note(&pace, 2, i % 2 ? 2 : 0, 12); /* about two of three: a few, not all */
    uint32_t count = guess_count(&pace, 16);
    CHECK(count >= 1 && count < 16);
}

int main(void)
{
    RUN(test_guesses_from_the_text_change_nothing);
    RUN(test_guesses_of_a_smaller_model_change_nothing);
    RUN(test_a_grammar_and_stops_hold_with_speculation);
    RUN(test_limits_hold_with_speculation);
    RUN(test_a_model_with_other_tokens_is_refused_with_the_difference);
    RUN(test_the_longest_and_latest_run_is_continued);
    RUN(test_guesses_are_as_many_as_pay);
    return test_finish();
}
