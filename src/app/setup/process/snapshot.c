/* A snapshot is built whole beside the one in use; a failure leaves the old one in place. What
 * was measured and loaded for a tier or adapter that stays is taken over. Exchanges hold a count
 * on their snapshot, so that keys and tiers live as long as the last of them. */
#include "app/setup/process/snapshot.h"

#include "api/cache/cached_tier.h"
#include "app/setup/credentials/server_secrets.h"
#include "app/setup/model/adapter_table.h"
#include "app/setup/model/model_version.h"
#include "app/setup/policy/calibration_file.h"
#include "app/setup/policy/confidence_file.h"
#include "app/setup/policy/policy_build.h"
#include "app/setup/policy/threshold_file.h"
#include "app/setup/privacy/pseudonym_setup.h"
#include "app/setup/process/prober.h"
#include "base/bytes/file.h"
#include "base/core/assertion.h"
#include "base/core/error.h"
#include "base/core/str.h"
#include "base/time/clock.h"
#include "base/time/log.h"
#include "cluster/share.h"
#include "engine/embedding/embedding_service.h"
#include "exchange/private/consents.h"
#include "ledger/record/ledger.h"
#include "ledger/store/queue_keeper.h"
#include "privacy/scan/scanner.h"
#include "router/judge/classifier.h"
#include "tier/review/review.h"
#include "tier/servers.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

struct snapshot {
    struct exchange_services services; /* first: snapshot_of casts back */
    atomic_uint user_count;
    struct config *config;
    struct policy_parts policy;
    struct privacy_scanner *scanner; /* NULL = none: the confined worker */
    struct pseudonym_settings pseudonyms;
    struct tier *tiers[CONFIG_TIERS_MAX];
    struct tier *asked[CONFIG_TIERS_MAX]; /* before them; NULL where no answers are kept */
    struct server_secrets secrets[CONFIG_TIERS_MAX];
    struct adapter_table adapters;
    struct engine_parts engine;
    struct scheduler *schedulers[SNAPSHOT_SCHEDULERS_MAX];
    struct classifier *classifier;       /* NULL = none */
    struct confidence_model *confidence; /* NULL = none, or not of this model */
    /* Of servers, and calibrations of local tiers' models (calibration_file.h); the same. */
    struct confidence_model *confidences[CONFIG_TIERS_MAX];
    struct model_version *versions[CONFIG_TIERS_MAX]; /* of local tiers' models; or NULL */
    struct thresholds *thresholds[CONFIG_ROUTES_MAX][THRESHOLD_GATE_COUNT]; /* NULL = none */
};

_Static_assert((int)RISK_LEVEL_COUNT == CONFIDENCE_RISK_COUNT, "a threshold for each risk");

/* Adapters belong to the model that was asked for. With another one those that fit are used. */
static enum td_status load_adapters(struct snapshot *snapshot, const struct engine_tier *from,
                                    const struct snapshot_base *base, struct td_error *err)
{
    const struct adapter_table *before = base->before ? &base->before->adapters : NULL;
    const struct adapter_source source = {
        .config = snapshot->config, .model = from->model->model, .only_fitting = from->is_faulty};
    return adapter_table_load(&snapshot->adapters, &source, before, err);
}

/* What router.confidence names belongs to one model; without it a calibration takes its place. */
static const struct confidence_model *confidence_for(const struct snapshot *snapshot, size_t index,
                                                     const struct local_model *model)
{
    const struct confidence_model *confidence = snapshot->confidence;
    return confidence && !confidence_binding_difference(&confidence->binding, &model->identity)
               ? confidence
               : snapshot->confidences[index];
}

/* Whether token ids of the model that reads them for clients would mean something else. */
static bool reads_other_ids(const struct snapshot *snapshot, const struct local_model *model)
{
    const struct local_model *main = engine_setup_main(&snapshot->engine);
    return strcmp(main->identity.tokenizer, model->identity.tokenizer) != 0;
}

static struct confidence_scale scale_of(const struct td_calibration *calibration)
{
    return (struct confidence_scale){(double)calibration->temperature, (double)calibration->bias};
}

