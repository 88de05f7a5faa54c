/* An application shows and hides features by this. So the list has what users see - answers at all,
 * larger models, tools, pictures - and each that is missing names the tier that would bring it and
 * what keeps that tier down. Features that no tier of the configuration has are not in it: they are
 * not missing, they were never there. */
#include "api/admin/capability_state.h"

#include "api/metrics/tier_condition.h"
#include "base/json/json.h"
#include "device/device.h"

#include <stdio.h>

enum { FEATURE_ANSWERS, FEATURE_LARGER, FEATURE_FIRST_ABILITY };

static const struct {
    const char *name;
    unsigned capability; /* 0: said by place */
} features[] = {
    {"answers", 0},
    {"larger_models", 0}, /* of tiers elsewhere */
    {"tools", CAPABILITY_TOOLS},
    {"json_schema", CAPABILITY_SCHEMA},
    {"grammar", CAPABILITY_GRAMMAR},
    {"adapters", CAPABILITY_ADAPTERS},
    {"completion", CAPABILITY_COMPLETION},
    {"image", CAPABILITY_IMAGE},
    {"audio", CAPABILITY_AUDIO},
    {"file", CAPABILITY_FILE},
};
enum { FEATURE_COUNT = sizeof features / sizeof *features };
_Static_assert((int)FEATURE_COUNT <= CAPABILITY_FEATURES_MAX, "bits of a state");

static uint32_t features_of(const struct tier_facts *facts)
{
    uint32_t bits = 1u << FEATURE_ANSWERS;
    if (facts->place != TD_PLACE_DEVICE && !facts->people)
        bits |= 1u << FEATURE_LARGER;
    for (size_t i = FEATURE_FIRST_ABILITY; i < FEATURE_COUNT; i++)
        if (!(facts->lacks & features[i].capability))
            bits |= 1u << i;
    return bits;
}

/* A cloud that is there only by default, without a key, is not part of the configuration. */
static bool is_meant(const struct tier_facts *facts)
{
    return facts->has_key || !facts->model_assumed;
}

static enum td_network network_of(const struct exchange_services *services)
{
    struct device_state device = {.network = TD_NETWORK_UNKNOWN};
    if (services->device)
        device_read(services->device, &device);
    return device.network;
}

static void read_condition(const struct exchange_services *services, enum td_network network,
                           size_t tier, struct tier_condition *out)
{
    const struct tier_facts *facts = &services->tiers[tier]->facts;
    tier_condition_read(services, tier, out);
    if (network != TD_NETWORK_OFFLINE || facts->place == TD_PLACE_DEVICE || facts->loopback ||
        !out->up)
        return;
    *out = (struct tier_condition){.code = "offline"};
    snprintf(out->why, sizeof out->why, "is elsewhere, and the device is offline");
}

void capability_state_read(const struct exchange_services *services, struct capability_state *out)
{
    *out = (struct capability_state){.network = network_of(services)};
    for (size_t i = 0; i < services->tier_count && i < RUNGS_MAX; i++) {
        const struct tier_facts *facts = &services->tiers[i]->facts;
        struct tier_condition condition;
        if (!is_meant(facts))
            continue;
        read_condition(services, out->network, i, &condition);
        out->configured |= features_of(facts);
        if (!condition.up || condition.broken)
            continue;
        out->tiers |= 1u << i;
        out->available |= features_of(facts);
    }
}

struct json *capability_names(uint32_t bits)
{
    struct json *list = json_new_array();
    for (size_t i = 0; i < FEATURE_COUNT; i++)
        if (bits >> i & 1)
            json_push(list, json_new_cstr(features[i].name));
    return list;
}

/* {"tier", "code", "why", "features": what is missing with it}. */
static struct json *missing_of(const struct exchange_services *services,
                               const struct capability_state *state, size_t tier)
{
    const struct tier_facts *facts = &services->tiers[tier]->facts;
    struct tier_condition condition;
    struct json *object = json_new_object();
    read_condition(services, state->network, tier, &condition);
    json_put(object, "tier", json_new_cstr(facts->name));
    json_put(object, "code", json_new_cstr(condition.code));
    json_put(object, "why", json_new_cstr(condition.why));
    json_put(object, "features", capability_names(features_of(facts) & ~state->available));
    return object;
}

void capability_state_put(const struct exchange_services *services,
                          const struct capability_state *state, struct json *object)
{
    struct json *missing = json_new_array(), *list = json_new_object();
    for (size_t i = 0; i < FEATURE_COUNT; i++)
        if (state->configured >> i & 1)
            json_put(list, features[i].name, json_new_bool(state->available >> i & 1));
    for (size_t i = 0; i < services->tier_count && i < RUNGS_MAX; i++)
        if (is_meant(&services->tiers[i]->facts) && !(state->tiers >> i & 1))
            json_push(missing, missing_of(services, state, i));
    json_put(object, "network", json_new_cstr(names_table_name(names_networks, state->network)));
    json_put(object, "complete", json_new_bool(json_count(missing) == 0));
    json_put(object, "features", list);
    json_put(object, "missing", missing);
}

/* --- the device --- */

static struct json *heat_of(const struct device_state *state)
{
    struct json *object = json_new_object();
    json_put(object, "temperature_c", json_new_double(state->thermal.temperature_c));
    json_put(object, "wall_c", json_new_double(state->thermal.wall_c));
    json_put(object, "wall_s", json_new_double(state->wall_s));
    json_put(object, "sustained", json_new_double(state->sustained));
    json_put(object, "throttled", json_new_bool(state->thermal.throttled));
    json_put(object, "learnt", json_new_bool(state->learnt));
    return object;
}

struct json *capability_device(struct device *device)
{
    struct device_state state;
    struct json *object = json_new_object();
    device_read(device, &state);
    json_put(object, "level", json_new_cstr(device_level_names[state.level]));
    json_put(object, "cause", json_new_cstr(device_cause_names[state.cause]));
    json_put(object, "reason", json_new_cstr(state.why));
    json_put(object, "network", json_new_cstr(names_networks[state.network]));
    json_put(object, "battery", json_new_double(state.battery));
    json_put(object, "on_battery", json_new_bool(state.on_battery));
    json_put(object, "watts", json_new_double(state.watts));
    json_put(object, "token_j", json_new_double(state.token_j));
    json_put(object, "token_j_measured", json_new_bool(state.token_j_measured));
    json_put(object, "heat", state.thermal.known ? heat_of(&state) : json_new_null());
    json_put(object, "memory_free_bytes",
             state.memory.known ? json_new_double((double)state.memory.free_bytes)
                                : json_new_null());
    return object;
}
