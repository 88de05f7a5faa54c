/* From a file to a checked struct config: parse, fill what was left out from the environment and
 * the defaults, then check what one key alone cannot show (names that must exist, keys that
 * exclude each other). Precedence: command line > environment > file > default. */
#include "app/config/config.h"

#include "app/config/config_ramp.h"
#include "app/config/config_reach.h"
#include "app/config/config_rules.h"
#include "app/config/keys.h"
#include "app/config/yaml_tree.h"
#include "base/error.h"
#include "base/str.h"
#include "net/loopback.h"
#include "tandem/engine.h"

#include <stdlib.h>

/* A 1 MB file becomes nodes and copies; eight times that is far above any real configuration. */
#define CONFIG_ARENA_BYTES (8u << 20)

/* Without `tiers` in the file: the engine, and OpenAI if its key is there. Prices of gpt-4o-mini in
 * USD per million tokens, as published by OpenAI (2026-01). */
static const char default_tiers[] = "tiers:\n"
                                    "  - name: local\n"
                                    "    kind: local\n"
                                    "  - name: openai\n"
                                    "    kind: openai\n"
                                    "    place: cloud\n"
                                    "    context_tokens: 128000\n"
                                    "    price: {input_usd_per_mtok: 0.15,"
                                    " output_usd_per_mtok: 0.60}\n";
#define OPENAI_BASE_URL_DEFAULT "https://api.openai.com/v1"
#define OPENAI_MODEL_DEFAULT "gpt-4o-mini"

struct environment {
    config_env_fn *fn;
    void *ctx;
};

static const char *env_get(const struct environment *env, const char *name)
{
    const char *value = env->fn ? env->fn(env->ctx, name) : getenv(name);
    return value && *value ? value : NULL;
}

static enum td_status fail(const struct config *config, uint32_t line, struct td_error *err,
                           const char *what, const char *name)
{
    return error_set(err, TD_INVALID, "%s:%u: %s '%.60s'", config->label, line, what, name);
}

/* --- filling in --- */

static enum td_status fill_tiers(struct config *config, const struct environment *env,
                                 struct td_error *err)
{
    if (config->tier_count == 0) {
        struct yaml_node *tree;
        struct config *defaults = arena_alloc(config->arena, sizeof *defaults);
        if (!defaults)
            return error_set(err, TD_NO_MEMORY, "no memory for the configuration");
        enum td_status status =
            yaml_tree_read("defaults", str_from(default_tiers), config->arena, &tree, err);
        if (status == TD_OK)
            status = keys_read("defaults", &config_root, tree, "", config->arena, defaults, err);
        if (status != TD_OK)
            return status;
        config->tiers = defaults->tiers;
        config->tier_count = defaults->tier_count;
    }
    for (size_t i = 0; i < config->tier_count; i++) {
        struct config_tier *tier = &config->tiers[i];
        bool local = tier->kind == CONFIG_TIER_LOCAL;
        if (tier->place < 0)
            tier->place = local ? TD_PLACE_DEVICE : TD_PLACE_CLOUD;
        if (local)
            continue;
        if (!tier->base_url) {
            tier->base_url = env_get(env, "OPENAI_BASE_URL");
            /* A server of the user's own may need no key: only with one given, or for OpenAI
             * itself, is the tier tied to the variable. */
            bool keyed = !tier->base_url || env_get(env, "OPENAI_API_KEY");
            if (keyed && !tier->api_key_env && !tier->api_key_file)
                tier->api_key_env = "OPENAI_API_KEY";
            if (!tier->base_url)
                tier->base_url = OPENAI_BASE_URL_DEFAULT;
            tier->base_url = arena_copy(config->arena, str_from(tier->base_url));
        }
        if (!tier->model) {
            tier->model = env_get(env, "TANDEM_OPENAI_MODEL");
            tier->model = arena_copy(config->arena,
                                     str_from(tier->model ? tier->model : OPENAI_MODEL_DEFAULT));
        }
        if (!tier->base_url || !tier->model)
            return error_set(err, TD_NO_MEMORY, "no memory for the configuration");
    }
    return TD_OK;
}

