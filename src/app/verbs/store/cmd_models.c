/* tandem models: without a verb the local model and the tiers; the verbs have files of their
 * own. */
#define HELP_OF 73
#include "app/cli/command.h"
#include "app/cli/options.h"
#include "app/cli/verb.h"
#include "app/config/config.h"
#include "app/config/packed_help.h"
#include "app/setup/credentials/server_secrets.h"
#include "app/setup/model/model_file.h"
#include "base/core/str.h"
#include "base/json/json.h"
#include "base/text/names.h"
#include "tier/servers.h"

#include <stdio.h>
#include <stdlib.h>

static struct json *local_to_json(const struct config *config, struct td_error *err)
{
    char path[4096];
    struct td_model *model = NULL;
    struct td_model_options options = {0};
    if (model_file_find(config->engine.model, config->models.dir, path, sizeof path, err) !=
            TD_OK ||
        td_model_open(path, &options, &model, err) != TD_OK)
        return NULL;
    const struct td_model_info *info = td_model_get_info(model);
    struct json *object = json_new_object();
    json_put(object, "name", json_new_cstr(info->name));
    json_put(object, "path", json_new_cstr(path));
    json_put(object, "architecture", json_new_cstr(info->architecture));
    json_put(object, "quantization", json_new_cstr(info->quantization));
    json_put(object, "parameter_count", json_new_int((int64_t)info->parameter_count));
    json_put(object, "file_bytes", json_new_int((int64_t)info->file_bytes));
    json_put(object, "context_tokens", json_new_int(info->context_tokens));
    json_put(object, "vocab_count", json_new_int(info->vocab_count));
    json_put(object, "chat_family", json_new_cstr(info->chat_family));
    json_put(object, "fingerprint", json_new_cstr(info->fingerprint));
    td_model_close(model);
    return object;
}

static const char *key_state(const struct config_tier *tier)
{
    if (tier->kind < CONFIG_TIER_SERVER ||
        (!tier->api_key_env && !tier->api_key_file && !tier->key_count))
        return "not needed";
    if (tier->api_key_file)
        return "from a file";
    struct server_secrets secrets = {0};
    bool there = server_secrets_open(tier, &secrets, NULL) == TD_OK && secrets.key_count > 0;
    server_secrets_close(&secrets);
    return there ? "present" : "missing";
}

static struct json *tiers_to_json(const struct config *config)
{
    struct json *array = json_new_array();
    for (size_t i = 0; i < config->tier_count; i++) {
        const struct config_tier *tier = &config->tiers[i];
        const struct tier_server *server = config_tier_server(tier);
        struct json *object = json_new_object();
        json_put(object, "name", json_new_cstr(tier->name));
        json_put(object, "kind",
                 json_new_cstr(server                             ? server->name
                               : tier->kind == CONFIG_TIER_REVIEW ? "review"
                                                                  : "local"));
        json_put(object, "place", json_new_cstr(names_place((enum td_place)tier->place)));
        json_put(object, "model", json_new_cstr(tier->model));
        json_put(object, "base_url", json_new_cstr(tier->base_url));
        json_put(object, "key", json_new_cstr(key_state(tier)));
        json_put(object, "context_tokens", json_new_int(tier->context_tokens));
        json_put(object, "input_usd_per_mtok", json_new_double(tier->input_usd_per_mtok));
        json_put(object, "output_usd_per_mtok", json_new_double(tier->output_usd_per_mtok));
        json_push(array, object);
    }
    return array;
}

