/* A format of the answer in each spelling becomes one wish, and the body says it in OpenAI's. */
#include "api/wire/format_spellings.h"

#include "base/core/str.h"
#include "test.h"

#define SCHEMA "{\"type\":\"object\"}"
#define QUOTED "\"{\\\"type\\\":\\\"object\\\"}\""
#define STANDARD(schema)                                                                   \
    "{\"response_format\":{\"type\":\"json_schema\",\"json_schema\":{\"name\":\"answer\"," \
    "\"schema\":" schema "}}}"
#define ANY_OBJECT "{\"response_format\":{\"type\":\"json_object\"}}"

static struct json *parsed(const char *text)
{
    struct json *value = NULL;
    if (json_parse(str_from(text), &value, NULL) != TD_OK)
        fprintf(stderr, "no JSON: %s\n", text);
    return value;
}

static bool reads(const struct json *value, const char *wanted)
{
    struct buf got;
    buf_init(&got, 65536);
    json_write(value, &got);
    bool same = str_equal(buf_view(&got), str_from(wanted));
    if (!same)
        fprintf(stderr, "got  %.*s\nwant %s\n", (int)got.len, got.data, wanted);
    buf_deinit(&got);
    return same;
}

static void test_each_spelling_becomes_one_wish(void)
{
    static const struct {
        const char *body;
        enum format_wish_kind kind;
        const char *member, *value; /* value NULL: none */
        const char *after;          /* NULL: as before */
    } cases[] = {
        {"{}", WISH_NONE, NULL, NULL, NULL},
        {"{\"response_format\":null,\"grammar\":\"\",\"guided_json\":null}", WISH_NONE, NULL, NULL,
         NULL},
        {"{\"response_format\":{\"type\":\"text\"}}", WISH_NONE, NULL, NULL, NULL},
        {ANY_OBJECT, WISH_OBJECT, "response_format", NULL, NULL},
        {"{\"response_format\":{\"type\":\"json\"}}", WISH_OBJECT, "response_format", NULL,
         ANY_OBJECT},
        {"{\"structured_outputs\":{\"json_object\":true}}", WISH_OBJECT,
         "structured_outputs.json_object", NULL, ANY_OBJECT},
        {"{\"structured_outputs\":{\"json_object\":false}}", WISH_NONE, NULL, NULL, NULL},
        {STANDARD(SCHEMA), WISH_SCHEMA, "response_format.json_schema.schema", SCHEMA, NULL},
        {"{\"response_format\":{\"type\":\"json_schema\",\"schema\":" SCHEMA "}}", WISH_SCHEMA,
         "response_format.schema", SCHEMA, STANDARD(SCHEMA)},
        {"{\"response_format\":{\"type\":\"json_object\",\"schema\":" SCHEMA "}}", WISH_SCHEMA,
         "response_format.schema", SCHEMA, STANDARD(SCHEMA)},
        {"{\"response_format\":{\"type\":\"json\",\"value\":" SCHEMA "}}", WISH_SCHEMA,
         "response_format.value", SCHEMA, STANDARD(SCHEMA)},
        {"{\"json_schema\":" SCHEMA "}", WISH_SCHEMA, "json_schema", SCHEMA, STANDARD(SCHEMA)},
        {"{\"guided_json\":" SCHEMA "}", WISH_SCHEMA, "guided_json", SCHEMA, STANDARD(SCHEMA)},
        {"{\"guided_json\":" QUOTED "}", WISH_SCHEMA, "guided_json", SCHEMA, STANDARD(SCHEMA)},
        {"{\"structured_outputs\":{\"json\":" QUOTED "}}", WISH_SCHEMA, "structured_outputs.json",
         SCHEMA, STANDARD(SCHEMA)},
        {"{\"json_schema\":true}", WISH_SCHEMA, "json_schema", "true", STANDARD("true")},
        {"{\"guided_choice\":[\"a\"]}", WISH_CHOICE, "guided_choice", "[\"a\"]", NULL},
        {"{\"structured_outputs\":{\"choice\":[\"a\"]}}", WISH_CHOICE, "structured_outputs.choice",
         "[\"a\"]", NULL},
        {"{\"guided_regex\":\"a+\"}", WISH_REGEX, "guided_regex", "\"a+\"", NULL},
        {"{\"regex\":\"a+\"}", WISH_REGEX, "regex", "\"a+\"", NULL},
        {"{\"structured_outputs\":{\"regex\":\"a+\"}}", WISH_REGEX, "structured_outputs.regex",
         "\"a+\"", NULL},
        {"{\"response_format\":{\"type\":\"regex\",\"pattern\":\"a\"}}", WISH_REGEX,
         "response_format.pattern", "\"a\"", NULL},
        {"{\"response_format\":{\"type\":\"grammar\",\"grammar\":\"root ::= [a]\"}}", WISH_GRAMMAR,
         "response_format.grammar", "\"root ::= [a]\"", NULL},
        {"{\"grammar\":\"root ::= [a]\"}", WISH_GRAMMAR, "grammar", "\"root ::= [a]\"", NULL},
        {"{\"guided_grammar\":\"g\"}", WISH_GRAMMAR, "guided_grammar", "\"g\"", NULL},
        {"{\"structured_outputs\":{\"grammar\":\"g\"}}", WISH_GRAMMAR, "structured_outputs.grammar",
         "\"g\"", NULL},
        {"{\"ebnf\":\"g\"}", WISH_GRAMMAR, "ebnf", "\"g\"", NULL},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct fault fault = {0};
        struct format_wish wish;
        struct json *body = parsed(cases[i].body);
        bool read = format_spellings_unify(body, &wish, &fault);
        bool right = read && wish.kind == cases[i].kind &&
                     (!cases[i].member || strcmp(wish.member, cases[i].member) == 0) &&
                     (!cases[i].value || reads(wish.value, cases[i].value)) &&
                     reads(body, cases[i].after ? cases[i].after : cases[i].body);
        if (!right)
            fprintf(stderr, "  %s: %s\n", cases[i].body, fault.message);
        CHECK(right);
        json_free(body);
    }
}

