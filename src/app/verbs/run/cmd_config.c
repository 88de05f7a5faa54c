/* tandem config: what is in force and why, and what may be written. `policy check` says whether a
 * file is sound. */
#define HELP_OF 65
#include "app/cli/command.h"
#include "app/cli/config_fail.h"
#include "app/cli/config_schema.h"
#include "app/cli/config_values.h"
#include "app/cli/options.h"
#include "app/cli/verb.h"
#include "app/config/packed_help.h"
#include "base/json/json.h"

#define OUTPUT_BYTES_MAX (4u << 20)

static int cmd_config_show(int argc, char **argv)
{
    const char *path = NULL, *file = NULL;
    bool set = false;
    size_t count = 0;
    const struct option options[] = {
        OPTION_ROW_CONFIG(path),
        {"set", 0, OPTION_FLAG, &set, NULL, HELP_TEXT("leave out what is a default"), 0, 0},
    };
    const struct option_spec spec = {
        .verb = "config show",
        .arguments = "[FILE]",
        .summary =
            HELP_TEXT("Prints every value that is in force, and where it comes from: the file and "
                      "its line, a variable of the environment, or the default. What it prints can "
                      "be used as a configuration."),
        .example = HELP_TEXT("  TANDEM_SERVER__WORKERS=4 tandem config show --set"),
        OPTION_TABLE(options),
        .positional_max = 1,
    };
    OPTIONS_PARSE_OR_RETURN(&spec, argc, argv, &file, &count);
    struct td_error err = {0};
    struct config *config;
    if (count)
        path = file;
    if (config_load(path, &config, &err) != TD_OK)
        return config_fail("config show", path, &err);
    struct buf out;
    buf_init(&out, OUTPUT_BYTES_MAX);
    config_values_write(config, !set, &out);
    bool ok = !out.failed && command_print(buf_view(&out));
    buf_deinit(&out);
    config_free(config);
    return ok ? 0 : 1;
}

static int cmd_config_schema(int argc, char **argv)
{
    const struct option_spec spec = {
        .verb = "config schema",
        .summary = HELP_TEXT(
            "Prints the JSON Schema of the configuration. Editors complete and check a "
            "file with it: write it beside the file, and name it in the file's first line "
            "as '# yaml-language-server: $schema=tandem.schema.json'."),
        .example = HELP_TEXT("  tandem config schema > tandem.schema.json"),
    };
    OPTIONS_PARSE_OR_RETURN(&spec, argc, argv, NULL, NULL);
    return command_print_json(config_schema_new()) ? 0 : 1;
}

static const struct verb verb_config_show = {
    "show", cmd_config_show, HELP_TEXT("print the values in force, and where they come from")};
static const struct verb verb_config_schema = {"schema", cmd_config_schema,
                                               HELP_TEXT("print the JSON Schema, for editors")};

static int cmd_config(int argc, char **argv)
{
    static const struct verb *const verbs[] = {&verb_config_show, &verb_config_schema, NULL};
    return verb_run(
        "config",
        HELP_TEXT("Shows the configuration. 'tandem help config' explains its keys, 'tandem "
                  "policy check' says whether a file is sound."),
        verbs, argc, argv);
}

const struct verb verb_config = {"config", cmd_config,
                                 HELP_TEXT("show the values in force, and the file's schema")};
