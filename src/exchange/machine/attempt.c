/* One try of one tier: it is started here, its pieces and its end come back here, and what it came
 * to is written into its record. Nothing is decided here: after each token and at the end, climb.c
 * says whether the attempt is left. A callback may cancel the exchange, so each one is between
 * exchange_enter and exchange_leave. */
#include "exchange/machine/attempt.h"

#include "base/error.h"
#include "base/log.h"
#include "base/names.h"
#include "exchange/limits/cost.h"
#include "exchange/machine/climb.h"
#include "exchange/machine/exchange_core.h"

#include <assert.h>
#include <math.h>
#include <stdio.h>

/* A higher rung is better. Rungs below the start come after all others, the nearest first. */
bool attempt_is_above(const struct attempt *attempt, const struct attempt *other)
{
    if (attempt->fallback != other->fallback)
        return other->fallback;
    return attempt->fallback ? attempt->rung < other->rung : attempt->rung > other->rung;
}

/* --- lanes --- */

void lane_turn_to(struct exchange *ex, struct lane *lane)
{
    assert(lane->exchange == ex);
    ex->lane = lane;
    ex->current = lane->attempt;
}

struct lane *lane_beside(const struct exchange *ex)
{
    struct lane *other = ex->lane->exchange->lanes + (ex->lane == ex->lanes ? 1 : 0);
    return other->running ? other : NULL;
}

void lane_stop(struct lane *lane, enum attempt_outcome outcome)
{
    if (!lane->running)
        return;
    struct tier *tier = lane->exchange->services->tiers[lane->attempt->tier];
    lane->attempt->egress_bytes = tier_egress_bytes(tier, lane->running);
    tier_cancel(tier, lane->running);
    attempt_close(lane, outcome, NULL);
}

/* --- the record --- */

/* Where no result came with a usage, an estimate stands in for it. */
void attempt_close(struct lane *lane, enum attempt_outcome outcome,
                   const struct tier_result *result)
{
    assert(lane->attempt && outcome != ATTEMPT_OPEN);
    const struct exchange *ex = lane->exchange;
    struct attempt *attempt = lane->attempt;
    lane->running = NULL;
    attempt->outcome = outcome;
    attempt->total_ms = exchange_now_ms(ex) - ex->created_ms - attempt->start_ms;
    attempt->confidence = confidence_value(&lane->confidence);
    if (result) {
        attempt->status = result->status;
        attempt->http_status = result->http_status;
        attempt->finish = result->finish;
        attempt->usage = result->usage;
        attempt->egress_bytes = result->egress_bytes;
        snprintf(attempt->error, sizeof attempt->error, "%.*s", (int)sizeof attempt->error - 1,
                 result->err.message);
    } else {
        attempt->usage = cost_usage_so_far(ex->states[attempt->tier].prompt_tokens,
                                           lane->token_count, lane->plain_bytes);
    }
    attempt->cost_usd = cost_usd(&ex->facts[attempt->tier], &attempt->usage);
    log_event(LOG_LEVEL_DEBUG, "attempt_ended",
              "exchange=%s tier=%s outcome=%s status=%s total_ms=%.1f completion_tokens=%u", ex->id,
              ex->facts[attempt->tier].name, names_outcome(outcome),
              td_status_name(attempt->status), attempt->total_ms, attempt->usage.completion_tokens);
}

/* For requests that ask for a time. Only complete answers count: one that was left has no end, and
 * one that goes on with another has no beginning. */
static void report_latency(struct exchange *ex, const struct attempt *attempt)
{
    if (ex->services->latency && attempt->status == TD_OK && attempt->first_ms > 0 &&
        attempt->purpose != EGRESS_CONTINUATION)
        tier_latency_add(ex->services->latency, attempt->tier, attempt->first_ms, attempt->total_ms,
                         (uint64_t)exchange_now_ms(ex));
}

/* Health learns only from what says something about the tier. A request that the tier refused does
 * not, nor does an answer that we did not wait for. */
static void report_health(struct exchange *ex, const struct attempt *attempt)
{
    bool sick = attempt->status == TD_UNAVAILABLE || attempt->status == TD_TIMEOUT ||
                attempt->status == TD_CORRUPT || attempt->status == TD_IO;
    if (ex->services->health && (sick || attempt->status == TD_OK))
        tier_health_report(ex->services->health, attempt->tier, !sick,
                           (uint64_t)exchange_now_ms(ex));
}

void attempt_fail(struct exchange *ex, const struct tier_result *result)
{
    char cause[REASON_TEXT_BYTES];
    attempt_close(ex->lane, ATTEMPT_FAILED, result);
    report_health(ex, ex->current);
    disclosure_cause(ex, ex->current, cause, sizeof cause);
    bool late = result->status == TD_TIMEOUT;
    plan_add_reason(&ex->plan, late ? REASON_LEFT_TIMEOUT : REASON_LEFT_ERROR,
                    ex->facts[ex->current->tier].name, "%s", cause);
}

void attempt_report_answer(struct exchange *ex)
{
    report_health(ex, ex->current);
    report_latency(ex, ex->current);
}

/* --- pieces and the end --- */

