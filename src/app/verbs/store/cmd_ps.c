/* tandem ps: what a running server has in memory. tandem stop: ends it. */
#define HELP_OF 84
#include "app/cli/command.h"
#include "app/cli/options.h"
#include "app/cli/remote.h"
#include "app/cli/verb.h"
#include "app/config/config.h"
#include "app/config/packed_help.h"
#include "app/setup/files/state_lock.h"
#include "base/core/error.h"
#include "base/core/str.h"
#include "base/json/json.h"

#include <stdio.h>

#define ANSWER_BYTES_MAX (1u << 20)
#define TIMEOUT_MS 10000

static bool print_models(const struct json *list, const char *base)
{
    command_harmless_begin();
    printf("%s\n%-36s %10s %9s\n", base, "model", "size", "context");
    for (size_t i = 0; i < json_count(list); i++) {
        const struct json *row = json_at(list, i);
        printf("%-36.60s %7.1f MB %9lld\n", json_cstr(json_get(row, "name")),
               (double)json_int(json_get(row, "size"), 0) / 1e6,
               (long long)json_int(json_get(row, "context_length"), 0));
    }
    return command_harmless_end(false);
}

static int cmd_ps(int argc, char **argv)
{
    const char *config_path = NULL, *url = NULL;
    bool json = false, printed = true;
    const struct option options[] = {
        OPTION_ROW_CONFIG(config_path),
        {"url", 'u', OPTION_TEXT, &url, "URL",
         HELP_TEXT("the server; default: that of the configuration, on this machine"), 0, 0},
        OPTION_ROW_JSON(json),
    };
    const struct option_spec spec = {
        .verb = "ps",
        .summary = HELP_TEXT(
            "Lists the models that a running server has in memory. One that is a tier of its own "
            "leaves it after the tier's idle_s without a request, the others when the server ends: "
            "'tandem stop'."),
        .json = HELP_TEXT("as GET /api/ps answers"),
        OPTION_TABLE(options),
    };
    OPTIONS_PARSE_OR_RETURN(&spec, argc, argv, NULL, NULL);
    struct td_error err = {0};
    struct config *config = NULL;
    struct json *root = NULL;
    char base[320];
    enum td_status status = url ? TD_OK : config_load(config_path, &config, &err);
    if (status == TD_OK && !url)
        remote_write_base(config, base, sizeof base);
    struct remote_request request = {
        .base = url ? url : base, .path = "/api/ps", .timeout_ms = TIMEOUT_MS};
    if (status == TD_OK)
        status = remote_ask(&request, NULL, ANSWER_BYTES_MAX, &root, &err);
    if (status == TD_OK && json)
        printed = command_print_json(json_clone(root));
    else if (status == TD_OK)
        printed = print_models(json_get(root, "models"), request.base);
    json_free(root);
    config_free(config);
    return status == TD_OK ? !printed : command_fail("ps", &err);
}

static int cmd_stop(int argc, char **argv)
{
    const char *config_path = NULL, *model[1];
    size_t count = 0;
    uint32_t seconds = 60;
    const struct option options[] = {
        OPTION_ROW_CONFIG(config_path),
        {"seconds", 0, OPTION_UINT, &seconds, "N",
         HELP_TEXT("how long to wait for its end; default 60"), 0, 3600},
    };
    const struct option_spec spec = {
        .verb = "stop",
        .summary = HELP_TEXT(
            "Ends the server of this state folder, and with it all models that it has in "
            "memory, as SIGTERM does: what it answers is finished. Where a service manager "
            "started it, stop it there: otherwise it may start again.\n"
            "A single model is not ended by hand: one that is a tier of its own leaves memory "
            "after the tier's idle_s without a request."),
        OPTION_TABLE(options),
        .positional_max = 1,
    };
    OPTIONS_PARSE_OR_RETURN(&spec, argc, argv, model, &count);
    if (count)
        return options_misuse("stop",
                              "it ends the server, and no single model: where '%.60s' is a tier "
                              "of its own, it leaves memory after the tier's idle_s",
                              model[0]);
    struct td_error err = {0};
    struct config *config = NULL;
    char owner[STATE_OWNER_BYTES];
    enum td_status status = config_load(config_path, &config, &err);
    if (status == TD_OK && !config->state_dir)
        status = error_set(&err, TD_NOT_FOUND, "there is no state folder, so no server is known");
    if (status == TD_OK)
        status = state_lock_end_owner(config->state_dir, seconds * 1000, owner, &err);
    if (status == TD_OK)
        printf("stopped %s\n", owner);
    config_free(config);
    return status == TD_OK ? 0 : command_fail("stop", &err);
}

const struct verb verb_ps = {"ps", cmd_ps,
                             HELP_TEXT("list the models that a running server has in memory")};
const struct verb verb_stop = {"stop", cmd_stop, HELP_TEXT("end the server of this machine")};
