/* Which schemas in a prompt say how to answer, and which are only talked about. */
#include "api/wire/prompt_schema.h"

#include "base/core/str.h"
#include "test.h"

#include <stdlib.h>

#define SCHEMA "{\"type\": \"object\", \"properties\": {\"a\": {\"type\": \"string\"}}}"

static struct json *found(const struct td_message *messages, size_t count)
{
    const struct td_request request = {.messages = messages, .message_count = count};
    return prompt_schema_find(&request);
}

/* In a message of the system, before a question of the user's. */
static bool finds(const char *text)
{
    const struct td_message messages[] = {{TD_ROLE_SYSTEM, str_from(text)},
                                          {TD_ROLE_USER, STR("Mary has two cats.")}};
    struct json *schema = found(messages, 2);
    bool is_found = schema != NULL;
    json_free(schema);
    return is_found;
}

static void test_a_wish_has_a_schema_an_answer_and_json(void)
{
    static const struct {
        const char *text;
        bool wish;
    } cases[] = {
        {"Answer as JSON with this schema: " SCHEMA, true},
        {"Respond in JSON that matches this schema:\n```json\n" SCHEMA "\n```", true},
        {"Please RETURN only JSON\nthat conforms to the schema\n" SCHEMA, true},
        {"Output schema:\n" SCHEMA, true},
        {"Here is a schema:\n" SCHEMA "\nReply with a JSON object that follows the schema.", true},
        {"Antworte als JSON in diesem Schema: " SCHEMA, true},
        {"Answer as JSON with this schema: {\"properties\": {}}", true},
        {"Answer as JSON with this schema: {\"$ref\": \"#/$defs/A\", \"$defs\": {\"A\": {}}}",
         true},
        /* No word of an answer, of JSON, or of a schema. */
        {SCHEMA, false},
        {"This schema is ours: " SCHEMA, false},
        {"Answer with this schema: " SCHEMA, false},
        {"Answer as JSON like this: " SCHEMA, false},
        /* About the schema, or about a program. */
        {"Explain why JSON answers match this schema: " SCHEMA, false},
        {"Write a function that returns JSON that matches this schema: " SCHEMA, false},
        {"Review this JSON schema and return what is wrong with it: " SCHEMA, false},
        {"Convert the JSON to match this schema, and answer: " SCHEMA, false},
        {"Does your answer in JSON match this schema? " SCHEMA, false},
        /* No schema of an object. */
        {"Answer as JSON with this schema: {\"type\": \"string\"}", false},
        {"Answer as JSON with this schema: {\"a\": 1}", false},
        {"Answer as JSON with this schema: {\"type\": \"object\", \"properties\": {", false},
        {"Answer as JSON with this schema: {\"type\": \"object\", \"properties\": {}, }", false},
        /* The sentence is in another paragraph. */
        {"Answer as JSON with this schema.\n\nMary has two cats.\n\n" SCHEMA, false},
        {"", false},
        {"{{{{{{", false},
        {"}}}} {\"", false},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        CHECK(finds(cases[i].text) == cases[i].wish);
        if (finds(cases[i].text) != cases[i].wish)
            fprintf(stderr, "  %s\n", cases[i].text);
    }
}

static void test_of_two_wishes_none_is_taken(void)
{
    CHECK(!finds("Answer as JSON with this schema: " SCHEMA
                 "\n\nOr answer as JSON with this schema: " SCHEMA));
}

static void test_only_the_system_and_the_last_words_of_the_user_say_it(void)
{
    const struct td_str wish = STR("Answer as JSON with this schema: " SCHEMA);
    const struct td_message last[] = {{TD_ROLE_USER, STR("Hello")}, {TD_ROLE_USER, wish}};
    const struct td_message earlier[] = {{TD_ROLE_USER, wish}, {TD_ROLE_USER, STR("Hello")}};
    const struct td_message said[] = {{TD_ROLE_ASSISTANT, wish}, {TD_ROLE_USER, STR("Hello")}};
    const struct td_message shown[] = {{TD_ROLE_USER, STR("Hello")}, {TD_ROLE_TOOL, wish}};
    const struct td_message developer[] = {{TD_ROLE_DEVELOPER, wish}, {TD_ROLE_USER, STR("Hello")}};
    struct json *schema = found(last, 2);
    CHECK(str_equal(json_text(json_get(schema, "type")), STR("object")));
    json_free(schema);
    schema = found(developer, 2);
    CHECK(schema != NULL);
    json_free(schema);
    CHECK(found(earlier, 2) == NULL && found(said, 2) == NULL && found(shown, 2) == NULL);
    CHECK(found(NULL, 0) == NULL);
}

static void test_tools_calls_and_completions_have_no_such_wish(void)
{
    const struct td_message message = {TD_ROLE_USER,
                                       STR("Answer as JSON with this schema: " SCHEMA)};
    const struct td_completion completion = {.text = message.content};
    struct td_request request = {.messages = &message, .message_count = 1};
    struct json *schema = prompt_schema_find(&request);
    CHECK(schema != NULL);
    json_free(schema);
    request.tool_count = 1;
    CHECK(prompt_schema_find(&request) == NULL);
    request.tool_count = 0;
    request.has_calls = true;
    CHECK(prompt_schema_find(&request) == NULL);
    request.has_calls = false;
    request.completion = &completion;
    CHECK(prompt_schema_find(&request) == NULL);
}

static void test_a_text_too_long_for_an_instruction_is_not_read(void)
{
    static const char wish[] = "Answer as JSON with this schema: " SCHEMA;
    for (size_t size = ((size_t)1 << 20) - 1; size <= ((size_t)1 << 20) + 1; size++) {
        char *text = malloc(size);
        REQUIRE(text);
        memset(text, ' ', size);
        memcpy(text, wish, sizeof wish - 1);
        const struct td_message message = {TD_ROLE_USER, {text, size}};
        struct json *schema = found(&message, 1);
        CHECK((schema != NULL) == (size <= (size_t)1 << 20));
        json_free(schema);
        free(text);
    }
}

int main(void)
{
    RUN(test_a_wish_has_a_schema_an_answer_and_json);
    RUN(test_of_two_wishes_none_is_taken);
    RUN(test_only_the_system_and_the_last_words_of_the_user_say_it);
    RUN(test_tools_calls_and_completions_have_no_such_wish);
    RUN(test_a_text_too_long_for_an_instruction_is_not_read);
    return test_finish();
}
