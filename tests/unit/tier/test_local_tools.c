/* Tools on the local tier: what holds the engine to them, and how calls come out. */
#include "local_scene.h"

static void test_calls_of_tools_come_as_openai_has_them(void)
{
    struct scene s;
    struct wire_members wire;
    scene_init_with(&s, 0, 10, TOOL_FORMAT_HERMES);
    offer_tool(&s, &wire);
    CHECK(!(s.tier->facts.lacks & CAPABILITY_TOOLS));
    CHECK(s.tier->facts.lacks & CAPABILITY_WHOLE_TOOLS);
    CHECK(scene_start(&s, NULL) == TD_OK && engine.tools_seen == 1 && engine.messages_seen == 1);
    say("Well <tool", 1);
    CHECK(strcmp(s.text, "Well ") == 0);
    say("_call>{\"name\":\"stop\",\"arguments\":{\"a\":1}}</tool_", 1);
    CHECK(s.calls[0] == '\0');
    say("call>", 1);
    stop_job();
    CHECK(strcmp(s.text, "Well ") == 0 && s.stats_count == 3);
    CHECK(strstr(s.calls, "{\"index\":0,\"delta\":{\"tool_calls\":[{\"index\":0,\"id\":\"call_"));
    CHECK(strstr(s.calls, "\"function\":{\"name\":\"stop\",\"arguments\":\"{\\\"a\\\":1}\"}"));
    CHECK(s.done_count == 1 && s.result.finish == TD_FINISH_TOOL_CALLS);
    tier_free(s.tier);
    wire_members_deinit(&wire);
}

static void test_the_same_call_twice_is_not_sure(void)
{
    struct scene s;
    struct wire_members wire;
    scene_init_with(&s, 0, 10, TOOL_FORMAT_HERMES);
    offer_tool(&s, &wire);
    CHECK(scene_start(&s, NULL) == TD_OK);
    static const char *const calls[] = {"{\"a\":1}", "{\"a\":2}", "{}", "{}", "{\"a\":2}"};
    for (size_t i = 0; i < sizeof calls / sizeof *calls; i++) {
        char text[100];
        snprintf(text, sizeof text, "<tool_call>{\"name\":\"stop\",\"arguments\":%s}</tool_call>",
                 calls[i]);
        say(text, 1);
        CHECK((s.stats.logprob < -1e30f) == (i == 4)); /* one without arguments may be meant so */
    }
    stop_job();
    tier_free(s.tier);
    wire_members_deinit(&wire);
}

static void test_a_mark_that_is_a_control_token_and_a_call_at_the_very_end(void)
{
    struct scene s;
    struct wire_members wire;
    scene_init_with(&s, 0, 10, TOOL_FORMAT_MISTRAL);
    offer_tool(&s, &wire);
    CHECK(scene_start(&s, NULL) == TD_OK);
    say("", 7);
    say("[{\"name\":\"stop\",\"arguments\":{}}]", 1);
    CHECK(s.calls[0] == '\0' && s.text[0] == '\0');
    stop_job();
    CHECK(strstr(s.calls, "\"name\":\"stop\"") && s.text[0] == '\0');
    CHECK(s.done_count == 1 && s.result.finish == TD_FINISH_TOOL_CALLS);
    /* a client that leaves when the last piece comes */
    CHECK(scene_start(&s, NULL) == TD_OK);
    s.done_count = 0;
    say("", 7);
    say("no list", 1);
    s.cancels = true;
    stop_job();
    CHECK(strcmp(s.text, "[TOOL_CALLS]no list") == 0 && s.done_count == 0 &&
          engine.cancel_count == 0);
    tier_free(s.tier);
    wire_members_deinit(&wire);
}

/* The grammar begins where the model's tokens are marks, and the job keeps it alone. */
static void test_calls_are_held_to_the_tools_that_were_offered(void)
{
    struct scene s;
    struct wire_members wire;
    struct td_grammar grammar;
    scene_init_with(&s, 0, 10, TOOL_FORMAT_HERMES);
    offer_tool(&s, &wire);
    s.message.content = STR("stop it"); /* which nothing computes */
    s.request.call_grammar = &grammar;  /* passed on, not read */
    CHECK(scene_start(&s, NULL) == TD_OK);
    CHECK(engine.job.request.marked && engine.job.request.marks.open_id == 7 &&
          engine.job.request.marks.close_id == 8 && engine.job.request.marks.free_id == 9);
    CHECK(engine.job.request.options.grammar == &grammar && engine.root == 0);
    CHECK(engine.grammar_references == 0);
    say("<tool_call>{\"name\":\"st", 1);
    finish_job(TD_OK); /* at a limit: half a call is not shown */
    CHECK(s.done_count == 1 && s.text[0] == '\0' && s.calls[0] == '\0');
    CHECK(s.result.status == TD_OK && s.result.finish == TD_FINISH_LENGTH);
    s.request.format = TD_FORMAT_GRAMMAR; /* the client's own grammar holds the whole answer */
    s.request.grammar = (void *)&s;
    CHECK(scene_start(&s, NULL) == TD_OK && !engine.job.request.marked);
    CHECK(engine.job.request.options.grammar == (void *)&s);
    tier_cancel(s.tier, s.attempt);
    tier_free(s.tier);
    wire_members_deinit(&wire);
}

