/* tandem keys list: keys with their limits and what they have spent. */
#define HELP_OF 89
#include "app/cli/command.h"
#include "app/cli/options.h"
#include "app/cli/verb.h"
#include "app/config/packed_help.h"
#include "app/terminal/terminal.h"
#include "app/terminal/word_wrap.h"
#include "app/verbs/tenants/key_command.h"
#include "base/bytes/buf.h"
#include "base/core/str.h"
#include "base/json/json.h"

#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define MORE_BYTES_MAX 4096

static void write_day(const struct json *value, char out[static 11])
{
    time_t at = (time_t)json_int(value, 0);
    struct tm local;
    snprintf(out, 11, "-");
    if (at && localtime_r(&at, &local))
        strftime(out, 11, "%Y-%m-%d", &local);
}

static void write_value(const struct json *value, struct buf *out)
{
    for (size_t i = 0; i < json_count(value); i++)
        buf_printf(out, "%s%s", i ? "," : "", json_cstr(json_at(value, i)));
    if (json_kind_of(value) == JSON_KIND_INT || json_kind_of(value) == JSON_KIND_DOUBLE)
        buf_printf(out, "%.15g", json_number(value, 0));
    else if (json_cstr(value))
        buf_append_str(out, str_from(json_cstr(value)));
}

/* "usd_per_day 5; models auto,gpt-*": the limits, as `tandem keys limit` takes their values. */
static void write_limits(const struct json *object, struct buf *out)
{
    void *iterator = NULL;
    const char *name;
    const struct json *value;
    while (json_next(object, &iterator, &name, &value)) {
        if (!key_terms_has(name))
            continue;
        buf_printf(out, "; %s ", name);
        write_value(value, out);
    }
}

static double spent(const struct json *row, const char *period, const char *what)
{
    return json_number(json_get(json_get(json_get(row, "spent"), period), what), 0);
}

/* What is long stands below the row, in lines that fit the terminal. */
static void print_more(const struct json *row, unsigned columns)
{
    struct buf text;
    const char *tenant = json_cstr(json_get(row, "tenant"));
    buf_init(&text, MORE_BYTES_MAX);
    buf_printf(&text, "  %.0f tokens today, %.0f this month", spent(row, "day", "tokens"),
               spent(row, "month", "tokens"));
    if (tenant)
        buf_printf(&text, "; of tenant %s", tenant);
    write_limits(row, &text);
    if (!text.failed)
        word_wrap_print(stdout, columns, buf_view(&text));
    buf_deinit(&text);
}

static void print_row(const struct json *row, bool of_tenant, unsigned columns)
{
    char used[11], name[80];
    const char *state = json_cstr(json_get(row, "state"));
    write_day(json_get(row, "last_used"), used);
    snprintf(name, sizeof name, "%s%s", of_tenant ? "tenant " : "",
             json_cstr(json_get(row, "name")));
    if (of_tenant)
        state = "-";
    else if (json_bool(json_get(row, "operator"), false) && strcmp(state, "live") == 0)
        state = "operator";
    printf("%-16s  %-18s %-8s %-10s%s %10.6f %10.6f\n", json_cstr(json_get(row, "id")), name, state,
           used, terminal_fold(), spent(row, "day", "usd"), spent(row, "month", "usd"));
    print_more(row, columns);
}

static void print_list(const struct json *list)
{
    const struct json *keys = json_get(list, "data"), *tenants = json_get(list, "tenants");
    unsigned columns = terminal_columns(STDOUT_FILENO);
    printf("%-16s  %-18s %-8s %-10s%s %10s %10s\n", "id", "name", "state", "last used",
           terminal_fold(), "USD today", "this month");
    for (size_t i = 0; i < json_count(keys); i++)
        print_row(json_at(keys, i), false, columns);
    for (size_t i = 0; i < json_count(tenants); i++)
        print_row(json_at(tenants, i), true, columns);
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
        .summary = HELP_TEXT(
            "Prints the keys of the store with their limits and what they have spent; never "
            "the keys themselves. What a running server has counted is there a second "
            "later, and when a key was used last half a minute later."),
        .json = HELP_TEXT("what GET /tandem/v1/keys answers"),
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
        command_harmless_begin();
        print_list(list);
        printed = command_harmless_end(false);
        json_free(list);
    }
    key_command_close(&command);
    if (status == TD_NOT_FOUND)
        return print_none(as_json);
    return status == TD_OK ? !printed : command_fail_as("keys list", &err, as_json);
}

const struct verb verb_keys_list = {"list", cmd_keys_list,
                                    HELP_TEXT("show keys, limits and what was spent")};
