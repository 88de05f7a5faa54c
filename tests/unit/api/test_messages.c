/* /v1/messages: what a request becomes, what is refused and where, and what an answer looks like,
 * whole and as events. */
#include "dialect_case.h"
#include "test.h"

#include "api/wire/dialect.h"
#include "api/wire/messages_request.h"
#include "api/wire/messages_response.h"
#include "base/str.h"

#include <math.h>
#include <stdio.h>

/* --- requests --- */

static bool becomes(const char *text, const char *wanted)
{
    return becomes_by(messages_request_translate, text, wanted);
}

static bool refused(const char *text, const char *param, const char *needle)
{
    return refused_by(messages_request_translate, text, param, needle);
}

#define HI "\"messages\":[{\"role\":\"user\",\"content\":\"hi\"}]"
#define ASK(more) "{\"max_tokens\":9," HI more "}"
#define TALK(messages) "{\"max_tokens\":9,\"messages\":[" messages "]}"
#define USER(content) "{\"role\":\"user\",\"content\":" content "}"
#define MODEL(content) "{\"role\":\"assistant\",\"content\":" content "}"

static void test_a_request_becomes_the_chat_that_asks_the_same(void)
{
    CHECK(
        becomes("{\"model\":\"m\",\"max_tokens\":9,\"stream\":true,\"temperature\":0.5,\"top_k\":4,"
                "\"metadata\":{\"user_id\":\"u\"},\"stop_sequences\":[\"x\"],\"unknown\":1," HI
                ",\"system\":\"s\",\"tandem\":{\"mode\":\"only-local\"}}",
                "{\"model\":\"m\",\"stream\":true,\"tandem\":{\"mode\":\"only-local\"},"
                "\"temperature\":0.5,\"top_k\":4,\"stop\":[\"x\"],\"user\":\"u\","
                "\"max_completion_tokens\":9,\"messages\":[{\"role\":\"system\",\"content\":"
                "\"s\"},{\"role\":\"user\",\"content\":\"hi\"}]}"));
    CHECK(becomes(
        "{\"max_tokens\":9,\"system\":[{\"type\":\"text\",\"text\":\"a\",\"cache_control\":{}},"
        "{\"type\":\"text\",\"text\":\"b\"}]," HI "}",
        "{\"max_completion_tokens\":9,\"messages\":[{\"role\":\"system\",\"content\":[{\"type\":"
        "\"text\",\"text\":\"a\"},{\"type\":\"text\",\"text\":\"b\"}]},{\"role\":\"user\","
        "\"content\":\"hi\"}]}"));
    CHECK(becomes(ASK(",\"output_config\":{\"format\":{\"type\":\"json_schema\",\"schema\":{}}}"),
                  "{\"response_format\":{\"type\":\"json_schema\",\"json_schema\":{\"name\":"
                  "\"answer\",\"schema\":{}}},\"max_completion_tokens\":9," HI "}"));
}

