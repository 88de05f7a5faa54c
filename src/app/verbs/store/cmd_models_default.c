/* tandem models default: which downloaded model answers where none is named. */
#define HELP_OF 74
#include "app/cli/command.h"
#include "app/cli/options.h"
#include "app/cli/verb.h"
#include "app/config/config.h"
#include "app/config/packed_help.h"
#include "app/setup/model/model_default.h"

#include <stdio.h>
#include <string.h>

static int cmd_models_default(int argc, char **argv)
{
    const char *config_path = NULL, *name[1] = {NULL};
    char now[MODEL_NAME_BYTES];
    const struct option options[] = {OPTION_ROW_CONFIG(config_path)};
    const struct option_spec spec = {
        .verb = "models default",
        .arguments = "[NAME]",
        .summary =
            HELP_TEXT("Makes a downloaded model the one that chat, ask and serve use where -m, "
                      "engine.model and TANDEM_MODEL name none; 'none' goes back to the built-in "
                      "model. Without NAME it says which one it is. A running server takes it with "
                      "its next start."),
        OPTION_TABLE(options),
        .positional_max = 1,
    };
    OPTIONS_PARSE_OR_RETURN(&spec, argc, argv, name, NULL);
    struct td_error err = {0};
    struct config *config = NULL;
    enum td_status status = config_load(config_path, &config, &err);
    const char *chosen = name[0] && strcmp(name[0], "none") == 0 ? NULL : name[0];
    if (status == TD_OK && name[0])
        status = model_default_write(config->models.dir, chosen, &err);
    if (status == TD_OK)
        printf("%s\n",
               model_default_read(config->models.dir, now) ? now : "none: the built-in one");
    config_free(config);
    return status == TD_OK ? 0 : command_fail("models default", &err);
}

const struct verb verb_models_default = {"default", cmd_models_default,
                                         HELP_TEXT("say which model answers where none is named")};