/* One hybrid route over all tiers in their order, with the default gates. */
static enum td_status fill_routes(struct config *config, struct td_error *err)
{
    if (config->route_count)
        return TD_OK;
    struct config_route *route = arena_alloc(config->arena, sizeof *route);
    const char **names = arena_alloc_array(config->arena, config->tier_count + 1, sizeof *names);
    if (!route || !names)
        return error_set(err, TD_NO_MEMORY, "no memory for the configuration");
    const struct config_key *routes_key = NULL;
    for (size_t i = 0; i < config_root.key_count; i++)
        if (strcmp(config_root.keys[i].name, "routes") == 0)
            routes_key = &config_root.keys[i];
    enum td_status status =
        keys_read("defaults", routes_key->section, NULL, "routes[0]", config->arena, route, err);
    if (status != TD_OK)
        return status;
    for (size_t i = 0; i < config->tier_count; i++)
        names[i] = config->tiers[i].name;
    route->name = "auto";
    route->kind = ROUTE_HYBRID;
    route->tiers = (struct config_texts){names, config->tier_count};
    config->routes = route;
    config->route_count = 1;
    return TD_OK;
}

static const char *default_state_dir(struct config *config, const struct environment *env)
{
    const char *base = env_get(env, "XDG_STATE_HOME");
    if (base && *base == '/')
        return arena_printf(config->arena, "%s/tandem", base);
    base = env_get(env, "HOME");
    return base ? arena_printf(config->arena, "%s/.local/state/tandem", base) : "/var/lib/tandem";
}

static enum td_status fill_paths(struct config *config, const struct environment *env,
                                 struct td_error *err)
{
    const char *listen = env_get(env, "TANDEM_LISTEN");
    const char *model = env_get(env, "TANDEM_MODEL");
    const char *state = env_get(env, "TANDEM_STATE_DIR");
    const char *models = env_get(env, "TANDEM_MODELS");
    if (listen)
        config->server.listen = arena_copy(config->arena, str_from(listen));
    if (model)
        config->engine.model = arena_copy(config->arena, str_from(model));
    if (state)
        config->state_dir = arena_copy(config->arena, str_from(state));
    else if (!config->state_dir)
        config->state_dir = default_state_dir(config, env);
    if (config->state_dir && !config->ledger.path)
        config->ledger.path = arena_printf(config->arena, "%s/ledger.db", config->state_dir);
    if (config->state_dir && !config->ledger.egress)
        config->ledger.egress = arena_printf(config->arena, "%s/egress", config->state_dir);
    if (models)
        config->models.dir = arena_copy(config->arena, str_from(models));
    else if (config->state_dir && !config->models.dir)
        config->models.dir = arena_printf(config->arena, "%s/models", config->state_dir);
    char host[256] = "";
    uint16_t port = 0;
    if (config->server.listen &&
        !config_listen_split(str_from(config->server.listen), host, sizeof host, &port))
        return error_set(err, TD_INVALID, "%s: server.listen must be HOST:PORT, not '%.60s'",
                         listen ? "TANDEM_LISTEN" : config->label, config->server.listen);
    config->server.host = arena_copy(config->arena, str_from(host));
    config->server.port = port;
    if (!config->server.listen || !config->state_dir || !config->ledger.path ||
        !config->ledger.egress || !config->models.dir || !config->server.host ||
        (model && !config->engine.model))
        return error_set(err, TD_NO_MEMORY, "no memory for the configuration");
    return TD_OK;
}

