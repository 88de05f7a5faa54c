/* Where on the ladder an exchange begins. The steps stand in a table, in this order, and the first
 * that has something to say decides:
 *
 *   mode    what the caller asked for
 *   rule    the rule that matched
 *   device  a metered network, a battery that is nearly empty, heat, short memory
 *   ramp    the route's ramp (ramp_statistics.h)
 *   score   the weights (score.h)
 *   route   the route's start, or the next rung when gate G0 fires
 *
 * Score and route may give way to the tier where an earlier exchange began (earlier_start.c). A
 * tier that cannot be asked now, or is too slow for the deadline, may still be chosen: plan.c then
 * takes the next one. Most starts give way to a tier that is free, when the wait is long
 * (overflow.c). A share of what gates or weights chose starts elsewhere by a draw (explore.c), or
 * because two tiers contradict each other (skew.c). To add a step, write a function and give it a
 * row. */
#include "base/core/assertion.h"
#include "base/text/names.h"
#include "router/plan/plan_internal.h"
#include "router/plan/score.h"
#include "router/plan/tier_gates.h"

#include <math.h>
#include <string.h>

/* By this part of the smaller one, or the other model does hardly more work. */
#define CLEARLY_LARGER 4

/* Tiers that may answer, and what is written about the choice among them. */
struct choice {
    const struct question *q;
    const struct gate_settings *gates;
    const size_t *ladder; /* [count] */
    size_t count;
    struct start *start;
    struct decision *decision;
};

/* The first tier of the ladder on (or off) the device; 0 when there is none. */
static size_t first_at(const struct choice *choice, bool device)
{
    for (size_t i = 0; i < choice->count; i++)
        if ((choice->q->facts[choice->ladder[i]].place == TD_PLACE_DEVICE) == device &&
            !choice->q->facts[choice->ladder[i]].people)
            return i;
    return 0;
}

static const char *name_at(const struct choice *choice, size_t position)
{
    return choice->q->facts[choice->ladder[position]].name;
}

/* --- the mode --- */

static bool start_by_mode(const struct choice *choice)
{
    enum td_mode mode = choice->q->mode;
    if (mode != TD_MODE_PREFER_LOCAL && mode != TD_MODE_PREFER_CLOUD)
        return false;
    choice->start->position = first_at(choice, mode == TD_MODE_PREFER_LOCAL);
    choice->start->code = REASON_CHOSEN_MODE;
    choice->decision->by = DECIDED_BY_MODE;
    removed(choice->start->text, "mode %s starts on %s", names_mode(mode),
            name_at(choice, choice->start->position));
    return removed(choice->decision->flip, "without the mode %s", names_mode(mode));
}

/* --- a rule --- */

static bool start_by_rule(const struct choice *choice)
{
    const struct routing_rule *rule = choice->q->rule;
    struct start *start = choice->start;
    if (!rule || rule->start == RULE_START_NONE)
        return false;
    size_t position = choice->count;
    if (rule->start == RULE_START_LOCAL || rule->start == RULE_START_CLOUD)
        position = first_at(choice, rule->start == RULE_START_LOCAL);
    for (size_t i = 0; i < choice->count; i++)
        if (choice->ladder[i] == rule->start)
            position = i;
    if (position == choice->count) /* removed: the other steps decide as if no rule named it */
        return false;
    start->position = position;
    start->code = REASON_CHOSEN_RULE;
    choice->decision->by = DECIDED_BY_RULE;
    explain_rule(choice->q, choice->decision->flip);
    return removed(start->text, "rule '%.60s' starts on %s", rule->name, name_at(choice, position));
}

void explain_rule(const struct question *q, char flip[static REASON_TEXT_BYTES])
{
    double numbers[RULE_NUMBER_COUNT];
    policy_read_numbers(q->signals, numbers);
    rule_explain_flip(q->rule, numbers, flip);
}

/* --- the device --- */

/* The first tier that is available on (or off) the device; SIZE_MAX when there is none. */
static size_t first_available_at(const struct choice *choice, bool device)
{
    for (size_t i = 0; i < choice->count; i++)
        if ((choice->q->facts[choice->ladder[i]].place == TD_PLACE_DEVICE) == device &&
            !choice->q->facts[choice->ladder[i]].people &&
            tier_is_available(choice->q, choice->ladder[i]))
            return i;
    return SIZE_MAX;
}

/* The smallest model on the device that can be asked, where another one there is clearly larger;
 * SIZE_MAX: there is no such choice. */
