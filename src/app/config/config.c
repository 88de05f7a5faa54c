/* Makes a checked struct config of a file. It reads the file by the tables of keys and fills in
 * what is missing (config_defaults.c). Then it checks what concerns several keys (config_check.c)
 * and compiles the rules (config_rules.c). Precedence: command line, environment, file, default. */
#include "app/config/config.h"

#include "app/config/config_check.h"
#include "app/config/config_defaults.h"
#include "app/config/config_rules.h"
#include "app/config/keys.h"
#include "app/config/yaml_tree.h"
#include "base/buf.h"
#include "base/str.h"
#include "tier/servers.h"

#include <assert.h>

/* A 1 MB file becomes nodes and copies; eight times that is far above any real configuration. */
#define CONFIG_ARENA_BYTES (8u << 20)

static enum td_status read_tree(struct config *config, struct td_str text, struct td_error *err)
{
    struct yaml_node *tree;
    enum td_status status = yaml_tree_read(config->label, text, config->arena, &tree, err);
    if (status != TD_OK)
        return status;
    if (tree && tree->kind == YAML_SCALAR && tree->text_len == 0)
        tree = NULL;
    if (tree && tree->kind != YAML_MAP)
        return error_set(err, TD_INVALID, "%s:%u: the file must be a map of keys", config->label,
                         tree->line);
    return keys_read(config->label, &keys_root, tree, "", config->arena, config, err);
}

enum td_status config_parse(const char *label, struct td_str text, config_env_fn *env,
                            void *env_ctx, struct config **out, struct td_error *err)
{
    assert(label && out);
    struct config_environment environment = {env, env_ctx};
    struct arena *arena = arena_new(CONFIG_ARENA_BYTES);
    struct config *config = arena ? arena_alloc(arena, sizeof *config) : NULL;
    enum td_status status;

    *out = NULL;
    if (config) {
        config->arena = arena;
        atomic_init(&config->users, 1);
        config->line = 1;
        config->label = arena_copy(arena, str_from(label));
    }
    if (!config || !config->label) {
        arena_free(arena);
        return error_set(err, TD_NO_MEMORY, "no memory for the configuration");
    }
    status = read_tree(config, text, err);
    if (status == TD_OK)
        status = config_defaults_fill(config, &environment, err);
    if (status == TD_OK)
        status = config_check(config, err);
    if (status == TD_OK)
        status = config_rules_compile(config, err);
    if (status == TD_OK)
        *out = config;
    else
        config_free(config);
    return status;
}

const struct tier_server *config_tier_server(const struct config_tier *tier)
{
    return tier->kind == CONFIG_TIER_LOCAL ? NULL : tier_servers[tier->kind - CONFIG_TIER_SERVER];
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

enum td_status config_load(const char *path, config_env_fn *env, void *env_ctx, struct config **out,
                           struct td_error *err)
{
    struct config_environment environment = {env, env_ctx};
    if (!path)
        path = config_environment_get(&environment, "TANDEM_CONFIG");
    if (!path)
        return config_parse("defaults", STR(""), env, env_ctx, out, err);
    struct buf text;
    buf_init(&text, YAML_BYTES_MAX);
    enum td_status status = buf_read_file(&text, path, err);
    if (status == TD_OK)
        status = config_parse(path, buf_view(&text), env, env_ctx, out, err);
    buf_deinit(&text);
    return status;
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