static void set_confidence(const struct snapshot *snapshot, size_t index,
                           const struct local_model *model, struct tier_facts *facts)
{
    const struct td_model_info *info = td_model_get_info(model->model);
    const struct td_model_info *calls =
        model->for_tools ? td_model_get_info(model->for_tools->model) : info;
    facts->confidence_temperature = (double)info->calibration.temperature;
    facts->confidence_bias = (double)info->calibration.bias;
    facts->confidence_call = scale_of(&calls->call_calibration);
    facts->confidence_label = scale_of(&info->label_calibration);
    facts->confidence_model = confidence_for(snapshot, index, model);
    facts->has_thresholds = facts->confidence_model && facts->confidence_model->has_thresholds;
    if (facts->has_thresholds)
        memcpy(facts->threshold, facts->confidence_model->threshold, sizeof facts->threshold);
    facts->uncalibrated = !facts->confidence_model && !(facts->confidence_temperature > 0);
    if (facts->uncalibrated)
        log_event(LOG_LEVEL_WARN, "model_uncalibrated",
                  "tier=%s model=%s then=\"its answers climb unless the route gives thresholds\" "
                  "do=\"tandem calibrate\"",
                  facts->name, model->identity.model);
}

static struct tier_local_engine engine_of(const struct local_model *model)
{
    return model ? (struct tier_local_engine){model->model, model->scheduler}
                 : (struct tier_local_engine){.model = NULL};
}

static uint32_t least(uint32_t a, uint32_t b)
{
    return a < b ? a : b;
}

static void set_context(const struct local_model *model, struct tier_facts *facts)
{
    if (model->for_tools)
        facts->tools_context_tokens =
            least(facts->context_tokens, model->for_tools->context_tokens);
    facts->context_tokens = least(facts->context_tokens, model->context_tokens);
}

/* facts: as they are but for the version. */
static enum td_status set_version(struct snapshot *snapshot, size_t index,
                                  const struct local_model *model, struct tier_facts *facts,
                                  struct td_error *err)
{
    struct model_version *version = calloc(1, sizeof *version);
    const char *on[CONFIG_ADAPTERS_MAX];
    struct model_version_parts parts = {
        .identity = &model->identity,
        .tools = model->for_tools ? &model->for_tools->identity : NULL,
        .adapters = on,
        .calibration = facts->confidence_model ? facts->confidence_model->digest : NULL,
    };
    if (!version)
        return error_set(err, TD_NO_MEMORY, "no memory for a model's version");
    for (size_t i = 0; i < facts->adapter_count; i++)
        if (snapshot->adapters.adapters[i].always)
            on[parts.adapter_count++] = facts->adapters[i];
    model_version_make(&parts, version);
    snapshot->versions[index] = version;
    facts->model_version = *version->id ? version->id : NULL;
    return TD_OK;
}

static enum td_status make_local(struct snapshot *snapshot, size_t index, struct tier_facts *facts,
                                 const struct snapshot_base *base, struct td_error *err)
{
    const struct engine_tier *from = engine_setup_find(&snapshot->engine, facts->name);
    ASSERT(from != NULL);
    struct tier_local_options options = {.adapters = snapshot->adapters.adapters,
                                         .sandbox = base->sandbox,
                                         .isolated = snapshot->config->engine.isolated};
    facts->model_fault = from->is_faulty ? &from->fault : NULL;
    facts->unproven = *from->unproven ? from->unproven : NULL;
    facts->model = "";
    if (!from->model)
        return tier_local_new(facts, &options, &snapshot->tiers[index], err);
    const struct td_model_info *info = td_model_get_info(from->model->model);
    options.main = engine_of(from->model);
    options.for_tools = engine_of(from->model->for_tools);
    facts->model = info->name;
    facts->model_bytes = info->file_bytes;
    set_context(from->model, facts);
    if (!base->confined) /* that one answers, and judges nothing */
        set_confidence(snapshot, index, from->model, facts);
    if (reads_other_ids(snapshot, from->model))
        facts->lacks |= CAPABILITY_PROMPT_IDS;
    if (from->is_own) {
        facts->lacks |= CAPABILITY_ADAPTERS;
        enum td_status made = set_version(snapshot, index, from->model, facts, err);
        return made == TD_OK ? tier_local_new(facts, &options, &snapshot->tiers[index], err) : made;
    }
    enum td_status status = load_adapters(snapshot, from, base, err);
    if (status != TD_OK)
        return status;
    facts->adapters = snapshot->adapters.names;
    facts->adapter_count = snapshot->adapters.count;
    for (size_t i = 0; i < snapshot->adapters.count; i++)
        facts->adapts_always |= snapshot->adapters.adapters[i].always;
    status = set_version(snapshot, index, from->model, facts, err);
    if (status != TD_OK)
        return status;
    return tier_local_new(facts, &options, &snapshot->tiers[index], err);
}