bool config_listen_split(struct td_str listen, char *host, size_t size, uint16_t *port)
{
    size_t colon = listen.len;
    while (colon > 0 && listen.data[colon - 1] != ':')
        colon--;
    if (colon == 0)
        return false;
    struct td_str name = str_slice(listen, 0, colon - 1);
    uint64_t number;
    if (!str_to_u64(str_slice(listen, colon, listen.len), &number) || number > UINT16_MAX)
        return false;
    if (name.len >= 2 && name.data[0] == '[' && name.data[name.len - 1] == ']')
        name = str_slice(name, 1, name.len - 1);
    else if (name.len && memchr(name.data, ':', name.len))
        return false; /* IPv6 needs its brackets */
    if (name.len == 0)
        name = STR("0.0.0.0");
    if (name.len >= size || memchr(name.data, 0, name.len))
        return false;
    memcpy(host, name.data, name.len);
    host[name.len] = '\0';
    *port = (uint16_t)number;
    return true;
}

/* --- checks across keys --- */

static bool name_is_plain(const char *name)
{
    size_t len = strlen(name);
    if (len == 0 || len > 64)
        return false;
    for (size_t i = 0; i < len; i++) {
        unsigned char c = (unsigned char)name[i];
        if (c <= ' ' || c >= 0x7f || c == '"' || c == '\\')
            return false;
    }
    return true;
}

/* "sha256//BASE64" of 32 bytes, or several joined by ';'. As strict as can be: the HTTP library
 * compares texts, so that another spelling of a right key would be a wrong one. */
static bool pin_is_valid(struct td_str pin)
{
    static const struct td_str prefix = {"sha256//", 8};
    static const char letters[] =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    static const char last_letters[] = "AEIMQUYcgkosw048"; /* of which four bits are used */
    enum { HASH_LETTERS = 43, PIN_BYTES = 8 + HASH_LETTERS + 1 };
    for (;;) {
        const char *hash = pin.data + prefix.len;
        if (pin.len < PIN_BYTES || !str_equal(str_slice(pin, 0, prefix.len), prefix))
            return false;
        for (size_t i = 0; i < HASH_LETTERS; i++)
            if (!memchr(i + 1 < HASH_LETTERS ? letters : last_letters, hash[i],
                        i + 1 < HASH_LETTERS ? 64 : 16))
                return false;
        if (hash[HASH_LETTERS] != '=')
            return false;
        if (pin.len == PIN_BYTES)
            return true;
        if (pin.data[PIN_BYTES] != ';')
            return false;
        pin = str_slice(pin, PIN_BYTES + 1, pin.len);
    }
}

static enum td_status check_pin(const struct config *config, const struct config_tier *tier,
                                struct td_error *err)
{
    if (!tier->pinned_key)
        return TD_OK;
    if (!pin_is_valid(str_from(tier->pinned_key)))
        return fail(config, tier->line, err,
                    "pinned_key must be sha256// and the 44 characters of a SHA-256 in base64, "
                    "several joined by ';' (docs/egress.md says how to get it), not",
                    tier->pinned_key);
    if (strncmp(tier->base_url, "https://", 8) != 0)
        return fail(config, tier->line, err,
                    "pinned_key needs https://: plain http shows no key, at", tier->base_url);
    return TD_OK;
}

