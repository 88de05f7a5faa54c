/* /v1/responses: what a request becomes, what is refused and where, and what an answer looks like,
 * whole and as events. */
#include "dialect_case.h"
#include "test.h"

#include "api/dialects/dialect.h"
#include "api/dialects/responses/responses_request.h"
#include "base/core/str.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

/* --- requests --- */

static bool becomes(const char *text, const char *wanted)
{
    return becomes_by(responses_request_translate, text, wanted);
}

static bool refused(const char *text, const char *param, const char *needle)
{
    return refused_by(responses_request_translate, text, param, needle);
}

#define HI "\"messages\":[{\"role\":\"user\",\"content\":\"hi\"}]"
#define ASK(more) "{\"input\":\"hi\"" more "}"
#define ITEMS(items) "{\"input\":[" items "]}"

static void test_a_request_becomes_the_chat_that_asks_the_same(void)
{
    CHECK(becomes(
        "{\"model\":\"m\",\"stream\":true,\"instructions\":\"s\",\"input\":\"hi\","
        "\"max_output_tokens\":9,\"temperature\":0.5,\"top_p\":0.9,\"user\":\"u\","
        "\"reasoning\":{\"effort\":\"low\"},\"store\":true,\"unknown\":{},"
        "\"include\":[\"message.output_text.logprobs\"],\"top_logprobs\":2,"
        "\"metadata\":{\"a\":\"b\"},\"previous_response_id\":null,"
        "\"text\":{\"format\":{\"type\":\"text\"},\"verbosity\":\"low\"},"
        "\"tandem\":{\"mode\":\"only-local\"}}",
        "{\"model\":\"m\",\"stream\":true,\"tandem\":{\"mode\":\"only-local\"},"
        "\"temperature\":0.5,\"top_p\":0.9,\"user\":\"u\",\"reasoning_effort\":\"low\","
        "\"verbosity\":\"low\",\"top_logprobs\":2,\"logprobs\":true,\"max_completion_tokens\":9,"
        "\"messages\":[{\"role\":\"system\",\"content\":\"s\"},{\"role\":\"user\","
        "\"content\":\"hi\"}]}"));
    CHECK(
        becomes(ASK(",\"text\":{\"format\":{\"type\":\"json_schema\",\"name\":\"n\",\"schema\":{},"
                    "\"strict\":true}}"),
                "{\"response_format\":{\"type\":\"json_schema\",\"json_schema\":{\"name\":\"n\","
                "\"schema\":{},\"strict\":true}}," HI "}"));
    CHECK(becomes(ASK(",\"text\":{\"format\":{\"type\":\"json_object\"}}"),
                  "{\"response_format\":{\"type\":\"json_object\"}," HI "}"));
    /* What a chat may ask only with `logprobs`. */
    CHECK(becomes(ASK(",\"top_logprobs\":0,\"include\":[]"), "{" HI "}"));
    CHECK(becomes(ASK(",\"top_logprobs\":0,\"include\":[\"message.output_text.logprobs\"]"),
                  "{\"top_logprobs\":0,\"logprobs\":true," HI "}"));
    CHECK(becomes(ASK(",\"top_logprobs\":null"), "{" HI "}"));
}

