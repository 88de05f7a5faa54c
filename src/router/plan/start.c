/* Where on the ladder an exchange begins. In this order, the first that has something to say: what the caller asked for (mode), the rule that
 * matched, the route's ramp (ramp_statistics.h), the weights (score.h), gate G0, the route; what an earlier exchange began with (earlier_start.c) may change the last three; and what was not asked for by name gives way to a tier whose measured tail keeps the
 * request's wish for its time. */
#include "base/names.h"
#include "router/plan/plan_internal.h"
#include "router/plan/score.h"

#include <math.h>
#include <string.h>

/* The first tier of the ladder on (or off) the device; 0 when there is none. */
static size_t first_at(const struct question *q, const size_t *ladder, size_t count, bool device)
{
    for (size_t i = 0; i < count; i++)
        if ((q->facts[ladder[i]].place == TD_PLACE_DEVICE) == device)
            return i;
    return 0;
}

/* --- a rule's start --- */

static bool start_by_rule(const struct question *q, const size_t *ladder, size_t count,
                          struct start *out)
{
    const struct routing_rule *rule = q->rule;
    if (!rule || rule->start == RULE_START_NONE)
        return false;
    out->position = count;
    if (rule->start == RULE_START_LOCAL || rule->start == RULE_START_CLOUD)
        out->position = first_at(q, ladder, count, rule->start == RULE_START_LOCAL);
    for (size_t i = 0; i < count; i++)
        if (ladder[i] == rule->start)
            out->position = i;
    if (out->position == count) { /* removed: the others do as if the rule had not named it */
        out->position = 0;
        return false;
    }
    out->code = REASON_CHOSEN_RULE;
    return removed(out->text, "rule '%.60s' starts on %s", rule->name,
                   q->facts[ladder[out->position]].name);
}

void explain_rule(const struct question *q, char flip[static REASON_TEXT_BYTES])
{
    double numbers[RULE_NUMBER_COUNT];
    policy_read_numbers(q->signals, numbers);
    rule_explain_flip(q->rule, numbers, flip);
}

/* --- gate G0 --- */

/* Is the prompt too long for the tier, or likely to be better answered on the next one? NAN is
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

/* The gate's bound that is nearest to what was measured. */
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

static void start_by_route(const struct question *q, const struct gate_settings *gates,
                           const size_t *ladder, size_t count, struct start *out,
                           struct decision *decision)
{
    out->position = 0;
    for (size_t i = 0; q->route->start && i < count; i++)
        if (strcmp(q->facts[ladder[i]].name, q->route->start) == 0)
            out->position = i;
    const char *name = q->facts[ladder[out->position]].name;
    decision->by = DECIDED_BY_ROUTE;
    out->code = REASON_CHOSEN_START;
    if (out->position + 1 < count) {
        const char *next = q->facts[ladder[out->position + 1]].name;
        const struct tier_state *state = &q->states[ladder[out->position]];
        bool fired = beyond_g0(q, gates, state, name, next, out->text);
        explain_gate(q, gates, state, fired, fired ? name : next, decision->flip);
        if (fired) {
            out->position++;
            out->code = REASON_CHOSEN_RULE;
            decision->by = DECIDED_BY_GATE;
            return;
        }
    }
    removed(out->text, "route %s starts on %s", q->route->name, name);
}

/* --- weights and wishes for time --- */

/* Fewer wishes missed, then the better score, then the nearer to `preferred`. */
static bool is_better(const struct score *a, size_t at_a, const struct score *b, size_t at_b,
                      size_t preferred)
{
    int missed_a = a->misses_ttft + a->misses_total, missed_b = b->misses_ttft + b->misses_total;
    if (missed_a != missed_b)
        return missed_a < missed_b;
    if (a->total_usd < b->total_usd || a->total_usd > b->total_usd)
        return a->total_usd < b->total_usd;
    size_t from_a = at_a > preferred ? at_a - preferred : preferred - at_a;
    size_t from_b = at_b > preferred ? at_b - preferred : preferred - at_b;
    return from_a < from_b;
}

/* The best position but `other_than`; what is not available only when nothing else is. */
static size_t best_of(const struct question *q, const struct score *scores, const size_t *ladder,
                      size_t count, size_t preferred, size_t other_than)
{
    size_t best = SIZE_MAX;
    bool best_available = false;
    for (size_t i = 0; i < count; i++) {
        bool available = tier_is_available(q, ladder[i]);
        if (i == other_than)
            continue;
        if (best == SIZE_MAX || available > best_available ||
            (available == best_available &&
             is_better(&scores[i], i, &scores[best], best, preferred))) {
            best = i;
            best_available = available;
        }
    }
    return best;
}

static void keep_scores(const struct score *scores, const size_t *ladder, size_t count,
                        struct decision *decision)
{
    decision->scored = true;
    decision->scored_count = count;
    for (size_t i = 0; i < count; i++) {
        decision->score[i] = scores[i].total_usd;
        decision->scored_tiers[i] = ladder[i];
    }
}

