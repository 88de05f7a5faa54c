/* The ramp's test keeps what it promises on simulated traffic, however often one looks; what comes
 * from a file is not believed. */
#include "ramp_simulation.h"

#include "test.h"

#include <math.h>

#define RAMPS 400

static const struct ramp_world as_good = {.differs = 0.1,
                                          .shadow_share = 0.1,
                                          .old_loss = 0.03,
                                          .new_loss = 0.03,
                                          .exchanges_max = 100000};

struct shares {
    double stopped, ended, passed; /* passed: went up a step while it was worse */
};

static struct shares simulate(const struct ramp_plan *plan, const struct ramp_world *world,
                              uint64_t seed)
{
    struct shares shares = {0};
    for (uint64_t i = 0; i < RAMPS; i++) {
        struct ramp_outcome out = ramp_simulate(plan, world, seed + i, false);
        shares.stopped += out.state.stopped;
        shares.ended += !out.state.stopped && out.state.step + 1 == plan->step_count;
        shares.passed += out.steps_while_worse > 0;
    }
    shares.stopped /= RAMPS;
    shares.ended /= RAMPS;
    shares.passed /= RAMPS;
    printf("stopped %.3f, reached the last step %.3f, up while worse %.3f\n", shares.stopped,
           shares.ended, shares.passed);
    return shares;
}

static void test_a_candidate_as_good_goes_all_the_way(void)
{
    struct shares shares = simulate(&ramp_usual, &as_good, 1);
    CHECK(shares.stopped <= RAMP_STOP_ALPHA && shares.ended >= 0.95);
    struct ramp_world hard = as_good; /* what both lose counts for nothing */
    hard.old_loss = hard.new_loss = 0.3;
    hard.exchanges_max = 1000000;
    shares = simulate(&ramp_usual, &hard, 1001);
    CHECK(shares.stopped <= RAMP_STOP_ALPHA && shares.ended >= 0.9);
}

static void test_a_worse_candidate_is_stopped_and_seldom_goes_up(void)
{
    struct ramp_world differs = as_good, fails = as_good, later = as_good;
    differs.differs = 0.4;
    struct shares shares = simulate(&ramp_usual, &differs, 2001);
    CHECK(shares.stopped >= 0.99 && shares.passed <= RAMP_ADVANCE_ALPHA);
    fails.new_loss = 0.2;
    shares = simulate(&ramp_usual, &fails, 3001);
    CHECK(shares.stopped >= 0.95 && shares.passed <= RAMP_ADVANCE_ALPHA);
    later.differs = 0.5;
    later.worse_from = 2;
    shares = simulate(&ramp_usual, &later, 4001);
    CHECK(shares.stopped >= 0.99 && shares.passed <= RAMP_ADVANCE_ALPHA);
}

/* Exactly at the bound both errors may happen, and each as seldom as it was said. */
static void test_at_the_bound_neither_error_is_more_frequent_than_promised(void)
{
    struct ramp_world edge = as_good;
    edge.differs = ramp_usual.disagreement_max;
    edge.new_loss = edge.old_loss = 0;
    edge.exchanges_max = 60000;
    struct shares shares = simulate(&ramp_usual, &edge, 5001);
    CHECK(shares.passed <= RAMP_ADVANCE_ALPHA && shares.stopped <= RAMP_STOP_ALPHA);
}

static void test_a_loss_that_comes_at_the_last_step_is_seen_there(void)
{
    struct ramp_world late = as_good;
    late.worse_from = 4;
    late.differs = 0.5;
    struct ramp_plan watched = ramp_usual;
    watched.steps[4] = 90;
    uint32_t stopped = 0;
    for (uint64_t i = 0; i < 50; i++) {
        struct ramp_outcome out = ramp_simulate(&watched, &late, 6001 + i, true);
        stopped += out.state.stopped && out.state.step == 4;
    }
    CHECK(stopped >= 48);
}

