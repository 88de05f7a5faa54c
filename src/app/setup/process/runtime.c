#include "app/setup/process/runtime.h"
#include "app/setup/privacy/privacy_setup.h"

#include "api/api.h"
#include "app/setup/files/state_file.h"
#include "app/setup/model/model_file.h"
#include "app/setup/model/model_identity.h"
#include "app/setup/policy/budget_restore.h"
#include "app/setup/policy/consistency_setup.h"
#include "app/setup/policy/policy_build.h"
#include "app/setup/privacy/egress_setup.h"
#include "app/setup/privacy/retention.h"
#include "app/setup/privacy/vault_keep.h"
#include "app/setup/process/snapshot.h"
#include "base/device.h"
#include "base/error.h"
#include "base/log.h"
#include "base/names.h"
#include "base/str.h"
#include "engine/embedding/embedding_service.h"
#include "engine/session/scheduler.h"
#include "exchange/limits/hedge_allowance.h"
#include "exchange/limits/spending.h"
#include "exchange/limits/watch.h"
#include "exchange/parts/shadow_pool.h"
#include "exchange/memory/consistency.h"
#include "exchange/memory/ramp_table.h"
#include "exchange/private/consents.h"
#include "exchange/private/conversation_id.h"
#include "ledger/ledger.h"
#include "privacy/pseudonym/vault_store.h"
#include "privacy/scan/conversation.h"
#include "privacy/scan/scanner.h"
#include "tier/sandbox.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

/* Users, applications and routes whose day is counted apart: 3 MB. */
#define SPENDERS_MAX 65536

struct runtime {
    pthread_mutex_t lock; /* of `current` */
    struct snapshot *current;
    struct snapshot *first; /* held for its configuration */
    struct runtime_options options;
    struct snapshot_base base;
    struct td_model *model;
    char model_path[4096];
    struct confidence_binding identity; /* of `model` */
    struct td_model *draft_model;       /* NULL = none */
    struct td_model *embedding_model;   /* NULL = embeds with `model` */
    struct embedding_service *embeddings;
    struct similarity *similarity; /* NULL = similarity_plain */
};

/* --- opening --- */

static enum td_status load_config(const struct runtime_options *options, struct config **out,
                                  struct td_error *err)
{
    enum td_status status = config_load(options->config_path, NULL, NULL, out, err);
    if (status != TD_OK)
        return status;
    struct config *config = *out;
    if (options->model)
        config->engine.model = options->model;
    if (options->threads)
        config->engine.threads = options->threads;
    if (options->slots)
        config->engine.slots = options->slots;
    if (!options->listen)
        return TD_OK;
    char host[256];
    config->server.listen = options->listen;
    if (!config_listen_split(str_from(options->listen), host, sizeof host, &config->server.port)) {
        config_free(config);
        *out = NULL;
        return error_set(err, TD_INVALID, "--listen must be HOST:PORT, not '%.60s'",
                         options->listen);
    }
    config->server.host = arena_copy(config->arena, str_from(host));
    return TD_OK;
}

static bool wants_local(const struct config *config)
{
    for (size_t i = 0; i < config->tier_count; i++)
        if (config->tiers[i].kind == CONFIG_TIER_LOCAL)
            return true;
    return false;
}

/* The smaller model that guesses ahead, if one is to. */
static enum td_status open_draft(struct runtime *runtime, const struct config *config,
                                 const struct td_model_options *options, struct td_error *err)
{
    char path[sizeof runtime->model_path];
    if (!config->engine.draft_model)
        return TD_OK;
    enum td_status status =
        model_file_find(config->engine.draft_model, config->models.dir, path, sizeof path, err);
    if (status == TD_OK)
        status = td_model_open(path, options, &runtime->draft_model, err);
    if (status != TD_OK)
        error_prefix(err, "engine.draft_model");
    return status;
}

