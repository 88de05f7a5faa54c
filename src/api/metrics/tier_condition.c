/* A rest that ends by itself after a pause that the server asked for, or a limit of the operator's
 * own, is nobody's fault. A tier whose rest has ended, and which nobody has asked since, still
 * counts as down: otherwise one that is dead would come and go every half minute. */
#include "api/metrics/tier_condition.h"

#include "base/time/clock.h"

#include <stdio.h>

static void set(struct tier_condition *out, const char *code, bool broken, const char *why)
{
    out->up = false;
    out->code = code;
    out->broken = broken;
    snprintf(out->why, sizeof out->why, "%s", why);
}

static void read_rest(const struct tier_state *state, struct tier_condition *out)
{
    static const struct {
        const char *code;
        bool broken;
    } rests[REST_COUNT] = {
        [REST_UNREACHED] = {"unreachable", true}, [REST_FAILING] = {"failing", true},
        [REST_REFUSING] = {"refused", true},      [REST_TRIED] = {"failing", true},
        [REST_ASKED] = {"resting", false},        [REST_SLOWED] = {"busy", false},
        [REST_CONCURRENT] = {"busy", false},      [REST_REQUESTS] = {"busy", false},
        [REST_TOKENS] = {"busy", false},
    };
    char why[REASON_TEXT_BYTES];
    if (state->rest != REST_NONE) {
        plan_rest_text(state, why);
        bool captive = state->captive && state->rest == REST_UNREACHED;
        set(out, captive ? "captive_portal" : rests[state->rest].code, rests[state->rest].broken,
            why);
    } else if (state->unproven) {
        set(out, "failing", true, "has not answered since it rested");
        out->up = true; /* the next request tries it */
    }
}

void tier_condition_read(const struct exchange_services *services, size_t tier,
                         struct tier_condition *out)
{
    const struct tier_facts *facts = &services->tiers[tier]->facts;
    const struct model_fault *fault = facts->model_fault;
    struct tier_state state = {.rest = REST_NONE};
    *out = (struct tier_condition){.up = true, .code = "up"};
    tier_health_look(services->health, tier, (uint64_t)clock_monotonic_ms(services->clock), &state);
    read_rest(&state, out);
    if (fault) {
        set(out, fault->code, !fault->is_loading, fault->text);
        out->up = fault->stands_in;
    }
    /* The default configuration names a cloud that only those have who give a key. */
    if (!facts->has_key)
        set(out, "no_key", !facts->model_assumed, "has no API key, and is not asked");
}
