/* The life of an exchange: it is prepared, runs from timer to timer, and is freed.
 *
 * exchange_start makes the plan and returns; the first step is taken in the loop's next turn, so
 * that no event comes from inside of it. A callback may cancel the exchange, so nothing is freed
 * before the outermost callback has returned (exchange_enter, exchange_leave). The steps are in
 * climb.c, the attempts in attempt.c, and what the client is told in answer.c. */
#include "exchange/machine/exchange.h"

#include "base/core/assertion.h"
#include "base/core/error.h"
#include "base/core/shortage.h"
#include "base/core/str.h"
#include "base/crypto/crypto.h"
#include "base/crypto/hash.h"
#include "base/key_terms.h"
#include "base/time/trace.h"
#include "exchange/machine/climb.h"
#include "exchange/machine/exchange_core.h"
#include "exchange/machine/situation.h"
#include "exchange/private/conversation_id.h"
#include "router/plan/model_names.h"

#include <stdlib.h>
#include <string.h>

double exchange_now_ms(const struct exchange *ex)
{
    return clock_monotonic_ms(ex->services->clock);
}

uint64_t exchange_caller(const struct exchange *ex)
{
    struct td_str caller = str_from(ex->request.caller);
    return hash_fnv1a64(caller.data, caller.len, HASH_FNV1A64_BASIS);
}

struct tier_entry exchange_entry(const struct exchange *ex, size_t tier)
{
    return (struct tier_entry){.caller = exchange_caller(ex),
                               .prompt_tokens = ex->states[tier].prompt_tokens,
                               .sharer = request_sharer(&ex->request),
                               .weight = request_weight(&ex->request)};
}

/* --- life --- */

static void exchange_free(struct exchange *ex)
{
    loop_timer_free(ex->loop, ex->step_timer);
    deadline_release(ex);
    parts_release(ex);
    for (size_t i = 0; i < LANES_MAX; i++)
        lane_deinit(&ex->lanes[i]);
    hold_deinit(&ex->kept_hold);
    for (size_t i = 0; i < ex->attempt_count; i++)
        if (ex->attempts[i] != &ex->first_attempt)
            free(ex->attempts[i]);
    plan_deinit(&ex->plan);
    buf_deinit(&ex->answer.text);
    free(ex->answer.steps);
    free(ex->answer.message);
    continuation_deinit(&ex->continuation);
    review_deinit(&ex->review);
    outgoing_deinit(&ex->outgoing);
    staying_free(ex->staying);
    free(ex->signatures);
    free(ex->findings);
    free(ex->facts);
    free(ex->states);
    free(ex);
}

void exchange_enter(struct exchange *ex)
{
    ex->depth++;
}

void exchange_leave(struct exchange *ex)
{
    ASSERT(ex->depth > 0);
    if (--ex->depth == 0 && ex->ended)
        exchange_free(ex);
}

/* --- timers --- */

static void on_step(void *ctx)
{
    struct exchange *ex = ctx;
    exchange_enter(ex);
    climb_begin(ex);
    exchange_leave(ex);
}

/* --- the beginning --- */

static enum td_status make_id(char out[static EXCHANGE_ID_BYTES], struct td_error *err)
{
    uint8_t random[(EXCHANGE_ID_BYTES - 4) / 2];
    enum td_status status = crypto_random(random, sizeof random, err);
    memcpy(out, "ex_", 3);
    crypto_hex(random, sizeof random, out + 3);
    trace_mark_time(out + 3);
    return status;
}

/* Memory and timers. */
static enum td_status allocate(struct exchange *ex, struct td_error *err)
{
    struct exchange_services *services = ex->services;
    buf_init(&ex->answer.text, HOLD_BYTES_MAX);
    buf_init(&ex->continuation.fresh, 2 * HOLD_BYTES_MAX);
    ex->facts = calloc(services->tier_count + 1, sizeof *ex->facts);
    ex->states = calloc(services->tier_count + 1, sizeof *ex->states);
    ex->step_timer = loop_timer_new(ex->loop, on_step, ex);
    if (!ex->facts || !ex->states || !ex->step_timer || !parts_init(&ex->parts) ||
        !deadline_init(ex))
        return error_set(err, TD_NO_MEMORY, "no memory for an exchange");
    return TD_OK;
}

