/* What the file leaves out: values of the environment, and defaults that depend on others. A
 * variable that overrides the file replaces its value here, too. */
#include "app/config/config_defaults.h"

#include "app/config/config_listen.h"
#include "app/config/keys.h"
#include "base/core/error.h"
#include "base/core/str.h"
#include "net/client/loopback.h"
#include "tier/cards/model_cards.h"
#include "tier/servers.h"

#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <unistd.h>

/* Without `tiers` in the file: the engine, and the clouds whose keys are there. Where none is,
 * OpenAI stands for them, so that a reason can say which key is missing. */
static const struct {
    const char *key_env, *tier;
    bool otherwise; /* also where no key is there */
} default_clouds[] = {
    /* Its prices are those of gpt-6-luna (2026-11); the model's own win (tier/cards/). */
    {"OPENAI_API_KEY",
     "  - {name: openai, kind: openai, place: cloud, context_tokens: 922000,"
     " price: {input_usd_per_mtok: 0.10, output_usd_per_mtok: 0.50}}\n",
     true},
    {"ANTHROPIC_API_KEY", "  - {name: anthropic, kind: anthropic, place: cloud}\n", false},
};

const char *config_environment_get(const struct config_environment *env, const char *name)
{
    const char *value = env->fn ? env->fn(env->ctx, name) : getenv(name);
    return value && *value ? value : NULL;
}

static enum td_status no_memory(struct td_error *err)
{
    return error_set(err, TD_NO_MEMORY, "no memory for the configuration");
}

static const char *default_tiers(struct config *config, const struct config_environment *env)
{
    const char *text = "tiers:\n  - {name: local, kind: local}\n";
    bool any = false;
    for (size_t i = 0; i < sizeof default_clouds / sizeof *default_clouds; i++)
        any = any || config_environment_get(env, default_clouds[i].key_env);
    for (size_t i = 0; text && i < sizeof default_clouds / sizeof *default_clouds; i++)
        if (any ? config_environment_get(env, default_clouds[i].key_env) != NULL
                : default_clouds[i].otherwise)
            text = arena_printf(config->arena, "%s%s", text, default_clouds[i].tier);
    return text;
}

static enum td_status take_default_tiers(struct config *config,
                                         const struct config_environment *env, struct td_error *err)
{
    const char *text = default_tiers(config, env);
    struct yaml_node *tree;
    struct config *defaults = arena_alloc(config->arena, sizeof *defaults);
    if (!defaults || !text)
        return no_memory(err);
    enum td_status status = yaml_tree_read("defaults", str_from(text), config->arena, &tree, err);
    if (status == TD_OK)
        status = keys_read_own("defaults", &keys_root, tree, config->arena, defaults, err);
    config->tiers = defaults->tiers;
    config->tier_count = defaults->tier_count;
    for (size_t i = 0; i < config->tier_count; i++)
        config->tiers[i].assumed = true;
    return status;
}

/* A server of the user's own may need no key, and must not get another one's. So the tier gets the
 * kind's key where the server is the kind's own; where the environment names it, only when the key
 * is set. */
static void fill_key(struct config_tier *tier, bool addressed, bool by_environment,
                     const struct config_environment *env)
{
    const struct tier_server *kind = config_tier_server(tier);
    bool always_own = !kind->base_url; /* each account has its address */
    bool needed = !kind->of_ones_own && (!by_environment || always_own);
    if (tier->api_key_env || tier->api_key_file || tier->key_count || tier->token_command.count ||
        !kind->key_env || (addressed && !always_own))
        return;
    if (needed || config_environment_get(env, kind->key_env))
        tier->api_key_env = kind->key_env;
}

/* The value of the variable, else the text; NULL when there is none of them. */
static enum td_status fill_from(struct config *config, const struct config_environment *env,
                                const char *variable, const char *text, const char **out,
                                struct td_error *err)
{
    const char *value = variable ? config_environment_get(env, variable) : NULL;
    if (!value && !text)
        return TD_OK;
    *out = arena_copy(config->arena, str_from(value ? value : text));
    return *out ? TD_OK : no_memory(err);
}

static enum td_status demand(const struct config *config, const struct config_tier *tier,
                             const char *key, const char *variable, struct td_error *err)
{
    return error_set(err, TD_INVALID, "%s:%u: tier '%.60s' of kind %s needs a %s%s%s",
                     config->label, tier->line, tier->name, config_tier_server(tier)->name, key,
                     variable ? ", or the variable " : "", variable ? variable : "");
}

static unsigned modalities_of(unsigned takes)
{
    return CONFIG_MODALITY_TEXT | (takes & CAPABILITY_IMAGE ? CONFIG_MODALITY_IMAGE : 0u) |
           (takes & CAPABILITY_AUDIO ? CONFIG_MODALITY_AUDIO : 0u) |
           (takes & CAPABILITY_FILE ? CONFIG_MODALITY_FILE : 0u);
}

