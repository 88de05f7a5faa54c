/* Models are opened once, at the start; their keys need a restart. A model for embeddings is
 * opened only when the configuration names one, else the local tier's model embeds too. */
#include "app/setup/process/engine_setup.h"

#include "app/setup/model/model_file.h"
#include "app/setup/model/model_identity.h"
#include "app/setup/policy/policy_build.h"
#include "base/error.h"
#include "engine/embedding/embedding_service.h"
#include "engine/session/scheduler.h"

#include <assert.h>

static bool has_local_tier(const struct config *config)
{
    for (size_t i = 0; i < config->tier_count; i++)
        if (config->tiers[i].kind == CONFIG_TIER_LOCAL)
            return true;
    return false;
}

/* Opens the model that a key of the configuration names; the message names the key. */
static enum td_status open_model(const struct config *config, const char *key, const char *wanted,
                                 const struct td_model_options *options, struct td_model **out,
                                 struct td_error *err)
{
    char path[4096];
    enum td_status status = model_file_find(wanted, config->models.dir, path, sizeof path, err);
    if (status == TD_OK)
        status = td_model_open(path, options, out, err);
    if (status != TD_OK)
        error_prefix(err, "%s", key);
    return status;
}

static uint32_t context_of(const struct config *config, const struct td_model *model)
{
    uint32_t context = config->engine.context_tokens;
    if (context == 0)
        context = td_model_get_info(model)->context_tokens;
    bool given = config->engine.context_tokens > 0;
    return context == 0 || (!given && context > POLICY_CONTEXT_TOKENS) ? POLICY_CONTEXT_TOKENS
                                                                       : context;
}

static enum td_status open_scheduler(const struct config *config, struct engine_parts *parts,
                                     struct td_error *err)
{
    struct scheduler_options options = {
        .model = parts->model,
        .slot_count = config->engine.slots,
        .queue_capacity = config->engine.queue,
        .context_tokens = parts->context_tokens,
        .cache_tokens = config->engine.cache_tokens,
        .kv_type = (enum td_kv_type)config->engine.kv_type,
        .thread_count = config->engine.threads,
        .speculation = (enum td_speculation)config->engine.speculation,
        .draft = parts->draft_model,
        .draft_tokens = config->engine.draft_tokens,
        .exit_threshold = (float)config->engine.exit_threshold,
        .keep_nothing = config->privacy.zero_retention,
    };
    return scheduler_new(&options, &parts->scheduler, err);
}

static enum td_status open_local(const struct config *config,
                                 const struct td_model_options *options, struct engine_parts *parts,
                                 struct td_error *err)
{
    enum td_status status = model_file_find(config->engine.model, config->models.dir,
                                            parts->model_path, sizeof parts->model_path, err);
    if (status == TD_OK)
        status = td_model_open(parts->model_path, options, &parts->model, err);
    if (status == TD_OK && config->engine.draft_model)
        status = open_model(config, "engine.draft_model", config->engine.draft_model, options,
                            &parts->draft_model, err);
    if (status == TD_OK)
        status = model_identity_read(parts->model, parts->model_path, &parts->identity, err);
    if (status != TD_OK)
        return status;
    parts->context_tokens = context_of(config, parts->model);
    return open_scheduler(config, parts, err);
}

/* Uses the model that the configuration names, or else the local tier's. Without either there
 * are no embeddings. */
static enum td_status open_embeddings(const struct config *config,
                                      const struct td_model_options *model_options,
                                      struct engine_parts *parts, struct td_error *err)
{
    enum td_status status = TD_OK;
    if (config->engine.embedding_model)
        status = open_model(config, "engine.embedding_model", config->engine.embedding_model,
                            model_options, &parts->embedding_model, err);
    struct embedding_service_options options = {
        .model = parts->embedding_model ? parts->embedding_model : parts->model,
        .thread_count = config->engine.threads,
        .queue_capacity = config->engine.queue,
    };
    if (status == TD_OK && options.model)
        status = embedding_service_new(&options, &parts->embeddings, err);
    return status;
}

enum td_status engine_setup_open(const struct config *config, enum td_cpu cpu,
                                 struct engine_parts *out, struct td_error *err)
{
    assert(config->models.dir);
    const struct td_model_options options = {
        .cpu = cpu == TD_CPU_AUTO ? (enum td_cpu)config->engine.cpu : cpu};
    *out = (struct engine_parts){0};
    enum td_status status = has_local_tier(config) ? open_local(config, &options, out, err) : TD_OK;
    return status == TD_OK ? open_embeddings(config, &options, out, err) : status;
}

void engine_setup_close(struct engine_parts *parts)
{
    if (parts->scheduler)
        scheduler_free(parts->scheduler);
    embedding_service_free(parts->embeddings);
    td_model_close(parts->embedding_model);
    td_model_close(parts->draft_model);
    td_model_close(parts->model);
}