static size_t smallest_here(const struct choice *choice)
{
    uint64_t least = UINT64_MAX, most = 0;
    size_t found = SIZE_MAX;
    for (size_t i = 0; i < choice->count; i++) {
        const struct tier_facts *facts = &choice->q->facts[choice->ladder[i]];
        if (facts->place != TD_PLACE_DEVICE || facts->model_bytes == 0 ||
            !tier_is_available(choice->q, choice->ladder[i]))
            continue;
        if (facts->model_bytes < least) {
            least = facts->model_bytes;
            found = i;
        }
        most = facts->model_bytes > most ? facts->model_bytes : most;
    }
    return found != SIZE_MAX && most - least >= least / CLEARLY_LARGER ? found : SIZE_MAX;
}

/* A metered network is paid for by volume, and a battery that is nearly empty, or what is left
 * until the kernel slows a hot device, is needed for what only the device can do. A request that
 * may leave its place only for that stays where it can. What stays on a device that is spared for
 * heat or its battery is asked of its smallest model. */
static bool start_by_device(const struct choice *choice)
{
    const struct moment *moment = &choice->q->signals->moment;
    bool metered = moment->network == TD_NETWORK_METERED;
    bool eased = moment->device_level >= DEVICE_HOT;
    if (choice->q->named != SIZE_MAX || (!metered && !moment->battery_low && !eased))
        return false;
    size_t position = first_available_at(choice, metered);
    if (position == SIZE_MAX && !metered && moment->spares_power)
        position = smallest_here(choice);
    if (position == SIZE_MAX)
        return false;
    choice->start->position = position;
    choice->start->code = REASON_CHOSEN_DEVICE;
    choice->decision->by = DECIDED_BY_DEVICE;
    const char *name = name_at(choice, position);
    if (metered) {
        removed(choice->decision->flip, "on a network that is not metered");
        return removed(choice->start->text, "the network is metered: starts on %s", name);
    }
    if (!moment->battery_low) {
        removed(choice->decision->flip, "on a device that is neither hot nor short of memory");
        return removed(choice->start->text, "%.120s: starts on %s",
                       moment->device_why ? moment->device_why : "the device is spared", name);
    }
    removed(choice->decision->flip, "with a battery that is not nearly empty");
    return removed(choice->start->text, "the battery is at %.0f %%: starts on %s", moment->battery,
                   name);
}

/* --- gate G0 --- */

/* Whether none of the tier's answers would be kept, so that it need not be asked. A probe that the
 * route has a number for is read with the prompt. */
static bool keeps_nothing(const struct question *q, const struct gate_settings *gates, size_t tier,
                          const char *next, char why[REASON_TEXT_BYTES])
{
    const struct tier_facts *facts = &q->facts[tier];
    struct gate_settings own;
    bool adapted = facts->adapts_always || (q->needs & CAPABILITY_ADAPTERS);
    tier_gates_of(gates, facts, adapted, &own);
    if (own.uncalibrated && !own.g1_on)
        return removed(why,
                       "what %s answers is uncalibrated, and route %s has no thresholds of "
                       "its own: starts on %s",
                       facts->name, q->route->name, next);
    return own.g3_on && !own.g3_given && isinf(own.g3_confidence_min) &&
           removed(why, "the asked risk is not reachable on %s: route %s starts on %s", facts->name,
                   q->route->name, next);
}

/* Is the prompt too long for the tier, or is the next one likely to answer it better? NAN is
 * neither over nor under. */
static bool beyond_g0(const struct question *q, const struct gate_settings *gates,
                      const struct tier_state *state, const char *name, const char *next,
                      char why[REASON_TEXT_BYTES])
{
    const struct signals *signals = q->signals;
    if (gates->g0_tokens_over && state->prompt_tokens > gates->g0_tokens_over)
        return removed(why, "prompt of %u tokens is over route %s's %u for %s: starts on %s",
                       state->prompt_tokens, q->route->name, gates->g0_tokens_over, name, next);
    if (!signals->judged)
        return false;
    if (gates->g0_gain_over > 0 && signals->gain > gates->g0_gain_over)
        return removed(why, "expected gain of %.2f is over route %s's %.2f: starts on %s",
                       signals->gain, q->route->name, gates->g0_gain_over, next);
    if (isinf(gates->g0_p_local_under))
        return removed(why, "the asked risk is not reachable on %s: route %s starts on %s", name,
                       q->route->name, next);
    return signals->p_local < gates->g0_p_local_under &&
           removed(why, "%s is right with probability %.2f, under route %s's %.2f: starts on %s",
                   name, signals->p_local, q->route->name, gates->g0_p_local_under, next);
}

