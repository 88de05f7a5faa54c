#include "exchange/shadow.h"

#include "base/device.h"
#include "base/hash.h"
#include "base/log.h"
#include "base/str.h"
#include "exchange/exchange_internal.h"
#include "exchange/spending.h"
#include "router/agreement.h"

#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#define DEADLINE_MS 60000
#define TEXT_BYTES_MAX (64 * 1024)

struct shadow {
    struct shadow *previous, *next; /* in shadows->first */
    struct shadows *all;
    struct loop *loop;
    struct exchange_services *services; /* held */
    struct tier *tier;
    struct tier_attempt *running;
    struct loop_timer *deadline;
    struct egress_pass pass;
    char id[EXCHANGE_ID_BYTES];
    struct buf shown, answer; /* of the exchange, and of the shadow */
    struct td_request request;
    struct td_message *messages;
    char *texts; /* of messages and stops */
    uint64_t budget_keys[BUDGETS_MAX];
    double promised_usd;
    bool ended; /* inside of a callback: freed by the deadline's timer */
};

struct shadows {
    pthread_mutex_t lock;
    struct shadow *first;
    uint32_t running_max;
    struct shadow_numbers numbers;
};

struct shadows *shadows_new(uint32_t running_max)
{
    struct shadows *shadows = calloc(1, sizeof *shadows);
    if (!shadows)
        return NULL;
    pthread_mutex_init(&shadows->lock, NULL);
    shadows->running_max = running_max;
    return shadows;
}

void shadows_free(struct shadows *shadows)
{
    if (!shadows)
        return;
    pthread_mutex_destroy(&shadows->lock);
    free(shadows);
}

void shadow_numbers(struct shadows *shadows, struct shadow_numbers *out)
{
    pthread_mutex_lock(&shadows->lock);
    *out = shadows->numbers;
    pthread_mutex_unlock(&shadows->lock);
}

/* --- which --- */

static bool on_device(const struct exchange *ex, size_t tier)
{
    return ex->facts[tier].place == TD_PLACE_DEVICE;
}

/* Of those that the plan allowed, the first on the other side; for the device also one that the plan did not have because of a route's
 * kind or a mode, which say where the answer comes from, not where it may not be compared. */
static size_t shadow_tier(const struct exchange *ex, bool device)
{
    for (size_t i = 0; i < ex->plan.rung_count; i++)
        if (on_device(ex, ex->plan.rungs[i]) == device)
            return ex->plan.rungs[i];
    for (size_t i = 0; device && i < ex->services->tier_count; i++)
        if (on_device(ex, i))
            return i;
    return SIZE_MAX;
}

static bool fits(const struct exchange *ex, size_t tier)
{
    uint32_t limit = ex->facts[tier].context_tokens, prompt = ex->states[tier].prompt_tokens;
    return ex->states[tier].reachable && ex->facts[tier].has_key &&
           (limit == 0 || (prompt < limit && limit - prompt > SHADOW_TOKENS_MAX));
}

/* Exchanges' ids are random, so that their hashes draw the lot. */
static bool is_drawn(const struct exchange *ex, double share)
{
    uint64_t hash = hash_mix64(hash_fnv1a64(ex->id, strlen(ex->id), HASH_FNV1A64_BASIS));
    return (double)(hash >> 11) * 0x1p-53 < share;
}

bool shadow_is_wanted(const struct exchange *ex)
{
    const struct route *route = ex->plan.route;
    double most = fmax(route->shadow_edge_share, route->shadow_cloud_share);
    return ex->services->shadows && !ex->request.keep_nothing && ex->signals.needs == 0 &&
           !ex->request.completion && ex->signals.data_class < TD_CLASS_CONTRACTUAL &&
           is_drawn(ex, most);
}

/* --- one of them --- */

static void unlink_and_free(struct shadow *shadow)
{
    struct shadows *all = shadow->all;
    pthread_mutex_lock(&all->lock);
    if (shadow->previous)
        shadow->previous->next = shadow->next;
    else
        all->first = shadow->next;
    if (shadow->next)
        shadow->next->previous = shadow->previous;
    all->numbers.running--;
    pthread_mutex_unlock(&all->lock);
    loop_timer_free(shadow->loop, shadow->deadline);
    struct exchange_services *services = shadow->services;
    buf_deinit(&shadow->shown);
    buf_deinit(&shadow->answer);
    free(shadow->messages);
    free(shadow->texts);
    free(shadow);
    if (services->release)
        services->release(services);
}