static void test_items_and_tools_become_the_chats(void)
{
    CHECK(becomes(
        ITEMS("{\"role\":\"developer\",\"content\":\"d\"},{\"type\":\"message\",\"role\":\"user\","
              "\"content\":[{\"type\":\"input_text\",\"text\":\"a\"},{\"type\":\"input_text\","
              "\"text\":\"b\"}]},{\"type\":\"reasoning\",\"summary\":[]},{\"type\":\"message\","
              "\"role\":\"assistant\",\"id\":\"msg_1\",\"status\":\"completed\",\"content\":[{"
              "\"type\":\"output_text\",\"text\":\"c\",\"annotations\":[]}]},{\"type\":"
              "\"function_call\",\"call_id\":\"i\",\"name\":\"f\",\"arguments\":\"{}\"},{\"type\":"
              "\"function_call\",\"call_id\":\"j\",\"name\":\"g\",\"arguments\":\"\"},{\"type\":"
              "\"function_call_output\",\"call_id\":\"i\",\"output\":\"r\"},{\"type\":"
              "\"function_call_output\",\"call_id\":\"j\",\"output\":[{\"type\":\"input_text\","
              "\"text\":\"s\"}]}"),
        "{\"messages\":[{\"role\":\"developer\",\"content\":\"d\"},{\"role\":\"user\",\"content\":["
        "{\"type\":\"text\",\"text\":\"a\"},{\"type\":\"text\",\"text\":\"b\"}]},{\"role\":"
        "\"assistant\",\"content\":\"c\",\"tool_calls\":[{\"id\":\"i\",\"type\":\"function\","
        "\"function\":{\"name\":\"f\",\"arguments\":\"{}\"}},{\"id\":\"j\",\"type\":\"function\","
        "\"function\":{\"name\":\"g\",\"arguments\":\"\"}}]},{\"role\":\"tool\",\"content\":\"r\","
        "\"tool_call_id\":\"i\"},{\"role\":\"tool\",\"content\":\"s\",\"tool_call_id\":\"j\"}]}"));
    CHECK(becomes(ASK(",\"tools\":[{\"type\":\"function\",\"name\":\"f\",\"description\":\"d\","
                      "\"parameters\":{\"type\":\"object\"},\"strict\":false},{\"type\":"
                      "\"function\",\"name\":\"g\",\"parameters\":null,\"strict\":null}],"
                      "\"tool_choice\":{\"type\":\"function\",\"name\":\"f\"},"
                      "\"parallel_tool_calls\":false"),
                  "{\"parallel_tool_calls\":false,\"tools\":[{\"type\":\"function\",\"function\":{"
                  "\"name\":\"f\",\"description\":\"d\",\"parameters\":{\"type\":\"object\"},"
                  "\"strict\":false}},{\"type\":\"function\",\"function\":{\"name\":\"g\"}}],"
                  "\"tool_choice\":{\"type\":\"function\",\"function\":{\"name\":\"f\"}}," HI "}"));
    CHECK(becomes(ASK(",\"tools\":[],\"tool_choice\":\"none\""),
                  "{" HI "}")); /* OpenAI's chat takes no choice without tools */
}

#define NEW_TOOLS                                                                                \
    ",\"tools\":[{\"type\":\"namespace\",\"name\":\"n\",\"tools\":[{\"type\":\"function\","      \
    "\"name\":\"f\"},{\"type\":\"new\"}]},{\"type\":\"web_search\"},{\"type\":\"custom\","       \
    "\"name\":\"patch\",\"description\":\"d\",\"format\":{\"type\":\"grammar\",\"syntax\":"      \
    "\"lark\",\"definition\":\"start: x\"}},{\"type\":\"local_shell\"},{\"type\":\"namespace\"," \
    "\"name\":\"mcp__s__\",\"tools\":[{\"type\":\"function\",\"name\":\"g\"}]}]"

static void test_tools_that_are_no_functions_become_functions(void)
{
    struct fault fault;
    struct json *chat = translated(responses_request_translate, ASK(NEW_TOOLS), &fault);
    static const char *const names[] = {"n__f", "patch", "local_shell", "mcp__s__g"};
    const struct json *tools = json_get(chat, "tools");
    CHECK(json_count(tools) == 4);
    for (size_t i = 0; i < 4; i++) {
        const struct json *function = json_get(json_at(tools, i), "function");
        CHECK(str_equal(json_text(json_get(function, "name")), str_from(names[i])));
    }
    const struct json *patch = json_get(json_at(tools, 1), "function");
    CHECK(str_equal(json_text(json_get(patch, "description")),
                    STR("d\n\nThe input follows this grammar (lark):\nstart: x")));
    CHECK(json_get(json_get(json_get(patch, "parameters"), "properties"), "input"));
    json_free(chat);
    CHECK(leaves_out_by(responses_request_list_left_out, ASK(NEW_TOOLS), "web_search, new"));
    CHECK(becomes(ASK(",\"tools\":[{\"type\":\"mcp\"}]"), "{" HI "}"));
    CHECK(becomes(ASK(",\"tool_choice\":{\"type\":\"custom\",\"name\":\"c\"}"),
                  "{\"tool_choice\":{\"type\":\"function\",\"function\":{\"name\":\"c\"}}," HI
                  "}"));
}

