/* tandem policy check: would a server take this configuration, and what in it is suspicious? */
#define HELP_OF 12
#include "app/cli/command.h"
#include "app/cli/config_fail.h"
#include "app/cli/options.h"
#include "app/cli/verb.h"
#include "app/config/packed_help.h"
#include "app/evidence/policy_report.h"
#include "app/setup/process/client_keys.h"
#include "base/core/str.h"
#include "base/json/json.h"

#include <stdio.h>

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
            "Reads a configuration, and the files that it names, as a server would. It says what "
            "is wrong, with file and line, and warns about what is suspicious. A server does not "
            "start with a configuration that is refused here, and one that runs keeps the old "
            "one."),
        OPTION_TABLE(options),
        .positional_max = 1,
    };
    OPTIONS_PARSE_OR_RETURN(&spec, argc, argv, &file, &count);
    struct td_error err = {0};
    struct policy_opened opened;
    enum td_status status = policy_opened_read(count ? file : config, &opened, &err);
    if (status == TD_OK)
        status = policy_opened_check_start(&opened, &err);
    if (status != TD_OK) {
        policy_opened_free(&opened);
        return config_fail_as("policy check", count ? file : config, &err, json);
    }
    struct json *warnings = policy_report_warnings(opened.config);
    if (client_keys_check(opened.config, &err) != TD_OK) /* where it runs, it may be otherwise */
        json_push(warnings, json_new_cstr(err.message));
    struct json *report = check_report(&opened, warnings);
    bool printed = true;
    if (json) {
        printed = command_print_json(report);
    } else {
        for (size_t i = 0; i < json_count(warnings); i++)
            printf("warning: %s\n", json_cstr(json_at(warnings, i)));
        const struct config *checked = opened.config;
        printf("%s: %zu tier%s, %zu route%s, %zu rule%s; policy %s is sound\n", checked->label,
               checked->tier_count, PLURAL(checked->tier_count), checked->route_count,
               PLURAL(checked->route_count), checked->rule_count, PLURAL(checked->rule_count),
               opened.parts->policy.version);
        json_free(report);
    }
    policy_opened_free(&opened);
    return printed ? 0 : 1;
}

const struct verb verb_policy_check = {"check", policy_check,
                                       "check a configuration, and warn about what is suspicious"};
