/* Spellings of members that are settled before anything reads a body, and the types of those that
 * are only handed on. */
#include "test.h"

#include "api/wire/body_forms.h"
#include "api/wire/openai_request.h"
#include "base/core/str.h"

#include <stdio.h>
#include <string.h>

static struct json *parsed(const char *text)
{
    struct json *object = NULL;
    CHECK(json_parse(str_from(text), &object, NULL) == TD_OK);
    return object;
}

static bool is(const struct json *object, const char *wanted)
{
    struct buf got;
    buf_init(&got, 65536);
    json_write(object, &got);
    bool same = str_equal(buf_view(&got), str_from(wanted));
    if (!same)
        fprintf(stderr, "got  %.*s\nwant %s\n", (int)got.len, got.data, wanted);
    buf_deinit(&got);
    return same;
}

static void test_spellings_are_settled(void)
{
    static const struct {
        const char *text, *wanted;
    } cases[] = {
        {"{\"seed\":1.0,\"n\":2.0,\"temperature\":1.0}",
         "{\"seed\":1,\"n\":2,\"temperature\":1.0}"},
        {"{\"seed\":1.5,\"max_tokens\":1e300}", "{\"seed\":1.5,\"max_tokens\":1e300}"},
        {"{\"seed\":9007199254740992.0}", "{\"seed\":9007199254740992}"},
        {"{\"tool_choice\":\"any\"}", "{\"tool_choice\":\"required\"}"},
        {"{\"tool_choice\":\"auto\"}", "{\"tool_choice\":\"auto\"}"},
        {"{\"stop\":\"\"}", "{}"},
        {"{\"stop\":[\"\",\"a\",\"\"]}", "{\"stop\":[\"a\"]}"},
        {"{\"stop\":[\"\"]}", "{}"},
        {"{\"stop\":[]}", "{\"stop\":[]}"},
        {"{\"stop\":[5]}", "{\"stop\":[5]}"},
        {"{\"stop\":5}", "{\"stop\":5}"},
        {"{\"logit_bias\":[[7,-1.5],[8,false]]}", "{\"logit_bias\":{\"7\":-1.5,\"8\":-100}}"},
        {"{\"logit_bias\":{\"7\":false,\"8\":true}}", "{\"logit_bias\":{\"7\":-100,\"8\":true}}"},
        {"{\"logit_bias\":[[\"a\",1]]}", "{\"logit_bias\":[[\"a\",1]]}"},
        {"{\"logit_bias\":[[7]]}", "{\"logit_bias\":[[7]]}"},
        {"{\"logit_bias\":5}", "{\"logit_bias\":5}"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct json *object = parsed(cases[i].text);
        body_forms_settle(object);
        CHECK(is(object, cases[i].wanted));
        json_free(object);
    }
}

static void test_no_limit_is_no_member(void)
{
    struct json *object = parsed("{\"max_tokens\":-1,\"max_completion_tokens\":-2}");
    body_forms_drop_no_limits(object);
    CHECK(is(object, "{\"max_completion_tokens\":-2}"));
    json_free(object);
}

static void test_types_of_members_that_are_handed_on(void)
{
    static const struct {
        const char *text, *param;
    } cases[] = {
        {"{\"metadata\":5}", "metadata"},
        {"{\"metadata\":null,\"store\":true,\"function_call\":\"auto\",\"tools\":[{}]}", NULL},
        {"{\"function_call\":{}}", NULL},
        {"{\"function_call\":[]}", "function_call"},
        {"{\"store\":1}", "store"},
        {"{\"tools\":{}}", "tools"},
        {"{\"tools\":[{},5]}", "tools[1]"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct json *object = parsed(cases[i].text);
        struct fault fault = {0};
        CHECK(body_forms_check(object, &fault) == !cases[i].param);
        CHECK(strcmp(fault.param, cases[i].param ? cases[i].param : "") == 0);
        json_free(object);
    }
}

static void test_tools_are_at_most_so_many(void)
{
    for (size_t count = OPENAI_TOOLS_MAX; count <= OPENAI_TOOLS_MAX + 1; count++) {
        struct json *object = json_new_object(), *tools = json_new_array();
        struct fault fault = {0};
        for (size_t i = 0; i < count; i++)
            json_push(tools, json_new_object());
        json_put(object, "tools", tools);
        CHECK(body_forms_check(object, &fault) == (count == OPENAI_TOOLS_MAX));
        json_free(object);
    }
}

#define F(name) "{\"type\":\"function\",\"function\":{\"name\":\"" name "\"}}"
#define C(name) "{\"type\":\"custom\",\"custom\":{\"name\":\"" name "\"}}"
#define ALLOW(mode, tools)                                                                     \
    "{\"tools\":[" F("f") "," F("g") "," C(                                                    \
        "f") "],\"tool_choice\":{\"type\":\"allowed_tools\",\"allowed_tools\":{\"mode\":" mode \
             ",\"tools\":" tools "}}}"

static void test_only_allowed_tools_are_offered(void)
{
    static const struct {
        const char *text, *wanted, *param;
    } cases[] = {
        {ALLOW("\"auto\"", "[" F("g") "]"), "{\"tools\":[" F("g") "],\"tool_choice\":\"auto\"}",
         NULL},
        {ALLOW("\"required\"", "[" C("f") "," F("f") "]"),
         "{\"tools\":[" C("f") "," F("f") "],\"tool_choice\":\"required\"}", NULL},
        {ALLOW("\"auto\"", "[" F("g") "," F("h") "]"), NULL, "tool_choice.allowed_tools.tools[1]"},
        {ALLOW("\"auto\"", "[" C("g") "]"), NULL, "tool_choice.allowed_tools.tools[0]"},
        {ALLOW("\"auto\"", "[5]"), NULL, "tool_choice.allowed_tools.tools[0]"},
        {ALLOW("\"auto\"", "[{}]"), NULL, "tool_choice.allowed_tools.tools[0]"},
        {ALLOW("\"auto\"", "[]"), NULL, "tool_choice.allowed_tools.tools"},
        {ALLOW("\"auto\"", "5"), NULL, "tool_choice.allowed_tools.tools"},
        {ALLOW("\"none\"", "[" F("g") "]"), NULL, "tool_choice.allowed_tools.mode"},
        {ALLOW("null", "[" F("g") "]"), NULL, "tool_choice.allowed_tools.mode"},
        {"{\"tool_choice\":\"auto\"}", "{\"tool_choice\":\"auto\"}", NULL},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct json *object = parsed(cases[i].text);
        struct fault fault = {0};
        bool ok = body_forms_narrow_tools(object, &fault);
        CHECK(ok == !cases[i].param);
        CHECK(strcmp(fault.param, cases[i].param ? cases[i].param : "") == 0);
        if (ok)
            CHECK(is(object, cases[i].wanted));
        json_free(object);
    }
}

int main(void)
{
    RUN(test_spellings_are_settled);
    RUN(test_no_limit_is_no_member);
    RUN(test_types_of_members_that_are_handed_on);
    RUN(test_tools_are_at_most_so_many);
    RUN(test_only_allowed_tools_are_offered);
    return test_finish();
}