static void test_calls_of_such_tools_are_calls_of_those_functions(void)
{
    static const char items[] = ITEMS(
        "{\"role\":\"user\",\"content\":\"a\"},{\"type\":\"web_search_call\"},{\"type\":"
        "\"function_call\",\"call_id\":\"i\",\"namespace\":\"n\",\"name\":\"f\","
        "\"arguments\":\"{}\"},{\"type\":\"custom_tool_call\",\"call_id\":\"j\",\"name\":"
        "\"patch\",\"input\":\"+\\n\"},{\"type\":\"local_shell_call\",\"call_id\":\"k\","
        "\"action\":{\"type\":\"exec\",\"command\":[\"ls\"]}},{\"type\":"
        "\"custom_tool_call_output\",\"call_id\":\"j\",\"output\":\"ok\"},{\"type\":"
        "\"local_shell_call_output\",\"id\":\"k\",\"output\":\"x\"},{\"type\":\"reasoning\"}");
    CHECK(becomes(
        items,
        "{\"messages\":[{\"role\":\"user\",\"content\":\"a\"},{\"role\":\"assistant\","
        "\"content\":null,\"tool_calls\":[{\"id\":\"i\",\"type\":\"function\",\"function\":{"
        "\"name\":\"n__f\",\"arguments\":\"{}\"}},{\"id\":\"j\",\"type\":\"function\","
        "\"function\":{\"name\":\"patch\",\"arguments\":\"{\\\"input\\\":\\\"+\\\\n\\\"}\"}},"
        "{\"id\":\"k\",\"type\":\"function\",\"function\":{\"name\":\"local_shell\","
        "\"arguments\":\"{\\\"command\\\":[\\\"ls\\\"]}\"}}]},{\"role\":\"tool\",\"content\":"
        "\"ok\",\"tool_call_id\":\"j\"},{\"role\":\"tool\",\"content\":\"x\",\"tool_call_id\":"
        "\"k\"}]}"));
    CHECK(leaves_out_by(responses_request_list_left_out, items, "web_search_call"));
}

