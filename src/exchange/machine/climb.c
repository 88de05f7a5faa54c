/* The state machine that runs a plan.
 *
 * An exchange is about to take a step, runs one attempt (and another beside it where that one is
 * slow), or has ended. Whatever ends an attempt is an outcome. Outcome and circumstances look up
 * the next step in one table, `transitions`: a new pattern is a new plan, not a new path through
 * this file. Gates say when an attempt is left (limits/gates.c). */
#include "exchange/machine/climb.h"

#include "exchange/machine/exchange_core.h"

#include <math.h>
#include <stdio.h>

/* --- what can be done --- */

bool exchange_can_climb(const struct exchange *ex)
{
    const struct lane *other = lane_beside(ex);
    return ex->rung_next < ex->plan.climb_count ||
           (other && ex->current && attempt_is_above(other->attempt, ex->current));
}

bool exchange_takes_back(const struct exchange *ex)
{
    return ex->request.corrections || !ex->request.streamed;
}

bool exchange_is_stuck(const struct exchange *ex)
{
    return ex->answer.shown && !exchange_takes_back(ex);
}

/* A question that no tier is expected to get right is not made better by asking another one (the
 * meta-verifier of Aggarwal et al. 2023, "AutoMix", section 3.3, has the same third way). */
bool exchange_is_hopeless(const struct exchange *ex)
{
    return ex->signals.judged && ex->signals.p_strong < ex->plan.gates.hopeless_under;
}

/* --- transitions --- */

enum outcome { OUTCOME_BEGIN, OUTCOME_ANSWERED, OUTCOME_LEFT, OUTCOME_FAILED, OUTCOME_DEADLINE };

enum circumstance {
    CAN_CLIMB = 1, /* a rung that gates may climb to */
    CAN_FALL = 2,  /* a rung of any kind */
    STUCK = 4,     /* the client holds text that it would not take back */
    KEPT = 8,      /* a complete answer below the bar */
    LEFT = 16,     /* a tier that was left before its end */
    PART = 32,     /* text of an answer that has no end */
    GOES_ON = 64,  /* another tier can go on with what the client holds */
    REFUSED = 128, /* a tier's server found the request itself wrong */
};

enum step {
    STEP_NEXT_RUNG,
    STEP_CONTINUE,
    STEP_ASK_AGAIN,
    STEP_FINISH,
    STEP_GIVE_KEPT,
    STEP_GIVE_CUT,
    STEP_FAIL
};

/* The first row counts whose outcome is this one and whose circumstances all hold. A rung above is
 * tried before a kept answer is given, and a kept answer is given before a rung below is tried. */
static const struct transition {
    enum outcome outcome;
    unsigned circumstances;
    enum step step;
} transitions[] = {
    {OUTCOME_BEGIN, CAN_FALL, STEP_NEXT_RUNG},
    {OUTCOME_BEGIN, 0, STEP_FAIL},
    {OUTCOME_ANSWERED, 0, STEP_FINISH},
    {OUTCOME_LEFT, CAN_CLIMB, STEP_NEXT_RUNG},
    {OUTCOME_FAILED, STUCK | GOES_ON, STEP_CONTINUE},
    {OUTCOME_FAILED, STUCK, STEP_FAIL},
    {OUTCOME_FAILED, REFUSED, STEP_FAIL}, /* the client has to know: no tier mends that */
    {OUTCOME_FAILED, CAN_CLIMB, STEP_NEXT_RUNG},
    {OUTCOME_FAILED, KEPT, STEP_GIVE_KEPT},
    {OUTCOME_FAILED, LEFT, STEP_ASK_AGAIN},
    {OUTCOME_FAILED, CAN_FALL, STEP_NEXT_RUNG},
    {OUTCOME_FAILED, 0, STEP_FAIL},
    {OUTCOME_DEADLINE, STUCK | PART, STEP_GIVE_CUT},
    {OUTCOME_DEADLINE, STUCK, STEP_FAIL},
    {OUTCOME_DEADLINE, KEPT, STEP_GIVE_KEPT},
    {OUTCOME_DEADLINE, PART, STEP_GIVE_CUT},
    {OUTCOME_DEADLINE, 0, STEP_FAIL},
};

