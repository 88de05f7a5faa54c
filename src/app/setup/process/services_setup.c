/* The ledger is opened first, because budgets are restored from it, and the vaults last, because
 * reading them is of use only when all else is open. The confined worker has only what
 * services_setup_memory makes. */
#include "app/setup/process/services_setup.h"
#include "app/setup/privacy/answers_keep.h"

#include "api/cache/answer_cache.h"
#include "api/cache/cache_key.h"
#include "app/setup/files/queue_file.h"
#include "app/setup/files/state_file.h"
#include "app/setup/policy/budget_restore.h"
#include "app/setup/policy/consistency_setup.h"
#include "app/setup/policy/skew_setup.h"
#include "app/setup/policy/token_restore.h"
#include "app/setup/privacy/egress_setup.h"
#include "app/setup/privacy/vault_keep.h"
#include "app/setup/process/prober.h"
#include "base/core/assertion.h"
#include "base/core/error.h"
#include "base/time/log.h"
#include "cluster/postgres.h"
#include "cluster/share.h"
#include "device/device.h"
#include "exchange/limits/account.h"
#include "exchange/limits/hedge_allowance.h"
#include "exchange/limits/meter.h"
#include "exchange/limits/spending.h"
#include "exchange/limits/token_counts.h"
#include "exchange/limits/watch.h"
#include "exchange/memory/consistency.h"
#include "exchange/memory/ramp_table.h"
#include "exchange/memory/reactions.h"
#include "exchange/memory/skew_table.h"
#include "exchange/parts/shadow_pool.h"
#include "exchange/private/consents.h"
#include "exchange/private/signatures.h"
#include "ledger/record/ledger.h"
#include "ledger/store/queue_keeper.h"
#include "ledger/store/queue_store.h"
#include "ledger/store/shared_text.h"
#include "privacy/pseudonym/vault_store.h"
#include "privacy/scan/class_file.h"

#include <stdatomic.h>
#include <stdlib.h>

/* Users, applications and routes whose day is counted apart, half of them for one tenant: 6 MB. */
#define SPENDERS_MAX 130816
/* A disk that takes longer than this counts as broken. */
#define FLUSH_MS 10000

enum td_status services_setup_memory(const struct config *config, bool confined,
                                     struct services_parts *parts, struct td_error *err)
{
    struct snapshot_base *base = &parts->base;
    *parts = (struct services_parts){.base.confined = confined};
    if (!confined)
        base->device = device_new(config->device.root, config->device.metered.items,
                                  config->device.metered.count, NULL);
    base->classes = conversation_classes_new(config->privacy.conversations_max);
    base->signatures = signatures_new();
    base->vaults = vault_store_new(config->privacy.pseudonyms.conversations_max,
                                   config->privacy.pseudonyms.bytes_max,
                                   (uint64_t)config->privacy.pseudonyms.ttl_s * 1000);
    base->spending = spending_new(NULL, SPENDERS_MAX);
    base->meters = meters_new(NULL);
    base->hedge_allowance = hedge_allowance_new();
    base->account = account_new();
    base->token_counts = token_counts_new();
    base->watch = watch_new(NULL);
    if (!base->classes || !base->signatures || !base->vaults || !base->spending || !base->meters ||
        !base->hedge_allowance || !base->account || !base->token_counts || !base->watch)
        return error_set(err, TD_NO_MEMORY, "no memory for %u conversations",
                         config->privacy.conversations_max);
    watch_set_usual_share(base->watch, config->watch.escalation_share);
    return TD_OK;
}

/* What an exchange has left in other files is on the disk before its record is. */
static enum td_status flush_others(void *ctx, struct td_error *err)
{
    struct services_parts *parts = ctx;
    struct egress_log *egress = atomic_load(&parts->egress);
    enum td_status status =
        parts->class_file ? class_file_flush(parts->class_file, FLUSH_MS, err) : TD_OK;
    return status == TD_OK && egress ? egress_log_sync(egress, err) : status;
}

/* A node begins its work while the database is away: it does not know then what was spent. */
static enum td_status restore(const struct config *config, struct snapshot_base *base,
                              struct td_error *err)
{
    struct td_error why = {0};
    enum td_status status = budget_restore(config, NULL, base->spending, &why);
    if (status == TD_OK)
        status = token_counts_restore(config, base->token_counts, &why);
    if (status == TD_UNAVAILABLE && !ledger_is_file(config->ledger.path)) {
        log_event(LOG_LEVEL_WARN, "spent_unknown", "reason=\"%s\"", why.message);
        return TD_OK;
    }
    return status == TD_OK ? TD_OK : error_set(err, status, "%s", why.message);
}

