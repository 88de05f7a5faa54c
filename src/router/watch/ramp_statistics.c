/* The bets of ramp_statistics.h as sums of logarithms. Five stakes are played at once and their
 * mean counts, because the best stake depends on how much is really lost, which nobody knows
 * before. What comes from a file is checked against all that bets could have become. */
#include "router/watch/ramp_statistics.h"

#include "base/core/assertion.h"

#include <math.h>

/* A loss on the wrong side costs at most this part of what a bet has. */
static const double stakes[RAMP_BETS] = {0.1, 0.25, 0.5, 0.75, 0.95};

#define NOTHING (-1.0)

const char *ramp_evidence_name(enum ramp_evidence evidence)
{
    static const char *const names[] = {"agreement", "outcomes", "feedback"};
    ASSERT((unsigned)evidence < RAMP_EVIDENCE_COUNT);
    return names[evidence];
}

static void begin_bets(struct ramp_bets *bets)
{
    *bets = (struct ramp_bets){.waiting = {NOTHING, NOTHING}};
}

static void begin_step(struct ramp_state *state)
{
    for (int i = 0; i < RAMP_EVIDENCE_COUNT; i++)
        begin_bets(&state->bets[i]);
}

void ramp_begin(struct ramp_state *state)
{
    *state = (struct ramp_state){.step = 0};
    begin_step(state);
}

double ramp_percent(const struct ramp_plan *plan, const struct ramp_state *state)
{
    return state->stopped || state->step >= plan->step_count ? 0 : plan->steps[state->step];
}

bool ramp_includes(double percent, uint64_t hash)
{
    return (double)(hash >> 11) * 0x1p-53 * 100 < percent;
}

static double bound(const struct ramp_plan *plan, enum ramp_evidence evidence)
{
    return evidence == RAMP_AGREEMENT ? plan->disagreement_max : (1 + plan->loss_margin) / 2;
}

double ramp_mean_loss(const struct ramp_state *state, enum ramp_evidence evidence)
{
    const struct ramp_bets *bets = &state->bets[evidence];
    double mean = bets->judged ? bets->loss_sum / bets->judged : (double)NAN;
    return evidence == RAMP_AGREEMENT ? mean : 2 * mean - 1;
}

/* log of the mean of what the bets came to. */
static double wealth(const double bets[static RAMP_BETS])
{
    double highest = bets[0], sum = 0;
    for (int k = 1; k < RAMP_BETS; k++)
        highest = fmax(highest, bets[k]);
    for (int k = 0; k < RAMP_BETS; k++)
        sum += exp(bets[k] - highest);
    return highest + log(sum / RAMP_BETS);
}

static void bet(struct ramp_bets *bets, double limit, double x)
{
    bets->judged += bets->judged < UINT32_MAX;
    bets->loss_sum += x;
    for (int k = 0; k < RAMP_BETS; k++) {
        bets->over[k] += log1p(stakes[k] / limit * (x - limit));
        bets->under[k] += log1p(-stakes[k] / (1 - limit) * (x - limit));
    }
}

/* Pairs the latest unpaired losses with and without the candidate. True when there is a pair: *x is
 * its loss. Which losses meet does not depend on how large they are. */
static bool pair_up(struct ramp_bets *bets, bool candidate, double loss, double *x)
{
    double other = bets->waiting[!candidate];
    bets->waiting[candidate] = loss;
    if (other < 0)
        return false;
    *x = (1 + bets->waiting[1] - bets->waiting[0]) / 2;
    bets->waiting[0] = bets->waiting[1] = NOTHING;
    return true;
}

static bool is_enough(const struct ramp_plan *plan, const struct ramp_bets *bets)
{
    return bets->judged >= plan->judged_min && wealth(bets->under) > -log(RAMP_ADVANCE_ALPHA);
}

enum ramp_event ramp_judge(const struct ramp_plan *plan, struct ramp_state *state,
                           enum ramp_evidence evidence, bool candidate, double loss)
{
    ASSERT((unsigned)evidence < RAMP_EVIDENCE_COUNT);
    struct ramp_bets *bets = &state->bets[evidence];
    double x = loss;
    if (state->stopped || plan->step_count == 0 || !(loss >= 0 && loss <= 1))
        return RAMP_GOES_ON;
    if (evidence != RAMP_AGREEMENT && !pair_up(bets, candidate, loss, &x))
        return RAMP_GOES_ON;
    bet(bets, bound(plan, evidence), x);
    if (wealth(bets->over) > -log(RAMP_STOP_ALPHA / (RAMP_EVIDENCE_COUNT * plan->step_count))) {
        state->stopped = true;
        state->cause = evidence;
        state->cause_loss = ramp_mean_loss(state, evidence);
        return RAMP_STOPPED;
    }
    if (state->step + 1 >= plan->step_count) {
        if (bets->judged >= RAMP_WATCHED_TOGETHER)
            begin_bets(bets);
        return RAMP_GOES_ON;
    }
    if (!is_enough(plan, &state->bets[RAMP_OUTCOMES]) ||
        (plan->needs_agreement && !is_enough(plan, &state->bets[RAMP_AGREEMENT])))
        return RAMP_GOES_ON;
    state->step++;
    begin_step(state);
    return RAMP_ADVANCED;
}

/* --- what comes from a file --- */

/* After `judged` losses the logarithm of a bet lies between those of losing and of winning every
 * time. */
static bool is_reachable(double value, double judged, double worst, double best)
{
    const double rounding = 1e-6 * (1 + judged);
    return value >= judged * worst - rounding && value <= judged * best + rounding;
}

static bool bets_are_sound(const struct ramp_bets *bets, double limit)
{
    double judged = bets->judged;
    bool sound = bets->loss_sum >= 0 && bets->loss_sum <= judged + 1e-6;
    for (int k = 0; k < RAMP_BETS && sound; k++)
        sound = is_reachable(bets->over[k], judged, log1p(-stakes[k]),
                             log1p(stakes[k] / limit * (1 - limit))) &&
                is_reachable(bets->under[k], judged, log1p(-stakes[k]),
                             log1p(stakes[k] / (1 - limit) * limit));
    for (int i = 0; i < 2; i++)
        sound = sound && bets->waiting[i] <= 1 &&
                (bets->waiting[i] >= 0 || bets->waiting[i] == NOTHING);
    return sound;
}

bool ramp_state_is_sound(const struct ramp_plan *plan, const struct ramp_state *state)
{
    bool sound = state->step < plan->step_count && (unsigned)state->cause < RAMP_EVIDENCE_COUNT &&
                 state->cause_loss >= -1 && state->cause_loss <= 1;
    for (int i = 0; i < RAMP_EVIDENCE_COUNT; i++)
        sound = sound && bets_are_sound(&state->bets[i], bound(plan, (enum ramp_evidence)i));
    return sound;
}
