#include "app/snapshot.h"

#include "app/adapter_table.h"
#include "app/class_rules.h"
#include "app/confidence_file.h"
#include "app/key_source.h"
#include "app/pseudonym_setup.h"
#include "app/router_file.h"
#include "app/threshold_file.h"
#include "base/crypto.h"
#include "base/error.h"
#include "base/log.h"
#include "base/str.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

struct snapshot {
    struct exchange_services services; /* first: snapshot_of casts back */
    atomic_uint user_count;
    struct config *config;
    struct policy policy;
    struct route routes[CONFIG_ROUTES_MAX];
    struct pseudonym_settings pseudonyms;
    char version[17];
    struct tier *tiers[CONFIG_TIERS_MAX];
    struct secret *keys[CONFIG_TIERS_MAX];
    struct adapter_table adapters;
    struct classifier *classifier;       /* NULL = none */
    struct confidence_model *confidence; /* NULL = none, or not of this model */
    struct thresholds *thresholds[CONFIG_ROUTES_MAX][THRESHOLD_GATE_COUNT]; /* NULL = none */
};

/* Over everything that decides: the same file with other comments has the same version. */
static void write_version(const struct snapshot *snapshot, char out[static 17])
{
    const struct config *config = snapshot->config;
    const struct classifier *classifier = snapshot->classifier;
    struct buf text;
    buf_init(&text, 1u << 20);
    for (size_t i = 0; i < config->tier_count; i++) {
        const struct config_tier *tier = &config->tiers[i];
        buf_printf(&text, "tier %s %d %d %s %s %u %.17g %.17g\n", tier->name, tier->kind,
                   tier->place, tier->model ? tier->model : "",
                   tier->base_url ? tier->base_url : "", tier->context_tokens,
                   tier->input_usd_per_mtok, tier->output_usd_per_mtok);
    }
    for (size_t i = 0; i < config->route_count; i++) {
        const struct config_route *route = &config->routes[i];
        buf_printf(
            &text,
            "route %s %d %s %d %d %u %.17g %.17g %.17g %u %.17g %u %.17g %.17g %.17g %.17g %u",
            route->name, route->kind, route->start ? route->start : "", route->data_class,
            route->mode, route->g0_tokens_over, route->g0_gain_over, route->g0_p_local_under,
            route->g1_probe_min, route->g2_tokens, route->g2_confidence_min, route->g2_every,
            route->g2_abandon_under, route->g3_confidence_min, route->hopeless_under,
            route->human_under, route->commit_tokens);
        for (size_t t = 0; t < route->tiers.count; t++)
            buf_printf(&text, " %s", route->tiers.items[t]);
        buf_append_char(&text, '\n');
        for (int gate = 0; gate < THRESHOLD_GATE_COUNT; gate++)
            if (snapshot->thresholds[i][gate])
                thresholds_write(snapshot->thresholds[i][gate], &text);
    }
    for (size_t i = 0; i < config->engine.adapter_count; i++) {
        const struct config_adapter *adapter = &config->engine.adapters[i];
        buf_printf(&text, "adapter %s %s %.17g %d\n", adapter->name, adapter->file, adapter->scale,
                   adapter->always);
    }
    buf_printf(&text, "classifier %016llx\n",
               classifier ? (unsigned long long)classifier_hash(classifier) : 0);
    if (snapshot->confidence)
        buf_printf(&text, "confidence %s\n", snapshot->confidence->digest);
    buf_printf(&text, "pseudonyms %d\n", config->privacy.pseudonyms.on);
    buf_printf(&text, "class %d prompts %d\n", config->privacy.data_class,
               config->ledger.store_prompts);
    uint8_t digest[CRYPTO_SHA256_BYTES];
    crypto_sha256(text.data, text.len, digest);
    crypto_hex(digest, 8, out);
    buf_deinit(&text);
}

