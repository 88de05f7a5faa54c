/* The state machine that runs a plan.
 *
 * An exchange is always in one of three situations: about to take a step (the step timer), running
 * one attempt (and one beside it where that is slow: hedge.c), or ended. Whatever ends an attempt is an outcome; outcome and circumstances look up
 * the next step in one table (`transitions`). A new pattern is a new plan, not a new path through
 * this file.
 *
 * A callback may cancel the exchange, so nothing is freed before the outermost callback has
 * returned (enter, leave). What the client is told, and the ends, are in deliver.c. */
#include "exchange/machine/exchange.h"

#include "base/crypto.h"
#include "base/device.h"
#include "base/error.h"
#include "base/log.h"
#include "base/names.h"
#include "exchange/machine/exchange_internal.h"
#include "exchange/machine/outgoing.h"
#include "exchange/private/egress.h"
#include "privacy/scan/conversation.h"
#include "router/plan/signals.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* --- life --- */

static void exchange_free(struct exchange *ex)
{
    loop_timer_free(ex->loop, ex->step_timer);
    loop_timer_free(ex->loop, ex->deadline_timer);
    hedge_deinit(ex);
    for (size_t i = 0; i < LANES_MAX; i++)
        hold_deinit(&ex->lanes[i].hold);
    hold_deinit(&ex->kept_hold);
    buf_deinit(&ex->answer);
    pseudonyms_free(ex->pseudonyms);
    minimised_free(ex->minimised);
    free(ex->facts);
    free(ex->states);
    free(ex);
}

static void enter(struct exchange *ex)
{
    ex->depth++;
}

static void leave(struct exchange *ex)
{
    if (--ex->depth == 0 && ex->ended)
        exchange_free(ex);
}

/* --- attempts --- */

static void on_piece(void *ctx, const struct tier_piece *piece);
static void on_done(void *ctx, const struct tier_result *result);

/* What ended the attempt goes into its record; an estimate stands in for a usage that nobody
 * sent. */
static void close_attempt(struct lane *lane, const char *outcome, const struct tier_result *result)
{
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
        attempt->usage = exchange_usage_so_far(ex->states[attempt->tier].prompt_tokens,
                                               lane->token_count, lane->plain_bytes);
    }
    attempt->cost_usd = exchange_cost(&ex->facts[attempt->tier], &attempt->usage);
    log_event(LOG_LEVEL_DEBUG, "attempt_ended",
              "exchange=%s tier=%s outcome=%s status=%s total_ms=%.1f completion_tokens=%u", ex->id,
              ex->facts[attempt->tier].name, outcome, td_status_name(attempt->status),
              attempt->total_ms, attempt->usage.completion_tokens);
}

void exchange_stop_lane(struct lane *lane, const char *outcome)
{
    if (!lane->running)
        return;
    struct tier *tier = lane->exchange->services->tiers[lane->attempt->tier];
    lane->attempt->egress_bytes = tier_egress_bytes(tier, lane->running);
    tier_cancel(tier, lane->running);
    close_attempt(lane, outcome, NULL);
}

void exchange_turn_to(struct exchange *ex, struct lane *lane)
{
    ex->lane = lane;
    ex->current = lane->attempt;
}

/* How long the tier took, for those who ask for a time. What it answered for us alone: an answer
 * that was left has no end. */
static void report_latency(struct exchange *ex, const struct attempt *attempt)
{
    if (ex->services->latency && attempt->status == TD_OK && attempt->first_ms > 0)
        tier_latency_add(ex->services->latency, attempt->tier, attempt->first_ms, attempt->total_ms,
                         (uint64_t)exchange_now_ms(ex));
}

/* Passive health learns from what says something about the tier: not from a request that it
 * refused, and not from an answer that we did not wait for. */
static void report_health(struct exchange *ex, const struct attempt *attempt)
{
    bool sick = attempt->status == TD_UNAVAILABLE || attempt->status == TD_TIMEOUT ||
                attempt->status == TD_CORRUPT || attempt->status == TD_IO;
    if (ex->services->health && (sick || attempt->status == TD_OK))
        tier_health_report(ex->services->health, attempt->tier, !sick,
                           (uint64_t)exchange_now_ms(ex));
}

