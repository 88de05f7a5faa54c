#include "exchange/machine/shadow.h"

#include "base/device.h"
#include "base/hash.h"
#include "base/log.h"
#include "base/str.h"
#include "exchange/limits/spending.h"
#include "exchange/machine/exchange_internal.h"
#include "exchange/memory/ramps.h"
#include "router/watch/agreement.h"

#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#define DEADLINE_MS 60000
#define TEXT_BYTES_MAX (64 * 1024)
/* No budget of a configuration has a blank in its name. */
#define OWN_BUDGET "the shadows"

struct shadow {
    struct shadow *previous, *next; /* in shadows->first */
    struct shadows *all;
    struct loop *loop;
    struct exchange_services *services; /* held */
    struct tier *tier;
    struct tier_attempt *running;
    struct loop_timer *timer; /* to begin, to be too late, to be freed */
    struct egress_pass pass;
    enum shadow_place place;
    const struct route *ramp_route; /* whose ramp's two tiers are compared; else NULL */
    bool is_candidate;              /* of that ramp */
    bool limited;                   /* to fewer tokens than the client allows */
    bool began;                     /* the tier was asked; else it waits for its turn */
    char id[EXCHANGE_ID_BYTES];
    struct buf shown, answer; /* of the exchange, and of the shadow */
    struct td_request request;
    struct td_message *messages;
    char *texts; /* of messages, stops and sampling */
    uint64_t budget_keys[BUDGETS_MAX + 1]; /* the exchange's, and the shadows' own */
    double promised_usd;
    uint32_t prompt_tokens;
    uint64_t answer_bytes; /* all that came, also what `answer` has no room for */
    bool ended;            /* maybe inside of a callback: freed by the timer */
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

/* Of the two tiers of the route's ramp the one that did not answer; NULL when the ramp did not ask, or another tier answered. */
static const char *ramp_other(const struct exchange *ex)
{
    const struct route *route = ex->plan.route;
    const char *answered = ex->facts[ex->current->tier].name;
    if (!ex->services->ramps || !ex->plan.decision.ramp.on)
        return NULL;
    if (strcmp(answered, route->ramp_to) == 0)
        return policy_start_of(route);
    return strcmp(answered, policy_start_of(route)) == 0 ? route->ramp_to : NULL;
}

/* Of those that the plan allowed, the first on the other side, or the ramp's other tier if it is there; for the device also one that the plan did not have because of a route's
 * kind or a mode, which say where the answer comes from: what stays on the device may be compared there. */
static size_t shadow_tier(const struct exchange *ex, bool device)
{
    const char *wanted = ramp_other(ex);
    size_t first = SIZE_MAX, others = device ? ex->services->tier_count : 0;
    for (size_t i = 0; i < ex->plan.rung_count + others; i++) {
        size_t tier = i < ex->plan.rung_count ? ex->plan.rungs[i] : i - ex->plan.rung_count;
        if (on_device(ex, tier) != device)
            continue;
        if (!wanted || strcmp(ex->facts[tier].name, wanted) == 0)
            return tier;
        if (first == SIZE_MAX)
            first = tier;
    }
    return first;
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

/* Calls of tools in the conversation, too, are more than its words. */
static bool is_words_alone(const struct td_request *request)
{
    for (size_t i = 0; i < request->message_count; i++)
        if (request->messages[i].role == TD_ROLE_TOOL)
            return false;
    return !request->has_calls && !request->completion;
}

bool shadow_is_wanted(const struct exchange *ex)
{
    const struct route *route = ex->plan.route;
    double most = fmax(route->shadow_edge_share, route->shadow_cloud_share);
    return ex->services->shadows && !ex->request.keep_nothing && ex->signals.needs == 0 &&
           is_words_alone(&ex->request) && ex->signals.data_class < TD_CLASS_CONTRACTUAL &&
           is_drawn(ex, most);
}

/* --- one of them --- */

/* Its place among those that run. */
static void give_back(struct shadows *all)
{
    pthread_mutex_lock(&all->lock);
    all->numbers.running--;
    pthread_mutex_unlock(&all->lock);
}

static void count_dropped(struct shadows *all, enum shadow_place place, double cost)
{
    pthread_mutex_lock(&all->lock);
    all->numbers.of[place].dropped++;
    all->numbers.of[place].cost_usd += cost;
    pthread_mutex_unlock(&all->lock);
}

/* Also one that did not come into the list. */
static void shadow_free(struct shadow *shadow)
{
    if (shadow->timer)
        loop_timer_free(shadow->loop, shadow->timer);
    buf_deinit(&shadow->shown);
    buf_deinit(&shadow->answer);
    free(shadow->messages);
    free(shadow->texts);
    free(shadow);
}

static void unlink_and_free(struct shadow *shadow)
{
    struct shadows *all = shadow->all;
    struct exchange_services *services = shadow->services;
    pthread_mutex_lock(&all->lock);
    if (shadow->previous)
        shadow->previous->next = shadow->next;
    else
        all->first = shadow->next;
    if (shadow->next)
        shadow->next->previous = shadow->previous;
    pthread_mutex_unlock(&all->lock);
    give_back(all);
    shadow_free(shadow);
    if (services->release)
        services->release(services);
}

/* Of one that is left: what came has its price. */
static struct tier_usage usage_so_far(const struct shadow *shadow)
{
    return exchange_usage_so_far(shadow->prompt_tokens, 0, shadow->answer_bytes);
}

static void settle(struct shadow *shadow, double usd)
{
    for (size_t i = 0; i <= BUDGETS_MAX; i++)
        if (shadow->budget_keys[i])
            spending_settle(shadow->services->spending, shadow->budget_keys[i],
                            shadow->promised_usd, usd);
}

/* The device had something better to do, or the tier does not take what was made of the request: that says nothing of its answers. */
static bool says_nothing(const struct shadow *shadow, const struct tier_result *result)
{
    bool refused = result->status == TD_INVALID;
    if (refused)
        log_event(LOG_LEVEL_INFO, "shadow_refused", "exchange=%s tier=%s http_status=%d",
                  shadow->id, shadow->tier->facts.name, result->http_status);
    return refused || (shadow->place == SHADOW_ON_DEVICE &&
                       (result->status == TD_BUSY || result->status == TD_TIMEOUT ||
                        result->status == TD_CANCELLED));
}

static void count(struct shadow *shadow, const struct agreement *agreement, double cost)
{
    struct shadow_count *counted = &shadow->all->numbers.of[shadow->place];
    pthread_mutex_lock(&shadow->all->lock);
    counted->compared += agreement != NULL;
    counted->failed += agreement == NULL;
    counted->same += agreement && agreement->same;
    counted->agreement_sum += agreement ? agreement->score : 0;
    counted->cost_usd += cost;
    pthread_mutex_unlock(&shadow->all->lock);
}

/* The ramp learns how often its two tiers differ; a candidate that gives no answer differs, too. */
static void tell_ramp(const struct shadow *shadow, bool answered, bool same)
{
    if (shadow->ramp_route && (answered || shadow->is_candidate))
        ramps_judge(shadow->services->ramps, shadow->ramp_route, RAMP_AGREEMENT, false,
                    same ? 0 : 1);
}

/* agreement NULL: there is none. */
static void put(const struct shadow *shadow, const struct tier_result *result, double cost,
                const struct agreement *agreement, const char *kind)
{
    struct td_error err = {0};
    const struct ledger_shadow row = {
        .exchange = shadow->id,
        .wall_ms = clock_wall_ms(shadow->services->clock),
        .tier = shadow->tier->facts.name,
        .agreement = agreement ? agreement->score : (double)NAN,
        .same = agreement && agreement->same,
        .kind = kind,
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

static enum agreement_end end_of(const struct shadow *shadow, const struct tier_result *result)
{
    if (result->finish != TD_FINISH_LENGTH)
        return AGREEMENT_END_OWN;
    return shadow->limited ? AGREEMENT_CUT_SHORT : AGREEMENT_CUT_AS_ASKED;
}

static void record(struct shadow *shadow, const struct tier_result *result)
{
    struct agreement agreement = {.kind = AGREEMENT_TEXT};
    bool answered = result->status == TD_OK;
    double cost = exchange_cost(&shadow->tier->facts, &result->usage);
    settle(shadow, cost);
    if (says_nothing(shadow, result) ||
        (answered && !agreement_compare(buf_view(&shadow->shown), buf_view(&shadow->answer),
                                        end_of(shadow, result), &agreement))) {
        count_dropped(shadow->all, shadow->place, cost);
        if (cost > 0) /* after a restart the budgets ask the ledger */
            put(shadow, result, cost, NULL, LEDGER_SHADOW_DROPPED);
        return;
    }
    count(shadow, answered ? &agreement : NULL, cost);
    tell_ramp(shadow, answered, agreement.same);
    put(shadow, result, cost, answered ? &agreement : NULL, agreement_kind_name(agreement.kind));
}

static void on_piece(void *ctx, const struct tier_piece *piece)
{
    struct shadow *shadow = ctx;
    shadow->answer_bytes += piece->text.len;
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
    loop_timer_start(shadow->loop, shadow->timer, 0);
}

static void ask(struct shadow *shadow)
{
    struct tier_result failure = {0};
    const struct tier_sink sink = {
        .on_piece = on_piece, .on_done = on_done, .ctx = shadow, .pass = &shadow->pass};
    shadow->began = true;
    loop_timer_start(shadow->loop, shadow->timer, DEADLINE_MS);
    failure.status = tier_start(shadow->tier, shadow->loop, &shadow->request, &sink,
                                &shadow->running, &failure.err);
    if (failure.status != TD_OK)
        on_done(shadow, &failure);
}

static void on_timer(void *ctx)
{
    struct shadow *shadow = ctx;
    if (!shadow->began) {
        ask(shadow);
        return;
    }
    if (!shadow->ended) {
        struct tier_result late = {
            .status = TD_TIMEOUT, .total_ms = DEADLINE_MS, .usage = usage_so_far(shadow)};
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
        const struct tier_usage usage = usage_so_far(shadow);
        if (shadow->began && !shadow->ended)
            tier_cancel(shadow->tier, shadow->running);
        if (!shadow->ended)
            settle(shadow, shadow->began ? exchange_cost(&shadow->tier->facts, &usage) : 0);
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
    size_t bytes = from->dry_breakers.len + 1;
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
    shadow->limited = wanted == 0 || wanted > SHADOW_TOKENS_MAX;
    shadow->request = (struct td_request){
        .messages = shadow->messages,
        .message_count = from->message_count,
        .tokens_max = shadow->limited ? SHADOW_TOKENS_MAX : wanted,
        .sampling = from->sampling,
        .left_to_model = from->left_to_model,
        .dry_breakers = keep(&space, from->dry_breakers),
        .dry_window = from->dry_window,
        .ignore_eos = from->ignore_eos,
        .stop_count = from->stop_count,
        .data_class = from->data_class,
        .priority = TD_PRIORITY_SPARE,
        .caller = "a shadow", /* nobody's: what is computed is shared with no caller */
    };
    shadow->request.sampling.biases = NULL;
    shadow->request.sampling.bias_count = 0;
    for (size_t i = 0; i < from->stop_count; i++)
        shadow->request.stops[i] = keep(&space, from->stops[i]);
    return true;
}

uint64_t shadow_budget_key(void)
{
    return spending_key(OWN_BUDGET, "");
}

/* Promises what it may come to cost, unless the shadows have had their money of the day, or it is more than a budget has left. */
static bool promise(struct shadow *shadow, const struct exchange *ex, size_t tier)
{
    struct spending *spending = ex->services->spending;
    const struct tier_usage most = {.prompt_tokens = ex->states[tier].prompt_tokens,
                                    .completion_tokens = SHADOW_TOKENS_MAX};
    double usd = exchange_cost(&ex->facts[tier], &most);
    uint64_t own = shadow_budget_key();
    if (!spending || !(usd > 0))
        return true;
    if (spending_today(spending, own) + usd > ex->services->shadow_usd_per_day ||
        !budget_has_room_for(ex, usd))
        return false;
    shadow->promised_usd = usd;
    memcpy(shadow->budget_keys, ex->budget_keys, sizeof ex->budget_keys);
    shadow->budget_keys[BUDGETS_MAX] = own;
    for (size_t i = 0; i <= BUDGETS_MAX; i++)
        if (shadow->budget_keys[i])
            spending_promise(spending, shadow->budget_keys[i], usd);
    return true;
}

/* Room for one? */
static bool reserve(const struct exchange *ex, enum shadow_place place)
{
    struct shadows *all = ex->services->shadows;
    bool on_battery = false;
    if (ex->services->device && place == SHADOW_ON_DEVICE) {
        struct device_state state;
        device_read(ex->services->device, &state);
        on_battery = state.on_battery;
    }
    pthread_mutex_lock(&all->lock);
    bool room = !on_battery && all->numbers.running < all->running_max;
    all->numbers.running += room;
    pthread_mutex_unlock(&all->lock);
    return room;
}

static void link_and_start(struct shadow *shadow)
{
    struct shadows *all = shadow->all;
    if (shadow->services->hold)
        shadow->services->hold(shadow->services);
    pthread_mutex_lock(&all->lock);
    shadow->next = all->first;
    if (shadow->next)
        shadow->next->previous = shadow;
    all->first = shadow;
    pthread_mutex_unlock(&all->lock);
    loop_timer_start(shadow->loop, shadow->timer, 0);
}

/* NULL without memory. */
static struct shadow *shadow_new(const struct exchange *ex, size_t tier, enum shadow_place place)
{
    const struct td_request *request = place == SHADOW_ELSEWHERE && ex->minimised
                                           ? minimised_request(ex->minimised)
                                           : &ex->request;
    struct shadow *shadow = calloc(1, sizeof *shadow);
    if (!shadow)
        return NULL;
    shadow->all = ex->services->shadows;
    shadow->loop = ex->loop;
    shadow->services = ex->services;
    shadow->tier = ex->services->tiers[tier];
    shadow->place = place;
    shadow->prompt_tokens = ex->states[tier].prompt_tokens;
    memcpy(shadow->id, ex->id, sizeof shadow->id);
    shadow->pass = (struct egress_pass){
        .purpose = EGRESS_SHADOW,
        .data_class = policy_class_for(ex->plan.route, &ex->signals, &ex->facts[tier]),
        .scanned = ex->services->scanner != NULL,
        .exchange = shadow->id,
    };
    buf_init(&shadow->shown, TEXT_BYTES_MAX);
    buf_init(&shadow->answer, TEXT_BYTES_MAX);
    buf_append_str(&shadow->shown, str_slice(buf_view(&ex->answer), 0, TEXT_BYTES_MAX));
    shadow->timer = loop_timer_new(ex->loop, on_timer, shadow);
    if (!shadow->timer || shadow->shown.failed || !copy_request(shadow, request)) {
        shadow_free(shadow);
        return NULL;
    }
    return shadow;
}

/* Only what the ramp may draw lots for, and only its own two tiers beside each other. */
static void join_ramp(struct shadow *shadow, const struct exchange *ex)
{
    const char *other = ramp_other(ex);
    if (!other || strcmp(shadow->tier->facts.name, other) != 0)
        return;
    shadow->ramp_route = ex->plan.route;
    shadow->is_candidate = strcmp(other, ex->plan.route->ramp_to) == 0;
}

void shadow_begin(const struct exchange *ex)
{
    const struct route *route = ex->plan.route;
    struct shadows *all = ex->services->shadows;
    enum shadow_place place =
        on_device(ex, ex->current->tier) ? SHADOW_ELSEWHERE : SHADOW_ON_DEVICE;
    double share = place == SHADOW_ON_DEVICE ? route->shadow_edge_share : route->shadow_cloud_share;
    size_t tier = shadow_tier(ex, place == SHADOW_ON_DEVICE);
    if (tier == SIZE_MAX || !is_drawn(ex, share) || !fits(ex, tier) || ex->answer.failed ||
        policy_sends_masked(route, &ex->signals, &ex->facts[tier]))
        return;
    if (!reserve(ex, place)) {
        count_dropped(all, place, 0);
        return;
    }
    struct shadow *shadow = shadow_new(ex, tier, place);
    if (shadow && promise(shadow, ex, tier)) {
        join_ramp(shadow, ex);
        link_and_start(shadow);
        return;
    }
    if (shadow)
        shadow_free(shadow);
    give_back(all);
    count_dropped(all, place, 0);
}
