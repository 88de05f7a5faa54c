#include "router/plan/model_names.h"

#include "test.h"

static const struct tier_model further[] = {
    {.name = "large",
     .context_tokens = 9000,
     .input_usd_per_mtok = 3,
     .output_usd_per_mtok = 4,
     .cached_input_usd_per_mtok = 2,
     .lacks = CAPABILITY_AUDIO},
    {.name = "gpt-9"},
};
static const char *const adapters[] = {"law", "gpt-x"};
static const struct tier_facts facts[] = {
    {.name = "local", .model = "nano", .adapters = adapters, .adapter_count = 2},
    {.name = "openai",
     .model = "gpt-x",
     .models = further,
     .model_count = 2,
     .lacks = CAPABILITY_IMAGE | CAPABILITY_TOOLS,
     .confidence_model = (const struct confidence_model *)further, /* any address */
     .has_thresholds = true},
    {.name = "gpt-x", .model = "other"},
    {.name = "assumed", .model = "gpt-4o-mini", .model_assumed = true},
    {.name = "odd", .model = "default-1", .model_assumed = true},
};
static const char *const support_aliases[] = {"help", "meta/*", "gpt-9", NULL};
static const struct route routes[] = {
    {.name = "first", .aliases = model_names_common},
    {.name = "support", .aliases = support_aliases},
};
static const struct policy policy = {.version = "0", .routes = routes, .route_count = 2};

static bool find_as(const struct app *app, const char *model, struct model_choice *out)
{
    const struct model_names names = {
        .policy = &policy, .facts = facts, .tier_count = 5, .app = app};
    return model_names_find(&names, model, out);
}

/* Whether the name gives this route, tier, name and alias. */
static bool gives(const char *model, const struct route *route, size_t tier, const char *name,
                  const char *alias)
{
    struct model_choice found;
    return find_as(NULL, model, &found) && found.route == route && found.tier == tier &&
           strcmp(found.name, name) == 0 && !found.alias == !alias &&
           (!alias || strcmp(found.alias, alias) == 0);
}

static void test_no_model_and_auto_give_the_first_route(void)
{
    CHECK(gives(NULL, &routes[0], SIZE_MAX, "first", NULL));
    CHECK(gives("", &routes[0], SIZE_MAX, "first", NULL));
    CHECK(gives("auto", &routes[0], SIZE_MAX, "first", NULL));
}

static void test_an_exact_name_gives_a_route_a_tier_a_model_or_an_adapter(void)
{
    CHECK(gives("support", &routes[1], SIZE_MAX, "support", NULL));
    CHECK(gives("openai", &routes[0], 1, "openai", NULL));
    CHECK(gives("nano", &routes[0], 0, "nano", NULL));
    CHECK(gives("gpt-x", &routes[0], 2, "gpt-x", NULL)); /* a tier goes before a model */
    CHECK(gives("large", &routes[0], 1, "large", NULL));
    CHECK(gives("law", &routes[0], 0, "law", NULL));
}

static void test_a_vendors_name_that_nobody_configured_is_the_first_routes(void)
{
    CHECK(gives("gpt-4o-mini", &routes[0], SIZE_MAX, "first", "gpt-*"));
    CHECK(gives("claude-sonnet-4-5", &routes[0], SIZE_MAX, "first", "claude-*"));
    CHECK(gives("default-1", &routes[0], 4, "default-1", NULL)); /* no pattern takes it */
}

static void test_an_alias_leads_to_its_route_and_keeps_the_model_of_a_tier(void)
{
    CHECK(gives("help", &routes[1], SIZE_MAX, "support", "help"));
    CHECK(gives("meta/llama", &routes[1], SIZE_MAX, "support", "meta/*"));
    CHECK(gives("gpt-9", &routes[1], SIZE_MAX, "gpt-9", "gpt-9"));
}

static void test_names_are_known_with_what_other_programs_put_around_them(void)
{
    CHECK(gives("openai/auto", &routes[0], SIZE_MAX, "first", NULL));
    CHECK(gives("auto:latest", &routes[0], SIZE_MAX, "first", NULL));
    CHECK(gives("models/auto", &routes[0], SIZE_MAX, "first", NULL));
    CHECK(gives("openrouter/anthropic/claude-x", &routes[0], SIZE_MAX, "first", "claude-*"));
    CHECK(gives("ollama/law:latest", &routes[0], 0, "law", NULL));
    CHECK(gives("openai/large", &routes[0], 1, "large", NULL));
}

static void test_an_unknown_model_is_not_guessed(void)
{
    struct model_choice found;
    static const char *const unknown[] = {"gtp-4o", "Auto",  "openai/", "models/",  ":latest",
                                          "/auto",  "auto/", "x/auto",  "auto:new", "*"};
    for (size_t i = 0; i < sizeof unknown / sizeof *unknown; i++)
        CHECK(!find_as(NULL, unknown[i], &found));
    char longest[400];
    memset(longest, 'x', sizeof longest);
    memcpy(longest, "gpt-", 4);
    longest[256] = '\0';
    CHECK(find_as(NULL, longest, &found));
    longest[256] = 'x';
    longest[sizeof longest - 1] = '\0';
    CHECK(!find_as(NULL, longest, &found));
}