/* Says with what other measurement the gate would have decided otherwise. */
static void explain_gate(const struct question *q, const struct gate_settings *gates,
                         const struct tier_state *state, bool fired, const char *other,
                         char flip[static REASON_TEXT_BYTES])
{
    const struct signals *signals = q->signals;
    const char *over = fired ? "at most" : "over", *under = fired ? "at least" : "under";
    if (signals->judged && gates->g0_gain_over > 0 && isfinite(signals->gain))
        removed(flip, "with an expected gain %s %.2f instead of %.2f it starts on %s", over,
                gates->g0_gain_over, signals->gain, other);
    else if (signals->judged && isinf(gates->g0_p_local_under))
        removed(flip, "with a risk that is reachable for such prompts it starts on %s", other);
    else if (signals->judged && gates->g0_p_local_under > 0 && isfinite(signals->p_local))
        removed(flip, "with a probability that it is right %s %.2f instead of %.2f it starts on %s",
                under, gates->g0_p_local_under, signals->p_local, other);
    else if (gates->g0_tokens_over)
        removed(flip, "with a prompt of %s %u tokens instead of %u it starts on %s", over,
                gates->g0_tokens_over, state->prompt_tokens, other);
}

/* The ladder's position of the route's own start; 0 when it may not answer. */
static size_t start_of_route(const struct choice *choice)
{
    size_t position = 0;
    for (size_t i = 0; choice->q->route->start && i < choice->count; i++)
        if (strcmp(name_at(choice, i), choice->q->route->start) == 0)
            position = i;
    return position;
}

/* Does gate G0 move the start to the next rung? */
static bool start_by_gate(const struct choice *choice)
{
    struct start *start = choice->start;
    if (start->position + 1 >= choice->count ||
        choice->q->facts[choice->ladder[start->position + 1]].people)
        return false;
    const char *name = name_at(choice, start->position);
    const char *next = name_at(choice, start->position + 1);
    const struct tier_state *state = &choice->q->states[choice->ladder[start->position]];
    bool nothing =
        keeps_nothing(choice->q, choice->gates, choice->ladder[start->position], next, start->text);
    bool fired = nothing || beyond_g0(choice->q, choice->gates, state, name, next, start->text);
    if (nothing)
        removed(choice->decision->flip,
                "with a calibration that keeps answers it starts on %s "
                "(tandem calibrate)",
                name);
    else
        explain_gate(choice->q, choice->gates, state, fired, fired ? name : next,
                     choice->decision->flip);
    if (!fired)
        return false;
    start->position++;
    start->code = REASON_CHOSEN_RULE;
    choice->decision->by = DECIDED_BY_GATE;
    return true;
}

/* --- weights --- */

/* The best position except `other_than`; of equals the nearest. A tier that is not available is
 * best only when no other is. */
static size_t best_of(const struct question *q, const struct score *scores, const size_t *ladder,
                      size_t count, size_t other_than)
{
    size_t best = SIZE_MAX;
    bool best_available = false;
    for (size_t i = 0; i < count; i++) {
        bool available = tier_is_available(q, ladder[i]);
        if (i == other_than || (q->facts[ladder[i]].people && count > 1))
            continue;
        if (best == SIZE_MAX || available > best_available ||
            (available == best_available && scores[i].total_usd < scores[best].total_usd)) {
            best = i;
            best_available = available;
        }
    }
    return best;
}

static void note_scores(const struct score *scores, const size_t *ladder, size_t count,
                        struct decision *decision)
{
    decision->scored = true;
    decision->scored_count = count;
    for (size_t i = 0; i < count; i++) {
        decision->score[i] = scores[i].total_usd;
        decision->scored_tiers[i] = ladder[i];
    }
}

