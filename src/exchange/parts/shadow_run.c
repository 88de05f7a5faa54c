/* One shadow while it runs.
 *
 * It is asked in a later turn of the loop, so that the exchange's last word is out before. The copy
 * of the request is words alone: roles, texts, sampling and stops. What it costs is promised before
 * and settled after, also when it is cancelled. It is freed by its timer, because the tier may
 * still be inside of the attempt when the answer is complete. */
#include "exchange/parts/shadow_run.h"

#include "base/core/assertion.h"
#include "base/core/str.h"
#include "base/json/json.h"
#include "base/text/names.h"
#include "base/time/log.h"
#include "exchange/limits/cost.h"
#include "exchange/limits/spending.h"
#include "exchange/memory/ramp_table.h"
#include "exchange/memory/skew_table.h"
#include "exchange/parts/ledger_json.h"
#include "ledger/record/ledger.h"
#include "router/watch/agreement.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define DEADLINE_MS 60000
#define TEXT_BYTES_MAX (64 * 1024)
#define SHADOW_SPANS 1000 /* attempts have the numbers below */

/* Also one that did not come into the pool. */
static void run_free(struct shadow_run *run)
{
    if (run->timer)
        loop_timer_free(run->loop, run->timer);
    buf_deinit(&run->shown);
    buf_deinit(&run->answer);
    free(run->messages);
    free(run->texts);
    free(run);
}

static void remove_and_free(struct shadow_run *run)
{
    struct exchange_services *services = run->task.services;
    shadow_pool_remove(run->pool, run);
    run_free(run);
    if (services->release)
        services->release(services);
}

/* --- money --- */

static void promise(const struct shadow_run *run)
{
    for (size_t i = 0; i <= BUDGETS_MAX; i++)
        if (run->task.budget_keys[i])
            spending_promise(run->task.services->spending, run->task.budget_keys[i],
                             run->task.promised_usd);
}

static void settle(const struct shadow_run *run, double usd)
{
    for (size_t i = 0; i <= BUDGETS_MAX; i++)
        if (run->task.budget_keys[i])
            spending_settle(run->task.services->spending, run->task.budget_keys[i],
                            run->task.promised_usd, usd);
}

/* Of one whose tier told no usage: what came has its price. */
static struct tier_usage usage_so_far(const struct shadow_run *run)
{
    struct token_ratio ratio;
    const struct cost_seen seen = {.prompt_tokens = run->task.prompt_tokens,
                                   .answer_bytes = run->answer_bytes};
    token_counts_read(run->task.services->token_counts, &run->tier->facts, &ratio);
    return cost_usage_seen(&seen, &ratio);
}

static double cost_of(const struct shadow_run *run, const struct tier_result *result)
{
    const struct tier_usage seen = usage_so_far(run);
    bool told = result->usage.exact || result->unbilled;
    return cost_usd(&run->tier->facts, told ? &result->usage : &seen);
}

/* --- health --- */

/* That spare work had to wait too long says nothing about the tier; a server's word does. */
static void leave_tier(struct shadow_run *run, const struct tier_result *result)
{
    bool says = result &&
                (result->status == TD_OK || result->http_status || result->reach == TIER_UNREACHED);
    tier_health_leave(run->task.services->health, run->task.tier, &run->ticket,
                      says ? result : NULL,
                      (uint64_t)clock_monotonic_ms(run->task.services->clock));
}

static bool enter_tier(struct shadow_run *run)
{
    struct tier_state why = {0};
    const struct tier_entry entry = {.caller = run->task.caller,
                                     .prompt_tokens = run->task.prompt_tokens};
    return tier_health_enter(run->task.services->health, run->task.tier, &entry,
                             (uint64_t)clock_monotonic_ms(run->task.services->clock), &run->ticket,
                             &why);
}

/* --- what it came to --- */

/* The device had something better to do, the tier rests, or it does not take what was made of the
 * request. That says nothing of its answers. */
static bool says_nothing(const struct shadow_run *run, const struct tier_result *result)
{
    bool refused = result->status == TD_INVALID;
    if (refused)
        log_event(LOG_LEVEL_INFO, "shadow_refused", "exchange=%s tier=%s http_status=%d", run->id,
                  run->tier->facts.name, result->http_status);
    return refused || result->reach == TIER_NOT_AWAITED ||
           (run->task.place == SHADOW_ON_DEVICE &&
            (result->status == TD_BUSY || result->status == TD_TIMEOUT ||
             result->status == TD_CANCELLED));
}

/* The ramp learns how often its two tiers differ. A candidate that gives no answer differs, too. */
static void tell_ramp(const struct shadow_run *run, bool answered, bool same)
{
    const struct shadow_task *task = &run->task;
    if (task->ramp_route && (answered || task->is_candidate))
        ramp_table_judge(task->services->ramp_table, task->ramp_route, RAMP_AGREEMENT, false,
                         same ? 0 : 1);
}