static void start_by_score(const struct question *q, const size_t *ladder, size_t count,
                           const struct score *scores, struct start *out, struct decision *decision)
{
    const struct td_weights *w = &q->signals->weights;
    out->position = best_of(q, scores, ladder, count, 0, SIZE_MAX);
    out->code = REASON_CHOSEN_SCORE;
    decision->by = DECIDED_BY_SCORE;
    keep_scores(scores, ladder, count, decision);
    const char *name = q->facts[ladder[out->position]].name;
    size_t second = best_of(q, scores, ladder, count, 0, out->position);
    removed(out->text, "%s is best for latency %.2g, privacy %.2g, cost %.2g: %.3g USD", name,
            w->latency, w->privacy, w->cost, scores[out->position].total_usd);
    if (second == SIZE_MAX)
        return;
    double behind = scores[second].total_usd - scores[out->position].total_usd;
    double share = w->cost / (w->latency + w->privacy + w->cost);
    decision->runner_up = ladder[second];
    if (behind < 0)
        removed(decision->flip, "%s scores better by %.3g USD, but misses the request's time",
                q->facts[ladder[second]].name, -behind);
    else if (share > 0)
        removed(decision->flip, "%s starts when its answer gets cheaper by more than %.3g USD",
                q->facts[ladder[second]].name, behind / share);
    else
        removed(decision->flip, "%s starts when its score gets better by more than %.3g USD",
                q->facts[ladder[second]].name, behind);
}

/* Nobody asked for the start by name, and its measured tail is too long. */
static void mind_the_time(const struct question *q, const size_t *ladder, size_t count,
                          const struct score *scores, struct start *out, struct decision *decision)
{
    const struct score *now = &scores[out->position];
    size_t best = best_of(q, scores, ladder, count, out->position, SIZE_MAX);
    if (!(now->misses_ttft || now->misses_total) || best == out->position)
        return;
    const struct signals *signals = q->signals;
    const struct tier_state *state = &q->states[ladder[out->position]];
    const char *late = q->facts[ladder[out->position]].name;
    double measured = now->misses_ttft ? state->ttft_p95_ms : state->total_p95_ms;
    uint32_t wished = now->misses_ttft ? signals->slo_ttft_ms : signals->slo_ms;
    if (decision->keeping == KEEPING_KEPT || decision->keeping == KEEPING_SAME) {
        decision->keeping = KEEPING_MOVED;
        removed(decision->moved, "an earlier exchange started on %.60s, which is too slow now",
                late);
    }
    decision->by = DECIDED_BY_SLO;
    decision->runner_up = ladder[out->position];
    removed(decision->flip, "with a wish of at least %.0f ms it starts on %s", measured, late);
    out->position = best;
    out->code = REASON_CHOSEN_SLO;
    removed(out->text,
            "one in 20 of %s's %s takes more than %.0f ms and %u are asked for: starts on %s", late,
            now->misses_ttft ? "first texts" : "answers", measured, wished,
            q->facts[ladder[best]].name);
}

/* --- the ramp --- */

static size_t available_at(const struct question *q, const size_t *ladder, size_t count,
                           const char *name)
{
    for (size_t i = 0; i < count; i++)
        if (strcmp(q->facts[ladder[i]].name, name) == 0 && tier_is_available(q, ladder[i]))
            return i;
    return SIZE_MAX;
}

/* Only who could have either tier is in the ramp: it never brings back what a constraint removed. */
static bool start_by_ramp(const struct question *q, const size_t *ladder, size_t count,
                          struct start *out, struct decision *decision)
{
    const struct ramp_signal *ramp = &q->signals->ramp;
    const char *to = q->route->ramp_to;
    const char *from = policy_start_of(q->route);
    if (!ramp->on || q->named != SIZE_MAX)
        return false;
    size_t position = available_at(q, ladder, count, to);
    size_t otherwise = available_at(q, ladder, count, from);
    if (position == SIZE_MAX || otherwise == SIZE_MAX)
        return false;
    decision->ramp = (struct ramp_arm){.on = true, .taken = ramp->taken, .percent = ramp->percent};
    if (!ramp->taken)
        return false;
    out->position = position;
    out->code = REASON_CHOSEN_RAMP;
    decision->by = DECIDED_BY_RAMP;
    decision->runner_up = ladder[otherwise];
    removed(out->text, "canary %g %%: taken, starts on %s", ramp->percent, to);
    removed(decision->flip, "outside of the ramp's %g %% of the users it starts on %s",
            ramp->percent, from);
    return true;
}

/* --- the choice --- */

void start_choose(const struct question *q, const struct gate_settings *gates, const size_t *ladder,
                  size_t count, struct start *out, struct decision *decision)
{
    const struct signals *signals = q->signals;
    *out = (struct start){.code = REASON_CHOSEN_START};
    if (q->mode == TD_MODE_PREFER_LOCAL || q->mode == TD_MODE_PREFER_CLOUD) {
        out->position = first_at(q, ladder, count, q->mode == TD_MODE_PREFER_LOCAL);
        out->code = REASON_CHOSEN_MODE;
        decision->by = DECIDED_BY_MODE;
        removed(out->text, "mode %s starts on %s", names_mode(q->mode),
                q->facts[ladder[out->position]].name);
        removed(decision->flip, "without the mode %s", names_mode(q->mode));
        return;
    }
    if (start_by_rule(q, ladder, count, out)) {
        decision->by = DECIDED_BY_RULE;
        explain_rule(q, decision->flip);
        return;
    }
    if (start_by_ramp(q, ladder, count, out, decision))
        return;
    const struct td_weights *w = &signals->weights;
    bool weighed = w->set && w->latency + w->privacy + w->cost > 0;
    if (!weighed) {
        start_by_route(q, gates, ladder, count, out, decision);
        earlier_start_by_gates(q, gates, ladder, count, out, decision);
    }
    if (!weighed && !signals->slo_ttft_ms && !signals->slo_ms)
        return;
    struct score scores[RUNGS_MAX];
    score_tiers(signals, q->facts, q->states, ladder, count, scores);
    if (weighed) {
        start_by_score(q, ladder, count, scores, out, decision);
        earlier_start_by_score(q, scores, ladder, count, out, decision);
        return;
    }
    mind_the_time(q, ladder, count, scores, out, decision);
}
