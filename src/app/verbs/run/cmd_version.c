/* tandem version: the version, and which kernels this CPU gets. */
#define HELP_OF 72
#include "app/cli/command.h"
#include "app/cli/options.h"
#include "app/cli/verb.h"
#include "app/config/packed_help.h"
#include "base/json/json.h"
#include "kernels/kernels.h"

#include <stdio.h>

static int cmd_version(int argc, char **argv)
{
    bool json = false;
    enum td_cpu cpu = TD_CPU_AUTO;
    const struct option options[] = {OPTION_ROW_CPU(cpu), OPTION_ROW_JSON(json)};
    const struct option_spec spec = {
        .verb = "version",
        .summary = HELP_TEXT("Prints the version, and which kernels this CPU uses."),
        OPTION_TABLE(options),
    };
    OPTIONS_PARSE_OR_RETURN(&spec, argc, argv, NULL, NULL);
    struct td_error err = {0};
    const struct kernels *kernels = kernels_get(cpu, &err);
    if (!kernels)
        return command_fail("version", &err);
    if (!json) {
        printf("tandem %s (%s)\n", TANDEM_VERSION, kernels->name);
        return 0;
    }
    struct json *object = json_new_object();
    json_put(object, "version", json_new_cstr(TANDEM_VERSION));
    json_put(object, "cpu", json_new_cstr(kernels->name));
    return command_print_json(object) ? 0 : 1;
}

const struct verb verb_version = {"version", cmd_version, HELP_TEXT("print the version")};
