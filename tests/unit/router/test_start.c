/* Where an exchange begins: rules, the weighing formula with its closed form, measured tails
 * against what a request asks of its time. */
#include "router/plan/score.h"
#include "router/plan/thresholds.h"

#include "base/core/str.h"
#include "base/crypto/rng.h"
#include "scene.h"
#include "test.h"

#include <math.h>

static void scene_init(struct scene *s)
{
    scene_init_with(s, (struct gate_settings){.g2_on = true, .g3_on = true});
    s->rule = (struct routing_rule){.name = "r", .start = RULE_START_NONE, .data_class = -1};
    s->signals.worth = (struct worth){.second_usd = 0.001, .exposure_usd = 0.001};
}

static void weigh(struct scene *s, double latency, double privacy, double cost)
{
    s->signals.weights = (struct td_weights){latency, privacy, cost, true};
}

static void measured(struct scene *s, size_t tier, double ttft_p95, double total_p50,
                     double total_p95)
{
    s->states[tier].ttft_p95_ms = ttft_p95;
    s->states[tier].total_p50_ms = total_p50;
    s->states[tier].total_p95_ms = total_p95;
    s->states[tier].forecast_ttft_ms = ttft_p95;
    s->states[tier].forecast_total_ms = total_p95;
}

static const char *by(const struct scene *s)
{
    return s->plan.decision.by != DECIDED_NOT ? decided_by_name(s->plan.decision.by) : "";
}

static void test_a_rule_says_where_to_start_and_is_named(void)
{
    struct scene s;
    scene_init(&s);
    s.signals.rule = &s.rule;
    s.rule.start = 1;
    CHECK(begin(&s) == 1 && strcmp(by(&s), "rule") == 0);
    CHECK(s.plan.reasons[0].code == REASON_CHOSEN_RULE && strstr(s.plan.reasons[0].text, "'r'"));
    s.rule.start = RULE_START_CLOUD; /* the first off the device */
    CHECK(begin(&s) == 1);
    s.rule.start = RULE_START_LOCAL;
    CHECK(begin(&s) == 0);
    s.rule.start = 2;
    s.signals.data_class = TD_CLASS_RESTRICTED; /* a class forbids what a rule wishes */
    CHECK(begin(&s) == 0 && s.plan.rung_count == 1);
}

/* A large and a small model on the device, and a cloud. */
static void spared(struct scene *s, enum td_data_class data_class)
{
    scene_init(s);
    s->facts[1].place = TD_PLACE_DEVICE;
    s->facts[0].model_bytes = 5000000000;
    s->facts[1].model_bytes = 400000000;
    s->signals.data_class = data_class;
    s->signals.moment.device_level = DEVICE_HOT;
    s->signals.moment.spares_power = true;
    s->signals.moment.device_why = "the device is at 41 °C";
}

static void test_what_stays_on_a_hot_device_is_asked_of_its_smallest_model(void)
{
    struct scene s;
    spared(&s, TD_CLASS_RESTRICTED);
    CHECK(begin(&s) == 1 && strcmp(by(&s), "device") == 0);
    const struct reason *first = &s.plan.reasons[s.plan.reason_count - 1];
    CHECK(first->code == REASON_CHOSEN_DEVICE && strstr(first->text, "41 °C: starts on office"));
    /* The large one is there when everything else fails, but no gate climbs to it. */
    CHECK(s.plan.rung_count == 2 && s.plan.climb_count == 1 && s.plan.rungs[1] == 0);
    spared(&s, TD_CLASS_RESTRICTED);
    s.route.tiers[0] = "office", s.route.tiers[1] = "local"; /* the small one below the large */
    CHECK(begin(&s) == 1 && s.plan.rung_count == 2 && s.plan.climb_count == 1);
    spared(&s, TD_CLASS_PUBLIC);
    CHECK(begin(&s) == 2); /* what may leave does so, as before */
    spared(&s, TD_CLASS_RESTRICTED);
    s.signals.moment.spares_power = false; /* for memory nothing else is loaded */
    CHECK(begin(&s) == 0 && s.plan.climb_count == 2);
    spared(&s, TD_CLASS_RESTRICTED);
    s.signals.moment.device_level = DEVICE_USUAL;
    CHECK(begin(&s) == 0);
    spared(&s, TD_CLASS_RESTRICTED);
    s.facts[1].model_bytes = 4500000000; /* hardly smaller */
    CHECK(begin(&s) == 0);
    spared(&s, TD_CLASS_RESTRICTED);
    s.states[1].reachable = false;
    CHECK(begin(&s) == 0);
    spared(&s, TD_CLASS_RESTRICTED);
    s.signals.mode = TD_MODE_PREFER_LOCAL; /* who asks for something gets it */
    CHECK(begin(&s) == 0);
}

