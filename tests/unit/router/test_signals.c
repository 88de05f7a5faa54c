#include "router/plan/signals.h"

#include "base/json.h"
#include "base/str.h"
#include "router/plan/facts.h"
#include "test.h"

static struct signals signals_of(const char *user_text)
{
    struct td_message message = {TD_ROLE_USER, str_from(user_text)};
    struct td_request request = {.messages = &message, .message_count = 1};
    struct signals signals;
    signals_extract(&request, NULL, NULL, &signals);
    return signals;
}

static void test_code_is_marked(void)
{
    CHECK(signals_of("why does this crash: #include <stdio.h>").code);
    CHECK(signals_of("```python\nprint(1)\n```").code);
    CHECK(!signals_of("book a table for two").code);
}

static void test_arithmetic_is_maths_and_dates_are_not(void)
{
    CHECK(signals_of("what is 12 * 7").maths);
    CHECK(signals_of("2+2").maths);
    CHECK(signals_of("Prove the equation").maths);
    CHECK(!signals_of("meet me on 2026-11-21").maths);
    CHECK(!signals_of("+ 3").maths);
    CHECK(!signals_of("3 +").maths);
}

static void test_questions_are_marked(void)
{
    CHECK(signals_of("you there? ").question);
    CHECK(signals_of("What's the time").question);
    CHECK(signals_of("WHO called").question);
    CHECK(!signals_of("whoever called, answer").question);
    CHECK(!signals_of("").question);
}

static void test_markers_come_from_the_last_user_message(void)
{
    struct td_message messages[] = {
        {TD_ROLE_SYSTEM, STR("#include everything?")},
        {TD_ROLE_USER, STR("set a timer")},
        {TD_ROLE_ASSISTANT, STR("what is 2+2?")},
    };
    struct td_request request = {.messages = messages, .message_count = 3, .tokens_max = 9};
    struct signals signals;
    signals_extract(&request, NULL, NULL, &signals);
    CHECK(!signals.code && !signals.maths && !signals.question);
    CHECK(signals.message_count == 3 && signals.tokens_max == 9);
    CHECK(signals.prompt_bytes == 20 + 11 + 12);
}

static void test_formats_need_a_tier_that_can_promise_them(void)
{
    struct td_message message = {TD_ROLE_USER, STR("x")};
    struct td_request request = {.messages = &message, .message_count = 1};
    struct td_grammar *some = (void *)&message; /* only looked at for being there */
    struct signals signals;
    signals_extract(&request, NULL, NULL, &signals);
    CHECK(signals.needs == 0);
    request.format = TD_FORMAT_JSON;
    signals_extract(&request, NULL, NULL, &signals);
    CHECK(signals.needs == (CAPABILITY_SCHEMA | CAPABILITY_WHOLE_SCHEMA));
    request.grammar = some;
    signals_extract(&request, NULL, NULL, &signals);
    CHECK(signals.needs == CAPABILITY_SCHEMA);
    request.format = TD_FORMAT_GRAMMAR;
    signals_extract(&request, NULL, NULL, &signals);
    CHECK(signals.needs == CAPABILITY_GRAMMAR);
}

/* What clients of other servers send with every request means nothing; what would change the answer
 * is named. */
static void test_settings_that_the_engine_has_not_got_are_named(void)
{
    static const struct {
        const char *body, *member;
    } cases[] = {
        {"{}", NULL},
        {"{\"min_keep\":0,\"tfs_z\":1,\"min_tokens\":0,\"bad_words\":[],\"length_penalty\":1.0,"
         "\"use_beam_search\":false,\"stop_token_ids\":null,\"adaptive_target\":-1.0,"
         "\"t_max_predict_ms\":-1,\"n_indent\":0}",
         NULL},
        {"{\"min_tokens\":5}", "min_tokens"},
        {"{\"min_keep\":2}", "min_keep"},
        {"{\"tfs_z\":0.9}", "tfs_z"},
        {"{\"stop_token_ids\":[7]}", "stop_token_ids"},
        {"{\"use_beam_search\":true}", "use_beam_search"},
        {"{\"adaptive_target\":0.5}", "adaptive_target"},
        {"{\"bad_words\":\"x\"}", "bad_words"},
        {"{\"samplers\":[]}", NULL},
        {"{\"samplers\":[\"penalties\",\"dry\",\"top_n_sigma\",\"top_k\",\"typ_p\",\"top_p\","
         "\"min_p\",\"xtc\",\"temperature\"]}",
         NULL}, /* llama.cpp's own: typ_p is off here */
        {"{\"samplers\":[\"top_k\",\"min_p\",\"typical_p\"]}", NULL},
        {"{\"samplers\":[\"temperature\",\"top_k\"]}", "samplers"},
        {"{\"samplers\":[\"min_p\",\"top_k\"]}", "samplers"},
        {"{\"samplers\":[\"top_k\",\"infill\"]}", "samplers"},
        {"{\"samplers\":[5]}", "samplers"},
        {"{\"samplers\":\"kmt\"}", "samplers"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct td_message message = {TD_ROLE_USER, STR("x")};
        struct td_request request = {.messages = &message,
                                     .message_count = 1,
                                     .sampling = {.temperature = 0.5f,
                                                  .top_k = 9,
                                                  .top_p = 1,
                                                  .min_p = 0.1f,
                                                  .repetition_penalty = 1}};
        struct json *body = NULL;
        struct signals signals;
        REQUIRE(json_parse(str_from(cases[i].body), &body, NULL) == TD_OK);
        request.body = body;
        signals_extract(&request, NULL, NULL, &signals);
        CHECK(signals.needs == (cases[i].member ? CAPABILITY_SAMPLING : 0));
        CHECK(cases[i].member ? signals.sampling && strcmp(signals.sampling, cases[i].member) == 0
                              : signals.sampling == NULL);
        json_free(body);
    }
}

int main(void)
{
    RUN(test_formats_need_a_tier_that_can_promise_them);
    RUN(test_settings_that_the_engine_has_not_got_are_named);
    RUN(test_code_is_marked);
    RUN(test_arithmetic_is_maths_and_dates_are_not);
    RUN(test_questions_are_marked);
    RUN(test_markers_come_from_the_last_user_message);
    return test_finish();
}
