#include "router/plan/policy.h"

#include "test.h"

static const struct tier_facts facts[] = {
    {.name = "local", .model = "nano"},
    {.name = "openai", .model = "gpt-x"},
    {.name = "gpt-x", .model = "other"},
};
static const struct route routes[] = {{.name = "auto"}, {.name = "support"}};
static const struct policy policy = {.version = "0", .routes = routes, .route_count = 2};

static const struct route *find(const char *model, size_t *named)
{
    return policy_find_route(&policy, model, facts, 3, named);
}

static void test_no_model_and_auto_give_the_default_route(void)
{
    size_t named;
    CHECK(find(NULL, &named) == &routes[0] && named == SIZE_MAX);
    CHECK(find("", &named) == &routes[0] && named == SIZE_MAX);
    CHECK(find("auto", &named) == &routes[0] && named == SIZE_MAX);
}

static void test_a_routes_name_gives_that_route(void)
{
    size_t named;
    CHECK(find("support", &named) == &routes[1] && named == SIZE_MAX);
}

static void test_a_tier_or_its_model_names_the_tier(void)
{
    size_t named;
    CHECK(find("openai", &named) == &routes[0] && named == 1);
    CHECK(find("nano", &named) == &routes[0] && named == 0);
    CHECK(find("gpt-x", &named) == &routes[0] && named == 2);
}

static void test_an_unknown_model_is_not_guessed(void)
{
    size_t named;
    CHECK(find("gpt-y", &named) == NULL);
    CHECK(find("Auto", &named) == NULL);
}

static void test_an_adapters_name_gives_its_tier(void)
{
    static const char *const adapters[] = {"law", "gpt-x"};
    const struct tier_facts tiers[] = {{.name = "gpt-x"},
                                       {.name = "local", .adapters = adapters, .adapter_count = 2}};
    size_t named;
    CHECK(policy_find_route(&policy, "law", tiers, 2, &named) == &routes[0] && named == 1);
    CHECK(policy_find_route(&policy, "gpt-x", tiers, 2, &named) == &routes[0] && named == 0);
    CHECK(policy_find_route(&policy, "tone", tiers, 2, &named) == NULL);
}

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
    RUN(test_no_model_and_auto_give_the_default_route);
    RUN(test_a_routes_name_gives_that_route);
    RUN(test_a_tier_or_its_model_names_the_tier);
    RUN(test_an_unknown_model_is_not_guessed);
    RUN(test_an_adapters_name_gives_its_tier);
    RUN(test_unknown_adapters_are_refused_with_those_there_are);
    RUN(test_every_reason_has_a_name);
    return test_finish();
}
