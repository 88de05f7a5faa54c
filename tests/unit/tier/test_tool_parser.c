/* Tool calls in answers: the forms of the model families, at once and letter by letter, and text
 * that only looks like a call. */
#include "base/core/str.h"
#include "test.h"
#include "tier/tool_parser.h"

static const char tools_text[] =
    "[{\"type\":\"function\",\"function\":{\"name\":\"get_weather\",\"parameters\":{}}},"
    "{\"type\":\"function\",\"function\":{\"name\":\"stop\"}}]";

struct parsed {
    struct buf text;
    struct json *calls; /* of all feeds, in order: [number, id, name, arguments] */
};

static void take_calls(struct parsed *parsed, const struct tool_parser *parser)
{
    for (size_t i = 0; i < parser->ready_count; i++) {
        const struct tool_call *call = &parser->ready[i];
        struct json *item = json_new_array();
        json_push(item, json_new_int(call->number));
        json_push(item, json_new_cstr(call->id));
        json_push(item, json_new_text(buf_view(&call->function)));
        json_push(item, json_new_text(buf_view(&call->arguments)));
        json_push(parsed->calls, item);
    }
}

/* Feeds `first` bytes and then `step` bytes at a time; 0: all at once. */
static struct parsed parse(enum tool_format format, struct td_str answer, size_t first, size_t step)
{
    struct parsed parsed = {.calls = json_new_array()};
    struct tool_parser parser;
    struct json *tools = NULL;
    buf_init(&parsed.text, 1 << 22);
    CHECK(json_parse(str_from(tools_text), &tools, NULL) == TD_OK);
    tool_parser_init(&parser, format, tools);
    json_free(tools);
    step = step ? step : answer.len;
    for (size_t at = 0, end = first ? first : step; at < answer.len; at = end, end += step) {
        tool_parser_feed(&parser, str_slice(answer, at, end), &parsed.text);
        take_calls(&parsed, &parser);
    }
    tool_parser_end(&parser, &parsed.text);
    take_calls(&parsed, &parser);
    CHECK(parser.call_count == json_count(parsed.calls));
    tool_parser_deinit(&parser);
    return parsed;
}

static void check_parsed(struct parsed *parsed, const char *answer, const char *text,
                         const char *calls)
{
    struct td_str rest = str_from(calls), line, before = STR("");
    size_t count = 0;
    if (!str_equal(buf_view(&parsed->text), str_from(text)))
        fprintf(stderr, "%s: text '" STR_FMT "'\n", answer, STR_ARG(buf_view(&parsed->text)));
    CHECK(str_equal(buf_view(&parsed->text), str_from(text)));
    while (str_next(&rest, '\n', &line)) {
        const struct json *call = json_at(parsed->calls, count);
        size_t space = str_find(line, STR(" "), 0);
        struct td_str id = json_text(json_at(call, 1));
        CHECK(json_int(json_at(call, 0), -1) == (int64_t)count++);
        CHECK(str_starts_with(id, STR("call_")) && id.len == 29 && !str_equal(id, before));
        CHECK(str_equal(json_text(json_at(call, 2)), str_slice(line, 0, space)));
        CHECK(str_equal(json_text(json_at(call, 3)), str_slice(line, space + 1, line.len)));
        before = id;
    }
    CHECK(json_count(parsed->calls) == count);
    json_free(parsed->calls);
    buf_deinit(&parsed->text);
}

/* The result is the same however the answer comes: at once, in small pieces, or in two pieces that
 * are cut at any place. calls: "name arguments" per line. */
static void check(enum tool_format format, const char *answer, const char *text, const char *calls)
{
    struct td_str whole = str_from(answer);
    for (size_t step = 1; step < 4; step++) {
        struct parsed parsed = parse(format, whole, 0, step);
        check_parsed(&parsed, answer, text, calls);
    }
    for (size_t first = 0; first < whole.len; first++) {
        struct parsed parsed = parse(format, whole, first, 0);
        check_parsed(&parsed, answer, text, calls);
    }
}

