/* Starting where an earlier exchange did: within the margin, never against a wish by name, a hard
 * constraint, a wish for time or the day's cap; and what is said of it. */
#include "scene.h"
#include "test.h"

#include <math.h>

/* A gain over 0.3 starts one rung up. */
static void scene_init(struct scene *s)
{
    scene_init_with(s, (struct gate_settings){.g0_gain_over = 0.3});
    s->signals.judged = true;
    s->signals.p_local = s->signals.p_strong = 0.5;
    s->signals.remembered = (struct remembered){.by = REMEMBERED_SIMILAR, .margin = 0.1};
}

static bool by(const struct scene *s, const char *what)
{
    enum decided_by by = s->plan.decision.by;
    return by != DECIDED_NOT && strcmp(decided_by_name(by), what) == 0;
}

static const struct reason *reason_with(const struct scene *s, enum reason_code code)
{
    for (size_t i = 0; i < s->plan.reason_count; i++)
        if (s->plan.reasons[i].code == code)
            return &s->plan.reasons[i];
    return NULL;
}

static void test_a_similar_question_is_held_above_for_money_and_below_within_the_margin(void)
{
    static const struct {
        double gain;
        size_t remembered, start;
        enum keeping keeping;
    } cases[] = {
        {0.25, 0, 0, KEEPING_SAME}, {0.35, 1, 1, KEEPING_SAME},  {0.35, 0, 0, KEEPING_KEPT},
        {0.39, 0, 0, KEEPING_KEPT}, {0.45, 0, 1, KEEPING_MOVED}, {0.25, 1, 1, KEEPING_KEPT},
        {0.21, 1, 1, KEEPING_KEPT}, {-0.8, 1, 1, KEEPING_KEPT},  {0.35, 2, 1, KEEPING_MOVED},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct scene s;
        scene_init(&s);
        s.signals.gain = cases[i].gain;
        s.signals.remembered.tier = cases[i].remembered;
        CHECK(begin(&s) == cases[i].start);
        CHECK(s.plan.decision.keeping == cases[i].keeping);
        CHECK((cases[i].keeping == KEEPING_KEPT) == by(&s, "similar"));
        CHECK((cases[i].keeping == KEEPING_MOVED) == (reason_with(&s, REASON_MOVED) != NULL));
    }
}

static void test_what_is_kept_says_so_and_what_it_gives_up(void)
{
    struct scene s;
    scene_init(&s);
    s.signals.gain = 0.37;
    CHECK(begin(&s) == 0 && s.plan.decision.fresh == 1);
    CHECK(fabs(s.plan.decision.given_up - 0.07) < 1e-9);
    const struct reason *reason = reason_with(&s, REASON_KEPT_SIMILAR);
    REQUIRE(reason != NULL);
    CHECK(strcmp(reason->text,
                 "kept on local as for an earlier similar question (0.07 is given up, "
                 "at most 0.10)") == 0);
    CHECK(strcmp(s.plan.decision.flip, "without the earlier question it starts on office") == 0);
}

static void test_a_probability_bound_and_a_length_are_kept_to_in_the_same_way(void)
{
    struct scene s;
    scene_init(&s);
    s.route.gates = (struct gate_settings){.g0_p_local_under = 0.6};
    s.signals.p_local = 0.55; /* 0.05 under the bound */
    CHECK(begin(&s) == 0 && s.plan.decision.keeping == KEEPING_KEPT);
    s.signals.p_local = 0.45;
    CHECK(begin(&s) == 1 && s.plan.decision.keeping == KEEPING_MOVED);
    s.signals.p_local = 0.55;
    s.route.gates.g0_tokens_over = 999; /* too long is not a matter of degree */
    CHECK(begin(&s) == 1 && s.plan.decision.keeping == KEEPING_MOVED);
    s.route.gates =
        (struct gate_settings){0}; /* nothing judges: what was remembered is of another policy */
    s.signals.remembered.tier = 1;
    CHECK(begin(&s) == 0 && s.plan.decision.keeping == KEEPING_MOVED);
}