static void test_tools_calls_and_results_become_the_chats(void)
{
    CHECK(becomes(
        ASK(",\"tools\":[{\"name\":\"f\",\"description\":\"d\",\"input_schema\":{\"type\":"
            "\"object\"}}],\"tool_choice\":{\"type\":\"tool\",\"name\":\"f\","
            "\"disable_parallel_tool_use\":true}"),
        "{\"tools\":[{\"type\":\"function\",\"function\":{\"name\":\"f\",\"description\":\"d\","
        "\"parameters\":{\"type\":\"object\"}}}],\"tool_choice\":{\"type\":\"function\","
        "\"function\":{\"name\":\"f\"}},\"parallel_tool_calls\":false,"
        "\"max_completion_tokens\":9," HI "}"));
    CHECK(becomes(ASK(",\"tool_choice\":{\"type\":\"none\"},\"tools\":[]"),
                  "{\"tool_choice\":\"none\",\"max_completion_tokens\":9," HI "}"));
    CHECK(becomes(
        TALK(USER("\"hi\"") "," MODEL(
            "[{\"type\":\"thinking\",\"thinking\":\"t\",\"signature\":\"s\"},{\"type\":\"text\","
            "\"text\":\"a\"},{\"type\":\"tool_use\",\"id\":\"i\",\"name\":\"f\",\"input\":{\"q\":"
            "\"\\\"\"}}]") "," USER("[{\"type\":\"tool_result\",\"tool_use_id\":\"i\"},"
                                    "{\"type\":\"tool_result\",\"tool_use_id\":\"j\",\"content\":"
                                    "\"r\"},{\"type\":\"text\",\"text\":\"so\"}]")),
        "{\"max_completion_tokens\":9,\"messages\":[{\"role\":\"user\",\"content\":\"hi\"},"
        "{\"role\":\"assistant\",\"content\":\"a\",\"tool_calls\":[{\"id\":\"i\",\"type\":"
        "\"function\",\"function\":{\"name\":\"f\",\"arguments\":\"{\\\"q\\\":\\\"\\\\\\\"\\\"}\"}}"
        "]},"
        "{\"role\":\"tool\",\"content\":\"\",\"tool_call_id\":\"i\"},{\"role\":\"tool\","
        "\"content\":\"r\",\"tool_call_id\":\"j\"},{\"role\":\"user\",\"content\":\"so\"}]}"));
    CHECK(becomes(
        TALK(USER("\"a\"") "," MODEL("[{\"type\":\"redacted_thinking\"}]") "," USER("\"b\"")),
        "{\"max_completion_tokens\":9,\"messages\":[{\"role\":\"user\",\"content\":\"a\"}"
        ",{\"role\":\"assistant\",\"content\":\"\"},{\"role\":\"user\",\"content\":\"b\"}"
        "]}"));
}