static void test_what_is_judged_decides_what_happens(void)
{
    struct ramp_state state;
    struct ramp_plan plan = ramp_usual, none = {.step_count = 0};
    ramp_begin(&state);
    CHECK(ramp_percent(&plan, &state) == 1 && isnan(ramp_mean_loss(&state, RAMP_AGREEMENT)));
    CHECK(ramp_percent(&none, &state) == 0);
    CHECK(ramp_judge(&none, &state, RAMP_AGREEMENT, true, 1) == RAMP_GOES_ON);
    CHECK(ramp_judge(&plan, &state, RAMP_AGREEMENT, true, NAN) == RAMP_GOES_ON);
    CHECK(ramp_judge(&plan, &state, RAMP_AGREEMENT, true, 1.5) == RAMP_GOES_ON);
    CHECK(state.bets[RAMP_AGREEMENT].judged == 0);
    for (int i = 0; i < 3; i++) /* the newest waits */
        ramp_judge(&plan, &state, RAMP_FEEDBACK, true, i == 2);
    CHECK(state.bets[RAMP_FEEDBACK].judged == 0);
    ramp_judge(&plan, &state, RAMP_FEEDBACK, false, 0);
    CHECK(state.bets[RAMP_FEEDBACK].judged == 1);
    CHECK(fabs(ramp_mean_loss(&state, RAMP_FEEDBACK) - 1) < 1e-12);
    int judged = 0;
    while (ramp_judge(&plan, &state, RAMP_FEEDBACK, true, 1) != RAMP_STOPPED && judged < 100) {
        ramp_judge(&plan, &state, RAMP_FEEDBACK, false, 0);
        judged++;
        if (state.stopped)
            break;
    }
    CHECK(state.stopped && state.cause == RAMP_FEEDBACK && state.cause_loss > 0.99);
    CHECK(judged < 20 && ramp_percent(&plan, &state) == 0);
    CHECK(ramp_judge(&plan, &state, RAMP_AGREEMENT, true, 1) == RAMP_GOES_ON);
}

static void test_no_step_is_left_without_the_evidence_that_it_needs(void)
{
    struct ramp_state state;
    struct ramp_plan plan = ramp_usual;
    ramp_begin(&state);
    for (int i = 0; i < 500; i++) {
        ramp_judge(&plan, &state, RAMP_OUTCOMES, true, 0);
        ramp_judge(&plan, &state, RAMP_OUTCOMES, false, 0);
    }
    CHECK(state.step == 0);
    plan.needs_agreement = false;
    ramp_judge(&plan, &state, RAMP_OUTCOMES, true, 0);
    CHECK(ramp_judge(&plan, &state, RAMP_OUTCOMES, false, 0) == RAMP_ADVANCED && state.step == 1);
    CHECK(state.bets[RAMP_OUTCOMES].judged == 0);
    plan.judged_min = 400;
    uint32_t pairs = 0;
    while (state.step == 1 && pairs < 1000) {
        ramp_judge(&plan, &state, RAMP_OUTCOMES, true, 0);
        ramp_judge(&plan, &state, RAMP_OUTCOMES, false, 0);
        pairs++;
    }
    CHECK(pairs == 400);
}

static void test_a_share_takes_whom_smaller_ones_took(void)
{
    struct rng rng;
    uint32_t taken = 0;
    rng_init(&rng, 7);
    for (int i = 0; i < 100000; i++) {
        uint64_t hash = rng_u64(&rng);
        CHECK(!ramp_includes(0, hash) && ramp_includes(100, hash));
        CHECK(!ramp_includes(5, hash) || ramp_includes(20, hash));
        taken += ramp_includes(5, hash);
    }
    CHECK(taken > 4700 && taken < 5300);
    CHECK(ramp_includes(100, UINT64_MAX) && ramp_includes(1, 0));
}

static void test_states_that_nothing_could_have_left_are_not_sound(void)
{
    struct ramp_outcome good = ramp_simulate(&ramp_usual, &as_good, 9, false);
    struct ramp_state begun, bad;
    ramp_begin(&begun);
    CHECK(ramp_state_is_sound(&ramp_usual, &begun));
    CHECK(ramp_state_is_sound(&ramp_usual, &good.state));
    for (int i = 0; i < 8; i++) {
        bad = good.state;
        struct ramp_bets *bets = &bad.bets[i % RAMP_EVIDENCE_COUNT];
        switch (i) {
        case 0:
            bad.step = 5;
            break;
        case 1:
            bets->over[0] = 1e6;
            break;
        case 2:
            bets->under[1] = NAN;
            break;
        case 3:
            bets->loss_sum = bets->judged + 1.0;
            break;
        case 4:
            bets->waiting[0] = 2;
            break;
        case 5:
            bets->under[4] = -1e300;
            break;
        case 6:
            bad.cause = (enum ramp_evidence)7;
            break;
        case 7:
            bets->loss_sum = NAN;
            break;
        }
        CHECK(!ramp_state_is_sound(&ramp_usual, &bad));
    }
    begun.bets[RAMP_OUTCOMES].under[2] = 3; /* won without a judgement */
    CHECK(!ramp_state_is_sound(&ramp_usual, &begun));
}

int main(void)
{
    RUN(test_a_candidate_as_good_goes_all_the_way);
    RUN(test_a_worse_candidate_is_stopped_and_seldom_goes_up);
    RUN(test_at_the_bound_neither_error_is_more_frequent_than_promised);
    RUN(test_a_loss_that_comes_at_the_last_step_is_seen_there);
    RUN(test_what_is_judged_decides_what_happens);
    RUN(test_no_step_is_left_without_the_evidence_that_it_needs);
    RUN(test_a_share_takes_whom_smaller_ones_took);
    RUN(test_states_that_nothing_could_have_left_are_not_sound);
    return test_finish();
}