static unsigned takes_of(const struct model_card *card)
{
    return (card->abilities & CARD_IMAGE ? CAPABILITY_IMAGE : 0u) |
           (card->abilities & CARD_AUDIO ? CAPABILITY_AUDIO : 0u) |
           (card->abilities & CARD_FILE ? CAPABILITY_FILE : 0u);
}

const struct model_card *config_model_card(const struct config_tier *tier, const char *model)
{
    if (tier->kind < CONFIG_TIER_SERVER) /* also one that is refused later for having models */
        return NULL;
    const struct tier_server *kind = config_tier_server(tier);
    bool own = !kind->base_url || strcmp(tier->base_url, kind->base_url) == 0 || tier->assumed;
    return own ? model_card_find(kind->name, model) : NULL;
}

static bool is_priced(const struct config_tier *tier)
{
    return !isnan(tier->input_usd_per_mtok) || !isnan(tier->output_usd_per_mtok) ||
           !isnan(tier->cached_input_usd_per_mtok);
}

static void take_prices(const struct model_card *card, struct config_tier *to)
{
    to->input_usd_per_mtok = card->input_usd;
    to->output_usd_per_mtok = card->output_usd;
    to->cached_input_usd_per_mtok = card->cached_usd;
    to->priced_by_card = true;
}

/* A price that somebody has written down always wins. */
static void fill_facts(struct config_tier *tier)
{
    const struct model_card *card = config_model_card(tier, tier->model);
    if (card && !isnan(card->input_usd) && !isnan(card->output_usd) &&
        (!is_priced(tier) || tier->assumed))
        take_prices(card, tier);
    if (card && card->context_tokens && (!tier->context_tokens || tier->assumed))
        tier->context_tokens = card->context_tokens;
    if (isnan(tier->input_usd_per_mtok))
        tier->input_usd_per_mtok = 0;
    if (isnan(tier->output_usd_per_mtok))
        tier->output_usd_per_mtok = 0;
    tier->calls_no_tools = card && card->abilities && !(card->abilities & CARD_TOOLS);
}

/* What the model's card says, else the kind of servers at its own address; of others nothing is
 * known. */
static void fill_abilities(struct config_tier *tier)
{
    const struct tier_server *kind = config_tier_server(tier);
    const struct model_card *card = config_model_card(tier, tier->model);
    bool own = kind->base_url && strcmp(tier->base_url, kind->base_url) == 0;
    if (!tier->modalities)
        tier->modalities = modalities_of(card && card->abilities ? takes_of(card)
                                         : own                   ? kind->takes
                                                                 : 0u);
    if (tier->completions < 0)
        tier->completions = kind->completions;
    if (tier->prefill < 0)
        tier->prefill = (int)kind->prefill;
    if (tier->place < 0)
        tier->place = kind->of_ones_own && loopback_is_url(str_from(tier->base_url))
                          ? TD_PLACE_DEVICE
                          : TD_PLACE_CLOUD;
}

/* As the clients of AWS find it. A region becomes part of a host's name. */
static enum td_status fill_region(struct config *config, struct config_tier *tier,
                                  const struct config_environment *env, struct td_error *err)
{
    const char *service = config_tier_server(tier)->by_region;
    const char *region = tier->region;
    if (!region)
        region = config_environment_get(env, "AWS_REGION");
    if (!region)
        region = config_environment_get(env, "AWS_DEFAULT_REGION");
    if (!region && !tier->base_url)
        return demand(config, tier, "region", "AWS_REGION", err);
    if (!region)
        return TD_OK;
    if (strspn(region, "abcdefghijklmnopqrstuvwxyz0123456789-") != strlen(region))
        return error_set(err, TD_INVALID, "%s:%u: '%.40s' is no region of AWS", config->label,
                         tier->line, region);
    tier->region = arena_copy(config->arena, str_from(region));
    if (!tier->base_url)
        tier->base_url =
            arena_printf(config->arena, "https://%s.%s.amazonaws.com", service, region);
    return tier->region && tier->base_url ? TD_OK : no_memory(err);
}

/* Said here, because the file has no line that could be corrected. */
static enum td_status check_variable_address(const struct config *config,
                                             const struct config_tier *tier, struct td_error *err)
{
    struct td_str url = str_from(tier->base_url);
    if (str_starts_with(url, STR("https://")) || str_starts_with(url, STR("http://")))
        return TD_OK;
    return error_set(err, TD_INVALID, "%s: %s must begin with https:// or http://, not '%.60s'",
                     config->label, config_tier_server(tier)->base_url_env, tier->base_url);
}