static void fail_attempt(struct exchange *ex, const struct tier_result *result)
{
    char cause[REASON_TEXT_BYTES];
    close_attempt(ex->lane, "failed", result);
    report_health(ex, ex->current);
    disclosure_cause(ex, ex->current, cause, sizeof cause);
    bool late = result->status == TD_TIMEOUT;
    plan_add_reason(&ex->plan, late ? REASON_LEFT_TIMEOUT : REASON_LEFT_ERROR,
                    ex->facts[ex->current->tier].name, "%s", cause);
}

static void reset_attempt_state(struct exchange *ex)
{
    const struct tier_facts *facts = &ex->facts[ex->current->tier];
    confidence_init(&ex->lane->confidence, facts->confidence_temperature, facts->confidence_bias);
    ex->lane->confidence.model = facts->confidence_model;
    hold_deinit(&ex->lane->hold);
    ex->lane->verdict = (struct gate_result){GATE_STAY, NAN, NAN};
    ex->lane->token_count = 0;
    ex->lane->plain_bytes = 0;
    ex->lane->hold_whole = true;
    ex->lane->hold_visible = ex->lane->committed = false;
}

/* An echoed prompt is shown before there is anything to judge, and a scored one has no answer. */
static bool can_be_judged(const struct td_request *request)
{
    const struct td_completion *completion = request->completion;
    return !completion || !(completion->echo || completion->prompt_only);
}

