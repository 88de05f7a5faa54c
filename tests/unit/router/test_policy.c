#include "router/plan/policy.h"

#include "test.h"

static void test_unknown_adapters_are_refused_with_those_there_are(void)
{
    static const char *const adapters[] = {"law", "sql"};
    const struct tier_facts tiers[] = {{.name = "cloud"},
                                       {.name = "local", .adapters = adapters, .adapter_count = 2}};
    struct td_request request = {.adapter_count = 2, .adapters = {{.name = "sql"}, {.number = 1}}};
    struct td_error err = {0};
    CHECK(policy_check_adapters(&request, tiers, 2, &err) == TD_OK);
    request.adapters[1].number = 2;
    CHECK(policy_check_adapters(&request, tiers, 2, &err) == TD_INVALID);
    CHECK(strcmp(err.message, "no adapter has the number 2: there are law, sql") == 0);
    request.adapters[1].name = "laws";
    err = (struct td_error){0};
    CHECK(policy_check_adapters(&request, tiers, 2, &err) == TD_INVALID);
    CHECK(strcmp(err.message, "no adapter is named 'laws': there are law, sql") == 0);
    err = (struct td_error){0};
    CHECK(policy_check_adapters(&request, tiers, 1, &err) == TD_INVALID);
    CHECK(strstr(err.message, "the configuration has none") != NULL);
}

static void test_every_reason_has_a_name(void)
{
    for (int code = 0; code < REASON_CODE_COUNT; code++) {
        REQUIRE(reason_code_name((enum reason_code)code) != NULL);
        CHECK(strcmp(reason_code_name((enum reason_code)code), "unknown") != 0);
    }
    CHECK(strcmp(reason_code_name(REASON_REMOVED_CONTEXT), "removed_context") == 0);
    CHECK(strcmp(reason_code_name(REASON_CODE_COUNT), "unknown") == 0);
}

int main(void)
{
    RUN(test_unknown_adapters_are_refused_with_those_there_are);
    RUN(test_every_reason_has_a_name);
    return test_finish();
}
