/* What a process that runs exchanges has: a configuration, models, services, and the snapshot of
 * policy and tiers in use.
 *
 * The parts are opened in the order of their dependence (services_setup.c, engine_setup.c) and
 * closed in the reverse one. A reload makes a new snapshot beside the old one and swaps the
 * pointer under the lock; nothing else here is shared between threads. */
#include "app/setup/process/runtime.h"

#include "api/api.h"
#include "api/cache/answer_cache.h"
#include "app/config/config_listen.h"
#include "app/setup/files/file_setup.h"
#include "app/setup/model/retirement.h"
#include "app/setup/privacy/answers_keep.h"
#include "app/setup/privacy/privacy_setup.h"
#include "app/setup/privacy/retention.h"
#include "app/setup/privacy/stored_forget.h"
#include "app/setup/privacy/vault_keep.h"
#include "app/setup/process/engine_setup.h"
#include "app/setup/process/model_loading.h"
#include "app/setup/process/restart_keys.h"
#include "app/setup/process/services_setup.h"
#include "app/setup/process/storage.h"
#include "base/core/assertion.h"
#include "base/core/error.h"
#include "base/core/str.h"
#include "base/text/names.h"
#include "base/time/log.h"
#include "engine/session/scheduler.h"
#include "exchange/limits/watch.h"
#include "exchange/memory/consistency.h"
#include "exchange/memory/ramp_table.h"
#include "exchange/memory/reactions.h"
#include "exchange/memory/skew_table.h"
#include "exchange/parts/shadow_pool.h"
#include "exchange/private/consents.h"
#include "exchange/private/conversation_id.h"
#include "privacy/pseudonym/vault_store.h"
#include "privacy/scan/remembered.h"
#include "privacy/scan/scanner.h"
#include "tier/local/sandbox.h"
#include "tier/tier.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

/* How long a server that starts waits for another one to let go of the state folder. A supervisor
 * may start the new one while the old one still ends. */
#define OWNER_WAIT_MS 5000

struct runtime {
    pthread_mutex_t lock; /* of `current` */
    struct snapshot *current;
    struct config *first; /* of the start */
    struct runtime_options options;
    struct engine_parts engine; /* of `current` */
    struct model_loading *loading;
    atomic_bool forget_retired; /* a user is forgotten: closed models' texts are due, too */
    struct services_parts services;
    struct storage *storage; /* of a server; else NULL */
};

/* --- opening --- */

static enum td_status load_config(const struct runtime_options *options, struct config **out,
                                  struct td_error *err)
{
    enum td_status status = config_load(options->config_path, out, err);
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
    status = config_listen_fill(config, options->listen, "--listen", err);
    if (status != TD_OK) {
        config_free(config);
        *out = NULL;
    }
    return status;
}

/* The confined worker is this program with what was asked of this one, with the configuration that
 * is in force, whatever the file has become, and with the model that runs here: the configuration's
 * may be another one, or unusable. */
struct worker_arguments {
    const char *items[16]; /* NULL-terminated */
    size_t count;
    char threads[32];
};

static void add_arguments(struct worker_arguments *out, const char *option, const char *value)
{
    ASSERT(out->count + 2 < sizeof out->items / sizeof *out->items);
    out->items[out->count++] = option;
    if (value)
        out->items[out->count++] = value;
}

static void fill_arguments(const struct runtime *runtime, const struct config *config,
                           const struct engine_parts *engine, struct worker_arguments *out)
{
    const struct runtime_options *options = &runtime->options;
    const char *path = engine_setup_path(engine);
    *out = (struct worker_arguments){.count = 0};
    add_arguments(out, "confined", NULL);
    if (config->text.len > 0)
        add_arguments(out, "--config", SANDBOX_CONFIG_PATH);
    if (path || options->model)
        add_arguments(out, "--model", path ? path : options->model);
    if (options->threads) {
        snprintf(out->threads, sizeof out->threads, "--threads=%u", options->threads);
        add_arguments(out, out->threads, NULL);
    }
    if (options->cpu != TD_CPU_AUTO)
        add_arguments(out, "--cpu", names_cpus[options->cpu]);
}