static enum td_status open_tier_confidence(struct snapshot *snapshot, size_t index,
                                           struct tier_facts *facts, struct td_error *err)
{
    const struct config_tier *from = &snapshot->config->tiers[index];
    char why[160];
    enum td_status status =
        confidence_file_of_tier(from->confidence, facts->model, &snapshot->confidences[index],
                                &facts->server_identity, why, err);
    facts->confidence_model = snapshot->confidences[index];
    if (*why)
        log_event(LOG_LEVEL_WARN, "confidence_stale", "tier=%s file=%s used=rule reason=\"%s\"",
                  from->name, from->confidence, why);
    return status;
}

static enum td_status make_review(struct snapshot *snapshot, size_t index, struct tier_facts *facts,
                                  const struct snapshot_base *base, struct td_error *err)
{
    const struct config_tier *from = &snapshot->config->tiers[index];
    const struct review_settings settings = {.interim = (enum review_interim)from->review.interim,
                                             .hold_ms = from->review.hold_s * 1000,
                                             .open_max = from->review.queue_max,
                                             .expires_s = from->review.expires_hours * 3600,
                                             .lease_s = from->review.lease_minutes * 60,
                                             .keeper = base->queue_keeper};
    facts->has_key = base->queues != NULL;
    facts->key_hint = NULL;
    enum td_status status = base->queue_keeper
                                ? queue_keeper_watch(base->queue_keeper, facts->name,
                                                     from->review.keep_days * 86400, err)
                                : TD_OK;
    if (status != TD_OK)
        return status;
    return tier_review_new(facts, &settings, base->queues, &snapshot->tiers[index], err);
}

static enum td_status make_tier(struct snapshot *snapshot, size_t index,
                                const struct snapshot_base *base, struct td_error *err)
{
    const struct config_tier *from = &snapshot->config->tiers[index];
    struct tier_facts facts = policy_tier_facts(snapshot->config, from);
    if (from->kind == CONFIG_TIER_LOCAL)
        return make_local(snapshot, index, &facts, base, err);
    if (from->kind == CONFIG_TIER_REVIEW)
        return make_review(snapshot, index, &facts, base, err);
    facts.provider = config_tier_server(from)->name;
    enum td_status status = TD_OK;
    if (!base->confined)
        status = file_check_regular(from->ca_file, err);
    if (!base->confined && status == TD_OK)
        status = server_secrets_open(from, &snapshot->secrets[index], err);
    if (status != TD_OK)
        return status;
    status = base->confined ? TD_OK : open_tier_confidence(snapshot, index, &facts, err);
    if (status != TD_OK)
        return status;
    facts.has_key = server_secrets_suffice(&snapshot->secrets[index], from);
    struct tier_server_options options = config_tier_options(from);
    server_secrets_give(&snapshot->secrets[index], &options);
    options.egress = base->egress;
    options.health = snapshot->services.health;
    options.health_index = index;
    return config_tier_server(from)->open(&facts, &options, &snapshot->tiers[index], err);
}