static enum td_status check_tier(const struct config *config, size_t index, struct td_error *err)
{
    const struct config_tier *tier = &config->tiers[index];
    if (!name_is_plain(tier->name))
        return fail(config, tier->line, err, "a name is 1 to 64 visible ASCII characters, not",
                    tier->name);
    for (size_t i = 0; i < index; i++) {
        if (strcmp(config->tiers[i].name, tier->name) == 0)
            return fail(config, tier->line, err, "two tiers have the name", tier->name);
        if (tier->kind == CONFIG_TIER_LOCAL && config->tiers[i].kind == CONFIG_TIER_LOCAL)
            return fail(config, tier->line, err, "only one tier may be of kind local: also",
                        tier->name);
    }
    if (tier->kind == CONFIG_TIER_LOCAL) {
        if (tier->place != TD_PLACE_DEVICE)
            return fail(config, tier->line, err, "a local tier is on the device; drop place from",
                        tier->name);
        if (tier->base_url || tier->api_key_env || tier->api_key_file || tier->pinned_key)
            return fail(config, tier->line, err,
                        "base_url and keys do not belong to the local tier", tier->name);
        if (tier->model)
            return fail(config, tier->line, err,
                        "the local tier runs engine.model: name the file there, not as its model",
                        tier->model);
        return TD_OK;
    }
    if (tier->api_key_env && tier->api_key_file)
        return fail(config, tier->line, err, "give api_key_env or api_key_file, not both, in",
                    tier->name);
    if (strncmp(tier->base_url, "https://", 8) != 0 && strncmp(tier->base_url, "http://", 7) != 0)
        return fail(config, tier->line, err, "base_url must begin with https:// or http://, not",
                    tier->base_url);
    /* Nothing is kept back from the device: the word alone must not make one of another machine. */
    if (tier->place == TD_PLACE_DEVICE && !loopback_is_url(str_from(tier->base_url)))
        return error_set(err, TD_INVALID,
                         "%s:%u: tier '%.64s' is elsewhere (%.100s): place: device is for "
                         "127.0.0.1, [::1] and localhost; write place: premises, region or cloud",
                         config->label, tier->line, tier->name, tier->base_url);
    return check_pin(config, tier, err);
}

static enum td_status check_adapter(const struct config *config, size_t index, struct td_error *err)
{
    const struct config_adapter *adapter = &config->engine.adapters[index];
    uint32_t always = 0;
    if (!name_is_plain(adapter->name))
        return fail(config, adapter->line, err, "a name is 1 to 64 visible ASCII characters, not",
                    adapter->name);
    for (size_t i = 0; i < index; i++)
        if (strcmp(config->engine.adapters[i].name, adapter->name) == 0)
            return fail(config, adapter->line, err, "two adapters have the name", adapter->name);
    for (size_t i = 0; i <= index; i++)
        always += config->engine.adapters[i].always;
    if (always > TD_ADAPTERS_MAX)
        return fail(config, adapter->line, err, "too many adapters (over 8) are always on, with",
                    adapter->name);
    bool taken = strcmp(adapter->name, "auto") == 0;
    for (size_t i = 0; i < config->tier_count; i++)
        taken = taken || strcmp(config->tiers[i].name, adapter->name) == 0;
    for (size_t i = 0; i < config->route_count; i++)
        taken = taken || strcmp(config->routes[i].name, adapter->name) == 0;
    if (taken)
        return fail(config, adapter->line, err,
                    "an adapter shares its name with a route or tier:", adapter->name);
    return TD_OK;
}

static enum td_status check_app(const struct config *config, size_t index, struct td_error *err)
{
    const struct config_app *app = &config->apps[index];
    if (!name_is_plain(app->name))
        return fail(config, app->line, err, "a name is 1 to 64 visible ASCII characters, not",
                    app->name);
    for (size_t i = 0; i < index; i++)
        if (strcmp(config->apps[i].name, app->name) == 0)
            return fail(config, app->line, err, "two apps have the name", app->name);
    if (!!app->key_env + !!app->key_file + !!app->key_sha256 != 1)
        return fail(config, app->line, err, "give one of key_env, key_file and key_sha256 in app",
                    app->name);
    if (app->key_sha256 &&
        (strlen(app->key_sha256) != 64 || strspn(app->key_sha256, "0123456789abcdef") != 64))
        return fail(config, app->line, err, "key_sha256 is 64 small hex digits, in app", app->name);
    return TD_OK;
}

static enum td_status check_budget(const struct config *config, size_t index, struct td_error *err)
{
    const struct config_budget *budget = &config->budgets[index];
    if (!name_is_plain(budget->name))
        return fail(config, budget->line, err, "a name is 1 to 64 visible ASCII characters, not",
                    budget->name);
    for (size_t i = 0; i < index; i++)
        if (strcmp(config->budgets[i].name, budget->name) == 0)
            return fail(config, budget->line, err, "two budgets have the name", budget->name);
    return TD_OK;
}