static void settle(struct shadow *shadow, double usd)
{
    for (size_t i = 0; i < BUDGETS_MAX; i++)
        if (shadow->budget_keys[i])
            spending_settle(shadow->services->spending, shadow->budget_keys[i],
                            shadow->promised_usd, usd);
}

static void record(struct shadow *shadow, const struct tier_result *result)
{
    struct agreement agreement = {0};
    struct td_error err = {0};
    bool answered = result->status == TD_OK;
    double cost = exchange_cost(&shadow->tier->facts, &result->usage);
    if (answered)
        agreement_compare(buf_view(&shadow->shown), buf_view(&shadow->answer), &agreement);
    pthread_mutex_lock(&shadow->all->lock);
    shadow->all->numbers.compared += answered;
    shadow->all->numbers.failed += !answered;
    shadow->all->numbers.agreement_sum += agreement.score;
    pthread_mutex_unlock(&shadow->all->lock);
    settle(shadow, cost);
    const struct ledger_shadow row = {
        .exchange = shadow->id,
        .wall_ms = clock_wall_ms(shadow->services->clock),
        .tier = shadow->tier->facts.name,
        .agreement = answered ? agreement.score : (double)NAN,
        .label = agreement.label,
        .completion_tokens = result->usage.completion_tokens,
        .total_ms = result->total_ms,
        .cost_usd = cost,
        .egress_bytes = result->egress_bytes,
    };
    if (shadow->services->ledger &&
        ledger_put_shadow(shadow->services->ledger, &row, &err) != TD_OK)
        log_event(LOG_LEVEL_WARN, "shadow_not_recorded", "exchange=%s error=\"%s\"", shadow->id,
                  err.message);
}

static void on_piece(void *ctx, const struct tier_piece *piece)
{
    struct shadow *shadow = ctx;
    if (shadow->answer.len + piece->text.len <= TEXT_BYTES_MAX)
        buf_append_str(&shadow->answer, piece->text);
}

/* Its memory goes with the next turn of the loop: the tier may still be inside of the attempt. */
static void on_done(void *ctx, const struct tier_result *result)
{
    struct shadow *shadow = ctx;
    shadow->running = NULL;
    shadow->ended = true;
    record(shadow, result);
    loop_timer_start(shadow->loop, shadow->deadline, 0);
}

static void on_deadline(void *ctx)
{
    struct shadow *shadow = ctx;
    if (!shadow->ended) {
        struct tier_result late = {.status = TD_TIMEOUT};
        late.egress_bytes = tier_egress_bytes(shadow->tier, shadow->running);
        tier_cancel(shadow->tier, shadow->running);
        record(shadow, &late);
    }
    unlink_and_free(shadow);
}

