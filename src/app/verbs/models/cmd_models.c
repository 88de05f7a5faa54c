/* tandem models: without a verb the local model and the tiers; the verbs have files of their
 * own. */
#include "app/verbs/models/cmd_models.h"
#include "app/cli/options.h"
#include "app/config/config.h"
#include "app/setup/model/model_file.h"
#include "base/json.h"
#include "base/names.h"
#include "base/str.h"

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
    if (tier->kind == CONFIG_TIER_LOCAL || (!tier->api_key_env && !tier->api_key_file))
        return "not needed";
    if (tier->api_key_file)
        return "from a file";
    const char *value = getenv(tier->api_key_env);
    return value && *value ? "present" : "missing";
}

static struct json *tiers_to_json(const struct config *config)
{
    struct json *array = json_new_array();
    for (size_t i = 0; i < config->tier_count; i++) {
        const struct config_tier *tier = &config->tiers[i];
        struct json *object = json_new_object();
        json_put(object, "name", json_new_cstr(tier->name));
        json_put(object, "kind",
                 json_new_cstr(tier->kind == CONFIG_TIER_LOCAL ? "local" : "openai"));
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
    printf("%-16s %-9s %-28s %-12s %s\n", "tier", "place", "model", "key", "USD per Mtok in/out");
    for (size_t i = 0; i < config->tier_count; i++) {
        const struct config_tier *tier = &config->tiers[i];
        const char *model = tier->model ? tier->model : json_cstr(json_get(local, "name"));
        printf("%-16s %-9s %-28s %-12s %g / %g\n", tier->name,
               names_place((enum td_place)tier->place), model ? model : "-", key_state(tier),
               tier->input_usd_per_mtok, tier->output_usd_per_mtok);
    }
}

static int print_list(const char *config_path, bool json)
{
    struct td_error err = {0}, model_err = {0};
    struct config *config;
    if (config_load(config_path, NULL, NULL, &config, &err) != TD_OK)
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

static const struct verb {
    const char *name;
    command_fn *run;
} verbs[] = {{"pull", cmd_models_pull},
             {"list", cmd_models_list},
             {"info", cmd_models_info},
             {"rm", cmd_models_rm}};

int cmd_models(int argc, char **argv)
{
    for (size_t i = 0; argc > 1 && i < sizeof verbs / sizeof *verbs; i++)
        if (strcmp(argv[1], verbs[i].name) == 0)
            return verbs[i].run(argc - 1, argv + 1);
    const char *config = NULL;
    bool json = false;
    const struct option options[] = {OPTION_ROW_CONFIG(config), OPTION_ROW_JSON(json)};
    const struct option_spec spec = {
        "models",
        "[pull SOURCE | list | info [MODEL] | rm NAME]",
        "Lists the local model and the tiers of the configuration.\n"
        "  models pull SOURCE  fetches a model (hf:ORG/REPO:FILE, an address, a file)\n"
        "  models list         pulled models\n"
        "  models info MODEL   what is in a model and what it needs\n"
        "  models rm NAME      removes a pulled model\n"
        "Each explains itself with --help.",
        options,
        sizeof options / sizeof *options,
        1};
    const char *arguments[1] = {NULL};
    size_t count = 0;
    OPTIONS_PARSE_OR_RETURN(&spec, argc, argv, arguments, &count);
    if (count == 0)
        return print_list(config, json);
    const char *names[sizeof verbs / sizeof *verbs];
    for (size_t i = 0; i < sizeof verbs / sizeof *verbs; i++)
        names[i] = verbs[i].name;
    const char *near = str_nearest(str_from(arguments[0]), names, sizeof names / sizeof *names);
    fprintf(stderr,
            "tandem models: unknown verb '%.60s'%s%s%s; there are pull, list, info and rm\n",
            arguments[0], near ? "; did you mean '" : "", near ? near : "", near ? "'" : "");
    return 2;
}