/* Also where no model is loaded: one may be after a reload. */
static enum td_status make_sandbox(struct runtime *runtime, const struct config *config,
                                   struct td_error *err)
{
    struct worker_arguments arguments;
    if (!config->privacy.confine && !config->engine.isolated)
        return TD_OK;
    fill_arguments(runtime, config, &runtime->engine, &arguments);
    runtime->services.base.sandbox = sandbox_new(arguments.items, config->text);
    return runtime->services.base.sandbox
               ? TD_OK
               : error_set(err, TD_NO_MEMORY, "no memory for a confined worker");
}

/* --- models --- */

static struct engine_options engine_options_of(const struct runtime *runtime)
{
    return (struct engine_options){.cpu = runtime->options.cpu,
                                   .keeps = runtime->options.serves,
                                   .stays = runtime->options.confined};
}

/* A local model that cannot be had is an error of the start only where it was named for this very
 * command, or where the confined worker would have none at all. `err` keeps it for later. */
static enum td_status open_engine(struct runtime *runtime, const struct config *config,
                                  struct td_error *err)
{
    const struct runtime_options *options = &runtime->options;
    const struct engine_options engine = engine_options_of(runtime);
    enum td_status status = engine_setup_open(config, &engine, NULL, &runtime->engine, err);
    bool some = engine_setup_main(&runtime->engine) || runtime->engine.embedder.model;
    bool strict = options->confined ? !some : options->model && !options->serves;
    return strict ? status : TD_OK;
}

/* Whether some tier could answer. */
static bool is_usable(const struct exchange_services *services)
{
    bool usable = false;
    for (size_t i = 0; i < services->tier_count; i++)
        usable = usable || tier_facts_usable(&services->tiers[i]->facts);
    return usable;
}

/* Everything but the snapshot. What was opened is closed by runtime_close, also after a failure.
 * model_err: why a local tier has not the model that was asked for. */
static enum td_status open_parts(struct runtime *runtime, const struct config *config,
                                 struct privacy_scanner **scanner, struct td_error *model_err,
                                 struct td_error *err)
{
    const struct runtime_options *options = &runtime->options;
    enum td_status status =
        options->serves ? storage_open(config, OWNER_WAIT_MS, &runtime->storage, err) : TD_OK;
    if (status == TD_OK)
        status = services_setup_memory(config, options->confined, &runtime->services, err);
    if (status == TD_OK && !options->confined)
        status = privacy_setup(config, scanner, err);
    if (status == TD_OK && !(runtime->loading = model_loading_new()))
        status = error_set(err, TD_NO_MEMORY, "no memory to start");
    if (status == TD_OK && (status = open_engine(runtime, config, model_err)) != TD_OK)
        error_set(err, status, "%s", model_err->message);
    if (status != TD_OK || options->confined)
        return status;
    status = services_setup_files(config, options->serves, &runtime->services, err);
    if (status == TD_OK && runtime->storage)
        storage_watch(runtime->storage, &runtime->services);
    return status == TD_OK ? make_sandbox(runtime, config, err) : status;
}

/* **takes** the configuration and the scanner. */
/* What judges across exchanges goes by the configuration in force. */
static void follow_policy(struct runtime *runtime)
{
    const struct snapshot_base *base = &runtime->services.base;
    if (base->ramp_table)
        ramp_table_set_policy(base->ramp_table, snapshot_services(runtime->current)->policy);
    if (base->shadow_pool)
        skew_table_set_most(shadow_pool_skew(base->shadow_pool),
                            snapshot_config(runtime->current)->models.max_skew);
}

static enum td_status open_snapshot(struct runtime *runtime, struct config *config,
                                    struct privacy_scanner *scanner,
                                    const struct td_error *model_err, struct td_error *err)
{
    runtime->first = config_hold(config);
    runtime->services.base.engine = &runtime->engine;
    enum td_status status =
        snapshot_new(config, scanner, &runtime->services.base, &runtime->current, err);
    if (status == TD_OK && model_err->status != TD_OK &&
        !is_usable(snapshot_services(runtime->current)))
        status = error_set(err, model_err->status, "%s", model_err->message);
    if (status != TD_OK)
        return status;
    snapshot_record_policy(runtime->current, NULL);
    if (runtime->options.serves) {
        vault_keep_clear(runtime->first);
        retirement_log(runtime->first);
    }
    follow_policy(runtime);
    return TD_OK;
}

