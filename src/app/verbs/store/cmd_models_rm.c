/* tandem models rm: removes a downloaded model with its record. */
#define HELP_OF 80
#include "app/cli/command.h"
#include "app/cli/options.h"
#include "app/cli/verb.h"
#include "app/config/config.h"
#include "app/config/packed_help.h"
#include "app/setup/model/model_store.h"
#include "base/json/json.h"

#include <stdio.h>

static int cmd_models_rm(int argc, char **argv)
{
    const char *config_path = NULL, *dir = NULL, *name[1] = {NULL};
    bool json = false;
    size_t count = 0;
    const struct option options[] = {
        OPTION_ROW_CONFIG(config_path),
        {"dir", 'd', OPTION_TEXT, &dir, "FOLDER",
         HELP_TEXT("the model folder; default: models.dir of the configuration, or TANDEM_MODELS"),
         0, 0},
        OPTION_ROW_JSON(json),
    };
    const struct option_spec spec = {
        .verb = "models rm",
        .arguments = "NAME",
        .summary = HELP_TEXT("Removes a downloaded model, or what an incomplete download left."),
        OPTION_TABLE(options),
        .positional_max = 1,
    };
    OPTIONS_PARSE_OR_RETURN(&spec, argc, argv, name, &count);
    if (count != 1) {
        return options_misuse("models rm", "name the model; 'tandem models list' shows them");
    }
    if (!model_name_is_plain(name[0])) {
        return options_misuse("models rm",
                              "'%.100s' is not a model's name; 'tandem models list' shows them",
                              name[0]);
    }
    struct td_error err = {0};
    struct config *config = NULL;
    uint64_t bytes = 0;
    bool printed = true;
    enum td_status status = config_load(config_path, &config, &err);
    if (status == TD_OK)
        status = model_store_remove(dir ? dir : config->models.dir, name[0], &bytes, &err);
    if (status == TD_OK && json) {
        struct json *object = json_new_object();
        json_put(object, "removed", json_new_cstr(name[0]));
        json_put(object, "bytes", json_new_int((int64_t)bytes));
        printed = command_print_json(object);
    } else if (status == TD_OK) {
        printf("removed %s, %.1f MB\n", name[0], (double)bytes / 1e6);
    }
    config_free(config);
    return status == TD_OK ? !printed : command_fail("models rm", &err);
}

const struct verb verb_models_rm = {"rm", cmd_models_rm, HELP_TEXT("remove a downloaded model")};
