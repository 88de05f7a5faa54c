/* Names and values of enums, both ways. */
#include "base/core/str.h"
#include "base/text/names.h"

#include "test.h"

static void test_names_read_what_they_write(void)
{
    for (int i = TD_MODE_AUTO; i <= TD_MODE_ONLY_CLOUD; i++) {
        enum td_mode mode;
        REQUIRE(names_mode_parse(str_from(names_mode((enum td_mode)i)), &mode));
        CHECK((int)mode == i);
    }
    for (int i = TD_CLASS_PUBLIC; i <= TD_CLASS_RESTRICTED; i++) {
        enum td_data_class data_class;
        REQUIRE(names_class_parse(str_from(names_class((enum td_data_class)i)), &data_class));
        CHECK((int)data_class == i);
    }
    for (int i = TD_ROLE_SYSTEM; i <= TD_ROLE_TOOL; i++) {
        enum td_role role;
        REQUIRE(names_role_parse(str_from(names_role((enum td_role)i)), &role));
        CHECK((int)role == i);
    }
    for (int i = TD_FINISH_STOP; i <= TD_FINISH_CONTENT_FILTER; i++) {
        enum td_finish finish;
        REQUIRE(names_finish_parse(str_from(names_finish((enum td_finish)i)), &finish));
        CHECK((int)finish == i);
    }
    for (int i = ATTEMPT_OPEN; i <= ATTEMPT_CANCELLED; i++) {
        enum attempt_outcome outcome;
        REQUIRE(names_outcome_parse(str_from(names_outcome((enum attempt_outcome)i)), &outcome));
        CHECK((int)outcome == i);
    }
    for (int i = ENDED_NOT; i <= ENDED_CANCELLED; i++) {
        enum exchange_end end;
        REQUIRE(names_end_parse(str_from(names_end((enum exchange_end)i)), &end));
        CHECK((int)end == i);
    }
}

static void test_spellings_are_those_of_the_documents(void)
{
    CHECK(strcmp(names_place(TD_PLACE_DEVICE), "device") == 0);
    CHECK(strcmp(names_place(TD_PLACE_CLOUD), "cloud") == 0);
    CHECK(strcmp(names_mode(TD_MODE_PREFER_CLOUD), "prefer-cloud") == 0);
    CHECK(strcmp(names_class(TD_CLASS_RESTRICTED), "restricted") == 0);
    CHECK(strcmp(names_role(TD_ROLE_ASSISTANT), "assistant") == 0);
    CHECK(strcmp(names_finish(TD_FINISH_TOOL_CALLS), "tool_calls") == 0);
    CHECK(strcmp(names_outcome(ATTEMPT_ESCALATED), "escalated") == 0);
    CHECK(strcmp(names_end(ENDED_OK), "ok") == 0);
    CHECK(strcmp(names_reaction(REACTION_REGENERATED), "regenerated") == 0 &&
          strcmp(names_reaction(REACTION_CONTINUED), "continued") == 0);
    CHECK(strcmp(names_place((enum td_place)99), "unknown") == 0);
    CHECK(strcmp(names_role((enum td_role)99), "unknown") == 0);
}

static void test_wrong_names_change_nothing(void)
{
    enum td_mode mode = TD_MODE_PREFER_LOCAL;
    CHECK(!names_mode_parse(STR("AUTO"), &mode) && !names_mode_parse(STR(""), &mode));
    CHECK(!names_mode_parse(STR("only"), &mode) && mode == TD_MODE_PREFER_LOCAL);
    enum td_data_class data_class = TD_CLASS_SENSITIVE;
    CHECK(!names_class_parse(STR("Public"), &data_class));
    CHECK(!names_class_parse(STR("secret"), &data_class));
    CHECK(!names_class_parse(str_from(NULL), &data_class) && data_class == TD_CLASS_SENSITIVE);
    enum td_role role = TD_ROLE_USER;
    CHECK(!names_role_parse(STR("bot"), &role) && role == TD_ROLE_USER);
    enum td_finish finish = TD_FINISH_LENGTH;
    CHECK(!names_finish_parse(STR("eos"), &finish) && finish == TD_FINISH_LENGTH);
}

static void test_any_table_of_names_can_be_searched(void)
{
    static const char *const colours[] = {"red", "green", NULL};
    size_t value = 7;
    CHECK(names_table_count(colours) == 2 && names_table_count(colours + 2) == 0);
    CHECK(strcmp(names_table_name(colours, 1), "green") == 0);
    CHECK(strcmp(names_table_name(colours, 2), "unknown") == 0);
    CHECK(strcmp(names_table_name(colours, SIZE_MAX), "unknown") == 0);
    CHECK(!names_table_find(colours, STR("blue"), &value) && value == 7);
    CHECK(names_table_find(colours, STR("green"), &value) && value == 1);
}

int main(void)
{
    RUN(test_names_read_what_they_write);
    RUN(test_spellings_are_those_of_the_documents);
    RUN(test_wrong_names_change_nothing);
    RUN(test_any_table_of_names_can_be_searched);
    return test_finish();
}