static bool route_has_tier(const struct config_route *route, const char *name)
{
    for (size_t i = 0; i < route->tiers.count; i++)
        if (strcmp(route->tiers.items[i], name) == 0)
            return true;
    return false;
}

static const struct config_tier *tier_find(const struct config *config, const char *name)
{
    for (size_t i = 0; i < config->tier_count; i++)
        if (strcmp(config->tiers[i].name, name) == 0)
            return &config->tiers[i];
    return NULL;
}

static enum td_status check_ladder(const struct config *config, const struct config_route *route,
                                   struct td_error *err)
{
    const char *names[CONFIG_TIERS_MAX];
    size_t name_count = 0;
    for (; name_count < config->tier_count && name_count < CONFIG_TIERS_MAX; name_count++)
        names[name_count] = config->tiers[name_count].name;
    for (size_t i = 0; i < route->tiers.count; i++) {
        const char *name = route->tiers.items[i];
        if (!tier_find(config, name)) {
            const char *near = str_nearest(str_from(name), names, name_count);
            return error_set(err, TD_INVALID,
                             "%s:%u: route '%s' names an unknown tier '%.60s'%s%s%s", config->label,
                             route->line, route->name, name, near ? "; did you mean '" : "",
                             near ? near : "", near ? "'?" : "");
        }
        for (size_t j = 0; j < i; j++)
            if (strcmp(route->tiers.items[j], name) == 0)
                return fail(config, route->line, err, "a ladder names a tier twice:", name);
    }
    if (route->tiers.count == 0)
        return fail(config, route->line, err, "a ladder must name a tier: route", route->name);
    if (route->start && !route_has_tier(route, route->start))
        return fail(config, route->line, err, "start is not on the route's ladder:", route->start);
    return TD_OK;
}

/* The declared kind must be possible with the ladder, else every request would end in an empty
 * one. */
/* A share that nothing would ever draw from is a mistake that nobody would see. */
static enum td_status check_shadow(const struct config *config, const struct config_route *route,
                                   bool on_device, bool elsewhere, struct td_error *err)
{
    bool any_device = false;
    for (size_t i = 0; i < config->tier_count; i++)
        any_device = any_device || config->tiers[i].place == TD_PLACE_DEVICE;
    if (route->shadow_edge_share > 0 && !(any_device && elsewhere))
        return fail(config, route->line, err,
                    "shadow.edge_share needs a tier on the device and a route to another: route",
                    route->name);
    if (route->shadow_cloud_share > 0 && !(on_device && elsewhere))
        return fail(config, route->line, err,
                    "shadow.cloud_share needs a route to the device and to another tier: route",
                    route->name);
    if ((route->shadow_edge_share > 0 || route->shadow_cloud_share > 0) &&
        (route->zero_retention || config->privacy.zero_retention))
        return fail(config, route->line, err,
                    "zero_retention leaves a shadow nothing to compare: route", route->name);
    return TD_OK;
}