static void test_a_rule_tells_what_would_not_have_matched_it(void)
{
    struct scene s;
    scene_init(&s);
    s.signals.rule = &s.rule;
    s.signals.prompt_tokens = 2100;
    s.rule.start = 2;
    for (size_t i = 0; i < RULE_CHOICE_COUNT; i++)
        s.rule.any[i] = RULE_WHATEVER;
    CHECK(begin(&s) == 2 && strstr(s.plan.decision.flip, "without rule 'r'"));
    s.rule.asked = 1u << RULE_TOKENS;
    s.rule.range[RULE_TOKENS] = (struct rule_range){2000, INFINITY};
    CHECK(begin(&s) == 2);
    CHECK(strstr(s.plan.decision.flip, "tokens of at most 2000 instead of 2100") != NULL);
    s.rule.deny = "no";
    CHECK(begin(&s) == SIZE_MAX && strstr(s.plan.decision.flip, "at most 2000 instead of 2100"));
}

static void test_an_unreachable_risk_is_said_and_not_printed_as_a_number(void)
{
    struct scene s;
    const struct thresholds unreachable = {.gate = THRESHOLD_G0, .threshold = INFINITY};
    scene_init(&s);
    s.signals.judged = true;
    s.signals.p_local = 0.9;
    s.route.gates.thresholds[THRESHOLD_G0] = &unreachable;
    CHECK(begin(&s) == 1 && strcmp(by(&s), "gate") == 0);
    CHECK(strstr(s.plan.reasons[0].text, "not reachable") != NULL);
    CHECK(strstr(s.plan.decision.flip, "reachable") != NULL);
    CHECK(!strstr(s.plan.reasons[0].text, "inf") && !strstr(s.plan.decision.flip, "inf"));
}

static void test_a_rules_stay_closes_the_gates(void)
{
    struct scene s;
    scene_init(&s);
    s.signals.rule = &s.rule;
    CHECK(begin(&s) == 0 && s.plan.gates.g3_on);
    s.rule.stays = true;
    CHECK(begin(&s) == 0 && !s.plan.gates.g2_on && !s.plan.gates.g3_on);
}

static void test_a_hot_device_starts_elsewhere_and_says_why(void)
{
    struct scene s;
    scene_init(&s);
    s.signals.moment.device_level = DEVICE_WARM;
    CHECK(begin(&s) == 0 && strcmp(by(&s), "route") == 0);
    s.signals.moment.device_level = DEVICE_HOT;
    s.signals.moment.device_why = "the device is at 40.9 C and slows itself at 41.4 C";
    CHECK(begin(&s) == 1 && strcmp(by(&s), "device") == 0 && s.plan.rung_count == 3);
    CHECK(s.plan.reasons[0].code == REASON_CHOSEN_DEVICE);
    CHECK(strstr(s.plan.reasons[0].text, "40.9 C") && strstr(s.plan.decision.flip, "hot"));
    s.signals.data_class = TD_CLASS_RESTRICTED; /* heat opens nothing that its class closes */
    CHECK(begin(&s) == 0 && s.plan.rung_count == 1);
}

