/* What the values of a structured answer say, in any pieces. */
#include "exchange/limits/answer_values.h"

#include "base/core/str.h"
#include "test.h"

#define EXTRACT "Extract name and age: Ada Lovelace, 36, paid 1,200.50 in Genève."

static struct td_message said[2];
static struct td_request request;

static void ask(const char *system, const char *user, const struct json *schema)
{
    said[0] = (struct td_message){TD_ROLE_SYSTEM, str_from(system)};
    said[1] = (struct td_message){TD_ROLE_USER, str_from(user)};
    request = (struct td_request){
        .messages = said, .message_count = 2, .format = TD_FORMAT_JSON, .schema = schema};
}

/* In pieces of `step` bytes. */
static enum answer_fault judge_in(const char *answer, size_t step)
{
    struct answer_values values;
    struct td_str text = str_from(answer);
    answer_values_init(&values, &request);
    for (size_t at = 0; at < text.len; at += step)
        answer_values_add(&values, str_slice(text, at, at + step));
    return answer_values_judge(&values);
}

static enum answer_fault judge(const char *answer)
{
    enum answer_fault fault = judge_in(answer, 1000);
    CHECK(judge_in(answer, 1) == fault && judge_in(answer, 3) == fault);
    return fault;
}

static void test_null_and_empty_say_nothing_and_one_value_is_enough(void)
{
    static const char *const empty[] = {"{\"name\": null, \"age\": null}",
                                        "{\"name\":\"\",\"age\":0}",
                                        "{}",
                                        "[]",
                                        "{\"a\":{\"b\":[ ]},\"c\":null}",
                                        "null",
                                        "{\"a\":\"N/A\",\"b\":\" unknown \"}"};
    static const char *const sound[] = {"{\"name\":null,\"age\":36}",
                                        "{\"found\":false}",
                                        "{\"a\":[],\"b\":\"x\"}",
                                        "",
                                        "{\"count\":0}",
                                        "[[[1]]]",
                                        "{\"a\":\"n\\u00e9\"}",
                                        "```json\n{\"a\":7}\n```"};
    ask("", "Say it.", NULL);
    for (size_t i = 0; i < sizeof empty / sizeof *empty; i++)
        CHECK(judge(empty[i]) == ANSWER_EMPTY);
    for (size_t i = 0; i < sizeof sound / sizeof *sound; i++)
        CHECK(judge(sound[i]) == ANSWER_SOUND);
}

static void test_what_is_extracted_must_stand_in_the_request(void)
{
    static const char *const invented[] = {"{\"name\":\"John Smith\",\"age\":25}",
                                           "{\"name\":null,\"age\":41}",
                                           "{\"email\":\"jane@corp.com\"}", "{\"paid\":99.5}"};
    static const char *const sound[] = {
        "{\"name\":\"John\",\"age\":36}", "{\"name\":\"ada\"}",         "{\"paid\":1200.5}",
        "{\"city\":\"Gen\\u00E8ve\"}",    "{\"born\":\"AD 36\"}",       "{\"count\":3}",
        "{\"is_person\":true}",           "{\"name\":\"LOVELACE, A.\"}"};
    ask("", EXTRACT, NULL);
    for (size_t i = 0; i < sizeof invented / sizeof *invented; i++)
        CHECK(judge(invented[i]) == ANSWER_INVENTED);
    for (size_t i = 0; i < sizeof sound / sizeof *sound; i++)
        CHECK(judge(sound[i]) == ANSWER_SOUND);
    ask("", "Invent a person.", NULL);
    CHECK(judge("{\"name\":\"John Smith\",\"age\":25}") == ANSWER_SOUND);
}

static void test_words_of_an_enumeration_are_chosen_and_not_invented(void)
{
    struct json *schema = NULL;
    REQUIRE(json_parse(STR("{\"properties\":{\"mood\":{\"enum\":[\"cheerful\",\"unknown\"]}}}"),
                       &schema, NULL) == TD_OK);
    ask("Extract the mood.", "I am so glad.", schema);
    CHECK(judge("{\"mood\":\"cheerful\"}") == ANSWER_SOUND);
    CHECK(judge("{\"mood\":\"unknown\"}") == ANSWER_SOUND);
    CHECK(judge("{\"mood\":\"gloomy\"}") == ANSWER_INVENTED);
    json_free(schema);
}

static void test_a_call_may_have_no_arguments(void)
{
    ask("", EXTRACT, NULL);
    request.format = TD_FORMAT_TEXT;
    CHECK(judge("{}") == ANSWER_SOUND);
    CHECK(judge("{\"name\":null}") == ANSWER_EMPTY && judge("{\"a\":{}}") == ANSWER_EMPTY);
}

static void test_nothing_is_judged_without_a_request_or_too_deep(void)
{
    struct answer_values values;
    answer_values_init(&values, NULL);
    answer_values_add(&values, STR("{}"));
    CHECK(answer_values_judge(&values) == ANSWER_SOUND && !answer_values_open(&values));
    char deep[256];
    memset(deep, '[', sizeof deep);
    deep[255] = '\0';
    ask("", EXTRACT, NULL);
    CHECK(judge(deep) == ANSWER_SOUND);
    CHECK(judge("]]}}{{\"a\":") == ANSWER_SOUND);
}

int main(void)
{
    RUN(test_null_and_empty_say_nothing_and_one_value_is_enough);
    RUN(test_what_is_extracted_must_stand_in_the_request);
    RUN(test_words_of_an_enumeration_are_chosen_and_not_invented);
    RUN(test_a_call_may_have_no_arguments);
    RUN(test_nothing_is_judged_without_a_request_or_too_deep);
    return test_finish();
}
