#include "router/plan/signals.h"

#include "base/core/str.h"
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

static unsigned needs_of(const struct td_request *request)
{
    struct signals signals;
    signals_extract(request, NULL, NULL, &signals);
    return signals.needs;
}

static void test_tools_need_a_tier_that_can_call_them(void)
{
    struct td_message message = {TD_ROLE_USER, STR("x")};
    struct td_request request = {.messages = &message, .message_count = 1};
    request.tool_choice = TOOL_CHOICE_NONE;
    CHECK(needs_of(&request) == 0);
    request.tool_count = 2;
    CHECK(needs_of(&request) == CAPABILITY_TOOLS);
    request.tool_choice = TOOL_CHOICE_FORCED;
    CHECK(needs_of(&request) == (CAPABILITY_TOOLS | CAPABILITY_WHOLE_TOOLS));
    request.call_grammar = (struct td_grammar *)&message; /* it is only looked at */
    CHECK(needs_of(&request) == CAPABILITY_TOOLS);
    request.foreign_tools = true;
    CHECK(needs_of(&request) == (CAPABILITY_TOOLS | CAPABILITY_FOREIGN_TOOLS));
    request.call_grammar = NULL;
    request.foreign_tools = false;
    request.format = TD_FORMAT_GRAMMAR; /* holds the whole answer, so it promises no call */
    CHECK(needs_of(&request) == (CAPABILITY_TOOLS | CAPABILITY_WHOLE_TOOLS | CAPABILITY_GRAMMAR));
    request.tool_choice = TOOL_CHOICE_FREE;
    CHECK(needs_of(&request) == (CAPABILITY_TOOLS | CAPABILITY_GRAMMAR));
    request.format = TD_FORMAT_TEXT;
    request.tool_count = 0;
    request.old_functions = true;
    CHECK(needs_of(&request) == (CAPABILITY_TOOLS | CAPABILITY_FOREIGN_TOOLS));
}

static void test_sampling_that_the_engine_has_not_got_needs_another(void)
{
    struct td_message message = {TD_ROLE_USER, STR("x")};
    struct td_request request = {
        .messages = &message, .message_count = 1, .foreign_sampling = "min_tokens"};
    struct signals signals;
    signals_extract(&request, NULL, NULL, &signals);
    CHECK(signals.needs == CAPABILITY_SAMPLING && strcmp(signals.sampling, "min_tokens") == 0);
}

int main(void)
{
    RUN(test_formats_need_a_tier_that_can_promise_them);
    RUN(test_tools_need_a_tier_that_can_call_them);
    RUN(test_sampling_that_the_engine_has_not_got_needs_another);
    RUN(test_code_is_marked);
    RUN(test_arithmetic_is_maths_and_dates_are_not);
    RUN(test_questions_are_marked);
    RUN(test_markers_come_from_the_last_user_message);
    return test_finish();
}
