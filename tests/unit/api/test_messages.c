/* /v1/messages: what a request becomes, what is refused and where, and what an answer looks like,
 * whole and as events. */
#include "dialect_case.h"
#include "test.h"

#include "api/dialects/dialect.h"
#include "api/dialects/messages/messages_request.h"
#include "api/dialects/messages/messages_response.h"
#include "base/core/str.h"

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
#define SYSTEM(content) "{\"role\":\"system\",\"content\":" content "}"
#define BLOB_32 "AbCdEfGhIjKlMnOpQrStUvWxYz012345"
#define BLOB BLOB_32 BLOB_32 BLOB_32 BLOB_32 BLOB_32 BLOB_32 BLOB_32 BLOB_32

static void test_a_request_becomes_the_chat_that_asks_the_same(void)
{
    CHECK(
        becomes("{\"model\":\"m\",\"max_tokens\":9,\"stream\":true,\"temperature\":0.5,\"top_k\":4,"
                "\"metadata\":{\"user_id\":\"u\"},\"stop_sequences\":[\"x\"],\"unknown\":1," HI
                ",\"system\":\"s\",\"tandem\":{\"mode\":\"only-local\"}}",
                "{\"model\":\"m\",\"stream\":true,\"tandem\":{\"mode\":\"only-local\"},"
                "\"temperature\":0.5,\"top_k\":4,\"user\":\"u\",\"stop\":[\"x\"],"
                "\"max_completion_tokens\":9,\"messages\":[{\"role\":\"system\",\"content\":"
                "\"s\"},{\"role\":\"user\",\"content\":\"hi\"}]}"));
    CHECK(becomes(
        "{\"max_tokens\":9,\"system\":[{\"type\":\"text\",\"text\":\"a\",\"cache_control\":{}},"
        "{\"type\":\"text\",\"text\":\"b\"}]," HI "}",
        "{\"max_completion_tokens\":9,\"messages\":[{\"role\":\"system\",\"content\":[{\"type\":"
        "\"text\",\"text\":\"a\",\"cache_control\":{}},{\"type\":\"text\",\"text\":\"b\"}]},"
        "{\"role\":\"user\",\"content\":\"hi\"}]}"));
    CHECK(becomes(ASK(",\"output_config\":{\"format\":{\"type\":\"json_schema\",\"schema\":{}}}"),
                  "{\"response_format\":{\"type\":\"json_schema\",\"json_schema\":{\"name\":"
                  "\"answer\",\"schema\":{}}},\"max_completion_tokens\":9," HI "}"));
}

/* Clients send empty lists of what they do not use. */
static void test_empty_lists_ask_for_nothing(void)
{
    static const char *const more[] = {",\"stop_sequences\":[]",   ",\"mcp_servers\":[]",
                                       ",\"stop_sequences\":null", ",\"container\":null",
                                       ",\"metadata\":{}",         ",\"output_config\":{}"};
    for (size_t i = 0; i < sizeof more / sizeof *more; i++) {
        char text[256];
        snprintf(text, sizeof text, "{\"max_tokens\":9," HI "%s}", more[i]);
        CHECK(becomes(text, "{\"max_completion_tokens\":9," HI "}"));
    }
    static const char *const formats[] = {"{\"type\":\"json_schema\"}",
                                          "{\"type\":\"text\",\"schema\":{}}", "{\"schema\":{}}",
                                          "{\"type\":\"json_schema\",\"schema\":[]}"};
    for (size_t i = 0; i < sizeof formats / sizeof *formats; i++) {
        char text[256];
        snprintf(text, sizeof text, "{\"max_tokens\":9," HI ",\"output_config\":{\"format\":%s}}",
                 formats[i]);
        CHECK(refused(text, "output_config.format", "json_schema"));
    }
}

