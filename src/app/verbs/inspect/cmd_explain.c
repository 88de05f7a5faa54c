/* tandem explain: one record of the ledger in sentences, from the ledger's file or from a
 * running server. A server writes a record a moment after the answer, so a record that is
 * missing is looked for once more. */
#define HELP_OF 31
#include "app/cli/command.h"
#include "app/cli/explanation.h"
#include "app/cli/options.h"
#include "app/cli/verb.h"
#include "app/config/config.h"
#include "app/config/packed_help.h"
#include "base/json/json.h"
#include "exchange/machine/exchange_core.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

#define COMMIT_WAIT_MS 250
#define COMMIT_WAITS 12 /* for an id as a whole: nobody types that, so an answer had it just now */

static enum td_status find_local(const char *config_path, const char *id, struct json **out,
                                 struct td_error *err)
{
    struct config *config = NULL;
    enum td_status status = config_load(config_path, &config, err);
    /* A server commits within COMMIT_WAIT_MS of the answer, unless its disk is busy; an earlier
     * exchange is not the last. */
    struct timespec pause = {0, COMMIT_WAIT_MS * 1000000L};
    if (status == TD_OK && strcmp(id, "last") == 0)
        nanosleep(&pause, NULL);
    if (status == TD_OK)
        status = explanation_read(config, id, out, err);
    int waits = strlen(id) >= EXCHANGE_ID_BYTES - 1 ? COMMIT_WAITS : 1;
    while (config && status == TD_NOT_FOUND && waits-- > 0) {
        nanosleep(&pause, NULL);
        *err = (struct td_error){0};
        status = explanation_read(config, id, out, err);
    }
    config_free(config);
    return status;
}

static int cmd_explain(int argc, char **argv)
{
    const char *config = NULL, *url = NULL, *id[1] = {"last"};
    bool json = false;
    size_t count = 0;
    enum td_cpu cpu = TD_CPU_AUTO;
    const struct option options[] = {
        OPTION_ROW_CONFIG(config),
        {"url", 'u', OPTION_TEXT, &url, "URL",
         HELP_TEXT("ask a running server instead of the ledger"), 0, 0},
        OPTION_ROW_CPU(cpu),
        OPTION_ROW_JSON(json),
    };
    const struct option_spec spec = {
        .verb = "explain",
        .arguments = "[ID|last]",
        .summary = HELP_TEXT(
            "Shows why a request was answered where it was: the tiers that were tried, the "
            "reasons, the confidence and the cost. ID is the exchange's id or a unique "
            "beginning of it, the answer's, or a trace or request id; without one the last "
            "exchange is explained."),
        OPTION_TABLE(options),
        .positional_max = 1,
    };
    OPTIONS_PARSE_OR_RETURN(&spec, argc, argv, id, &count);
    struct td_error err = {0};
    struct json *record = NULL;
    enum td_status status = url ? explanation_fetch(url, id[0], &record, &err)
                                : find_local(config, id[0], &record, &err);
    if (status != TD_OK)
        return command_fail("explain", &err);
    if (json)
        return command_print_json(record) ? 0 : 1;
    bool shown = explanation_show(record);
    json_free(record);
    return shown ? 0 : 1;
}

const struct verb verb_explain = {"explain", cmd_explain,
                                  HELP_TEXT("show why a request was answered where it was")};