static void test_a_device_at_its_wall_answers_only_what_nobody_else_may(void)
{
    struct scene s;
    scene_init(&s);
    s.signals.moment.device_level = DEVICE_WALL;
    s.signals.moment.device_why = "memory is short: 12 MiB are free";
    CHECK(begin(&s) == 1 && s.plan.rung_count == 2);
    bool told = false;
    for (size_t i = 0; i < s.plan.reason_count; i++)
        told = told || (s.plan.reasons[i].code == REASON_REMOVED_DEVICE &&
                        strcmp(s.plan.reasons[i].tier, "local") == 0 &&
                        strstr(s.plan.reasons[i].text, "12 MiB"));
    CHECK(told);
    s.states[1].reachable = s.states[2].reachable = false;
    CHECK(begin(&s) == 0 && s.plan.rung_count == 1);
    s.states[1].reachable = s.states[2].reachable = true;
    s.signals.mode = TD_MODE_ONLY_LOCAL;
    CHECK(begin(&s) == 0);
    s.signals.mode = TD_MODE_AUTO;
    plan_make(&s.route, 0, &s.signals, s.facts, s.states, COUNT, &s.plan); /* by its name */
    CHECK(s.plan.rung_count == 1 && s.plan.rungs[0] == 0);
}

static void test_a_warm_device_looks_for_hopeless_answers_more_often(void)
{
    struct scene s;
    scene_init_with(&s, (struct gate_settings){.g2_on = true, .g2_every = 32});
    CHECK(begin(&s) == 0 && s.plan.gates.g2_every == 32);
    s.signals.moment.device_level = DEVICE_WARM;
    CHECK(begin(&s) == 0 && s.plan.gates.g2_every == 16);
}

static void test_a_denial_leaves_no_tier_and_gives_its_reason(void)
{
    struct scene s;
    scene_init(&s);
    s.signals.rule = &s.rule;
    s.rule.deny = "not for interns";
    CHECK(begin(&s) == SIZE_MAX && s.plan.reason_count == COUNT && strcmp(by(&s), "denied") == 0);
    CHECK(s.plan.reasons[2].code == REASON_REMOVED_RULE &&
          strstr(s.plan.reasons[2].text, "not for interns"));
}

static void test_a_rule_raises_the_class(void)
{
    struct scene s;
    scene_init(&s);
    s.signals.rule = &s.rule;
    s.rule.data_class = TD_CLASS_SENSITIVE;
    CHECK(begin(&s) == 0 && s.plan.rung_count == 2);
}

static void test_each_corner_of_the_triangle_has_its_tier(void)
{
    struct scene s;
    scene_init(&s);
    measured(&s, 0, 900, 9000, 12000);
    measured(&s, 1, 300, 3000, 4000);
    measured(&s, 2, 200, 1000, 2000);
    weigh(&s, 1, 0, 0);
    CHECK(begin(&s) == 2 && strcmp(by(&s), "score") == 0 && s.plan.decision.runner_up == 1);
    weigh(&s, 0, 1, 0);
    CHECK(begin(&s) == 0);
    weigh(&s, 0, 0, 1);
    CHECK(begin(&s) == 0);
    s.signals.worth.error_usd = 1; /* a wrong answer is dear */
    s.signals.judged = true;
    s.signals.p_local = 0.3;
    s.signals.p_strong = 0.9;
    CHECK(begin(&s) == 1); /* as right as the cloud and cheaper */
    weigh(&s, 0, 0, 0);
    CHECK(begin(&s) == 0 && strcmp(by(&s), "route") == 0);
}

