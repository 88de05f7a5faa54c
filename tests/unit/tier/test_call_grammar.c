/* What answers with tools may be written: each form of calls, with marks that are tokens (bytes 1
 * and 2) and marks that are text. */
#include "tier/call_grammar.h"

#include "base/core/str.h"
#include "engine/grammar/grammar_match.h"
#include "test.h"
#include "wire_members.h"

#include <stdlib.h>

#define TOOLS                                                                                     \
    "{\"tools\":[{\"type\":\"function\",\"function\":{\"name\":\"get\",\"parameters\":{\"type\":" \
    "\"object\",\"properties\":{\"a\":{\"type\":\"integer\",\"maximum\":9,\"minimum\":1},\"b\":{" \
    "\"enum\":[\"x\",\"y\"]}},\"required\":[\"a\"],\"additionalProperties\":true}}},{\"type\":"   \
    "\"function\",\"function\":{\"name\":\"stop\"}},{\"type\":\"function\",\"function\":{"        \
    "\"name\":"                                                                                   \
    "\"any\",\"parameters\":{\"type\":\"object\"}}}]}"

struct offer {
    struct wire_members wire;
    struct td_request request;
};

static void offer_init(struct offer *o, const char *body, size_t count)
{
    *o = (struct offer){.request = {.tool_count = count}};
    wire_members_init(&o->wire, body, &o->request);
}

/* Whether the whole text may be written. */
static bool allows(const struct td_request *request, enum tool_format format, bool tokens,
                   const char *text)
{
    const struct token_marks marks = {tokens ? 1 : -1, tokens ? 2 : -1, -1};
    struct td_grammar *all = NULL, *grammar = NULL;
    struct matcher *matcher = NULL;
    struct td_error err = {0};
    bool ok = call_grammar_compile(request, &all, &err) == TD_OK;
    if (!ok)
        fprintf(stderr, "%s\n", err.message);
    CHECK(ok);
    if (!ok)
        return false;
    grammar = call_grammar_begin(all, format, &marks);
    td_grammar_free(all); /* the start keeps it */
    if (!grammar || matcher_new(grammar, &matcher, NULL) != TD_OK)
        abort();
    uint32_t set = matcher_start(matcher);
    for (const char *c = text; *c && set != MATCH_DEAD && set != MATCH_FULL; c++)
        set = matcher_step(matcher, set, (unsigned char)*c);
    ok = set != MATCH_FULL && set != MATCH_DEAD && matcher_may_end(matcher, set);
    matcher_free(matcher);
    td_grammar_free(grammar);
    return ok;
}

#define GET "{\"name\": \"get\", \"arguments\": {\"a\": 3, \"b\": \"y\"}}"
#define STOP "{\"name\": \"stop\", \"arguments\": {}}"
#define LLAMA_GET "{\"name\": \"get\", \"parameters\": {\"a\": 3}}"

