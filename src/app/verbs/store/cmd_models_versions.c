/* tandem models versions: the versions of models that answered here, and how far they differ. */
#define HELP_OF 83
#include "app/cli/command.h"
#include "app/cli/options.h"
#include "app/cli/since_option.h"
#include "app/cli/verb.h"
#include "app/config/config.h"
#include "app/config/packed_help.h"
#include "base/core/error.h"
#include "base/core/str.h"
#include "base/json/json.h"
#include "base/time/clock.h"
#include "ledger/record/ledger.h"

#include <stdio.h>

static const char *text_of(const struct json *row, const char *name)
{
    const char *text = json_cstr(json_get(row, name));
    return text ? text : "-";
}

static void write_day(const struct json *when, char out[static 11])
{
    char text[25];
    snprintf(out, 11, "-");
    if (json_int(when, -1) >= 0) {
        clock_format_iso8601((uint64_t)json_int(when, 0), text);
        snprintf(out, 11, "%.10s", text);
    }
}

/* Whether another version of the model of that name was first used later. */
static bool is_superseded(const struct json *models, size_t at, const char *name)
{
    for (size_t i = at + 1; i < json_count(models); i++)
        if (strcmp(text_of(json_get(json_at(models, i), "of"), "model"), name) == 0)
            return true;
    return false;
}

/* The text of each version as an object, and whether it is superseded. **takes** the list. */
static struct json *opened(struct json *from)
{
    struct json *list = json_new_array();
    for (size_t i = 0; i < json_count(from); i++) {
        struct json *row = json_clone(json_at(from, i)), *of = NULL;
        if (json_parse(json_text(json_get(row, "text")), &of, NULL) == TD_OK)
            json_put(row, "of", of);
        json_remove(row, "text");
        json_push(list, row);
    }
    json_free(from);
    return list;
}

static struct json *with_superseded(struct json *models)
{
    struct json *list = json_new_array();
    for (size_t i = 0; i < json_count(models); i++) {
        struct json *row = json_clone(json_at(models, i));
        json_put(row, "superseded",
                 json_new_bool(is_superseded(models, i, text_of(json_get(row, "of"), "model"))));
        json_push(list, row);
    }
    json_free(models);
    return list;
}

static void print_models(const struct json *models)
{
    char first[11], last[11];
    printf("%-16s  %-24s %-8s %-10s  %-10s  %8s\n", "version", "model", "type", "first", "last",
           "attempts");
    for (size_t i = 0; i < json_count(models); i++) {
        const struct json *row = json_at(models, i), *of = json_get(row, "of");
        write_day(json_get(row, "wall_ms"), first);
        write_day(json_get(row, "last_ms"), last);
        printf("%-16s  %-24.24s %-8s %-10s  %-10s  %8lld%s%s\n", text_of(row, "version"),
               text_of(of, "model"), text_of(of, "quantization"), first, last,
               (long long)json_int(json_get(row, "attempts"), 0),
               json_absent(json_get(of, "calibration")) ? "  uncalibrated" : "",
               json_bool(json_get(row, "superseded"), false) ? "  superseded" : "");
    }
}

static void print_skew(const struct json *skew)
{
    char first[11], last[11];
    if (json_count(skew))
        printf("\nhow often they said the same as another tier\n");
    for (size_t i = 0; i < json_count(skew); i++) {
        const struct json *row = json_at(skew, i);
        write_day(json_get(row, "first_ms"), first);
        write_day(json_get(row, "last_ms"), last);
        printf("%s (%s) and %s (%s): %5.1f %% of %lld [%.1f, %.1f], %s to %s\n",
               text_of(row, "tier"), text_of(row, "version"), text_of(row, "shadow"),
               text_of(row, "shadow_version"), 100 * json_number(json_get(row, "same_share"), 0),
               (long long)json_int(json_get(row, "compared"), 0),
               100 * json_number(json_get(row, "same_low"), 0),
               100 * json_number(json_get(row, "same_high"), 0), first, last);
    }
}

static int cmd_models_versions(int argc, char **argv)
{
    const char *config_path = NULL;
    bool json = false;
    struct since_option since;
    since_option_init(&since, "30d");
    const struct option options[] = {OPTION_ROW_SINCE(since, "30d"), OPTION_ROW_CONFIG(config_path),
                                     OPTION_ROW_JSON(json)};
    const struct option_spec spec = {
        .verb = "models versions",
        .summary = HELP_TEXT(
            "Lists the versions of local models that answered here, oldest first: a version "
            "is a model's weights, quantisation, template, tokenizer, adapters and "
            "calibration. Then how often two versions said the same where shadows compared "
            "them (routes[].shadow), with intervals at 95 %, and from when to when."),
        .json = HELP_TEXT(
            "{models: [{version, wall_ms, last_ms, attempts, of, superseded}], skew: [{tier, "
            "model, version, shadow, shadow_model, shadow_version, compared, same, same_share, "
            "same_low, same_high, first_ms, last_ms}]}"),
        OPTION_TABLE(options),
    };
    OPTIONS_PARSE_OR_RETURN(&spec, argc, argv, NULL, NULL);
    struct td_error err = {0};
    struct config *config = NULL;
    struct ledger_reader *reader = NULL;
    struct json *models = NULL, *skew = NULL;
    bool printed = true;
    enum td_status status = config_load(config_path, &config, &err);
    if (status == TD_OK)
        status = command_open_ledger(config, &reader, &err);
    if (status == TD_OK)
        status = ledger_reader_models(reader, &models, &err);
    if (status == TD_OK)
        status = ledger_reader_skew(reader, since.wall_ms, &skew, &err);
    if (status == TD_OK) {
        models = with_superseded(opened(models));
        if (json) {
            struct json *object = json_new_object();
            json_put(object, "models", json_clone(models));
            json_put(object, "skew", json_clone(skew));
            printed = command_print_json(object);
        } else {
            command_harmless_begin();
            print_models(models);
            print_skew(skew);
            printed = command_harmless_end(false);
        }
    }
    json_free(models);
    json_free(skew);
    ledger_reader_close(reader);
    config_free(config);
    return status == TD_OK ? !printed : command_fail("models versions", &err);
}

const struct verb verb_models_versions = {"versions", cmd_models_versions,
                                          HELP_TEXT("list the versions of models that answered")};
