/* The parts of a delta: how each is read, and that what is written again is what came, but for the
 * texts that were replaced. */
#include "tier/openai/openai_delta.h"

#include "base/core/str.h"
#include "test.h"

/* The delta's text as a choice. **returns new** (json_free). */
static struct json *choice_of(const char *delta)
{
    struct json *choice = NULL;
    char text[1024];
    snprintf(text, sizeof text, "{\"index\":0,\"logprobs\":{\"x\":1},\"delta\":%s}", delta);
    if (json_parse(str_from(text), &choice, NULL) != TD_OK)
        abort();
    return choice;
}

static bool writes_as(const struct json *value, const char *wanted)
{
    struct buf out;
    buf_init(&out, 4096);
    json_write(value, &out);
    buf_append_char(&out, '\0');
    bool same = strcmp(out.data, wanted) == 0;
    if (!same)
        fprintf(stderr, "  wrote %s\n  not   %s\n", out.data, wanted);
    buf_deinit(&out);
    return same;
}

/* The parts in words: "text NAME=TEXT;", "call NUMBER FUNCTION ARGUMENTS;", "other NAME;". */
static void tell(const struct json *choice, char *out, size_t size)
{
    struct delta_reader reader;
    struct delta_part part;
    size_t len = 0;
    out[0] = '\0';
    openai_delta_read(&reader, choice);
    while (openai_delta_next(&reader, &part) && len < size) {
        if (part.kind == DELTA_CALL)
            len += (size_t)snprintf(out + len, size - len, "call %lld " STR_FMT " " STR_FMT ";",
                                    part.call == DELTA_OLD_CALL ? -1LL : (long long)part.call,
                                    STR_ARG(part.function), STR_ARG(part.arguments));
        else
            len += (size_t)snprintf(out + len, size - len, "%s %s=" STR_FMT ";",
                                    part.kind == DELTA_TEXT ? "text" : "other", part.name,
                                    STR_ARG(part.text));
    }
}

