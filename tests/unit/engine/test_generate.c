/* td_generate: stop strings, ends, limits, text that is always valid, statistics of every token. */
#include "engine/session/generate.h"

#include "base/core/str.h"
#include "base/text/utf8.h"
#include "test.h"
#include "tiny_model.h"

#include <math.h>

#define TOKENS_MAX 60

static struct td_model *model;
static const int32_t prompt[] = {1, 40, 50, 60};

enum { IDS_MAX = 2 * TINY_CONTEXT };

struct record {
    struct buf text;
    int32_t ids[IDS_MAX];
    size_t count;        /* tokens */
    size_t tails;        /* calls without a token */
    size_t cancel_after; /* 0 = never */
    bool all_valid;
    struct td_generate_result result;
};

static bool on_token(void *ctx, const struct td_token *token, struct td_str text)
{
    struct record *record = ctx;
    buf_append_str(&record->text, text);
    record->all_valid &= utf8_is_valid(text);
    if (token == NULL) {
        record->tails++;
        return true;
    }
    record->all_valid &= isfinite(token->stats.logprob) && token->stats.logprob <= 0 &&
                         token->stats.margin >= 0 && token->stats.margin <= 1 &&
                         token->stats.entropy >= 0 && token->stats.not_mine >= 0 &&
                         token->stats.not_mine <= 1;
    if (record->count < IDS_MAX)
        record->ids[record->count] = token->id;
    record->count++;
    return record->count != record->cancel_after;
}

static struct td_generate_options plain_options(void)
{
    struct td_generate_options options = {.sampling = td_sampling_default(),
                                          .tokens_max = TOKENS_MAX};
    options.sampling.temperature = 1;
    options.sampling.seed = 11;
    options.sampling.seed_set = true;
    return options;
}

static enum td_status generate(const struct td_generate_options *options, struct record *record)
{
    struct td_session *session = NULL;
    struct td_error err = {0};
    size_t cancel_after = record->cancel_after;
    *record = (struct record){.cancel_after = cancel_after, .all_valid = true};
    buf_init(&record->text, 1 << 20);
    struct td_session_options session_options = {.thread_count = 1};
    CHECK(td_session_new(model, &session_options, &session, &err) == TD_OK);
    enum td_status status =
        td_generate(session, prompt, 4, options, on_token, record, &record->result, &err);
    CHECK(status == TD_OK || err.message[0] != '\0');
    td_session_free(session);
    return status;
}

static void test_length_limit_ends_and_is_counted(void)
{
    struct record record = {0};
    struct td_generate_options options = plain_options();
    options.ignore_eos = true;
    CHECK(generate(&options, &record) == TD_OK);
    CHECK(record.count == TOKENS_MAX && record.result.completion_tokens == TOKENS_MAX);
    CHECK(record.result.prompt_tokens == 4 && record.result.finish == TD_FINISH_LENGTH);
    CHECK(record.all_valid && record.tails <= 1);
    buf_deinit(&record.text);
}

static int32_t best_of(const float *logits)
{
    int32_t best = 0;
    for (int32_t i = 1; i < TINY_VOCAB; i++)
        best = logits[i] > logits[best] ? i : best;
    return best;
}

/* The prompt of 4 and 508 tokens fill the context; of these 512 the first 3 and the last 254
 * stay. */
static void test_an_answer_outgrows_the_context_when_asked_to(void)
{
    enum { KEEP = 3, STAY = 254, AT = TINY_CONTEXT - 4 };
    struct record record = {0};
    struct td_generate_options options = plain_options();
    options.ignore_eos = true;
    options.sampling.temperature = 0;
    options.tokens_max = TINY_CONTEXT + 300;
    CHECK(generate(&options, &record) == TD_OK);
    CHECK(record.result.finish == TD_FINISH_LENGTH && record.count == AT + 1);
    buf_deinit(&record.text);
    options.context_shift = true;
    options.context_keep = KEEP;
    CHECK(generate(&options, &record) == TD_OK);
    CHECK(record.count == TINY_CONTEXT + 300 && record.result.finish == TD_FINISH_LENGTH);
    /* the first token after the shift is that of a text without what was dropped */
    int32_t text[KEEP + STAY + 1];
    float logits[TINY_VOCAB];
    memcpy(text, prompt, KEEP * sizeof *text);
    memcpy(text + KEEP, record.ids + AT - STAY, (STAY + 1) * sizeof *text);
    struct td_session *session = NULL;
    CHECK(td_session_new(model, NULL, &session, NULL) == TD_OK);
    CHECK(td_session_forward(session, text, KEEP + STAY + 1, logits, 1, NULL) == TD_OK);
    CHECK(best_of(logits) == record.ids[AT + 1]);
    td_session_free(session);
    buf_deinit(&record.text);
    options.tokens_max = 0;
    CHECK(generate(&options, &record) == TD_INVALID);
    buf_deinit(&record.text);
    options.tokens_max = 10;
    options.context_keep = TINY_CONTEXT;
    CHECK(generate(&options, &record) == TD_INVALID);
    buf_deinit(&record.text);
}

