/* tandem keys revoke: a key is not taken any more. Its row stays, because records name it. */
#define HELP_OF 90
#include "app/cli/command.h"
#include "app/cli/options.h"
#include "app/cli/verb.h"
#include "app/config/packed_help.h"
#include "app/verbs/tenants/key_command.h"

static int cmd_keys_revoke(int argc, char **argv)
{
    const char *config = NULL, *name = NULL;
    bool json = false;
    size_t count = 0;
    const struct option options[] = {OPTION_ROW_CONFIG(config), OPTION_ROW_JSON(json)};
    const struct option_spec spec = {
        .verb = "keys revoke",
        .arguments = "KEY",
        .summary = HELP_TEXT(
            "Makes a key worthless at once and for good. KEY is its id or its name, which "
            "is then free for another key."),
        .json = HELP_TEXT("the key as in GET /tandem/v1/keys"),
        OPTION_TABLE(options),
        .positional_max = 1,
    };
    OPTIONS_PARSE_OR_RETURN(&spec, argc, argv, &name, &count);
    if (count != 1)
        return options_misuse("keys revoke", "name the key; 'tandem keys list' shows them");
    struct key_command command;
    struct stored_key key;
    struct td_error err = {0};
    enum td_status status = key_command_open(config, false, &command, &err);
    if (status == TD_OK)
        status = key_desk_revoke(&command.desk, name, &key, &err);
    int code = status == TD_OK
                   ? key_command_print(&command, "keys revoke", &key, NULL, "was revoked", json)
                   : command_fail_as("keys revoke", &err, json);
    key_command_close(&command);
    return code;
}

const struct verb verb_keys_revoke = {"revoke", cmd_keys_revoke, HELP_TEXT("make a key worthless")};
