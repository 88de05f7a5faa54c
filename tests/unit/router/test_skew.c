/* Two tiers that say something else too often: a conversation is kept apart from the other one, new
 * ones start on the upper one, and the reasons ask for an update. */
#include "scene.h"
#include "test.h"

/* The device and the cloud; the conversation was on `tier`. A gain over 0.3 starts one rung up. */
static void skewed_scene(struct scene *s, enum skew_policy policy, size_t tier)
{
    scene_init_with(s, (struct gate_settings){.g0_gain_over = 0.3});
    s->route.tier_count = 2;
    s->route.tiers[1] = "cloud";
    s->signals.judged = true;
    s->signals.p_local = s->signals.p_strong = 0.5;
    s->signals.remembered =
        (struct remembered){.by = REMEMBERED_CONVERSATION, .tier = tier, .margin = 0.1};
    s->signals.skew = (struct skew_signal){.policy = policy,
                                           .goes_on = true,
                                           .local_share = 0.5,
                                           .pairs = {{{2, 0}, 0.75, 40}},
                                           .count = 1};
}

static const char *text_of(const struct scene *s, enum reason_code code)
{
    for (size_t i = 0; i < s->plan.reason_count; i++)
        if (s->plan.reasons[i].code == code)
            return s->plan.reasons[i].text;
    return "";
}

static void test_a_conversation_does_not_come_back_down_by_a_margin_or_a_queue(void)
{
    struct scene s;
    skewed_scene(&s, SKEW_WARN, 2);
    s.signals.weights = (struct td_weights){.cost = 1, .set = true};
    CHECK(begin(&s) == 0 && s.plan.decision.keeping == KEEPING_MOVED);
    s.signals.skew.policy = SKEW_KEEP;
    CHECK(begin(&s) == 2 && s.plan.decision.keeping == KEEPING_KEPT);
    CHECK(strcmp(reason_code_name(s.plan.reasons[0].code), "kept_skew") == 0);
    CHECK(strstr(text_of(&s, REASON_KEPT_SKEW), "local says something else too often"));
    s.signals.remembered.no_money = true; /* what may be spent stays a limit */
    CHECK(begin(&s) == 0 && s.plan.decision.keeping == KEEPING_MOVED);
    skewed_scene(&s, SKEW_KEEP, 0); /* upward it may go when it must */
    s.signals.gain = 0.6;
    CHECK(begin(&s) == 2 && s.plan.decision.keeping == KEEPING_MOVED);
    s.signals.gain = 0;
    s.route.overflow_after_ms = 2000; /* but not to and fro for a queue */
    s.states[0].wait_ms = 5000;
    CHECK(begin(&s) == 0);
    s.signals.skew.policy = SKEW_WARN;
    CHECK(begin(&s) == 2 && s.plan.decision.by == DECIDED_BY_OVERFLOW);
}

static void test_parted_tiers_share_no_conversation_but_stand_in_for_each_other(void)
{
    struct scene s;
    skewed_scene(&s, SKEW_PART, 0);
    s.signals.gain = 0.9;
    CHECK(begin(&s) == 0 && s.plan.decision.keeping == KEEPING_KEPT);
    CHECK(s.plan.climb_count == 1 && s.plan.rung_count == 2 && s.plan.rungs[1] == 2);
    CHECK(strstr(text_of(&s, REASON_PARTED), "no gate takes this conversation to cloud"));
    s.signals.skew.policy = SKEW_KEEP;
    s.signals.gain = 0;
    CHECK(begin(&s) == 0 && s.plan.climb_count == 2 && !*text_of(&s, REASON_PARTED));
    s.signals.skew.policy = SKEW_PART;
    s.states[0].reachable = false;
    CHECK(begin(&s) == 2);
    s.states[0].reachable = true;
    s.signals.mode = TD_MODE_PREFER_CLOUD; /* a wish by name comes first */
    CHECK(begin(&s) == 2);
    skewed_scene(&s, SKEW_PART, 0); /* another pair is no matter of this ladder */
    s.signals.skew.pairs[0].tiers[0] = 1;
    CHECK(begin(&s) == 0 && s.plan.climb_count == 2 && !*text_of(&s, REASON_SKEWED));
}

static void test_a_share_of_new_conversations_starts_above_and_the_record_knows_the_odds(void)
{
    struct scene s;
    skewed_scene(&s, SKEW_PART, 0);
    s.signals.remembered = (struct remembered){.by = REMEMBERED_NOTHING};
    s.signals.skew.draw = 0.7;
    CHECK(begin(&s) == 0); /* it goes on with a conversation that nobody remembers */
    s.signals.skew.goes_on = false;
    CHECK(begin(&s) == 2 && s.plan.decision.by == DECIDED_BY_SKEW);
    CHECK(strcmp(decided_by_name(s.plan.decision.by), "skew") == 0);
    CHECK(strcmp(reason_code_name(s.plan.reasons[0].code), "chosen_skew") == 0);
    CHECK(decision_propensity(&s.plan.decision, 0) == 0.5 &&
          decision_propensity(&s.plan.decision, 2) == 0.5);
    s.signals.skew.draw = 0.3;
    CHECK(begin(&s) == 0 && decision_propensity(&s.plan.decision, 0) == 0.5);
    s.signals.skew.draw = 0.7;
    s.signals.skew.local_share = 1;
    CHECK(begin(&s) == 0 && decision_propensity(&s.plan.decision, 0) == 1);
    s.signals.skew.local_share = 0.5;
    s.signals.data_class = TD_CLASS_RESTRICTED; /* what may not leave stays */
    CHECK(begin(&s) == 0);
    s.signals.data_class = TD_CLASS_PUBLIC;
    s.signals.budget = "b"; /* and what nobody pays for */
    s.signals.budget_used = 0.9;
    s.signals.budget_left_usd = 1e-6;
    CHECK(begin(&s) == 0);
    s.signals.skew.policy = SKEW_KEEP;
    s.signals.budget = NULL;
    CHECK(begin(&s) == 0);
}

static void test_the_reasons_ask_for_an_update_of_the_model_on_the_device(void)
{
    struct scene s;
    skewed_scene(&s, SKEW_WARN, 0);
    CHECK(begin(&s) == 0);
    CHECK(strcmp(text_of(&s, REASON_SKEWED), "cloud and local say something else in 75 % of 40 "
                                             "answers: update the model of local") == 0);
}

int main(void)
{
    RUN(test_a_conversation_does_not_come_back_down_by_a_margin_or_a_queue);
    RUN(test_parted_tiers_share_no_conversation_but_stand_in_for_each_other);
    RUN(test_a_share_of_new_conversations_starts_above_and_the_record_knows_the_odds);
    RUN(test_the_reasons_ask_for_an_update_of_the_model_on_the_device);
    return test_finish();
}