static void test_free_text_may_hold_calls_and_calls_are_held(void)
{
    static const struct {
        enum tool_format format;
        bool tokens, allowed;
        const char *text;
    } cases[] = {
        {TOOL_FORMAT_HERMES, false, true, ""},
        {TOOL_FORMAT_HERMES, false, true, "a < b <tool <<tool_cal> \xC3\xA9 {\"name\": 1}"},
        {TOOL_FORMAT_HERMES, false, true, "So: <<tool_call>\n" GET "\n</tool_call> done"},
        {TOOL_FORMAT_HERMES, false, true,
         "<tool_call>" STOP "</tool_call><tool_call>" GET "</tool_call>"},
        {TOOL_FORMAT_HERMES, false, false, "<tool_call>"},
        {TOOL_FORMAT_HERMES, false, false, "<tool_call>" GET},
        {TOOL_FORMAT_HERMES, false, false, "<tool_call>no</tool_call>"},
        {TOOL_FORMAT_HERMES, false, false, "\x01" GET "</tool_call>x\x02"},
        {TOOL_FORMAT_HERMES, true, true, "text \x01" GET "\x02 and \x01" STOP "\x02"},
        {TOOL_FORMAT_HERMES, true, true, "\x03 text with <tool_call>" GET "\x02"},
        {TOOL_FORMAT_HERMES, true, false, "\x01" GET "</tool_call>"},
        {TOOL_FORMAT_HERMES, true, false, "\x02"},
        {TOOL_FORMAT_MISTRAL, true, true, "ok \x01[" GET ", " STOP "]"},
        {TOOL_FORMAT_MISTRAL, false, true, "[[TOOL_CALLS] [" GET "]"},
        {TOOL_FORMAT_MISTRAL, false, true, "[TOOL_CALLS is not it"},
        {TOOL_FORMAT_MISTRAL, false, false, "[TOOL_CALLS][" GET "] and more"},
        {TOOL_FORMAT_MISTRAL, false, false, "[TOOL_CALLS][]"},
        {TOOL_FORMAT_LLAMA, true, true, "plain text {\"name\": \"x\"}"},
        {TOOL_FORMAT_LLAMA, true, true, " \n" LLAMA_GET},
        {TOOL_FORMAT_LLAMA, true, true,
         "{\"type\": \"function\", \"name\": \"stop\", \"parameters\": "
         "{}}"},
        {TOOL_FORMAT_LLAMA, true, true, "{\"city\": \"Rome\"}"},
        {TOOL_FORMAT_LLAMA, true, true, "{\"names\": [1]}"},
        {TOOL_FORMAT_LLAMA, true, true, "{\"type\": \"city\"}"},
        {TOOL_FORMAT_LLAMA, true, true, "{}"},
        {TOOL_FORMAT_LLAMA, true, true, "I see: \x01" LLAMA_GET},
        {TOOL_FORMAT_LLAMA, true, true, "I see: <|python_tag|>" LLAMA_GET},
        {TOOL_FORMAT_LLAMA, true, false, "{ \"name\": \"Rome\"}"},
        {TOOL_FORMAT_LLAMA, true, false, "{\"type\" : \"function\" ,\n\"name\": \"x\"}"},
        {TOOL_FORMAT_LLAMA, true, false, LLAMA_GET " and more"},
        {TOOL_FORMAT_LLAMA, true, false, "I see: \x01no"},
    };
    struct offer o;
    offer_init(&o, TOOLS, 3);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        bool allowed = allows(&o.request, cases[i].format, cases[i].tokens, cases[i].text);
        if (allowed != cases[i].allowed)
            fprintf(stderr, "case %zu: %s\n", i, cases[i].text);
        CHECK(allowed == cases[i].allowed);
    }
    wire_members_deinit(&o.wire);
}

static void test_names_and_arguments_are_those_that_were_offered(void)
{
    static const struct {
        const char *call;
        bool allowed;
    } cases[] = {
        {GET, true},
        {STOP, true},
        {"{\"name\": \"get\", \"arguments\": {\"a\": 3}}", true},
        {"{\"name\": \"any\", \"arguments\": {\"k\": [1, {\"l\": null}], \"m\": \"n\"}}", true},
        {"{\"name\": \"get\", \"arguments\": {}}", false},
        {"{\"name\": \"get\", \"arguments\": {\"a\": 10}}", false},
        {"{\"name\": \"get\", \"arguments\": {\"a\": \"3\"}}", false},
        {"{\"name\": \"get\", \"arguments\": {\"a\": 3, \"b\": \"z\"}}", false},
        {"{\"name\": \"get\", \"arguments\": {\"a\": 3, \"c\": 1}}", false}, /* not invented */
        {"{\"name\": \"stop\", \"arguments\": {\"a\": 3}}", false},
        {"{\"name\": \"other\", \"arguments\": {}}", false},
        {"{\"name\": \"get\"}", false},
    };
    struct offer o;
    offer_init(&o, TOOLS, 3);
    o.request.tool_choice = TOOL_CHOICE_FORCED;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char text[200];
        snprintf(text, sizeof text, "\x01%s\x02", cases[i].call);
        CHECK(allows(&o.request, TOOL_FORMAT_HERMES, true, text) == cases[i].allowed);
    }
    wire_members_deinit(&o.wire);
}

static void test_a_choice_says_what_must_come_and_how_much(void)
{
    struct offer o;
    offer_init(&o, TOOLS, 3);
    CHECK(allows(&o.request, TOOL_FORMAT_HERMES, true, "text"));
    o.request.one_call = true;
    CHECK(allows(&o.request, TOOL_FORMAT_HERMES, true, "text \x01" STOP "\x02"));
    CHECK(!allows(&o.request, TOOL_FORMAT_HERMES, true, "\x01" STOP "\x02 text"));
    CHECK(!allows(&o.request, TOOL_FORMAT_HERMES, true, "\x01" STOP "\x02\x01" STOP "\x02"));
    CHECK(!allows(&o.request, TOOL_FORMAT_MISTRAL, true, "\x01[" STOP ", " STOP "]"));
    o.request.tool_choice = TOOL_CHOICE_FORCED;
    o.request.one_call = false;
    CHECK(!allows(&o.request, TOOL_FORMAT_HERMES, true, ""));
    CHECK(!allows(&o.request, TOOL_FORMAT_HERMES, true, "text"));
    CHECK(!allows(&o.request, TOOL_FORMAT_HERMES, true, "\x01" STOP "\x02 text"));
    CHECK(allows(&o.request, TOOL_FORMAT_HERMES, true, "\x01" STOP "\x02\n\x01" GET "\x02"));
    CHECK(!allows(&o.request, TOOL_FORMAT_LLAMA, true, "text"));
    CHECK(allows(&o.request, TOOL_FORMAT_LLAMA, true, LLAMA_GET));
    o.request.tool_named = STR("stop");
    CHECK(allows(&o.request, TOOL_FORMAT_HERMES, true, "\x01" STOP "\x02"));
    CHECK(!allows(&o.request, TOOL_FORMAT_HERMES, true, "\x01" GET "\x02"));
    wire_members_deinit(&o.wire);
}