/* piece NULL: nothing of it can be shown yet. */
static void take_piece(struct exchange *ex, const struct tier_piece *piece)
{
    struct tier_piece fresh;
    if (!continuation_piece(ex, &piece, &fresh))
        climb_refuse(ex);
    else if (piece)
        answer_add(ex, piece);
}

static void on_piece(void *ctx, const struct tier_piece *piece)
{
    struct lane *lane = ctx;
    struct exchange *ex = lane->exchange;
    exchange_enter(ex);
    lane_turn_to(ex, lane);
    if (ex->current->first_ms == 0 && (piece->has_stats || piece_is_visible(piece)))
        ex->current->first_ms = exchange_now_ms(ex) - ex->created_ms - ex->current->start_ms;
    if (piece->has_stats) {
        confidence_add(&ex->lane->confidence, &piece->stats);
        if (piece->stats.probe > 0)
            ex->signals.probe = (double)piece->stats.probe;
        if (ex->lane->token_count == 0 && piece->stats.not_mine > 0)
            ex->signals.not_mine = (double)piece->stats.not_mine;
        ex->lane->token_count++;
    } else {
        ex->lane->plain_bytes += piece->text.len;
    }
    if (!piece->has_stats || !climb_look(ex))
        take_piece(ex, outgoing_piece(ex, piece));
    exchange_leave(ex);
}

/* What is held back of an answer that is whole. False when it does not go on with what was
 * shown. */
static bool take_rest(struct exchange *ex)
{
    struct tier_piece fresh;
    const struct tier_piece *rest = outgoing_end(ex);
    bool ok = continuation_piece(ex, &rest, &fresh);
    if (ok && rest)
        answer_add(ex, rest);
    if (!ok || ex->ended)
        return ok;
    ok = continuation_end(ex, &rest, &fresh);
    if (ok && rest)
        answer_add(ex, rest);
    return ok;
}

static void on_done(void *ctx, const struct tier_result *result)
{
    struct lane *lane = ctx;
    struct exchange *ex = lane->exchange;
    exchange_enter(ex);
    lane_turn_to(ex, lane);
    lane->running = NULL;
    struct tier_result judged = *result;
    if (result->status == TD_OK && !take_rest(ex))
        judged.status = error_set(&judged.err, TD_UNSUPPORTED, CONTINUATION_REFUSED);
    if (!ex->ended)
        climb_after(ex, &judged);
    exchange_leave(ex);
}

/* --- the beginning --- */

static void reset_attempt_state(struct exchange *ex)
{
    const struct tier_facts *facts = &ex->facts[ex->current->tier];
    confidence_init(&ex->lane->confidence, facts->confidence_temperature, facts->confidence_bias);
    ex->lane->confidence.model = facts->confidence_model;
    hold_deinit(&ex->lane->hold);
    ex->lane->verdict = (struct gate_verdict){.confidence = NAN, .threshold = NAN};
    ex->lane->token_count = 0;
    ex->lane->plain_bytes = 0;
    ex->lane->hold_whole = true;
    ex->lane->hold_visible = ex->lane->committed = false;
}

/* An echoed prompt is shown before there is anything to judge. A prompt that is only scored has no
 * answer. */
static bool can_be_judged(const struct td_request *request)
{
    const struct td_completion *completion = request->completion;
    return !completion || !(completion->echo || completion->prompt_only);
}

bool attempt_start(struct exchange *ex, size_t rung, bool fallback, enum egress_purpose purpose)
{
    assert(rung < ex->plan.rung_count && ex->attempt_count < ATTEMPTS_MAX);
    const struct gate_settings *gates = &ex->plan.gates;
    size_t tier = ex->plan.rungs[rung];
    const struct tier_facts *facts = &ex->facts[tier];
    struct tier_result failure = {.status = TD_OK};
    struct attempt *attempt = &ex->attempts[ex->attempt_count++];
    struct lane *lane = &ex->lanes[ex->lanes[0].running ? 1 : 0];
    *attempt = (struct attempt){
        .tier = tier,
        .rung = rung,
        .purpose = purpose,
        .fallback = fallback,
        .start_ms = exchange_now_ms(ex) - ex->created_ms,
        .confidence = NAN,
    };
    lane->attempt = attempt;
    lane_turn_to(ex, lane);
    attempt->gated = gates_on(gates) && can_be_judged(&ex->request) &&
                     purpose != EGRESS_CONTINUATION && /* it cannot be left */
                     (facts->place == TD_PLACE_DEVICE || exchange_can_climb(ex));
    reset_attempt_state(ex);
    bool ready = purpose != EGRESS_CONTINUATION || continuation_begin(ex, facts);
    const struct td_request *request = outgoing_request(ex, facts);
    if (!ready) {
        failure.status = error_set(&failure.err, TD_NO_MEMORY, "no memory to go on with an answer");
    } else if (!egress_allowed(lane->pass.data_class, facts)) {
        failure.status = error_set(&failure.err, TD_DENIED, "%s data may not reach it",
                                   names_class(lane->pass.data_class));
    } else {
        struct tier_sink sink = {
            .on_piece = on_piece, .on_done = on_done, .ctx = lane, .pass = &lane->pass};
        failure.status = tier_start(ex->services->tiers[tier], ex->loop, request, &sink,
                                    &lane->running, &failure.err);
    }
    if (failure.status == TD_OK)
        return true;
    attempt_fail(ex, &failure);
    return false;
}
