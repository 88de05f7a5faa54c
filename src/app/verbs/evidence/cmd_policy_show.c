/* tandem policy show: the policies that the ledger's exchanges were decided by. */
#define HELP_OF 14
#include "app/cli/command.h"
#include "app/cli/options.h"
#include "app/cli/verb.h"
#include "app/config/config.h"
#include "app/config/packed_help.h"
#include "base/core/error.h"
#include "base/core/str.h"
#include "base/json/json.h"
#include "base/time/clock.h"
#include "ledger/record/ledger.h"

#include <stdio.h>
#include <string.h>

static enum td_status read_policies(const char *config_path, struct json **out,
                                    struct td_error *err)
{
    struct config *config = NULL;
    struct ledger_reader *reader = NULL;
    enum td_status status = config_load(config_path, &config, err);
    if (status == TD_OK)
        status = command_open_ledger(config, &reader, err);
    if (status == TD_OK)
        status = ledger_reader_policies(reader, out, err);
    ledger_reader_close(reader);
    config_free(config);
    return status;
}

/* The one whose version begins like this; NULL with the error when that is not exactly one. */
static const struct json *find_policy(const struct json *list, const char *version,
                                      struct td_error *err)
{
    const struct json *found = NULL;
    size_t count = 0;
    for (size_t i = 0; i < json_count(list); i++) {
        const char *name = json_cstr(json_get(json_at(list, i), "version"));
        if (!name || strncmp(name, version, strlen(version)) != 0)
            continue;
        found = json_at(list, i);
        count++;
    }
    if (count == 1)
        return found;
    error_set(err, count ? TD_INVALID : TD_NOT_FOUND, "%s of the ledger's policies %s with %.40s",
              count ? "several" : "none", count ? "begin" : "begins", version);
    return NULL;
}

static bool print_list(const struct json *list)
{
    for (size_t i = 0; i < json_count(list); i++) {
        const struct json *policy = json_at(list, i);
        char time[25];
        clock_format_iso8601((uint64_t)json_int(json_get(policy, "wall_ms"), 0), time);
        long long count = (long long)json_int(json_get(policy, "exchanges"), 0);
        printf("%s  since %s, %lld exchange%s\n", json_cstr(json_get(policy, "version")), time,
               count, PLURAL(count));
    }
    return fflush(stdout) == 0;
}

static int cmd_policy_show(int argc, char **argv)
{
    const char *version = NULL, *config = NULL;
    bool json = false;
    size_t count = 0;
    const struct option options[] = {OPTION_ROW_CONFIG(config), OPTION_ROW_JSON(json)};
    const struct option_spec spec = {
        .verb = "policy show",
        .arguments = "[VERSION]",
        .summary = HELP_TEXT(
            "Prints the policy that exchanges were decided by, as the ledger keeps it: "
            "everything that decides, in a normal form, whose hash is the version. Without "
            "a version it lists the policies, the oldest first."),
        .json = HELP_TEXT("{version, wall_ms, exchanges, text}, or an array of them"),
        OPTION_TABLE(options),
        .positional_max = 1,
    };
    OPTIONS_PARSE_OR_RETURN(&spec, argc, argv, &version, &count);
    struct td_error err = {0};
    struct json *list = NULL;
    enum td_status status = read_policies(config, &list, &err);
    const struct json *one = status == TD_OK && count ? find_policy(list, version, &err) : NULL;
    if (status != TD_OK || (count && !one)) {
        json_free(list);
        return command_fail_as("policy show", &err, json);
    }
    bool printed;
    if (json)
        printed = command_print_json(json_clone(one ? one : list));
    else
        printed = one ? command_print(json_text(json_get(one, "text"))) : print_list(list);
    json_free(list);
    return printed ? 0 : 1;
}

const struct verb verb_policy_show = {"show", cmd_policy_show,
                                      HELP_TEXT("print the policy that exchanges were decided by")};