static enum td_status open_engine(struct runtime *runtime, const struct config *config,
                                  struct td_error *err)
{
    if (!wants_local(config))
        return TD_OK;
    enum td_cpu cpu = runtime->options.cpu;
    if (cpu == TD_CPU_AUTO)
        cpu = (enum td_cpu)config->engine.cpu;
    enum td_status status = model_file_find(config->engine.model, config->models.dir,
                                            runtime->model_path, sizeof runtime->model_path, err);
    if (status != TD_OK)
        return status;
    struct td_model_options model_options = {.cpu = cpu};
    status = td_model_open(runtime->model_path, &model_options, &runtime->model, err);
    if (status == TD_OK)
        status = open_draft(runtime, config, &model_options, err);
    if (status != TD_OK)
        return status;
    uint32_t context = config->engine.context_tokens;
    if (context == 0) {
        context = td_model_get_info(runtime->model)->context_tokens;
        if (context == 0 || context > POLICY_CONTEXT_TOKENS)
            context = POLICY_CONTEXT_TOKENS;
    }
    struct scheduler_options scheduler_options = {
        .model = runtime->model,
        .slot_count = config->engine.slots,
        .queue_capacity = config->engine.queue,
        .context_tokens = context,
        .cache_tokens = config->engine.cache_tokens,
        .kv_type = (enum td_kv_type)config->engine.kv_type,
        .thread_count = config->engine.threads,
        .speculation = (enum td_speculation)config->engine.speculation,
        .draft = runtime->draft_model,
        .draft_tokens = config->engine.draft_tokens,
        .exit_threshold = (float)config->engine.exit_threshold,
        .keep_nothing = config->privacy.zero_retention,
    };
    status = model_identity_read(runtime->model, runtime->model_path, &runtime->identity, err);
    if (status != TD_OK)
        return status;
    runtime->base.model = runtime->model;
    runtime->base.identity = &runtime->identity;
    runtime->base.context_tokens = context;
    return scheduler_new(&scheduler_options, &runtime->base.scheduler, err);
}

/* By the file that the configuration names, else by the local tier's model; with neither there are
 * no embeddings. */
static enum td_status open_embeddings(struct runtime *runtime, const struct config *config,
                                      struct td_error *err)
{
    enum td_status status = TD_OK;
    if (config->engine.embedding_model) {
        char path[sizeof runtime->model_path];
        struct td_model_options options = {.cpu = runtime->options.cpu};
        if (options.cpu == TD_CPU_AUTO)
            options.cpu = (enum td_cpu)config->engine.cpu;
        status = model_file_find(config->engine.embedding_model, config->models.dir, path,
                                 sizeof path, err);
        if (status == TD_OK)
            status = td_model_open(path, &options, &runtime->embedding_model, err);
    }
    struct embedding_service_options options = {
        .model = runtime->embedding_model ? runtime->embedding_model : runtime->model,
        .thread_count = config->engine.threads,
        .queue_capacity = config->engine.queue,
    };
    if (status == TD_OK && options.model)
        status = embedding_service_new(&options, &runtime->embeddings, err);
    return status;
}

static enum td_status open_ledger(struct runtime *runtime, const struct config *config,
                                  struct td_error *err)
{
    if (!config->ledger.enabled)
        return TD_OK;
    enum td_status status = state_file_make_folders(config->ledger.path, err);
    if (status == TD_OK)
        status = ledger_open(config->ledger.path, &runtime->base.ledger, err);
    if (status == TD_OK)
        status = budget_restore(config, NULL, runtime->base.spending, err);
    return status;
}

static enum td_status open_consents(struct runtime *runtime, const struct config *config,
                                    struct td_error *err)
{
    char path[STATE_PATH_BYTES];
    if (!config->state_dir)
        return consents_open(NULL, &runtime->base.consents, err);
    enum td_status status = state_file_path(config, "consents.json", path, err);
    return status == TD_OK ? consents_open(path, &runtime->base.consents, err) : status;
}

/* Of one server alone: who answers a single request from the command line has no conversation. */
static enum td_status open_classes(struct runtime *runtime, const struct config *config,
                                   struct td_error *err)
{
    char path[STATE_PATH_BYTES];
    if (!config->state_dir || !runtime->options.serves)
        return TD_OK;
    enum td_status status = state_file_path(config, "classes.bin", path, err);
    return status == TD_OK ? conversation_classes_keep(runtime->base.classes, path, err) : status;
}