static void test_each_member_is_the_part_that_it_is(void)
{
    static const struct {
        const char *delta, *parts;
    } cases[] = {
        {"{}", ""},
        {"{\"role\":\"assistant\",\"content\":\"So\",\"refusal\":null}", ""},
        {"{\"refusal\":\"no\",\"reasoning\":\"hm\"}", "text refusal=no;text reasoning=hm;"},
        {"{\"annotations\":[1],\"audio\":{}}", "other annotations=;other audio=;"},
        {"{\"tool_calls\":[{\"index\":3,\"function\":{\"name\":\"f\",\"arguments\":\"{\"}}]}",
         "call 3 f {;"},
        {"{\"tool_calls\":[{\"function\":{\"name\":\"f\"}},{\"function\":{\"arguments\":\"1\"}}]}",
         "call 0 f ;call 1  1;"},
        {"{\"a\":\"x\",\"tool_calls\":[{},7],\"b\":\"y\"}", "text a=x;call 0  ;call 1  ;text b=y;"},
        {"{\"tool_calls\":[]}", "other tool_calls=;"},
        {"{\"tool_calls\":\"none\"}", "text tool_calls=none;"},
        {"{\"function_call\":{\"name\":\"f\",\"arguments\":\"{}\"}}", "call -1 f {};"},
        {"{\"function_call\":[1]}", "other function_call=;"},
        /* Numbers that no call has are the last number, and never the old form's. */
        {"{\"tool_calls\":[{\"index\":0}]}", "call 0  ;"},
        {"{\"tool_calls\":[{\"index\":4294967294}]}", "call 4294967294  ;"},
        {"{\"tool_calls\":[{\"index\":4294967295}]}", "call 4294967294  ;"},
        {"{\"tool_calls\":[{\"index\":4294967296}]}", "call 4294967294  ;"},
        {"{\"tool_calls\":[{\"index\":-1}]}", "call 4294967294  ;"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct json *choice = choice_of(cases[i].delta);
        char parts[512];
        tell(choice, parts, sizeof parts);
        if (strcmp(parts, cases[i].parts) != 0)
            fprintf(stderr, "  %s\n  is %s\n", cases[i].delta, parts);
        CHECK(strcmp(parts, cases[i].parts) == 0);
        json_free(choice);
    }
    char parts[8];
    tell(NULL, parts, sizeof parts);
    CHECK(parts[0] == '\0');
}

static void test_calls_are_the_answer_and_texts_stand_beside_it(void)
{
    struct json *choice = choice_of(
        "{\"content\":\"not counted\",\"reasoning\":\"12345\",\"refusal\":\"67\",\"tool_calls\":["
        "{\"function\":{\"name\":\"fun\",\"arguments\":\"{}\"}},{\"function\":{\"arguments\":\"1234"
        "\"}}]}");
    uint64_t answer = 100, beside = 200;
    openai_delta_measure(choice, &answer, &beside);
    CHECK(answer == 100 + 3 + 2 + 4 && beside == 200 + 7);
    openai_delta_measure(NULL, &answer, &beside);
    CHECK(answer == 109 && beside == 207);
    json_free(choice);
}

/* Reads all parts and writes them; with `text`, in place of each text, name and arguments. */
static struct json *copy(const struct json *choice, const char *text)
{
    struct delta_writer writer = {0};
    struct delta_reader reader;
    struct delta_part part;
    openai_delta_read(&reader, choice);
    while (openai_delta_next(&reader, &part)) {
        if (text)
            part.text = part.function = part.arguments = str_from(text);
        openai_delta_put(&writer, &part);
    }
    struct json *made = openai_delta_end(&writer, choice);
    CHECK(!writer.delta && !writer.list); /* ready for the next one */
    return made;
}

#define AROUND(delta) "{\"index\":0,\"logprobs\":{\"x\":1},\"delta\":" delta "}"

static void test_what_is_written_again_is_what_came(void)
{
    static const char *const deltas[] = {
        "{\"refusal\":\"no\",\"reasoning\":\"hm\",\"note\":[1,{\"a\":null}]}",
        "{\"tool_calls\":[{\"index\":1,\"id\":\"c\",\"own\":2,\"function\":{\"name\":\"f\","
        "\"arguments\":\"{\",\"more\":[]}},{\"index\":2,\"function\":{\"arguments\":\"\"}}]}",
        "{\"function_call\":{\"name\":\"f\",\"arguments\":\"{}\",\"own\":1}}",
        "{\"tool_calls\":[{\"index\":0,\"type\":\"custom\",\"custom\":{\"input\":\"x\"}}]}",
        "{}",
    };
    for (size_t i = 0; i < sizeof deltas / sizeof *deltas; i++) {
        struct json *choice = choice_of(deltas[i]), *made = copy(choice, NULL);
        char wanted[1024];
        snprintf(wanted, sizeof wanted, AROUND("%s"), deltas[i]);
        CHECK(writes_as(made, wanted));
        json_free(choice);
        json_free(made);
    }
}

/* An empty text replaces one that came, so that nothing of it is left; where none came it adds
 * none. */
static void test_a_text_that_came_is_replaced_also_by_an_empty_one(void)
{
    static const struct {
        const char *delta, *text, *wanted;
    } cases[] = {
        {"{\"reasoning\":\"secret\"}", "", AROUND("{\"reasoning\":\"\"}")},
        {"{\"reasoning\":\"secret\"}", "ok", AROUND("{\"reasoning\":\"ok\"}")},
        {"{\"tool_calls\":[{\"index\":0,\"function\":{\"name\":\"s\",\"arguments\":\"s\"}}]}", "",
         AROUND(
             "{\"tool_calls\":[{\"index\":0,\"function\":{\"name\":\"\",\"arguments\":\"\"}}]}")},
        {"{\"tool_calls\":[{\"index\":0,\"function\":{\"arguments\":\"s\"}}]}", "",
         AROUND("{\"tool_calls\":[{\"index\":0,\"function\":{\"arguments\":\"\"}}]}")},
        {"{\"tool_calls\":[{\"index\":0,\"function\":{\"arguments\":\"s\"}}]}", "t",
         AROUND(
             "{\"tool_calls\":[{\"index\":0,\"function\":{\"arguments\":\"t\",\"name\":\"t\"}}]}")},
        {"{\"function_call\":{\"arguments\":\"s\"}}", "",
         AROUND("{\"function_call\":{\"arguments\":\"\"}}")},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct json *choice = choice_of(cases[i].delta), *made = copy(choice, cases[i].text);
        CHECK(writes_as(made, cases[i].wanted));
        json_free(choice);
        json_free(made);
    }
}

static void test_parts_that_are_made_here_have_openais_form(void)
{
    struct delta_writer writer = {0};
    CHECK(openai_delta_end(&writer, NULL) == NULL); /* nothing in it */
    openai_delta_put(&writer, &(struct delta_part){.kind = DELTA_CALL,
                                                   .call = 0,
                                                   .id = STR("call_1"),
                                                   .function = STR("f"),
                                                   .arguments = STR("{}")});
    openai_delta_put(&writer,
                     &(struct delta_part){.kind = DELTA_CALL, .call = 1, .arguments = STR("1")});
    struct json *made = openai_delta_end(&writer, NULL);
    CHECK(writes_as(made, "{\"index\":0,\"delta\":{\"tool_calls\":[{\"index\":0,\"id\":\"call_1\","
                          "\"type\":\"function\",\"function\":{\"name\":\"f\",\"arguments\":\"{}\"}"
                          "},{\"index\":1,\"function\":{\"arguments\":\"1\"}}]}}"));
    json_free(made);
    openai_delta_put(
        &writer,
        &(struct delta_part){.kind = DELTA_CALL, .call = DELTA_OLD_CALL, .function = STR("f")});
    openai_delta_put(&writer,
                     &(struct delta_part){.kind = DELTA_TEXT, .name = "note", .text = STR("n")});
    made = openai_delta_end(&writer, NULL);
    CHECK(writes_as(made,
                    "{\"index\":0,\"delta\":{\"function_call\":{\"name\":\"f\"},\"note\":\"n\"}}"));
    json_free(made);
}

/* What is around a delta stays, also when all of its parts are left out. */
static void test_what_stands_around_a_delta_stays(void)
{
    struct delta_writer writer = {0};
    struct json *choice = choice_of("{\"reasoning\":\"hm\"}"), *bare = NULL;
    struct json *made = openai_delta_end(&writer, choice);
    CHECK(writes_as(made, AROUND("{}")));
    json_free(made);
    REQUIRE(json_parse(STR("{\"logprobs\":7}"), &bare, NULL) == TD_OK);
    made = openai_delta_end(&writer, bare);
    CHECK(writes_as(made, "{\"logprobs\":7}")); /* a completion's has none */
    json_free(made);
    json_free(bare);
    json_free(choice);
    made = openai_delta_logprobs(json_new_int(5));
    CHECK(writes_as(made, "{\"logprobs\":5}") && openai_delta_logprobs(NULL) == NULL);
    json_free(made);
}

int main(void)
{
    RUN(test_each_member_is_the_part_that_it_is);
    RUN(test_calls_are_the_answer_and_texts_stand_beside_it);
    RUN(test_what_is_written_again_is_what_came);
    RUN(test_a_text_that_came_is_replaced_also_by_an_empty_one);
    RUN(test_parts_that_are_made_here_have_openais_form);
    RUN(test_what_stands_around_a_delta_stays);
    return test_finish();
}
