/* What holds of every cell, whatever the ladder: data reaches only who may see it; an answer is
 * given as long as a tier is left that may give one; what is second best says so, and so does an
 * error. docs/failures.md has what that comes to on one ladder. */
#include "api/drill/drill.h"

#include "api/drill/stand_in.h"
#include "base/core/error.h"
#include "base/core/str.h"
#include "exchange/machine/attempt.h"
#include "tier/door.h"

#include <math.h>
#include <stdio.h>

const char *const drill_fault_names[] = {
    "engine_killed", "too_hot",   "model_unloaded", "context_overflow", "timeout", "http_429",
    "http_5xx",      "malformed", "cut_off",        "no_server",        "offline", "disk_full",
    "ledger_locked", NULL,
};
const char *const drill_fault_titles[] = {
    "the engine is killed (out of memory)",
    "the engine is too hot",
    "the model cannot be loaded",
    "the prompt is longer than the context",
    "no answer in time",
    "HTTP 429",
    "HTTP 5xx",
    "a malformed answer",
    "cut off in the middle",
    "no server is there",
    "the device is offline",
    "the disk is full",
    "the ledger is locked",
    NULL,
};

bool drill_hits(const struct drill *drill, const struct tier_facts *facts)
{
    /* A hot engine still answers what nobody else may; a locked ledger keeps nobody from it. */
    if (drill->fault == DRILL_TOO_HOT || drill->fault == DRILL_LEDGER_LOCKED)
        return false;
    if (drill->fault < DRILL_TIMEOUT)
        return !facts->provider;
    return facts->provider && !(drill->fault == DRILL_OFFLINE && facts->loopback);
}

enum td_status drill_init(struct drill *drill, enum drill_fault fault,
                          struct exchange_services *real, struct td_error *err)
{
    if (real->tier_count > DRILL_TIERS_MAX)
        return error_set(err, TD_LIMIT, "a drill takes at most %d tiers", DRILL_TIERS_MAX);
    *drill = (struct drill){.fault = fault, .services = *real};
    for (size_t i = 0; i < real->tier_count; i++) {
        stand_in_init(&drill->stand_ins[i], drill, &real->tiers[i]->facts);
        drill->tiers[i] = &drill->stand_ins[i].tier;
    }
    /* What learns, counts, keeps or tells anything is left out. */
    struct exchange_services *services = &drill->services;
    services->hold = services->release = NULL;
    services->tiers = drill->tiers;
    services->asked = NULL;
    services->health = NULL;
    services->latency = NULL;
    services->load = NULL;
    services->device = NULL;
    services->token_counts = NULL;
    services->classes = NULL;
    services->signatures = NULL;
    services->hedge_allowance = NULL;
    services->spending = NULL;
    services->meters = NULL;
    services->consistency = NULL;
    services->ledger = NULL;
    services->queues = NULL;
    services->account = NULL;
    services->watch = NULL;
    services->ramp_table = NULL;
    services->reactions = NULL;
    services->shadow_pool = NULL;
    if (fault == DRILL_TOO_HOT) {
        drill->device.battery = NAN;
        drill->device.level = DEVICE_WALL;
        drill->device.cause = DEVICE_CAUSE_HEAT;
        snprintf(drill->device.why, sizeof drill->device.why,
                 "a drill says that the device is too hot");
        services->device_said = &drill->device;
    }
    return TD_OK;
}

void drill_prepare(const struct drill *drill, struct td_request *request)
{
    request->keep_nothing = true;
    request->network = drill->fault == DRILL_OFFLINE ? TD_NETWORK_OFFLINE : TD_NETWORK_ONLINE;
    request->mode = drill->fault == DRILL_TOO_HOT  ? TD_MODE_AUTO
                    : drill->fault < DRILL_TIMEOUT ? TD_MODE_PREFER_LOCAL
                                                   : TD_MODE_PREFER_CLOUD;
}