static enum step find_step(const struct exchange *ex, enum outcome outcome)
{
    unsigned now = (exchange_can_climb(ex) ? CAN_CLIMB : 0u) |
                   (ex->rung_next < ex->plan.rung_count ? CAN_FALL : 0u) |
                   (exchange_is_stuck(ex) ? STUCK : 0u) | (ex->kept ? KEPT : 0u) |
                   (ex->left ? LEFT : 0u) | (deadline_cut_lane(ex) ? PART : 0u) |
                   (attempt_refused(ex) ? REFUSED : 0u) |
                   (!continuation_obstacle(ex) && continuation_has_rung(ex) ? GOES_ON : 0u);
    for (size_t i = 0; i < sizeof transitions / sizeof *transitions; i++)
        if (transitions[i].outcome == outcome && (transitions[i].circumstances & ~now) == 0)
            return transitions[i].step;
    return STEP_FAIL;
}

/* Takes steps until an attempt runs or the exchange has ended. */
static void advance(struct exchange *ex, enum outcome outcome)
{
    for (;;) {
        if (outcome == OUTCOME_LEFT || outcome == OUTCOME_FAILED) {
            parts_left(ex);
            if (ex->waiting) { /* it could not be checked */
                lane_turn_to(ex, ex->waiting);
                ex->waiting = NULL;
                answer_finish(ex);
                return;
            }
            if (lane_beside(ex)) { /* the attempt beside it runs on */
                lane_turn_to(ex, lane_beside(ex));
                return;
            }
        }
        bool started = false, fallback;
        size_t rung;
        deadline_skip_rungs(ex, ex->kept || ex->left);
        if (ex->kept)
            review_skip_rungs(ex,
                              ex->kept->why_left == REASON_LEFT_REFUTED ? 0 : ex->kept->confidence);
        switch (find_step(ex, outcome)) {
        case STEP_NEXT_RUNG:
            fallback = ex->rung_next >= ex->plan.climb_count;
            started = attempt_start(ex, ex->rung_next++, fallback, EGRESS_ATTEMPT);
            break;
        case STEP_CONTINUE:
            rung = continuation_take_rung(ex);
            started = parts_may_go_on(ex, ex->plan.rungs[rung]) &&
                      attempt_start(ex, rung, rung >= ex->plan.climb_count, EGRESS_CONTINUATION);
            break;
        case STEP_ASK_AGAIN:
            rung = ex->left->rung;
            ex->left = NULL;
            started = attempt_start(ex, rung, true, EGRESS_ATTEMPT);
            break;
        case STEP_FINISH:
            answer_finish(ex);
            return;
        case STEP_GIVE_KEPT:
            answer_give_kept(ex);
            return;
        case STEP_GIVE_CUT:
            lane_turn_to(ex, deadline_cut_lane(ex));
            answer_give_cut(ex);
            return;
        case STEP_FAIL:
            answer_fail(ex);
            return;
        }
        if (started) {
            parts_started(ex);
            return;
        }
        outcome = OUTCOME_FAILED;
    }
}

/* --- gates --- */

/* The answer that would be left is in hand, so tiers that would come too late are no way out. */
static bool may_leave(struct exchange *ex)
{
    deadline_skip_rungs(ex, true);
    review_skip_rungs(ex, gate_is_refusal(ex->lane->verdict.left_by) ? 0
                          : ex->current->outcome == ATTEMPT_OPEN
                              ? confidence_value(&ex->lane->confidence)
                              : ex->current->confidence);
    return exchange_can_climb(ex) && !exchange_is_stuck(ex) && !exchange_is_hopeless(ex);
}

