/* tandem policy check|test: is the policy sound, and does it decide as its operator believes? */
#include "app/cli/command.h"
#include "app/cli/options.h"
#include "app/config/config.h"
#include "app/evidence/policy_cases.h"
#include "app/setup/privacy/privacy_setup.h"
#include "base/error.h"
#include "base/json.h"
#include "base/str.h"
#include "router/judge/classifier.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#define CASES_ARENA_BYTES (32u << 20)

/* A configuration with all that decides, and no model. */
struct opened {
    struct config *config;
    struct classifier *classifier;
    struct thresholds *thresholds[CONFIG_ROUTES_MAX][THRESHOLD_GATE_COUNT];
    struct policy_parts *parts;
    struct privacy_scanner *scanner;
};

static void opened_free(struct opened *opened)
{
    for (size_t i = 0; i < CONFIG_ROUTES_MAX; i++)
        for (int gate = 0; gate < THRESHOLD_GATE_COUNT; gate++)
            free(opened->thresholds[i][gate]);
    free(opened->parts);
    privacy_scanner_free(opened->scanner);
    classifier_close(opened->classifier);
    config_free(opened->config);
}

static enum td_status open_policy(const char *path, struct opened *out, struct td_error *err)
{
    *out = (struct opened){.parts = calloc(1, sizeof *out->parts)};
    if (!out->parts)
        return error_set(err, TD_NO_MEMORY, "no memory for the policy");
    enum td_status status = config_load(path, NULL, NULL, &out->config, err);
    if (status == TD_OK)
        status = privacy_setup(out->config, &out->scanner, err);
    if (status == TD_OK)
        status = policy_open_classifier(out->config, &out->classifier, err);
    if (status == TD_OK)
        status = policy_read_thresholds(out->config, out->thresholds, err);
    const struct policy_learned learned = {.classifier = out->classifier,
                                           .thresholds = out->thresholds};
    if (status == TD_OK)
        status = policy_build(out->config, &learned, out->parts, err);
    return status;
}

/* --- check --- */

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

static bool route_lists(const struct config_route *route, const char *tier)
{
    for (size_t i = 0; i < route->tiers.count; i++)
        if (strcmp(route->tiers.items[i], tier) == 0)
            return true;
    return false;
}

static void warn_tiers(const struct config *config, struct warnings *warnings)
{
    for (size_t i = 0; i < config->tier_count; i++) {
        const struct config_tier *tier = &config->tiers[i];
        bool used = false;
        for (size_t r = 0; r < config->route_count; r++)
            used = used || route_lists(&config->routes[r], tier->name);
        if (!used)
            warn(warnings, config, tier->line,
                 "tier '%s' is on no route: only a request that names it reaches it", tier->name);
        if (tier->place >= TD_PLACE_REGION && !(tier->input_usd_per_mtok > 0) &&
            !(tier->output_usd_per_mtok > 0))
            warn(warnings, config, tier->line,
                 "tier '%s' has no price: it counts as free in weights, budgets and reports",
                 tier->name);
    }
}

static void warn_routes(const struct config *config, struct warnings *warnings)
{
    for (size_t i = 0; i < config->route_count; i++) {
        const struct config_route *route = &config->routes[i];
        if (route->tiers.count == 1 &&
            (route->gates.g0_tokens_over || route->gates.g0_gain_over > 0 ||
             route->gates.g0_p_local_under > 0))
            warn(warnings, config, route->line,
                 "route '%s' has gate g0 and one tier: there is nowhere to start instead",
                 route->name);
        if (route->tiers.count == 1 && route->climb)
            warn(warnings, config, route->line,
                 "route '%s' climbs hedged and has one tier: there is none to ask beside it",
                 route->name);
        if (config_weights_read(&route->weights).set &&
            (route->gates.g0_tokens_over || route->gates.g0_gain_over > 0 ||
             route->gates.g0_p_local_under > 0 || route->start))
            warn(warnings, config, route->line,
                 "route '%s' has weights: its start and its gate g0 have no effect", route->name);
    }
}

static void warn_rules(const struct config *config, struct warnings *warnings)
{
    for (size_t i = 0; i < config->rule_count; i++) {
        const struct config_rule *rule = &config->rules[i];
        const struct routing_rule *compiled = &config->rule_set.rules[i];
        if (rule->line && compiled->asked >> RULE_BUDGET & 1 && !config->budget_count)
            warn(warnings, config, rule->line,
                 "rule '%s' asks for budget_used, and there are no budgets", rule->name);
    }
}

static struct json *check_report(const struct opened *opened, struct json *warnings)
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

static int print_failure(const char *verb, const struct td_error *err, bool as_json)
{
    if (!as_json)
        return command_fail(verb, err);
    struct json *report = json_new_object();
    json_put(report, "ok", json_new_bool(false));
    json_put(report, "error", json_new_cstr(err->message));
    command_print_json(report);
    return 1;
}