static enum td_status open_consistency(struct runtime *runtime, const struct config *config,
                                       struct td_error *err)
{
    enum td_status status = consistency_setup_open(config, &runtime->base.consistency, err);
    if (status == TD_OK && runtime->base.consistency)
        status = similarity_setup_open(config->router.consistency.table, &runtime->similarity, err);
    runtime->base.similarity = runtime->similarity ? runtime->similarity : &similarity_plain;
    return status;
}

/* When the first route has one: also after a change of the configuration. */
static enum td_status open_ramps(struct runtime *runtime, const struct config *config,
                                 struct td_error *err)
{
    struct ramp_table_options options = {.watch = runtime->base.watch};
    char path[STATE_PATH_BYTES];
    bool wanted = false;
    for (size_t i = 0; i < config->route_count; i++)
        wanted = wanted || config->routes[i].ramp.to;
    if (!wanted || runtime->base.ramps || !runtime->options.serves)
        return TD_OK;
    enum td_status status = installation_key(config, options.key, err);
    if (status != TD_OK)
        return status;
    if (config->state_dir) {
        status = state_file_path(config, "ramps.json", path, err);
        options.path = path;
    }
    return status == TD_OK ? ramp_table_open(&options, &runtime->base.ramps, err) : status;
}

/* The confined worker is this program with what was asked of this one. */
static enum td_status make_sandbox(struct runtime *runtime, const struct config *config,
                                   struct td_error *err)
{
    const struct runtime_options *options = &runtime->options;
    const char *arguments[16] = {"confined"};
    char threads[32];
    size_t count = 1;
    if (!config->privacy.confine || !runtime->embeddings) /* no model, no service of it */
        return TD_OK;
    if (options->config_path) {
        arguments[count++] = "--config";
        arguments[count++] = options->config_path;
    }
    if (options->model) {
        arguments[count++] = "--model";
        arguments[count++] = options->model;
    }
    if (options->threads) {
        snprintf(threads, sizeof threads, "--threads=%u", options->threads);
        arguments[count++] = threads;
    }
    if (options->cpu != TD_CPU_AUTO) {
        arguments[count++] = "--cpu";
        arguments[count++] = names_cpus[options->cpu];
    }
    runtime->base.sandbox = sandbox_new(arguments);
    return runtime->base.sandbox ? TD_OK
                                 : error_set(err, TD_NO_MEMORY, "no memory for a confined worker");
}

/* What stands around the engine of a server: the confined worker has none of it. */
static enum td_status open_around(struct runtime *runtime, const struct config *config,
                                  struct td_error *err)
{
    enum td_status status = open_ledger(runtime, config, err);
    if (status == TD_OK)
        status = egress_setup_open(config, &runtime->base.egress, err);
    if (status == TD_OK)
        status = open_consents(runtime, config, err);
    if (status == TD_OK)
        status = open_classes(runtime, config, err);
    if (status == TD_OK)
        status = open_consistency(runtime, config, err);
    if (status == TD_OK)
        status = open_ramps(runtime, config, err);
    if (status == TD_OK && runtime->options.serves &&
        !(runtime->base.shadows = shadow_pool_new(config->shadow.running_max)))
        status = error_set(err, TD_NO_MEMORY, "no memory for shadows");
    if (status == TD_OK && runtime->options.serves)
        status = vault_keep_load(config, runtime->base.vaults, err);
    return status == TD_OK ? make_sandbox(runtime, config, err) : status;
}

