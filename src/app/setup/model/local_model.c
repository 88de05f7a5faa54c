/* The first token is computed before anybody waits for it. That brings the weights into memory and
 * finds files whose numbers make no sense. */
#include "app/setup/model/local_model.h"

#include "app/setup/model/cache_check.h"
#include "app/setup/model/model_identity.h"
#include "base/core/assertion.h"
#include "base/core/error.h"
#include "base/core/str.h"
#include "base/crypto/crypto.h"
#include "base/time/log.h"
#include "engine/embedding/embedding_service.h"
#include "engine/session/scheduler.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

/* Of the context in which the first token is computed. */
#define WARM_UP_TOKENS 16

/* --- the key --- */

static void write_file(const char *path, struct buf *out)
{
    struct stat file = {0};
    if (path && stat(path, &file) == 0)
        buf_printf(out, "%s %llu %llu %lld %lld %ld\n", path, (unsigned long long)file.st_dev,
                   (unsigned long long)file.st_ino, (long long)file.st_size,
                   (long long)file.st_mtim.tv_sec, file.st_mtim.tv_nsec);
    else
        buf_printf(out, "%s\n", path ? path : "");
}

bool local_model_tools_beside(const char *path, char out[static LOCAL_MODEL_PATH_BYTES])
{
    static const char end[] = ".gguf";
    struct td_str name = str_from(path);
    if (!str_ends_with(name, STR(end)))
        return false;
    name = str_slice(name, 0, name.len - (sizeof end - 1));
    int len = snprintf(out, LOCAL_MODEL_PATH_BYTES, STR_FMT "-tools%s", STR_ARG(name), end);
    return len > 0 && len < LOCAL_MODEL_PATH_BYTES && access(out, R_OK) == 0;
}

void local_model_key(const char *path, const struct local_model_use *use,
                     char out[static LOCAL_MODEL_KEY_BYTES])
{
    const struct config *config = use->config;
    uint8_t digest[CRYPTO_SHA256_BYTES];
    char tools[LOCAL_MODEL_PATH_BYTES];
    struct buf text;
    buf_init(&text, 4 * LOCAL_MODEL_PATH_BYTES);
    write_file(path, &text);
    write_file(use->draft_path, &text);
    write_file(local_model_tools_beside(path, tools) ? tools : NULL, &text);
    buf_printf(&text, "%u %d %d %d %d %u %d %u %u %u %u %u %d %u %.17g %d", use->idle_ms,
               use->is_own, use->generates, use->embeds, (int)use->cpu, use->context_max,
               config->engine.kv_type, config->engine.threads, config->engine.slots,
               config->engine.queue, config->engine.context_tokens, config->engine.cache_tokens,
               config->engine.speculation, config->engine.draft_tokens,
               config->engine.exit_threshold, config->privacy.zero_retention);
    crypto_sha256(text.data, text.len, digest);
    crypto_hex(digest, sizeof digest, out);
    buf_deinit(&text);
}

/* In a session of its own, so that it appears in no count of the scheduler's. */
static enum td_status compute_token(const struct local_model *local,
                                    const struct local_model_use *use, struct td_error *err)
{
    const uint32_t own = td_model_get_info(local->model)->context_tokens;
    const struct td_session_options options = {
        .context_tokens = own && own < WARM_UP_TOKENS ? own : WARM_UP_TOKENS,
        .thread_count = use->config->engine.threads};
    const struct td_generate_options generate = {.tokens_max = 1,
                                                 .sampling = td_sampling_default()};
    int32_t ids[WARM_UP_TOKENS - 1];
    size_t count;
    struct td_session *session = NULL;
    enum td_status status = td_tokenize(local->model, STR("Hello"), true, false, ids,
                                        sizeof ids / sizeof *ids, &count, err);
    if (status == TD_OK)
        status = td_session_new(local->model, &options, &session, err);
    if (status == TD_OK)
        status = td_generate(session, ids, count, &generate, NULL, NULL, NULL, err);
    td_session_free(session);
    if (status != TD_OK)
        error_prefix(err, "%s: the first token", local->path);
    return status;
}

/* --- opening --- */

static uint32_t context_of(const struct local_model_use *use, const struct td_model *model)
{
    uint32_t wanted = use->config->engine.context_tokens;
    uint32_t own = td_model_get_info(model)->context_tokens;
    if (wanted)
        return wanted;
    return own == 0 || own > use->context_max ? use->context_max : own;
}

