/* tandem policy test: requests with the decisions that the operator expects, as a table of
 * tests. */
#define HELP_OF 15
#include "app/cli/command.h"
#include "app/cli/options.h"
#include "app/cli/verb.h"
#include "app/config/packed_help.h"
#include "app/evidence/policy_report.h"
#include "app/setup/privacy/privacy_setup.h"
#include "base/bytes/path.h"
#include "base/core/str.h"
#include "base/json/json.h"

#include <stdio.h>

#define CASES_ARENA_BYTES (32u << 20)

static void print_mismatch(const char *label, const struct json *result)
{
    const struct json *because = json_get(result, "because");
    printf("FAILED %s:%lld: %s\n  %s\n", label, (long long)json_int(json_get(result, "line"), 0),
           json_cstr(json_get(result, "name")), json_cstr(json_get(result, "mismatch")));
    for (size_t i = 0; i < json_count(because); i++)
        printf("  because: %s [%s]\n", json_cstr(json_get(json_at(because, i), "text")),
               json_cstr(json_get(json_at(because, i), "code")));
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

static void print_mismatches(const struct policy_tally *tally)
{
    for (size_t i = 0; i < json_count(tally->results); i++)
        if (json_get(json_at(tally->results, i), "mismatch"))
            print_mismatch(tally->label, json_at(tally->results, i));
}

/* **takes** the results. */
static int print_tally(const struct policy_tally *tally, bool json)
{
    if (json) {
        struct json *report = json_new_object();
        json_put(report, "ok", json_new_bool(tally->failed == 0));
        json_put(report, "passed", json_new_int((int64_t)tally->passed));
        json_put(report, "failed", json_new_int((int64_t)tally->failed));
        json_put(report, "tests", tally->results);
        if (!command_print_json(report))
            return 1;
    } else {
        printf("%zu passed, %zu failed\n", tally->passed, tally->failed);
        json_free(tally->results);
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
    struct policy_tally tally = {.label = file, .results = json_new_array()};
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
        status = policy_report_cases(&opened, &cases, &tally, &err);
    if (!json)
        print_mismatches(&tally);
    int code =
        status == TD_OK ? print_tally(&tally, json) : command_fail_as("policy test", &err, json);
    if (status != TD_OK)
        json_free(tally.results);
    policy_opened_free(&opened);
    buf_deinit(&text);
    arena_free(arena);
    return code;
}

const struct verb verb_policy_test = {"test", policy_test,
                                      "compare its decisions with those that you expect"};