static void test_what_cannot_be_done_is_refused_where_it_stands(void)
{
    CHECK(refused("{" HI "}", "max_tokens", "needs max_tokens"));
    CHECK(refused("{\"max_tokens\":0," HI "}", "max_tokens", "from 1"));
    CHECK(refused("{\"max_tokens\":\"9\"," HI "}", "max_tokens", "integer"));
    CHECK(refused("{\"max_tokens\":1e3," HI "}", "max_tokens", "integer"));
    CHECK(refused("{\"max_tokens\":9}", "messages", "array"));
    CHECK(refused(TALK(""), "messages", "one message"));
    CHECK(refused(TALK("7"), "messages[0]", "object"));
    CHECK(refused(TALK("{\"content\":\"x\"}"), "messages[0].role", "string"));
    CHECK(refused(TALK("{\"role\":\"system\",\"content\":\"x\"}"), "messages[0].role", "system"));
    CHECK(refused(TALK(USER("null")), "messages[0].content", "string or a list"));
    CHECK(refused(TALK(USER("[]")), "messages[0].content", "one content block"));
    CHECK(refused(TALK(USER("[\"x\"]")), "messages[0].content[0]", "object"));
    CHECK(refused(TALK(USER("[{\"text\":\"x\"}]")), "messages[0].content[0].type", "type"));
    CHECK(refused(TALK(USER("[{\"type\":\"text\",\"text\":5}]")), "messages[0].content[0].text",
                  "string"));
    CHECK(refused(TALK(USER("\"a\"") "," USER("[{\"type\":\"text\",\"text\":\"x\"},{\"type\":"
                                              "\"image\"}]")),
                  "messages[1].content[1].source", "object"));
    CHECK(refused(TALK(USER("[{\"type\":\"tool_use\"}]")), "messages[0].content[0].type",
                  "tool_use"));
    CHECK(refused(TALK(MODEL("[{\"type\":\"tool_result\"}]")), "messages[0].content[0].type",
                  "tool_result"));
    CHECK(refused(TALK(MODEL("[{\"type\":\"tool_use\",\"id\":\"i\",\"name\":\"f\",\"input\":[]}]")),
                  "messages[0].content[0].input", "object"));
    CHECK(refused(TALK(USER("[{\"type\":\"tool_result\",\"content\":\"x\"}]")),
                  "messages[0].content[0].tool_use_id", "string"));
    CHECK(refused(TALK(USER("[{\"type\":\"tool_result\",\"tool_use_id\":\"i\",\"content\":[{"
                            "\"type\":\"image\"}]}]")),
                  "messages[0].content[0].content[0].source", "object"));
    CHECK(refused(TALK(USER("\"a\"") "," MODEL("\"I\"")), "messages", "prefill"));
    CHECK(refused(ASK(",\"system\":5"), "system", "string"));
    CHECK(refused(ASK(",\"tools\":{}"), "tools", "list"));
    CHECK(refused(ASK(",\"tools\":[5]"), "tools[0]", "object"));
    CHECK(refused(ASK(",\"tools\":[{\"type\":\"bash_20250124\",\"name\":\"bash\"}]"),
                  "tools[0].type", "bash_20250124"));
    CHECK(refused(ASK(",\"tools\":[{\"type\":5}]"), "tools[0].type", "?"));
    CHECK(refused(ASK(",\"tools\":[{\"input_schema\":{}}]"), "tools[0].name", "string"));
    CHECK(refused(ASK(",\"tools\":[{\"name\":\"f\"}]"), "tools[0].input_schema", "schema"));
    CHECK(refused(ASK(",\"tool_choice\":\"any\""), "tool_choice", "object"));
    CHECK(refused(ASK(",\"tool_choice\":{\"type\":\"tool\"}"), "tool_choice.name", "string"));
    CHECK(refused(ASK(",\"stop_sequences\":\"x\""), "stop_sequences", "list"));
    CHECK(refused(ASK(",\"metadata\":5"), "metadata", "object"));
    CHECK(refused(ASK(",\"output_format\":{\"type\":\"text\"}"), "output_format", "json_schema"));
    CHECK(refused(ASK(",\"mcp_servers\":[{}]"), "mcp_servers", "not supported"));
    CHECK(refused("{\"max_tokens\":9,\"system\":\"\xff\"," HI "}", "", "JSON"));
}

