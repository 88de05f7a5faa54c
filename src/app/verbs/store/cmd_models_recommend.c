/* tandem models recommend: the catalogue as this machine can use it. */
#define HELP_OF 79
#include "app/cli/command.h"
#include "app/cli/help.h"
#include "app/cli/options.h"
#include "app/cli/verb.h"
#include "app/config/packed_help.h"
#include "app/store/shortlist.h"
#include "base/time/clock.h"

#include <stdio.h>

#define GOOD_AT_COLUMN 49

static void print_row(const struct config *config, const struct shortlist *list,
                      const struct catalog_model *model)
{
    char left[128], size[24], speed[24], context[16], text[512];
    bool small = model->bytes < 950000000;
    const char *lacks = shortlist_lacks(list, model);
    snprintf(size, sizeof size, small ? "%.0f MB" : "%.1f GB",
             (double)model->bytes / (small ? 1e6 : 1e9));
    snprintf(context, sizeof context, "%uK", model->context / 1024);
    snprintf(speed, sizeof speed, lacks ? "-" : "%.0f/s", shortlist_speed(list, model));
    snprintf(left, sizeof left, "%-17.40s %7s %4s %4s %-10.20s", model->name, size, speed, context,
             model->licence);
    if (lacks && *lacks == 'm')
        snprintf(text, sizeof text, "too large: it needs %.1f GB of memory",
                 (double)shortlist_memory(model) / 1e9);
    else if (lacks)
        snprintf(text, sizeof text, "too large for the disk");
    else
        snprintf(text, sizeof text, "%s%s", model->good_at,
                 shortlist_is_there(config, model) ? " (downloaded)" : "");
    help_row(stdout, left, GOOD_AT_COLUMN, text);
}

static void print_text(const struct config *config, const struct catalog *catalog,
                       const struct shortlist *list)
{
    double days = catalog_days(catalog, clock_wall_ms(NULL));
    char words[512];
    snprintf(words, sizeof words,
             "Here %.1f GB of memory and %.1f GB of disk are free, and %u thread%s through %.1f GB "
             "of weights a second: that makes the speeds, in tokens a second. The list was checked "
             "on %s.\n",
             (double)list->ram_bytes / 1e9, (double)list->disk_bytes / 1e9, list->threads,
             list->threads == 1 ? " goes" : "s go", list->bytes_per_s / 1e9, catalog_day(catalog));
    help_text(stdout, 0, words);
    printf("  %-17s %7s %4s %4s %-10s %s\n", "model", "size", "tok", "ctx", "licence", "good at");
    for (size_t i = 0; i < catalog_count(catalog); i++)
        print_row(config, list, catalog_at(catalog, i));
    printf("\n");
    if (days > CATALOG_OLD_DAYS) {
        snprintf(words, sizeof words,
                 "This list is %.0f days old: newer models may do better. 'tandem models search "
                 "WORD' asks the hub.",
                 days);
        help_text(stdout, 0, words);
    }
    if (list->best)
        printf("The best that is quick enough here:\n  tandem run %s\n", list->best->name);
    else
        printf("No model of the list fits. The built-in one needs nothing: tandem chat\n");
}

static int cmd_models_recommend(int argc, char **argv)
{
    const char *config_path = NULL;
    bool json = false, printed = true;
    const struct option options[] = {OPTION_ROW_CONFIG(config_path), OPTION_ROW_JSON(json)};
    const struct option_spec spec = {
        .verb = "models recommend",
        .summary = HELP_TEXT(
            "Shows small open models that this engine runs, with size, licence, context and "
            "what they are good at, and which of them fit this machine: its free memory and "
            "disk, and its speed, which is measured for half a second. Nothing is asked of "
            "a network. models.catalog names another list."),
        OPTION_TABLE(options),
    };
    OPTIONS_PARSE_OR_RETURN(&spec, argc, argv, NULL, NULL);
    struct td_error err = {0};
    struct config *config = NULL;
    struct catalog *catalog = NULL;
    struct shortlist list = {0};
    enum td_status status = config_load(config_path, &config, &err);
    if (status == TD_OK)
        status = catalog_open(config, &catalog, &err);
    if (status == TD_OK) {
        shortlist_make(config, catalog, &list);
        if (json)
            printed = command_print_json(shortlist_to_json(config, catalog, &list));
        else
            print_text(config, catalog, &list);
    }
    catalog_free(catalog);
    config_free(config);
    return status == TD_OK ? !printed : command_fail("models recommend", &err);
}

const struct verb verb_models_recommend = {"recommend", cmd_models_recommend,
                                           HELP_TEXT("show models that fit this machine")};
