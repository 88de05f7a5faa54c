/* tandem models search: the catalogue first, which asks nobody, then the hub. */
#define HELP_OF 81
#include "app/cli/command.h"
#include "app/cli/options.h"
#include "app/cli/verb.h"
#include "app/config/packed_help.h"
#include "app/setup/model/catalog.h"
#include "app/setup/model/hub.h"
#include "app/store/pull.h"
#include "base/core/str.h"
#include "base/json/json.h"

#include <stdio.h>
#include <strings.h>

static bool has_part(const char *text, const char *part)
{
    size_t len = strlen(part);
    for (; *text; text++)
        if (strncasecmp(text, part, len) == 0)
            return true;
    return false;
}

static void print_known(const struct catalog *catalog, const char *words)
{
    for (size_t i = 0; catalog && i < catalog_count(catalog); i++) {
        const struct catalog_model *model = catalog_at(catalog, i);
        if (has_part(model->name, words) || has_part(model->good_at, words) ||
            has_part(model->source, words))
            printf("%-17s %5.1f GB  %-10s  %s\n", model->name, (double)model->bytes / 1e9,
                   model->licence, model->good_at);
    }
}

static void print_found(const struct json *list, const char *endpoint)
{
    printf("\nAt %.60s, the most downloaded first:\n", endpoint);
    for (size_t i = 0; i < json_count(list); i++) {
        const struct json *row = json_at(list, i);
        printf("hf:%-54s %9lld  %s\n", json_cstr(json_get(row, "name")),
               (long long)json_int(json_get(row, "downloads"), 0),
               json_cstr(json_get(row, "licence")));
    }
    if (json_count(list))
        printf("\nNext: tandem models pull hf:%s:" HUB_QUANTIZATION "\n",
               json_cstr(json_get(json_at(list, 0), "name")));
    else
        printf("nothing with GGUF files\n");
}

static int cmd_models_search(int argc, char **argv)
{
    struct pull pull = {0}; /* for where the hub is */
    bool json = false, printed = true;
    const char *words[1] = {NULL};
    size_t count = 0;
    const struct option options[] = {OPTION_ROW_CONFIG(pull.config_path), OPTION_ROW_JSON(json)};
    const struct option_spec spec = {
        .verb = "models search",
        .arguments = "WORDS",
        .summary =
            HELP_TEXT("Looks for models in the list of 'tandem models recommend', and asks the hub "
                      "for repositories with GGUF files. The words go to the hub: "
                      "https://huggingface.co, or what models.mirror or HF_ENDPOINT names."),
        .json = HELP_TEXT("[{name, downloads, licence}] of the hub"),
        OPTION_TABLE(options),
        .positional_max = 1,
    };
    OPTIONS_PARSE_OR_RETURN(&spec, argc, argv, words, &count);
    if (count != 1 || !*words[0])
        return options_misuse("models search", "say what to look for: tandem models search qwen");
    struct td_error err = {0}, ignored = {0};
    struct catalog *catalog = NULL;
    struct json *list = NULL;
    enum td_status status = pull_open(&pull, &err);
    if (status == TD_OK && !json && catalog_open(pull.config, &catalog, &ignored) == TD_OK)
        print_known(catalog, words[0]);
    fflush(stdout);
    if (status == TD_OK) {
        const struct hub hub = {pull.endpoint, pull.token_origin, pull.config->models.ca_file,
                                pull.cancel};
        status = hub_search(&hub, words[0], &list, &err);
    }
    if (status == TD_OK && json) {
        printed = command_print_json(json_clone(list));
    } else if (status == TD_OK) {
        command_harmless_begin();
        print_found(list, pull.endpoint);
        printed = command_harmless_end(false);
    }
    json_free(list);
    catalog_free(catalog);
    config_free(pull.config);
    return status == TD_OK ? !printed : command_fail_as("models search", &err, json);
}

const struct verb verb_models_search = {
    "search", cmd_models_search, HELP_TEXT("look for models by a word, here and at the hub")};