/* To count tokens takes no max_tokens, and a conversation may end with the model's words. */
static void test_what_is_only_counted_need_not_be_answerable(void)
{
    static const char *const texts[] = {"{" HI "}",
                                        "{\"messages\":[" USER("\"a\"") "," MODEL("\"b\"") "]}"};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        struct fault fault;
        struct json *counted = translated(messages_request_translate_count, texts[i], &fault),
                    *asked = translated(messages_request_translate, texts[i], &fault);
        CHECK(counted && !asked && fault.code == 400);
        json_free(counted);
        json_free(asked);
    }
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
                  "{\"max_completion_tokens\":9," HI "}"));
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
        "],\"reasoning_details\":[{\"type\":\"reasoning.text\",\"text\":\"t\",\"signature\":\"s\"}"
        "]},"
        "{\"role\":\"tool\",\"content\":\"\",\"tool_call_id\":\"i\"},{\"role\":\"tool\","
        "\"content\":\"r\",\"tool_call_id\":\"j\"},{\"role\":\"user\",\"content\":\"so\"}]}"));
    CHECK(becomes(
        TALK(USER("\"a\"") "," MODEL("[{\"type\":\"redacted_thinking\"}]") "," USER("\"b\"")),
        "{\"max_completion_tokens\":9,\"messages\":[{\"role\":\"user\",\"content\":\"a\"}"
        ",{\"role\":\"assistant\",\"content\":\"\"},{\"role\":\"user\",\"content\":\"b\"}"
        "]}"));
}

static void test_what_is_new_does_not_refuse_a_request(void)
{
    /* An instruction that an application gives in the middle, also after the user's last words. */
    CHECK(becomes(TALK(USER("\"a\"") "," SYSTEM("\"s\"") "," MODEL("\"b\"") "," USER(
                      "\"c\"") "," SYSTEM("[{\"type\":\"text\",\"text\":\"t\"}]")),
                  "{\"max_completion_tokens\":9,\"messages\":[{\"role\":\"user\",\"content\":\"a\"}"
                  ",{\"role\":\"system\",\"content\":\"s\"},{\"role\":\"assistant\","
                  "\"content\":\"b\"},{\"role\":\"user\",\"content\":\"c\"},{\"role\":"
                  "\"system\",\"content\":\"t\"}]}"));
    /* What Anthropic's servers ran is the model's past; what the user shows is read as JSON. */
    CHECK(becomes(
        TALK(USER("[{\"type\":\"search_result\",\"title\":\"x\"}]") "," MODEL(
            "[{\"type\":\"server_tool_use\",\"id\":\"i\"},{\"type\":\"text\",\"text\":"
            "\"a\"}]") "," USER("[{\"type\":\"tool_result\",\"tool_use_id\":\"i\",\"content\":"
                                "[{\"type\":\"tool_reference\",\"tool_name\":\"f\"}]}]")),
        "{\"max_completion_tokens\":9,\"messages\":[{\"role\":\"user\",\"content\":\"{\\\"type"
        "\\\":\\\"search_result\\\",\\\"title\\\":\\\"x\\\"}\"},{\"role\":\"assistant\","
        "\"content\":\"a\"},{\"role\":\"tool\",\"content\":\"{\\\"type\\\":\\\"tool_reference"
        "\\\",\\\"tool_name\\\":\\\"f\\\"}\",\"tool_call_id\":\"i\"}]}"));
    /* The answer says what is not run. */
    static const char asked[] =
        ASK(",\"tools\":[{\"type\":\"web_search_20250305\",\"name\":\"w\"},{\"type\":\"custom\","
            "\"name\":\"f\",\"input_schema\":{}},{\"type\":\"bash_20250124\",\"name\":\"bash\"},"
            "{\"type\":\"web_search_20250305\",\"name\":\"v\"}]");
    CHECK(becomes(asked, "{\"tools\":[{\"type\":\"function\",\"function\":{\"name\":\"f\","
                         "\"parameters\":{}}}],\"max_completion_tokens\":9," HI "}"));
    CHECK(
        leaves_out_by(messages_request_list_left_out, asked, "web_search_20250305, bash_20250124"));
    CHECK(becomes(ASK(",\"tools\":[{\"type\":\"web_search_20250305\",\"name\":\"w\"}]"),
                  "{\"max_completion_tokens\":9," HI "}"));
}

