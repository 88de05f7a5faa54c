/* What a process that runs exchanges has: a configuration, models, services, and the snapshot of
 * policy and tiers in use.
 *
 * The parts are opened in the order of their dependence (services_setup.c, engine_setup.c) and
 * closed in the reverse one. A reload makes a new snapshot beside the old one and swaps the
 * pointer under the lock; nothing else here is shared between threads. */
#include "app/setup/process/runtime.h"

#include "api/api.h"
#include "app/setup/privacy/privacy_setup.h"
#include "app/setup/privacy/retention.h"
#include "app/setup/privacy/vault_keep.h"
#include "app/setup/process/engine_setup.h"
#include "app/setup/process/restart_keys.h"
#include "app/setup/process/services_setup.h"
#include "base/error.h"
#include "base/log.h"
#include "base/names.h"
#include "base/str.h"
#include "engine/session/scheduler.h"
#include "exchange/limits/watch.h"
#include "exchange/memory/consistency.h"
#include "exchange/memory/ramp_table.h"
#include "exchange/parts/shadow_pool.h"
#include "exchange/private/consents.h"
#include "exchange/private/conversation_id.h"
#include "privacy/pseudonym/vault_store.h"
#include "tier/sandbox.h"

#include <assert.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

struct runtime {
    pthread_mutex_t lock; /* of `current` */
    struct snapshot *current;
    struct snapshot *first; /* held for its configuration */
    struct runtime_options options;
    struct engine_parts engine;
    struct services_parts services;
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

/* The confined worker is this program with what was asked of this one. */
static enum td_status make_sandbox(struct runtime *runtime, const struct config *config,
                                   struct td_error *err)
{
    const struct runtime_options *options = &runtime->options;
    const char *arguments[16] = {"confined"};
    char threads[32];
    size_t count = 1;
    if (!config->privacy.confine || !runtime->engine.embeddings) /* no model, no service of it */
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
    runtime->services.base.sandbox = sandbox_new(arguments);
    return runtime->services.base.sandbox
               ? TD_OK
               : error_set(err, TD_NO_MEMORY, "no memory for a confined worker");
}

/* Everything but the snapshot. What was opened is closed by runtime_close, also after a failure. */
static enum td_status open_parts(struct runtime *runtime, const struct config *config,
                                 struct privacy_scanner **scanner, struct td_error *err)
{
    const struct runtime_options *options = &runtime->options;
    struct snapshot_base *base = &runtime->services.base;
    enum td_status status =
        services_setup_memory(config, options->confined, &runtime->services, err);
    if (status == TD_OK && !options->confined)
        status = privacy_setup(config, scanner, err);
    if (status == TD_OK)
        status = engine_setup_open(config, options->cpu, &runtime->engine, err);
    if (status != TD_OK)
        return status;
    base->model = runtime->engine.model;
    base->identity = runtime->engine.model ? &runtime->engine.identity : NULL;
    base->scheduler = runtime->engine.scheduler;
    base->context_tokens = runtime->engine.context_tokens;
    if (options->confined)
        return TD_OK;
    status = services_setup_files(config, options->serves, &runtime->services, err);
    return status == TD_OK ? make_sandbox(runtime, config, err) : status;
}

/* **takes** the configuration and the scanner. */
static enum td_status open_snapshot(struct runtime *runtime, struct config *config,
                                    struct privacy_scanner *scanner, struct td_error *err)
{
    enum td_status status =
        snapshot_new(config, scanner, &runtime->services.base, &runtime->current, err);
    if (status != TD_OK)
        return status;
    runtime->first = snapshot_hold(runtime->current);
    if (runtime->options.serves)
        vault_keep_clear(snapshot_config(runtime->first));
    if (runtime->services.base.ramp_table)
        ramp_table_set_policy(runtime->services.base.ramp_table,
                              snapshot_services(runtime->current)->policy);
    return TD_OK;
}

enum td_status runtime_open(const struct runtime_options *options, struct runtime **out,
                            struct td_error *err)
{
    assert(options && out);
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
    status = open_parts(runtime, config, &scanner, err);
    if (status == TD_OK) {
        status = open_snapshot(runtime, config, scanner, err);
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
    if (vault_keep_save(snapshot_config(runtime->first), runtime->services.base.vaults, &err) !=
        TD_OK)
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
    sandbox_free(runtime->services.base.sandbox);
    engine_setup_close(&runtime->engine);
    services_setup_close(&runtime->services);
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
    return runtime->engine.model;
}

struct scheduler *runtime_scheduler(const struct runtime *runtime)
{
    return runtime->engine.scheduler;
}

struct embedding_service *runtime_embeddings(const struct runtime *runtime)
{
    return runtime->engine.embeddings;
}

struct sandbox *runtime_sandbox(const struct runtime *runtime)
{
    return runtime->services.base.sandbox;
}

struct ledger *runtime_ledger(const struct runtime *runtime)
{
    return runtime->services.base.ledger;
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
    watch_forget_phrases(runtime->services.base.watch);
    enum td_status status =
        consents_forget(runtime->services.base.consents, user, &out->consents, &err);
    if (status == TD_OK && runtime->services.base.consistency)
        status = consistency_forget(runtime->services.base.consistency, user, &out->similar, &err);
    if (status != TD_OK) {
        out->failed = true;
        log_event(LOG_LEVEL_WARN, "forget_failed", "error=\"%s\"", err.message);
    }
    out->vaults = vault_store_forget(runtime->services.base.vaults, owner);
    out->caches = runtime->engine.scheduler != NULL;
    if (runtime->engine.scheduler)
        scheduler_forget(runtime->engine.scheduler);
    if (runtime->services.base.sandbox)
        sandbox_renew(runtime->services.base.sandbox);
}

/* Vaults that are swept at a time. A thread that asks for a vault meanwhile waits no longer than
 * that. */
#define VAULTS_SWEPT 16

uint64_t runtime_tend(struct runtime *runtime)
{
    uint64_t wait_ms;
    do
        wait_ms = vault_store_sweep(runtime->services.base.vaults,
                                    (uint64_t)clock_monotonic_ms(NULL), VAULTS_SWEPT);
    while (wait_ms == 0);
    return wait_ms;
}

enum td_status runtime_reload(struct runtime *runtime, struct td_error *err)
{
    struct config *config;
    struct snapshot *fresh = NULL;
    enum td_status status = load_config(&runtime->options, &config, err);
    if (status != TD_OK)
        return status;
    restart_keys_warn(runtime_config(runtime), config);
    struct privacy_scanner *scanner = NULL;
    status = services_setup_update(config, runtime->options.serves, &runtime->services, err);
    if (status == TD_OK)
        status = privacy_setup(config, &scanner, err);
    if (status != TD_OK) {
        config_free(config);
        return status;
    }
    enum log_level level = (enum log_level)config->log.level;
    struct snapshot_base base = runtime->services.base;
    base.before = runtime->current;
    status = snapshot_new(config, scanner, &base, &fresh, err);
    if (status != TD_OK)
        return status;
    watch_set_usual_share(runtime->services.base.watch, config->watch.escalation_share);
    if (runtime->services.base.sandbox)
        sandbox_renew(runtime->services.base.sandbox);
    log_set_level(level);
    pthread_mutex_lock(&runtime->lock);
    struct snapshot *old = runtime->current;
    runtime->current = fresh;
    pthread_mutex_unlock(&runtime->lock);
    if (runtime->services.base.ramp_table)
        ramp_table_set_policy(runtime->services.base.ramp_table, snapshot_services(fresh)->policy);
    log_event(LOG_LEVEL_INFO, "config_reloaded", "policy=%s file=%s",
              snapshot_services(fresh)->policy->version, snapshot_config(fresh)->label);
    snapshot_drop(old);
    return TD_OK;
}