/* 170,000 numbers of six bytes that become eighteen: three megabytes from less than one. */
static void test_arguments_that_grow_when_written_anew_are_whole(void)
{
    enum { NUMBERS = 170000 };
    struct buf answer;
    buf_init(&answer, 1 << 21);
    buf_append_str(&answer, STR("<tool_call>{\"name\":\"stop\",\"arguments\":{\"a\":[1e14"));
    for (int i = 1; i < NUMBERS; i++)
        buf_append_str(&answer, STR(",1e14"));
    buf_append_str(&answer, STR("]}}</tool_call>"));
    struct parsed parsed = parse(TOOL_FORMAT_HERMES, buf_view(&answer), 0, 0);
    struct td_str text = json_text(json_at(json_at(parsed.calls, 0), 3));
    struct json *arguments = NULL;
    CHECK(text.len > 1 << 20);
    CHECK(json_parse(text, &arguments, NULL) == TD_OK);
    CHECK(json_count(json_get(arguments, "a")) == NUMBERS);
    json_free(arguments);
    json_free(parsed.calls);
    buf_deinit(&parsed.text);
    buf_deinit(&answer);
}

static void test_hermes_calls_stand_between_marks(void)
{
    check(TOOL_FORMAT_HERMES,
          "<tool_call>\n{\"name\": \"get_weather\", \"arguments\": {\"city\": "
          "\"Rome\"}}\n</tool_call>",
          "", "get_weather {\"city\":\"Rome\"}");
    check(TOOL_FORMAT_HERMES,
          "I look.\n<tool_call>{\"name\":\"stop\",\"arguments\":{}}</tool_call>\n"
          "<tool_call>{\"name\":\"get_weather\",\"arguments\":{\"a\":[1,\"</x>\"]}}</tool_call>\n",
          "I look.\n", "stop {}\nget_weather {\"a\":[1,\"</x>\"]}");
    check(TOOL_FORMAT_HERMES,
          "<tool_call>{\"name\":\"stop\",\"arguments\":{\"a\":\"\\\"</tool_call>\"}}</tool_call>x",
          "x", "stop {\"a\":\"\\\"</tool_call>\"}"); /* a mark inside of an argument */
    check(TOOL_FORMAT_HERMES,
          "<tool_call>{\"name\":\"stop\",\"arguments\":{\"a\":1,\"a\":2}}</tool_call>", "",
          "stop {\"a\":2}"); /* a name that comes twice */
    check(TOOL_FORMAT_HERMES, "<tool_call>{\"name\":\"stop\"}", "",
          "stop {}"); /* the end of the answer ends the call */
}

static void test_llama_calls_are_the_whole_answer(void)
{
    check(TOOL_FORMAT_LLAMA, "{\"name\": \"get_weather\", \"parameters\": {\"city\": \"Rome\"}}",
          "", "get_weather {\"city\":\"Rome\"}");
    check(TOOL_FORMAT_LLAMA, " \n{\"name\":\"stop\",\"parameters\":{}}\n", "", "stop {}");
    check(TOOL_FORMAT_LLAMA, "<|python_tag|>{\"name\":\"stop\",\"parameters\":{}}", "", "stop {}");
    check(TOOL_FORMAT_LLAMA, "Say {\"name\":\"stop\",\"parameters\":{}}",
          "Say {\"name\":\"stop\",\"parameters\":{}}", "");
}

static void test_mistral_calls_are_a_list_to_the_end(void)
{
    check(TOOL_FORMAT_MISTRAL,
          "[TOOL_CALLS] [{\"name\":\"stop\",\"arguments\":{}},{\"name\":\"get_weather\","
          "\"arguments\":{\"city\":\"Rome\"}}]",
          "", "stop {}\nget_weather {\"city\":\"Rome\"}");
}

static void test_what_only_looks_like_a_call_is_text(void)
{
    static const char *const answers[] = {
        "a < b and <tool_cal is no mark",
        "<tool_call>not json</tool_call> after",
        "<tool_call>{\"name\":\"unknown\",\"arguments\":{}}</tool_call>",
        "<tool_call>{\"name\":\"stop\",\"arguments\":7}</tool_call>",
        "<tool_call>{\"name\":\"stop\",\"arguments\":{}} and no end",
        "<tool_call>[]</tool_call>",
        "ends in half a mark <tool",
        "",
        "  \n",
    };
    for (size_t i = 0; i < sizeof answers / sizeof *answers; i++)
        check(TOOL_FORMAT_HERMES, answers[i], answers[i], "");
    check(TOOL_FORMAT_LLAMA, "{\"name\":\"unknown\",\"parameters\":{}}",
          "{\"name\":\"unknown\",\"parameters\":{}}", "");
    check(TOOL_FORMAT_LLAMA, "{\"answer\": 42}", "{\"answer\": 42}", "");
    check(TOOL_FORMAT_MISTRAL, "[TOOL_CALLS][{\"name\":\"stop\",\"arguments\":{}},3]",
          "[TOOL_CALLS][{\"name\":\"stop\",\"arguments\":{}},3]", "");
}