static const struct tier_facts *facts_named(const struct drill *drill, const char *name)
{
    for (size_t i = 0; name && i < drill->services.tier_count; i++)
        if (strcmp(drill->tiers[i]->facts.name, name) == 0)
            return &drill->tiers[i]->facts;
    return NULL;
}

static bool may_see(const struct tier_facts *facts, enum td_data_class data_class)
{
    return facts->place == TD_PLACE_DEVICE || egress_allowed(data_class, facts);
}

/* The plan left it out, for another cause than one that can be told to be wrong here. */
static bool was_removed(const struct exchange_summary *summary, const struct tier_facts *facts)
{
    for (size_t i = 0; i < summary->reason_count; i++) {
        enum reason_code code = summary->reasons[i].code;
        if (code >= REASON_REMOVED_CLASS && code <= REASON_REMOVED_CAPPED &&
            strcmp(summary->reasons[i].tier, facts->name) == 0)
            return code != REASON_REMOVED_CLASS || !may_see(facts, summary->data_class);
    }
    return false;
}

static const struct route *route_named(const struct policy *policy, const char *name)
{
    for (size_t i = 0; name && i < policy->route_count; i++)
        if (strcmp(policy->routes[i].name, name) == 0)
            return &policy->routes[i];
    return NULL;
}

/* A tier of the route that has nothing against it and is not `but`; NULL = there is none. */
static const char *one_left(const struct drill *drill, const struct exchange_summary *summary,
                            const struct tier_facts *but)
{
    const struct route *route = route_named(drill->services.policy, summary->route);
    for (size_t i = 0; route && i < route->tier_count; i++) {
        const struct tier_facts *facts = facts_named(drill, route->tiers[i]);
        if (facts && facts != but && !facts->people && !drill_hits(drill, facts) &&
            tier_facts_usable(facts) && !was_removed(summary, facts))
            return facts->name;
    }
    return NULL;
}

static bool judge_answer(const struct drill *drill, const struct exchange_summary *summary,
                         char why[static DRILL_WHY_BYTES])
{
    const struct tier_facts *facts = facts_named(drill, summary->tier);
    uint32_t count = summary->attempts ? summary->attempt_count : 0;
    const char *left = NULL;
    if (!facts || drill_hits(drill, facts))
        snprintf(why, DRILL_WHY_BYTES, "the answer is of a tier that has failed");
    else if (!may_see(facts, summary->data_class))
        snprintf(why, DRILL_WHY_BYTES, "%s may not see %s data", facts->name,
                 names_class(summary->data_class));
    else if (drill->fault == DRILL_TOO_HOT && !facts->provider &&
             (left = one_left(drill, summary, facts)))
        snprintf(why, DRILL_WHY_BYTES, "the hot device answered, although %s may", left);
    else if (summary->degraded && (!summary->disclosure || !*summary->disclosure))
        snprintf(why, DRILL_WHY_BYTES, "the answer is second best and does not say so");
    else if (count > 0 && summary->attempts[count - 1]->fallback && !summary->degraded)
        snprintf(why, DRILL_WHY_BYTES, "the answer is of a lower rung and does not say so");
    else
        return true;
    return false;
}

bool drill_judge(const struct drill *drill, const struct exchange_summary *summary,
                 const char *message, char why[static DRILL_WHY_BYTES])
{
    const char *left;
    why[0] = '\0';
    if (drill->breach) {
        snprintf(why, DRILL_WHY_BYTES, "%s would have been sent what it may not see",
                 drill->breach);
        return false;
    }
    if (!message)
        return judge_answer(drill, summary, why);
    if ((left = one_left(drill, summary, NULL)))
        snprintf(why, DRILL_WHY_BYTES, "it failed, although %s could have answered", left);
    else if (!*message)
        snprintf(why, DRILL_WHY_BYTES, "the error says nothing");
    else
        return true;
    return false;
}