static void test_scores_are_the_documented_formula(void)
{
    struct scene s;
    scene_init(&s);
    measured(&s, 0, 10, 2000, 3000);
    measured(&s, 2, 10, 500, 900);
    weigh(&s, 0.2, 0.3, 0.5);
    s.signals.worth = (struct worth){.second_usd = 0.01, .exposure_usd = 0.02, .error_usd = 0.5};
    s.signals.judged = true;
    s.signals.p_local = 0.4;
    s.signals.p_strong = 0.8;
    s.signals.tokens_max = 100;
    const size_t all[COUNT] = {0, 1, 2};
    struct score scores[RUNGS_MAX];
    score_tiers(&s.signals, s.facts, s.states, all, COUNT, scores);
    double cloud_usd = (1000 * 1 + 100 * 4) / 1e6;
    CHECK(fabs(scores[2].answer_usd - cloud_usd) < 1e-12);
    CHECK(fabs(scores[2].total_usd -
               (0.2 * 0.01 * 0.5 + 0.3 * 0.02 + 0.5 * (cloud_usd + 0.5 * 0.2))) < 1e-12);
    CHECK(fabs(scores[0].total_usd - (0.2 * 0.01 * 2 + 0.5 * 0.5 * 0.6)) < 1e-12);
    CHECK(fabs(scores[1].seconds - 1.25) < 1e-12); /* not measured: the mean of the others */
    CHECK(fabs(scores[1].reach - 1.0 / 3) < 1e-12);
}

/* A fast tier that errs 15 points more often pays below the break-even and not above it. */
static void test_the_cost_of_an_error_turns_at_its_closed_form(void)
{
    struct rng rng;
    rng_init(&rng, 3);
    for (int round = 0; round < 1000; round++) {
        struct scene s;
        scene_init(&s);
        s.route.tiers[1] = "cloud";
        s.route.tier_count = 2;
        s.facts[2].input_usd_per_mtok = 0.5 + 10 * rng_double(&rng);
        double latency = rng_double(&rng), cost = 0.1 + 0.9 * rng_double(&rng);
        weigh(&s, latency, 0, cost);
        measured(&s, 0, 10, 1 + 500 * rng_double(&rng), 1000);
        measured(&s, 2, 10, 600 + 5000 * rng_double(&rng), 9000);
        s.signals.judged = true;
        s.signals.p_local = 0.7;
        s.signals.p_strong = 0.85;
        double dollars = (1000 * s.facts[2].input_usd_per_mtok + 256 * 4) / 1e6;
        double seconds = (s.states[2].total_p50_ms - s.states[0].total_p50_ms) / 1000;
        double even = (dollars + latency / cost * 0.001 * seconds) / 0.15;
        s.signals.worth.error_usd = even * 0.99;
        CHECK(begin(&s) == 0);
        s.signals.worth.error_usd = even * 1.01;
        CHECK(begin(&s) == 2);
    }
}

static void test_a_tier_that_is_too_slow_is_removed_and_the_next_one_starts(void)
{
    struct scene s;
    scene_init(&s);
    s.signals.slo_ttft_ms = 300;
    CHECK(begin(&s) == 0 && s.plan.rung_count == 3); /* nothing measured: nothing assumed */
    measured(&s, 0, 800, 900, 1000);
    measured(&s, 1, 80, 200, 400);
    CHECK(begin(&s) == 1 && strcmp(by(&s), "slo") == 0 && s.plan.reduced);
    CHECK(s.plan.rung_count == 2 && s.plan.climb_count == 2);
    CHECK(s.plan.reasons[0].code == REASON_REMOVED_TOO_SLOW &&
          strstr(s.plan.reasons[0].text, "800") && strstr(s.plan.reasons[0].text, "300"));
    CHECK(s.plan.reasons[1].code == REASON_CHOSEN_SLO);
    CHECK(strstr(s.plan.decision.flip, "500 ms more") && s.plan.decision.runner_up == 0);
    measured(&s, 1, 400, 500, 900); /* the network got slower: no change of the configuration */
    measured(&s, 2, 250, 500, 900);
    CHECK(begin(&s) == 2 && s.plan.rung_count == 1);
}

static void test_when_all_are_too_slow_the_one_that_is_late_by_the_least_stays(void)
{
    struct scene s;
    scene_init(&s);
    s.signals.slo_ttft_ms = 300;
    measured(&s, 0, 800, 900, 1000);
    measured(&s, 1, 400, 500, 900);
    measured(&s, 2, 500, 500, 900);
    CHECK(begin(&s) == 1 && s.plan.rung_count == 1);
    s.states[1].reachable = false; /* what cannot be asked keeps nobody out */
    CHECK(begin(&s) == 2 && s.plan.rung_count == 1);
}