static void tell_skew(const struct shadow_run *run, bool same)
{
    char versions[2][LEDGER_VERSION_BYTES];
    const struct tier_facts *answerer = &run->task.services->tiers[run->task.answerer]->facts;
    const struct tier_facts *facts = &run->tier->facts;
    const struct skew_sides sides = {
        .tiers = {answerer->name, facts->name},
        .versions = {ledger_json_version(answerer, run->task.answerer_identity, versions[0]),
                     ledger_json_version(facts, run->server_identity, versions[1])}};
    skew_table_count(shadow_pool_skew(run->pool), &sides, same);
}

/* agreement NULL: there is none. */
static void put(const struct shadow_run *run, const struct tier_result *result, double cost,
                const struct agreement *agreement, const char *kind)
{
    const struct exchange_services *services = run->task.services;
    struct td_error err = {0};
    char version[LEDGER_VERSION_BYTES];
    const struct ledger_shadow row = {
        .exchange = run->id,
        .wall_ms = clock_wall_ms(services->clock),
        .tier = run->tier->facts.name,
        .place = names_place(run->tier->facts.place),
        .model = run->tier->facts.model,
        .model_version = ledger_json_version(&run->tier->facts, run->server_identity, version),
        .agreement = agreement ? agreement->score : (double)NAN,
        .same = agreement && agreement->same,
        .kind = kind,
        .completion_tokens = result->usage.completion_tokens,
        .total_ms = result->total_ms,
        .cost_usd = cost,
        .egress_bytes = result->egress_bytes,
    };
    if (services->ledger && ledger_put_shadow(services->ledger, &row, &err) != TD_OK)
        log_event(LOG_LEVEL_WARN, "shadow_not_recorded", "exchange=%s error=\"%s\"", run->id,
                  err.message);
}

static enum agreement_end end_of(const struct shadow_run *run, const struct tier_result *result)
{
    if (result->finish != TD_FINISH_LENGTH)
        return AGREEMENT_END_OWN;
    return run->limited ? AGREEMENT_CUT_SHORT : AGREEMENT_CUT_AS_ASKED;
}

/* There is nothing to compare. What it cost is recorded all the same: after a restart the budgets
 * ask the ledger. */
static void drop(const struct shadow_run *run, const struct tier_result *result)
{
    double cost = cost_of(run, result);
    settle(run, cost);
    shadow_pool_count(run->pool, run->task.place,
                      &(struct shadow_count){.dropped = 1, .cost_usd = cost});
    if (cost > 0)
        put(run, result, cost, NULL, LEDGER_SHADOW_DROPPED);
}

static void record(struct shadow_run *run, const struct tier_result *result)
{
    leave_tier(run, result);
    struct agreement agreement = {.kind = AGREEMENT_TEXT};
    bool answered = result->status == TD_OK;
    if (says_nothing(run, result) ||
        (answered && !agreement_compare(buf_view(&run->shown), buf_view(&run->answer),
                                        end_of(run, result), &agreement))) {
        drop(run, result);
        return;
    }
    double cost = cost_of(run, result);
    settle(run, cost);
    const struct shadow_count counted = {.compared = answered,
                                         .failed = !answered,
                                         .same = answered && agreement.same,
                                         .agreement_sum = answered ? agreement.score : 0,
                                         .cost_usd = cost};
    shadow_pool_count(run->pool, run->task.place, &counted);
    tell_ramp(run, answered, agreement.same);
    if (answered)
        tell_skew(run, agreement.same);
    put(run, result, cost, answered ? &agreement : NULL, agreement_kind_name(agreement.kind));
}

/* --- its attempt --- */

static void on_piece(void *ctx, const struct tier_piece *piece)
{
    struct shadow_run *run = ctx;
    run->answer_bytes += piece->text.len;
    if (piece->server_identity)
        run->server_identity = piece->server_identity;
    if (run->answer.len + piece->text.len <= TEXT_BYTES_MAX)
        buf_append_str(&run->answer, piece->text);
}

static void on_done(void *ctx, const struct tier_result *result)
{
    struct shadow_run *run = ctx;
    run->running = NULL;
    run->ended = true;
    record(run, result);
    loop_timer_start(run->loop, run->timer, 0);
}

static void ask(struct shadow_run *run)
{
    struct tier_result failure = {.status = TD_BUSY, .reach = TIER_NOT_AWAITED, .unbilled = true};
    run->began = true;
    loop_timer_start(run->loop, run->timer, DEADLINE_MS);
    bool inside = enter_tier(run);
    const struct tier_sink sink = {.on_piece = on_piece,
                                   .on_done = on_done,
                                   .ctx = run,
                                   .pass = &run->pass,
                                   .elsewhere = true,
                                   .once = run->ticket.alone};
    if (inside) {
        failure.reach = TIER_REACHED;
        failure.status =
            tier_start(run->tier, run->loop, &run->request, &sink, &run->running, &failure.err);
    }
    if (failure.status != TD_OK)
        on_done(run, &failure);
}