static enum td_status open_scheduler(struct local_model *local, const struct local_model_use *use,
                                     struct td_error *err)
{
    const struct config *config = use->config;
    enum td_speculation speculation = (enum td_speculation)config->engine.speculation;
    if (speculation == TD_SPECULATION_DRAFT && !local->draft)
        speculation = TD_SPECULATION_NONE;
    struct scheduler_options options = {
        .model = local->model,
        .slot_count = config->engine.slots,
        .queue_capacity = config->engine.queue,
        .context_tokens = local->context_tokens,
        .cache_tokens = config->engine.cache_tokens,
        .kv_type = local->kv_type,
        .thread_count = config->engine.threads,
        .speculation = speculation,
        .draft = local->draft,
        .draft_tokens = config->engine.draft_tokens,
        .exit_threshold = use->is_own ? 0 : (float)config->engine.exit_threshold,
        .idle_ms = use->idle_ms,
        .keep_nothing = config->privacy.zero_retention,
    };
    return scheduler_new(&options, &local->scheduler, err);
}

/* With the draft model if that can be had. Answers are the same without it. */
static enum td_status open_generation(struct local_model *local, const struct local_model_use *use,
                                      const struct td_model_options *options, struct td_error *err)
{
    struct td_error why = {0};
    enum td_status status = TD_NOT_FOUND;
    if (use->draft_path)
        status = td_model_open(use->draft_path, options, &local->draft, &why);
    if (status == TD_OK)
        status = open_scheduler(local, use, &why);
    if (status == TD_OK)
        return status;
    if (use->draft_path)
        log_event(LOG_LEVEL_WARN, "draft_model_not_used", "file=%s reason=\"%s\"", use->draft_path,
                  why.message);
    td_model_close(local->draft);
    local->draft = NULL;
    return open_scheduler(local, use, err);
}

/* Without it, requests that bring tools are the main model's. */
static void open_for_tools(struct local_model *local, const struct local_model_use *use)
{
    struct local_model_use own = *use;
    struct td_error why = {0};
    char path[LOCAL_MODEL_PATH_BYTES];
    own.draft_path = NULL;
    own.embeds = false;
    own.is_own = true; /* the threshold of early exits is the main model's */
    own.for_tools = true;
    if (use->generates && !use->for_tools && local_model_tools_beside(local->path, path) &&
        local_model_open(path, &own, &local->for_tools, &why) != TD_OK)
        log_event(LOG_LEVEL_WARN, "tools_model_not_used", "file=%s reason=\"%s\"", path,
                  why.message);
}

static enum td_status open_parts(struct local_model *local, const struct local_model_use *use,
                                 struct td_error *err)
{
    const struct td_model_options options = {.cpu = use->cpu};
    enum td_status status = td_model_open(local->path, &options, &local->model, err);
    if (status == TD_OK && use->generates)
        status = model_identity_read(local->model, local->path, &local->identity, err);
    if (status != TD_OK)
        return status;
    local->context_tokens = context_of(use, local->model);
    if (use->generates) {
        local->kv_type = cache_check_choose(local->model, &local->identity, use->config->state_dir,
                                            (enum td_kv_type)use->config->engine.kv_type,
                                            use->config->engine.threads);
        status = open_generation(local, use, &options, err);
    }
    if (status == TD_OK && use->generates && use->warm && !use->idle_ms)
        status = compute_token(local, use, err);
    struct embedding_service_options embeddings = {
        .model = local->model,
        .thread_count = use->config->engine.threads,
        .queue_capacity = use->config->engine.queue,
    };
    if (status == TD_OK && use->embeds)
        status = embedding_service_new(&embeddings, &local->embeddings, err);
    return status;
}

enum td_status local_model_open(const char *path, const struct local_model_use *use,
                                struct local_model **out, struct td_error *err)
{
    ASSERT(path && use->config && out);
    struct local_model *local = calloc(1, sizeof *local);
    *out = NULL;
    if (!local)
        return error_set(err, TD_NO_MEMORY, "%s: no memory", path);
    atomic_init(&local->users, 1);
    snprintf(local->path, sizeof local->path, "%s", path);
    local_model_key(path, use, local->key); /* a change from here on is seen at the next reload */
    enum td_status status = open_parts(local, use, err);
    if (status == TD_OK) {
        open_for_tools(local, use);
        *out = local;
    } else {
        local_model_drop(local);
    }
    return status;
}

struct local_model *local_model_hold(struct local_model *model)
{
    if (model)
        atomic_fetch_add_explicit(&model->users, 1, memory_order_relaxed);
    return model;
}

void local_model_drop(struct local_model *model)
{
    if (!model || atomic_fetch_sub_explicit(&model->users, 1, memory_order_acq_rel) != 1)
        return;
    local_model_drop(model->for_tools);
    scheduler_free(model->scheduler);
    embedding_service_free(model->embeddings);
    td_model_close(model->draft);
    td_model_close(model->model);
    free(model);
}

bool local_model_is_shared(const struct local_model *model)
{
    return atomic_load_explicit(&model->users, memory_order_acquire) > 1;
}