static int policy_check(int argc, char **argv)
{
    const char *file = NULL, *config = NULL;
    bool json = false;
    size_t count = 0;
    const struct option options[] = {OPTION_ROW_CONFIG(config), OPTION_ROW_JSON(json)};
    const struct option_spec spec = {
        "policy check",
        "[FILE]",
        "Reads a configuration as a server would and says what is wrong, with file and line, or "
        "what is\nsuspicious. A running server keeps its policy when it is told to reload one that "
        "is refused here.",
        options,
        sizeof options / sizeof *options,
        1};
    OPTIONS_PARSE_OR_RETURN(&spec, argc, argv, &file, &count);
    struct td_error err = {0};
    struct opened opened;
    enum td_status status = open_policy(count ? file : config, &opened, &err);
    if (status != TD_OK) {
        opened_free(&opened);
        return print_failure("policy check", &err, json);
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
    opened_free(&opened);
    return printed ? 0 : 1;
}

/* --- test --- */

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
    if (*outcome->mismatch)
        json_put(object, "mismatch", json_new_cstr(outcome->mismatch));
    return object;
}

struct tally {
    const char *label;
    size_t passed, failed;
    struct json *results; /* NULL = text is printed */
};

static void print_mismatch(const char *label, const struct policy_case *c,
                           const struct policy_outcome *outcome)
{
    printf("FAILED %s:%u: %s\n  %s\n", label, c->line, c->name, outcome->mismatch);
    for (size_t i = 0; i < outcome->plan.reason_count; i++)
        printf("  because: %s [%s]\n", outcome->plan.reasons[i].text,
               reason_code_name(outcome->plan.reasons[i].code));
}

static enum td_status run_cases(const struct opened *opened, const struct policy_cases *cases,
                                struct tally *tally, struct td_error *err)
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
        if (tally->results)
            json_push(tally->results, outcome_json(&cases->cases[i], &outcome));
        else if (*outcome.mismatch)
            print_mismatch(tally->label, &cases->cases[i], &outcome);
    }
    return TD_OK;
}

/* A configuration that the file names is looked for in the file's own folder. */
static const char *find_config(const char *given, const char *file, const char *named,
                               char out[static 4096])
{
    const char *slash = strrchr(file, '/');
    if (given || !named)
        return given;
    if (*named == '/' || !slash)
        return named;
    snprintf(out, 4096, "%.*s/%s", (int)(slash - file), file, named);
    return out;
}

static int print_tally(const struct tally *tally)
{
    if (tally->results) {
        struct json *report = json_new_object();
        json_put(report, "ok", json_new_bool(tally->failed == 0));
        json_put(report, "passed", json_new_int((int64_t)tally->passed));
        json_put(report, "failed", json_new_int((int64_t)tally->failed));
        json_put(report, "tests", tally->results);
        if (!command_print_json(report))
            return 1;
    } else {
        printf("%zu passed, %zu failed\n", tally->passed, tally->failed);
    }
    return tally->failed ? 1 : 0;
}

static int policy_test(int argc, char **argv)
{
    const char *file = NULL, *config = NULL;
    bool json = false;
    size_t count = 0;
    const struct option options[] = {OPTION_ROW_CONFIG(config), OPTION_ROW_JSON(json)};
    const struct option_spec spec = {
        "policy test",
        "FILE",
        "Decides the requests that a YAML file describes and compares with what it expects; exit "
        "code 1\nand the differences when one is not met. No model and no network is used.",
        options,
        sizeof options / sizeof *options,
        1};
    OPTIONS_PARSE_OR_RETURN(&spec, argc, argv, &file, &count);
    if (count != 1) {
        fprintf(stderr, "tandem policy test: a file of assertions is needed\n"
                        "Try 'tandem policy test --help'.\n");
        return 2;
    }
    char path[4096];
    struct td_error err = {0};
    struct buf text = {0};
    struct policy_cases cases = {NULL, NULL, 0};
    struct opened opened = {.config = NULL};
    struct tally tally = {.label = file, .results = json ? json_new_array() : NULL};
    struct arena *arena = arena_new(CASES_ARENA_BYTES);
    enum td_status status =
        arena ? command_read_all(file, &text, &err) : error_set(&err, TD_NO_MEMORY, "no memory");
    if (status == TD_OK)
        status = policy_cases_read(file, buf_view(&text), arena, &cases, &err);
    if (status == TD_OK)
        status = open_policy(find_config(config, file, cases.config, path), &opened, &err);
    if (status == TD_OK)
        status = run_cases(&opened, &cases, &tally, &err);
    int code = status == TD_OK ? print_tally(&tally) : print_failure("policy test", &err, json);
    if (status != TD_OK)
        json_free(tally.results);
    opened_free(&opened);
    buf_deinit(&text);
    arena_free(arena);
    return code;
}

int cmd_policy(int argc, char **argv)
{
    static const struct command_verb verbs[] = {
        {"check", policy_check, "is a configuration's policy sound?"},
        {"test", policy_test, "does it decide as a file of assertions says?"},
        {"pareto", cmd_policy_pareto, "which pattern of gates is worth its cost?"},
    };
    return command_run_verb("policy", verbs, sizeof verbs / sizeof *verbs, argc, argv);
}