/* The result of one that is about to be cancelled. */
static struct tier_result left_now(const struct shadow_run *run, enum td_status status)
{
    return (struct tier_result){
        .status = status,
        .total_ms = status == TD_TIMEOUT ? DEADLINE_MS : (double)NAN,
        .egress_bytes = tier_egress_bytes(run->tier, run->running),
        .unbilled = tier_is_unbilled(run->tier, run->running),
    };
}

static void on_timer(void *ctx)
{
    struct shadow_run *run = ctx;
    if (!run->began) {
        ask(run);
        return;
    }
    if (!run->ended) {
        struct tier_result late = left_now(run, TD_TIMEOUT);
        tier_cancel(run->tier, run->running);
        record(run, &late);
    }
    remove_and_free(run);
}

void shadow_run_cancel(struct shadow_run *run)
{
    if (run->began && !run->ended) {
        const struct tier_result left = left_now(run, TD_CANCELLED);
        tier_cancel(run->tier, run->running);
        drop(run, &left);
    } else if (!run->ended) {
        settle(run, 0);
    }
    leave_tier(run, NULL);
    remove_and_free(run);
}

/* --- the beginning --- */

static struct td_str keep(char **space, struct td_str text)
{
    char *at = *space;
    if (text.len)
        memcpy(at, text.data, text.len);
    at[text.len] = '\0';
    *space += text.len + 1;
    return (struct td_str){at, text.len};
}

static bool copy_request(struct shadow_run *run, const struct td_request *from)
{
    size_t bytes = from->dry_breakers.len + 1;
    for (size_t i = 0; i < from->message_count; i++)
        bytes += from->messages[i].content.len + 1;
    for (size_t i = 0; i < from->stop_count; i++)
        bytes += from->stops[i].len + 1;
    run->messages = calloc(from->message_count, sizeof *run->messages);
    run->texts = malloc(bytes);
    if (!run->messages || !run->texts)
        return false;
    char *space = run->texts;
    for (size_t i = 0; i < from->message_count; i++)
        run->messages[i] = (struct td_message){.role = from->messages[i].role,
                                               .content = keep(&space, from->messages[i].content)};
    uint32_t wanted = from->tokens_max;
    run->limited = wanted == 0 || wanted > SHADOW_TOKENS_MAX;
    run->request = (struct td_request){
        .messages = run->messages,
        .message_count = from->message_count,
        .tokens_max = run->limited ? SHADOW_TOKENS_MAX : wanted,
        .sampling = from->sampling,
        .left_to_model = from->left_to_model,
        .dry_breakers = keep(&space, from->dry_breakers),
        .dry_window = from->dry_window,
        .ignore_eos = from->ignore_eos,
        .stops = run->stops,
        .stop_count = from->stop_count,
        .data_class = from->data_class,
        .priority = TD_PRIORITY_SPARE,
        .caller = "a shadow", /* nobody's: what is computed is shared with no caller */
    };
    run->request.sampling.biases = NULL;
    run->request.sampling.bias_count = 0;
    for (size_t i = 0; i < from->stop_count; i++)
        run->stops[i] = keep(&space, from->stops[i]);
    return true;
}

/* NULL without memory. */
static struct shadow_run *run_new(const struct shadow_task *task)
{
    struct shadow_run *run = calloc(1, sizeof *run);
    if (!run)
        return NULL;
    run->loop = task->loop;
    run->task = *task;
    run->pool = task->services->shadow_pool;
    run->tier = task->services->tiers[task->tier];
    memcpy(run->id, task->id, strlen(task->id) + 1);
    run->pass = (struct egress_pass){
        .purpose = EGRESS_SHADOW,
        .data_class = task->data_class,
        .scanned = task->services->scanner != NULL,
        .exchange = run->id,
        .span = run->span,
        .traceparent = run->traceparent,
    };
    trace_child(task->trace, SHADOW_SPANS + (uint32_t)task->tier, run->span);
    trace_write(task->trace, run->span, run->traceparent);
    buf_init(&run->shown, TEXT_BYTES_MAX);
    buf_init(&run->answer, TEXT_BYTES_MAX);
    buf_append_str(&run->shown, str_slice(task->shown, 0, TEXT_BYTES_MAX));
    run->timer = loop_timer_new(run->loop, on_timer, run);
    if (!run->timer || run->shown.failed || !copy_request(run, task->request)) {
        run_free(run);
        return NULL;
    }
    return run;
}

bool shadow_run_start(const struct shadow_task *task)
{
    ASSERT(strlen(task->id) < SHADOW_ID_BYTES);
    struct shadow_run *run = run_new(task);
    if (!run)
        return false;
    promise(run);
    if (task->services->hold)
        task->services->hold(task->services);
    shadow_pool_add(run->pool, run);
    loop_timer_start(run->loop, run->timer, 0);
    return true;
}
