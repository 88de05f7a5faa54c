/* Makes a checked struct config of a file. It reads the file by the tables of keys and fills in
 * what is missing (config_defaults.c). Then it checks what concerns several keys (config_check.c)
 * and compiles the rules (config_rules.c). Precedence: command line, environment, file, default. */
#include "app/config/config.h"

#include "app/config/config_check.h"
#include "app/config/config_defaults.h"
#include "app/config/config_rules.h"
#include "app/config/keys.h"
#include "app/config/overrides.h"
#include "app/config/yaml_tree.h"
#include "base/bytes/buf.h"
#include "base/core/assertion.h"
#include "base/core/str.h"
#include "tier/servers.h"

#include <stdlib.h>
#include <unistd.h>

/* A 1 MB file becomes nodes and copies; eight times that is far above any real configuration. */
#define CONFIG_ARENA_BYTES (8u << 20)

static bool read_tree(struct config *config, struct td_str text, char *const *variables,
                      const struct config_environment *env, const struct keys_source *source)
{
    struct td_error err = {0};
    struct yaml_node *tree;
    if (yaml_tree_read(config->label, text, config->arena, &tree, &err) != TD_OK)
        return config_mistakes_add(source->mistakes, "%s", err.message);
    if (tree && tree->kind == YAML_SCALAR && tree->text_len == 0)
        tree = NULL;
    if (tree && tree->kind != YAML_MAP)
        return config_mistakes_add(source->mistakes, "%s:%u: the file must be a map of keys",
                                   config->label, tree->line);
    config_overrides_apply(variables, env, source, &tree);
    config->tree = tree;
    return keys_read(source, &keys_root, tree, "", config) && source->mistakes->count == 0;
}

/* Each step needs a tree, or a struct, in which the step before found nothing wrong. */
static enum td_status fill(struct config *config, struct td_str text, char *const *variables,
                           const struct config_environment *env, struct config_mistakes *mistakes,
                           struct td_error *err)
{
    const struct keys_source source = {config->label, config->arena, mistakes};
    enum td_status status = read_tree(config, text, variables, env, &source)
                                ? config_defaults_fill(config, env, err)
                                : config_mistakes_status(mistakes, err);
    if (status == TD_OK) {
        config_check(config, mistakes);
        status = config_mistakes_status(mistakes, err);
    }
    if (status == TD_OK)
        status = config_rules_compile(config, err);
    if (status == TD_INVALID && mistakes->count == 0)
        config_mistakes_add(mistakes, "%s", err->message);
    return status;
}

static enum td_status parse(const char *label, struct td_str text,
                            const struct config_environment *env, struct config_mistakes *mistakes,
                            struct config **out, struct td_error *err)
{
    struct arena *arena = arena_new(CONFIG_ARENA_BYTES);
    struct config *config = arena ? arena_alloc(arena, sizeof *config) : NULL;

    *out = NULL;
    if (config) {
        config->arena = arena;
        atomic_init(&config->users, 1);
        config->line = 1;
        config->label = arena_copy(arena, str_from(label));
        config->text = (struct td_str){arena_copy(arena, text), text.len};
    }
    if (!config || !config->label || !config->text.data) {
        arena_free(arena);
        return error_set(err, TD_NO_MEMORY, "no memory for the configuration");
    }
    enum td_status status = fill(config, text, env->fn ? NULL : environ, env, mistakes, err);
    if (status == TD_OK)
        *out = config;
    else
        config_free(config);
    return status;
}

enum td_status config_parse(const char *label, struct td_str text, config_env_fn *env,
                            void *env_ctx, struct config **out, struct td_error *err)
{
    ASSERT(label && out);
    const struct config_environment environment = {env, env_ctx};
    struct config_mistakes *mistakes = calloc(1, sizeof *mistakes);
    *out = NULL;
    enum td_status status = mistakes
                                ? parse(label, text, &environment, mistakes, out, err)
                                : error_set(err, TD_NO_MEMORY, "no memory for the configuration");
    free(mistakes);
    return status;
}

const struct tier_server *config_tier_server(const struct config_tier *tier)
{
    return tier->kind < CONFIG_TIER_SERVER ? NULL : tier_servers[tier->kind - CONFIG_TIER_SERVER];
}