/* False when it failed at once; its record says why. */
bool exchange_ask(struct exchange *ex, size_t rung, bool fallback, enum egress_purpose purpose)
{
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
    exchange_turn_to(ex, lane);
    attempt->gated = gates_on(gates) && can_be_judged(&ex->request) &&
                     (facts->place == TD_PLACE_DEVICE || exchange_can_climb(ex));
    reset_attempt_state(ex);
    const struct td_request *request = outgoing_request(ex, facts);
    if (!egress_allowed(lane->pass.data_class, facts)) {
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
    fail_attempt(ex, &failure);
    return false;
}

/* --- transitions --- */

enum outcome { OUTCOME_BEGIN, OUTCOME_ANSWERED, OUTCOME_LEFT, OUTCOME_FAILED, OUTCOME_DEADLINE };

enum circumstance {
    CAN_CLIMB = 1, /* a rung that gates may climb to */
    CAN_FALL = 2,  /* a rung of any kind */
    STUCK = 4,     /* the client holds text that it would not take back */
    KEPT = 8,      /* a complete answer below the bar */
    LEFT = 16,     /* a tier that was left before its end */
};

enum step { STEP_NEXT_RUNG, STEP_ASK_AGAIN, STEP_FINISH, STEP_GIVE_KEPT, STEP_FAIL };

/* The first row whose outcome is this one and whose circumstances all hold. A kept answer of the
 * start goes before a rung below it; a rung above goes before both. */
static const struct transition {
    enum outcome outcome;
    unsigned circumstances;
    enum step step;
} transitions[] = {
    {OUTCOME_BEGIN, CAN_FALL, STEP_NEXT_RUNG},  {OUTCOME_BEGIN, 0, STEP_FAIL},
    {OUTCOME_ANSWERED, 0, STEP_FINISH},         {OUTCOME_LEFT, CAN_CLIMB, STEP_NEXT_RUNG},
    {OUTCOME_FAILED, STUCK, STEP_FAIL},         {OUTCOME_FAILED, CAN_CLIMB, STEP_NEXT_RUNG},
    {OUTCOME_FAILED, KEPT, STEP_GIVE_KEPT},     {OUTCOME_FAILED, LEFT, STEP_ASK_AGAIN},
    {OUTCOME_FAILED, CAN_FALL, STEP_NEXT_RUNG}, {OUTCOME_FAILED, 0, STEP_FAIL},
    {OUTCOME_DEADLINE, STUCK, STEP_FAIL},       {OUTCOME_DEADLINE, KEPT, STEP_GIVE_KEPT},
    {OUTCOME_DEADLINE, 0, STEP_FAIL},
};

static enum step find_step(const struct exchange *ex, enum outcome outcome)
{
    unsigned now = (exchange_can_climb(ex) ? CAN_CLIMB : 0u) |
                   (ex->rung_next < ex->plan.rung_count ? CAN_FALL : 0u) |
                   (exchange_is_stuck(ex) ? STUCK : 0u) | (ex->kept ? KEPT : 0u) |
                   (ex->left ? LEFT : 0u);
    for (size_t i = 0; i < sizeof transitions / sizeof *transitions; i++)
        if (transitions[i].outcome == outcome && (transitions[i].circumstances & ~now) == 0)
            return transitions[i].step;
    return STEP_FAIL;
}

/* Takes steps until an attempt runs or the exchange has ended. */
static void advance(struct exchange *ex, enum outcome outcome)
{
    for (;;) {
        bool begun = false, fallback;
        size_t rung;
        if ((outcome == OUTCOME_LEFT || outcome == OUTCOME_FAILED) && hedge_goes_on(ex))
            return; /* the other attempt runs already */
        switch (find_step(ex, outcome)) {
        case STEP_NEXT_RUNG:
            fallback = ex->rung_next >= ex->plan.climb_count;
            begun = exchange_ask(ex, ex->rung_next++, fallback, EGRESS_ATTEMPT);
            break;
        case STEP_ASK_AGAIN:
            rung = ex->left->rung;
            ex->left = NULL;
            begun = exchange_ask(ex, rung, true, EGRESS_ATTEMPT);
            break;
        case STEP_FINISH:
            deliver_answer(ex);
            return;
        case STEP_GIVE_KEPT:
            deliver_kept(ex);
            return;
        case STEP_FAIL:
            deliver_failure(ex);
            return;
        }
        if (begun) {
            hedge_arm(ex);
            return;
        }
        outcome = OUTCOME_FAILED;
    }
}

/* --- gates --- */

/* A question that no tier is expected to get right is not made better by asking another one (the
 * meta-verifier of Aggarwal et al. 2023, "AutoMix", section 3.3, has the same third way). */
bool exchange_is_hopeless(const struct exchange *ex)
{
    return ex->signals.judged && ex->signals.p_strong < ex->plan.gates.hopeless_under;
}

static bool may_leave(const struct exchange *ex)
{
    return exchange_can_climb(ex) && !exchange_is_stuck(ex) && !ex->capped &&
           !exchange_is_hopeless(ex);
}

static void explain_leaving(struct exchange *ex, bool complete)
{
    const char *name = ex->facts[ex->current->tier].name;
    const struct gate_result *verdict = &ex->lane->verdict;
    if (verdict->verdict == GATE_NOT_MINE)
        plan_add_reason(&ex->plan, REASON_LEFT_NOT_MINE, name,
                        "%s's first token says that this is not its task (probability %.2f)", name,
                        (double)ex->lane->confidence.not_mine);
    else if (verdict->verdict == GATE_LOW_PROBE && isinf(verdict->threshold))
        plan_add_reason(&ex->plan, REASON_LEFT_PROBE, name,
                        "the asked risk is out of reach: %s keeps no such answer", name);
    else if (verdict->verdict == GATE_LOW_PROBE)
        plan_add_reason(&ex->plan, REASON_LEFT_PROBE, name,
                        "the probability of %s being right, %.2f by its probe, is below %.2f", name,
                        verdict->confidence, verdict->threshold);
    else if (verdict->verdict == GATE_CUT)
        plan_add_reason(&ex->plan, REASON_LEFT_CUT, name,
                        "%s's context ended the answer after %u tokens", name,
                        ex->lane->token_count);
    else if (isinf(verdict->threshold))
        plan_add_reason(&ex->plan, REASON_LEFT_LOW_CONFIDENCE, name,
                        "the asked risk is out of reach: %s keeps no such answer", name);
    else if (complete)
        plan_add_reason(&ex->plan, REASON_LEFT_LOW_CONFIDENCE, name,
                        "confidence %.2f of the whole answer is below %.2f", verdict->confidence,
                        verdict->threshold);
    else
        plan_add_reason(&ex->plan, REASON_LEFT_LOW_CONFIDENCE, name,
                        "confidence %.2f after %u tokens is below %.2f", verdict->confidence,
                        ex->lane->token_count, verdict->threshold);
}

static void explain_keeping(struct exchange *ex)
{
    const char *name = ex->facts[ex->current->tier].name;
    const struct gate_result *verdict = &ex->lane->verdict;
    if (verdict->verdict == GATE_CUT)
        plan_add_reason(
            &ex->plan, REASON_KEPT_LAST, name,
            "%s's context ended the answer after %u tokens, and no other tier was to ask", name,
            ex->lane->token_count);
    else if (ex->current->low && exchange_can_climb(ex) && ex->capped)
        plan_add_reason(&ex->plan, REASON_KEPT_CAPPED, name,
                        "confidence %.2f is too low, but the caller has had its %u escalations an "
                        "hour",
                        verdict->confidence, ex->services->escalations_per_hour);
    else if (ex->current->low && exchange_can_climb(ex) && exchange_is_hopeless(ex)) {
        ex->hopeless = true;
        plan_add_reason(&ex->plan, REASON_KEPT_HOPELESS, name,
                        "not escalated: the next tier is right with probability %.2f, under %.2f",
                        ex->signals.p_strong, ex->plan.gates.hopeless_under);
    } else if (ex->current->low && exchange_can_climb(ex))
        plan_add_reason(&ex->plan, REASON_KEPT_LAST, name,
                        "confidence %.2f is too low, but the client had seen text already",
                        verdict->confidence);
    else if (ex->current->low)
        plan_add_reason(&ex->plan, REASON_KEPT_LAST, name,
                        "confidence %.2f is too low, but there is no further tier to ask",
                        verdict->confidence);
    else if (ex->current->gated && !isnan(verdict->confidence) && !isnan(verdict->threshold))
        plan_add_reason(&ex->plan, REASON_KEPT_CONFIDENT, name, "confidence %.2f is at least %.2f",
                        verdict->confidence, verdict->threshold);
    else
        plan_add_reason(&ex->plan, REASON_KEPT_LAST, name,
                        exchange_can_climb(ex) ? "no gate judges this answer"
                                               : "the last tier to ask");
}

/* A gate's verdict while the answer still comes. True when the attempt was left. */
static bool leave_early(struct exchange *ex)
{
    if (!ex->current->gated || ex->lane->verdict.verdict != GATE_STAY)
        return false;
    struct gate_result result =
        gates_look(&ex->plan.gates, &ex->lane->confidence, ex->lane->token_count);
    if (result.verdict == GATE_STAY)
        return false;
    ex->lane->verdict = result;
    if (!may_leave(ex))
        return false; /* judged at the end: there may be no better answer to be had */
    exchange_stop_lane(ex->lane, "escalated");
    explain_leaving(ex, false);
    ex->left = ex->current;
    advance(ex, OUTCOME_LEFT);
    return true;
}

static bool was_cut(const struct exchange *ex, const struct tier_result *result)
{
    uint32_t wanted = ex->request.tokens_max;
    return result->finish == TD_FINISH_LENGTH &&
           (wanted == 0 || result->usage.completion_tokens < wanted);
}

static void complete_attempt(struct exchange *ex, const struct tier_result *result)
{
    confidence_end(&ex->lane->confidence, result->finish != TD_FINISH_LENGTH);
    close_attempt(ex->lane, "answered", result);
    report_health(ex, ex->current);
    report_latency(ex, ex->current);
    if (ex->current->gated && ex->lane->verdict.verdict == GATE_STAY)
        ex->lane->verdict =
            gates_judge(&ex->plan.gates, &ex->lane->confidence, ex->lane->token_count);
    if (ex->current->gated && ex->lane->verdict.verdict == GATE_STAY && was_cut(ex, result))
        ex->lane->verdict.verdict = GATE_CUT;
    ex->current->low = ex->lane->verdict.verdict != GATE_STAY;
    if (!ex->current->low || !may_leave(ex)) {
        explain_keeping(ex);
        advance(ex, OUTCOME_ANSWERED);
        return;
    }
    explain_leaving(ex, true);
    ex->current->outcome = "escalated";
    if (!ex->lane->hold_whole) {
        ex->left = ex->current; /* too long to keep: it would have to be asked again */
    } else if (!ex->kept || attempt_is_above(ex->current, ex->kept)) {
        ex->kept = ex->current;
        hold_deinit(&ex->kept_hold);
        ex->kept_hold = ex->lane->hold;
        ex->lane->hold = (struct hold){0};
    }
    advance(ex, OUTCOME_LEFT);
}

/* --- callbacks --- */

static void on_piece(void *ctx, const struct tier_piece *piece)
{
    struct lane *lane = ctx;
    struct exchange *ex = lane->exchange;
    enter(ex);
    exchange_turn_to(ex, lane);
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
    if (!piece->has_stats || !leave_early(ex)) {
        const struct tier_piece *shown = outgoing_piece(ex, piece);
        if (shown)
            deliver_piece(ex, shown);
    }
    leave(ex);
}

static void on_done(void *ctx, const struct tier_result *result)
{
    struct lane *lane = ctx;
    struct exchange *ex = lane->exchange;
    enter(ex);
    exchange_turn_to(ex, lane);
    lane->running = NULL;
    const struct tier_piece *rest = result->status == TD_OK ? outgoing_end(ex) : NULL;
    if (rest)
        deliver_piece(ex, rest);
    if (ex->ended) {
        leave(ex);
        return;
    }
    if (result->status == TD_OK) {
        complete_attempt(ex, result);
    } else {
        fail_attempt(ex, result);
        advance(ex, OUTCOME_FAILED);
    }
    leave(ex);
}

static void on_step(void *ctx)
{
    struct exchange *ex = ctx;
    enter(ex);
    advance(ex, OUTCOME_BEGIN);
    leave(ex);
}

static void on_deadline(void *ctx)
{
    struct exchange *ex = ctx;
    enter(ex);
    ex->past_deadline = true;
    loop_timer_stop(ex->loop, ex->step_timer);
    for (size_t i = 0; i < LANES_MAX; i++) {
        struct lane *lane = &ex->lanes[i];
        if (!lane->running)
            continue;
        exchange_stop_lane(lane, "failed");
        lane->attempt->status = TD_TIMEOUT;
        snprintf(lane->attempt->error, sizeof lane->attempt->error,
                 "no answer within the deadline");
        plan_add_reason(&ex->plan, REASON_LEFT_TIMEOUT, ex->facts[lane->attempt->tier].name,
                        "the exchange's deadline of %u ms passed", ex->services->deadline_ms);
    }
    advance(ex, OUTCOME_DEADLINE);
    leave(ex);
}

/* --- the beginning --- */

static enum td_data_class higher(enum td_data_class a, enum td_data_class b)
{
    return a > b ? a : b;
}

static void read_signals(struct exchange *ex, const struct route *route)
{
    signals_extract(&ex->request, ex->services->classifier, ex->services->similarity, &ex->signals);
    enum td_data_class declared = higher(ex->request.data_class, route->data_class);
    enum td_data_class data_class = higher(
        declared, egress_classify(ex->services->scanner, &ex->request, &ex->findings));
    if (ex->services->classes)
        data_class = conversation_classes_raise(ex->services->classes,
                                                egress_conversation_key(&ex->request), data_class);
    ex->signals.data_class = data_class;
    outgoing_read_consent(ex, route);
    outgoing_prepare(ex, route, declared);
}

static void read_states(struct exchange *ex)
{
    struct exchange_services *services = ex->services;
    for (size_t i = 0; i < services->tier_count; i++) {
        ex->facts[i] = services->tiers[i]->facts;
        ex->states[i] = (struct tier_state){
            .reachable = !services->health ||
                         tier_health_usable(services->health, i, (uint64_t)exchange_now_ms(ex)),
            .prompt_tokens =
                tier_count_prompt(services->tiers[i], outgoing_plain(ex, &ex->facts[i])),
        };
        if (services->latency)
            tier_latency_read(services->latency, i, (uint64_t)exchange_now_ms(ex), &ex->states[i]);
    }
}

/* What moves rules beside the text. */
static void read_moment(struct exchange *ex, const struct route *route, const struct app *app)
{
    time_t now = (time_t)(clock_wall_ms(ex->services->clock) / 1000);
    struct tm local;
    if (localtime_r(&now, &local)) {
        ex->signals.moment.hour = local.tm_hour;
        ex->signals.moment.weekday = (local.tm_wday + 6) % 7; /* from Sunday to Monday */
    }
    if (ex->services->device) {
        struct device_state device;
        device_read(ex->services->device, &device);
        ex->signals.moment.battery = device.battery;
        ex->signals.moment.on_battery = device.on_battery;
        if (ex->signals.moment.network == TD_NETWORK_UNKNOWN) /* the caller knows better */
            ex->signals.moment.network = device.network;
    }
    for (size_t i = ex->services->tier_count; i-- > 0;)
        if (route->tier_count > 0 && strcmp(ex->facts[i].name, route->tiers[0]) == 0)
            ex->signals.prompt_tokens = ex->states[i].prompt_tokens;
    ex->signals.app = app ? app->name : NULL;
    budget_read(ex, route);
}

/* The rule that matches may raise the class, and then the conversation keeps it. */
static void apply_rules(struct exchange *ex, const struct route *route)
{
    const struct policy *policy = ex->services->policy;
    const struct app *app = policy_find_app(policy, ex->request.caller);
    read_moment(ex, route, app);
    enum td_data_class before = ex->signals.data_class;
    policy_apply_rules(policy, route, &ex->request.weights, app ? &app->weights : NULL,
                       &ex->signals);
    if (ex->services->classes && ex->signals.data_class > before)
        ex->signals.data_class = conversation_classes_raise(
            ex->services->classes, egress_conversation_key(&ex->request), ex->signals.data_class);
}

static enum td_status make_id(char out[static EXCHANGE_ID_BYTES], struct td_error *err)
{
    uint8_t random[(EXCHANGE_ID_BYTES - 4) / 2];
    enum td_status status = crypto_random(random, sizeof random, err);
    memcpy(out, "ex_", 3);
    crypto_hex(random, sizeof random, out + 3);
    return status;
}

static enum td_status prepare(struct exchange *ex, struct td_error *err)
{
    struct exchange_services *services = ex->services;
    buf_init(&ex->answer, HOLD_BYTES_MAX);
    ex->facts = calloc(services->tier_count + 1, sizeof *ex->facts);
    ex->states = calloc(services->tier_count + 1, sizeof *ex->states);
    ex->step_timer = loop_timer_new(ex->loop, on_step, ex);
    if (services->deadline_ms)
        ex->deadline_timer = loop_timer_new(ex->loop, on_deadline, ex);
    if (!ex->facts || !ex->states || !ex->step_timer ||
        (services->deadline_ms && !ex->deadline_timer))
        return error_set(err, TD_NO_MEMORY, "no memory for an exchange");
    for (size_t i = 0; i < services->tier_count; i++)
        ex->facts[i] = services->tiers[i]->facts;
    const struct route *route = policy_find_route(services->policy, ex->request.model, ex->facts,
                                                  services->tier_count, &ex->named);
    if (!route)
        return error_set(err, TD_NOT_FOUND,
                         "model '%.100s' names neither a route, a tier, a tier's model nor an "
                         "adapter; use auto, or see /v1/models",
                         ex->request.model);
    enum td_status status =
        policy_check_adapters(&ex->request, ex->facts, services->tier_count, err);
    if (status == TD_OK)
        status = make_id(ex->id, err);
    if (status != TD_OK)
        return status;
    ex->request.keep_nothing |= services->zero_retention || route->zero_retention;
    ex->request.no_retention |= (route->needs & CAPABILITY_NO_RETENTION) != 0;
    read_signals(ex, route);
    read_states(ex);
    apply_rules(ex, route);
    observe_begin(ex);
    remember_read(ex, route);
    rollout_read(ex, route);
    plan_make(route, ex->named, &ex->signals, ex->facts, ex->states, services->tier_count,
              &ex->plan);
    outgoing_explain(ex);
    ex->shadowed = shadow_is_wanted(ex);
    ex->signals.mode = ex->plan.mode;
    budget_promise(ex);
    observe_plan(ex);
    deliver_summarize(ex, NULL);
    return TD_OK;
}

enum td_status exchange_start(struct exchange_services *services, struct loop *loop,
                              const struct td_request *request, exchange_fn *on_event, void *ctx,
                              struct exchange **out, struct td_error *err)
{
    if (request->message_count == 0)
        return error_set(err, TD_INVALID, "messages must not be empty");
    struct exchange *ex = calloc(1, sizeof *ex);
    if (!ex)
        return error_set(err, TD_NO_MEMORY, "no memory for an exchange");
    ex->services = services;
    ex->loop = loop;
    ex->request = *request;
    ex->on_event = on_event;
    ex->ctx = ctx;
    ex->created_ms = exchange_now_ms(ex);
    for (size_t i = 0; i < LANES_MAX; i++)
        ex->lanes[i].exchange = ex;
    ex->lane = ex->lanes;
    enum td_status status = prepare(ex, err);
    if (status != TD_OK) {
        exchange_free(ex);
        return status;
    }
    loop_timer_start(loop, ex->step_timer, 0);
    if (ex->deadline_timer)
        loop_timer_start(loop, ex->deadline_timer, services->deadline_ms);
    *out = ex;
    return TD_OK;
}

void exchange_cancel(struct exchange *ex)
{
    if (ex->ended)
        return;
    enter(ex);
    for (size_t i = 0; i < LANES_MAX; i++)
        exchange_stop_lane(&ex->lanes[i], "cancelled");
    deliver_cancelled(ex);
    leave(ex);
}

const char *exchange_id(const struct exchange *ex)
{
    return ex->id;
}