static enum td_status open_ledger(const struct config *config, struct services_parts *parts,
                                  struct td_error *err)
{
    struct snapshot_base *base = &parts->base;
    postgres_set_node(config->cluster.node, config->ledger.waiting);
    if (!config->ledger.enabled)
        return TD_OK;
    const char *on_disk = config->ledger.waiting ? config->ledger.waiting : config->ledger.path;
    enum td_status status = state_file_make_folders(on_disk, err);
    if (status == TD_OK)
        status = installation_key_for_texts(config, true, err);
    if (status == TD_OK)
        status = ledger_open(config->ledger.path, &base->ledger, err);
    if (status == TD_OK && config->ledger.durable == CONFIG_DURABLE_ANSWER)
        status = ledger_make_durable(base->ledger, flush_others, parts, err);
    return status == TD_OK ? restore(config, base, err) : status;
}

static enum td_status open_shared_consents(const struct config *config, bool serves,
                                           struct snapshot_base *base, struct td_error *err)
{
    struct shared_text *text;
    enum td_status status = consents_open(NULL, &base->consents, err);
    if (status == TD_OK)
        status = shared_text_open(config->state, "consents", &text, err);
    if (status != TD_OK)
        return status;
    consents_share(base->consents, text);
    if (!serves)
        consents_keep_in_memory(base->consents);
    return TD_OK;
}

/* A command beside a server knows the consents, and does not write them. */
static enum td_status open_consents(const struct config *config, bool serves,
                                    struct snapshot_base *base, struct td_error *err)
{
    char path[STATE_PATH_BYTES];
    if (config->state)
        return open_shared_consents(config, serves, base, err);
    if (!config->state_dir)
        return consents_open(NULL, &base->consents, err);
    enum td_status status = state_file_path(config, "consents.json", path, err);
    if (status == TD_OK)
        status = consents_open(path, &base->consents, err);
    if (status == TD_OK && !serves)
        consents_keep_in_memory(base->consents);
    return status;
}

/* Only a server has conversations: a request from the command line stands alone. */
static enum td_status open_classes(const struct config *config, bool serves,
                                   struct services_parts *parts, struct td_error *err)
{
    char path[STATE_PATH_BYTES];
    if (!config->state_dir || !serves)
        return TD_OK;
    enum td_status status = state_file_path(config, "classes.bin", path, err);
    return status == TD_OK ? class_file_open(path, parts->base.classes, &parts->class_file, err)
                           : status;
}

static enum td_status open_consistency(const struct config *config, bool serves,
                                       struct services_parts *parts, struct td_error *err)
{
    enum td_status status = consistency_setup_open(config, serves, &parts->base.consistency, err);
    if (status == TD_OK && parts->base.consistency)
        status = similarity_setup_open(config->router.consistency.table, &parts->similarity, err);
    parts->base.similarity = parts->similarity ? parts->similarity : &similarity_plain;
    return status;
}

/* Opened with the first route that has a ramp, which may come with a reload. */
static enum td_status open_ramps(const struct config *config, bool serves,
                                 struct snapshot_base *base, struct td_error *err)
{
    struct ramp_table_options options = {.watch = base->watch};
    char path[STATE_PATH_BYTES];
    bool wanted = false;
    for (size_t i = 0; i < config->route_count; i++)
        wanted = wanted || config->routes[i].ramp.to;
    if (!wanted || base->ramp_table || !serves)
        return TD_OK;
    enum td_status status = installation_key(config, options.key, err);
    if (status == TD_OK && config->state_dir) {
        status = state_file_path(config, "ramps.json", path, err);
        options.path = path;
    }
    return status == TD_OK ? ramp_table_open(&options, &base->ramp_table, err) : status;
}

/* Every server has one, which is empty while the configuration wants none. */
static enum td_status open_answers(const struct config *config, bool serves,
                                   struct snapshot_base *base, struct td_error *err)
{
    bool on = config->cache.answers != CACHE_ANSWERS_NONE && !config->privacy.zero_retention;
    const struct answer_cache_limits limits = {.bytes_max = on ? config->cache.bytes_max : 0,
                                               .ttl_ms = (uint64_t)config->cache.ttl_s * 1000};
    if (base->answers)
        answer_cache_set_limits(base->answers, limits);
    else if (serves && !(base->answers = answer_cache_new(limits)))
        return error_set(err, TD_NO_MEMORY, "no memory for a cache of answers");
    else if (serves && on)
        answers_keep_load(config, base->answers);
    return TD_OK;
}

/* Opened with the first tier of people, which may come with a reload. A server also opens what
 * tiers that are gone have left: their users may be forgotten, and their tickets go in time. */
