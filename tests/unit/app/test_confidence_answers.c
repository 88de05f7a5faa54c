#include "app/evidence/confidence_answers.h"

#include "base/str.h"
#include "test.h"

static void test_answers_are_the_same_but_for_case_space_and_marks(void)
{
    CHECK(confidence_answers_same(STR("Paris."), STR(" paris")));
    CHECK(confidence_answers_same(STR("a-b c"), STR("ABC")));
    CHECK(confidence_answers_same(STR("  "), STR("?")));
    CHECK(confidence_answers_same(STR("caf\xc3\xa9"), STR("Caf\xc3\xa9!")));
    CHECK(!confidence_answers_same(STR("caf\xc3\xa9"), STR("cafe")));
    CHECK(!confidence_answers_same(STR("12"), STR("120")));
    CHECK(!confidence_answers_same(STR("120"), STR("12")));
    CHECK(!confidence_answers_same(STR("x"), STR("")));
}

int main(void)
{
    RUN(test_answers_are_the_same_but_for_case_space_and_marks);
    return test_finish();
}