static void test_same_seed_gives_the_same_answer(void)
{
    struct record a = {0}, b = {0};
    struct td_generate_options options = plain_options();
    CHECK(generate(&options, &a) == TD_OK && generate(&options, &b) == TD_OK);
    CHECK(a.count == b.count && memcmp(a.ids, b.ids, a.count * sizeof *a.ids) == 0);
    CHECK(str_equal(buf_view(&a.text), buf_view(&b.text)));
    buf_deinit(&a.text);
    buf_deinit(&b.text);
}

static void test_text_is_the_tokens_with_broken_bytes_replaced(void)
{
    struct record record = {0};
    struct td_generate_options options = plain_options();
    options.ignore_eos = true;
    CHECK(generate(&options, &record) == TD_OK);
    struct buf raw, mended;
    buf_init(&raw, 1 << 20);
    buf_init(&mended, 1 << 20);
    for (size_t i = 0; i < record.count; i++)
        buf_append_str(&raw, td_token_piece(model, record.ids[i], false));
    struct td_str rest = buf_view(&raw);
    while (rest.len) {
        size_t valid = utf8_valid_prefix(rest);
        buf_append(&mended, rest.data, valid);
        if (valid < rest.len)
            buf_append(&mended, "\xef\xbf\xbd", 3), valid++;
        rest = str_slice(rest, valid, rest.len);
    }
    CHECK(str_equal(buf_view(&mended), buf_view(&record.text)));
    buf_deinit(&raw);
    buf_deinit(&mended);
    buf_deinit(&record.text);
}

/* Every piece of the answer as a stop string: the text ends before its first place. */
static void test_any_stop_string_cuts_the_answer_before_it(void)
{
    struct record whole = {0}, stopped = {0};
    struct td_generate_options options = plain_options();
    options.ignore_eos = true;
    options.sampling.temperature = 0.8f;
    CHECK(generate(&options, &whole) == TD_OK);
    struct td_str text = buf_view(&whole.text);
    int tried = 0;
    for (size_t begin = 0; begin + 6 < text.len; begin += 5)
        for (size_t len = 1; len <= 5; len += 2) {
            struct td_str stop = str_slice(text, begin, begin + len);
            if (!utf8_is_valid(stop) || str_find(stop, STR("\xef\xbf\xbd"), 0) != SIZE_MAX)
                continue;
            options.stops = &stop;
            options.stop_count = 1;
            CHECK(generate(&options, &stopped) == TD_OK);
            CHECK(stopped.result.finish == TD_FINISH_STOP && stopped.all_valid);
            CHECK(str_equal(buf_view(&stopped.text), str_slice(text, 0, str_find(text, stop, 0))));
            CHECK(stopped.count <= whole.count && stopped.tails == 0);
            buf_deinit(&stopped.text);
            tried++;
        }
    CHECK(tried > 5);
    buf_deinit(&whole.text);
}

/* A sampler that can only choose the end token shows that it is reported and counted, with no
 * text. */
static void test_end_token_is_reported_with_empty_text(void)
{
    struct record record = {0};
    struct td_generate_options options = plain_options();
    options.sampling.temperature = 30; /* nearly uniform: an end token comes soon */
    options.tokens_max = 0;            /* as many as the context holds */
    bool ended = false;
    for (uint64_t seed = 0; seed < 20 && !ended; seed++) {
        options.sampling.seed = seed;
        CHECK(generate(&options, &record) == TD_OK);
        ended = record.result.finish == TD_FINISH_STOP;
        if (ended) {
            CHECK(record.ids[record.count - 1] == 2);
            for (size_t i = 0; i + 1 < record.count; i++)
                CHECK(record.ids[i] != 2);
        } else {
            CHECK(record.count == TINY_CONTEXT - 4 + 1); /* the last one needs no place */
        }
        CHECK(record.result.completion_tokens == record.count && record.all_valid);
        buf_deinit(&record.text);
    }
    CHECK(ended);
}

static void test_not_mine_token_does_not_end_the_answer(void)
{
    struct record record = {0};
    struct td_generate_options options = plain_options();
    options.sampling.temperature = 30;
    options.ignore_eos = true;
    options.tokens_max = 0;
    bool met = false;
    for (uint64_t seed = 0; seed < 20 && !met; seed++) {
        options.sampling.seed = seed;
        CHECK(generate(&options, &record) == TD_OK);
        for (size_t i = 0; i + 1 < record.count; i++)
            met |= record.ids[i] == TINY_NOT_MINE;
        buf_deinit(&record.text);
    }
    CHECK(met);
}

