#include "router/policy.h"

#include "privacy/privacy.h"

#include "base/error.h"
#include "base/str.h"
#include "router/reach.h"

#include <stdio.h>

const char *reason_code_name(enum reason_code code)
{
    static const char *const names[REASON_CODE_COUNT] = {
        [REASON_REMOVED_CLASS] = "removed_class",
        [REASON_REMOVED_MODE] = "removed_mode",
        [REASON_REMOVED_ROUTE_KIND] = "removed_route_kind",
        [REASON_REMOVED_OFFLINE] = "removed_offline",
        [REASON_REMOVED_NO_KEY] = "removed_no_key",
        [REASON_REMOVED_CONTEXT] = "removed_context",
        [REASON_REMOVED_CAPABILITY] = "removed_capability",
        [REASON_REMOVED_NAMED] = "removed_named",
        [REASON_CHOSEN_START] = "chosen_start",
        [REASON_CHOSEN_RULE] = "chosen_rule",
        [REASON_CHOSEN_MODE] = "chosen_mode",
        [REASON_CHOSEN_ONLY] = "chosen_only",
        [REASON_LEFT_LOW_CONFIDENCE] = "left_low_confidence",
        [REASON_LEFT_NOT_MINE] = "left_not_mine",
        [REASON_LEFT_PROBE] = "left_probe",
        [REASON_LEFT_CUT] = "left_cut",
        [REASON_LEFT_ERROR] = "left_error",
        [REASON_LEFT_TIMEOUT] = "left_timeout",
        [REASON_KEPT_CONFIDENT] = "kept_confident",
        [REASON_KEPT_LAST] = "kept_last",
        [REASON_KEPT_HOPELESS] = "kept_hopeless",
        [REASON_KEPT_CAPPED] = "kept_capped",
        [REASON_REVIEW] = "review",
    };
    return (size_t)code < REASON_CODE_COUNT ? names[code] : "unknown";
}

static bool named(const char *name, const char *wanted)
{
    return name && strcmp(name, wanted) == 0;
}

const struct route *policy_find_route(const struct policy *policy, const char *model,
                                      const struct tier_facts *facts, size_t tier_count,
                                      size_t *named_tier)
{
    *named_tier = SIZE_MAX;
    if (policy->route_count == 0)
        return NULL;
    if (!model || !*model || strcmp(model, "auto") == 0)
        return &policy->routes[0];
    for (size_t i = 0; i < policy->route_count; i++)
        if (named(policy->routes[i].name, model))
            return &policy->routes[i];
    /* A tier's own name wins over a model that another tier happens to call the same. */
    for (size_t i = 0; i < tier_count; i++) {
        if (named(facts[i].name, model)) {
            *named_tier = i;
            return &policy->routes[0];
        }
    }
    for (size_t i = 0; i < tier_count; i++) {
        if (named(facts[i].model, model)) {
            *named_tier = i;
            return &policy->routes[0];
        }
    }
    for (size_t i = 0; i < tier_count; i++) {
        if (policy_find_adapter(&facts[i], model) != SIZE_MAX) {
            *named_tier = i;
            return &policy->routes[0];
        }
    }
    return NULL;
}

size_t policy_find_adapter(const struct tier_facts *facts, const char *name)
{
    for (size_t i = 0; i < facts->adapter_count; i++)
        if (named(facts->adapters[i], name))
            return i;
    return SIZE_MAX;
}

/* "a, b, c" of all tiers, shortened. */
static void list_adapters(const struct tier_facts *facts, size_t tier_count, char out[static 200])
{
    size_t used = 0;
    snprintf(out, 200, "the configuration has none");
    for (size_t i = 0; i < tier_count; i++)
        for (size_t a = 0; a < facts[i].adapter_count && used < 150; a++)
            used += (size_t)snprintf(out + used, 200 - used, "%s%.40s", used ? ", " : "there are ",
                                     facts[i].adapters[a]);
}

enum td_status policy_check_adapters(const struct td_request *request,
                                     const struct tier_facts *facts, size_t tier_count,
                                     struct td_error *err)
{
    char known[200];
    for (size_t i = 0; i < request->adapter_count; i++) {
        const struct td_adapter_choice *choice = &request->adapters[i];
        bool found = false;
        for (size_t t = 0; t < tier_count; t++)
            found =
                found || (choice->name ? policy_find_adapter(&facts[t], choice->name) != SIZE_MAX
                                       : choice->number < facts[t].adapter_count);
        if (found)
            continue;
        list_adapters(facts, tier_count, known);
        if (choice->name)
            return error_set(err, TD_INVALID, "no adapter is named '%.60s': %s", choice->name,
                             known);
        return error_set(err, TD_INVALID, "no adapter has the number %u: %s", choice->number,
                         known);
    }
    return TD_OK;
}

static enum td_data_class class_of(const struct route *route, enum td_data_class data_class)
{
    return data_class > route->data_class ? data_class : route->data_class;
}

bool policy_sends_masked(const struct route *route, const struct signals *signals,
                         const struct tier_facts *facts)
{
    return signals->masked && route->pseudonyms && facts->pseudonyms &&
           facts->place != TD_PLACE_DEVICE &&
           !reach_allowed(facts, class_of(route, signals->data_class));
}

enum td_data_class policy_class_for(const struct route *route, const struct signals *signals,
                                    const struct tier_facts *facts)
{
    return class_of(route, policy_sends_masked(route, signals, facts) ? signals->masked_class
                                                                      : signals->data_class);
}
