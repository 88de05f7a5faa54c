#include "app/evidence/answer_check.h"

#include "base/core/str.h"
#include "base/json/json.h"
#include "test.h"

static void test_answers_are_the_same_but_for_case_space_and_marks(void)
{
    CHECK(answer_check_same(STR("Paris."), STR(" paris")));
    CHECK(answer_check_same(STR("a-b c"), STR("ABC")));
    CHECK(answer_check_same(STR("  "), STR("?")));
    CHECK(answer_check_same(STR("caf\xc3\xa9"), STR("Caf\xc3\xa9!")));
    CHECK(!answer_check_same(STR("caf\xc3\xa9"), STR("cafe")));
    CHECK(!answer_check_same(STR("12"), STR("120")));
    CHECK(!answer_check_same(STR("120"), STR("12")));
    CHECK(!answer_check_same(STR("x"), STR("")));
}

/* 1 = right, 0 = wrong, -1 = the line is refused. */
static int check(const char *line, const char *answer)
{
    struct json *object = NULL;
    struct td_error err = {0};
    bool right = true;
    CHECK(json_parse(str_from(line), &object, &err) == TD_OK);
    enum td_status status = answer_check(object, str_from(answer), &right, &err);
    json_free(object);
    CHECK(status == TD_OK || (status == TD_INVALID && *err.message));
    return status == TD_OK ? right : -1;
}

static void test_a_number_is_the_last_one_of_the_answer(void)
{
    static const char of_42[] = "{\"check\": \"number\", \"answer\": 42}";
    static const char *const right[] = {"42",       "The answer is 42.", "6 * 7 = 42", "42.0",
                                        "$42 only", "It is 42, I think", "x=42"},
                             *const wrong[] = {"", "none", "42 or 43", "-42", "421", "4.2", "4,2"};
    for (size_t i = 0; i < sizeof right / sizeof *right; i++)
        CHECK(check(of_42, right[i]) == 1);
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        CHECK(check(of_42, wrong[i]) == 0);
    CHECK(check("{\"check\": \"number\", \"answer\": 1234567}", "1,234,567 people") == 1);
    CHECK(check("{\"check\": \"number\", \"answer\": -3}", "-3") == 1);
    CHECK(check("{\"check\": \"number\", \"answer\": 4}", "pages 3-4") == 1);
    CHECK(check("{\"check\": \"number\", \"answer\": 3.14, \"tolerance\": 0.01}", "3.1459") == 1);
    CHECK(check("{\"check\": \"number\", \"answer\": 3.14, \"tolerance\": 0.01}", "3.2") == 0);
    char digits[300]; /* longer than any number is kept */
    memset(digits, '9', sizeof digits - 1);
    digits[sizeof digits - 1] = '\0';
    CHECK(check(of_42, digits) == 0);
}

static void test_words_stand_whole_and_before_the_other_answers(void)
{
    static const char yes[] = "{\"check\": \"words\", \"answer\": \"yes\", \"or\": [\"no\"]}";
    CHECK(check(yes, "Yes.") == 1 && check(yes, "YES, no doubt") == 1);
    CHECK(check(yes, "No, yes") == 0 && check(yes, "yesterday") == 0 && check(yes, "") == 0);
    static const char some[] =
        "{\"check\": \"words\", \"answer\": [\"New York\", \"the Big Apple\"]}";
    CHECK(check(some, "It's new-york!") == 1 && check(some, "York, New") == 0);
    CHECK(check(some, "the  BIG\napple") == 1);
    CHECK(check("{\"check\": \"words\", \"answer\": \"?\"}", "?") == 0); /* no word at all */
}

static void test_a_pattern_is_looked_for(void)
{
    static const char date[] = "{\"check\": \"pattern\", \"answer\": \"(^|[^0-9])2021-05-03$\"}";
    CHECK(check(date, "on 2021-05-03") == 1 && check(date, "12021-05-03") == 0);
    CHECK(check(date, "2021-05-03\nor so") == 1); /* a line's end */
    CHECK(check("{\"check\": \"pattern\", \"answer\": \"(\"}", "(") == -1);
    CHECK(check("{\"check\": \"pattern\", \"answer\": 7}", "7") == -1);
}

static void test_wrong_lines_are_refused_whatever_the_answer(void)
{
    static const char *const lines[] = {
        "{}",
        "{\"right\": true, \"answer\": \"a\"}",
        "{\"right\": 1}",
        "{\"answer\": 1}",
        "{\"answer\": []}",
        "{\"answer\": [\"a\", 1]}",
        "{\"answer\": \"a\", \"or\": 1}",
        "{\"answer\": \"a\", \"check\": \"guess\"}",
        "{\"answer\": \"a\", \"check\": 1}",
        "{\"answer\": \"1\", \"check\": \"number\"}",
        "{\"answer\": 1, \"check\": \"number\", \"tolerance\": \"1\"}",
        "{\"answer\": 1, \"check\": \"number\", \"tolerance\": -1}",
    };
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++)
        CHECK(check(lines[i], "") == -1);
    CHECK(check("{\"right\": true}", "") == 1 && check("{\"right\": false}", "x") == 0);
    CHECK(check("{\"answer\": [\"b\", \"a\"]}", "A.") == 1);
}

int main(void)
{
    RUN(test_answers_are_the_same_but_for_case_space_and_marks);
    RUN(test_a_number_is_the_last_one_of_the_answer);
    RUN(test_words_stand_whole_and_before_the_other_answers);
    RUN(test_a_pattern_is_looked_for);
    RUN(test_wrong_lines_are_refused_whatever_the_answer);
    return test_finish();
}
