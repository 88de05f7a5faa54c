/* tandem keys add: makes a key and shows it once. */
#define HELP_OF 87
#include "app/cli/command.h"
#include "app/cli/key_options.h"
#include "app/cli/options.h"
#include "app/cli/verb.h"
#include "app/config/config.h"
#include "app/config/packed_help.h"
#include "app/verbs/tenants/key_command.h"
#include "base/crypto/crypto.h"
#include "base/json/json.h"

#include <stdio.h>

#define OWN_OPTIONS 4

struct add {
    const char *config, *name, *tenant;
    bool operates, json;
};

struct found {
    bool operates;
};

static void note_operator(void *ctx, const struct stored_key *key)
{
    struct found *found = ctx;
    found->operates = found->operates || (key->operates && !key->revoked_s);
}

/* The first key shuts out whoever needed none until then. */
static void warn_without_operator(const struct key_command *command)
{
    struct found found = {.operates = false};
    const struct config *config = command->config;
    if (config->server.operator_keys_env || config->server.operator_keys_file ||
        key_store_each(command->desk.store, note_operator, &found, NULL) != TD_OK || found.operates)
        return;
    fprintf(stderr, "There is no operator's key yet, so nobody can read /metrics or use the admin "
                    "API: make one with 'tandem keys add --operator NAME'.\n");
}

static int add(const struct add *wanted, struct json *wish)
{
    struct key_command command;
    struct stored_key key;
    struct td_error err = {0};
    char text[KEY_TEXT_BYTES] = "";
    const char *param;
    json_put(wish, "name", json_new_cstr(wanted->name));
    json_put(wish, "tenant", json_new_cstr(wanted->tenant));
    json_put(wish, "operator", json_new_bool(wanted->operates));
    enum td_status status = key_command_open(wanted->config, true, &command, &err);
    if (status == TD_OK)
        status = key_desk_add(&command.desk, wish, &key, text, &param, &err);
    int code = status == TD_OK
                   ? key_command_print(&command, "keys add", &key, text, "was made:", wanted->json)
                   : command_fail_as("keys add", &err, wanted->json);
    if (status == TD_OK)
        warn_without_operator(&command);
    crypto_wipe(text, sizeof text);
    key_command_close(&command);
    return code;
}

static int cmd_keys_add(int argc, char **argv)
{
    struct add wanted = {.config = NULL};
    struct key_options terms;
    size_t count = 0;
    struct option options[OWN_OPTIONS + KEY_OPTION_COUNT] = {
        {"tenant", 't', OPTION_TEXT, &wanted.tenant, "NAME",
         HELP_TEXT(
             "keys with the same one share what they own; default: the key is a tenant of its own"),
         0, 0},
        {"operator", 0, OPTION_FLAG, &wanted.operates, NULL,
         HELP_TEXT("it may see all tenants, read /metrics and use the admin API"), 0, 0},
        OPTION_ROW_CONFIG(wanted.config),
        OPTION_ROW_JSON(wanted.json),
    };
    const struct option_spec spec = {
        .verb = "keys add",
        .arguments = "NAME",
        .summary =
            HELP_TEXT("Makes an API key and prints it. It is kept as a hash, so it can never be "
                      "printed again."),
        .example = HELP_TEXT(
            "  tandem keys add shop --tenant shop --requests-per-minute 60 --usd-per-day 5"),
        .json = HELP_TEXT("the key as in GET /tandem/v1/keys, with \"key\", the key itself"),
        OPTION_TABLE(options),
        .positional_max = 1,
    };
    key_options_init(&terms, options + OWN_OPTIONS);
    int code = 2;
    switch (options_parse(&spec, argc, argv, &wanted.name, &count)) {
    case OPTIONS_HELP:
        code = 0;
        break;
    case OPTIONS_RUN:
        code = count == 1 ? add(&wanted, terms.wish)
                          : options_misuse("keys add", "give the key a name");
        break;
    case OPTIONS_USAGE:
        break;
    }
    key_options_deinit(&terms);
    return code;
}

const struct verb verb_keys_add = {"add", cmd_keys_add, HELP_TEXT("make a key and show it once")};