static void test_what_cannot_be_done_is_refused_where_it_stands(void)
{
    CHECK(refused("{}", "input", "string or a list"));
    CHECK(refused("{\"input\":5}", "input", "string or a list"));
    CHECK(refused("{\"input\":[]}", "input", "no message"));
    CHECK(refused(ITEMS("{\"type\":\"reasoning\"}"), "input", "no message"));
    CHECK(refused(ASK(",\"instructions\":5"), "instructions", "string"));
    CHECK(refused(ITEMS("\"x\""), "input[0]", "object"));
    CHECK(refused(ITEMS("{\"type\":5}"), "input[0].type", "type"));
    CHECK(refused(ITEMS("{\"content\":\"x\"}"), "input[0].role", "string"));
    CHECK(refused(ITEMS("{\"role\":\"tool\",\"content\":\"x\"}"), "input[0].role", "'tool'"));
    CHECK(refused(ITEMS("{\"role\":\"user\"}"), "input[0].content", "string"));
    CHECK(refused(ITEMS("{\"role\":\"user\",\"content\":[5]}"), "input[0].content[0]", "object"));
    CHECK(refused(ITEMS("{\"role\":\"user\",\"content\":[{\"type\":\"input_image\"}]}"),
                  "input[0].content[0]", "neither content"));
    CHECK(refused(ITEMS("{\"role\":\"user\",\"content\":[{\"type\":\"input_text\"}]}"),
                  "input[0].content[0].text", "string"));
    CHECK(refused(ITEMS("{\"type\":\"function_call\",\"call_id\":\"i\",\"name\":\"f\","
                        "\"arguments\":{}}"),
                  "input[0].arguments", "string"));
    CHECK(refused(ITEMS("{\"type\":\"function_call_output\",\"output\":\"x\"}"), "input[0].call_id",
                  "string"));
    CHECK(refused(ITEMS("{\"type\":\"function_call_output\",\"call_id\":\"i\"}"), "input[0].output",
                  "string"));
    CHECK(refused(ITEMS("{\"type\":\"web_search_call\"}"), "input", "no message"));
    CHECK(refused(ITEMS("{\"type\":\"custom_tool_call\",\"call_id\":\"i\",\"name\":\"f\"}"),
                  "input[0].input", "string"));
    CHECK(refused(ITEMS("{\"type\":\"local_shell_call_output\",\"output\":\"x\"}"), "input[0].id",
                  "string"));
    CHECK(refused(ASK(",\"tools\":5"), "tools", "list"));
    CHECK(refused(ASK(",\"tools\":[{\"name\":\"f\"}]"), "tools[0].type", "type"));
    CHECK(refused(ASK(",\"tools\":[{\"type\":\"custom\"}]"), "tools[0].name", "string"));
    CHECK(refused(ASK(",\"tools\":[{\"type\":\"namespace\"}]"), "tools[0].name", "string"));
    CHECK(refused(ASK(",\"tools\":[{\"type\":\"namespace\",\"name\":\"n\",\"tools\":[{\"type\":"
                      "\"function\",\"name\":\"f\",\"parameters\":5}]}]"),
                  "tools[0].tools[0].parameters", "object"));
    CHECK(refused(ASK(",\"tools\":[{\"type\":\"function\"}]"), "tools[0].name", "string"));
    CHECK(refused(ASK(",\"tools\":[{\"type\":\"function\",\"name\":\"f\",\"parameters\":5}]"),
                  "tools[0].parameters", "object"));
    CHECK(refused(ASK(",\"tool_choice\":\"some\""), "tool_choice", "required"));
    CHECK(refused(ASK(",\"tool_choice\":{\"type\":\"web_search\"}"), "tool_choice", "function"));
    CHECK(refused(ASK(",\"tool_choice\":{\"type\":\"function\"}"), "tool_choice.name", "string"));
    CHECK(refused(ASK(",\"text\":5"), "text", "object"));
    CHECK(refused(ASK(",\"text\":{\"format\":{}}"), "text.format.type", "type"));
    CHECK(refused(ASK(",\"text\":{\"format\":{\"type\":\"xml\"}}"), "text.format.type", "'xml'"));
    CHECK(refused(ASK(",\"text\":{\"format\":{\"type\":\"json_schema\",\"name\":\"n\"}}"),
                  "text.format.schema", "object"));
    CHECK(refused(ASK(",\"include\":5"), "include", "list"));
    CHECK(refused(ASK(",\"max_output_tokens\":0"), "max_output_tokens", "from 1"));
    CHECK(refused(ASK(",\"max_output_tokens\":1.5"), "max_output_tokens", "integer"));
    CHECK(refused(ASK(",\"prompt\":{\"id\":\"x\"}"), "prompt", "kept"));
    CHECK(refused(ASK(",\"instructions\":\"\xc3\x28\""), "", "JSON"));
}

