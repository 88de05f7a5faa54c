/* tandem keys rotate: a new secret for a key, which keeps its id, its limits and what it owns. */
#define HELP_OF 91
#include "app/cli/command.h"
#include "app/cli/options.h"
#include "app/cli/since_option.h"
#include "app/cli/verb.h"
#include "app/config/packed_help.h"
#include "app/verbs/tenants/key_command.h"
#include "base/core/str.h"
#include "base/crypto/crypto.h"

#define OVERLAP_MS_MAX (365ull * 86400000)

static bool take_span(void *ctx, const char *text)
{
    return since_option_span(str_from(text), ctx) && *(uint64_t *)ctx <= OVERLAP_MS_MAX;
}

static int cmd_keys_rotate(int argc, char **argv)
{
    const char *config = NULL, *name = NULL;
    uint64_t overlap_ms = 0;
    struct option_each overlap = {take_span, &overlap_ms, "90s, 15m, 24h or 7d, a year at most"};
    bool json = false;
    size_t count = 0;
    const struct option options[] = {
        {"overlap", 0, OPTION_EACH, &overlap, "SPAN",
         HELP_TEXT("how long the key of before is taken beside the new one; default: not at all"),
         0, 0},
        OPTION_ROW_CONFIG(config),
        OPTION_ROW_JSON(json),
    };
    const struct option_spec spec = {
        .verb = "keys rotate",
        .arguments = "KEY",
        .summary =
            HELP_TEXT("Gives a key a new secret and prints it. Its id, its limits and what it owns "
                      "stay. KEY is its id or its name."),
        .example = HELP_TEXT("  tandem keys rotate shop --overlap 24h"),
        .json = HELP_TEXT("the key as in GET /tandem/v1/keys, with \"key\", the key itself"),
        OPTION_TABLE(options),
        .positional_max = 1,
    };
    OPTIONS_PARSE_OR_RETURN(&spec, argc, argv, &name, &count);
    if (count != 1)
        return options_misuse("keys rotate", "name the key; 'tandem keys list' shows them");
    struct key_command command;
    struct stored_key key;
    struct td_error err = {0};
    char text[KEY_TEXT_BYTES] = "";
    enum td_status status = key_command_open(config, false, &command, &err);
    if (status == TD_OK)
        status = key_desk_rotate(&command.desk, name, (int64_t)((overlap_ms + 999) / 1000), &key,
                                 text, &err);
    int code = status == TD_OK ? key_command_print(&command, "keys rotate", &key, text,
                                                   "has a new secret:", json)
                               : command_fail_as("keys rotate", &err, json);
    crypto_wipe(text, sizeof text);
    key_command_close(&command);
    return code;
}

const struct verb verb_keys_rotate = {"rotate", cmd_keys_rotate,
                                      HELP_TEXT("give a key a new secret")};
