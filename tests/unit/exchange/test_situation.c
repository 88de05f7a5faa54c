/* What is known of a request before a tier is asked: its class, whatever gave it, for the whole
 * conversation; the time; and what of it a tier's server is told beside the text. */
#include "router/plan/routing_rules.h"
#include "world.h"

#include <time.h>

#define ADDRESS "ann.smith@acme.com"

/* A rule that holds for every request. */
static struct routing_rule always(int data_class)
{
    struct routing_rule rule = {
        .name = "always", .start = RULE_START_NONE, .data_class = data_class};
    for (int i = 0; i < RULE_CHOICE_COUNT; i++)
        rule.any[i] = RULE_WHATEVER;
    return rule;
}

/* Each of these alone makes a request sensitive. */
enum source { DECLARED, BY_ROUTE, BY_MEDIA, BY_TEXT, BY_RULE, SOURCES };

struct scene {
    struct routing_rule rule;
    struct routing_rules rules;
};

static void arrange(struct world *w, struct scene *scene, unsigned sources)
{
    world_init(w);
    world_script(w, LOCAL, unsure);
    world_script(w, CLOUD, cloudy);
    if (sources & 1u << DECLARED)
        w->request.data_class = TD_CLASS_SENSITIVE;
    if (sources & 1u << BY_ROUTE)
        w->route.data_class = TD_CLASS_SENSITIVE;
    if (sources & 1u << BY_MEDIA)
        w->request.media.kinds = REQUEST_IMAGE;
    if (sources & 1u << BY_TEXT)
        world_set_prompt(w, "write to " ADDRESS);
    w->services.media_class = TD_CLASS_SENSITIVE;
    scene->rule = always(sources & 1u << BY_RULE ? TD_CLASS_SENSITIVE : -1);
    scene->rules = (struct routing_rules){.rules = &scene->rule, .count = 1};
    w->policy.rules = &scene->rules;
}

static void test_whatever_gives_a_class_keeps_the_request_where_it_may_be(void)
{
    for (unsigned sources = 0; sources < 1u << SOURCES; sources++) {
        struct world w;
        struct scene scene;
        arrange(&w, &scene, sources);
        world_run(&w);
        CHECK(strcmp(ledger_seen.data_class, sources ? "sensitive" : "public") == 0);
        CHECK(w.tiers[CLOUD].start_count == !sources);
        world_deinit(&w);
    }
}

/* The next turn says nothing of it, and it is the same conversation. */
static void test_a_class_stays_with_the_conversation_whatever_gave_it(void)
{
    for (unsigned source = 0; source <= SOURCES; source++) {
        struct world w;
        struct scene scene;
        arrange(&w, &scene, source < SOURCES ? 1u << source : 0);
        const struct td_str first = w.messages[0].content;
        world_run(&w);
        w.request.data_class = w.route.data_class = TD_CLASS_PUBLIC;
        w.request.media.kinds = 0;
        w.policy.rules = NULL;
        w.messages[0].content = first;
        w.messages[1] = (struct td_message){TD_ROLE_ASSISTANT, STR("I guess so")};
        w.messages[2] = (struct td_message){TD_ROLE_USER, STR("and then")};
        w.request.message_count = 3;
        w.tiers[CLOUD].start_count = 0;
        world_run(&w);
        CHECK(strcmp(ledger_seen.data_class, source < SOURCES ? "sensitive" : "public") == 0);
        CHECK(w.tiers[CLOUD].start_count == (source == SOURCES));
        world_set_prompt(&w, "another one"); /* which begins otherwise */
        world_run(&w);
        CHECK(strcmp(ledger_seen.data_class, "public") == 0);
        world_deinit(&w);
    }
}

/* It is the client's own text, which no policy masks. */
static void test_a_traces_state_is_told_to_servers_of_the_house_and_only_if_it_is_public(void)
{
    static const struct {
        enum td_place place;
        const char *state, *told;
    } cases[] = {{TD_PLACE_PREMISES, "a=b", "a=b"},
                 {TD_PLACE_PREMISES, "a=" ADDRESS, ""},
                 {TD_PLACE_PREMISES, NULL, ""},
                 {TD_PLACE_REGION, "a=b", ""},
                 {TD_PLACE_CLOUD, "a=b", ""}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct world w;
        world_init(&w);
        w.tiers[CLOUD].tier.facts.place = cases[i].place;
        w.request.mode = TD_MODE_ONLY_CLOUD;
        w.route.kind = ROUTE_HYBRID;
        w.request.trace_state = cases[i].state;
        world_script(&w, CLOUD, cloudy);
        world_script(&w, LOCAL, unsure);
        world_run(&w);
        CHECK(w.tiers[CLOUD].start_count == 1);
        CHECK(strcmp(w.tiers[CLOUD].tracestate, cases[i].told) == 0);
        world_deinit(&w);
    }
}

/* Rules ask for the hour and the day of the week, from Monday on, where the server stands. */
static void test_the_time_of_the_rules_is_that_of_the_clock_on_the_wall(void)
{
    static const struct {
        const char *zone;
        uint64_t after_ms; /* Tuesday, 14 November 2023, 22:13:20 UTC */
        const char *told;
    } cases[] = {{"UTC", 0, "\"hour\":22,\"weekday\":1,"},
                 {"UTC", 6399999, "\"hour\":23,\"weekday\":1,"},
                 {"UTC", 6400000, "\"hour\":0,\"weekday\":2,"},
                 {"UTC", 6400000 + 4 * 86400000ull, "\"hour\":0,\"weekday\":6,"},
                 {"UTC", 6400000 + 5 * 86400000ull, "\"hour\":0,\"weekday\":0,"},
                 {"XYZ-2", 0, "\"hour\":0,\"weekday\":2,"},
                 {"XYZ+23", 0, "\"hour\":23,\"weekday\":0,"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct world w;
        setenv("TZ", cases[i].zone, 1);
        tzset();
        world_init(&w);
        w.loop.now_ms = cases[i].after_ms;
        world_script(&w, LOCAL, sure);
        world_run(&w);
        const char *hour = strstr(ledger_seen.signals, "\"hour\"");
        REQUIRE(hour);
        if (strncmp(hour, cases[i].told, strlen(cases[i].told)) != 0)
            printf("row %zu: %.30s\n", i, hour);
        CHECK(strncmp(hour, cases[i].told, strlen(cases[i].told)) == 0);
        world_deinit(&w);
    }
}

int main(void)
{
    RUN(test_whatever_gives_a_class_keeps_the_request_where_it_may_be);
    RUN(test_a_class_stays_with_the_conversation_whatever_gave_it);
    RUN(test_a_traces_state_is_told_to_servers_of_the_house_and_only_if_it_is_public);
    RUN(test_the_time_of_the_rules_is_that_of_the_clock_on_the_wall);
    return test_finish();
}
