/* One try of one tier: it is started here, its pieces and its end come back here, and what it came
 * to is written into its record. Nothing is decided here: after each token and at the end, climb.c
 * says whether the attempt is left. A callback may cancel the exchange, so each one is between
 * exchange_enter and exchange_leave. */
#include "exchange/machine/attempt.h"

#include "base/core/assertion.h"
#include "base/core/error.h"
#include "base/core/shortage.h"
#include "base/text/names.h"
#include "base/time/log.h"
#include "exchange/limits/cost.h"
#include "exchange/machine/climb.h"
#include "exchange/machine/exchange_core.h"
#include "exchange/private/signatures.h"
#include "router/plan/tier_gates.h"
#include "tier/openai/openai_delta.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

/* A higher rung is better. Rungs below the start come after all others, the nearest first. */
bool attempt_is_above(const struct attempt *attempt, const struct attempt *other)
{
    if (attempt->fallback != other->fallback)
        return other->fallback;
    return attempt->fallback ? attempt->rung < other->rung : attempt->rung > other->rung;
}

const struct attempt *attempt_refused(const struct exchange *ex)
{
    for (size_t i = 0; i < ex->attempt_count; i++)
        if (ex->attempts[i]->status != TD_OK && ex->attempts[i]->refusal.of_request)
            return ex->attempts[i];
    return NULL;
}

/* --- lanes --- */

void lane_turn_to(struct exchange *ex, struct lane *lane)
{
    ASSERT(lane->exchange == ex);
    ex->lane = lane;
    ex->current = lane->attempt;
}

struct lane *lane_beside(const struct exchange *ex)
{
    struct lane *other = ex->lane->exchange->lanes + (ex->lane == ex->lanes ? 1 : 0);
    return other->running ? other : NULL;
}

static struct tier *asked_tier(const struct exchange *ex, size_t tier)
{
    struct tier *cached = ex->services->asked ? ex->services->asked[tier] : NULL;
    return cached ? cached : ex->services->tiers[tier];
}

void lane_deinit(struct lane *lane)
{
    hold_deinit(&lane->hold);
    confidence_deinit(&lane->confidence);
}

void lane_stop(struct lane *lane, enum attempt_outcome outcome)
{
    if (!lane->running)
        return;
    struct tier *tier = asked_tier(lane->exchange, lane->attempt->tier);
    lane->attempt->egress_bytes = tier_egress_bytes(tier, lane->running);
    lane->attempt->unbilled = tier_is_unbilled(tier, lane->running);
    tier_cancel(tier, lane->running);
    attempt_close(lane, outcome, NULL);
}

/* --- health --- */

/* An answer that was kept says nothing of its tier. */
static void leave_tier(struct exchange *ex, struct attempt *attempt,
                       const struct tier_result *result)
{
    if (tier_cache_is_kept(attempt->cache))
        result = NULL;
    tier_health_leave(ex->services->health, attempt->tier, &attempt->ticket, result,
                      (uint64_t)exchange_now_ms(ex));
}

/* The plan may be older than what others have found out meanwhile. */
static enum td_status enter_tier(struct exchange *ex, struct attempt *attempt, struct td_error *err)
{
    struct tier_state *state = &ex->states[attempt->tier];
    char why[REASON_TEXT_BYTES];
    const struct tier_entry entry = exchange_entry(ex, attempt->tier);
    if (tier_health_enter(ex->services->health, attempt->tier, &entry,
                          (uint64_t)exchange_now_ms(ex), &attempt->ticket, state))
        return TD_OK;
    tier_health_want(ex->services->health, attempt->tier, &entry, (uint64_t)exchange_now_ms(ex));
    plan_rest_text(state, why);
    return error_set(err, state->rest < REST_SLOWED ? TD_UNAVAILABLE : TD_BUSY, "it %s", why);
}

/* --- the record --- */