enum td_status runtime_open(const struct runtime_options *options, struct runtime **out,
                            struct td_error *err)
{
    struct config *config;
    struct privacy_scanner *scanner = NULL;
    enum td_status status = load_config(options, &config, err);
    if (status != TD_OK)
        return status;
    if (config->privacy.zero_retention)
        status = retention_harden(options->arguments, err);
    if (status != TD_OK) {
        config_free(config);
        return status;
    }
    struct runtime *runtime = calloc(1, sizeof *runtime);
    if (!runtime) {
        config_free(config);
        return error_set(err, TD_NO_MEMORY, "no memory to start");
    }
    pthread_mutex_init(&runtime->lock, NULL);
    runtime->options = *options;
    log_set_level((enum log_level)config->log.level);
    runtime->base.classes = conversation_classes_new(config->privacy.conversations_max);
    runtime->base.spending = spending_new(NULL, SPENDERS_MAX);
    if (!options->confined)
        runtime->base.device = device_new(config->device.root, NULL);
    runtime->base.vaults = vault_store_new(config->privacy.pseudonyms.conversations_max,
                                           (uint64_t)config->privacy.pseudonyms.ttl_s * 1000);
    runtime->base.hedging = hedge_allowance_new();
    if (!runtime->base.classes || !runtime->base.vaults || !runtime->base.spending ||
        !runtime->base.hedging)
        status = error_set(err, TD_NO_MEMORY, "no memory for %u conversations",
                           config->privacy.conversations_max);
    runtime->base.watch = watch_new(NULL);
    if (status == TD_OK && !runtime->base.watch)
        status = error_set(err, TD_NO_MEMORY, "no memory to watch exchanges");
    if (status == TD_OK)
        watch_set_usual_share(runtime->base.watch, config->watch.escalation_share);
    runtime->base.confined = options->confined;
    if (status == TD_OK && !options->confined)
        status = privacy_setup(config, &scanner, err);
    if (status == TD_OK)
        status = open_engine(runtime, config, err);
    if (status == TD_OK)
        status = open_embeddings(runtime, config, err);
    if (status == TD_OK && !options->confined)
        status = open_around(runtime, config, err);
    if (status == TD_OK) {
        status = snapshot_new(config, scanner, &runtime->base, &runtime->current, err);
    } else {
        config_free(config);
        privacy_scanner_free(scanner);
    }
    if (status != TD_OK) {
        runtime_close(runtime);
        return status;
    }
    runtime->first = snapshot_hold(runtime->current);
    if (options->serves)
        vault_keep_clear(snapshot_config(runtime->first));
    if (runtime->base.ramps)
        ramp_table_set_policy(runtime->base.ramps, snapshot_services(runtime->current)->policy);
    *out = runtime;
    return TD_OK;
}

static void keep_vaults(struct runtime *runtime)
{
    struct td_error err = {0};
    if (vault_keep_save(snapshot_config(runtime->first), runtime->base.vaults, &err) != TD_OK)
        log_event(LOG_LEVEL_WARN, "vaults_not_kept", "error=\"%s\"", err.message);
}

void runtime_close(struct runtime *runtime)
{
    if (!runtime)
        return;
    if (runtime->first && runtime->options.serves)
        keep_vaults(runtime);
    snapshot_drop(runtime->current);
    snapshot_drop(runtime->first);
    sandbox_free(runtime->base.sandbox);
    if (runtime->base.scheduler)
        scheduler_free(runtime->base.scheduler);
    embedding_service_free(runtime->embeddings);
    td_model_close(runtime->embedding_model);
    td_model_close(runtime->draft_model);
    td_model_close(runtime->model);
    if (runtime->base.ledger)
        ledger_close(runtime->base.ledger);
    watch_free(runtime->base.watch);
    egress_log_close(runtime->base.egress);
    conversation_classes_free(runtime->base.classes);
    spending_free(runtime->base.spending);
    hedge_allowance_free(runtime->base.hedging);
    device_free(runtime->base.device);
    vault_store_free(runtime->base.vaults);
    ramp_table_close(runtime->base.ramps);
    shadow_pool_free(runtime->base.shadows);
    consents_close(runtime->base.consents);
    consistency_close(runtime->base.consistency);
    similarity_close(runtime->similarity);
    pthread_mutex_destroy(&runtime->lock);
    free(runtime);
}

/* --- use --- */

