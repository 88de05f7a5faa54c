/* Keys of a route that say who answers together with whom: a race, a check (gate G4), people,
 * nobody. What could never take effect is refused. */
#include "app/config/config_together.h"

#include "base/core/error.h"

#include <string.h>

static bool is_people(const struct config *config, const char *name)
{
    const struct config_tier *tier = config_tier_find(config, name);
    return tier && tier->kind == CONFIG_TIER_REVIEW;
}

/* The default classifier has learnt what a small model gets wrong, and nothing of what a large one
 * does: with it no question would ever be hopeless. */
static enum td_status check_hopeless(const struct config *config, const struct config_route *route,
                                     struct td_error *err)
{
    if (!(route->gates.hopeless_under > 0) || config->router.classifier)
        return TD_OK;
    return error_set(
        err, TD_INVALID,
        "%s:%u: route '%.64s': gates.hopeless_under needs a classifier that knows what no tier "
        "gets right; train one with `tandem router train` and name it in "
        "router.classifier",
        config->label, route->line, route->name);
}

/* A ticket holds the question for as long as people need. */
static enum td_status check_people(const struct config *config, const struct config_route *route,
                                   struct td_error *err)
{
    bool forgets = route->zero_retention || config->privacy.zero_retention;
    for (size_t i = 0; forgets && i < route->tiers.count; i++)
        if (is_people(config, route->tiers.items[i]))
            return error_set(
                err, TD_INVALID,
                "%s:%u: route '%.64s' keeps nothing (%szero_retention), so no ticket could be "
                "made at its tier '%.60s': leave one of them out",
                config->label, route->line, route->name, route->zero_retention ? "" : "privacy.",
                route->tiers.items[i]);
    return TD_OK;
}

static enum td_status check_verify(const struct config *config, const struct config_route *route,
                                   struct td_error *err)
{
    bool race = route->climb == 2;
    if (route->settle != SETTLE_FIRST_GOOD && !race)
        return error_set(
            err, TD_INVALID,
            "%s:%u: route '%.64s' has settle, which says whose answer a race gives: add climb: "
            "race, or leave settle out",
            config->label, route->line, route->name);
    if (route->g4.by && race)
        return error_set(
            err, TD_INVALID,
            "%s:%u: route '%.64s' has gates.g4 and climb: race, which both say whose answer is "
            "given: leave one of them out",
            config->label, route->line, route->name);
    size_t models = 0;
    for (size_t i = 0; i < route->tiers.count; i++)
        models += !is_people(config, route->tiers.items[i]);
    if ((route->g4.by || race) && models < 2)
        return error_set(err, TD_INVALID,
                         "%s:%u: route '%.64s' has one tier that is no people, and %s needs two",
                         config->label, route->line, route->name, race ? "a race" : "gates.g4");
    if (route->g4.tier && is_people(config, route->g4.tier))
        return error_set(
            err, TD_INVALID,
            "%s:%u: gates.g4.tier of route '%.64s' is '%.60s', where people answer: they check "
            "nothing while somebody waits",
            config->label, route->line, route->name, route->g4.tier);
    if (route->g4.tier && (!config_route_lists(route, route->g4.tier) ||
                           strcmp(route->tiers.items[0], route->g4.tier) == 0))
        return error_set(
            err, TD_INVALID,
            "%s:%u: gates.g4.tier of route '%.64s' must be one of its tiers after the first, not "
            "'%.60s'",
            config->label, route->line, route->name, route->g4.tier);
    return TD_OK;
}

enum td_status config_together_check(const struct config *config, const struct config_route *route,
                                     struct td_error *err)
{
    enum td_status status = check_hopeless(config, route, err);
    if (status == TD_OK)
        status = check_verify(config, route, err);
    return status == TD_OK ? check_people(config, route, err) : status;
}
