/* A ramp on simulated traffic, from a seed: for its test and for bench/bench_ramp.c. */
#ifndef TESTS_RAMP_SIMULATION_H
#define TESTS_RAMP_SIMULATION_H

#include "base/crypto/rng.h"
#include "router/watch/ramp_statistics.h"

struct ramp_world {
    double differs;      /* probability that a shadow's answer is not the same */
    double shadow_share; /* of the exchanges that the candidate did not answer; 0 = no shadows */
    double old_loss;     /* probability that an exchange of the old tier is lost */
    double new_loss;     /* and one of the candidate's */
    uint32_t worse_from; /* step from which on the candidate is as above; before it loses nothing */
    uint32_t exchanges_max; /* that come, to a ramp */
};

struct ramp_outcome {
    struct ramp_state state;
    uint32_t exchanges; /* until it stopped, reached the last step, or none came any more */
    uint32_t taken,
        judged; /* by the candidate; observations of all evidence in the step where it ended */
    uint32_t steps_while_worse;
};

static const struct ramp_plan ramp_usual = {
    .steps = {1, 5, 20, 50, 100},
    .step_count = 5,
    .judged_min = 50,
    .disagreement_max = 0.2,
    .loss_margin = 0.05,
    .needs_agreement = true,
};

static inline bool ramp_happens(struct rng *rng, double probability)
{
    return rng_double(rng) < probability;
}

/* until_end: goes on at the last step, too. */
static inline struct ramp_outcome ramp_simulate(const struct ramp_plan *plan,
                                                const struct ramp_world *world, uint64_t seed,
                                                bool until_end)
{
    struct ramp_outcome out = {.exchanges = 0};
    struct rng rng;
    rng_init(&rng, seed);
    ramp_begin(&out.state);
    while (out.exchanges < world->exchanges_max && !out.state.stopped &&
           (until_end || out.state.step + 1 < plan->step_count)) {
        out.exchanges++;
        bool worse = out.state.step >= world->worse_from;
        bool taken = ramp_includes(ramp_percent(plan, &out.state), rng_u64(&rng));
        uint32_t step = out.state.step;
        out.taken += taken;
        if (!taken && ramp_happens(&rng, world->shadow_share))
            ramp_judge(plan, &out.state, RAMP_AGREEMENT, false,
                       ramp_happens(&rng, worse ? world->differs : 0));
        double loss = taken && worse ? world->new_loss : world->old_loss;
        ramp_judge(plan, &out.state, RAMP_OUTCOMES, taken, ramp_happens(&rng, loss));
        out.steps_while_worse += worse && out.state.step > step;
    }
    for (int i = 0; i < RAMP_EVIDENCE_COUNT; i++)
        out.judged += out.state.bets[i].judged;
    return out;
}

#endif