/* The route that the request names; NULL with the error. From here on the request has the name that
 * the tiers know, and the record the one that came. */
static const struct route *find_route(struct exchange *ex, struct td_error *err)
{
    const struct exchange_services *services = ex->services;
    const struct model_names names = {.policy = services->policy,
                                      .facts = ex->facts,
                                      .tier_count = services->tier_count,
                                      .app = policy_find_app(services->policy, ex->request.key),
                                      .models =
                                          ex->request.terms ? ex->request.terms->models : NULL};
    struct model_choice choice;
    for (size_t i = 0; i < services->tier_count; i++)
        ex->facts[i] = services->tiers[i]->facts;
    const char *model = ex->request.model;
    if (!model_names_find(&names, model, &choice)) {
        error_set(err, TD_NOT_FOUND,
                  "no route, tier, model or adapter is named '%.100s'%s; use auto, or see "
                  "/v1/models",
                  model ? model : "auto", model_names_suggest(&names, model ? model : "").text);
        return NULL;
    }
    ex->named = choice.tier;
    ex->alias = choice.alias;
    ex->request.model = choice.name;
    bool may_call = ex->request.tool_count > 0 && ex->request.tool_choice != TOOL_CHOICE_NONE;
    for (size_t i = 0; i < services->tier_count; i++) {
        model_names_take(&ex->facts[i], choice.name);
        if (may_call && ex->facts[i].tools_context_tokens)
            ex->facts[i].context_tokens = ex->facts[i].tools_context_tokens;
    }
    return choice.route;
}

static void choose_tiers(struct exchange *ex, const struct route *route)
{
    plan_make(route, ex->named, &ex->signals, ex->facts, ex->states, ex->services->tier_count,
              &ex->plan);
    if (ex->alias)
        plan_add_reason(&ex->plan, REASON_ALIAS, "",
                        "the model's name is none of a model here: route %s takes it as '%s'",
                        route->name, ex->alias);
}

static void want_tier(const struct exchange *ex, size_t tier)
{
    const struct tier_entry entry = exchange_entry(ex, tier);
    tier_health_want(ex->services->health, tier, &entry, (uint64_t)exchange_now_ms(ex));
}

/* An answer that was kept needs no place of a tier that has none free: the plan may have it. */
static void look_for_kept(struct exchange *ex, const struct route *route)
{
    for (size_t i = 0; i < ex->services->tier_count; i++)
        if (!ex->states[i].reachable && ex->states[i].rest >= REST_SLOWED)
            ex->states[i].reachable = attempt_is_kept(ex, route, i);
}

static void make_plan(struct exchange *ex, const struct route *route)
{
    situation_read(ex, route);
    look_for_kept(ex, route);
    parts_prepare(ex, route);
    choose_tiers(ex, route);
    review_prepare(ex);
    for (size_t i = 0; i < ex->services->tier_count; i++)
        if (ex->plan.missing >> i & 1)
            want_tier(ex, i);
    ex->signals.mode = ex->plan.mode;
    outgoing_explain(ex);
    parts_planned(ex);
    answer_summarize(ex, NULL);
}

/* What the request names: memory for it, its route, its adapters. */
static enum td_status look_up(struct exchange *ex, const struct route **route, struct td_error *err)
{
    enum td_status status = allocate(ex, err);
    *route = status == TD_OK ? find_route(ex, err) : NULL;
    if (status == TD_OK && !*route)
        status = TD_NOT_FOUND;
    if (status == TD_OK)
        status = policy_check_adapters(&ex->request, ex->facts, ex->services->tier_count, err);
    return status;
}