static void snapshot_free(struct snapshot *snapshot)
{
    for (size_t i = 0; i < CONFIG_TIERS_MAX; i++) {
        tier_free(snapshot->asked[i]);
        tier_free(snapshot->tiers[i]);
        server_secrets_close(&snapshot->secrets[i]);
        free(snapshot->confidences[i]);
        free(snapshot->versions[i]);
    }
    adapter_table_deinit(&snapshot->adapters);
    engine_setup_close(&snapshot->engine);
    classifier_close(snapshot->classifier);
    free(snapshot->confidence);
    for (size_t i = 0; i < CONFIG_ROUTES_MAX; i++)
        for (int gate = 0; gate < THRESHOLD_GATE_COUNT; gate++)
            free(snapshot->thresholds[i][gate]);
    privacy_scanner_free(snapshot->scanner);
    tier_health_free(snapshot->services.health);
    tier_latency_free(snapshot->services.latency);
    tier_load_free(snapshot->services.load);
    config_free(snapshot->config);
    free(snapshot);
}

static bool runs_the_same(const struct snapshot *snapshot, const struct snapshot *before,
                          const char *tier)
{
    const struct engine_tier *a = engine_setup_find(&snapshot->engine, tier),
                             *b = engine_setup_find(&before->engine, tier);
    return (a ? a->model : NULL) == (b ? b->model : NULL);
}

static bool same_text(const char *a, const char *b)
{
    return strcmp(a ? a : "", b ? b : "") == 0;
}

/* The same server, asked for the same model in the same way with the same key. */
static bool same_server(const struct snapshot *a, size_t i, const struct snapshot *b, size_t j)
{
    const struct config_tier *one = &a->config->tiers[i], *other = &b->config->tiers[j];
    return one->kind == other->kind && one->place == other->place &&
           same_text(one->base_url, other->base_url) && same_text(one->model, other->model) &&
           same_text(one->ca_file, other->ca_file) &&
           same_text(one->pinned_key, other->pinned_key) &&
           server_secrets_same_keys(&a->secrets[i], &b->secrets[j]);
}

/* A tier that stays keeps what was measured and found out of it, and whether it rests. */
static void keep_learned(struct snapshot *snapshot, const struct snapshot *before)
{
    const struct config *now = snapshot->config;
    for (size_t i = 0; before && i < now->tier_count; i++)
        for (size_t j = 0; j < before->config->tier_count; j++) {
            if (strcmp(now->tiers[i].name, before->config->tiers[j].name) != 0 ||
                !same_server(snapshot, i, before, j) ||
                !runs_the_same(snapshot, before, now->tiers[i].name))
                continue;
            tier_latency_copy(before->services.latency, j, snapshot->services.latency, i);
            logprob_support_copy(&snapshot->tiers[i]->logprobs, &before->tiers[j]->logprobs);
            extra_support_copy(&snapshot->tiers[i]->extras, &before->tiers[j]->extras);
            tier_load_copy(before->services.load, j, snapshot->services.load, i);
            tier_health_share(before->services.health, j, snapshot->services.health, i);
        }
}

