/* Starting elsewhere because of a queue: up the ladder, down the ladder, and what must stay. */
#include "scene.h"
#include "test.h"

static void busy_scene(struct scene *s)
{
    scene_init_with(s, (struct gate_settings){0});
    s->route.overflow_after_ms = 2000;
    s->states[0].wait_ms = 5000;
}

static bool overflowed(const struct scene *s)
{
    return s->plan.decision.by == DECIDED_BY_OVERFLOW;
}

static void test_a_long_wait_starts_on_the_next_tier(void)
{
    struct scene s;
    busy_scene(&s);
    CHECK(begin(&s) == 1 && overflowed(&s) && !s.plan.decision.busy);
    CHECK(strcmp(decided_by_name(s.plan.decision.by), "overflow") == 0);
    CHECK(strcmp(reason_code_name(s.plan.reasons[0].code), "overflow") == 0);
    CHECK(strstr(s.plan.reasons[0].text, "5.0 s of waiting on local, over 2.0"));
    CHECK(s.plan.decision.runner_up == 0 && strstr(s.plan.decision.flip, "at most 2.0 s"));
    CHECK(s.plan.rung_count == 3 && s.plan.rungs[2] == 0); /* the busy one is the last resort */
    s.states[0].wait_ms = 2000;
    CHECK(begin(&s) == 0 && !overflowed(&s));
    s.states[0].wait_ms = 5000;
    s.route.overflow_after_ms = 0;
    CHECK(begin(&s) == 0);
}

static void test_only_a_tier_that_is_free_takes_over(void)
{
    struct scene s;
    busy_scene(&s);
    s.states[1].wait_ms = 2500; /* hardly better */
    CHECK(begin(&s) == 2);
    s.states[1].wait_ms = 0;
    s.states[1].forecast_ttft_ms = 6000; /* this one's turn would have come sooner */
    CHECK(begin(&s) == 2);
    s.states[2].reachable = false;
    CHECK(begin(&s) == 0 && !overflowed(&s));
}

static void test_constraints_hold(void)
{
    struct scene s;
    busy_scene(&s);
    s.signals.data_class = TD_CLASS_RESTRICTED;
    CHECK(begin(&s) == 0 && !overflowed(&s));
    s.signals.data_class = TD_CLASS_PUBLIC;
    s.signals.mode = TD_MODE_ONLY_LOCAL;
    CHECK(begin(&s) == 0 && !overflowed(&s));
    s.signals.mode = TD_MODE_PREFER_LOCAL;
    CHECK(begin(&s) == 0 && !overflowed(&s));
}

static void test_batch_work_waits(void)
{
    struct scene s;
    busy_scene(&s);
    s.signals.batch = true;
    CHECK(begin(&s) == 0 && !overflowed(&s));
}

static void test_a_rule_yields_unless_it_forbids_to_leave(void)
{
    struct scene s;
    busy_scene(&s);
    s.rule = (struct routing_rule){.name = "here", .start = RULE_START_LOCAL};
    s.signals.rule = &s.rule;
    CHECK(begin(&s) == 1 && overflowed(&s));
    s.rule.stays = true;
    CHECK(begin(&s) == 0 && !overflowed(&s));
    s.rule.stays = false;
    s.rule.only = RULE_ONLY_LOCAL;
    CHECK(begin(&s) == 0 && !overflowed(&s));
}

static void test_weights_have_a_price_of_waiting_of_their_own(void)
{
    struct scene s;
    busy_scene(&s);
    s.signals.worth = (struct worth){.second_usd = 0.001};
    s.signals.weights = (struct td_weights){.cost = 1, .set = true};
    CHECK(begin(&s) == 0 && s.plan.decision.by == DECIDED_BY_SCORE);
    s.signals.weights = (struct td_weights){.latency = 1, .cost = 0.1, .set = true};
    for (size_t i = 0; i < COUNT; i++)
        s.states[i].total_p50_ms = 500;
    CHECK(begin(&s) == 1 && s.plan.decision.by == DECIDED_BY_SCORE); /* 5 s cost more than it */
    s.states[0].wait_ms = 0;
    CHECK(begin(&s) == 0);
}

static void test_money_that_is_not_left_is_not_spent(void)
{
    struct scene s;
    busy_scene(&s);
    double usd = (1000 * 0.1 + 256 * 0.4) / 1e6; /* an answer of the office */
    s.signals.budget = "day";
    s.signals.budget_used = 0.5;
    s.signals.budget_left_usd = usd * 0.99;
    CHECK(begin(&s) == 0 && !overflowed(&s));
    s.signals.budget_left_usd = usd * 1.01;
    CHECK(begin(&s) == 1 && overflowed(&s));
}

static void test_a_busy_cloud_gives_way_to_the_device(void)
{
    struct scene s;
    busy_scene(&s);
    s.states[0].wait_ms = 0;
    s.states[2].wait_ms = 9000;
    s.route.start = "cloud";
    CHECK(begin(&s) == 1 && overflowed(&s) && s.plan.decision.busy); /* the nearest below */
    s.states[1].reachable = false;
    CHECK(begin(&s) == 0 && s.plan.decision.busy && s.plan.decision.runner_up == 2);
    CHECK(s.plan.climb_count == 2 && s.plan.rungs[1] == 2); /* gates may still climb to it */
}

static void test_what_is_too_hard_for_the_device_waits_for_the_cloud(void)
{
    struct scene s;
    busy_scene(&s);
    s.route.gates.g0_tokens_over = 500;
    s.route.tiers[1] = "cloud";
    s.route.tier_count = 2;
    s.states[0].wait_ms = 0;
    s.states[2].wait_ms = 9000;
    CHECK(begin(&s) == 2 && s.plan.decision.by == DECIDED_BY_GATE);
}

static void test_an_earlier_start_moves(void)
{
    struct scene s;
    busy_scene(&s);
    s.signals.remembered = (struct remembered){.by = REMEMBERED_SIMILAR, .tier = 0, .margin = 1};
    CHECK(begin(&s) == 1 && overflowed(&s) && s.plan.decision.keeping == KEEPING_MOVED);
    CHECK(strstr(s.plan.decision.moved, "local, which is busy now"));
}

int main(void)
{
    RUN(test_a_long_wait_starts_on_the_next_tier);
    RUN(test_only_a_tier_that_is_free_takes_over);
    RUN(test_constraints_hold);
    RUN(test_batch_work_waits);
    RUN(test_a_rule_yields_unless_it_forbids_to_leave);
    RUN(test_weights_have_a_price_of_waiting_of_their_own);
    RUN(test_money_that_is_not_left_is_not_spent);
    RUN(test_a_busy_cloud_gives_way_to_the_device);
    RUN(test_what_is_too_hard_for_the_device_waits_for_the_cloud);
    RUN(test_an_earlier_start_moves);
    return test_finish();
}
