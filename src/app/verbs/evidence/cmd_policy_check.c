/* tandem policy check: would a server take this configuration, and what in it is suspicious? */
#define HELP_OF 12
#include "app/cli/command.h"
#include "app/cli/config_fail.h"
#include "app/cli/options.h"
#include "app/cli/verb.h"
#include "app/config/packed_help.h"
#include "app/evidence/policy_opened.h"
#include "app/setup/privacy/privacy_setup.h"
#include "base/json.h"

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

static struct json *check_report(const struct policy_opened *opened, struct json *warnings)
{
    const struct config *config = opened->config;
    struct json *report = json_new_object(), *rules = json_new_array();
    json_put(report, "ok", json_new_bool(true));
    json_put(report, "file", json_new_cstr(config->label));
    json_put(report, "policy_version", json_new_cstr(opened->parts->policy.version));
    json_put(report, "tiers", json_new_int((int64_t)config->tier_count));
    json_put(report, "routes", json_new_int((int64_t)config->route_count));
    for (size_t i = 0; i < config->rule_count; i++)
        json_push(rules, json_new_cstr(config->rules[i].name));
    json_put(report, "rules", rules);
    json_put(report, "warnings", warnings);
    return report;
}

static int policy_check(int argc, char **argv)
{
    const char *file = NULL, *config = NULL;
    bool json = false;
    size_t count = 0;
    const struct option options[] = {OPTION_ROW_CONFIG(config), OPTION_ROW_JSON(json)};
    const struct option_spec spec = {
        .verb = "policy check",
        .arguments = "[FILE]",
        .summary = HELP_TEXT(
            "Reads a configuration as a server would. It says what is wrong, with file and "
            "line, and warns about what is suspicious. A running server refuses to reload "
            "a configuration that is refused here, and keeps the old one."),
        OPTION_TABLE(options),
        .positional_max = 1,
    };
    OPTIONS_PARSE_OR_RETURN(&spec, argc, argv, &file, &count);
    struct td_error err = {0};
    struct policy_opened opened;
    enum td_status status = policy_opened_read(count ? file : config, &opened, &err);
    if (status == TD_OK)
        status = privacy_setup(opened.config, &opened.scanner, &err);
    if (status != TD_OK) {
        policy_opened_free(&opened);
        return config_fail_as("policy check", count ? file : config, &err, json);
    }
    struct warnings warnings = {json_new_array()};
    warn_tiers(opened.config, &warnings);
    warn_routes(opened.config, &warnings);
    warn_rules(opened.config, &warnings);
    struct json *report = check_report(&opened, warnings.list);
    bool printed = true;
    if (json) {
        printed = command_print_json(report);
    } else {
        for (size_t i = 0; i < json_count(warnings.list); i++)
            printf("warning: %s\n", json_cstr(json_at(warnings.list, i)));
        printf("%s: %zu tiers, %zu routes, %zu rules; policy %s is sound\n", opened.config->label,
               opened.config->tier_count, opened.config->route_count, opened.config->rule_count,
               opened.parts->policy.version);
        json_free(report);
    }
    policy_opened_free(&opened);
    return printed ? 0 : 1;
}

const struct verb verb_policy_check = {"check", policy_check,
                                       "check a configuration, and warn about what is suspicious"};
