/* tandem egress report: how much left, by where it went, its class, what it was for, what was
 * replaced in it, and the day. */
#define HELP_OF 28
#include "api/evidence/egress_report.h"
#include "app/cli/command.h"
#include "app/cli/options.h"
#include "app/cli/since_option.h"
#include "app/cli/verb.h"
#include "app/config/packed_help.h"
#include "app/terminal/terminal.h"
#include "app/verbs/inspect/egress_record.h"
#include "base/core/str.h"

#include <stdio.h>

static const char *const titles[EGRESS_PROPERTIES] = {
    [EGRESS_BY_DESTINATION] = "destination", [EGRESS_BY_CLASS] = "class of the data",
    [EGRESS_BY_PURPOSE] = "sent for",        [EGRESS_BY_KIND] = "kind that was replaced",
    [EGRESS_BY_DAY] = "day (UTC)",
};

static void print_report(const struct egress_report *report)
{
    bool narrow = *terminal_fold();
    printf("%llu transfer%s, %llu bytes\n", (unsigned long long)report->transfers,
           PLURAL(report->transfers), (unsigned long long)report->bytes);
    for (int i = 0; i < EGRESS_PROPERTIES; i++) {
        const struct egress_groups *groups = &report->of[i];
        int width = !narrow ? 44 : i == EGRESS_BY_KIND ? 24 : 34; /* of 80 columns, or 60 */
        if (groups->count)
            printf("\n%-*s %10s %13s%s\n", width, titles[i], "transfers", "bytes",
                   i == EGRESS_BY_KIND ? "    values" : "");
        for (size_t g = 0; g < groups->count; g++) {
            printf("%-*.44s %10llu %13llu", width, groups->items[g].name,
                   (unsigned long long)groups->items[g].transfers,
                   (unsigned long long)groups->items[g].bytes);
            if (i == EGRESS_BY_KIND)
                printf(" %9llu", (unsigned long long)groups->items[g].values);
            printf("\n");
        }
    }
}

static int egress_report(int argc, char **argv)
{
    const char *config_path = NULL, *path;
    struct since_option since;
    struct egress_report report = {0};
    bool json = false;
    since_option_init(&since, "all");
    const struct option options[] = {
        OPTION_ROW_CONFIG(config_path),
        OPTION_ROW_SINCE(since, "all"),
        OPTION_ROW_JSON(json),
    };
    const struct option_spec spec = {
        .verb = "egress report",
        .summary =
            HELP_TEXT("Sums what left the device: by destination, data class, purpose, kind of the "
                      "values that were replaced, and day."),
        OPTION_TABLE(options),
    };
    OPTIONS_PARSE_OR_RETURN(&spec, argc, argv, NULL, NULL);
    struct td_error err = {0};
    struct config *config = NULL;
    enum td_status status = egress_record_find(config_path, NULL, &config, &path, &err);
    if (status == TD_OK)
        status = egress_report_read(path, since.wall_ms, &report, &err);
    bool printed = true;
    if (status == TD_OK && json)
        printed = command_print_json(egress_report_json(&report));
    else if (status == TD_OK) {
        command_harmless_begin();
        print_report(&report);
        printed = command_harmless_end(false);
    }
    egress_report_deinit(&report);
    config_free(config);
    return status == TD_OK ? !printed : command_fail("egress report", &err);
}

const struct verb verb_egress_report = {"report", egress_report,
                                        "sum what left by destination, class, kind and day"};