static struct gate_view view_of(const struct exchange *ex, bool whole, enum answer_cut cut)
{
    return (struct gate_view){
        .settings = &ex->lane->gates,
        .confidence = &ex->lane->confidence,
        .token_count = ex->lane->token_count,
        .whole = whole,
        .cut = cut,
        .fault = whole ? answer_values_judge(&ex->lane->values) : ANSWER_SOUND,
    };
}

static void explain_leaving(struct exchange *ex, const struct gate_view *view)
{
    const char *tier = ex->facts[ex->current->tier].name;
    char text[REASON_TEXT_BYTES];
    enum reason_code code = gates_explain(&ex->lane->verdict, view, tier, text);
    ex->current->why_left = code;
    plan_add_reason(&ex->plan, code, tier, "%s", text);
}

/* Why an answer that a gate would leave is kept all the same. The gate's own sentence says which
 * confidence it saw: an early look has another one than the whole answer. */
static void explain_keeping_low(struct exchange *ex, const struct gate_view *view)
{
    const char *tier = ex->facts[ex->current->tier].name;
    const struct gate_verdict *verdict = &ex->lane->verdict;
    char text[REASON_TEXT_BYTES];
    gates_explain(verdict, view, tier, text);
    if (gate_is_cut(verdict->left_by)) {
        plan_add_reason(&ex->plan, REASON_KEPT_LAST, tier, "%s, and no other tier was to ask",
                        text);
    } else if (!exchange_can_climb(ex)) {
        plan_add_reason(&ex->plan, REASON_KEPT_LAST, tier,
                        "%s, but there is no further tier to ask", text);
    } else if (exchange_is_hopeless(ex)) {
        ex->hopeless = true;
        plan_add_reason(&ex->plan, REASON_KEPT_HOPELESS, tier,
                        "not escalated: the next tier is right with probability %.2f, under %.2f",
                        ex->signals.p_strong, ex->plan.gates.hopeless_under);
    } else {
        plan_add_reason(&ex->plan, REASON_KEPT_LAST, tier,
                        "%s, but the client had seen text already", text);
    }
}

/* A tier was there that might have answered better, and nothing looked at whether to ask it. */
static void explain_unjudged(struct exchange *ex)
{
    const char *tier = ex->facts[ex->current->tier].name;
    struct plan *plan = &ex->plan;
    if (!gates_on(&ex->lane->gates))
        plan_add_reason(plan, REASON_UNJUDGED_NO_GATE, tier,
                        "no gate judges this answer: %s has none",
                        plan->decision.by == DECIDED_BY_RULE ? "the rule" : "the route");
    else if (!ex->current->gated)
        plan_add_reason(plan, REASON_UNJUDGED_FORMAT, tier,
                        "no gate judges this answer: it begins with the prompt");
    else if (ex->lane->token_count > 0)
        plan_add_reason(plan, REASON_UNJUDGED_NO_GATE, tier,
                        "no gate judges this answer: none looks at whole answers");
    else
        plan_add_reason(plan, REASON_UNJUDGED_NO_LOGPROBS, tier,
                        "no gate judges this answer: %s gave no log-probabilities with it", tier);
}

static void explain_keeping(struct exchange *ex, const struct gate_view *view)
{
    const char *tier = ex->facts[ex->current->tier].name;
    const struct gate_verdict *verdict = &ex->lane->verdict;
    if (ex->current->low)
        explain_keeping_low(ex, view);
    else if (ex->current->gated && !isnan(verdict->confidence) && !isnan(verdict->threshold))
        plan_add_reason(&ex->plan, REASON_KEPT_CONFIDENT, tier,
                        "confidence %.2f%s is at least %.2f", verdict->confidence,
                        view->confidence->calls ? " of the call" : "", verdict->threshold);
    else if (exchange_can_climb(ex))
        explain_unjudged(ex);
    else
        plan_add_reason(&ex->plan, REASON_KEPT_LAST, tier, "the last tier to ask");
}