/* Where the tier told no usage, an estimate stands in for it. */
static void settle_cost(const struct lane *lane, const struct tier_usage *told)
{
    const struct exchange *ex = lane->exchange;
    struct attempt *attempt = lane->attempt;
    const struct tier_facts *facts = &ex->facts[attempt->tier];
    if (told->exact || attempt->unbilled) {
        attempt->usage = *told;
    } else {
        struct token_ratio ratio;
        const struct cost_seen seen = {ex->states[attempt->tier].prompt_tokens, lane->token_count,
                                       attempt->answer_bytes, attempt->beside_bytes};
        token_counts_read(ex->services->token_counts, facts, &ratio);
        attempt->usage = cost_usage_seen(&seen, &ratio);
        attempt->usage.refused = told->refused;
        if (told->most && attempt->usage.completion_tokens > told->most)
            attempt->usage.completion_tokens = told->most;
    }
    attempt->cost_usd = cost_usd(facts, &attempt->usage);
    if (facts->people && !attempt->unbilled) /* the ticket will be looked at, whoever waits */
        attempt->cost_usd = facts->review_usd;
    if (tier_cache_is_kept(attempt->cache)) {
        attempt->saved_usd = attempt->cost_usd;
        attempt->cost_usd = 0;
    }
    attempt->estimated = attempt->cost_usd > 0 && !told->exact && !facts->people;
}

/* A server that tells what cannot be true should be known. */
static void explain_usage(struct exchange *ex, const struct attempt *attempt)
{
    const char *tier = ex->facts[attempt->tier].name;
    if (attempt->usage.refused)
        plan_add_reason(&ex->plan, REASON_USAGE_REFUSED, tier,
                        "%s told a usage that cannot be true (%s): its cost is an estimate", tier,
                        attempt->usage.refused);
}

void attempt_close(struct lane *lane, enum attempt_outcome outcome,
                   const struct tier_result *result)
{
    ASSERT(lane->attempt && outcome != ATTEMPT_OPEN);
    struct exchange *ex = lane->exchange;
    struct attempt *attempt = lane->attempt;
    lane->running = NULL;
    leave_tier(ex, attempt, result);
    attempt->outcome = outcome;
    attempt->total_ms = exchange_now_ms(ex) - ex->created_ms - attempt->start_ms;
    attempt->confidence = confidence_value(&lane->confidence);
    attempt->kind = confidence_kind(&lane->confidence);
    if (result) {
        attempt->status = result->status;
        attempt->http_status = result->http_status;
        attempt->refusal = result->refusal;
        if (attempt->purpose == EGRESS_CONTINUATION) /* of a request that we wrote */
            attempt->refusal.of_request = false;
        attempt->retry_after_ms = result->retry_after_ms;
        attempt->finish = result->finish;
        attempt->stop_number = result->stop_number;
        attempt->waited_ms = result->waited_ms;
        attempt->unbilled = result->unbilled;
        attempt->egress_bytes = result->egress_bytes;
        attempt->retry_count = result->retry_count;
        snprintf(attempt->error, sizeof attempt->error, "%.*s", (int)sizeof attempt->error - 1,
                 result->err.message);
    }
    settle_cost(lane, result ? &result->usage : &(struct tier_usage){0});
    explain_usage(ex, attempt);
    log_event(LOG_LEVEL_DEBUG, "attempt_ended",
              "exchange=%s trace=%s span=%s tier=%s outcome=%s status=%s total_ms=%.1f "
              "completion_tokens=%u",
              ex->id, ex->trace.id, attempt->span, ex->facts[attempt->tier].name,
              names_outcome(outcome), td_status_name(attempt->status), attempt->total_ms,
              attempt->usage.completion_tokens);
}

/* For requests that ask for a time. Only complete answers count: one that was left has no end, and
 * one that goes on with another has no beginning. */
void attempt_report_answer(struct exchange *ex)
{
    const struct attempt *attempt = ex->current;
    if (ex->services->latency && attempt->status == TD_OK && attempt->first_ms > 0 &&
        !ex->facts[attempt->tier].people && !tier_cache_is_kept(attempt->cache) &&
        attempt->purpose != EGRESS_CONTINUATION)
        tier_latency_add(ex->services->latency, attempt->tier,
                         attempt->first_ms - attempt->waited_ms,
                         attempt->total_ms - attempt->waited_ms, (uint64_t)exchange_now_ms(ex));
}

void attempt_fail(struct exchange *ex, const struct tier_result *result)
{
    char cause[REASON_TEXT_BYTES];
    attempt_close(ex->lane, ATTEMPT_FAILED, result);
    disclosure_cause(ex, ex->current, cause, sizeof cause);
    bool late = result->status == TD_TIMEOUT;
    ex->current->why_left = late ? REASON_LEFT_TIMEOUT : REASON_LEFT_ERROR;
    plan_add_reason(&ex->plan, ex->current->why_left, ex->facts[ex->current->tier].name, "%s",
                    cause);
}