static void print_tiers(const struct config *config, const struct json *local)
{
    if (local)
        printf("local model: %s (%s %s, %lld parameters, %lld bytes)\n  %s\n\n",
               json_cstr(json_get(local, "name")), json_cstr(json_get(local, "architecture")),
               json_cstr(json_get(local, "quantization")),
               (long long)json_int(json_get(local, "parameter_count"), 0),
               (long long)json_int(json_get(local, "file_bytes"), 0),
               json_cstr(json_get(local, "path")));
    printf("%-16s %-9s %-25s %-11s %s\n", "tier", "place", "model", "key", "USD/Mtok in/out");
    for (size_t i = 0; i < config->tier_count; i++) {
        const struct config_tier *tier = &config->tiers[i];
        const char *model = tier->model ? tier->model : json_cstr(json_get(local, "name"));
        printf("%-16s %-9s %-25s %-11s %g / %g\n", tier->name,
               names_place((enum td_place)tier->place), model ? model : "-", key_state(tier),
               tier->input_usd_per_mtok, tier->output_usd_per_mtok);
    }
}

static int print_list(const char *config_path, bool json)
{
    struct td_error err = {0}, model_err = {0};
    struct config *config;
    if (config_load(config_path, &config, &err) != TD_OK)
        return command_fail("models", &err);
    struct json *local = local_to_json(config, &model_err);
    bool ok = true;
    if (!local)
        fprintf(stderr, "tandem models: no local model: %s\n", model_err.message);
    if (json) {
        struct json *object = json_new_object();
        json_put(object, "local", local ? local : json_new_null());
        json_put(object, "tiers", tiers_to_json(config));
        ok = command_print_json(object);
    } else {
        print_tiers(config, local);
        json_free(local);
    }
    config_free(config);
    return ok ? 0 : 1;
}

extern const struct verb verb_models_pull, verb_models_list, verb_models_info, verb_models_rm,
    verb_models_prices, verb_models_build, verb_models_mistakes, verb_models_verify,
    verb_models_versions, verb_models_recommend, verb_models_search, verb_models_default, verb_ps,
    verb_stop;

static const struct verb *const verbs[] = {&verb_models_recommend,
                                           &verb_models_search,
                                           &verb_models_pull,
                                           &verb_models_list,
                                           &verb_models_info,
                                           &verb_models_default,
                                           &verb_models_rm,
                                           &verb_ps,
                                           &verb_stop,
                                           &verb_models_prices,
                                           &verb_models_build,
                                           &verb_models_mistakes,
                                           &verb_models_verify,
                                           &verb_models_versions,
                                           NULL};

static int cmd_models(int argc, char **argv)
{
    const struct verb *verb = argc > 1 ? verb_find(verbs, argv[1]) : NULL;
    if (verb)
        return verb->run(argc - 1, argv + 1);
    const char *config = NULL;
    bool json = false;
    const struct option options[] = {OPTION_ROW_CONFIG(config), OPTION_ROW_JSON(json)};
    const struct option_spec spec = {
        .verb = "models",
        .arguments = "[VERB]",
        .summary = HELP_TEXT(
            "Prints the local model and the tiers of the configuration. The verbs work with "
            "downloaded models.\n"
            "\n"
            "  recommend      show models that fit this machine\n"
            "  search WORDS   look for models, here and at the hub\n"
            "  pull SOURCE    download a model\n"
            "  list           list the downloaded models\n"
            "  info [MODEL]   show what a model contains and how much memory it needs\n"
            "  default NAME   make it the one that answers where none is named\n"
            "  rm NAME        remove a downloaded model\n"
            "  ps             list the models that a running server has in memory\n"
            "  build RECIPE   make a model by a recipe\n"
            "  mistakes       collect answers that were wrong, and ask a model again\n"
            "  verify MODEL   check a model against its signed manifest\n"
            "  versions       list the versions of models that answered\n"
            "  prices         show what the tiers' models cost and can, and check it\n"
            "\n"
            "'tandem models VERB --help' explains a verb."),
        OPTION_TABLE(options),
        .positional_max = 1,
    };
    const char *unknown = NULL;
    OPTIONS_PARSE_OR_RETURN(&spec, argc, argv, &unknown, NULL);
    return unknown ? verb_refuse_unknown("models", verbs, unknown) : print_list(config, json);
}

const struct verb verb_models = {"models", cmd_models,
                                 HELP_TEXT("download, list, describe and remove models")};