static enum td_status fill_server_tier(struct config *config, struct config_tier *tier,
                                       const struct config_environment *env, struct td_error *err)
{
    const struct tier_server *kind = config_tier_server(tier);
    enum td_status status = TD_OK;
    bool addressed = tier->base_url != NULL;
    bool by_environment = kind->base_url_env && config_environment_get(env, kind->base_url_env);
    if (!addressed)
        status = fill_from(config, env, kind->base_url_env, kind->base_url, &tier->base_url, err);
    if (status == TD_OK && !addressed && by_environment)
        status = check_variable_address(config, tier, err);
    if (status == TD_OK && kind->by_region)
        status = fill_region(config, tier, env, err);
    fill_key(tier, addressed, by_environment, env);
    tier->model_assumed = !tier->model;
    if (status == TD_OK && !tier->model)
        status = fill_from(config, env, kind->model_env, kind->model, &tier->model, err);
    if (status == TD_OK && !tier->api_version && kind->api_version_env)
        status = fill_from(config, env, kind->api_version_env, NULL, &tier->api_version, err);
    if (status != TD_OK)
        return status;
    if (!tier->base_url)
        return demand(config, tier, "base_url", kind->base_url_env, err);
    if (!tier->model)
        return demand(config, tier, "model", kind->model_env, err);
    fill_abilities(tier);
    return TD_OK;
}

/* What a further model leaves out is the tier's. One without prices must not pass for free. */
static enum td_status fill_models(struct config *config, struct config_tier *tier, bool priced,
                                  struct td_error *err)
{
    tier->served = arena_alloc_array(config->arena, tier->model_count + 1, sizeof *tier->served);
    if (!tier->served)
        return no_memory(err);
    for (size_t i = 0; i < tier->model_count; i++) {
        struct config_tier *model = &tier->models[i];
        const struct model_card *card = priced ? NULL : config_model_card(tier, model->name);
        if (card && !is_priced(model) && !isnan(card->input_usd) && !isnan(card->output_usd))
            take_prices(card, model);
        if (card && !model->context_tokens)
            model->context_tokens = card->context_tokens;
        if (card && card->abilities && !model->modalities)
            model->modalities = modalities_of(takes_of(card));
        model->priced_by_tier = !is_priced(model);
        if (isnan(model->cached_input_usd_per_mtok))
            model->cached_input_usd_per_mtok = isnan(model->input_usd_per_mtok)
                                                   ? tier->cached_input_usd_per_mtok
                                                   : model->input_usd_per_mtok;
        if (isnan(model->input_usd_per_mtok))
            model->input_usd_per_mtok = tier->input_usd_per_mtok;
        if (isnan(model->output_usd_per_mtok))
            model->output_usd_per_mtok = tier->output_usd_per_mtok;
        if (isnan(model->cached_input_usd_per_mtok))
            model->cached_input_usd_per_mtok = model->input_usd_per_mtok;
        tier->served[i] = (struct tier_model){
            .name = model->name,
            .context_tokens = model->context_tokens ? model->context_tokens : tier->context_tokens,
            .input_usd_per_mtok = model->input_usd_per_mtok,
            .output_usd_per_mtok = model->output_usd_per_mtok,
            .cached_input_usd_per_mtok = model->cached_input_usd_per_mtok,
            .lacks =
                config_modalities_lack(model->modalities ? model->modalities : tier->modalities),
        };
    }
    return TD_OK;
}

static enum td_status fill_tiers(struct config *config, const struct config_environment *env,
                                 struct td_error *err)
{
    enum td_status status = config->tier_count ? TD_OK : take_default_tiers(config, env, err);
    for (size_t i = 0; i < config->tier_count && status == TD_OK; i++) {
        struct config_tier *tier = &config->tiers[i];
        if (tier->kind == CONFIG_TIER_LOCAL && tier->place < 0)
            tier->place = TD_PLACE_DEVICE;
        if (tier->kind == CONFIG_TIER_REVIEW && tier->place < 0)
            tier->place = TD_PLACE_PREMISES;
        if (tier->kind >= CONFIG_TIER_SERVER)
            status = fill_server_tier(config, tier, env, err);
        bool priced = is_priced(tier);
        if (status == TD_OK)
            fill_facts(tier);
        if (status == TD_OK)
            status = fill_models(config, tier, priced, err);
    }
    return status;
}

/* Numbers for the embedded model, and whose they are. */
static void fill_gates(struct config *config)
{
    for (size_t i = 0; i < config->route_count; i++) {
        struct gate_settings *gates = &config->routes[i].gates;
        gates->g2_given = !isnan(gates->g2_confidence_min);
        gates->g3_given = !isnan(gates->g3_confidence_min);
        if (!gates->g2_given)
            gates->g2_confidence_min = 0.35;
        if (!gates->g3_given)
            gates->g3_confidence_min = 0.55;
    }
}