static void set_limits(struct snapshot *snapshot, struct share *share)
{
    struct tier_health *health = snapshot->services.health;
    for (size_t i = 0; i < snapshot->config->tier_count; i++) {
        struct shared_limit *of = share ? share_of(share, snapshot->config->tiers[i].name) : NULL;
        tier_health_set_limits(health, i, snapshot->config->tiers[i].limits);
        if (of)
            tier_health_set_shared(health, i, share_limits(share), of);
    }
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

/* One that cannot be used is not: the model then counts as uncalibrated. */
static void open_calibrations(struct snapshot *snapshot)
{
    const struct config *config = snapshot->config;
    for (size_t i = 0; i < config->tier_count; i++) {
        struct td_error err = {0};
        const struct engine_tier *from =
            config->tiers[i].kind == CONFIG_TIER_LOCAL
                ? engine_setup_find(&snapshot->engine, config->tiers[i].name)
                : NULL;
        if (from && from->model &&
            calibration_file_find(config->state_dir, &from->model->identity,
                                  &snapshot->confidences[i], &err) != TD_OK)
            log_event(LOG_LEVEL_WARN, "calibration_unusable", "tier=%s reason=\"%s\"",
                      config->tiers[i].name, err.message);
    }
}

/* What the confidences of the main model's tier are made by, or NULL. */
static const struct confidence_model *main_confidence(const struct snapshot *snapshot)
{
    const struct local_model *main = engine_setup_main(&snapshot->engine);
    for (size_t i = 0; main && i < snapshot->config->tier_count; i++) {
        const struct engine_tier *from =
            engine_setup_find(&snapshot->engine, snapshot->config->tiers[i].name);
        if (from && from->model == main)
            return confidence_for(snapshot, i, main);
    }
    return NULL;
}

/* Thresholds on confidences of another making would keep what they must not: the fixed number holds
 * until they are tuned again. */
static void drop_foreign(struct snapshot *snapshot)
{
    const struct confidence_model *confidence = main_confidence(snapshot);
    const char *made = confidence ? confidence->digest : "";
    for (size_t route = 0; route < snapshot->config->route_count; route++) {
        struct thresholds **of = &snapshot->thresholds[route][THRESHOLD_G3];
        if (!*of || strcmp((*of)->confidence, made) == 0)
            continue;
        log_event(LOG_LEVEL_WARN, "thresholds_stale",
                  "file=%s route=%s used=confidence_min reason=\"they were tuned with another "
                  "confidence model; tune them again\"",
                  snapshot->config->routes[route].thresholds[THRESHOLD_G3],
                  snapshot->config->routes[route].name);
        free(*of);
        *of = NULL;
    }
}

/* What decides where an answer comes from; the confined worker does not. */
static enum td_status open_judges(struct snapshot *snapshot, struct td_error *err)
{
    const struct local_model *main = engine_setup_main(&snapshot->engine);
    enum td_status status = policy_open_classifier(snapshot->config, &snapshot->classifier, err);
    if (status == TD_OK)
        status = open_confidence(snapshot, main ? &main->identity : NULL, err);
    if (status == TD_OK)
        open_calibrations(snapshot);
    if (status == TD_OK && main_confidence(snapshot))
        snapshot->services.confidence_state = CONFIDENCE_CALIBRATED;
    if (status == TD_OK)
        status = policy_read_thresholds(snapshot->config, snapshot->thresholds, err);
    if (status == TD_OK)
        drop_foreign(snapshot);
    return status;
}

static void hold_services(struct exchange_services *services)
{
    snapshot_hold(snapshot_of(services));
}

static void release_services(struct exchange_services *services)
{
    snapshot_drop(snapshot_of(services));
}

/* Where nothing of an exchange is kept, nobody's name is kept with a consent either. */
static enum td_status keep_less(const struct config *config, struct consents *consents,
                                struct td_error *err)
{
    bool less = config->privacy.zero_retention;
    for (size_t i = 0; i < config->route_count; i++)
        less |= config->routes[i].zero_retention;
    return less && consents ? consents_keep_hashes(consents, err) : TD_OK;
}

/* What reaches the engine without an exchange. */
static void lend_engine(struct snapshot *snapshot)
{
    struct exchange_services *services = &snapshot->services;
    const struct local_model *main = engine_setup_main(&snapshot->engine);
    services->model = main ? main->model : NULL;
    services->embeddings = engine_setup_embeddings(&snapshot->engine);
    services->embedding_aliases =
        (const char *const *)snapshot->config->engine.embedding_aliases.items;
    services->embeddings_fault =
        snapshot->engine.embedder.is_faulty ? &snapshot->engine.embedder.fault : NULL;
    services->schedulers = snapshot->schedulers;
    for (size_t i = 0; i < snapshot->engine.tier_count; i++)
        for (const struct local_model *model = snapshot->engine.tiers[i].model; model;
             model = model->for_tools)
            snapshot->schedulers[services->scheduler_count++] = model->scheduler;
}

static void fill_services(struct snapshot *snapshot, const struct snapshot_base *base)
{
    const struct config *config = snapshot->config;
    struct exchange_services *services = &snapshot->services;
    *services = (struct exchange_services){
        .policy = &snapshot->policy.policy,
        .confidence_state = services->confidence_state,
        .classifier = snapshot->classifier,
        .tiers = snapshot->tiers,
        .tier_count = config->tier_count,
        .health =
            tier_health_new(config->tier_count, base->prober ? prober_wake : NULL, base->prober),
        .latency = tier_latency_new(config->tier_count),
        .load = tier_load_new(config->tier_count),
        .classes = base->classes,
        .signatures = base->signatures,
        .scanner = snapshot->scanner,
        .spending = base->spending,
        .meters = base->meters,
        .hedge_allowance = base->hedge_allowance,
        .account = base->account,
        .token_counts = base->token_counts,
        .device = base->device,
        .text_class = (enum td_data_class)config->privacy.data_class,
        .media_class = (enum td_data_class)config->privacy.media_class,
        .minimise = config->privacy.minimise,
        .consents = base->consents,
        .consents_in_requests = config->privacy.consents_in_requests,
        .pseudonyms =
            config->privacy.pseudonyms.on && !base->confined ? &snapshot->pseudonyms : NULL,
        .ledger = base->ledger,
        .queues = base->queues,
        .watch = base->watch,
        .consistency = config->router.consistency.on ? base->consistency : NULL,
        .similarity = base->consistency ? base->similarity : NULL,
        .shadow_pool = base->shadow_pool,
        .ramp_table = base->ramp_table,
        .reactions = base->reactions,
        .shadow_usd_per_day = config->shadow.usd_per_day,
        .skew_policy = (enum skew_policy)config->models.skewed,
        .skewed_local_share = config->models.skewed_local_share,
        .hold = hold_services,
        .release = release_services,
        .consistency_limits = {config->router.consistency.margin,
                               config->router.consistency.loss_max,
                               config->router.consistency.usd_per_day},
        .escalations_per_hour = config->watch.escalations_per_hour,
        .clock = &clock_system,
        .all_cloud_tier = SIZE_MAX,
        .store_prompts = config->ledger.store_prompts,
        .zero_retention = config->privacy.zero_retention,
        .deadline_ms = config->server.deadline_ms,
    };
    lend_engine(snapshot);
}

static enum td_status make_tiers(struct snapshot *snapshot, const struct snapshot_base *base,
                                 struct td_error *err)
{
    const struct config *config = snapshot->config;
    struct exchange_services *services = &snapshot->services;
    enum td_status status = services->health && services->latency && services->load
                                ? TD_OK
                                : error_set(err, TD_NO_MEMORY, "no memory for the tiers");
    for (size_t i = 0; i < config->tier_count && status == TD_OK; i++) {
        status = make_tier(snapshot, i, base, err);
        if (config->tiers[i].place == TD_PLACE_CLOUD && services->all_cloud_tier == SIZE_MAX)
            services->all_cloud_tier = i;
    }
    if (status == TD_OK) {
        keep_learned(snapshot, base->before);
        set_limits(snapshot, base->share);
    }
    return status;
}

/* What an answer of the tier depends on beside the request: what the policy decides by, and of a
 * local tier the weights, which may be another file of the same name. */
static void identify(const struct snapshot *snapshot, size_t index, char *out, size_t size)
{
    const struct engine_tier *from =
        engine_setup_find(&snapshot->engine, snapshot->config->tiers[index].name);
    const struct local_model *model = from ? from->model : NULL;
    const char *url = snapshot->config->tiers[index].base_url;
    int len = snprintf(out, size, "%s %s", snapshot->policy.version, url ? url : "");
    for (; model && len > 0 && (size_t)len < size; model = model->for_tools) {
        char digest[CONFIDENCE_DIGEST_BYTES];
        confidence_binding_digest(&model->identity, digest);
        len += snprintf(out + len, size - (size_t)len, " %s", digest);
    }
}

/* Only a model that the configuration names for it: the default one would be the model that
 * answers, whose vectors tell questions apart badly. A reranker makes none. */
static enum td_status set_similar(const struct snapshot *snapshot, struct similar_settings *out,
                                  struct td_error *err)
{
    const struct config *config = snapshot->config;
    const struct local_model *model = snapshot->engine.embedder.model;
    *out = (struct similar_settings){.service = NULL};
    if (!config->cache.similar || !model || !model->embeddings)
        return TD_OK; /* why a model that is named is not there, is in the log and in doctor */
    if (embedding_service_ranks(model->embeddings))
        return error_set(err, TD_INVALID,
                         "cache.similar: engine.embedding_model is a reranker, which makes no "
                         "vectors: name a model of embeddings there, or leave cache.similar out");
    *out = (struct similar_settings){.service = model->embeddings,
                                     .model = model->key,
                                     .scanner = snapshot->scanner,
                                     .threshold = (float)config->cache.similar_threshold};
    return TD_OK;
}

static enum td_status make_cached(struct snapshot *snapshot, const struct snapshot_base *base,
                                  struct td_error *err)
{
    const struct config *config = snapshot->config;
    char identity[4096];
    struct similar_settings similar;
    if (!base->answers || config->cache.answers == CACHE_ANSWERS_NONE)
        return TD_OK;
    enum td_status status = set_similar(snapshot, &similar, err);
    if (status != TD_OK)
        return status;
    for (size_t i = 0; i < config->tier_count; i++) {
        const struct cached_tier_options options = {.inner = snapshot->tiers[i],
                                                    .cache = base->answers,
                                                    .which =
                                                        (enum cache_answers)config->cache.answers,
                                                    .identity = identity,
                                                    .similar = similar};
        if (snapshot->tiers[i]->facts.people) /* each question is theirs anew */
            continue;
        identify(snapshot, i, identity, sizeof identity);
        if (!(snapshot->asked[i] = cached_tier_new(&options)))
            return error_set(err, TD_NO_MEMORY, "no memory for the tiers");
    }
    snapshot->services.asked = snapshot->asked;
    return TD_OK;
}

enum td_status snapshot_new(struct config *config, struct privacy_scanner *scanner,
                            const struct snapshot_base *base, struct snapshot **out,
                            struct td_error *err)
{
    struct snapshot *snapshot = calloc(1, sizeof *snapshot);
    enum td_status status = TD_OK;
    if (!snapshot) {
        config_free(config);
        privacy_scanner_free(scanner);
        return error_set(err, TD_NO_MEMORY, "no memory for the configuration");
    }
    snapshot->config = config;
    snapshot->scanner = scanner;
    engine_setup_copy(base->engine, &snapshot->engine);
    snapshot->pseudonyms.vaults = base->vaults;
    atomic_init(&snapshot->user_count, 1);
    if (!base->confined)
        status = open_judges(snapshot, err);
    const struct policy_learned learned = {.classifier = snapshot->classifier,
                                           .confidence = snapshot->confidence,
                                           .calibrations = snapshot->confidences,
                                           .thresholds = snapshot->thresholds,
                                           .confined = base->confined};
    if (status == TD_OK)
        status = policy_build(config, &learned, &snapshot->policy, err);
    fill_services(snapshot, base);
    if (status == TD_OK)
        status = pseudonym_setup_rules(config, &snapshot->pseudonyms.rules, err);
    if (status == TD_OK)
        status = keep_less(config, base->consents, err);
    if (status == TD_OK)
        status = make_tiers(snapshot, base, err);
    if (status == TD_OK)
        status = make_cached(snapshot, base, err);
    if (status == TD_OK)
        *out = snapshot;
    else
        snapshot_free(snapshot);
    return status;
}

void snapshot_record_policy(const struct snapshot *snapshot, const struct snapshot *before)
{
    struct td_error err = {0};
    const struct ledger_policy policy = {.version = snapshot->policy.version,
                                         .wall_ms = clock_wall_ms(NULL),
                                         .text = snapshot->policy.text};
    if (snapshot->services.ledger)
        model_versions_record(snapshot->services.ledger, snapshot->versions,
                              before ? before->versions : NULL, CONFIG_TIERS_MAX);
    if (!snapshot->services.ledger ||
        (before && strcmp(before->policy.version, policy.version) == 0))
        return;
    if (ledger_put_policy(snapshot->services.ledger, &policy, &err) != TD_OK)
        log_event(LOG_LEVEL_WARN, "policy_not_recorded", "policy=%s error=\"%s\"", policy.version,
                  err.message);
}

struct snapshot *snapshot_hold(struct snapshot *snapshot)
{
    ASSERT(atomic_load(&snapshot->user_count) > 0);
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