static void test_what_the_chat_refuses_is_named_as_the_client_knows_it(void)
{
    static const struct {
        const char *text, *param;
    } cases[] = {{ASK(",\"stop_sequences\":[\"x\",5]"), "stop_sequences[1]"},
                 {ASK(",\"metadata\":{\"user_id\":\"\"}"), "metadata.user_id"},
                 {ASK(",\"temperature\":9"), "temperature"},
                 {ASK(",\"stream\":1"), "stream"},
                 {ASK(",\"tandem\":{\"data_class\":\"secret\"}"), "tandem.data_class"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct arena *arena = arena_new(1 << 20);
        struct chat_request request;
        struct fault fault = {0};
        CHECK(!dialect_read(&dialect_messages, str_from(cases[i].text), NULL, NULL, arena, &request,
                            &fault));
        CHECK(fault.code == 400 && strcmp(fault.param, cases[i].param) == 0);
        arena_free(arena);
    }
}

static void test_deep_and_many_values_are_bounded(void)
{
    struct buf text;
    struct fault fault;
    buf_init(&text, 1 << 20);
    buf_append_str(&text,
                   STR("{\"max_tokens\":9," HI ",\"tools\":[{\"name\":\"f\",\"input_schema\":"));
    for (int i = 0; i < 70; i++)
        buf_append_str(&text, STR("{\"a\":"));
    buf_append_char(&text, '1');
    for (int i = 0; i < 70; i++)
        buf_append_char(&text, '}');
    buf_append_str(&text, STR("}]}"));
    CHECK(!translated(messages_request_translate, text.data, &fault) && fault.code == 400);
    buf_clear(&text);
    buf_append_str(&text, STR("{\"max_tokens\":9,\"messages\":["));
    for (int i = 0; i < 5000; i++)
        buf_append_str(&text, i ? STR("," USER("\"x\"")) : STR(USER("\"x\"")));
    buf_append_str(&text, STR("]}"));
    CHECK(refused(text.data, "messages", "at most"));
    buf_deinit(&text);
}

/* --- answers --- */

static const struct exchange_summary summary = {
    .id = "ex_0123",
    .tier = "cloud",
    .model = "m",
    .place = TD_PLACE_CLOUD,
    .confidence = NAN,
    .finish = TD_FINISH_TOOL_CALLS,
    .usage = {.prompt_tokens = 10, .completion_tokens = 4, .cached_tokens = 3},
};

struct world {
    struct chat_request request;
    struct dialect_reply reply;
    char state[256];
    struct buf out;
    struct fault fault;
};

static void world_init(struct world *world)
{
    *world = (struct world){0};
    world->reply.request = &world->request;
    world->reply.state = world->state;
    REQUIRE(dialect_messages.state_bytes <= sizeof world->state);
    response_writer_init(&world->reply.writer, summary.id, 1, &world->request.td);
    response_answer_init(&world->reply.answer, 4096);
    buf_init(&world->out, 65536);
}

static void world_deinit(struct world *world)
{
    response_answer_deinit(&world->reply.answer);
    buf_deinit(&world->out);
}

/* A piece of a text and a delta's members as JSON. False when it cannot be said. */
static bool give(struct world *world, const char *text, const char *delta, bool streamed)
{
    struct json *raw = NULL, *choice = NULL;
    struct tier_piece piece = {.text = str_from(text)};
    bool said = true;
    if (delta) {
        CHECK(json_parse(str_from(delta), &raw, NULL) == TD_OK);
        choice = json_new_object();
        json_put(choice, "delta", raw);
        piece.raw_delta = choice;
    }
    if (streamed)
        said = dialect_messages.write_piece(&world->reply, &summary, &piece, &world->out,
                                            &world->fault);
    else
        response_answer_add(&world->reply.writer, &world->reply.answer, &piece);
    json_free(choice);
    return said;
}

/* What was written, up to the `tandem` member of each event. */
static bool wrote(struct world *world, const char *wanted)
{
    struct buf got;
    buf_init(&got, 65536);
    for (const char *at = world->out.data; *at;) {
        const char *tandem = strstr(at, ",\"tandem\":");
        buf_append(&got, at, tandem ? (size_t)(tandem - at) : strlen(at));
        at = tandem ? strchr(tandem, '\n') : "";
        if (!at)
            break;
    }
    bool same = str_equal(buf_view(&got), str_from(wanted));
    if (!same)
        fprintf(stderr, "got  %s\nwant %s\n", got.data, wanted);
    buf_deinit(&got);
    buf_clear(&world->out);
    return same;
}

#define CALL(index, id, name, arguments)                                                     \
    "{\"tool_calls\":[{\"index\":" index ",\"id\":\"" id "\",\"function\":{\"name\":\"" name \
    "\",\"arguments\":\"" arguments "\"}}]}"
#define HEAD "{\"id\":\"msg_0123\",\"type\":\"message\",\"role\":\"assistant\",\"model\":\"m\","
#define USAGE                                                          \
    "\"usage\":{\"input_tokens\":7,\"cache_creation_input_tokens\":0," \
    "\"cache_read_input_tokens\":3,\"output_tokens\":4}"

static void test_a_whole_message_has_text_and_calls(void)
{
    struct world world;
    world_init(&world);
    give(&world, "He", NULL, false);
    give(&world, "llo", CALL("0", "i", "f", "{\\\"q\\\":"), false);
    give(&world, "",
         "{\"tool_calls\":[{\"index\":0,\"function\":{\"arguments\":\"1}\"}},"
         "{\"index\":1,\"function\":{\"name\":\"g\"}}]}",
         false);
    CHECK(dialect_messages.write_answer(&world.reply, &summary, &world.out, &world.fault));
    CHECK(wrote(&world,
                HEAD "\"content\":[{\"type\":\"text\",\"text\":\"Hello\"},{\"type\":"
                     "\"tool_use\",\"id\":\"i\",\"name\":\"f\",\"input\":{\"q\":1}},"
                     "{\"type\":\"tool_use\",\"id\":\"toolu_0123_1\",\"name\":\"g\","
                     "\"input\":{}}],\"stop_reason\":\"tool_use\",\"stop_sequence\":null," USAGE));
    world_deinit(&world);
}

static void test_arguments_that_are_no_object_are_never_handed_on(void)
{
    static const char *const bad[] = {"[1]", "5", "{\\\"q\\\":", "{}}"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        struct world world;
        struct exchange_summary cut = summary;
        char call[128];
        snprintf(call, sizeof call, CALL("0", "i", "f", "%s"), bad[i]);
        world_init(&world);
        give(&world, "", call, false);
        CHECK(!dialect_messages.write_answer(&world.reply, &summary, &world.out, &world.fault));
        CHECK(world.fault.code == 502 && strstr(world.fault.message, "'f'"));
        cut.finish = TD_FINISH_LENGTH; /* a call that the limit cut is left out */
        world.fault = (struct fault){0};
        buf_clear(&world.out);
        CHECK(dialect_messages.write_answer(&world.reply, &cut, &world.out, &world.fault));
        CHECK(world.fault.code == 0);
        CHECK(wrote(&world, HEAD "\"content\":[],\"stop_reason\":\"max_tokens\","
                                 "\"stop_sequence\":null," USAGE));
        world_deinit(&world);
    }
}

static void test_arguments_are_handed_on_as_they_were_written(void)
{
    struct world world;
    world_init(&world);
    give(&world, "",
         CALL("0", "i", "f",
              "{\\\"n\\\": 123456789012345678901, \\\"x\\\":0.12345678901234567, "
              "\\\"x\\\":1}"),
         false);
    CHECK(dialect_messages.write_answer(&world.reply, &summary, &world.out, &world.fault));
    CHECK(strstr(world.out.data,
                 "\"input\":{\"n\": 123456789012345678901, \"x\":0.12345678901234567, "
                 "\"x\":1}}"));
    world_deinit(&world);
}

#define EVENT(name, rest) "event: " name "\ndata: {\"type\":\"" name "\"" rest "\n\n"

static void test_a_stream_opens_and_closes_one_block_after_another(void)
{
    struct world world;
    world_init(&world);
    dialect_messages.write_start(&world.reply, &summary, &world.out);
    CHECK(wrote(&world,
                EVENT("message_start", ",\"message\":" HEAD "\"content\":[],\"stop_reason\":null,"
                                       "\"stop_sequence\":null," USAGE) EVENT("ping", "}")));
    CHECK(give(&world, "", "{\"content\":\"\"}", true) && world.out.len == 0);
    CHECK(give(&world, "a\"", NULL, true) && give(&world, "b", NULL, true));
    CHECK(wrote(&world, EVENT("content_block_start",
                              ",\"index\":0,\"content_block\":{\"type\":\"text\",\"text\":\"\"}}")
                            EVENT("content_block_delta", ",\"index\":0,\"delta\":{\"type\":"
                                                         "\"text_delta\",\"text\":\"a\\\"\"}}")
                                EVENT("content_block_delta", ",\"index\":0,\"delta\":{\"type\":"
                                                             "\"text_delta\",\"text\":\"b\"}}")));
    CHECK(give(&world, "", CALL("0", "i", "f", "{"), true));
    CHECK(give(&world, "", CALL("0", "", "", "}"), true));
    CHECK(wrote(
        &world,
        EVENT("content_block_stop", ",\"index\":0}") EVENT(
            "content_block_start", ",\"index\":1,\"content_block\":{\"type\":\"tool_use\",\"id\":"
                                   "\"i\",\"name\":\"f\",\"input\":{}}}")
            EVENT("content_block_delta", ",\"index\":1,\"delta\":{\"type\":\"input_json_delta\","
                                         "\"partial_json\":\"{\"}}")
                EVENT("content_block_delta", ",\"index\":1,\"delta\":{\"type\":"
                                             "\"input_json_delta\",\"partial_json\":\"}\"}}")));
    CHECK(give(&world, "", CALL("1", "j", "g", ""), true));
    CHECK(dialect_messages.write_finish(&world.reply, &summary, &world.out, &world.fault));
    CHECK(wrote(&world,
                EVENT("content_block_stop", ",\"index\":1}") EVENT(
                    "content_block_start", ",\"index\":2,\"content_block\":{\"type\":\"tool_use\","
                                           "\"id\":\"j\",\"name\":\"g\",\"input\":{}}}")
                    EVENT("content_block_stop", ",\"index\":2}")
                        EVENT("message_delta", ",\"delta\":{\"stop_reason\":\"tool_use\","
                                               "\"stop_sequence\":null}," USAGE)
                            EVENT("message_stop", "}")));
    world_deinit(&world);
}

static void test_a_call_that_goes_on_after_its_end_is_an_error_not_a_hole(void)
{
    struct world world;
    world_init(&world);
    dialect_messages.write_start(&world.reply, &summary, &world.out);
    CHECK(give(&world, "", CALL("0", "i", "f", "{"), true));
    CHECK(give(&world, "", CALL("1", "j", "g", "{"), true));
    CHECK(!give(&world, "", CALL("0", "i", "f", "}"), true));
    CHECK(world.fault.code == 502);
    world_deinit(&world);
}

static void test_refusals_and_errors_have_anthropics_words(void)
{
    struct world world;
    struct exchange_summary stopped = summary;
    stopped.finish = TD_FINISH_STOP;
    world_init(&world);
    give(&world, "", "{\"refusal\":\"no\"}", false);
    CHECK(dialect_messages.write_answer(&world.reply, &stopped, &world.out, &world.fault));
    CHECK(wrote(&world, HEAD "\"content\":[{\"type\":\"text\",\"text\":\"no\"}],\"stop_reason\":"
                             "\"refusal\",\"stop_sequence\":null," USAGE));
    fault_request(&world.fault, "messages", "say \"%s\"", "please");
    messages_fault_form.write(&world.fault, &world.out);
    CHECK(wrote(&world, "{\"type\":\"error\",\"error\":{\"type\":\"invalid_request_error\","
                        "\"message\":\"say \\\"please\\\"\",\"code\":\"invalid_value\",\"param\":"
                        "\"messages\"}}"));
    world_deinit(&world);
}

int main(void)
{
    RUN(test_a_request_becomes_the_chat_that_asks_the_same);
    RUN(test_tools_calls_and_results_become_the_chats);
    RUN(test_what_cannot_be_done_is_refused_where_it_stands);
    RUN(test_what_the_chat_refuses_is_named_as_the_client_knows_it);
    RUN(test_deep_and_many_values_are_bounded);
    RUN(test_a_whole_message_has_text_and_calls);
    RUN(test_arguments_that_are_no_object_are_never_handed_on);
    RUN(test_arguments_are_handed_on_as_they_were_written);
    RUN(test_a_stream_opens_and_closes_one_block_after_another);
    RUN(test_a_call_that_goes_on_after_its_end_is_an_error_not_a_hole);
    RUN(test_refusals_and_errors_have_anthropics_words);
    return test_finish();
}
