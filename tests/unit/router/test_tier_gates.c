#include "router/plan/tier_gates.h"

#include "test.h"

#include <math.h>

static struct gate_settings defaults(void)
{
    return (struct gate_settings){.g2_on = true,
                                  .g2_tokens = 1,
                                  .g2_confidence_min = 0.35,
                                  .g3_on = true,
                                  .g3_confidence_min = 0.55,
                                  .risk = RISK_LEVEL_5,
                                  .commit_tokens = 32};
}

static struct gate_settings of(struct gate_settings route, struct tier_facts facts, bool adapted)
{
    struct gate_settings out;
    tier_gates_of(&route, &facts, adapted, &out);
    return out;
}

static const struct tier_facts plain = {.name = "local"},
                               unknown = {.name = "local", .uncalibrated = true},
                               known = {.name = "local",
                                        .has_thresholds = true,
                                        .threshold = {0.9, 0.8, 0.7}};

static void test_a_calibrated_file_and_a_server_have_the_default_numbers(void)
{
    struct gate_settings gates = of(defaults(), plain, false);
    CHECK(gates.g2_on && gates.g2_confidence_min == 0.35 && gates.g2_tokens == 1);
    CHECK(gates.g3_on && gates.g3_confidence_min == 0.55 && !gates.uncalibrated);
}

static void test_an_unknown_model_and_one_with_an_adapter_have_none(void)
{
    for (int adapted = 0; adapted < 2; adapted++) {
        struct gate_settings gates = of(defaults(), adapted ? known : unknown, adapted);
        CHECK(!gates.g2_on && !gates.g3_on && gates.uncalibrated);
    }
    CHECK(of(defaults(), plain, true).uncalibrated);
}

static void test_what_the_route_gives_holds_for_every_model(void)
{
    const struct tier_facts *const all[] = {&plain, &unknown, &known};
    for (size_t i = 0; i < 3; i++) {
        struct gate_settings route = defaults();
        route.g3_given = true;
        route.g3_confidence_min = 0.2;
        struct gate_settings gates = of(route, *all[i], false);
        CHECK(gates.g3_on && gates.g3_confidence_min == 0.2 && !gates.uncalibrated);
        CHECK(gates.g2_on == (all[i] == &plain));
        route = defaults();
        route.g2_given = true;
        gates = of(route, *all[i], false);
        CHECK(gates.g2_on && gates.g2_confidence_min == 0.35 && !gates.uncalibrated);
    }
}

static void test_gates_that_are_off_stay_off(void)
{
    struct gate_settings off = {.g2_given = true, .g3_given = true};
    CHECK(!of(off, unknown, false).uncalibrated && !of(off, unknown, false).g3_on);
    struct gate_settings by_rule = {.risk = RISK_LEVEL_5}; /* a rule that stays */
    CHECK(!of(by_rule, unknown, false).uncalibrated && !of(by_rule, known, false).g2_on);
    CHECK(!of(by_rule, known, false).g3_on);
    struct gate_settings half = defaults();
    half.g2_on = false;
    half.g2_given = true;
    CHECK(of(half, unknown, false).uncalibrated);
}

static void test_a_calibration_gives_its_threshold_at_the_routes_risk(void)
{
    for (int risk = 0; risk < RISK_LEVEL_COUNT; risk++) {
        struct gate_settings route = defaults();
        route.risk = risk;
        struct gate_settings gates = of(route, known, false);
        CHECK(gates.g3_confidence_min == known.threshold[risk] && gates.g3_on);
        CHECK(gates.g2_on && gates.g2_confidence_min == known.threshold[risk]);
        CHECK(gates.g2_tokens == 32); /* just before text is shown */
    }
    struct gate_settings held = defaults();
    held.commit_tokens = UINT32_MAX;
    CHECK(!of(held, known, false).g2_on && of(held, known, false).g3_on);
    held.commit_tokens = 0;
    CHECK(of(held, known, false).g2_tokens == 1);
}

static void test_a_risk_out_of_reach_leaves_at_the_first_token(void)
{
    const struct tier_facts facts = {
        .name = "local", .has_thresholds = true, .threshold = {INFINITY, INFINITY, INFINITY}};
    struct gate_settings gates = of(defaults(), facts, false);
    CHECK(gates.g2_on && gates.g2_tokens == 1 && isinf(gates.g2_confidence_min));
}

int main(void)
{
    RUN(test_a_calibrated_file_and_a_server_have_the_default_numbers);
    RUN(test_an_unknown_model_and_one_with_an_adapter_have_none);
    RUN(test_what_the_route_gives_holds_for_every_model);
    RUN(test_gates_that_are_off_stay_off);
    RUN(test_a_calibration_gives_its_threshold_at_the_routes_risk);
    RUN(test_a_risk_out_of_reach_leaves_at_the_first_token);
    return test_finish();
}