static void test_a_format_holds_the_answers_that_are_no_calls(void)
{
    struct offer o;
    offer_init(&o, TOOLS, 3);
    o.request.format = TD_FORMAT_JSON;
    CHECK(allows(&o.request, TOOL_FORMAT_HERMES, true, "{\"k\": 1}"));
    CHECK(allows(&o.request, TOOL_FORMAT_HERMES, true, "\x01" STOP "\x02"));
    CHECK(!allows(&o.request, TOOL_FORMAT_HERMES, true, "text"));
    wire_members_deinit(&o.wire);
}

static void test_what_no_grammar_holds_is_refused_with_its_place(void)
{
#define ONE(parameters)                                                                          \
    "{\"tools\":[{\"type\":\"function\",\"function\":{\"name\":\"f\",\"parameters\":" parameters \
    "}}]}"
    static const struct {
        const char *body, *words;
    } cases[] = {
        {ONE("{\"properties\":{\"n\":{\"type\":\"integer\",\"minimum\":2,\"maximum\":1}}}"),
         "tools[0].function.parameters: JSON schema, at #/properties/n"},
        {ONE("{\"type\":\"array\"}"), "tools[0].function.parameters is no schema of an object"},
        {ONE("[]"), "tools[0].function.parameters is no schema of an object"},
        {ONE("{\"required\":[\"n\"],\"properties\":{},\"additionalProperties\":false}"),
         "'n' is required"},
        {"{\"tools\":[{\"type\":\"custom\",\"custom\":{\"name\":\"f\"}}]}", "tools[0] is not a"},
        {"{\"tools\":[{\"function\":{\"name\":\"f\"}},{\"function\":{\"name\":\"f\"}}]}",
         "tools[1] has the name of tools[0]"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct offer o;
        struct td_error err = {0};
        struct td_grammar *grammar = NULL;
        offer_init(&o, cases[i].body, 1);
        CHECK(call_grammar_compile(&o.request, &grammar, &err) != TD_OK && !grammar);
        if (!strstr(err.message, cases[i].words))
            fprintf(stderr, "case %zu: %s\n", i, err.message);
        CHECK(strstr(err.message, cases[i].words));
        wire_members_deinit(&o.wire);
    }
}

static void test_a_tool_without_a_schema_of_its_own_takes_what_it_says(void)
{
    static const struct {
        const char *body, *arguments;
        bool allowed;
    } cases[] = {
        {ONE("null"), "{}", true},
        {ONE("null"), "{\"a\": 1}", false},
        {ONE("{}"), "{\"a\": 1}", true},
        {ONE("{}"), "[]", false},
        {ONE("{\"type\":[\"object\",\"null\"]}"), "null", false},
        {ONE("{\"$ref\":\"#/$defs/P\",\"$defs\":{\"P\":{\"properties\":{\"a\":{\"type\":"
             "\"null\"}}}}}"),
         "{\"a\": null}", true},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct offer o;
        char text[200];
        offer_init(&o, cases[i].body, 1);
        snprintf(text, sizeof text, "\x01{\"name\": \"f\", \"arguments\": %s}\x02",
                 cases[i].arguments);
        CHECK(allows(&o.request, TOOL_FORMAT_HERMES, true, text) == cases[i].allowed);
        wire_members_deinit(&o.wire);
    }
}

int main(void)
{
    RUN(test_free_text_may_hold_calls_and_calls_are_held);
    RUN(test_names_and_arguments_are_those_that_were_offered);
    RUN(test_a_choice_says_what_must_come_and_how_much);
    RUN(test_a_format_holds_the_answers_that_are_no_calls);
    RUN(test_what_no_grammar_holds_is_refused_with_its_place);
    RUN(test_a_tool_without_a_schema_of_its_own_takes_what_it_says);
    return test_finish();
}