static enum td_status prepare(struct exchange *ex, struct td_error *err)
{
    const struct exchange_services *services = ex->services;
    const struct route *route;
    enum td_status status = look_up(ex, &route, err);
    if (status == TD_OK)
        status = make_id(ex->id, err);
    if (ex->request.trace)
        ex->trace = *ex->request.trace;
    else
        trace_begin(&ex->trace, NULL);
    if (status != TD_OK)
        return status;
    ex->request.keep_nothing |= services->zero_retention || route->zero_retention;
    ex->request.no_retention |= (route->needs & CAPABILITY_NO_RETENTION) != 0;
    ex->answer.heard = CONVERSATION_ID_SILENCE;
    ex->answer.keeps_text = services->store_prompts && !ex->request.keep_nothing;
    /* What memory was short for is missing in the text that was scanned, masked or left out. */
    uint32_t shortages = shortage_count();
    make_plan(ex, route);
    if (ex->request.streamed &&
        ex->plan.rung_count > 1) /* another tier may have to go on with it */
        ex->answer.keeps_text = true;
    return shortage_judge(shortages, TD_OK, err);
}

static struct exchange *exchange_new(struct exchange_services *services, struct loop *loop,
                                     const struct td_request *request)
{
    struct exchange *ex = calloc(1, sizeof *ex);
    if (!ex)
        return NULL;
    ex->services = services;
    ex->loop = loop;
    ex->request = *request;
    ex->requested_model = request->model;
    ex->created_ms = exchange_now_ms(ex);
    for (size_t i = 0; i < LANES_MAX; i++)
        ex->lanes[i].exchange = ex;
    ex->lane = ex->lanes;
    return ex;
}

enum td_status exchange_look(struct exchange_services *services, struct loop *loop,
                             const struct td_request *request, bool *keeps_nothing,
                             struct td_error *err)
{
    const struct route *route;
    if (request->message_count == 0)
        return error_set(err, TD_INVALID, "messages must not be empty");
    struct exchange *ex = exchange_new(services, loop, request);
    if (!ex)
        return error_set(err, TD_NO_MEMORY, "no memory for an exchange");
    enum td_status status = look_up(ex, &route, err);
    if (status == TD_OK)
        *keeps_nothing = request->keep_nothing || services->zero_retention || route->zero_retention;
    exchange_free(ex);
    return status;
}

bool exchange_finds_tier(struct exchange_services *services, struct loop *loop,
                         const struct td_request *request)
{
    struct exchange *ex = exchange_new(services, loop, request);
    const struct route *route;
    if (!ex)
        return false;
    bool found = look_up(ex, &route, NULL) == TD_OK;
    if (found) {
        situation_read(ex, route);
        choose_tiers(ex, route);
        found = ex->plan.rung_count > 0;
    }
    exchange_free(ex);
    return found;
}

enum td_status exchange_start(struct exchange_services *services, struct loop *loop,
                              const struct td_request *request, exchange_fn *on_event, void *ctx,
                              struct exchange **out, struct td_error *err)
{
    ASSERT(services && loop && request && on_event && out);
    if (request->message_count == 0)
        return error_set(err, TD_INVALID, "messages must not be empty");
    struct exchange *ex = exchange_new(services, loop, request);
    if (!ex)
        return error_set(err, TD_NO_MEMORY, "no memory for an exchange");
    ex->answer.on_event = on_event;
    ex->answer.ctx = ctx;
    enum td_status status = prepare(ex, err);
    if (status != TD_OK) {
        exchange_free(ex);
        return status;
    }
    loop_timer_start(loop, ex->step_timer, 0);
    deadline_watch(ex);
    *out = ex;
    return TD_OK;
}

void exchange_cancel(struct exchange *ex)
{
    if (ex->ended) {
        answer_cancel_last(ex);
        return;
    }
    exchange_enter(ex);
    for (size_t i = 0; i < LANES_MAX; i++)
        lane_stop(&ex->lanes[i], ATTEMPT_CANCELLED);
    answer_cancel(ex);
    exchange_leave(ex);
}

bool exchange_keeps_nothing(const struct exchange *ex)
{
    return ex->request.keep_nothing;
}

const char *exchange_id(const struct exchange *ex)
{
    return ex->id;
}