void attempt_cut_off(struct exchange *ex, struct lane *lane)
{
    struct attempt *attempt = lane->attempt;
    if (!lane->running)
        return;
    lane_stop(lane, ATTEMPT_FAILED);
    attempt->cut = true;
    attempt->status = TD_TIMEOUT;
    attempt->why_left = REASON_LEFT_TIMEOUT;
    snprintf(attempt->error, sizeof attempt->error, "no whole answer within the deadline");
    plan_add_reason(&ex->plan, REASON_LEFT_TIMEOUT, ex->facts[attempt->tier].name,
                    "the deadline of %u ms%s passed", ex->deadline.passed_ms,
                    ex->deadline.first_passed ? " for the first text" : "");
    if (ex->services->latency)
        tier_latency_add_cut(ex->services->latency, attempt->tier, attempt->first_ms,
                             attempt->total_ms, (uint64_t)exchange_now_ms(ex));
}

/* --- pieces and the end --- */

/* A confidence model is of one server's model and build. With another one its numbers would be
 * wrong, so the rule takes its place. */
static void check_server(struct exchange *ex, const struct tier_piece *piece)
{
    const struct tier_facts *facts = &ex->facts[ex->current->tier];
    struct confidence *confidence = &ex->lane->confidence;
    if (!confidence->model || !facts->server_identity ||
        piece->server_identity == facts->server_identity)
        return;
    confidence->model = NULL;
    plan_add_reason(&ex->plan, REASON_CONFIDENCE_STALE, facts->name,
                    "%s answers with another model or build than its confidence model is of",
                    facts->name);
}

/* Of a further token of a server's chunk: it has nothing to show or to keep. */
static bool is_only_stats(const struct tier_piece *piece)
{
    return piece->has_stats && piece->text.len == 0 && piece->token_text.len == 0 &&
           !piece->raw_delta;
}

/* piece NULL: nothing of it can be shown yet. */
static void take_piece(struct exchange *ex, const struct tier_piece *piece)
{
    struct tier_piece fresh;
    uint32_t shortages = shortage_count();
    if (!continuation_piece(ex, &piece, &fresh))
        climb_refuse(ex, shortage_judge(shortages, TD_UNSUPPORTED, NULL));
    else if (piece)
        answer_add(ex, piece);
}

static void note_cache(struct exchange *ex, const struct tier_piece *piece)
{
    struct attempt *attempt = ex->current;
    const struct tier_cache_facts *facts = &piece->cache_facts;
    const char *tier = ex->facts[attempt->tier].name;
    if (piece->cache == TIER_CACHE_HIT && attempt->cache == TIER_CACHE_NONE)
        plan_add_reason(&ex->plan, REASON_CACHE_HIT, tier,
                        "it gave this answer to the same request %u s ago: nothing was asked",
                        facts->age_s);
    if (piece->cache == TIER_CACHE_SIMILAR && attempt->cache == TIER_CACHE_NONE)
        plan_add_reason(&ex->plan, REASON_CACHE_SIMILAR, tier,
                        "it gave this answer to a similar question (similarity %.3f) %u s ago: "
                        "nothing was asked",
                        (double)facts->similarity, facts->age_s);
    if (facts->unlike && attempt->cache == TIER_CACHE_NONE)
        plan_add_reason(&ex->plan, REASON_CACHE_UNLIKE, tier,
                        "a similar question (similarity %.3f) has other %s: its answer will not do",
                        (double)facts->similarity, facts->unlike);
    attempt->cache = piece->cache;
    attempt->cache_facts = *facts;
}

