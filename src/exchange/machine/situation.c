/* What is known of a request before a tier is asked: signals and the class of its data, the tiers'
 * states, the time and the device. Then the route's rules are applied, because they may ask for any
 * of it. The class only rises, also over the requests of one conversation. */
#include "exchange/machine/situation.h"

#include "base/core/shortage.h"
#include "base/core/str.h"
#include "device/device.h"
#include "exchange/limits/token_counts.h"
#include "exchange/machine/exchange_core.h"
#include "exchange/private/classify.h"
#include "exchange/private/conversation_id.h"
#include "exchange/private/signatures.h"
#include "privacy/scan/privacy.h"
#include "router/plan/signals.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* A trace's state is text of the client, which tiers of the house would get: only if it is
 * public. It may be left out whole. */
static void read_trace_state(struct exchange *ex)
{
    const char *state = ex->request.trace_state;
    if (state && privacy_classify(ex->services->scanner, str_from(state), NULL) > TD_CLASS_PUBLIC)
        ex->request.trace_state = NULL;
}

/* Most requests have none, and streams hold for long what their exchange holds. */
static void keep_findings(struct exchange *ex, const struct privacy_tally *found)
{
    if (!privacy_tally_has_any(found))
        return;
    size_t bytes = privacy_tally_bytes(found);
    ex->findings = malloc(bytes);
    if (ex->findings)
        memcpy(ex->findings, found, bytes);
    else
        shortage_note();
}

/* Heat, battery, memory and network of this machine, as a thread beside the requests saw them. */
static void read_device(struct exchange *ex)
{
    struct moment *moment = &ex->signals.moment;
    struct device_state device;
    if (ex->services->device_said)
        device = *ex->services->device_said;
    else if (ex->services->device)
        device_read(ex->services->device, &device);
    else
        return;
    moment->battery = device.battery;
    moment->on_battery = device.on_battery;
    moment->battery_low = device.battery_low;
    tier_health_note_network(ex->services->health, device.network, (uint64_t)exchange_now_ms(ex));
    if (moment->network == TD_NETWORK_UNKNOWN) /* the caller knows better */
        moment->network = device.network;
    moment->device_level = device.level;
    moment->spares_power = device.level >= DEVICE_HOT && (device.cause == DEVICE_CAUSE_HEAT ||
                                                          device.cause == DEVICE_CAUSE_BATTERY);
    if (device.level == DEVICE_USUAL)
        return;
    memcpy(ex->device_why, device.why, sizeof ex->device_why);
    moment->device_why = ex->device_why;
    ex->request.tokens_eased = device_level_tokens(device.level);
}

static void read_signals(struct exchange *ex, const struct route *route)
{
    read_trace_state(ex);
    signatures_find(ex->services->signatures, &ex->request, &ex->signatures);
    signals_extract(&ex->request, ex->services->classifier, ex->services->similarity, &ex->signals);
    ex->signals.draw = explore_draw(ex->id);
    read_device(ex);
    ex->conversation = conversation_id_keys(&ex->request);
    struct privacy_tally found = {0};
    enum td_data_class declared = classify_higher(ex->request.data_class, route->data_class);
    if (ex->request.media.kinds)
        declared = classify_higher(declared, ex->services->media_class);
    enum td_data_class data_class =
        classify_higher(declared, classify_request(ex->services->scanner, &ex->request, &found));
    keep_findings(ex, &found);
    ex->signals.data_class =
        conversation_id_raise(ex->services->classes, &ex->request, &ex->conversation, false,
                              classify_higher(data_class, ex->request.class_before));
    ex->signals.keep_nothing = ex->request.keep_nothing;
    ex->signals.deadline_ms = ex->deadline.total_ms;
    ex->signals.first_deadline_ms = ex->deadline.first_ms;
    outgoing_read_consent(ex, route);
    staying_prepare(ex, route);
    outgoing_prepare(ex, route, declared);
}

/* How long the request would wait at the tier, and how long until it is answered. Where the parts
 * of that time are not known, the measured tail stands for the whole. */
static void forecast(struct exchange *ex, size_t tier)
{
    struct tier_state *state = &ex->states[tier];
    if (ex->facts[tier].people) /* their time is not measured but promised (sla_s) */
        return;
    const struct tier_ask ask = {.priority = ex->request.priority,
                                 .data_class = ex->signals.data_class,
                                 .prompt_tokens = ex->states[tier].prompt_tokens,
                                 .tokens_max = ex->request.tokens_max};
    if (ex->services->load)
        tier_load_forecast(ex->services->load, tier, ex->services->tiers[tier], &ask, state);
    if (ex->services->device && !ex->facts[tier].provider) { /* the engine here, which heats it */
        struct device *device = ex->services->device;
        state->forecast_ttft_ms = device_forecast_ms(device, state->forecast_ttft_ms);
        state->forecast_total_ms = device_forecast_ms(device, state->forecast_total_ms);
    }
    if (!(state->forecast_ttft_ms > 0))
        state->forecast_ttft_ms = state->ttft_p95_ms;
    if (!(state->forecast_total_ms > 0))
        state->forecast_total_ms = state->total_p95_ms;
}

/* A server's own count is known only after its answer. Until then its ratio corrects the
 * estimate. */
static uint32_t count_prompt(struct exchange *ex, size_t tier)
{
    struct tier *asked = ex->services->tiers[tier];
    uint32_t tokens = tier_count_prompt(asked, outgoing_plain(ex, &ex->facts[tier]));
    struct token_ratio ratio;
    if (!asked->ops->estimates)
        return tokens;
    token_counts_read(ex->services->token_counts, &ex->facts[tier], &ratio);
    return (uint32_t)fmin(ceil(tokens * ratio.prompt), UINT32_MAX);
}

static void read_states(struct exchange *ex)
{
    struct exchange_services *services = ex->services;
    for (size_t i = 0; i < services->tier_count; i++) {
        ex->states[i] = (struct tier_state){
            .reachable = true,
            .prompt_tokens = count_prompt(ex, i),
        };
        const struct tier_entry entry = exchange_entry(ex, i);
        tier_health_look_for(services->health, i, &entry, (uint64_t)exchange_now_ms(ex),
                             &ex->states[i]);
        if (services->tiers[i]->ops->look)
            services->tiers[i]->ops->look(services->tiers[i], &ex->states[i]);
        if (services->latency)
            tier_latency_read(services->latency, i, (uint64_t)exchange_now_ms(ex), &ex->states[i]);
        forecast(ex, i);
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
    for (size_t i = ex->services->tier_count; i-- > 0;)
        if (route->tier_count > 0 && strcmp(ex->facts[i].name, route->tiers[0]) == 0)
            ex->signals.prompt_tokens = ex->states[i].prompt_tokens;
    ex->signals.app = app ? app->name : NULL;
    parts_inform(ex, route);
}

/* The rule that matches may raise the class, and then the conversation keeps it. */
static void apply_rules(struct exchange *ex, const struct route *route)
{
    const struct policy *policy = ex->services->policy;
    const struct app *app = policy_find_app(policy, ex->request.key);
    read_moment(ex, route, app);
    enum td_data_class before = ex->signals.data_class;
    policy_apply_rules(policy, route, &ex->request.weights, app ? &app->weights : NULL,
                       &ex->signals);
    if (ex->signals.data_class > before)
        ex->signals.data_class = conversation_id_raise(
            ex->services->classes, &ex->request, &ex->conversation, false, ex->signals.data_class);
}

void situation_read(struct exchange *ex, const struct route *route)
{
    read_signals(ex, route);
    read_states(ex);
    apply_rules(ex, route);
}