static void fill_policy(struct snapshot *snapshot)
{
    const struct config *config = snapshot->config;
    for (size_t i = 0; i < config->route_count; i++) {
        const struct config_route *from = &config->routes[i];
        struct route *to = &snapshot->routes[i];
        int data_class = from->data_class > config->privacy.data_class ? from->data_class
                                                                       : config->privacy.data_class;
        *to = (struct route){
            .name = from->name,
            .kind = (enum route_kind)from->kind,
            .tier_count = from->tiers.count,
            .start = from->start,
            .data_class = (enum td_data_class)data_class,
            .pseudonyms = from->pseudonyms,
            .mode = (enum td_mode)from->mode,
            .gates = {.g0_tokens_over = from->g0_tokens_over,
                      .g0_gain_over = from->g0_gain_over,
                      .g0_p_local_under = from->g0_p_local_under,
                      .g1_on = from->g1_probe_min > 0,
                      .g1_probe_min = from->g1_probe_min,
                      .g2_on = from->g2_tokens > 0 && from->g2_confidence_min > 0,
                      .g2_tokens = from->g2_tokens,
                      .g2_confidence_min = from->g2_confidence_min,
                      .g2_every = from->g2_every,
                      .g2_abandon_under = from->g2_abandon_under,
                      .g3_on = from->g3_confidence_min > 0,
                      .g3_confidence_min = from->g3_confidence_min,
                      .hopeless_under = from->hopeless_under,
                      .human_under = from->human_under,
                      .commit_tokens = from->commit_tokens},
        };
        for (size_t t = 0; t < from->tiers.count && t < RUNGS_MAX; t++)
            to->tiers[t] = from->tiers.items[t];
        for (int gate = 0; gate < THRESHOLD_GATE_COUNT; gate++)
            to->gates.thresholds[gate] = snapshot->thresholds[i][gate];
    }
    write_version(snapshot, snapshot->version);
    snapshot->policy = (struct policy){.version = snapshot->version,
                                       .routes = snapshot->routes,
                                       .route_count = config->route_count};
}

static enum td_status make_local(struct snapshot *snapshot, size_t index, struct tier_facts *facts,
                                 const struct snapshot_base *base, struct td_error *err)
{
    const struct adapter_table *before = base->before ? &base->before->adapters : NULL;
    struct tier_local_options options = {.model = base->model,
                                         .scheduler = base->scheduler,
                                         .adapters = snapshot->adapters.adapters,
                                         .sandbox = base->sandbox};
    enum td_status status =
        adapter_table_load(&snapshot->adapters, snapshot->config, base->model, before, err);
    if (status != TD_OK)
        return status;
    facts->adapters = snapshot->adapters.names;
    facts->adapter_count = snapshot->adapters.count;
    return tier_local_new(facts, &options, &snapshot->tiers[index], err);
}

static enum td_status make_tier(struct snapshot *snapshot, size_t index,
                                const struct snapshot_base *base, struct td_error *err)
{
    const struct config_tier *from = &snapshot->config->tiers[index];
    struct tier_facts facts = {
        .name = from->name,
        .model = from->model,
        .place = (enum td_place)from->place,
        .context_tokens = from->context_tokens,
        .input_usd_per_mtok = from->input_usd_per_mtok,
        .output_usd_per_mtok = from->output_usd_per_mtok,
        .has_key = true,
        .pseudonyms = from->pseudonyms,
        .key_hint = from->api_key_env ? from->api_key_env : from->api_key_file,
    };
    class_rules_apply(snapshot->config, from, &facts);
    if (from->kind == CONFIG_TIER_LOCAL) {
        if (!base->model)
            return error_set(err, TD_INVALID,
                             "tier '%s': no local model is loaded; a new local "
                             "tier needs a restart",
                             from->name);
        if (!facts.model)
            facts.model = td_model_get_info(base->model)->name;
        if (facts.context_tokens == 0 || facts.context_tokens > base->context_tokens)
            facts.context_tokens = base->context_tokens;
        facts.confidence_temperature =
            (double)td_model_get_info(base->model)->calibration.temperature;
        facts.confidence_bias = (double)td_model_get_info(base->model)->calibration.bias;
        facts.confidence_model = snapshot->confidence;
        return make_local(snapshot, index, &facts, base, err);
    }
    facts.lacks = from->completions ? 0 : CAPABILITY_COMPLETION;
    enum td_status status = TD_OK;
    if (!base->confined)
        status =
            key_source_read(from->api_key_env, from->api_key_file, &snapshot->keys[index], err);
    if (status != TD_OK)
        return status;
    facts.has_key = snapshot->keys[index] || (!from->api_key_env && !from->api_key_file);
    struct tier_openai_options options = {
        .base_url = from->base_url,
        .api_key = snapshot->keys[index],
        .allow_http = from->allow_http,
        .ca_file = from->ca_file,
        .connect_timeout_ms = from->connect_timeout_ms,
        .first_timeout_ms = from->first_timeout_ms,
        .idle_timeout_ms = from->idle_timeout_ms,
        .total_timeout_ms = from->total_timeout_ms,
        .egress = base->egress,
    };
    return tier_openai_new(&facts, &options, &snapshot->tiers[index], err);
}