/* A server's numbers are not trusted, and one that sends wrong ones should be known. */
static void explain_odd(struct exchange *ex)
{
    const struct confidence *confidence = &ex->lane->confidence;
    const char *tier = ex->facts[ex->current->tier].name;
    if (confidence->odd_count > 0)
        plan_add_reason(&ex->plan, REASON_ODD_LOGPROBS, tier,
                        "%llu of %llu log-probabilities of %s are none: they count as impossible",
                        (unsigned long long)confidence->odd_count,
                        (unsigned long long)confidence->token_count, tier);
}

bool climb_look(struct exchange *ex)
{
    const struct gate_view view = view_of(ex, false, CUT_NOT);
    if (!ex->current->gated || ex->lane->verdict.left_by)
        return false;
    struct gate_verdict verdict = gates_look(&view);
    if (!verdict.left_by)
        return false;
    ex->lane->verdict = ex->current->judged = verdict;
    if (ex->current->urgent || !may_leave(ex) || review_is_next(ex))
        return false; /* judged at the end: there may be no better answer to be had */
    lane_stop(ex->lane, ATTEMPT_ESCALATED);
    explain_odd(ex);
    explain_leaving(ex, &view);
    ex->left = ex->current;
    advance(ex, OUTCOME_LEFT);
    return true;
}

static enum answer_cut was_cut(const struct exchange *ex, const struct tier_result *result)
{
    uint32_t wanted = ex->request.tokens_max, eased = ex->request.tokens_eased;
    uint32_t got = result->usage.completion_tokens;
    if (result->finish != TD_FINISH_LENGTH || (wanted != 0 && got >= wanted))
        return CUT_NOT;
    bool spared = wanted == 0 && eased && got >= eased &&
                  ex->facts[ex->current->tier].place == TD_PLACE_DEVICE;
    return spared ? CUT_TO_SPARE : CUT_BY_TIER;
}

/* The answer of an attempt that is left complete: it may still be the best that can be had. */
static void keep_for_later(struct exchange *ex)
{
    if (!ex->lane->hold_whole) {
        ex->left = ex->current; /* too long to keep: it would have to be asked again */
    } else if (!ex->kept || attempt_is_above(ex->current, ex->kept)) {
        ex->kept = ex->current;
        hold_deinit(&ex->kept_hold);
        ex->kept_hold = ex->lane->hold;
        ex->lane->hold = (struct hold){0};
    }
}

/* The gates have judged a whole answer: it is kept or left. */
static void conclude(struct exchange *ex, const struct gate_view *view)
{
    if (!ex->current->low || !may_leave(ex)) {
        if (!ex->lane->checks && !ex->lane->plans)
            explain_keeping(ex, view);
        if (!parts_answered(ex))
            advance(ex, OUTCOME_ANSWERED);
        else if (ex->waiting == ex->lane && ex->request.corrections)
            answer_tell_provisional(ex);
        return;
    }
    explain_leaving(ex, view);
    ex->current->outcome = ATTEMPT_ESCALATED;
    review_note_candidate(ex);
    keep_for_later(ex);
    advance(ex, OUTCOME_LEFT);
}

static void complete_attempt(struct exchange *ex, const struct tier_result *result)
{
    const struct gate_view view = view_of(ex, true, was_cut(ex, result));
    confidence_end(&ex->lane->confidence, result->finish != TD_FINISH_LENGTH);
    explain_odd(ex);
    ex->current->eased = view.cut == CUT_TO_SPARE;
    attempt_close(ex->lane, attempt_answered(ex->current), result);
    if (!ex->lane->checks) /* a verdict is shorter than an answer */
        attempt_report_answer(ex);
    if (ex->current->gated && !ex->lane->verdict.left_by)
        ex->lane->verdict = gates_judge(&view);
    ex->current->judged = ex->lane->verdict;
    if (ex->current->gated && view.fault != ANSWER_SOUND) { /* whichever gate was the first */
        ex->current->confidence = 0;
        ex->current->fault = view.fault;
    }
    ex->current->low = ex->lane->verdict.left_by != NULL;
    if (view.cut != CUT_NOT || view.fault != ANSWER_SOUND || !parts_judged(ex))
        conclude(ex, &view);
}