static enum td_status check_route(const struct config *config, size_t index, struct td_error *err)
{
    const struct config_route *route = &config->routes[index];
    if (!name_is_plain(route->name))
        return fail(config, route->line, err, "a name is 1 to 64 visible ASCII characters, not",
                    route->name);
    for (size_t i = 0; i < index; i++)
        if (strcmp(config->routes[i].name, route->name) == 0)
            return fail(config, route->line, err, "two routes have the name", route->name);
    if (index > 0 && strcmp(route->name, "auto") == 0)
        return fail(config, route->line, err, "only the first route may be called", route->name);
    if (tier_find(config, route->name))
        return fail(config, route->line, err, "a route and a tier share the name", route->name);
    enum td_status status = check_ladder(config, route, err);
    if (status != TD_OK)
        return status;
    bool on_device = false, elsewhere = false;
    for (size_t i = 0; i < route->tiers.count; i++) {
        bool device = tier_find(config, route->tiers.items[i])->place == TD_PLACE_DEVICE;
        on_device = on_device || device;
        elsewhere = elsewhere || !device;
    }
    if (route->kind == ROUTE_LOCAL_ONLY && elsewhere)
        return fail(config, route->line, err,
                    "a local-only route may list only tiers on the device: route", route->name);
    if (route->kind == ROUTE_CLOUD_ONLY && on_device)
        return fail(config, route->line, err,
                    "a cloud-only route may not list a tier on the device: route", route->name);
    status = check_shadow(config, route, on_device, elsewhere, err);
    return status == TD_OK ? config_ramp_check(config, route, err) : status;
}

static enum td_status check(const struct config *config, struct td_error *err)
{
    enum td_status status = TD_OK;
    if (config->server.api_keys_env && config->server.api_keys_file)
        return fail(config, config->line, err, "give only one of api_keys_env and api_keys_file in",
                    "server");
    if ((config->engine.speculation == TD_SPECULATION_DRAFT) !=
        (config->engine.draft_model != NULL))
        return error_set(err, TD_INVALID,
                         "%s: engine.speculation: draft and engine.draft_model: FILE go together",
                         config->label);
    for (size_t i = 0; i < config->tier_count && status == TD_OK; i++)
        status = check_tier(config, i, err);
    for (size_t i = 0; i < config->route_count && status == TD_OK; i++)
        status = check_route(config, i, err);
    for (size_t i = 0; i < config->engine.adapter_count && status == TD_OK; i++)
        status = check_adapter(config, i, err);
    for (size_t i = 0; i < config->app_count && status == TD_OK; i++)
        status = check_app(config, i, err);
    for (size_t i = 0; i < config->budget_count && status == TD_OK; i++)
        status = check_budget(config, i, err);
    if (status == TD_OK && config->privacy.zero_retention && config->ledger.store_prompts)
        status = error_set(err, TD_INVALID,
                           "%s: privacy.zero_retention and ledger.store_prompts exclude each other",
                           config->label);
    return status == TD_OK ? config_reach_check(config, err) : status;
}

/* --- loading --- */

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
    return keys_read(config->label, &config_root, tree, "", config->arena, config, err);
}

enum td_status config_parse(const char *label, struct td_str text, config_env_fn *env,
                            void *env_ctx, struct config **out, struct td_error *err)
{
    struct environment environment = {env, env_ctx};
    struct arena *arena = arena_new(CONFIG_ARENA_BYTES);
    struct config *config = arena ? arena_alloc(arena, sizeof *config) : NULL;
    enum td_status status;

    *out = NULL;
    if (config) {
        config->arena = arena;
        config->line = 1;
        config->label = arena_copy(arena, str_from(label));
    }
    if (!config || !config->label) {
        arena_free(arena);
        return error_set(err, TD_NO_MEMORY, "no memory for the configuration");
    }
    status = read_tree(config, text, err);
    if (status == TD_OK)
        status = fill_paths(config, &environment, err);
    if (status == TD_OK)
        status = fill_tiers(config, &environment, err);
    if (status == TD_OK)
        status = fill_routes(config, err);
    if (status == TD_OK)
        status = check(config, err);
    if (status == TD_OK)
        status = config_rules_compile(config, err);
    if (status == TD_OK)
        *out = config;
    else
        config_free(config);
    return status;
}

enum td_status config_load(const char *path, config_env_fn *env, void *env_ctx, struct config **out,
                           struct td_error *err)
{
    struct environment environment = {env, env_ctx};
    if (!path)
        path = env_get(&environment, "TANDEM_CONFIG");
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

void config_free(struct config *config)
{
    if (config)
        arena_free(config->arena); /* the struct lies in it */
}