/* A client matches results to calls by number and id, so refused ones must leave no gap. */
static void test_what_was_refused_does_not_disturb_the_calls_around_it(void)
{
    static const char *const refused[] = {
        "<tool_call></tool_call>",
        "<tool_call>[{\"name\":\"stop\"},3]</tool_call>",
        "<tool_call>[{\"name\":\"stop\"},{\"name\":\"stop\"},{\"name\":\"no\"}]</tool_call>",
        "<tool_call>{\"name\":\"stop\",\"arguments\":[]}</tool_call>",
    };
    for (size_t i = 0; i < sizeof refused / sizeof *refused; i++) {
        char answer[512];
        snprintf(answer, sizeof answer,
                 "<tool_call>{\"name\":\"stop\"}</tool_call>%s<tool_call>{\"name\":\"get_weather\"}"
                 "</tool_call>",
                 refused[i]);
        check(TOOL_FORMAT_HERMES, answer, refused[i], "stop {}\nget_weather {}");
    }
}

static void test_many_calls_at_once_are_all_given_out(void)
{
    struct buf answer, calls;
    buf_init(&answer, 1 << 16);
    buf_init(&calls, 1 << 16);
    buf_append_str(&answer, STR("[TOOL_CALLS][{\"name\":\"stop\",\"arguments\":{\"n\":0}}"));
    buf_append_str(&calls, STR("stop {\"n\":0}"));
    for (int i = 1; i < 50; i++) {
        buf_printf(&answer, ",{\"name\":\"stop\",\"arguments\":{\"n\":%d}}", i);
        buf_printf(&calls, "\nstop {\"n\":%d}", i);
    }
    buf_append_str(&answer, STR("]"));
    struct parsed parsed = parse(TOOL_FORMAT_MISTRAL, buf_view(&answer), 0, 0);
    check_parsed(&parsed, answer.data, "", calls.data);
    buf_deinit(&answer);
    buf_deinit(&calls);
}

/* A model's own tokens for marks are control tokens, which are hidden: these alone are not. */
static void test_the_marks_of_a_format_are_known(void)
{
    static const struct {
        enum tool_format format;
        const char *token;
        bool is_mark;
    } rows[] = {
        {TOOL_FORMAT_HERMES, "<tool_call>", true},
        {TOOL_FORMAT_HERMES, "</tool_call>", true},
        {TOOL_FORMAT_HERMES, "<|im_end|>", false},
        {TOOL_FORMAT_HERMES, "[TOOL_CALLS]", false},
        {TOOL_FORMAT_HERMES, "", false},
        {TOOL_FORMAT_MISTRAL, "[TOOL_CALLS]", true},
        {TOOL_FORMAT_MISTRAL, "</s>", false},
        {TOOL_FORMAT_MISTRAL, "", false}, /* although it has no closing mark */
        {TOOL_FORMAT_LLAMA, "<|python_tag|>", true},
        {TOOL_FORMAT_LLAMA, "<|eot_id|>", false},
        {TOOL_FORMAT_LLAMA, "", false},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct tool_parser parser;
        tool_parser_init(&parser, rows[i].format, NULL);
        CHECK(tool_parser_is_mark(&parser, str_from(rows[i].token)) == rows[i].is_mark);
        tool_parser_deinit(&parser);
    }
}

static void test_text_is_given_out_as_soon_as_it_is_certain(void)
{
    struct tool_parser parser;
    struct buf plain;
    buf_init(&plain, 1 << 16);
    tool_parser_init(&parser, TOOL_FORMAT_HERMES, NULL);
    tool_parser_feed(&parser, STR("Hello <"), &plain);
    CHECK(str_equal(buf_view(&plain), STR("Hello ")));
    tool_parser_feed(&parser, STR("b>"), &plain);
    CHECK(str_equal(buf_view(&plain), STR("Hello <b>")));
    tool_parser_deinit(&parser);
    buf_deinit(&plain);
}

