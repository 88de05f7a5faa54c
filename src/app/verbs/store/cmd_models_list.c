/* tandem models list: the folder of downloaded models, each opened to say whether it can be
 * used. */
#define HELP_OF 76
#include "app/cli/command.h"
#include "app/cli/options.h"
#include "app/cli/verb.h"
#include "app/config/config.h"
#include "app/config/packed_help.h"
#include "app/setup/model/adapter_file.h"
#include "app/setup/model/model_age.h"
#include "app/setup/model/model_store.h"
#include "base/core/str.h"
#include "base/json/json.h"
#include "base/time/clock.h"
#include "engine/gguf/gguf_split.h"

#include <stdio.h>
#include <sys/stat.h>

struct listing {
    bool json;
    const struct config *config;
    struct json *models;
    size_t count;
};

static const char *dir_of(const char *given, const struct config *config)
{
    return given ? given : config->models.dir;
}

static void describe(const char *path, struct json *object)
{
    struct td_error err = {0};
    struct td_model *model = NULL;
    struct td_model_options options = {0};
    struct adapter_file adapter;
    bool opened = td_model_open(path, &options, &model, &err) == TD_OK;
    if (!opened && adapter_file_read(path, &adapter)) {
        json_put(object, "kind", json_new_cstr("adapter"));
        json_put(object, "usable", json_new_bool(true));
        json_put(object, "adapter", adapter_file_to_json(&adapter));
        return;
    }
    json_put(object, "kind", json_new_cstr("model"));
    if (!opened) {
        json_put(object, "usable", json_new_bool(false));
        json_put(object, "problem", json_new_cstr(err.message));
        return;
    }
    const struct td_model_info *info = td_model_get_info(model);
    json_put(object, "usable", json_new_bool(true));
    json_put(object, "architecture", json_new_cstr(info->architecture));
    json_put(object, "quantization", json_new_cstr(info->quantization));
    json_put(object, "parameter_count", json_new_int((int64_t)info->parameter_count));
    json_put(object, "context_tokens", json_new_int(info->context_tokens));
    td_model_close(model);
}

static const char *text_or(const char *text, const char *otherwise)
{
    return text ? text : otherwise;
}

static void print_row(const struct json *object)
{
    double size = (double)json_int(json_get(object, "bytes"), 0) / 1e6;
    const char *name = json_cstr(json_get(object, "name"));
    const struct json *adapter;
    if (json_bool(json_get(object, "partial"), false))
        printf("%-44s %9.1f MB  unfinished; pull it again to go on\n", name, size);
    else if ((adapter = json_get(object, "adapter")))
        printf("%-44s %9.1f MB  LoRA adapter for %s, rank %lld, %lld tensors: --lora FILE\n", name,
               size, text_or(json_cstr(json_get(adapter, "base_architecture")), "?"),
               (long long)json_int(json_get(adapter, "rank"), 0),
               (long long)json_int(json_get(adapter, "tensors"), 0));
    else if (!json_bool(json_get(object, "usable"), false))
        printf("%-44s %9.1f MB  cannot be used: %s\n", name, size,
               json_cstr(json_get(object, "problem")));
    else
        printf("%-44s %9.1f MB  %-8s %-7s %8.1f M parameters, made %s%s\n", name, size,
               json_cstr(json_get(object, "architecture")),
               json_cstr(json_get(object, "quantization")),
               (double)json_int(json_get(object, "parameter_count"), 0) / 1e6,
               text_or(json_cstr(json_get(object, "made")), "?"),
               json_bool(json_get(object, "too_old"), false) ? ", too old" : "");
}