static void test_what_the_chat_refuses_is_named_as_the_client_knows_it(void)
{
    static const struct {
        const char *text, *param;
    } cases[] = {{ASK(",\"temperature\":\"hot\""), "temperature"},
                 {ASK(",\"user\":\"\""), "user"},
                 {ASK(",\"top_logprobs\":99"), "top_logprobs"},
                 {ASK(",\"tandem\":{\"mode\":5}"), "tandem.mode"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct arena *arena = arena_new(1 << 20);
        struct chat_request request;
        struct fault fault = {0};
        CHECK(!dialect_read(&dialect_responses, str_from(cases[i].text), NULL, NULL, arena,
                            &request, &fault));
        CHECK(fault.code == 400 && strcmp(fault.param, cases[i].param) == 0);
        arena_free(arena);
    }
}

static void test_many_items_are_bounded(void)
{
    struct buf text;
    buf_init(&text, 1 << 20);
    buf_append_str(&text, STR("{\"input\":["));
    for (int i = 0; i < 5000; i++)
        buf_append_str(&text, i ? STR(",{\"role\":\"user\",\"content\":\"x\"}")
                                : STR("{\"role\":\"user\",\"content\":\"x\"}"));
    buf_append_str(&text, STR("]}"));
    CHECK(refused(text.data, "input", "at most"));
    buf_deinit(&text);
}

/* --- answers --- */

static struct exchange_summary summary = {
    .id = "ex_0123",
    .tier = "cloud",
    .model = "m",
    .place = TD_PLACE_CLOUD,
    .confidence = NAN,
    .finish = TD_FINISH_STOP,
    .usage = {.prompt_tokens = 10, .completion_tokens = 4, .cached_tokens = 3},
};

struct world {
    struct chat_request request;
    struct dialect_reply reply;
    struct buf out;
    struct fault fault;
};

static void world_init(struct world *world, size_t answer_bytes_max)
{
    *world = (struct world){0};
    summary.finish = TD_FINISH_STOP;
    world->reply.request = &world->request;
    world->reply.state = calloc(1, dialect_responses.state_bytes);
    REQUIRE(json_parse(STR("{\"instructions\":\"s\",\"tools\":[1]}"), &world->request.asked,
                       NULL) == TD_OK);
    response_writer_init(&world->reply.writer, summary.id, 1, &world->request.td);
    response_answer_init(&world->reply.answer, answer_bytes_max);
    buf_init(&world->out, 65536);
}

static void world_deinit(struct world *world)
{
    dialect_responses.deinit(world->reply.state);
    free(world->reply.state);
    openai_request_deinit(&world->request);
    response_answer_deinit(&world->reply.answer);
    buf_deinit(&world->out);
}

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
        said = dialect_responses.write_piece(&world->reply, &summary, &piece, &world->out,
                                             &world->fault);
    else
        response_answer_add(&world->reply.writer, &world->reply.answer, &piece);
    json_free(choice);
    return said;
}

/* The events that were written since: their types, in order; the last one is kept. */
static struct json *last_event;
static int64_t sequence;

static bool events_are(struct world *world, const char *wanted)
{
    struct buf types;
    buf_init(&types, 4096);
    for (const char *at = world->out.data; at && (at = strstr(at, "data: "));) {
        const char *end = strchr(at += 6, '\n');
        json_free(last_event);
        last_event = NULL;
        CHECK(json_parse((struct td_str){at, (size_t)(end - at)}, &last_event, NULL) == TD_OK);
        CHECK(json_int(json_get(last_event, "sequence_number"), -1) == sequence++);
        buf_append_str(&types, json_text(json_get(last_event, "type")));
        buf_append_char(&types, ' ');
    }
    bool same = str_equal(buf_view(&types), str_from(wanted));
    if (!same)
        fprintf(stderr, "got  %s\nwant %s\n", types.data ? types.data : "", wanted);
    buf_deinit(&types);
    buf_clear(&world->out);
    return same;
}

