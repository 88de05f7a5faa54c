/* Gemini's API: what a request becomes, what is refused and where, and how errors look. Answers,
 * whole and streamed, are tests/e2e/test_gemini.py's. */
#include "dialect_case.h"
#include "test.h"

#include "api/dialects/gemini/gemini_request.h"
#include "api/dialects/gemini/gemini_response.h"
#include "api/dialects/gemini/gemini_schema.h"
#include "base/core/str.h"

#include <stdio.h>

static bool becomes(const char *text, const char *wanted)
{
    return becomes_by(gemini_request_translate, text, wanted);
}

static bool refused(const char *text, const char *param, const char *needle)
{
    return refused_by(gemini_request_translate, text, param, needle);
}

#define HI "\"contents\":[{\"parts\":[{\"text\":\"hi\"}]}]"
#define CHAT_HI "\"messages\":[{\"role\":\"user\",\"content\":\"hi\"}]"
#define TALK(contents) "{\"contents\":[" contents "]}"
#define USER(parts) "{\"role\":\"user\",\"parts\":[" parts "]}"
#define MODEL(parts) "{\"role\":\"model\",\"parts\":[" parts "]}"
#define CALL(name, more) "{\"functionCall\":{\"name\":\"" name "\"" more "}}"
#define REPLY(name, more) \
    "{\"functionResponse\":{\"name\":\"" name "\",\"response\":{\"a\":1}" more "}}"
#define MADE_CALL(id, name)                                                         \
    "{\"id\":\"" id "\",\"type\":\"function\",\"function\":{\"name\":\"" name "\"," \
    "\"arguments\":\"{}\"}}"
#define MADE_REPLY(id) \
    "{\"role\":\"tool\",\"content\":\"{\\\"a\\\":1}\",\"tool_call_id\":\"" id "\"}"

static void test_members_have_two_names_and_numbers_two_forms(void)
{
    CHECK(becomes("{\"model\":\"m\",\"system_instruction\":{\"parts\":[{\"text\":\"s\"}]}," HI
                  ",\"generation_config\":{\"top_k\":4.0,\"max_output_tokens\":\"9\","
                  "\"stop_sequences\":[\"x\"]}}",
                  "{\"model\":\"m\",\"top_k\":4,\"max_completion_tokens\":9,\"stop\":[\"x\"],"
                  "\"messages\":[{\"role\":\"system\",\"content\":\"s\"},{\"role\":\"user\","
                  "\"content\":\"hi\"}]}"));
    CHECK(becomes("{" HI ",\"generationConfig\":{\"stopSequences\":[],\"topP\":null},"
                  "\"tools\":[],\"toolConfig\":{}}",
                  "{" CHAT_HI "}"));
}

#define THREE_CALLS \
    MADE_CALL("call_0", "f") "," MADE_CALL("call_1", "g") "," MADE_CALL("call_2", "f")
#define THREE_REPLIES MADE_REPLY("call_1") "," MADE_REPLY("call_0") "," MADE_REPLY("call_2")

static void test_answers_without_ids_find_their_calls(void)
{
    CHECK(becomes(TALK(USER("{\"text\":\"u\"}") "," MODEL(CALL("f", "") "," CALL("g", "") "," CALL(
                      "f", "")) "," USER(REPLY("g", "") "," REPLY("f", "") "," REPLY("f", ""))),
                  "{\"messages\":[{\"role\":\"user\",\"content\":\"u\"},{\"role\":\"assistant\","
                  "\"content\":null,\"tool_calls\":[" THREE_CALLS "]}," THREE_REPLIES "]}"));
    /* With an id on one side, and with one on both. */
    CHECK(becomes(
        TALK(USER("{\"text\":\"u\"}") "," MODEL(CALL("f", ",\"id\":\"x\"") "," CALL(
            "f", ",\"id\":\"y\"")) "," USER(REPLY("f", ",\"id\":\"y\"") "," REPLY("f", ""))),
        "{\"messages\":[{\"role\":\"user\",\"content\":\"u\"},{\"role\":\"assistant\","
        "\"content\":null,\"tool_calls\":[" MADE_CALL("x", "f") "," MADE_CALL(
            "y", "f") "]}," MADE_REPLY("y") "," MADE_REPLY("x") "]}"));
}