static void test_a_call_that_must_come_and_does_not_is_a_failure(void)
{
    struct scene s;
    struct wire_members wire;
    struct td_grammar grammar;
    for (int way = 0; way < 3; way++) {
        scene_init_with(&s, 0, 10, TOOL_FORMAT_HERMES);
        offer_tool(&s, &wire);
        s.request.call_grammar = &grammar;
        s.request.tool_choice = TOOL_CHOICE_FORCED;
        s.cancels = way == 2;
        CHECK(scene_start(&s, NULL) == TD_OK);
        if (way == 0) {
            say("<tool_call>{\"name\"", 1); /* cut by a stop string */
            stop_job();
        } else {
            say("", 9); /* not mine; the gates see it, and leave or not */
        }
        CHECK(s.text[0] == '\0' && s.stats_count == 1 && s.done_count == (way < 2));
        CHECK(engine.cancel_count == (way > 0));
        if (way < 2)
            CHECK(s.result.status == TD_UNSUPPORTED && s.result.own_fault);
        tier_free(s.tier);
        wire_members_deinit(&wire);
    }
}

static void test_tools_that_may_not_be_called_leave_the_answer_alone(void)
{
    struct scene s;
    struct wire_members wire;
    scene_init_with(&s, 0, 10, TOOL_FORMAT_HERMES);
    offer_tool(&s, &wire);
    s.request.tool_choice = TOOL_CHOICE_NONE;
    CHECK(scene_start(&s, NULL) == TD_OK && engine.tools_count == 0);
    say("<tool_call>{\"name\":\"stop\"}</tool_call>", 1);
    CHECK(strcmp(s.text, "<tool_call>{\"name\":\"stop\"}</tool_call>") == 0);
    stop_job();
    CHECK(s.result.finish == TD_FINISH_STOP);
    tier_free(s.tier);
    wire_members_deinit(&wire);
    scene_init(&s, 0, 10); /* a template without tools */
    CHECK(s.tier->facts.lacks & CAPABILITY_TOOLS);
    tier_free(s.tier);
}

/* The model is asked first. Its first token says whether it calls one. */
static void test_a_computed_answer_comes_where_no_tool_is_called(void)
{
    for (int i = 0; i < 3; i++) {
        struct scene s;
        struct wire_members wire;
        struct td_grammar grammar;
        scene_init_with(&s, 0, 10, TOOL_FORMAT_HERMES);
        offer_tool(&s, &wire);
        s.message.content = STR("2 + 2");
        s.request.call_grammar = &grammar;
        CHECK(scene_start(&s, NULL) == TD_OK && engine.submit_count == 1);
        CHECK(engine.job.request.options.grammar == &grammar);
        engine.submit_status = i == 2 ? TD_BUSY : TD_OK;
        say("5", i == 1 ? 7 : 1); /* 7 begins a call */
        CHECK(engine.submit_count == (i == 1 ? 1 : 2) && engine.cancel_count == (i == 0));
        CHECK((engine.job.request.options.grammar != &grammar) == (i == 0));
        CHECK(strcmp(s.text, i == 0 ? "" : "5") == 0); /* TD_BUSY: the model's own goes on */
        CHECK(engine.grammar_references == 0 && engine.job.request.marked == (i > 0));
        if (i == 0)
            say("4", 1);
        CHECK(strcmp(s.text, i == 0 ? "4" : "5") == 0);
        CHECK(s.computed_count == (i == 0));
        finish_job(TD_OK);
        CHECK(s.done_count == 1);
        tier_free(s.tier);
        wire_members_deinit(&wire);
    }
}

int main(void)
{
    RUN(test_calls_of_tools_come_as_openai_has_them);
    RUN(test_the_same_call_twice_is_not_sure);
    RUN(test_a_mark_that_is_a_control_token_and_a_call_at_the_very_end);
    RUN(test_calls_are_held_to_the_tools_that_were_offered);
    RUN(test_a_computed_answer_comes_where_no_tool_is_called);
    RUN(test_a_call_that_must_come_and_does_not_is_a_failure);
    RUN(test_tools_that_may_not_be_called_leave_the_answer_alone);
    return test_finish();
}