/* A member of the last event, found by a path of names and numbers, as JSON. */
static bool member_is(const char *path, const char *wanted)
{
    const struct json *value = last_event;
    struct td_str rest = str_from(path), name;
    while (str_next(&rest, '/', &name)) {
        char key[64];
        snprintf(key, sizeof key, STR_FMT, STR_ARG(name));
        value = json_kind_of(value) == JSON_KIND_ARRAY ? json_at(value, (size_t)atoi(key))
                                                       : json_get(value, key);
    }
    struct buf got;
    buf_init(&got, 65536);
    if (value)
        json_write(value, &got);
    bool same = str_equal(buf_view(&got), str_from(wanted));
    if (!same)
        fprintf(stderr, "%s: got %s want %s\n", path, got.data ? got.data : "-", wanted);
    buf_deinit(&got);
    return same;
}

#define CALL(index, id, name, arguments)                                                     \
    "{\"tool_calls\":[{\"index\":" index ",\"id\":\"" id "\",\"function\":{\"name\":\"" name \
    "\",\"arguments\":\"" arguments "\"}}]}"

static void test_a_whole_response_has_items_and_what_was_asked(void)
{
    struct world world;
    world_init(&world, 4096);
    give(&world, "Hel", NULL, false);
    give(&world, "lo", CALL("0", "i", "f", "{}"), false);
    summary.finish = TD_FINISH_LENGTH;
    CHECK(dialect_responses.write_answer(&world.reply, &summary, &world.out, &world.fault));
    CHECK(json_parse(buf_view(&world.out), &last_event, NULL) == TD_OK);
    CHECK(member_is("id", "\"resp_0123\"") && member_is("object", "\"response\""));
    CHECK(member_is("status", "\"incomplete\"") && member_is("error", "null"));
    CHECK(member_is("incomplete_details", "{\"reason\":\"max_output_tokens\"}"));
    CHECK(member_is("instructions", "\"s\"") && member_is("tools", "[1]"));
    CHECK(member_is("tool_choice", "\"auto\"") && member_is("store", "false"));
    CHECK(member_is("output", "[{\"id\":\"msg_0123_0\",\"type\":\"message\",\"status\":"
                              "\"completed\",\"role\":\"assistant\",\"content\":[{\"type\":"
                              "\"output_text\",\"annotations\":[],\"logprobs\":[],\"text\":"
                              "\"Hello\"}]},{\"id\":\"fc_0123_1\",\"type\":\"function_call\","
                              "\"status\":\"incomplete\",\"call_id\":\"i\",\"name\":\"f\","
                              "\"arguments\":\"{}\"}]"));
    CHECK(member_is("usage", "{\"input_tokens\":10,\"input_tokens_details\":{\"cached_tokens\":3},"
                             "\"output_tokens\":4,\"output_tokens_details\":{\"reasoning_tokens\":"
                             "0},\"total_tokens\":14}"));
    CHECK(member_is("tandem/tier", "\"cloud\""));
    json_free(last_event);
    last_event = NULL;
    world_deinit(&world);
}

