/* tandem policy test: requests with the decisions that the operator expects, as a table of
 * tests. */
#define HELP_OF 15
#include "app/cli/command.h"
#include "app/cli/options.h"
#include "app/cli/verb.h"
#include "app/config/packed_help.h"
#include "app/evidence/policy_cases.h"
#include "app/evidence/policy_opened.h"
#include "app/setup/privacy/privacy_setup.h"
#include "base/error.h"
#include "base/json.h"
#include "base/path.h"
#include "base/str.h"

#include <stdio.h>

#define CASES_ARENA_BYTES (32u << 20)

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

static enum td_status run_cases(const struct policy_opened *opened,
                                const struct policy_cases *cases, struct tally *tally,
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
        if (tally->results)
            json_push(tally->results, outcome_json(&cases->cases[i], &outcome));
        else if (*outcome.mismatch)
            print_mismatch(tally->label, &cases->cases[i], &outcome);
        plan_deinit(&outcome.plan);
    }
    return TD_OK;
}

/* A configuration that the file names is looked for in the file's own folder. */
static enum td_status find_config(const char *given, const char *file, const char *named,
                                  char out[static 4096], const char **config, struct td_error *err)
{
    const char *slash = strrchr(file, '/');
    bool beside = !given && named && *named != '/' && slash;
    *config = given || !named ? given : beside ? out : named;
    return beside ? path_format(out, 4096, err, "%.*s/%s", (int)(slash - file), file, named)
                  : TD_OK;
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
        .verb = "policy test",
        .arguments = "FILE",
        .summary =
            HELP_TEXT("Decides the requests that a YAML file describes and compares the decisions "
                      "with those that it expects. The exit code is 1 when one differs. It uses no "
                      "model and no network."),
        .example = HELP_TEXT("  tandem policy test examples/policies/s3-rule.test.yaml"),
        OPTION_TABLE(options),
        .positional_max = 1,
    };
    OPTIONS_PARSE_OR_RETURN(&spec, argc, argv, &file, &count);
    if (count != 1)
        return options_misuse("policy test", "name a file of tests");
    char path[4096];
    struct td_error err = {0};
    struct buf text = {0};
    struct policy_cases cases = {NULL, NULL, 0};
    struct policy_opened opened = {.config = NULL};
    struct tally tally = {.label = file, .results = json ? json_new_array() : NULL};
    struct arena *arena = arena_new(CASES_ARENA_BYTES);
    enum td_status status =
        arena ? command_read_all(file, &text, &err) : error_set(&err, TD_NO_MEMORY, "no memory");
    if (status == TD_OK)
        status = policy_cases_read(file, buf_view(&text), arena, &cases, &err);
    if (status == TD_OK)
        status = find_config(config, file, cases.config, path, &config, &err);
    if (status == TD_OK)
        status = policy_opened_read(config, &opened, &err);
    if (status == TD_OK)
        status = privacy_setup(opened.config, &opened.scanner, &err);
    if (status == TD_OK)
        status = run_cases(&opened, &cases, &tally, &err);
    int code = status == TD_OK ? print_tally(&tally) : command_fail_as("policy test", &err, json);
    if (status != TD_OK)
        json_free(tally.results);
    policy_opened_free(&opened);
    buf_deinit(&text);
    arena_free(arena);
    return code;
}

const struct verb verb_policy_test = {"test", policy_test,
                                      "compare its decisions with those that you expect"};
