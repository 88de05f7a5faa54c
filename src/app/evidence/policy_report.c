/* The warnings are about what a server takes and nobody means. The tests run through the functions
 * that decide for a request. */
#include "app/evidence/policy_report.h"

#include "base/core/error.h"
#include "base/json/json.h"

#include <stdarg.h>
#include <stdio.h>

#define WARNINGS_MAX 64

struct warnings {
    struct json *list;
};

TD_PRINTF(4, 5)
static void warn(struct warnings *warnings, const struct config *config, uint32_t line,
                 const char *format, ...)
{
    char text[TD_ERROR_BYTES];
    size_t len = (size_t)snprintf(text, sizeof text, "%.200s:%u: ", config->label, line);
    va_list args;
    va_start(args, format);
    vsnprintf(text + len, sizeof text - len, format, args);
    va_end(args);
    if (json_count(warnings->list) < WARNINGS_MAX)
        json_push(warnings->list, json_new_cstr(text));
}

static void warn_tiers(const struct config *config, struct warnings *warnings)
{
    for (size_t i = 0; i < config->tier_count; i++) {
        const struct config_tier *tier = &config->tiers[i];
        bool used = false;
        for (size_t r = 0; r < config->route_count; r++)
            used = used || config_route_lists(&config->routes[r], tier->name);
        if (!used)
            warn(warnings, config, tier->line,
                 "tier '%s' is on no route, so only a request that names it can reach it",
                 tier->name);
        if (tier->place >= TD_PLACE_REGION && !(tier->input_usd_per_mtok > 0) &&
            !(tier->output_usd_per_mtok > 0))
            warn(warnings, config, tier->line,
                 "tier '%s' has no price: it counts as free in weights, budgets and reports",
                 tier->name);
    }
}

/* A tier beyond the place where long texts stay: only such a one has them read. */
static bool has_tier_beyond(const struct config *config, const struct config_route *route)
{
    for (size_t i = 0; i < config->tier_count; i++)
        if (config_route_lists(route, config->tiers[i].name) &&
            (int)config->tiers[i].place >= route->documents.stay)
            return true;
    return false;
}

static void warn_routes(const struct config *config, struct warnings *warnings)
{
    for (size_t i = 0; i < config->route_count; i++) {
        const struct config_route *route = &config->routes[i];
        if (route->tiers.count == 1 &&
            (route->gates.g0_tokens_over || route->gates.g0_gain_over > 0 ||
             route->gates.g0_p_local_under > 0))
            warn(warnings, config, route->line,
                 "route '%s' has gate g0 but only one tier, so there is no other tier to start on",
                 route->name);
        if (route->tiers.count == 1 && route->climb)
            warn(
                warnings, config, route->line,
                "route '%s' has climb: hedged but only one tier, so there is no second tier to ask",
                route->name);
        if (route->documents.stay && !has_tier_beyond(config, route))
            warn(warnings, config, route->line,
                 "route '%s' has documents, but no tier beyond the place where they stay, so they "
                 "have no effect",
                 route->name);
        if (config_weights_read(&route->weights).set &&
            (route->gates.g0_tokens_over || route->gates.g0_gain_over > 0 ||
             route->gates.g0_p_local_under > 0 || route->start))
            warn(warnings, config, route->line,
                 "route '%s' has weights, so its start and its gate g0 have no effect",
                 route->name);
    }
}

static void warn_rules(const struct config *config, struct warnings *warnings)
{
    for (size_t i = 0; i < config->rule_count; i++) {
        const struct config_rule *rule = &config->rules[i];
        const struct routing_rule *compiled = &config->rule_set.rules[i];
        if (rule->line && compiled->asked >> RULE_BUDGET & 1 && !config->budget_count)
            warn(warnings, config, rule->line,
                 "rule '%s' uses budget_used, but there are no budgets", rule->name);
    }
}

struct json *policy_report_warnings(const struct config *config)
{
    struct warnings warnings = {json_new_array()};
    warn_tiers(config, &warnings);
    warn_routes(config, &warnings);
    warn_rules(config, &warnings);
    return warnings.list;
}

/* --- tests --- */

static struct json *outcome_json(const struct policy_case *c, const struct policy_outcome *outcome)
{
    struct json *object = json_new_object();
    json_put(object, "name", json_new_cstr(c->name));
    json_put(object, "line", json_new_int(c->line));
    json_put(object, "ok", json_new_bool(!*outcome->mismatch));
    json_put(object, "tier", json_new_cstr(outcome->tier));
    json_put(object, "rule", json_new_cstr(outcome->rule));
    json_put(object, "by", json_new_cstr(outcome->by));
    json_put(object, "denied", json_new_bool(outcome->denied));
    if (!*outcome->mismatch)
        return object;
    struct json *because = json_new_array();
    for (size_t i = 0; i < outcome->plan.reason_count; i++) {
        const struct reason *reason = &outcome->plan.reasons[i];
        struct json *row = json_new_object();
        json_put(row, "text", json_new_cstr(reason->text));
        json_put(row, "code", json_new_cstr(reason_code_name(reason->code)));
        json_push(because, row);
    }
    json_put(object, "mismatch", json_new_cstr(outcome->mismatch));
    json_put(object, "because", because);
    return object;
}

enum td_status policy_report_cases(const struct policy_opened *opened,
                                   const struct policy_cases *cases, struct policy_tally *tally,
                                   struct td_error *err)
{
    const struct policy_subject subject = {opened->config, &opened->parts->policy,
                                           opened->classifier, opened->scanner};
    for (size_t i = 0; i < cases->count; i++) {
        struct policy_outcome outcome;
        enum td_status status = policy_case_run(&subject, &cases->cases[i], &outcome, err);
        if (status != TD_OK) {
            error_prefix(err, "%s", tally->label);
            return status;
        }
        *(*outcome.mismatch ? &tally->failed : &tally->passed) += 1;
        json_push(tally->results, outcome_json(&cases->cases[i], &outcome));
        plan_deinit(&outcome.plan);
    }
    return TD_OK;
}