static void test_hard_constraints_win_over_memory(void)
{
    struct scene s;
    scene_init(&s);
    s.signals.gain = 0.25;
    s.signals.remembered.tier = 1;
    CHECK(begin(&s) == 1);
    s.signals.data_class = TD_CLASS_RESTRICTED;
    CHECK(begin(&s) == 0 && s.plan.decision.keeping == KEEPING_BARRED);
    CHECK(reason_with(&s, REASON_MOVED) != NULL);
    s.signals.data_class = TD_CLASS_PUBLIC;
    s.states[1].reachable = false;
    CHECK(begin(&s) == 0 && s.plan.decision.keeping == KEEPING_BARRED);
    s.states[1].reachable = true;
    s.signals.remembered.no_money = true; /* the day's cap */
    CHECK(begin(&s) == 0 && s.plan.decision.keeping == KEEPING_MOVED);
    s.signals.gain = 0.35;
    s.signals.remembered.tier = 0; /* the cheaper one is kept all the same */
    CHECK(begin(&s) == 0 && s.plan.decision.keeping == KEEPING_KEPT);
    s.signals.remembered.no_loss = true; /* and the day's cap on right answers */
    CHECK(begin(&s) == 1 && s.plan.decision.keeping == KEEPING_MOVED);
    CHECK(strstr(reason_with(&s, REASON_MOVED)->text, "what keeping may give up a day") != NULL);
}

static void test_wishes_by_name_come_before_memory(void)
{
    struct scene s;
    scene_init(&s);
    s.signals.gain = 0.35;
    s.signals.mode = TD_MODE_PREFER_CLOUD;
    CHECK(begin(&s) == 1 && by(&s, "mode") && s.plan.decision.keeping == KEEPING_NONE);
    s.signals.mode = TD_MODE_AUTO;
    s.rule = (struct routing_rule){.name = "r", .start = 2, .data_class = -1};
    s.signals.rule = &s.rule;
    CHECK(begin(&s) == 2 && by(&s, "rule") && s.plan.decision.keeping == KEEPING_NONE);
}

static void test_a_deadline_moves_what_was_kept(void)
{
    struct scene s;
    scene_init(&s);
    s.signals.gain = 0.35;
    s.signals.slo_ms = 1000;
    s.states[0].forecast_total_ms = 3000;
    s.states[1].forecast_total_ms = 400;
    CHECK(begin(&s) == 1 && s.plan.decision.keeping == KEEPING_BARRED);
    CHECK(reason_with(&s, REASON_REMOVED_TOO_SLOW) != NULL);
}

static void test_a_conversation_stays_above_and_leaves_below_when_it_must(void)
{
    struct scene s;
    scene_init(&s);
    s.signals.remembered.by = REMEMBERED_CONVERSATION;
    s.signals.remembered.tier = 2;
    s.signals.gain = -0.9; /* an easy turn after one that climbed */
    CHECK(begin(&s) == 2 && by(&s, "conversation"));
    CHECK(reason_with(&s, REASON_KEPT_CONVERSATION) != NULL);
    s.signals.remembered.no_money = true;
    CHECK(begin(&s) == 0 && s.plan.decision.keeping == KEEPING_MOVED);
    s.signals.remembered = (struct remembered){.by = REMEMBERED_CONVERSATION, .margin = 0.1};
    s.signals.gain = 0.38;
    CHECK(begin(&s) == 0 && by(&s, "conversation"));
    s.signals.gain = 0.6; /* clearly too hard */
    CHECK(begin(&s) == 1 && s.plan.decision.keeping == KEEPING_MOVED);
}

static void test_weights_give_up_at_most_the_margins_share_of_the_score(void)
{
    struct scene s;
    scene_init(&s);
    s.signals.weights = (struct td_weights){.cost = 1, .set = true};
    s.facts[0].input_usd_per_mtok = 0.095; /* office: 0.1 a million, 5 % more */
    s.facts[0].output_usd_per_mtok = s.facts[1].output_usd_per_mtok = 0;
    s.signals.remembered.tier = 1;
    CHECK(begin(&s) == 1 && by(&s, "similar") && s.plan.decision.scored);
    CHECK(s.plan.decision.given_up > 0.05 && s.plan.decision.given_up < 0.06);
    s.signals.remembered.margin = 0.05;
    CHECK(begin(&s) == 0 && by(&s, "score") && s.plan.decision.keeping == KEEPING_MOVED);
    s.signals.remembered.margin = 1;
    s.signals.slo_ms = 1000;
    for (size_t i = 0; i < COUNT; i++)
        s.states[i].forecast_total_ms = i == 1 ? 5000 : 10;
    CHECK(begin(&s) == 0 && s.plan.decision.keeping == KEEPING_BARRED);
}

int main(void)
{
    RUN(test_a_similar_question_is_held_above_for_money_and_below_within_the_margin);
    RUN(test_what_is_kept_says_so_and_what_it_gives_up);
    RUN(test_a_probability_bound_and_a_length_are_kept_to_in_the_same_way);
    RUN(test_hard_constraints_win_over_memory);
    RUN(test_wishes_by_name_come_before_memory);
    RUN(test_a_deadline_moves_what_was_kept);
    RUN(test_a_conversation_stays_above_and_leaves_below_when_it_must);
    RUN(test_weights_give_up_at_most_the_margins_share_of_the_score);
    return test_finish();
}