static void on_piece(void *ctx, const struct tier_piece *piece)
{
    struct lane *lane = ctx;
    struct exchange *ex = lane->exchange;
    exchange_enter(ex);
    lane_turn_to(ex, lane);
    note_cache(ex, piece);
    if (piece->server_identity)
        ex->current->server_identity = piece->server_identity;
    if (ex->current->first_ms == 0 && (piece->has_stats || piece_is_visible(piece))) {
        ex->current->first_ms = exchange_now_ms(ex) - ex->created_ms - ex->current->start_ms;
        if (!tier_cache_is_kept(piece->cache))
            tier_health_answered(ex->services->health, ex->current->tier, &ex->current->ticket,
                                 (uint64_t)exchange_now_ms(ex));
    }
    if (piece->has_stats) {
        check_server(ex, piece);
        if (piece->computed && ex->lane->token_count == 0)
            plan_add_reason(&ex->plan, REASON_COMPUTED, ex->facts[ex->current->tier].name,
                            "the answer was computed, not generated");
        if (piece->in_call)
            confidence_add_call(&ex->lane->confidence);
        confidence_add(&ex->lane->confidence, &piece->stats);
        if (piece->stats.probe > 0)
            ex->signals.probe = (double)piece->stats.probe;
        if (ex->lane->token_count == 0 && piece->stats.not_mine > 0)
            ex->signals.not_mine = (double)piece->stats.not_mine;
        ex->lane->token_count++;
    }
    ex->current->answer_bytes += piece->text.len;
    if (piece->raw_delta) {
        openai_delta_measure(piece->raw_delta, &ex->current->answer_bytes,
                             &ex->current->beside_bytes);
        /* Before anything private is put back: only the server's own bytes are believed. */
        signatures_note(ex->services->signatures, ex->request.caller, ex->lane->pass.data_class,
                        piece->raw_delta);
    }
    if ((!piece->has_stats || !climb_look(ex)) && !is_only_stats(piece))
        take_piece(ex, outgoing_piece(ex, piece));
    exchange_leave(ex);
}

enum attempt_outcome attempt_answered(const struct attempt *attempt)
{
    return attempt->purpose == EGRESS_CONTINUATION ? ATTEMPT_CONTINUED : ATTEMPT_ANSWERED;
}

bool attempt_take_rest(struct exchange *ex)
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
    if (result->status == TD_OK && !attempt_take_rest(ex))
        judged.status = error_set(&judged.err, TD_UNSUPPORTED, CONTINUATION_REFUSED);
    if (!ex->ended)
        climb_after(ex, &judged);
    exchange_leave(ex);
}

/* --- the beginning --- */

static void reset_attempt_state(struct exchange *ex)
{
    const struct tier_facts *facts = &ex->facts[ex->current->tier];
    /* With an adapter the model is another one than what was calibrated. */
    bool adapted = policy_uses_adapter(facts, &ex->request);
    tier_gates_of(&ex->plan.gates, facts, adapted, &ex->lane->gates);
    confidence_deinit(&ex->lane->confidence);
    confidence_init(&ex->lane->confidence, adapted ? 0 : facts->confidence_temperature,
                    adapted ? 0 : facts->confidence_bias);
    ex->lane->confidence.model = adapted ? NULL : facts->confidence_model;
    if (!adapted) {
        ex->lane->confidence.call = facts->confidence_call;
        ex->lane->confidence.label = facts->confidence_label;
    }
    hold_deinit(&ex->lane->hold);
    ex->lane->verdict = (struct gate_verdict){.confidence = NAN, .threshold = NAN};
    ex->lane->token_count = 0;
    ex->lane->hold_whole = true;
    ex->lane->hold_visible = ex->lane->committed = false;
    ex->lane->withheld = ex->lane->checks = ex->lane->plans = false;
}

/* An echoed prompt is shown before there is anything to judge. A prompt that is only scored has no
 * answer. */
static bool can_be_judged(const struct td_request *request)
{
    const struct td_completion *completion = request->completion;
    return !completion || !(completion->echo || completion->prompt_only);
}

/* Who forces a certain tool wants its arguments as the answer. Another call may need none. */
static bool wants_values(const struct td_request *request)
{
    return request->format == TD_FORMAT_JSON || request->tool_named.len > 0;
}

/* Most exchanges make one. */
static struct attempt *attempt_new(struct exchange *ex)
{
    struct attempt *attempt = ex->attempt_count == 0 ? &ex->first_attempt : malloc(sizeof *attempt);
    if (attempt)
        ex->attempts[ex->attempt_count++] = attempt;
    else
        shortage_note();
    ex->short_of_memory = ex->short_of_memory || !attempt;
    return attempt;
}

/* An answer that was kept asks nobody, so it takes nothing of what the tier may be asked. Only
 * where something is limited is it looked for twice. */
static bool needs_no_place(struct exchange *ex, size_t tier, const struct td_request *request,
                           const struct tier_sink *sink)
{
    return ex->services->asked && tier_health_is_limited(ex->services->health, tier) &&
           tier_has_answer(asked_tier(ex, tier), request, sink);
}