/* The best by the weights, and with what other price or score the second best would have been. */
static void explain_score(const struct choice *choice, const struct score *scores)
{
    const struct td_weights *w = &choice->q->signals->weights;
    struct decision *decision = choice->decision;
    size_t best = choice->start->position;
    size_t second = best_of(choice->q, scores, choice->ladder, choice->count, best);
    removed(choice->start->text, "%s is best for latency %.2g, privacy %.2g, cost %.2g: %.3g USD",
            name_at(choice, best), w->latency, w->privacy, w->cost, scores[best].total_usd);
    if (second == SIZE_MAX)
        return;
    const char *other = name_at(choice, second);
    double behind = scores[second].total_usd - scores[best].total_usd;
    double share = w->cost / (w->latency + w->privacy + w->cost);
    decision->runner_up = choice->ladder[second];
    if (behind < 0)
        removed(decision->flip, "%s scores better by %.3g USD, but cannot answer in time now",
                other, -behind);
    else if (share > 0)
        removed(decision->flip, "%s starts when its answer gets cheaper by more than %.3g USD",
                other, behind / share);
    else
        removed(decision->flip, "%s starts when its score gets better by more than %.3g USD", other,
                behind);
}

static bool start_by_score(const struct choice *choice)
{
    const struct question *q = choice->q;
    const struct td_weights *w = &q->signals->weights;
    if (!w->set || !(w->latency + w->privacy + w->cost > 0))
        return false;
    struct score scores[RUNGS_MAX];
    score_tiers(q->signals, q->facts, q->states, choice->ladder, choice->count, scores);
    choice->start->position = best_of(q, scores, choice->ladder, choice->count, SIZE_MAX);
    choice->start->code = REASON_CHOSEN_SCORE;
    choice->decision->by = DECIDED_BY_SCORE;
    note_scores(scores, choice->ladder, choice->count, choice->decision);
    explain_score(choice, scores);
    earlier_start_by_score(q, scores, choice->ladder, choice->count, choice->start,
                           choice->decision);
    return true;
}

/* --- the ramp --- */

static size_t available_at(const struct choice *choice, const char *name)
{
    for (size_t i = 0; i < choice->count; i++)
        if (strcmp(name_at(choice, i), name) == 0 &&
            tier_is_available(choice->q, choice->ladder[i]))
            return i;
    return SIZE_MAX;
}

/* Only a user who could get either tier is in the ramp, so it never brings back what a constraint
 * removed. */
static bool start_by_ramp(const struct choice *choice)
{
    const struct ramp_signal *ramp = &choice->q->signals->ramp;
    struct decision *decision = choice->decision;
    const char *to = choice->q->route->ramp_to;
    const char *from = policy_start_of(choice->q->route);
    if (!ramp->on || choice->q->named != SIZE_MAX)
        return false;
    size_t position = available_at(choice, to), otherwise = available_at(choice, from);
    if (position == SIZE_MAX || otherwise == SIZE_MAX)
        return false;
    decision->ramp = (struct ramp_arm){.on = true, .taken = ramp->taken, .percent = ramp->percent};
    if (!ramp->taken)
        return false;
    choice->start->position = position;
    choice->start->code = REASON_CHOSEN_RAMP;
    decision->by = DECIDED_BY_RAMP;
    decision->runner_up = choice->ladder[otherwise];
    removed(choice->start->text, "canary %g %%: taken, starts on %s", ramp->percent, to);
    return removed(decision->flip, "outside of the ramp's %g %% of the users it starts on %s",
                   ramp->percent, from);
}

/* --- the route --- */

/* Always decides. */
static bool start_by_route(const struct choice *choice)
{
    choice->start->position = start_of_route(choice);
    choice->start->code = REASON_CHOSEN_START;
    choice->decision->by = DECIDED_BY_ROUTE;
    if (!start_by_gate(choice))
        removed(choice->start->text, "route %s starts on %s", choice->q->route->name,
                name_at(choice, choice->start->position));
    earlier_start_by_gates(choice->q, choice->gates, choice->ladder, choice->count, choice->start,
                           choice->decision);
    return true;
}

/* --- the choice --- */

typedef bool start_step(const struct choice *choice);

static start_step *const steps[] = {start_by_mode, start_by_rule,  start_by_device,
                                    start_by_ramp, start_by_score, start_by_route};

void start_choose(const struct question *q, const struct gate_settings *gates, const size_t *ladder,
                  size_t count, struct start *out, struct decision *decision)
{
    ASSERT(count > 0 && count <= RUNGS_MAX);
    *out = (struct start){.code = REASON_CHOSEN_START};
    const struct choice choice = {.q = q,
                                  .gates = gates,
                                  .ladder = ladder,
                                  .count = count,
                                  .start = out,
                                  .decision = decision};
    size_t step = 0;
    while (!steps[step](&choice)) /* the last one always decides */
        step++;
    skew_start(q, ladder, count, out, decision);
    overflow_start(q, ladder, count, out, decision);
    explore_start(q, ladder, count, out, decision);
}