static void test_a_caller_finds_only_what_it_may_use(void)
{
    static const char *const may[] = {"support", "large", "l*"};
    const struct app app = {.name = "a", .models = may, .model_count = 3};
    struct model_choice found;
    CHECK(find_as(&app, "auto", &found) && found.route == &routes[1]);
    CHECK(find_as(&app, "gpt-4o", &found) && found.route == &routes[1]);
    CHECK(find_as(&app, "help", &found) && found.route == &routes[1]);
    CHECK(find_as(&app, "large", &found) && found.tier == 1);
    CHECK(find_as(&app, "local", &found) && found.tier == 0);
    CHECK(!find_as(&app, "first", &found));
    CHECK(!find_as(&app, "openai", &found));
    CHECK(!find_as(&app, "nano", &found));
    /* The route is its own, the model of the same name is not. */
    CHECK(find_as(&app, "gpt-9", &found) && strcmp(found.name, "support") == 0);
    static const char *const only_tier[] = {"openai"};
    const struct app narrow = {.name = "b", .models = only_tier, .model_count = 1};
    CHECK(!find_as(&narrow, "auto", &found) && !find_as(&narrow, "gpt-4o", &found));
    CHECK(find_as(&narrow, "openai", &found));
    static const char *const only_auto[] = {"auto"};
    const struct app usual = {.name = "c", .models = only_auto, .model_count = 1};
    CHECK(find_as(&usual, "auto", &found) && found.route == &routes[0]);
    CHECK(find_as(&usual, "claude-x", &found) && !find_as(&usual, "support", &found));
}

static void test_the_list_of_a_key_is_one_more_limit_on_names(void)
{
    const char *may[] = {"first", "large"};
    const struct app app = {.name = "a", .models = may, .model_count = 2};
    struct model_names names = {
        .policy = &policy, .facts = facts, .tier_count = 5, .models = "large,gpt-*"};
    struct model_choice choice;
    CHECK(model_names_find(&names, "large", &choice) &&
          !model_names_find(&names, "first", &choice));
    CHECK(!model_names_find(&names, "auto", &choice) && !model_names_find(&names, NULL, &choice));
    /* A vendor's name that it lists is taken by the first route, as for everybody. */
    CHECK(model_names_find(&names, "gpt-4o", &choice) && choice.route == &routes[0]);
    CHECK(!model_names_find(&names, "claude-3", &choice));
    names.app = &app;
    CHECK(model_names_find(&names, "large", &choice) &&
          !model_names_find(&names, "first", &choice));
    CHECK(model_names_listed("", "any") && model_names_listed("a,b*", "bc"));
    CHECK(!model_names_listed("a,b*", "c") && !model_names_listed("a,", "b"));
}

static void test_the_nearest_name_is_one_that_the_caller_may_use(void)
{
    static const char *const may[] = {"support"};
    const struct app app = {.name = "a", .models = may, .model_count = 1};
    struct model_names names = {.policy = &policy, .facts = facts, .tier_count = 5};
    CHECK(strcmp(model_names_suggest(&names, "larg").text, "; did you mean 'large'?") == 0);
    CHECK(strcmp(model_names_suggest(&names, "suport").text, "; did you mean 'support'?") == 0);
    CHECK(*model_names_suggest(&names, "something else").text == '\0');
    names.app = &app;
    CHECK(*model_names_suggest(&names, "larg").text == '\0');
}

static void test_a_star_stands_for_any_text(void)
{
    CHECK(model_names_match("*", "") && model_names_match("*", "a") && model_names_match("", ""));
    CHECK(model_names_match("a*c", "abc") && model_names_match("a*c", "ac"));
    CHECK(model_names_match("a*b*c", "aXbYbZc") && model_names_match("*-mini", "gpt-4o-mini"));
    CHECK(!model_names_match("a*c", "abcd") && !model_names_match("", "a"));
    CHECK(!model_names_match("a", "") && !model_names_match("gpt-*", "xgpt-4"));
    CHECK(model_names_match("**a**", "a") && !model_names_match("**a**", "b"));
}

static void test_a_further_model_brings_its_own_facts(void)
{
    struct tier_facts taken = facts[1];
    CHECK(!model_names_take(&taken, "gpt-x") && !model_names_take(&taken, NULL));
    CHECK(taken.confidence_model != NULL);
    CHECK(model_names_take(&taken, "large"));
    CHECK(strcmp(taken.model, "large") == 0 && taken.context_tokens == 9000);
    CHECK(taken.input_usd_per_mtok == 3 && taken.output_usd_per_mtok == 4);
    CHECK(taken.cached_input_usd_per_mtok == 2);
    CHECK(taken.lacks == (CAPABILITY_AUDIO | CAPABILITY_TOOLS));
    CHECK(taken.confidence_model == NULL && !taken.has_thresholds);
}

int main(void)
{
    RUN(test_no_model_and_auto_give_the_first_route);
    RUN(test_an_exact_name_gives_a_route_a_tier_a_model_or_an_adapter);
    RUN(test_a_vendors_name_that_nobody_configured_is_the_first_routes);
    RUN(test_an_alias_leads_to_its_route_and_keeps_the_model_of_a_tier);
    RUN(test_names_are_known_with_what_other_programs_put_around_them);
    RUN(test_an_unknown_model_is_not_guessed);
    RUN(test_a_caller_finds_only_what_it_may_use);
    RUN(test_the_list_of_a_key_is_one_more_limit_on_names);
    RUN(test_the_nearest_name_is_one_that_the_caller_may_use);
    RUN(test_a_star_stands_for_any_text);
    RUN(test_a_further_model_brings_its_own_facts);
    return test_finish();
}