static void test_thoughts_and_what_google_ran_are_left_out(void)
{
    const char *text = TALK(USER("{\"text\":\"u\"}") "," MODEL(
        "{\"text\":\"t\",\"thought\":true},"
        "{\"executableCode\":{\"code\":\"1\"}},{\"text\":\"m\","
        "\"thoughtSignature\":\"-_\"}") "," USER("{\"text\":\"v\"}"));
    CHECK(becomes(text, "{\"messages\":[{\"role\":\"user\",\"content\":\"u\"},{\"role\":"
                        "\"assistant\",\"content\":\"m\",\"extra_content\":{\"google\":{"
                        "\"thought_signature\":\"-_\"}}},{\"role\":\"user\",\"content\":\"v\"}]"
                        "}"));
    CHECK(leaves_out_by(gemini_request_list_left_out, text, "executableCode"));
    CHECK(leaves_out_by(gemini_request_list_left_out,
                        "{\"safetySettings\":[{}],\"tools\":[{\"googleSearch\":{},"
                        "\"functionDeclarations\":[]}],\"generationConfig\":{\"speechConfig\":{}}}",
                        "googleSearch, safetySettings, speechConfig"));
}

static void test_only_allowed_functions_are_offered(void)
{
#define DECLARED "\"tools\":[{\"functionDeclarations\":[{\"name\":\"f\"},{\"name\":\"g\"}]}]"
#define MODE(mode, more) \
    "\"toolConfig\":{\"functionCallingConfig\":{\"mode\":\"" mode "\"" more "}}"
    CHECK(becomes("{" HI "," DECLARED "," MODE("ANY", ",\"allowedFunctionNames\":[\"g\"]") "}",
                  "{\"tool_choice\":\"required\",\"tools\":[{\"type\":\"function\",\"function\":{"
                  "\"name\":\"g\"}}]," CHAT_HI "}"));
    CHECK(becomes("{" HI "," MODE("NONE", "") "}", "{" CHAT_HI "}"));
    CHECK(becomes("{" HI "," MODE("VALIDATED", "") "}", "{" CHAT_HI "}"));
    CHECK(refused("{" HI "," MODE("SOME", "") "}", "toolConfig.functionCallingConfig.mode", "ANY"));
}

static bool schema_becomes(const char *text, const char *wanted)
{
    struct json *schema = NULL;
    struct fault fault = {0};
    struct td_error err = {0};
    struct buf got;
    if (json_parse(str_from(text), &schema, &err) != TD_OK)
        return false;
    struct json *made = gemini_schema(schema, "here", &fault);
    buf_init(&got, 4096);
    if (made)
        json_write(made, &got);
    bool same = str_equal(buf_view(&got), str_from(wanted)) &&
                (made || (fault.code == 400 && strcmp(fault.param, "here") == 0));
    if (!same)
        fprintf(stderr, "got %.*s\n", (int)got.len, got.data ? got.data : "");
    buf_deinit(&got);
    json_free(made);
    json_free(schema);
    return same;
}

static void test_schemas_become_json_schemas(void)
{
    CHECK(schema_becomes("{\"type\":\"TYPE_UNSPECIFIED\",\"enum\":[\"A\"]}", "{\"enum\":[\"A\"]}"));
    CHECK(schema_becomes("{\"type\":\"ARRAY\",\"minItems\":\"2\",\"items\":{\"type\":\"STRING\","
                         "\"format\":\"enum\",\"enum\":[\"TYPE\"]}}",
                         "{\"type\":\"array\",\"minItems\":2,\"items\":{\"type\":\"string\","
                         "\"enum\":[\"TYPE\"]}}"));
    CHECK(schema_becomes("{\"type\":\"OBJECT\",\"property_ordering\":[\"b\",\"zz\",\"b\",3],"
                         "\"properties\":{\"nullable\":{\"type\":\"NUMBER\"},\"b\":{\"any_of\":[{"
                         "\"type\":\"BOOLEAN\"}],\"nullable\":true}},\"additionalProperties\":"
                         "false}",
                         "{\"type\":\"object\",\"properties\":{\"b\":{\"anyOf\":[{\"anyOf\":[{"
                         "\"type\":\"boolean\"}]},{\"type\":\"null\"}]},\"nullable\":{\"type\":"
                         "\"number\"}},\"additionalProperties\":false}"));
    CHECK(schema_becomes("{\"properties\":3}", "") && schema_becomes("{\"items\":[3]}", ""));
    CHECK(schema_becomes("{\"anyOf\":{}}", "") && schema_becomes("{\"anyOf\":[3]}", ""));
    CHECK(schema_becomes("[]", "") && schema_becomes("{}", "{}"));
}