static void test_a_stream_adds_and_ends_one_item_after_another(void)
{
    struct world world;
    sequence = 0;
    world_init(&world, 4096);
    dialect_responses.write_start(&world.reply, &summary, &world.out);
    CHECK(events_are(&world, "response.created response.in_progress "));
    CHECK(member_is("response/status", "\"in_progress\"") && member_is("response/usage", "null"));
    CHECK(give(&world, "", "{\"role\":\"assistant\"}", true) && world.out.len == 0);
    CHECK(give(&world, "a\"", NULL, true) && give(&world, "b", NULL, true));
    CHECK(events_are(&world, "response.output_item.added response.content_part.added "
                             "response.output_text.delta response.output_text.delta "));
    CHECK(member_is("delta", "\"b\"") && member_is("item_id", "\"msg_0123_0\""));
    CHECK(give(&world, "", CALL("0", "", "f", "{"), true));
    CHECK(events_are(&world, "response.output_text.done response.content_part.done "
                             "response.output_item.done response.output_item.added "
                             "response.function_call_arguments.delta "));
    CHECK(member_is("output_index", "1") && member_is("item_id", "\"fc_0123_1\""));
    CHECK(give(&world, "", CALL("0", "", "", "}"), true));
    CHECK(give(&world, "", "{\"refusal\":\"no\"}", true));
    CHECK(events_are(&world, "response.function_call_arguments.delta "
                             "response.function_call_arguments.done response.output_item.done "
                             "response.output_item.added response.content_part.added "
                             "response.refusal.delta "));
    summary.finish = TD_FINISH_CONTENT_FILTER;
    CHECK(dialect_responses.write_finish(&world.reply, &summary, &world.out, &world.fault));
    CHECK(events_are(&world, "response.refusal.done response.content_part.done "
                             "response.output_item.done response.incomplete "));
    CHECK(member_is("response/incomplete_details/reason", "\"content_filter\""));
    CHECK(member_is("response/output/0/content/0/text", "\"a\\\"b\""));
    CHECK(member_is("response/output/1", "{\"id\":\"fc_0123_1\",\"type\":\"function_call\","
                                         "\"status\":\"completed\",\"call_id\":\"call_0123_1\","
                                         "\"name\":\"f\",\"arguments\":\"{}\"}"));
    CHECK(member_is("response/output/2/status", "\"incomplete\""));
    CHECK(member_is("response/output/2/content", "[{\"type\":\"refusal\",\"refusal\":\"no\"}]"));
    json_free(last_event);
    last_event = NULL;
    world_deinit(&world);
}

static void test_a_failure_says_so_with_what_was_done_before(void)
{
    struct world world;
    sequence = 0;
    world_init(&world, 4096);
    dialect_responses.write_start(&world.reply, &summary, &world.out);
    CHECK(give(&world, "a", CALL("0", "i", "f", "{"), true));
    CHECK(give(&world, "", CALL("1", "j", "g", "{"), true));
    CHECK(!give(&world, "", CALL("0", "i", "f", "}"), true) && world.fault.code == 502);
    dialect_responses.form->write_fault(&world.reply, &world.fault, &world.out);
    CHECK(events_are(&world, "response.created response.in_progress response.output_item.added "
                             "response.content_part.added response.output_text.delta "
                             "response.output_text.done response.content_part.done "
                             "response.output_item.done response.output_item.added "
                             "response.function_call_arguments.delta "
                             "response.function_call_arguments.done response.output_item.done "
                             "response.output_item.added response.function_call_arguments.delta "
                             "response.failed "));
    CHECK(member_is("response/status", "\"failed\""));
    CHECK(member_is("response/error/code", "\"server_error\""));
    CHECK(member_is("response/output/0/content/0/text", "\"a\""));
    json_free(last_event);
    last_event = NULL;
    world_deinit(&world);
}

static void test_a_stream_has_the_limit_of_a_whole_answer(void)
{
    struct world world;
    world_init(&world, 8);
    dialect_responses.write_start(&world.reply, &summary, &world.out);
    CHECK(give(&world, "1234", NULL, true));
    CHECK(!give(&world, "56789", NULL, true));
    CHECK(world.fault.code == 502 && strstr(world.fault.message, "answer_bytes_max"));
    world_deinit(&world);
}

static void test_what_overflows_in_the_middle_of_a_piece_is_not_forgotten(void)
{
    struct world world;
    char text[512];
    memset(text, 'x', sizeof text - 1);
    text[sizeof text - 1] = '\0';
    world_init(&world, sizeof text - 2); /* an item fits twice into `output`, its text does not */
    dialect_responses.write_start(&world.reply, &summary, &world.out);
    CHECK(!give(&world, text, CALL("0", "i", "f", "{}"), true));
    CHECK(world.fault.code == 502 && strstr(world.fault.message, "answer_bytes_max"));
    world_deinit(&world);
}

