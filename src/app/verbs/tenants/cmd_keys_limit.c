/* tandem keys limit: changes what a key, or a tenant, may do. What is not named stays. */
#define HELP_OF 88
#include "app/cli/command.h"
#include "app/cli/key_options.h"
#include "app/cli/options.h"
#include "app/cli/verb.h"
#include "app/config/packed_help.h"
#include "app/verbs/tenants/key_command.h"
#include "base/json/json.h"

#include <stdio.h>

#define OWN_OPTIONS 3

struct limit {
    const char *config, *key, *tenant;
    bool json;
};

static int print_tenant(const struct stored_tenant *tenant, bool as_json)
{
    struct json *object = json_new_object();
    if (as_json) {
        json_put(object, "object", json_new_cstr("tenant"));
        json_put(object, "name", json_new_cstr(tenant->name));
        key_terms_put(&tenant->terms, object);
        return command_print_json(object) ? 0 : 1;
    }
    json_free(object);
    printf("the limits of tenant '%s' were changed\n", tenant->name);
    return 0;
}

static int change(const struct limit *wanted, const struct json *wish)
{
    struct key_command command;
    struct stored_key key;
    struct stored_tenant tenant;
    struct td_error err = {0};
    const char *param;
    enum td_status status =
        key_command_open(wanted->config, wanted->tenant != NULL, &command, &err);
    if (status == TD_OK && wanted->tenant)
        status = key_desk_change_tenant(&command.desk, wanted->tenant, wish, &tenant, &param, &err);
    else if (status == TD_OK)
        status = key_desk_change(&command.desk, wanted->key, wish, &key, &param, &err);
    int code;
    if (status != TD_OK)
        code = command_fail_as("keys limit", &err, wanted->json);
    else if (wanted->tenant)
        code = print_tenant(&tenant, wanted->json);
    else
        code = key_command_print(&command, "keys limit", &key, NULL, "was changed", wanted->json);
    key_command_close(&command);
    return code;
}

static int run(const struct limit *wanted, size_t count, const struct json *wish)
{
    if ((count == 1) == (wanted->tenant != NULL))
        return options_misuse("keys limit", "name a key, or a tenant with --tenant");
    if (json_count(wish) == 0)
        return options_misuse("keys limit", "say what to change");
    return change(wanted, wish);
}

static int cmd_keys_limit(int argc, char **argv)
{
    struct limit wanted = {.config = NULL};
    struct key_options terms;
    size_t count = 0;
    struct option options[OWN_OPTIONS + KEY_OPTION_COUNT] = {
        {"tenant", 't', OPTION_TEXT, &wanted.tenant, "NAME",
         HELP_TEXT("change the limits of all keys of this tenant together, instead of one key's"),
         0, 0},
        OPTION_ROW_CONFIG(wanted.config),
        OPTION_ROW_JSON(wanted.json),
    };
    const struct option_spec spec = {
        .verb = "keys limit",
        .arguments = "[KEY]",
        .summary =
            HELP_TEXT("Changes what a key may do. KEY is its id or its name. What no option names "
                      "stays as it is; none, all and never lift a limit."),
        .example = HELP_TEXT("  tandem keys limit shop --usd-per-month 100\n"
                             "  tandem keys limit --tenant shop --tokens-per-day 1000000"),
        .json = HELP_TEXT("the key as in GET /tandem/v1/keys, or the tenant"),
        OPTION_TABLE(options),
        .positional_max = 1,
    };
    key_options_init(&terms, options + OWN_OPTIONS);
    int code = 2;
    switch (options_parse(&spec, argc, argv, &wanted.key, &count)) {
    case OPTIONS_HELP:
        code = 0;
        break;
    case OPTIONS_RUN:
        code = run(&wanted, count, terms.wish);
        break;
    case OPTIONS_USAGE:
        break;
    }
    key_options_deinit(&terms);
    return code;
}

const struct verb verb_keys_limit = {"limit", cmd_keys_limit,
                                     HELP_TEXT("change what a key or a tenant may do")};