enum td_status runtime_open(const struct runtime_options *options, struct runtime **out,
                            struct td_error *err)
{
    ASSERT(options && out);
    struct config *config;
    struct runtime *runtime = NULL;
    struct privacy_scanner *scanner = NULL;
    enum td_status status = load_config(options, &config, err);
    if (status != TD_OK)
        return status;
    if (config->privacy.zero_retention)
        status = retention_harden(options->arguments, err);
    if (status == TD_OK && !(runtime = calloc(1, sizeof *runtime)))
        status = error_set(err, TD_NO_MEMORY, "no memory to start");
    if (status != TD_OK) {
        config_free(config);
        return status;
    }
    pthread_mutex_init(&runtime->lock, NULL);
    runtime->options = *options;
    log_set_level((enum log_level)config->log.level);
    struct td_error model_err = {0};
    status = open_parts(runtime, config, &scanner, &model_err, err);
    if (status == TD_OK) {
        status = open_snapshot(runtime, config, scanner, &model_err, err);
    } else {
        config_free(config);
        privacy_scanner_free(scanner);
    }
    if (status == TD_OK)
        *out = runtime;
    else
        runtime_close(runtime);
    return status;
}

static void keep_vaults(struct runtime *runtime)
{
    struct td_error err = {0};
    if (vault_keep_save(runtime->first, runtime->services.base.vaults, &err) != TD_OK)
        log_event(LOG_LEVEL_WARN, "vaults_not_kept", "error=\"%s\"", err.message);
}

/* The configuration in use says whether answers are kept. */
static void keep_all(struct runtime *runtime)
{
    keep_vaults(runtime);
    if (runtime->current)
        answers_keep_save(snapshot_config(runtime->current), runtime->services.base.answers);
}

void runtime_close(struct runtime *runtime)
{
    if (!runtime)
        return;
    if (runtime->first && runtime->options.serves)
        keep_all(runtime);
    snapshot_drop(runtime->current);
    sandbox_free(runtime->services.base.sandbox);
    model_loading_free(runtime->loading);
    engine_setup_close(&runtime->engine);
    services_setup_close(&runtime->services);
    storage_close(runtime->storage); /* last: until now the files are written */
    config_free(runtime->first);     /* connections have its names until then */
    pthread_mutex_destroy(&runtime->lock);
    free(runtime);
}

/* --- use --- */

const struct config *runtime_config(const struct runtime *runtime)
{
    return runtime->first;
}

const struct td_model *runtime_model(const struct runtime *runtime)
{
    const struct local_model *main = engine_setup_main(&runtime->engine);
    return main ? main->model : NULL;
}

struct embedding_service *runtime_embeddings(const struct runtime *runtime)
{
    return engine_setup_embeddings(&runtime->engine);
}

struct sandbox *runtime_sandbox(const struct runtime *runtime)
{
    return runtime->services.base.sandbox;
}

struct consents *runtime_consents(const struct runtime *runtime)
{
    return runtime->services.base.consents;
}

struct spending *runtime_spending(const struct runtime *runtime)
{
    return runtime->services.base.spending;
}

struct meters *runtime_meters(const struct runtime *runtime)
{
    return runtime->services.base.meters;
}

struct ledger *runtime_ledger(const struct runtime *runtime)
{
    return runtime->services.base.ledger;
}

struct answer_cache *runtime_answers(const struct runtime *runtime)
{
    return runtime->services.base.answers;
}