static void test_whatever_chose_it_a_tier_that_is_too_slow_is_removed(void)
{
    struct scene s;
    scene_init(&s);
    s.signals.slo_ms = 1000;
    measured(&s, 0, 50, 300, 400);
    measured(&s, 1, 50, 300, 400);
    measured(&s, 2, 50, 4000, 8000);
    s.signals.mode = TD_MODE_PREFER_CLOUD;
    s.states[1].forecast_total_ms = 9000;
    CHECK(begin(&s) == 0 && s.plan.rung_count == 1 && s.plan.climb_count == 0);
    s.signals.mode = TD_MODE_AUTO;
    s.signals.rule = &s.rule;
    s.rule.start = 2;
    CHECK(begin(&s) == 0 && strcmp(by(&s), "slo") == 0);
    s.signals.slo_ms = 0;
    CHECK(begin(&s) == 2 && strcmp(by(&s), "rule") == 0);
    s.signals.deadline_ms = 1000; /* the client hangs up then */
    CHECK(begin(&s) == 0);
}

static void test_first_text_and_whole_answer_are_two_deadlines(void)
{
    struct scene s;
    scene_init(&s);
    measured(&s, 0, 50, 4000, 8000);
    measured(&s, 1, 700, 800, 900);
    s.signals.slo_ms = 2000;
    CHECK(begin(&s) == 1);
    s.signals.slo_ms = 0;
    s.signals.slo_ttft_ms = 100;
    CHECK(begin(&s) == 0);
}

static void test_a_deadline_goes_before_the_weights(void)
{
    struct scene s;
    scene_init(&s);
    measured(&s, 0, 50, 4000, 8000);
    measured(&s, 1, 100, 300, 500);
    measured(&s, 2, 100, 300, 400);
    weigh(&s, 0, 1, 0);
    s.signals.slo_ms = 1000;
    CHECK(begin(&s) == 1); /* the nearest of those that keep it */
}

static void test_a_tier_that_rests_is_not_weighed_before_others(void)
{
    struct scene s;
    scene_init(&s);
    weigh(&s, 0, 1, 0);
    s.states[0].reachable = false;
    CHECK(begin(&s) == 1 && s.plan.reduced);
}

static void test_a_spent_budget_closes_paid_tiers_and_says_its_name(void)
{
    struct scene s;
    scene_init(&s);
    s.signals.budget = "team";
    s.signals.budget_used = 0.99;
    CHECK(begin(&s) == 0 && s.plan.rung_count == 3 && !s.plan.spent);
    s.signals.budget_used = 1;
    CHECK(begin(&s) == 0 && s.plan.rung_count == 1 && s.plan.spent);
    CHECK(s.plan.reasons[0].code == REASON_REMOVED_BUDGET &&
          strstr(s.plan.reasons[0].text, "'team'"));
}

static void test_weights_come_from_the_nearest_that_has_some(void)
{
    static const struct td_weights request = {.latency = 1, .set = true},
                                   app = {.privacy = 1, .set = true},
                                   route_weights = {.cost = 1, .set = true}, none = {.set = false};
    struct routing_rule rule = {.name = "r", .start = RULE_START_NONE, .data_class = -1};
    for (size_t i = 0; i < RULE_CHOICE_COUNT; i++)
        rule.any[i] = RULE_WHATEVER;
    struct routing_rules rules = {.rules = &rule, .count = 1};
    struct route route = {.name = "auto", .weights = route_weights};
    struct policy policy = {.routes = &route,
                            .route_count = 1,
                            .rules = &rules,
                            .weights = {.latency = 0.5, .set = true}};
    struct signals signals = {.gain = 0};
    policy_apply_rules(&policy, &route, &request, &app, &signals);
    CHECK(signals.weights.latency == 1 && signals.rule == &rule);
    policy_apply_rules(&policy, &route, &none, &app, &signals);
    CHECK(signals.weights.cost == 1 && signals.weights.privacy == 0);
    rule.weights = (struct td_weights){.cost = 0.25, .set = true};
    policy_apply_rules(&policy, &route, &none, &app, &signals);
    CHECK(signals.weights.cost == 0.25);
    rule.weights.set = false;
    policy_apply_rules(&policy, &route, &none, &app, &signals);
    CHECK(signals.weights.cost == 1);
    route.weights.set = false;
    policy_apply_rules(&policy, &route, &none, &app, &signals);
    CHECK(signals.weights.privacy == 1);
    policy_apply_rules(&policy, &route, &none, NULL, &signals);
    CHECK(signals.weights.latency == 0.5);
}

