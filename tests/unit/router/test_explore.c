/* Starting elsewhere by a draw: how often, where, with which recorded probability, and never
 * against what a request, its class, its deadline or a budget allows. */
#include "scene.h"
#include "test.h"

#include <stdio.h>

static void open_scene(struct scene *s)
{
    scene_init_with(s, (struct gate_settings){0});
    s->route.explore_share = 0.2;
    s->signals.draw = 0.05;
}

static bool drawn(struct scene *s)
{
    size_t start = begin(s);
    return start != SIZE_MAX && s->plan.decision.by == DECIDED_BY_DRAW;
}

static double propensity(const struct scene *s, size_t tier)
{
    return decision_propensity(&s->plan.decision, tier);
}

static void test_a_share_starts_elsewhere_and_its_probability_is_known(void)
{
    struct scene s;
    open_scene(&s);
    CHECK(begin(&s) == 1 && drawn(&s)); /* the lower half of the share */
    CHECK(strcmp(decided_by_name(s.plan.decision.by), "draw") == 0);
    CHECK(strcmp(reason_code_name(s.plan.reasons[0].code), "explored") == 0);
    CHECK(strcmp(s.plan.reasons[0].text,
                 "drawn to start on office: 20 % of such requests start elsewhere") == 0);
    CHECK(s.plan.decision.runner_up == 0);
    CHECK(strstr(s.plan.decision.flip, "without the draw it starts on local"));
    CHECK(propensity(&s, 0) == 0.8 && propensity(&s, 1) == 0.1 && propensity(&s, 2) == 0.1);
    s.signals.draw = 0.15;
    CHECK(begin(&s) == 2 && drawn(&s));
    s.signals.draw = 0.2;
    CHECK(begin(&s) == 0 && s.plan.decision.by == DECIDED_BY_ROUTE);
    CHECK(propensity(&s, 0) == 0.8 && propensity(&s, 2) == 0.1);
    s.route.explore_share = 0;
    s.signals.draw = 0;
    CHECK(begin(&s) == 0);
    CHECK(propensity(&s, 0) == 1 && propensity(&s, 1) == 0 && propensity(&s, SIZE_MAX) == 0);
}

static void test_frequencies_of_draws_are_the_recorded_probabilities(void)
{
    enum { REQUESTS = 20000 };
    struct scene s;
    size_t starts[COUNT] = {0};
    open_scene(&s);
    for (int i = 0; i < REQUESTS; i++) {
        char id[40];
        snprintf(id, sizeof id, "ex_%032x", i);
        s.signals.draw = explore_draw(id);
        CHECK(s.signals.draw >= 0 && s.signals.draw < 1 && s.signals.draw == explore_draw(id));
        size_t start = begin(&s);
        starts[start < COUNT ? start : 0]++;
    }
    for (size_t i = 0; i < COUNT; i++) { /* five standard deviations */
        double p = propensity(&s, i), expected = p * REQUESTS;
        CHECK(fabs((double)starts[i] - expected) < 5 * sqrt(REQUESTS * p * (1 - p)));
    }
}

static void test_only_tiers_that_nothing_speaks_against_are_drawn(void)
{
    struct scene s;
    open_scene(&s);
    s.signals.data_class = TD_CLASS_RESTRICTED;
    CHECK(begin(&s) == 0 && !drawn(&s) && propensity(&s, 0) == 1);
    open_scene(&s);
    s.states[1].reachable = false;
    CHECK(begin(&s) == 2 && propensity(&s, 1) == 0 && propensity(&s, 2) == 0.2);
    s.facts[2].has_key = false;
    CHECK(begin(&s) == 0 && propensity(&s, 0) == 1);
    open_scene(&s);
    s.signals.budget = "team";
    s.signals.budget_used = 0.9;
    s.signals.budget_left_usd = 1e-9;
    CHECK(begin(&s) == 0 && propensity(&s, 0) == 1);
    open_scene(&s);
    s.signals.slo_ms = 1000;
    s.states[1].forecast_total_ms = s.states[2].forecast_total_ms = 2000;
    CHECK(begin(&s) == 0 && propensity(&s, 0) == 1);
    open_scene(&s);
    s.route.overflow_after_ms = 2000;
    s.states[1].wait_ms = 3000;
    CHECK(begin(&s) == 2 && propensity(&s, 1) == 0);
    open_scene(&s);
    s.signals.capped_at = 5;
    CHECK(begin(&s) == 0);
}

static void test_who_chose_by_name_is_not_drawn(void)
{
    struct scene s;
    for (enum td_mode mode = TD_MODE_PREFER_LOCAL; mode <= TD_MODE_ONLY_CLOUD; mode++) {
        open_scene(&s);
        s.signals.mode = mode;
        begin(&s);
        bool many = mode == TD_MODE_ONLY_CLOUD || mode == TD_MODE_ONLY_LOCAL;
        CHECK(many || s.plan.decision.by == DECIDED_BY_MODE);
        CHECK(mode != TD_MODE_ONLY_LOCAL || s.plan.rungs[0] == 0);
        CHECK(mode != TD_MODE_ONLY_CLOUD || s.plan.rungs[0] != 0);
    }
    open_scene(&s);
    s.rule = (struct routing_rule){.name = "r", .start = RULE_START_LOCAL};
    s.signals.rule = &s.rule;
    CHECK(begin(&s) == 0 && s.plan.decision.by == DECIDED_BY_RULE);
    s.rule = (struct routing_rule){.name = "r", .start = RULE_START_NONE, .stays = true};
    CHECK(begin(&s) == 0 && !drawn(&s));
    open_scene(&s);
    plan_make(&s.route, 0, &s.signals, s.facts, s.states, COUNT, &s.plan);
    CHECK(s.plan.rungs[0] == 0);
    open_scene(&s);
    s.signals.moment.network = TD_NETWORK_METERED;
    CHECK(begin(&s) == 0 && s.plan.decision.by == DECIDED_BY_DEVICE);
    open_scene(&s); /* the conversation stays where it was */
    s.signals.remembered = (struct remembered){.by = REMEMBERED_CONVERSATION, .tier = 0};
    CHECK(begin(&s) == 0 && !drawn(&s));
}

int main(void)
{
    RUN(test_a_share_starts_elsewhere_and_its_probability_is_known);
    RUN(test_frequencies_of_draws_are_the_recorded_probabilities);
    RUN(test_only_tiers_that_nothing_speaks_against_are_drawn);
    RUN(test_who_chose_by_name_is_not_drawn);
    return test_finish();
}
