/* tandem ledger prune: removes now what a server would remove by itself (ledger.keep_days), or what
 * is asked for, beside a server or without one. */
#define HELP_OF 37
#include "app/cli/command.h"
#include "app/cli/interrupt.h"
#include "app/cli/options.h"
#include "app/cli/progress.h"
#include "app/cli/since_option.h"
#include "app/cli/verb.h"
#include "app/config/packed_help.h"
#include "app/setup/process/retention.h"
#include "base/core/error.h"
#include "base/core/str.h"
#include "base/json/json.h"
#include "base/time/clock.h"

#include <stdio.h>
#include <unistd.h>

struct prune_options {
    const char *config, *older, *data_class;
    uint32_t mb;
    bool dry_run, json;
};

/* What the options ask for; without them what the configuration says. */
static enum td_status read_keep(const struct prune_options *options, const struct config *config,
                                struct ledger_keep *keep, struct td_error *err)
{
    enum td_data_class data_class;
    uint64_t span_ms, now_ms = clock_wall_ms(NULL);
    *keep = (struct ledger_keep){.bytes_max = (uint64_t)options->mb * 1000000};
    if (!options->older && !options->mb) {
        struct retention_keep from_config;
        bool ends = retention_keep_read(config, &from_config);
        retention_keep_now(&from_config, keep);
        return ends
                   ? TD_OK
                   : error_set(err, TD_INVALID,
                               "the configuration keeps everything (ledger.keep_days); say what is "
                               "to go, as in --older-than 90d");
    }
    if (!options->older)
        return TD_OK;
    if (!since_option_span(str_from(options->older), &span_ms) || span_ms == 0)
        return error_set(err, TD_INVALID, "--older-than '%s' is no span, such as 90d or 12h",
                         options->older);
    uint64_t before_ms = span_ms < now_ms ? now_ms - span_ms : 0;
    if (!options->data_class)
        keep->before_wall_ms = before_ms;
    else if (names_class_parse(str_from(options->data_class), &data_class))
        keep->class_before_wall_ms[data_class] = before_ms;
    else
        return error_set(err, TD_INVALID,
                         "--class '%s' is none of public, sensitive, contractual and restricted",
                         options->data_class);
    keep->by_class = options->data_class != NULL;
    return TD_OK;
}

static bool rest(void *ctx, uint32_t ms)
{
    (void)ctx;
    usleep(ms * 1000);
    return interrupted;
}

static enum td_status prune(const struct prune_options *options, struct ledger_pruned *out,
                            struct td_error *err)
{
    struct config *config = NULL;
    struct ledger_pruner *pruner = NULL;
    struct ledger_keep keep;
    enum td_status status = config_load(options->config, &config, err);
    if (status == TD_OK)
        status = read_keep(options, config, &keep, err);
    if (status == TD_OK)
        status = ledger_pruner_open(config->ledger.path, &pruner, err);
    interrupt_watch();
    if (status == TD_OK && options->dry_run)
        status = ledger_prune_count(pruner, &keep, &out->exchanges, err);
    else if (status == TD_OK)
        status = ledger_prune(pruner, &keep, rest, NULL, out, err);
    ledger_pruner_close(pruner);
    config_free(config);
    return status;
}

static int cmd_prune(int argc, char **argv)
{
    struct prune_options o = {0};
    const struct option options[] = {
        OPTION_ROW_CONFIG(o.config),
        {"older-than", 0, OPTION_TEXT, &o.older, "SPAN",
         HELP_TEXT("exchanges that are older: 90d, 12h"), 0, 0},
        {"class", 0, OPTION_TEXT, &o.data_class, "CLASS",
         HELP_TEXT("of them only those of this data class"), 0, 0},
        {"mb", 0, OPTION_UINT, &o.mb, "N",
         HELP_TEXT("the oldest ones, until the file uses at most so many MB"), 1, 100000000},
        {"dry-run", 'n', OPTION_FLAG, &o.dry_run, NULL,
         HELP_TEXT("only count what would go by its age"), 0, 0},
        OPTION_ROW_JSON(o.json),
    };
    const struct option_spec spec = {
        .verb = "ledger prune",
        .summary = HELP_TEXT(
            "Removes exchanges with their attempts, texts, feedback and shadows: those that "
            "are asked for, or those that the configuration does not keep "
            "(ledger.keep_days, keep_class_days, keep_mb). A server may run meanwhile. The "
            "signed record of what left the device is not touched and still verifies."),
        .example = HELP_TEXT("  tandem ledger prune --older-than 90d"),
        OPTION_TABLE(options),
    };
    OPTIONS_PARSE_OR_RETURN(&spec, argc, argv, NULL, NULL);
    if (o.data_class && !o.older)
        return options_misuse("ledger prune", "--class needs --older-than");
    struct td_error err = {0};
    struct ledger_pruned pruned = {0};
    enum td_status status = prune(&o, &pruned, &err);
    if (status != TD_OK) {
        if (pruned.exchanges)
            fprintf(stderr, "%llu exchanges were removed before this:\n",
                    (unsigned long long)pruned.exchanges);
        return command_fail_as("ledger prune", &err, o.json);
    }
    if (o.json) {
        struct json *json = json_new_object();
        json_put(json, "exchanges", json_new_int((int64_t)pruned.exchanges));
        json_put(json, "removed", json_new_bool(!o.dry_run));
        json_put(json, "bytes", json_new_int((int64_t)pruned.bytes));
        return command_print_json(json) ? interrupted : 1;
    }
    printf("%llu exchange%s %s", (unsigned long long)pruned.exchanges, PLURAL(pruned.exchanges),
           o.dry_run ? "would go" : "removed");
    if (!o.dry_run && pruned.bytes)
        printf("; the file uses %.1f MB", (double)pruned.bytes / 1e6);
    putchar('\n');
    return interrupted;
}

const struct verb verb_ledger_prune = {"prune", cmd_prune,
                                       HELP_TEXT("remove exchanges by age, class or size")};