struct prober *runtime_prober(const struct runtime *runtime)
{
    return runtime->services.base.prober;
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

/* A runtime that could be opened can answer: its ledger is open, and some tier was usable. Since
 * then both may have changed. */
bool runtime_ready(void *ctx, const char **why_not)
{
    struct exchange_services *services = runtime_acquire(ctx);
    bool usable = is_usable(services);
    runtime_release(ctx, services);
    *why_not = usable ? storage_fault(((struct runtime *)ctx)->storage)
                      : "no tier is usable: there is no local model and no key for any other";
    return *why_not == NULL;
}

void runtime_look_at_storage(struct runtime *runtime)
{
    storage_look(runtime->storage);
}

void runtime_tell_address(struct runtime *runtime, const char *url)
{
    storage_tell_address(runtime->storage, url);
}

/* Phrases, reactions, scans and computed prompts are not stored by user: all of them go. Computed
 * prompts are a tenant's own, so of these only the tenant's do. */
void runtime_forget(void *ctx, const struct api_forget *whom, struct api_forgotten *out)
{
    struct runtime *runtime = ctx;
    uint8_t owner[CRYPTO_SHA256_BYTES];
    conversation_id_owner(whom->tenant, whom->user, owner);
    struct td_error err = {0};
    watch_forget_phrases(runtime->services.base.watch);
    if (runtime->services.base.reactions)
        reactions_clear(runtime->services.base.reactions);
    enum td_status status = consents_forget(runtime->services.base.consents, whom->caller,
                                            whom->user, &out->consents, &err);
    if (status == TD_OK && runtime->services.base.consistency)
        status = consistency_forget(runtime->services.base.consistency, whom->tenant, whom->user,
                                    &out->similar, &err);
    if (status != TD_OK) {
        out->failed = true;
        log_event(LOG_LEVEL_WARN, "forget_failed", "error=\"%s\"", err.message);
    }
    out->vaults = vault_store_forget(runtime->services.base.vaults, owner, !whom->tenant);
    out->answers = answer_cache_forget(runtime->services.base.answers, whom->tenant, whom->user);
    struct prefix_scope scope;
    tier_local_scope(whom->caller, scope.bytes);
    struct exchange_services *services = runtime_acquire(runtime);
    for (size_t i = 0; i < services->scheduler_count; i++)
        scheduler_forget(services->schedulers[i], whom->caller ? &scope : NULL);
    out->caches = services->scheduler_count > 0;
    if (services->scanner)
        scan_memory_clear(privacy_scanner_memory(services->scanner));
    runtime_release(runtime, services);
    atomic_store(&runtime->forget_retired, true);
    if (runtime->services.base.sandbox)
        sandbox_renew(runtime->services.base.sandbox);
}

enum td_status runtime_forget_stored(void *ctx, const struct api_forget *whom,
                                     struct api_stored *out, struct td_error *err)
{
    const struct runtime *runtime = ctx;
    const struct snapshot_base *base = &runtime->services.base;
    const struct config *config = runtime->first;
    const struct stored_forget wanted = {
        .config = config,
        .open = STORED_CONSENTS | STORED_VAULTS | (base->ledger ? STORED_LEDGER : 0) |
                (base->consistency ? STORED_SIMILAR : 0) | (base->queues ? STORED_TICKETS : 0) |
                (file_setup_keeps(config) ? STORED_FILES : 0) |
                (deferral_setup_keeps(config) ? STORED_DEFERRED : 0) |
                (response_setup_keeps(config) ? STORED_RESPONSES : 0),
        .tenant = whom->tenant,
        .user = whom->user,
    };
    return stored_forget(&wanted, out, err);
}

/* Vaults that are swept at a time. A thread that asks for a vault meanwhile waits no longer than
 * that. */
#define VAULTS_SWEPT 16

static uint64_t sweep_vaults(struct runtime *runtime)
{
    uint64_t wait_ms;
    do
        wait_ms = vault_store_sweep(runtime->services.base.vaults,
                                    (uint64_t)clock_monotonic_ms(NULL), VAULTS_SWEPT);
    while (wait_ms == 0);
    return wait_ms;
}

/* --- changes --- */

/* Answers that have begun keep the old snapshot. **takes** fresh. */
static void use_snapshot(struct runtime *runtime, struct snapshot *fresh)
{
    pthread_mutex_lock(&runtime->lock);
    struct snapshot *old = runtime->current;
    runtime->current = fresh;
    pthread_mutex_unlock(&runtime->lock);
    snapshot_record_policy(fresh, old);
    follow_policy(runtime);
    snapshot_drop(old);
}

/* Makes a snapshot of the configuration with these models and uses it. **takes** both; on failure
 * nothing has changed. */
static enum td_status change(struct runtime *runtime, struct config *config,
                             struct engine_parts *engine, struct td_error *err)
{
    struct privacy_scanner *scanner = NULL;
    struct worker_arguments arguments;
    struct snapshot *fresh = NULL;
    struct snapshot_base base = runtime->services.base;
    enum td_status status = privacy_setup(config, &scanner, err);
    base.before = runtime->current;
    base.engine = engine;
    if (status == TD_OK)
        status = snapshot_new(config, scanner, &base, &fresh, err);
    else
        config_free(config);
    if (status == TD_OK && base.sandbox) {
        fill_arguments(runtime, config, engine, &arguments);
        status = sandbox_replace(base.sandbox, arguments.items, config->text, err);
    }
    if (status != TD_OK) {
        snapshot_drop(fresh);
        engine_setup_close(engine);
        return status;
    }
    struct engine_parts old = runtime->engine;
    runtime->engine = *engine;
    model_loading_retire(runtime->loading, &old, &runtime->engine);
    use_snapshot(runtime, fresh);
    return TD_OK;
}

/* The models that were being opened take over, as one change. */
static void use_models(struct runtime *runtime, struct config *config, struct engine_parts *engine)
{
    struct td_error err = {0};
    struct config *again = config_hold(config);
    struct engine_parts kept;
    engine_setup_fall_back(engine, &runtime->engine, &kept);
    if (change(runtime, config, engine, &err) == TD_OK) {
        log_event(LOG_LEVEL_INFO, "models_changed", "file=%s", again->label);
        engine_setup_close(&kept);
        config_free(again);
        return;
    }
    log_event(LOG_LEVEL_ERROR, "models_rejected", "kept=old reason=\"%s\"", err.message);
    if (change(runtime, again, &kept, &err) != TD_OK)
        log_event(LOG_LEVEL_ERROR, "config_rejected", "kept=old reason=\"%s\"", err.message);
}

uint64_t runtime_tend(struct runtime *runtime)
{
    struct engine_parts engine;
    struct config *config;
    uint64_t vaults_ms = sweep_vaults(runtime);
    if (model_loading_take(runtime->loading, &engine, &config))
        use_models(runtime, config, &engine);
    if (atomic_exchange(&runtime->forget_retired, false))
        model_loading_forget(runtime->loading);
    uint64_t models_ms = model_loading_tend(runtime->loading);
    return models_ms < vaults_ms ? models_ms : vaults_ms;
}

/* Opens what the configuration asks for and is not there; NULL = all is. */
static void load_models(struct runtime *runtime, struct config *config)
{
    const struct engine_options options = engine_options_of(runtime);
    struct td_error err = {0};
    model_loading_give_up(runtime->loading);
    if (config &&
        model_loading_start(runtime->loading, config, &options, &runtime->engine, &err) != TD_OK)
        log_event(LOG_LEVEL_ERROR, "models_rejected", "kept=old reason=\"%s\"", err.message);
}

enum td_status runtime_reload(struct runtime *runtime, struct td_error *err)
{
    struct config *config;
    struct engine_parts engine;
    const struct engine_options options = engine_options_of(runtime);
    enum td_status status = load_config(&runtime->options, &config, err);
    if (status != TD_OK)
        return status;
    restart_keys_warn(runtime->first, config);
    status = services_setup_update(config, runtime->options.serves, &runtime->services, err);
    if (status != TD_OK) {
        config_free(config);
        return status;
    }
    if (runtime->storage)
        storage_watch(runtime->storage, &runtime->services);
    bool same = engine_setup_keep(config, &options, &runtime->engine, &engine);
    struct config *held = config_hold(config);
    status = change(runtime, config, &engine, err);
    if (status == TD_OK) {
        watch_set_usual_share(runtime->services.base.watch, held->watch.escalation_share);
        log_set_level((enum log_level)held->log.level);
        retirement_log(held);
        load_models(runtime, same ? NULL : held);
    }
    config_free(held);
    return status;
}

void runtime_tell_reloaded(const struct runtime *runtime)
{
    log_event(LOG_LEVEL_INFO, "config_reloaded", "policy=%s file=%s",
              snapshot_services(runtime->current)->policy->version,
              snapshot_config(runtime->current)->label);
}