/* Whether numbers of the tokens will be wanted is not known yet: both are looked for. */
bool attempt_is_kept(const struct exchange *ex, const struct route *route, size_t tier)
{
    const struct tier_facts *facts = &ex->facts[tier];
    const struct egress_pass pass = {.purpose = EGRESS_ATTEMPT,
                                     .data_class = policy_class_for(route, &ex->signals, facts),
                                     .asked_class = ex->signals.data_class,
                                     .scanned = ex->services->scanner != NULL};
    struct tier_sink sink = {.pass = &pass};
    if (!ex->services->asked)
        return false;
    const struct td_request *request = policy_sends_masked(route, &ex->signals, facts)
                                           ? pseudonyms_request(ex->outgoing.pseudonyms)
                                           : outgoing_plain(ex, facts);
    bool kept = tier_has_answer(asked_tier(ex, tier), request, &sink);
    sink.judged = true;
    return kept || tier_has_answer(asked_tier(ex, tier), request, &sink);
}

static enum td_status start_on_tier(struct exchange *ex, const struct td_request *request,
                                    struct tier_sink sink, struct td_error *err)
{
    sink.once = ex->current->ticket.alone;
    return tier_start(asked_tier(ex, ex->current->tier), ex->loop, request, &sink,
                      &ex->lane->running, err);
}

/* Where people are asked first, what lies below them is no answer in their place. */
static size_t last_rung(const struct exchange *ex, const struct tier_facts *facts)
{
    return facts->people ? ex->plan.climb_count : ex->plan.rung_count;
}

bool attempt_start(struct exchange *ex, size_t rung, bool fallback, enum egress_purpose purpose)
{
    ASSERT(rung < ex->plan.rung_count && ex->attempt_count < ATTEMPTS_MAX);
    size_t tier = ex->plan.rungs[rung];
    const struct tier_facts *facts = &ex->facts[tier];
    struct tier_result failure = {.status = TD_OK, .unbilled = true};
    struct attempt *attempt = attempt_new(ex);
    if (!attempt)
        return false;
    struct lane *first = ex->lanes;
    struct lane *lane = first->running || ex->waiting == first ? first + 1 : first;
    ASSERT(!lane->running && lane != ex->waiting);
    *attempt = (struct attempt){
        .tier = tier,
        .rung = rung,
        .purpose = purpose,
        .fallback = fallback,
        .start_ms = exchange_now_ms(ex) - ex->created_ms,
        .confidence = NAN,
    };
    if (purpose == EGRESS_ATTEMPT && staying_from(ex, facts))
        attempt->purpose = EGRESS_DOCUMENT;
    trace_child(&ex->trace, (uint32_t)ex->attempt_count, attempt->span);
    lane->attempt = attempt;
    lane_turn_to(ex, lane);
    reset_attempt_state(ex);
    attempt->gated = gates_on(&lane->gates) && can_be_judged(&ex->request) &&
                     purpose != EGRESS_CONTINUATION && /* it cannot be left */
                     purpose != EGRESS_VERIFICATION &&
                     (facts->place == TD_PLACE_DEVICE || exchange_can_climb(ex));
    attempt->uncalibrated = attempt->gated && lane->gates.uncalibrated;
    answer_values_init(&lane->values,
                       attempt->gated && wants_values(&ex->request) ? &ex->request : NULL);
    bool ready = purpose != EGRESS_CONTINUATION || continuation_begin(ex, facts);
    const struct td_request *request = outgoing_request(ex, facts);
    const struct tier_sink sink = {
        .on_piece = on_piece,
        .on_done = on_done,
        .ctx = lane,
        .judged = attempt->gated || (lane->gates.human_under > 0 && can_be_judged(&ex->request)),
        .pass = &lane->pass,
        .elsewhere = ex->rung_next < last_rung(ex, facts) || ex->kept || ex->left,
        .left_ms = deadline_left_for_attempt(ex),
        .question = review_question(ex),
    };
    attempt->prompt_estimate = tier_estimate_prompt(request);
    if (!ready) {
        failure.status = error_set(&failure.err, TD_NO_MEMORY, "no memory to go on with an answer");
    } else if (!egress_allowed(lane->pass.data_class, facts)) {
        failure.status = error_set(&failure.err, TD_DENIED, "%s data may not reach it",
                                   names_class(lane->pass.data_class));
    } else if (!needs_no_place(ex, tier, request, &sink)) {
        failure.status = enter_tier(ex, attempt, &failure.err);
    }
    if (failure.status == TD_OK)
        failure.status = start_on_tier(ex, request, sink, &failure.err);
    if (failure.status == TD_OK)
        return true;
    attempt_fail(ex, &failure);
    return false;
}