void shadows_cancel(struct shadows *shadows, struct loop *loop)
{
    for (;;) {
        pthread_mutex_lock(&shadows->lock);
        struct shadow *shadow = shadows->first;
        while (shadow && shadow->loop != loop)
            shadow = shadow->next;
        pthread_mutex_unlock(&shadows->lock);
        if (!shadow)
            return;
        if (!shadow->ended) {
            tier_cancel(shadow->tier, shadow->running);
            settle(shadow, 0);
        }
        unlink_and_free(shadow);
    }
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

/* The words alone: roles, texts, sampling and stops. What else a client sent stays where it was. */
static bool copy_request(struct shadow *shadow, const struct td_request *from)
{
    size_t bytes = 1;
    for (size_t i = 0; i < from->message_count; i++)
        bytes += from->messages[i].content.len + 1;
    for (size_t i = 0; i < from->stop_count; i++)
        bytes += from->stops[i].len + 1;
    shadow->messages = calloc(from->message_count, sizeof *shadow->messages);
    shadow->texts = malloc(bytes);
    if (!shadow->messages || !shadow->texts)
        return false;
    char *space = shadow->texts;
    for (size_t i = 0; i < from->message_count; i++)
        shadow->messages[i] = (struct td_message){
            .role = from->messages[i].role, .content = keep(&space, from->messages[i].content)};
    uint32_t wanted = from->tokens_max;
    shadow->request = (struct td_request){
        .messages = shadow->messages,
        .message_count = from->message_count,
        .tokens_max = wanted && wanted < SHADOW_TOKENS_MAX ? wanted : SHADOW_TOKENS_MAX,
        .sampling = from->sampling,
        .stop_count = from->stop_count,
        .data_class = from->data_class,
        .priority = TD_PRIORITY_BATCH,
    };
    shadow->request.sampling.biases = NULL;
    shadow->request.sampling.bias_count = 0;
    for (size_t i = 0; i < from->stop_count; i++)
        shadow->request.stops[i] = keep(&space, from->stops[i]);
    return true;
}

/* Room for one, or it is dropped. */
static bool reserve(const struct exchange *ex)
{
    struct shadows *all = ex->services->shadows;
    bool on_battery = false;
    if (ex->services->device) {
        struct device_state state;
        device_read(ex->services->device, &state);
        on_battery = state.on_battery;
    }
    pthread_mutex_lock(&all->lock);
    bool room = !on_battery && all->numbers.running < all->running_max;
    all->numbers.running += room;
    all->numbers.dropped += !room;
    pthread_mutex_unlock(&all->lock);
    return room;
}

static void promise(struct shadow *shadow, const struct exchange *ex, size_t tier)
{
    const struct tier_usage most = {.prompt_tokens = ex->states[tier].prompt_tokens,
                                    .completion_tokens = SHADOW_TOKENS_MAX};
    shadow->promised_usd = exchange_cost(&ex->facts[tier], &most);
    memcpy(shadow->budget_keys, ex->budget_keys, sizeof shadow->budget_keys);
    for (size_t i = 0; i < BUDGETS_MAX; i++)
        if (shadow->budget_keys[i])
            spending_promise(ex->services->spending, shadow->budget_keys[i], shadow->promised_usd);
}

static void start(struct shadow *shadow)
{
    struct tier_result failure = {0};
    const struct tier_sink sink = {
        .on_piece = on_piece, .on_done = on_done, .ctx = shadow, .pass = &shadow->pass};
    loop_timer_start(shadow->loop, shadow->deadline, DEADLINE_MS);
    failure.status = tier_start(shadow->tier, shadow->loop, &shadow->request, &sink,
                                &shadow->running, &failure.err);
    if (failure.status != TD_OK)
        on_done(shadow, &failure);
}

void shadow_begin(const struct exchange *ex)
{
    struct exchange_services *services = ex->services;
    const struct route *route = ex->plan.route;
    bool was_device = on_device(ex, ex->current->tier);
    size_t tier = shadow_tier(ex, !was_device);
    double share = was_device ? route->shadow_cloud_share : route->shadow_edge_share;
    if (tier == SIZE_MAX || !is_drawn(ex, share) || !fits(ex, tier) || ex->answer.failed ||
        policy_sends_masked(route, &ex->signals, &ex->facts[tier]) ||
        policy_sends_masked(route, &ex->signals, &ex->facts[ex->current->tier]) || !reserve(ex))
        return;
    struct shadow *shadow = calloc(1, sizeof *shadow);
    struct loop_timer *deadline = shadow ? loop_timer_new(ex->loop, on_deadline, shadow) : NULL;
    const struct td_request *request =
        was_device && ex->minimised ? minimised_request(ex->minimised) : &ex->request;
    if (!deadline || !copy_request(shadow, request)) {
        if (deadline)
            loop_timer_free(ex->loop, deadline);
        if (shadow) {
            free(shadow->messages);
            free(shadow->texts);
        }
        free(shadow);
        pthread_mutex_lock(&services->shadows->lock);
        services->shadows->numbers.running--;
        pthread_mutex_unlock(&services->shadows->lock);
        return;
    }
    shadow->all = services->shadows;
    shadow->loop = ex->loop;
    shadow->services = services;
    shadow->tier = services->tiers[tier];
    shadow->deadline = deadline;
    memcpy(shadow->id, ex->id, sizeof shadow->id);
    shadow->pass = (struct egress_pass){
        .purpose = EGRESS_SHADOW,
        .data_class = policy_class_for(route, &ex->signals, &ex->facts[tier]),
        .exchange = shadow->id,
    };
    buf_init(&shadow->shown, TEXT_BYTES_MAX);
    buf_init(&shadow->answer, TEXT_BYTES_MAX);
    struct td_str shown = buf_view(&ex->answer);
    buf_append_str(&shadow->shown,
                   str_slice(shown, 0, shown.len < TEXT_BYTES_MAX ? shown.len : TEXT_BYTES_MAX));
    if (was_device)
        promise(shadow, ex, tier);
    if (services->hold)
        services->hold(services);
    pthread_mutex_lock(&shadow->all->lock);
    shadow->next = shadow->all->first;
    if (shadow->next)
        shadow->next->previous = shadow;
    shadow->all->first = shadow;
    pthread_mutex_unlock(&shadow->all->lock);
    start(shadow);
}