/* One hybrid route over all tiers in their order, with the default gates. */
static enum td_status fill_routes(struct config *config, struct td_error *err)
{
    if (config->route_count)
        return TD_OK;
    struct config_route *route = arena_alloc(config->arena, sizeof *route);
    const char **names = arena_alloc_array(config->arena, config->tier_count + 1, sizeof *names);
    if (!route || !names)
        return no_memory(err);
    enum td_status status = keys_read_own("defaults", &keys_route, NULL, config->arena, route, err);
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

static const char *default_state_dir(struct config *config, const struct config_environment *env)
{
    const char *base = config_environment_get(env, "XDG_STATE_HOME");
    if (base && *base == '/')
        return arena_printf(config->arena, "%s/tandem", base);
    base = config_environment_get(env, "HOME");
    return base ? arena_printf(config->arena, "%s/.local/state/tandem", base) : "/var/lib/tandem";
}

/* The default is this name in the state folder. */
static enum td_status fill_path(struct config *config, const char **member, const char *name,
                                struct td_error *err)
{
    if (!*member)
        *member = arena_printf(config->arena, "%s/%s", config->state_dir, name);
    return *member ? TD_OK : no_memory(err);
}

/* A ledger is named by its path or its URL; what waits for a database is on this disk. */
static enum td_status fill_ledger(struct config *config, struct td_error *err)
{
    if (config->state && config->ledger.database &&
        strcmp(config->state, config->ledger.database) != 0)
        return error_set(err, TD_INVALID,
                         "%s: state and ledger.database name two databases; leave ledger.database "
                         "out",
                         config->label);
    if (config->state)
        config->ledger.database = config->state;
    const char *database = config->ledger.database;
    if (!database)
        return fill_path(config, &config->ledger.path, "ledger.db", err);
    if (config->ledger.path)
        return error_set(err, TD_INVALID,
                         "%s: ledger.path and %s exclude each other: a ledger is a file or a "
                         "database",
                         config->label, config->state ? "state" : "ledger.database");
    if (!strstr(database, "://"))
        return error_set(err, TD_INVALID,
                         "%s: %s must be postgresql://USER@HOST/DATABASE, not '%.60s'",
                         config->label, config->state ? "state" : "ledger.database", database);
    config->ledger.path = database;
    return fill_path(config, &config->ledger.waiting, "ledger-waiting.jsonl", err);
}

static enum td_status fill_cluster(struct config *config, struct td_error *err)
{
    char host[HOST_NAME_MAX + 1] = "";
    if (config->cluster.node)
        return TD_OK;
    if (gethostname(host, sizeof host - 1) != 0)
        return error_set(err, TD_IO, "this host has no name: set cluster.node");
    config->cluster.node = arena_copy(config->arena, str_from(host));
    return config->cluster.node ? TD_OK : no_memory(err);
}

static enum td_status fill_paths(struct config *config, const struct config_environment *env,
                                 struct td_error *err)
{
    if (!config->state_dir)
        config->state_dir = default_state_dir(config, env);
    enum td_status status = config->state_dir ? TD_OK : no_memory(err);
    if (status == TD_OK)
        status = fill_path(config, &config->models.dir, "models", err);
    if (status == TD_OK)
        status = fill_ledger(config, err);
    if (status == TD_OK)
        status = fill_cluster(config, err);
    if (status == TD_OK)
        status = fill_path(config, &config->files.directory, "files", err);
    if (status == TD_OK)
        status = fill_path(config, &config->deferral.path, "deferred.db", err);
    return status == TD_OK ? fill_path(config, &config->ledger.egress, "egress", err) : status;
}

static enum td_status fill_listen(struct config *config, struct td_error *err)
{
    static const char *near_only[] = {"127.0.0.1:8080", NULL};
    if (!config->server.listens.count)
        config->server.listens = (struct config_texts){near_only, 1};
    const struct yaml_node *listen = yaml_tree_get(yaml_tree_get(config->tree, "server"), "listen");
    const char *where = listen && listen->variable
                            ? listen->variable
                            : arena_printf(config->arena, "%s: server.listen", config->label);
    return where ? config_listen_fill(config, NULL, where, err) : no_memory(err);
}

enum td_status config_defaults_fill(struct config *config, const struct config_environment *env,
                                    struct td_error *err)
{
    enum td_status status = fill_paths(config, env, err);
    if (status == TD_OK)
        status = fill_listen(config, err);
    if (status == TD_OK)
        status = fill_tiers(config, env, err);
    if (status == TD_OK)
        status = fill_routes(config, err);
    fill_gates(config);
    return status;
}