static void test_callback_cancels_at_once(void)
{
    struct record record = {.cancel_after = 5};
    struct td_generate_options options = plain_options();
    options.ignore_eos = true;
    CHECK(generate(&options, &record) == TD_CANCELLED);
    CHECK(record.count == 5 && record.result.completion_tokens == 5);
    buf_deinit(&record.text);
}

static void test_generation_continues_what_the_session_holds(void)
{
    struct record whole = {0};
    struct td_generate_options options = plain_options();
    options.ignore_eos = true;
    options.sampling.repetition_penalty = 1.3f; /* looks at what the session holds too */
    CHECK(generate(&options, &whole) == TD_OK);
    struct td_session *session = NULL;
    struct td_error err = {0};
    struct record parts = {.all_valid = true};
    buf_init(&parts.text, 1 << 20);
    CHECK(td_session_new(model, NULL, &session, &err) == TD_OK);
    CHECK(td_session_forward(session, prompt, 3, NULL, 0, &err) == TD_OK);
    CHECK(td_generate(session, prompt + 3, 1, &options, on_token, &parts, &parts.result, &err) ==
          TD_OK);
    CHECK(str_equal(buf_view(&whole.text), buf_view(&parts.text)));
    td_session_free(session);
    buf_deinit(&whole.text);
    buf_deinit(&parts.text);
}

static void test_wrong_requests_are_refused(void)
{
    static int32_t many[TINY_CONTEXT + 1];
    struct td_session *session = NULL;
    struct td_error err = {0};
    struct td_generate_options options = plain_options();
    struct td_generate_result result;
    CHECK(td_session_new(model, NULL, &session, &err) == TD_OK);
    CHECK(td_generate(session, prompt, 0, &options, NULL, NULL, &result, &err) == TD_INVALID);
    err = (struct td_error){0};
    CHECK(td_generate(session, many, TINY_CONTEXT + 1, &options, NULL, NULL, &result, &err) ==
          TD_LIMIT);
    options.top_logprobs = TD_TOP_LOGPROBS_MAX + 1;
    err = (struct td_error){0};
    CHECK(td_generate(session, prompt, 4, &options, NULL, NULL, &result, &err) == TD_INVALID);
    struct td_str stop = {"", 0};
    options = plain_options();
    options.stops = &stop;
    options.stop_count = 1;
    err = (struct td_error){0};
    CHECK(td_generate(session, prompt, 4, &options, NULL, NULL, NULL, &err) == TD_INVALID);
    td_session_free(session);
}

static bool check_top(void *ctx, const struct td_token *token, struct td_str text)
{
    (void)text;
    size_t *calls = ctx;
    if (token == NULL)
        return true;
    CHECK(token->top_count == 5);
    for (size_t i = 1; i < token->top_count; i++)
        CHECK(token->top[i].logprob <= token->top[i - 1].logprob);
    for (size_t i = 0; i < token->top_count; i++)
        if (token->top[i].id == token->id)
            CHECK(fabsf(token->top[i].logprob - token->stats.logprob) < 1e-5f);
    ++*calls;
    return true;
}

static void test_top_logprobs_come_with_every_token(void)
{
    struct td_session *session = NULL;
    struct td_error err = {0};
    struct td_generate_options options = plain_options();
    size_t calls = 0;
    options.top_logprobs = 5;
    options.ignore_eos = true;
    CHECK(td_session_new(model, NULL, &session, &err) == TD_OK);
    CHECK(td_generate(session, prompt, 4, &options, check_top, &calls, NULL, &err) == TD_OK);
    CHECK(calls == TOKENS_MAX);
    td_session_free(session);
}

int main(void)
{
    model = tiny_model(1);
    if (model == NULL)
        return 1;
    RUN(test_length_limit_ends_and_is_counted);
    RUN(test_an_answer_outgrows_the_context_when_asked_to);
    RUN(test_same_seed_gives_the_same_answer);
    RUN(test_text_is_the_tokens_with_broken_bytes_replaced);
    RUN(test_any_stop_string_cuts_the_answer_before_it);
    RUN(test_end_token_is_reported_with_empty_text);
    RUN(test_not_mine_token_does_not_end_the_answer);
    RUN(test_callback_cancels_at_once);
    RUN(test_generation_continues_what_the_session_holds);
    RUN(test_wrong_requests_are_refused);
    RUN(test_top_logprobs_come_with_every_token);
    td_model_close(model);
    return test_finish();
}