const struct config *runtime_config(const struct runtime *runtime)
{
    return snapshot_config(runtime->first);
}

const struct td_model *runtime_model(const struct runtime *runtime)
{
    return runtime->model;
}

struct scheduler *runtime_scheduler(const struct runtime *runtime)
{
    return runtime->base.scheduler;
}

struct embedding_service *runtime_embeddings(const struct runtime *runtime)
{
    return runtime->embeddings;
}

struct sandbox *runtime_sandbox(const struct runtime *runtime)
{
    return runtime->base.sandbox;
}

struct ledger *runtime_ledger(const struct runtime *runtime)
{
    return runtime->base.ledger;
}

struct exchange_services *runtime_acquire(void *ctx)
{
    struct runtime *runtime = ctx;
    pthread_mutex_lock(&runtime->lock);
    struct snapshot *snapshot = snapshot_hold(runtime->current);
    pthread_mutex_unlock(&runtime->lock);
    return snapshot_services(snapshot);
}

void runtime_release(void *ctx, struct exchange_services *services)
{
    (void)ctx;
    bool wipe = services->zero_retention;
    snapshot_drop(snapshot_of(services));
    if (wipe)
        crypto_wipe_stack(); /* of the loop that ran the exchange */
}

/* A runtime that could be opened can answer: its model is mapped and its ledger is open. */
bool runtime_ready(void *ctx, const char **why_not)
{
    struct exchange_services *services = runtime_acquire(ctx);
    bool usable = false;
    for (size_t i = 0; i < services->tier_count; i++)
        usable = usable || services->tiers[i]->facts.has_key;
    runtime_release(ctx, services);
    if (!usable)
        *why_not = "no tier is usable: there is no local model and no key for any other";
    return usable;
}

void runtime_forget(void *ctx, const char *user, struct api_forgotten *out)
{
    struct runtime *runtime = ctx;
    uint8_t owner[CRYPTO_SHA256_BYTES];
    conversation_id_owner(user, owner);
    struct td_error err = {0};
    watch_forget_phrases(runtime->base.watch);
    enum td_status status = consents_forget(runtime->base.consents, user, &out->consents, &err);
    if (status == TD_OK && runtime->base.consistency)
        status = consistency_forget(runtime->base.consistency, user, &out->similar, &err);
    if (status != TD_OK) {
        out->failed = true;
        log_event(LOG_LEVEL_WARN, "forget_failed", "error=\"%s\"", err.message);
    }
    out->vaults = vault_store_forget(runtime->base.vaults, owner);
    out->caches = runtime->base.scheduler != NULL;
    if (runtime->base.scheduler)
        scheduler_forget(runtime->base.scheduler);
    if (runtime->base.sandbox)
        sandbox_renew(runtime->base.sandbox);
}

/* So many at a time: who asks for a vault meanwhile waits for that long at most. */
#define VAULTS_SWEPT 16

uint64_t runtime_tend(struct runtime *runtime)
{
    uint64_t wait_ms;
    do
        wait_ms = vault_store_sweep(runtime->base.vaults, (uint64_t)clock_monotonic_ms(NULL),
                                    VAULTS_SWEPT);
    while (wait_ms == 0);
    return wait_ms;
}

static bool same_text(const char *a, const char *b)
{
    return a == b || (a && b && strcmp(a, b) == 0);
}

/* But for deadline_ms, which belongs to the snapshot; the keys in api_keys_file are read again,
 * too. */
static bool same_server(const struct config *old, const struct config *new)
{
    const struct config_texts *a = &old->server.cors_origins, *b = &new->server.cors_origins;
    bool same = a->count == b->count;
    for (size_t i = 0; same && i < a->count; i++)
        same = same_text(a->items[i], b->items[i]);
    return same && same_text(old->server.listen, new->server.listen) &&
           same_text(old->server.api_keys_env, new->server.api_keys_env) &&
           same_text(old->server.api_keys_file, new->server.api_keys_file) &&
           old->server.workers == new->server.workers &&
           old->server.body_bytes_max == new->server.body_bytes_max &&
           old->server.header_bytes_max == new->server.header_bytes_max &&
           old->server.answer_bytes_max == new->server.answer_bytes_max &&
           old->server.pad_stream_bytes == new->server.pad_stream_bytes &&
           old->server.connections_max == new->server.connections_max &&
           old->server.header_timeout_ms == new->server.header_timeout_ms &&
           old->server.idle_timeout_ms == new->server.idle_timeout_ms &&
           old->server.shutdown_timeout_ms == new->server.shutdown_timeout_ms;
}