void climb_weigh(struct exchange *ex, double confidence)
{
    lane_turn_to(ex, ex->waiting);
    ex->waiting = NULL;
    const struct gate_view view = view_of(ex, true, CUT_NOT);
    if (!isnan(confidence)) {
        confidence_weigh(&ex->lane->confidence, confidence);
        ex->current->confidence = confidence;
        ex->lane->verdict = gates_judge(&view);
        ex->current->low = ex->lane->verdict.left_by != NULL;
    }
    conclude(ex, &view);
}

void climb_settle(struct exchange *ex, struct lane *lane)
{
    lane_turn_to(ex, lane);
    if (lane_beside(ex))
        lane_stop(lane_beside(ex), ATTEMPT_CANCELLED);
    ex->waiting = NULL;
    lane->withheld = lane->checks = false;
    advance(ex, OUTCOME_ANSWERED);
}

void climb_refute(struct exchange *ex, const char *why)
{
    lane_turn_to(ex, ex->waiting);
    ex->waiting = NULL;
    ex->current->low = true;
    ex->current->why_left = REASON_LEFT_REFUTED;
    plan_add_reason(&ex->plan, REASON_LEFT_REFUTED, ex->facts[ex->current->tier].name, "%s", why);
    ex->current->outcome = ATTEMPT_ESCALATED;
    review_note_candidate(ex);
    keep_for_later(ex);
    advance(ex, OUTCOME_LEFT);
}

void climb_fail(struct exchange *ex)
{
    advance(ex, OUTCOME_FAILED);
}

void climb_again(struct exchange *ex)
{
    const struct attempt *before = ex->current;
    if (ex->attempt_count < ATTEMPTS_MAX &&
        attempt_start(ex, before->rung, before->fallback, EGRESS_ATTEMPT))
        parts_started(ex);
    else
        advance(ex, OUTCOME_FAILED);
}

/* What the tier goes on with is not the answer that the client holds. */
void climb_refuse(struct exchange *ex, enum td_status status)
{
    const char *why = status == TD_NO_MEMORY ? "out of memory" : CONTINUATION_REFUSED;
    struct attempt *attempt = ex->current;
    lane_stop(ex->lane, ATTEMPT_FAILED);
    attempt->status = status;
    attempt->why_left = REASON_LEFT_ERROR;
    snprintf(attempt->error, sizeof attempt->error, "%s", why);
    plan_add_reason(&ex->plan, attempt->why_left, ex->facts[attempt->tier].name, "%s", why);
    advance(ex, OUTCOME_FAILED);
}

void climb_after(struct exchange *ex, const struct tier_result *result)
{
    ex->review.accepted = result->accepted;
    if (result->pending)
        review_note_pending(ex);
    if (result->pending && result->status != TD_OK) {
        attempt_close(ex->lane, ATTEMPT_PENDING, result);
        ex->current->why_left = REASON_REVIEW_PENDING;
        advance(ex, OUTCOME_FAILED);
    } else if (result->status == TD_OK) {
        complete_attempt(ex, result);
    } else {
        attempt_fail(ex, result);
        advance(ex, OUTCOME_FAILED);
    }
}

/* --- timers --- */

void climb_begin(struct exchange *ex)
{
    advance(ex, OUTCOME_BEGIN);
}

void climb_deadline(struct exchange *ex)
{
    for (size_t i = 0; i < LANES_MAX; i++)
        attempt_cut_off(ex, &ex->lanes[i]);
    if (ex->waiting) {
        if (ex->verification.state == VERIFICATION_PROVISIONAL)
            ex->verification.state = VERIFICATION_TIMEOUT;
        climb_settle(ex, ex->waiting);
        return;
    }
    advance(ex, OUTCOME_DEADLINE);
}
