/* tandem keys list: keys with their limits and what they have spent. */
#include "app/cli/command.h"
#include "app/cli/options.h"
#include "app/cli/verb.h"
#include "app/verbs/tenants/key_command.h"
#include "base/buf.h"
#include "base/json.h"
#include "base/str.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

#define LIMITS_BYTES_MAX 4096

static void write_day(const struct json *value, char out[static 11])
{
    time_t at = (time_t)json_int(value, 0);
    struct tm local;
    snprintf(out, 11, "-");
    if (at && localtime_r(&at, &local))
        strftime(out, 11, "%Y-%m-%d", &local);
}

/* "usd_per_day 5, models [auto]": whatever stands after `spent`. */
static void write_limits(const struct json *object, struct buf *out)
{
    void *iterator = NULL;
    const char *name;
    const struct json *value;
    while (json_next(object, &iterator, &name, &value)) {
        if (!key_terms_has(name))
            continue;
        buf_printf(out, "%s%s ", out->len ? ", " : "", name);
        json_write(value, out);
    }
    buf_append_char(out, '\0');
}

static void print_spent(const struct json *spent, const char *period)
{
    const struct json *sums = json_get(spent, period);
    char text[64];
    snprintf(text, sizeof text, "%.4f USD, %lld tok", json_number(json_get(sums, "usd"), 0),
             (long long)json_int(json_get(sums, "tokens"), 0));
    printf(" %-28s", text);
}

static void print_row(const struct json *row, bool of_tenant)
{
    struct buf limits;
    char used[11], name[80];
    const char *tenant = json_cstr(json_get(row, "tenant"));
    const char *state = json_cstr(json_get(row, "state"));
    write_day(json_get(row, "last_used"), used);
    snprintf(name, sizeof name, "%s%s", of_tenant ? "tenant " : "",
             json_cstr(json_get(row, "name")));
    buf_init(&limits, LIMITS_BYTES_MAX);
    write_limits(row, &limits);
    printf("%-16s  %-20s %-12s %-9s %-10s", json_cstr(json_get(row, "id")), name,
           tenant ? tenant : "-",
           of_tenant                                                                   ? "-"
           : json_bool(json_get(row, "operator"), false) && strcmp(state, "live") == 0 ? "operator"
                                                                                       : state,
           used);
    print_spent(json_get(row, "spent"), "day");
    print_spent(json_get(row, "spent"), "month");
    printf(" %s\n", limits.failed ? "" : limits.data);
    buf_deinit(&limits);
}

static void print_list(const struct json *list)
{
    const struct json *keys = json_get(list, "data"), *tenants = json_get(list, "tenants");
    printf("%-16s  %-20s %-12s %-9s %-10s %-28s %-28s %s\n", "id", "name", "tenant", "state",
           "last used", "today", "this month", "limits");
    for (size_t i = 0; i < json_count(keys); i++)
        print_row(json_at(keys, i), false);
    for (size_t i = 0; i < json_count(tenants); i++)
        print_row(json_at(tenants, i), true);
}

static int print_none(bool as_json)
{
    if (as_json)
        return command_print(STR("{\"object\":\"list\",\"data\":[],\"tenants\":[]}\n")) ? 0 : 1;
    printf("there are no keys yet; 'tandem keys add NAME' makes one\n");
    return 0;
}

static int cmd_keys_list(int argc, char **argv)
{
    const char *config = NULL;
    bool as_json = false, printed = true;
    const struct option options[] = {OPTION_ROW_CONFIG(config), OPTION_ROW_JSON(as_json)};
    const struct option_spec spec = {
        .verb = "keys list",
        .summary = "Prints the keys of the store with their limits and what they have spent; never "
                   "the keys themselves. What a running server has counted is there a second "
                   "later, and when a key was used last half a minute later.",
        .json = "what GET /tandem/v1/keys answers",
        OPTION_TABLE(options),
    };
    OPTIONS_PARSE_OR_RETURN(&spec, argc, argv, NULL, NULL);
    struct key_command command;
    struct td_error err = {0};
    struct json *list = NULL;
    enum td_status status = key_command_open(config, false, &command, &err);
    if (status == TD_OK)
        status = key_desk_list(&command.desk, &list, &err);
    if (status == TD_OK && as_json) {
        printed = command_print_json(list);
    } else if (status == TD_OK) {
        print_list(list);
        json_free(list);
    }
    key_command_close(&command);
    if (status == TD_NOT_FOUND)
        return print_none(as_json);
    return status == TD_OK ? !printed : command_fail_as("keys list", &err, as_json);
}

const struct verb verb_keys_list = {"list", cmd_keys_list, "show keys, limits and what was spent"};