static void test_what_cannot_be_done_is_refused_where_it_stands(void)
{
    static char text[100000];
    CHECK(refused("{}", "contents", "list"));
    CHECK(refused(TALK("3"), "contents[0]", "object"));
    CHECK(refused(TALK(MODEL("{\"text\":\"x\"}")), "contents", "user's"));
    CHECK(refused(TALK(USER(CALL("f", ""))), "contents[0].parts[0]", "model"));
    CHECK(refused(TALK(MODEL("{\"functionCall\":{\"args\":{}}}") "," USER("{\"text\":\"x\"}")),
                  "contents[0].parts[0].functionCall.name", "string"));
    CHECK(refused(TALK(MODEL(CALL("f", ",\"args\":[]")) "," USER("{\"text\":\"x\"}")),
                  "contents[0].parts[0].functionCall.args", "object"));
    CHECK(refused(TALK(MODEL(CALL("f", ",\"id\":3")) "," USER("{\"text\":\"x\"}")),
                  "contents[0].parts[0].functionCall.id", "string"));
    CHECK(refused(TALK(USER(REPLY("f", ",\"parts\":[{\"text\":\"x\"}]"))),
                  "contents[0].parts[0].functionResponse.parts[0]", "inlineData"));
    CHECK(refused("{" HI ",\"cachedContent\":\"c\"}", "cachedContent", "not supported"));
    CHECK(refused("{" HI ",\"generationConfig\":{\"responseSchema\":3}}",
                  "generationConfig.responseSchema", "object"));
    /* More calls than a turn may have. */
    size_t len = (size_t)snprintf(text, sizeof text,
                                  "{\"contents\":[{\"role\":\"model\","
                                  "\"parts\":[" CALL("f", ""));
    for (int i = 0; i < 600; i++)
        len += (size_t)snprintf(text + len, sizeof text - len, "," CALL("f", ""));
    snprintf(text + len, sizeof text - len, "]}]}");
    CHECK(refused(text, "contents[0].parts[512].functionCall", "512"));
}

static void test_errors_have_googles_form(void)
{
    struct fault fault = {0};
    struct buf out;
    fault_request(&fault, "contents[0]", "no \"%s\"", "x");
    buf_init(&out, 4096);
    gemini_fault_form.write(&fault, &out);
    CHECK(str_equal(
        buf_view(&out),
        STR("{\"error\":{\"code\":400,\"message\":\"no \\\"x\\\"\",\"status\":\"INVALID_ARGUMENT\","
            "\"details\":[{\"@type\":\"type.googleapis.com/google.rpc.ErrorInfo\",\"reason\":"
            "\"invalid_value\",\"domain\":\"tandem\"},{\"@type\":\"type.googleapis.com/google.rpc."
            "BadRequest\",\"fieldViolations\":[{\"field\":\"contents[0]\",\"description\":\"no "
            "\\\"x\\\"\"}]}]}}")));
    buf_deinit(&out);
}

int main(void)
{
    RUN(test_members_have_two_names_and_numbers_two_forms);
    RUN(test_answers_without_ids_find_their_calls);
    RUN(test_thoughts_and_what_google_ran_are_left_out);
    RUN(test_only_allowed_functions_are_offered);
    RUN(test_schemas_become_json_schemas);
    RUN(test_what_cannot_be_done_is_refused_where_it_stands);
    RUN(test_errors_have_googles_form);
    return test_finish();
}