/* What was asked stands in each of a stream's first events: no more of it than a client may have
 * left unread. */
static void test_a_stream_s_first_events_are_small_whatever_was_asked(void)
{
    struct world world;
    struct buf large, want;
    buf_init(&large, 1 << 20);
    buf_init(&want, 1 << 20);
    for (int i = 0; i < 300 << 10; i++)
        buf_append_char(&large, 'i');
    json_write_text(buf_view(&large), &want);
    world_init(&world, 4096);
    world.out.bytes_max = 4 << 20;
    json_put(world.request.asked, "instructions", json_new_text(buf_view(&large)));
    sequence = 0;
    dialect_responses.write_start(&world.reply, &summary, &world.out);
    CHECK(world.out.len < 4096);
    CHECK(events_are(&world, "response.created response.in_progress "));
    CHECK(member_is("response/instructions", "null") && member_is("response/tools", "[1]"));
    CHECK(give(&world, "a", NULL, true));
    CHECK(dialect_responses.write_finish(&world.reply, &summary, &world.out, &world.fault));
    CHECK(strstr(world.out.data, want.data)); /* the last event is whole */
    json_free(last_event);
    last_event = NULL;
    buf_deinit(&large);
    buf_deinit(&want);
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
    static const char *const always[] = {
        "\"type\":\"reasoning\",\"status\":\"completed\",\"content\":[{\"type\":\"reasoning_text\","
        "\"text\":\"I \\\"think.\"}],\"summary\":[]",
        "\"annotations\":[{\"type\":\"url_citation\",\"url\":\"u\"}]",
        "\"name\":\"c\",\"arguments\":\"{\\\"input\\\":\\\"a\\\\\\\"b\\\"}\"",
        "\"name\":\"f\",\"arguments\":\"{}\",\"extra_content\":{\"s\":1}}",
        "\"chat\":{\"message\":{\"reasoning_details\":[{\"index\":0,\"text\":\"d\"}]}}"};
    static const char *const streamed[] = {"response.reasoning_text.delta",
                                           "response.output_text.annotation.added"};
    struct world world;
    world_init(&world, 4096);
    give_more(&world, false);
    CHECK(dialect_responses.write_answer(&world.reply, &summary, &world.out, &world.fault));
    CHECK(says(&world, always, sizeof always / sizeof *always));
    world_deinit(&world);

    world_init(&world, 4096);
    dialect_responses.write_start(&world.reply, &summary, &world.out);
    give_more(&world, true);
    CHECK(dialect_responses.write_finish(&world.reply, &summary, &world.out, &world.fault));
    CHECK(says(&world, always, sizeof always / sizeof *always));
    CHECK(says(&world, streamed, sizeof streamed / sizeof *streamed));
    world_deinit(&world);
}

int main(void)
{
    RUN(test_a_request_becomes_the_chat_that_asks_the_same);
    RUN(test_items_and_tools_become_the_chats);
    RUN(test_tools_that_are_no_functions_become_functions);
    RUN(test_calls_of_such_tools_are_calls_of_those_functions);
    RUN(test_what_cannot_be_done_is_refused_where_it_stands);
    RUN(test_what_the_chat_refuses_is_named_as_the_client_knows_it);
    RUN(test_many_items_are_bounded);
    RUN(test_a_whole_response_has_items_and_what_was_asked);
    RUN(test_a_stream_adds_and_ends_one_item_after_another);
    RUN(test_a_failure_says_so_with_what_was_done_before);
    RUN(test_a_stream_has_the_limit_of_a_whole_answer);
    RUN(test_what_overflows_in_the_middle_of_a_piece_is_not_forgotten);
    RUN(test_a_stream_s_first_events_are_small_whatever_was_asked);
    RUN(test_members_of_an_answer_have_forms_or_stand_under_their_names);
    return test_finish();
}