static void snapshot_free(struct snapshot *snapshot)
{
    for (size_t i = 0; i < CONFIG_TIERS_MAX; i++) {
        if (snapshot->tiers[i])
            tier_free(snapshot->tiers[i]);
        secret_free(snapshot->keys[i]);
    }
    adapter_table_deinit(&snapshot->adapters);
    classifier_close(snapshot->classifier);
    free(snapshot->confidence);
    for (size_t i = 0; i < CONFIG_ROUTES_MAX; i++)
        for (int gate = 0; gate < THRESHOLD_GATE_COUNT; gate++)
            free(snapshot->thresholds[i][gate]);
    tier_health_free(snapshot->services.health);
    config_free(snapshot->config);
    free(snapshot);
}

/* The default classifier may be missing as long as no gate asks for one; a named one may not. */
static enum td_status open_classifier(struct snapshot *snapshot, struct td_error *err)
{
    const struct config *config = snapshot->config;
    const char *path = config->router.classifier;
    if (path && strcmp(path, "none") == 0)
        path = NULL;
    else if (path || router_file_has_default())
        return router_file_open(path, &snapshot->classifier, err);
    for (size_t i = 0; i < config->route_count; i++)
        if (config->routes[i].g0_gain_over > 0 || config->routes[i].g0_p_local_under > 0 ||
            config->routes[i].thresholds[THRESHOLD_G0])
            return error_set(
                err, TD_INVALID,
                "%s:%u: route '%s' has a gate on what a classifier says, and there is none: "
                "name one with router.classifier",
                config->label, config->routes[i].line, config->routes[i].name);
    return TD_OK;
}

/* One that belongs to something else is not used, and said to be: its numbers would be wrong. */
static enum td_status open_confidence(struct snapshot *snapshot,
                                      const struct confidence_binding *identity,
                                      struct td_error *err)
{
    char why[160] = "there is no local model";
    const char *path = snapshot->config->router.confidence;
    if (!path)
        return TD_OK;
    enum td_status status = confidence_file_read(path, &snapshot->confidence, err);
    if (status != TD_OK)
        return status;
    if (identity && confidence_file_fits(snapshot->confidence, identity, why)) {
        snapshot->services.confidence_state = CONFIDENCE_CALIBRATED;
        return TD_OK;
    }
    log_event(LOG_LEVEL_WARN, "confidence_stale", "file=%s used=rule reason=\"%s\"", path, why);
    snapshot->services.confidence_state = CONFIDENCE_STALE;
    free(snapshot->confidence);
    snapshot->confidence = NULL;
    return TD_OK;
}

/* Thresholds on confidences of another making would keep what they must not: the fixed number holds
 * until they are tuned again. */
static void drop_foreign(struct snapshot *snapshot, size_t route)
{
    struct thresholds **of = &snapshot->thresholds[route][THRESHOLD_G3];
    const char *made = snapshot->confidence ? snapshot->confidence->digest : "";
    if (!*of || strcmp((*of)->confidence, made) == 0)
        return;
    log_event(LOG_LEVEL_WARN, "thresholds_stale",
              "file=%s route=%s used=confidence_min reason=\"they were tuned on confidences of "
              "another model of confidence\"",
              snapshot->config->routes[route].thresholds[THRESHOLD_G3],
              snapshot->config->routes[route].name);
    free(*of);
    *of = NULL;
}