struct tier_server_options config_tier_options(const struct config_tier *tier)
{
    return (struct tier_server_options){
        .server = config_tier_server(tier),
        .base_url = tier->base_url,
        .api_version = tier->api_version,
        .allow_http = tier->allow_http,
        .ca_file = tier->ca_file,
        .pinned_key = tier->pinned_key,
        .connect_timeout_ms = tier->connect_timeout_ms,
        .first_timeout_ms = tier->first_timeout_ms,
        .idle_timeout_ms = tier->idle_timeout_ms,
        .total_timeout_ms = tier->total_timeout_ms,
        .pad_bytes = tier->pad_bytes,
    };
}

bool config_tier_runs_engine_model(const struct config_tier *tier)
{
    return tier->kind == CONFIG_TIER_LOCAL && !tier->model;
}

const struct config_tier *config_tier_find(const struct config *config, const char *name)
{
    for (size_t i = 0; i < config->tier_count; i++)
        if (strcmp(config->tiers[i].name, name) == 0)
            return &config->tiers[i];
    return NULL;
}

struct error_suggestion config_suggest_tier(const struct config *config, const char *name)
{
    const char *names[CONFIG_TIERS_MAX];
    size_t count = 0;
    for (; count < config->tier_count && count < CONFIG_TIERS_MAX; count++)
        names[count] = config->tiers[count].name;
    return error_suggest(str_from(name), names, count);
}

bool config_route_lists(const struct config_route *route, const char *tier)
{
    for (size_t i = 0; i < route->tiers.count; i++)
        if (strcmp(route->tiers.items[i], tier) == 0)
            return true;
    return false;
}

unsigned config_modalities_lack(uint32_t modalities)
{
    return (modalities & CONFIG_MODALITY_IMAGE ? 0u : CAPABILITY_IMAGE) |
           (modalities & CONFIG_MODALITY_AUDIO ? 0u : CAPABILITY_AUDIO) |
           (modalities & CONFIG_MODALITY_FILE ? 0u : CAPABILITY_FILE);
}

static enum td_status load(const char *path, struct config_mistakes *mistakes, struct config **out,
                           struct td_error *err)
{
    const struct config_environment environment = {NULL, NULL};
    struct buf text;
    buf_init(&text, YAML_BYTES_MAX);
    *out = NULL;
    if (!path)
        path = config_environment_get(&environment, "TANDEM_CONFIG");
    enum td_status status = path ? buf_read_file(&text, path, err) : TD_OK;
    if (status == TD_OK && path && text.len == 0) {
        /* A full disk or an editor leaves such a file: the defaults would open what it closed. */
        config_mistakes_add(mistakes, "%s: is empty; without a file the defaults hold", path);
        status = config_mistakes_status(mistakes, err);
    }
    if (status == TD_OK)
        status = parse(path ? path : "defaults", buf_view(&text), &environment, mistakes, out, err);
    buf_deinit(&text);
    return status;
}

enum td_status config_load(const char *path, struct config **out, struct td_error *err)
{
    struct config_mistakes *mistakes = calloc(1, sizeof *mistakes);
    *out = NULL;
    enum td_status status = mistakes
                                ? load(path, mistakes, out, err)
                                : error_set(err, TD_NO_MEMORY, "no memory for the configuration");
    free(mistakes);
    return status;
}

/* Of the file at `path`, or where `text` is one, of that. */
static struct config_mistakes *find_mistakes(const char *path, const struct td_str *text)
{
    const struct config_environment environment = {NULL, NULL};
    struct config_mistakes *mistakes = calloc(1, sizeof *mistakes);
    struct config *config = NULL;
    struct td_error err = {0};
    if (mistakes &&
        (text ? parse(path, *text, &environment, mistakes, &config, &err)
              : load(path, mistakes, &config, &err)) != TD_OK &&
        mistakes->count)
        return mistakes;
    config_free(config);
    free(mistakes);
    return NULL;
}

struct config_mistakes *config_find_mistakes(const char *path)
{
    return find_mistakes(path, NULL);
}

struct config_mistakes *config_find_mistakes_in(const char *label, struct td_str text)
{
    return find_mistakes(label, &text);
}

struct config *config_hold(struct config *config)
{
    atomic_fetch_add_explicit(&config->users, 1, memory_order_relaxed);
    return config;
}

void config_free(struct config *config)
{
    if (config && atomic_fetch_sub_explicit(&config->users, 1, memory_order_acq_rel) == 1)
        arena_free(config->arena); /* the struct lies in it */
}