/* A model in several files is one row, that of its first file. *more: the bytes of the others. */
static bool stands_for_model(const char *path, uint64_t *more)
{
    char other[4400];
    struct gguf_part_name part;
    struct stat file;
    *more = 0;
    if (!gguf_part_parse(path, &part))
        return true;
    if (part.number > 1)
        return !gguf_part_format(other, sizeof other, path, &part, 1) || stat(other, &file) != 0;
    for (uint32_t i = 2; i <= part.count; i++)
        if (gguf_part_format(other, sizeof other, path, &part, i) && stat(other, &file) == 0)
            *more += (uint64_t)file.st_size;
    return true;
}

static void put_age(const struct config *config, const char *path, struct json *object)
{
    char day[MODEL_DAY_BYTES];
    double days;
    uint32_t most = config->models.max_age_days;
    if (!model_age_read(path, clock_wall_ms(NULL), day, &days))
        return;
    json_put(object, "made", json_new_cstr(day));
    json_put(object, "age_days", json_new_int((int64_t)days));
    json_put(object, "too_old", json_new_bool(most && days > most));
}

static bool visit(void *ctx, const char *name, const char *path, bool part)
{
    struct listing *listing = ctx;
    struct stat file;
    struct model_origin origin;
    uint64_t more = 0;
    if (!part && !stands_for_model(path, &more))
        return true;
    struct json *object = json_new_object();
    json_put(object, "name", json_new_text(str_slice(str_from(name), 0, strlen(name) - 5)));
    json_put(object, "path", json_new_cstr(path));
    /* Of a part, what it takes on the disk: there may be holes. */
    if (stat(path, &file) == 0)
        json_put(object, "bytes",
                 json_new_int(part ? (int64_t)file.st_blocks * 512 : file.st_size + (int64_t)more));
    json_put(object, "partial", json_new_bool(part));
    if (!part) {
        model_origin_read(path, &origin);
        json_put(object, "sha256", origin.known ? json_new_cstr(origin.sha256) : json_new_null());
        put_age(listing->config, path, object);
        describe(path, object);
    }
    listing->count++;
    if (listing->json) {
        json_push(listing->models, object);
    } else {
        command_harmless_begin();
        print_row(object);
        (void)command_harmless_end(false);
        json_free(object);
    }
    return true;
}

static int cmd_models_list(int argc, char **argv)
{
    const char *config_path = NULL, *dir = NULL;
    bool json = false;
    const struct option options[] = {
        OPTION_ROW_CONFIG(config_path),
        {"dir", 'd', OPTION_TEXT, &dir, "FOLDER",
         HELP_TEXT("the model folder; default: models.dir of the configuration, or TANDEM_MODELS"),
         0, 0},
        OPTION_ROW_JSON(json),
    };
    const struct option_spec spec = {
        .verb = "models list",
        .summary =
            HELP_TEXT("Lists the downloaded models, and the downloads that are not complete."),
        OPTION_TABLE(options),
    };
    OPTIONS_PARSE_OR_RETURN(&spec, argc, argv, NULL, NULL);
    struct td_error err = {0};
    struct config *config = NULL;
    struct listing listing = {.json = json};
    bool printed = true;
    enum td_status status = config_load(config_path, &config, &err);
    if (status == TD_OK) {
        listing.models = json_new_array();
        listing.config = config;
        status = model_store_walk(dir_of(dir, config), visit, &listing, &err);
    }
    if (status == TD_OK && json) {
        struct json *object = json_new_object();
        json_put(object, "dir", json_new_cstr(dir_of(dir, config)));
        json_put(object, "models", listing.models);
        printed = command_print_json(object);
    } else {
        json_free(listing.models);
        if (status == TD_OK && listing.count == 0)
            printf("no models in %s; 'tandem models pull' fetches one\n", dir_of(dir, config));
    }
    config_free(config);
    return status == TD_OK ? !printed : command_fail("models list", &err);
}

const struct verb verb_models_list = {"list", cmd_models_list,
                                      HELP_TEXT("list the downloaded models")};
const struct verb verb_models_ls = {"ls", cmd_models_list, HELP_TEXT("list the downloaded models")};