static enum td_status read_thresholds(struct snapshot *snapshot, struct td_error *err)
{
    const struct config *config = snapshot->config;
    for (size_t i = 0; i < config->route_count; i++) {
        for (int gate = 0; gate < THRESHOLD_GATE_COUNT; gate++) {
            if (!config->routes[i].thresholds[gate])
                continue;
            enum td_status status =
                threshold_file_read(config->routes[i].thresholds[gate], (enum threshold_gate)gate,
                                    &snapshot->thresholds[i][gate], err);
            if (status != TD_OK) {
                error_prefix(err, "%s:%u: route '%s'", config->label, config->routes[i].line,
                             config->routes[i].name);
                return status;
            }
        }
        drop_foreign(snapshot, i);
    }
    return TD_OK;
}

/* What decides where an answer comes from; the confined worker does not. */
static enum td_status open_judges(struct snapshot *snapshot, const struct snapshot_base *base,
                                  struct td_error *err)
{
    enum td_status status = open_classifier(snapshot, err);
    if (status == TD_OK)
        status = open_confidence(snapshot, base->identity, err);
    return status == TD_OK ? read_thresholds(snapshot, err) : status;
}

enum td_status snapshot_new(struct config *config, const struct snapshot_base *base,
                            struct snapshot **out, struct td_error *err)
{
    struct snapshot *snapshot = calloc(1, sizeof *snapshot);
    enum td_status status = TD_OK;
    if (!snapshot) {
        config_free(config);
        return error_set(err, TD_NO_MEMORY, "no memory for the configuration");
    }
    snapshot->config = config;
    atomic_init(&snapshot->user_count, 1);
    if (!base->confined)
        status = open_judges(snapshot, base, err);
    fill_policy(snapshot);
    struct exchange_services *services = &snapshot->services;
    *services = (struct exchange_services){
        .policy = &snapshot->policy,
        .confidence_state = services->confidence_state,
        .classifier = snapshot->classifier,
        .tiers = snapshot->tiers,
        .tier_count = config->tier_count,
        .health = tier_health_new(config->tier_count),
        .classes = base->classes,
        .minimise = config->privacy.minimise,
        .pseudonyms =
            config->privacy.pseudonyms.on && !base->confined ? &snapshot->pseudonyms : NULL,
        .ledger = base->ledger,
        .watch = base->watch,
        .escalations_per_hour = config->watch.escalations_per_hour,
        .clock = &clock_system,
        .all_cloud_tier = SIZE_MAX,
        .store_prompts = config->ledger.store_prompts,
        .deadline_ms = config->server.deadline_ms,
    };
    snapshot->pseudonyms.vaults = base->vaults;
    if (status == TD_OK)
        status = pseudonym_setup_rules(config, &snapshot->pseudonyms.rules, err);
    if (!services->health && status == TD_OK)
        status = error_set(err, TD_NO_MEMORY, "no memory for the tiers");
    for (size_t i = 0; i < config->tier_count && status == TD_OK; i++) {
        status = make_tier(snapshot, i, base, err);
        if (config->tiers[i].place == TD_PLACE_CLOUD && services->all_cloud_tier == SIZE_MAX)
            services->all_cloud_tier = i;
    }
    if (status == TD_OK)
        *out = snapshot;
    else
        snapshot_free(snapshot);
    return status;
}

struct snapshot *snapshot_hold(struct snapshot *snapshot)
{
    atomic_fetch_add_explicit(&snapshot->user_count, 1, memory_order_relaxed);
    return snapshot;
}

void snapshot_drop(struct snapshot *snapshot)
{
    if (snapshot && atomic_fetch_sub_explicit(&snapshot->user_count, 1, memory_order_acq_rel) == 1)
        snapshot_free(snapshot);
}

struct exchange_services *snapshot_services(struct snapshot *snapshot)
{
    return &snapshot->services;
}

struct snapshot *snapshot_of(struct exchange_services *services)
{
    return (struct snapshot *)services;
}

const struct config *snapshot_config(const struct snapshot *snapshot)
{
    return snapshot->config;
}