static void test_a_route_starts_above_a_tier_that_may_keep_nothing(void)
{
    struct scene s;
    scene_init(&s);
    s.facts[0].uncalibrated = true;
    CHECK(begin(&s) == 1 && strcmp(by(&s), "gate") == 0);
    CHECK(strstr(s.plan.reasons[0].text, "uncalibrated"));
    CHECK(strstr(s.plan.decision.flip, "tandem calibrate"));
    CHECK(s.plan.rung_count == COUNT && s.plan.climb_count == 2); /* below, for when all fail */
    s.signals.mode = TD_MODE_PREFER_LOCAL;
    CHECK(begin(&s) == 0);
    s.signals.mode = TD_MODE_AUTO;
    s.route.gates.g3_given = true;
    CHECK(begin(&s) == 0);
    s.route.gates.g3_given = false;
    s.facts[0].uncalibrated = false;
    s.facts[0].has_thresholds = true;
    s.facts[0].threshold[RISK_LEVEL_2] = INFINITY;
    s.facts[0].threshold[RISK_LEVEL_5] = 0.9;
    CHECK(begin(&s) == 1 && strstr(s.plan.reasons[0].text, "not reachable"));
    s.route.gates.risk = RISK_LEVEL_5;
    CHECK(begin(&s) == 0);
    s.facts[0].adapts_always = true; /* another model than what was calibrated */
    CHECK(begin(&s) == 1);
}

int main(void)
{
    RUN(test_a_route_starts_above_a_tier_that_may_keep_nothing);
    RUN(test_a_rule_says_where_to_start_and_is_named);
    RUN(test_what_stays_on_a_hot_device_is_asked_of_its_smallest_model);
    RUN(test_a_rule_tells_what_would_not_have_matched_it);
    RUN(test_an_unreachable_risk_is_said_and_not_printed_as_a_number);
    RUN(test_a_rules_stay_closes_the_gates);
    RUN(test_a_hot_device_starts_elsewhere_and_says_why);
    RUN(test_a_device_at_its_wall_answers_only_what_nobody_else_may);
    RUN(test_a_warm_device_looks_for_hopeless_answers_more_often);
    RUN(test_a_denial_leaves_no_tier_and_gives_its_reason);
    RUN(test_a_rule_raises_the_class);
    RUN(test_each_corner_of_the_triangle_has_its_tier);
    RUN(test_scores_are_the_documented_formula);
    RUN(test_the_cost_of_an_error_turns_at_its_closed_form);
    RUN(test_a_tier_that_is_too_slow_is_removed_and_the_next_one_starts);
    RUN(test_when_all_are_too_slow_the_one_that_is_late_by_the_least_stays);
    RUN(test_whatever_chose_it_a_tier_that_is_too_slow_is_removed);
    RUN(test_first_text_and_whole_answer_are_two_deadlines);
    RUN(test_a_deadline_goes_before_the_weights);
    RUN(test_a_tier_that_rests_is_not_weighed_before_others);
    RUN(test_a_spent_budget_closes_paid_tiers_and_says_its_name);
    RUN(test_weights_come_from_the_nearest_that_has_some);
    return test_finish();
}