static void test_what_cannot_be_a_wish_is_refused_by_its_name(void)
{
    static const struct {
        const char *body, *param;
    } cases[] = {
        {"{\"response_format\":7}", "response_format"},
        {"{\"response_format\":{}}", "response_format"},
        {"{\"response_format\":{\"type\":7}}", "response_format"},
        {"{\"response_format\":{\"type\":\"xml\"}}", "response_format.type"},
        {"{\"response_format\":{\"type\":\"json_schema\"}}", "response_format.json_schema"},
        {"{\"response_format\":{\"type\":\"json_schema\",\"json_schema\":[]}}",
         "response_format.json_schema"},
        {"{\"response_format\":{\"type\":\"json_schema\",\"json_schema\":{\"schema\":7}}}",
         "response_format.json_schema.schema"},
        {"{\"response_format\":{\"type\":\"grammar\"}}", "response_format.grammar"},
        {"{\"response_format\":{\"type\":\"grammar\",\"grammar\":7}}", "response_format.grammar"},
        {"{\"json_schema\":[]}", "json_schema"},
        {"{\"guided_json\":\"{\"}", "guided_json"},
        {"{\"guided_json\":\"7\"}", "guided_json"},
        {"{\"guided_choice\":[]}", "guided_choice"},
        {"{\"guided_choice\":{}}", "guided_choice"},
        {"{\"guided_regex\":7}", "guided_regex"},
        {"{\"grammar\":{}}", "grammar"},
        {"{\"structured_outputs\":[]}", "structured_outputs"},
        {"{\"structured_outputs\":{\"structural_tag\":{}}}", "structured_outputs.structural_tag"},
        {"{\"structured_outputs\":{\"json_object\":1}}", "structured_outputs.json_object"},
        {"{\"grammar\":\"a\",\"regex\":\"b\"}", "grammar"},
        {"{\"response_format\":{\"type\":\"json_object\"},\"guided_choice\":[\"a\"]}",
         "guided_choice"},
        {"{\"structured_outputs\":{\"json\":{},\"choice\":[\"a\"]}}", "structured_outputs.choice"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct fault fault = {0};
        struct format_wish wish;
        struct json *body = parsed(cases[i].body);
        bool refused = !format_spellings_unify(body, &wish, &fault) && fault.code == 400 &&
                       strcmp(fault.param, cases[i].param) == 0 && *fault.message;
        if (!refused)
            fprintf(stderr, "  %s: '%s' %s\n", cases[i].body, fault.param, fault.message);
        CHECK(refused);
        json_free(body);
    }
}

static void test_the_list_of_members_has_an_end_and_each_is_removed(void)
{
    struct fault fault = {0};
    struct format_wish wish;
    struct json *body = parsed("{\"guided_json\":{},\"guided_regex\":\"\",\"guided_choice\":null,"
                               "\"regex\":\"\",\"ebnf\":\"\",\"grammar\":\"\",\"other\":1}");
    REQUIRE(format_spellings_unify(body, &wish, &fault));
    const char *name;
    for (size_t i = 0; (name = format_spelling_member(i)); i++)
        CHECK(json_get(body, name) == NULL);
    CHECK(json_int(json_get(body, "other"), 0) == 1);
    CHECK(format_spelling_member(1000) == NULL);
    json_free(body);
}

int main(void)
{
    RUN(test_each_spelling_becomes_one_wish);
    RUN(test_what_cannot_be_a_wish_is_refused_by_its_name);
    RUN(test_the_list_of_members_has_an_end_and_each_is_removed);
    return test_finish();
}