static enum td_status open_queues(const struct config *config, bool serves,
                                  struct snapshot_base *base, struct td_error *err)
{
    char path[STATE_PATH_BYTES];
    bool wanted = false;
    for (size_t i = 0; i < config->tier_count; i++)
        wanted = wanted || config->tiers[i].kind == CONFIG_TIER_REVIEW;
    if (base->queues || (!wanted && !(serves && queue_file_exists(config))))
        return TD_OK;
    enum td_status status = queue_file_name(config, path, err);
    if (status == TD_OK)
        status = queue_store_open(path, &base->queues, err);
    if (status == TD_OK)
        status = queue_keeper_start(base->queues, &base->queue_keeper, err);
    if (status != TD_OK) {
        queue_store_close(base->queues);
        base->queues = NULL;
    }
    return status;
}

/* What several servers have together. */
static enum td_status open_share(const struct config *config, struct share **out,
                                 struct td_error *err)
{
    const char *variable = config->cluster.redis_password_env;
    const char *password = variable ? getenv(variable) : NULL;
    if (!config->cluster.redis)
        return TD_OK;
    if (variable && !password)
        return error_set(err, TD_INVALID, "cluster.redis_password_env: %s is not set", variable);
    return share_open(config->cluster.redis, password, config->cluster.node, out, err);
}

/* Only a server has shadows, reactions, and vaults that outlive it. */
static enum td_status open_for_server(const struct config *config, struct snapshot_base *base,
                                      struct td_error *err)
{
    base->shadow_pool = shadow_pool_new(config->shadow.running_max);
    base->reactions = reactions_new(NULL);
    base->prober = prober_new();
    enum td_status status = open_share(config, &base->share, err);
    if (status != TD_OK)
        return status;
    if (base->share && config->state) { /* or keys and what they spent are each node's own */
        meters_share(base->meters, share_limits(base->share));
        spending_ask(base->spending, share_limits(base->share));
    }
    if (!base->shadow_pool || !base->reactions || !base->prober)
        return error_set(err, TD_NO_MEMORY, "no memory for shadows, reactions and health checks");
    skew_table_set_most(shadow_pool_skew(base->shadow_pool), config->models.max_skew);
    skew_setup_restore(config, shadow_pool_skew(base->shadow_pool));
    return vault_keep_load(config, base->vaults, err);
}

enum td_status services_setup_files(const struct config *config, bool serves,
                                    struct services_parts *parts, struct td_error *err)
{
    ASSERT(parts->base.spending && parts->base.watch && !parts->base.confined);
    struct snapshot_base *base = &parts->base;
    if (serves && config->state && !spending_share(base->spending))
        return error_set(err, TD_NO_MEMORY, "no memory for budgets");
    enum td_status status = open_ledger(config, parts, err);
    if (status == TD_OK)
        status = open_consents(config, serves, base, err);
    if (status == TD_OK)
        status = open_classes(config, serves, parts, err);
    if (status == TD_OK)
        status = open_consistency(config, serves, parts, err);
    if (status == TD_OK)
        status = services_setup_update(config, serves, parts, err);
    return status == TD_OK && serves ? open_for_server(config, base, err) : status;
}

enum td_status services_setup_update(const struct config *config, bool serves,
                                     struct services_parts *parts, struct td_error *err)
{
    const struct device_acts acts = {config->device.heat, config->device.battery,
                                     config->device.memory};
    enum td_status status = egress_setup_open(config, &parts->base.egress, err);
    if (parts->base.device)
        device_set_acts(parts->base.device, acts);
    atomic_store(&parts->egress, parts->base.egress);
    if (status == TD_OK)
        status = open_answers(config, serves, &parts->base, err);
    if (status == TD_OK)
        status = open_queues(config, serves, &parts->base, err);
    return status == TD_OK ? open_ramps(config, serves, &parts->base, err) : status;
}

void services_setup_close(struct services_parts *parts)
{
    struct snapshot_base *base = &parts->base;
    if (base->ledger)
        ledger_close(base->ledger);
    watch_free(base->watch);
    egress_log_close(base->egress);
    class_file_close(parts->class_file);
    conversation_classes_free(base->classes);
    signatures_free(base->signatures);
    spending_free(base->spending);
    meters_free(base->meters);
    hedge_allowance_free(base->hedge_allowance);
    account_free(base->account);
    token_counts_free(base->token_counts);
    device_free(base->device);
    vault_store_free(base->vaults);
    ramp_table_close(base->ramp_table);
    shadow_pool_free(base->shadow_pool);
    reactions_free(base->reactions);
    prober_free(base->prober);
    share_close(base->share);
    consents_close(base->consents);
    consistency_close(base->consistency);
    similarity_close(parts->similarity);
    answer_cache_free(base->answers);
    queue_keeper_stop(base->queue_keeper);
    queue_store_close(base->queues);
}