/* Keys that only a restart can change: said once a reload, by section. */
static void warn_fixed(const struct config *old, const struct config *new)
{
    if (!same_text(old->engine.model, new->engine.model) ||
        !same_text(old->engine.embedding_model, new->engine.embedding_model) ||
        old->engine.cpu != new->engine.cpu || old->engine.kv_type != new->engine.kv_type ||
        old->engine.threads != new->engine.threads || old->engine.slots != new->engine.slots ||
        old->engine.context_tokens != new->engine.context_tokens ||
        old->engine.cache_tokens != new->engine.cache_tokens ||
        old->engine.speculation != new->engine.speculation ||
        !same_text(old->engine.draft_model, new->engine.draft_model) ||
        old->engine.draft_tokens != new->engine.draft_tokens ||
        old->engine.exit_threshold < new->engine.exit_threshold ||
        old->engine.exit_threshold > new->engine.exit_threshold ||
        old->engine.queue != new->engine.queue)
        log_event(LOG_LEVEL_WARN, "reload_needs_restart", "section=engine file=%s", new->label);
    if (!same_server(old, new))
        log_event(LOG_LEVEL_WARN, "reload_needs_restart", "section=server file=%s", new->label);
    if (old->ledger.enabled != new->ledger.enabled ||
        !same_text(old->ledger.path, new->ledger.path) ||
        !same_text(old->ledger.egress, new->ledger.egress))
        log_event(LOG_LEVEL_WARN, "reload_needs_restart", "section=ledger file=%s", new->label);
    if (old->privacy.conversations_max != new->privacy.conversations_max ||
        old->privacy.confine != new->privacy.confine ||
        old->privacy.zero_retention != new->privacy.zero_retention)
        log_event(LOG_LEVEL_WARN, "reload_needs_restart", "section=privacy file=%s", new->label);
}

enum td_status runtime_reload(struct runtime *runtime, struct td_error *err)
{
    struct config *config;
    struct snapshot *fresh = NULL;
    enum td_status status = load_config(&runtime->options, &config, err);
    if (status != TD_OK)
        return status;
    warn_fixed(runtime_config(runtime), config);
    struct privacy_scanner *scanner = NULL;
    status = egress_setup_open(config, &runtime->base.egress, err);
    if (status == TD_OK)
        status = open_ramps(runtime, config, err);
    if (status == TD_OK)
        status = privacy_setup(config, &scanner, err);
    if (status != TD_OK) {
        config_free(config);
        return status;
    }
    enum log_level level = (enum log_level)config->log.level;
    struct snapshot_base base = runtime->base;
    base.before = runtime->current;
    status = snapshot_new(config, scanner, &base, &fresh, err);
    if (status != TD_OK)
        return status;
    watch_set_usual_share(runtime->base.watch, config->watch.escalation_share);
    if (runtime->base.sandbox)
        sandbox_renew(runtime->base.sandbox);
    log_set_level(level);
    pthread_mutex_lock(&runtime->lock);
    struct snapshot *old = runtime->current;
    runtime->current = fresh;
    pthread_mutex_unlock(&runtime->lock);
    if (runtime->base.ramps)
        ramp_table_set_policy(runtime->base.ramps, snapshot_services(fresh)->policy);
    log_event(LOG_LEVEL_INFO, "config_reloaded", "policy=%s file=%s",
              snapshot_services(fresh)->policy->version, snapshot_config(fresh)->label);
    snapshot_drop(old);
    return TD_OK;
}