static void test_a_call_without_end_does_not_grow_without_end(void)
{
    struct tool_parser parser;
    struct buf plain;
    char piece[4096];
    size_t sent = 0;
    memset(piece, 'x', sizeof piece);
    buf_init(&plain, 8 << 20);
    tool_parser_init(&parser, TOOL_FORMAT_HERMES, NULL);
    tool_parser_feed(&parser, STR("<tool_call>"), &plain);
    for (int i = 0; i < 600; i++, sent += sizeof piece)
        tool_parser_feed(&parser, (struct td_str){piece, sizeof piece}, &plain);
    tool_parser_end(&parser, &plain);
    CHECK(parser.ready_count == 0 && plain.len == sent + strlen("<tool_call>"));
    CHECK(str_starts_with(buf_view(&plain), STR("<tool_call>xxx")));
    tool_parser_deinit(&parser);
    buf_deinit(&plain);
}

/* What is too long for a call comes out as it was written, with its mark if it had one, and what
 * follows is read as the format says. */
static void test_what_is_too_long_for_a_call_is_whole(void)
{
    static const char call[] = "{\"name\":\"stop\",\"arguments\":{}}";
    static const struct {
        enum tool_format format;
        const char *begin, *then;
        bool then_calls;
    } rows[] = {
        {TOOL_FORMAT_HERMES, "", "<tool_call>", true},
        {TOOL_FORMAT_HERMES, "<tool_call>", "<tool_call>", true},
        {TOOL_FORMAT_MISTRAL, "", "[TOOL_CALLS]", true},
        {TOOL_FORMAT_MISTRAL, "[TOOL_CALLS]", "[TOOL_CALLS]", true},
        {TOOL_FORMAT_LLAMA, "", "", false}, /* a call is the whole answer, or has the tag */
        {TOOL_FORMAT_LLAMA, "{", "", false},
        {TOOL_FORMAT_LLAMA, "{", "<|python_tag|>", true},
    };
    enum { LONG = 2 << 20 };
    char *filler = malloc(LONG);
    REQUIRE(filler != NULL);
    memset(filler, 'x', LONG);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct tool_parser parser;
        struct json *tools = NULL;
        struct buf plain, expected;
        buf_init(&plain, 8 << 20);
        buf_init(&expected, 8 << 20);
        CHECK(json_parse(str_from(tools_text), &tools, NULL) == TD_OK);
        tool_parser_init(&parser, rows[i].format, tools);
        json_free(tools);
        if (rows[i].begin[0])
            tool_parser_feed(&parser, str_from(rows[i].begin), &plain);
        tool_parser_feed(&parser, (struct td_str){filler, LONG}, &plain);
        tool_parser_feed(&parser, str_from(rows[i].then), &plain);
        tool_parser_feed(&parser, str_from(call), &plain);
        tool_parser_end(&parser, &plain);
        CHECK(parser.call_count == rows[i].then_calls);
        buf_append_str(&expected, str_from(rows[i].begin));
        buf_append(&expected, filler, LONG);
        if (!rows[i].then_calls)
            buf_append_str(&expected, str_from(call));
        CHECK(str_equal(buf_view(&plain), buf_view(&expected)));
        tool_parser_deinit(&parser);
        buf_deinit(&plain);
        buf_deinit(&expected);
    }
    free(filler);
}

int main(void)
{
    RUN(test_hermes_calls_stand_between_marks);
    RUN(test_arguments_that_grow_when_written_anew_are_whole);
    RUN(test_llama_calls_are_the_whole_answer);
    RUN(test_mistral_calls_are_a_list_to_the_end);
    RUN(test_what_only_looks_like_a_call_is_text);
    RUN(test_text_is_given_out_as_soon_as_it_is_certain);
    RUN(test_what_was_refused_does_not_disturb_the_calls_around_it);
    RUN(test_many_calls_at_once_are_all_given_out);
    RUN(test_the_marks_of_a_format_are_known);
    RUN(test_what_is_too_long_for_a_call_is_whole);
    RUN(test_a_call_without_end_does_not_grow_without_end);
    return test_finish();
}