static void test_what_cannot_be_done_is_refused_where_it_stands(void)
{
    CHECK(refused("{" HI "}", "max_tokens", "needs max_tokens"));
    CHECK(refused("{\"max_tokens\":0," HI "}", "max_tokens", "from 1"));
    CHECK(refused("{\"max_tokens\":\"9\"," HI "}", "max_tokens", "integer"));
    CHECK(refused("{\"max_tokens\":1000.5," HI "}", "max_tokens", "integer"));
    CHECK(refused("{\"max_tokens\":9}", "messages", "array"));
    CHECK(refused(TALK(""), "messages", "one message"));
    CHECK(refused(TALK("7"), "messages[0]", "object"));
    CHECK(refused(TALK("{\"content\":\"x\"}"), "messages[0].role", "string"));
    CHECK(refused(TALK("{\"role\":\"tool\",\"content\":\"x\"}"), "messages[0].role", "'tool'"));
    CHECK(refused(TALK("{\"role\":\"system\",\"content\":[{\"type\":\"tool_result\"}]}"),
                  "messages[0].content[0].type", "tool_result"));
    CHECK(refused(TALK(USER("null")), "messages[0].content", "string or a list"));
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
    CHECK(
        refused(TALK(USER("\"a\"") "," MODEL("\"I\"") "," SYSTEM("\"s\"")), "messages", "prefill"));
    /* What is new and that no detector can read may be a picture. */
    CHECK(refused(TALK(USER("[{\"type\":\"hologram\",\"data\":\"" BLOB "\"}]")),
                  "messages[0].content[0].type", "hologram"));
    CHECK(refused(ASK(",\"system\":5"), "system", "string"));
    CHECK(refused(ASK(",\"tools\":{}"), "tools", "list"));
    CHECK(refused(ASK(",\"tools\":[5]"), "tools[0]", "object"));
    CHECK(refused(ASK(",\"tools\":[{\"type\":5}]"), "tools[0].type", "string"));
    CHECK(refused(ASK(",\"tools\":[{\"input_schema\":{}}]"), "tools[0].name", "string"));
    CHECK(refused(ASK(",\"tools\":[{\"name\":\"f\"}]"), "tools[0].input_schema", "schema"));
    CHECK(refused(ASK(",\"tool_choice\":\"any\""), "tool_choice", "object"));
    CHECK(refused(ASK(",\"tool_choice\":{\"type\":\"tool\"}"), "tool_choice.name", "string"));
    CHECK(refused(ASK(",\"stop_sequences\":\"x\""), "stop_sequences", "list"));
    CHECK(refused(ASK(",\"metadata\":5"), "metadata", "object"));
    CHECK(refused(ASK(",\"output_format\":{\"type\":\"text\"}"), "output_format", "json_schema"));
    CHECK(refused(ASK(",\"mcp_servers\":{}"), "mcp_servers", "list"));
    CHECK(refused(ASK(",\"thinking\":[]"), "thinking", "object"));
    CHECK(refused(ASK(",\"thinking\":{\"budget_tokens\":\"x\"}"), "thinking.budget_tokens",
                  "integer"));
    CHECK(refused(ASK(",\"output_config\":{\"effort\":1}"), "output_config.effort", "string"));
    CHECK(refused(ASK(",\"tools\":[{\"name\":\"f\",\"description\":1}]"), "tools[0].description",
                  "string"));
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

/* Clients retry, wait or give up by the type alone. */
static void test_each_code_has_the_type_that_clients_know(void)
{
    static const struct {
        int code;
        const char *type;
    } rows[] = {
        {400, "invalid_request_error"},
        {401, "authentication_error"},
        {403, "permission_error"},
        {404, "not_found_error"},
        {405, "invalid_request_error"},
        {409, "invalid_request_error"},
        {413, "request_too_large"},
        {415, "invalid_request_error"},
        {429, "rate_limit_error"},
        {500, "api_error"},
        {501, "api_error"},
        {502, "api_error"},
        {503, "overloaded_error"},
        {504, "timeout_error"},
        {505, "api_error"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct world world;
        char wanted[256];
        world_init(&world);
        fault_set(&world.fault, rows[i].code, "server_error", NULL, "why");
        snprintf(wanted, sizeof wanted,
                 "{\"type\":\"error\",\"error\":{\"type\":\"%s\",\"message\":\"why\"}}",
                 rows[i].type);
        messages_fault_form.write(&world.fault, &world.out);
        CHECK(wrote(&world, wanted));
        world_deinit(&world);
    }
}

static void test_an_answer_says_why_it_ends_the_same_whole_and_streamed(void)
{
    static const struct {
        enum td_finish finish;
        size_t calls;
        const char *reason;
    } rows[] = {
        {TD_FINISH_STOP, 0, "end_turn"},          {TD_FINISH_STOP, 1, "tool_use"},
        {TD_FINISH_STOP, 2, "tool_use"},          {TD_FINISH_TOOL_CALLS, 1, "tool_use"},
        {TD_FINISH_LENGTH, 0, "max_tokens"},      {TD_FINISH_LENGTH, 1, "max_tokens"},
        {TD_FINISH_CONTENT_FILTER, 0, "refusal"}, {TD_FINISH_CONTENT_FILTER, 1, "refusal"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        for (int streamed = 0; streamed < 2; streamed++) {
            struct world world;
            struct exchange_summary ended = summary;
            char wanted[64];
            ended.finish = rows[i].finish;
            world_init(&world);
            if (streamed)
                dialect_messages.write_start(&world.reply, &summary, &world.out);
            buf_clear(&world.out);
            CHECK(give(&world, "a", NULL, streamed));
            if (rows[i].calls > 0)
                CHECK(give(&world, "", CALL("0", "i", "f", "{}"), streamed));
            if (rows[i].calls > 1)
                CHECK(give(&world, "", CALL("1", "j", "f", "{}"), streamed));
            CHECK(streamed ? dialect_messages.write_finish(&world.reply, &ended, &world.out,
                                                           &world.fault)
                           : dialect_messages.write_answer(&world.reply, &ended, &world.out,
                                                           &world.fault));
            snprintf(wanted, sizeof wanted, "\"stop_reason\":\"%s\"", rows[i].reason);
            CHECK(str_find(buf_view(&world.out), str_from(wanted), 0) != SIZE_MAX);
            world_deinit(&world);
        }
}

/* A client answers a call by its id. Some tiers give none. */
static void test_calls_without_ids_get_ids_that_tell_them_apart(void)
{
    for (int streamed = 0; streamed < 2; streamed++) {
        struct world world;
        world_init(&world);
        if (streamed)
            dialect_messages.write_start(&world.reply, &summary, &world.out);
        for (int i = 0; i < 3; i++) {
            char delta[128];
            snprintf(delta, sizeof delta,
                     "{\"tool_calls\":[{\"index\":%d,\"function\":{\"name\":\"f\",\"arguments\":"
                     "\"{}\"}}]}",
                     i);
            CHECK(give(&world, "", delta, streamed));
        }
        CHECK(
            streamed
                ? dialect_messages.write_finish(&world.reply, &summary, &world.out, &world.fault)
                : dialect_messages.write_answer(&world.reply, &summary, &world.out, &world.fault));
        for (int i = 0; i < 3; i++) {
            char wanted[64];
            snprintf(wanted, sizeof wanted, "\"id\":\"toolu_0123_%d\"", i);
            CHECK(str_find(buf_view(&world.out), str_from(wanted), 0) != SIZE_MAX);
        }
        world_deinit(&world);
    }
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

/* Members of deltas that a text is not: reasoning, a custom tool's call, a signature, a source. */
static const char *const more_deltas[] = {
    "{\"reasoning\":\"I \\\"think\"}",
    "{\"reasoning\":\".\",\"reasoning_details\":[{\"index\":0,\"text\":\"d\"}]}",
    "{\"annotations\":[{\"type\":\"url_citation\",\"url_citation\":{\"url\":\"u\"}}]}",
    "{\"tool_calls\":[{\"index\":0,\"id\":\"i\",\"type\":\"custom\",\"custom\":{\"name\":\"c\","
    "\"input\":\"a\\\"\"}}]}",
    "{\"tool_calls\":[{\"index\":0,\"custom\":{\"input\":\"b\"}}]}",
    "{\"tool_calls\":[{\"index\":1,\"id\":\"j\",\"function\":{\"name\":\"f\",\"arguments\":"
    "\"{}\"},\"extra_content\":{\"s\":1}}]}",
};

static void give_more(struct world *world, bool streamed)
{
    for (size_t i = 0; i < sizeof more_deltas / sizeof *more_deltas; i++)
        CHECK(give(world, i == 2 ? "Hello" : "", more_deltas[i], streamed));
}

static bool says(const struct world *world, const char *const *texts, size_t count)
{
    bool all = true;
    for (size_t i = 0; i < count; i++) {
        bool found = strstr(world->out.data, texts[i]) != NULL;
        if (!found)
            fprintf(stderr, "no %s in %s\n", texts[i], world->out.data);
        all &= found;
    }
    return all;
}

static void test_members_of_an_answer_have_forms_or_stand_under_their_names(void)
{
    static const char *const whole[] = {
        "{\"type\":\"thinking\",\"thinking\":\"I "
        "\\\"think.\",\"signature\":\"\"},{\"type\":\"text\"",
        "\"name\":\"c\",\"input\":{\"input\":\"a\\\"b\"}}",
        "\"name\":\"f\",\"input\":{},\"extra_content\":{\"s\":1}}",
        "\"chat\":{\"message\":{\"reasoning_details\":[{\"index\":0,\"text\":\"d\"}],"
        "\"annotations\":[{"};
    static const char *const streamed[] = {
        "\"content_block\":{\"type\":\"thinking\",\"thinking\":\"\",\"signature\":\"\"}}",
        "{\"type\":\"thinking_delta\",\"thinking\":\"I \\\"think\"}",
        "\"partial_json\":\"{\\\"input\\\":\\\"\"",
        "\"partial_json\":\"a\\\\\\\"\"",
        "\"partial_json\":\"\\\"}\"",
        "\"name\":\"f\",\"input\":{},\"extra_content\":{\"s\":1}}",
        "\"chat\":{\"message\":{\"reasoning_details\":"};
    struct world world;
    world_init(&world);
    give_more(&world, false);
    CHECK(dialect_messages.write_answer(&world.reply, &summary, &world.out, &world.fault));
    CHECK(says(&world, whole, sizeof whole / sizeof *whole));
    buf_clear(&world.out);
    world.request.hides_reasoning = true;
    CHECK(dialect_messages.write_answer(&world.reply, &summary, &world.out, &world.fault));
    CHECK(strstr(world.out.data, "\"chat\":{\"message\":{\"reasoning\":\"I ") &&
          !strstr(world.out.data, "\"thinking\""));
    world_deinit(&world);

    world_init(&world);
    dialect_messages.write_start(&world.reply, &summary, &world.out);
    give_more(&world, true);
    CHECK(dialect_messages.write_finish(&world.reply, &summary, &world.out, &world.fault));
    CHECK(says(&world, streamed, sizeof streamed / sizeof *streamed));
    world_deinit(&world);
}

int main(void)
{
    RUN(test_a_request_becomes_the_chat_that_asks_the_same);
    RUN(test_empty_lists_ask_for_nothing);
    RUN(test_what_is_only_counted_need_not_be_answerable);
    RUN(test_tools_calls_and_results_become_the_chats);
    RUN(test_what_is_new_does_not_refuse_a_request);
    RUN(test_what_cannot_be_done_is_refused_where_it_stands);
    RUN(test_what_the_chat_refuses_is_named_as_the_client_knows_it);
    RUN(test_deep_and_many_values_are_bounded);
    RUN(test_a_whole_message_has_text_and_calls);
    RUN(test_arguments_that_are_no_object_are_never_handed_on);
    RUN(test_arguments_are_handed_on_as_they_were_written);
    RUN(test_a_stream_opens_and_closes_one_block_after_another);
    RUN(test_a_call_that_goes_on_after_its_end_is_an_error_not_a_hole);
    RUN(test_each_code_has_the_type_that_clients_know);
    RUN(test_an_answer_says_why_it_ends_the_same_whole_and_streamed);
    RUN(test_calls_without_ids_get_ids_that_tell_them_apart);
    RUN(test_refusals_and_errors_have_anthropics_words);
    RUN(test_members_of_an_answer_have_forms_or_stand_under_their_names);
    return test_finish();
}
