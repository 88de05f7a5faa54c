/* One thread opens models, so that two of them are never read at the same time. It shares nothing
 * with the main thread but one flag: what it needs it was given, and what it made is taken after
 * the flag is set.
 *
 * A retired model is closed here and not by the thread whose answer ends last, because closing can
 * take as long as the pass under way, and an event loop must not wait. */
#include "app/setup/process/model_loading.h"

#include "base/core/assertion.h"
#include "base/core/error.h"
#include "base/time/log.h"
#include "engine/session/scheduler.h"

#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#define LOOK_MS 20     /* how often the end of an opening is looked for */
#define RETIRED_MS 200 /* how often a retired model's users are counted */
#define RETIRED_MAX 32

/* What is to be opened. */
struct order {
    struct config *config; /* one user; NULL = nothing */
    struct engine_options options;
    struct engine_parts before; /* one user of each */
};

struct model_loading {
    struct order running, next; /* next: asked for while another one was running */
    struct engine_parts result; /* of `running`, once `done` */
    atomic_bool done;
    bool given_up; /* nobody waits for `running` */
    pthread_t thread;
    struct local_model *retired[RETIRED_MAX];
    size_t retired_count;
};

struct model_loading *model_loading_new(void)
{
    return calloc(1, sizeof(struct model_loading));
}

static void drop_order(struct order *order)
{
    engine_setup_close(&order->before);
    config_free(order->config);
    *order = (struct order){.config = NULL};
}

static void *open_models(void *ctx)
{
    struct model_loading *loading = ctx;
    struct order *order = &loading->running;
    struct td_error err = {0};
    /* The faults in the result say what failed, and the log has said why. */
    (void)engine_setup_open(order->config, &order->options, &order->before, &loading->result, &err);
    atomic_store_explicit(&loading->done, true, memory_order_release);
    return NULL;
}

static enum td_status begin(struct model_loading *loading, struct td_error *err)
{
    loading->given_up = false;
    atomic_store(&loading->done, false);
    if (pthread_create(&loading->thread, NULL, open_models, loading) == 0)
        return TD_OK;
    drop_order(&loading->running);
    return error_set(err, TD_NO_MEMORY, "cannot start a thread that opens models");
}

void model_loading_give_up(struct model_loading *loading)
{
    loading->given_up = true;
    drop_order(&loading->next);
}

enum td_status model_loading_start(struct model_loading *loading, struct config *config,
                                   const struct engine_options *options,
                                   const struct engine_parts *before, struct td_error *err)
{
    bool busy = loading->running.config != NULL;
    struct order *order = busy ? &loading->next : &loading->running;
    ASSERT(!busy || loading->given_up);
    order->config = config_hold(config);
    order->options = *options;
    engine_setup_copy(before, &order->before);
    return busy ? TD_OK : begin(loading, err);
}

bool model_loading_take(struct model_loading *loading, struct engine_parts *out,
                        struct config **config)
{
    if (!loading->running.config || !atomic_load_explicit(&loading->done, memory_order_acquire))
        return false;
    bool wanted = !loading->given_up;
    pthread_join(loading->thread, NULL);
    if (wanted) {
        *out = loading->result;
        *config = config_hold(loading->running.config);
    } else {
        engine_setup_close(&loading->result);
    }
    drop_order(&loading->running);
    if (loading->next.config) {
        struct td_error err = {0};
        loading->running = loading->next;
        loading->next = (struct order){.config = NULL};
        if (begin(loading, &err) != TD_OK)
            log_event(LOG_LEVEL_ERROR, "models_not_opened", "reason=\"%s\"", err.message);
    }
    return wanted;
}

static bool is_in(const struct engine_parts *parts, const struct local_model *model)
{
    for (size_t i = 0; i < parts->tier_count; i++)
        if (parts->tiers[i].model == model)
            return true;
    return parts->embedder.model == model;
}

static void retire(struct model_loading *loading, struct local_model *model,
                   const struct engine_parts *now)
{
    if (model && !is_in(now, model) && loading->retired_count < RETIRED_MAX)
        loading->retired[loading->retired_count++] = model;
    else
        local_model_drop(model);
}

void model_loading_retire(struct model_loading *loading, struct engine_parts *parts,
                          const struct engine_parts *now)
{
    for (size_t i = 0; i < parts->tier_count; i++)
        retire(loading, parts->tiers[i].model, now);
    retire(loading, parts->embedder.model, now);
    *parts = (struct engine_parts){.tier_count = 0};
}

void model_loading_forget(struct model_loading *loading)
{
    for (size_t i = 0; i < loading->retired_count; i++)
        if (loading->retired[i]->scheduler)
            scheduler_forget(loading->retired[i]->scheduler, NULL);
}

uint64_t model_loading_tend(struct model_loading *loading)
{
    size_t kept = 0;
    for (size_t i = 0; i < loading->retired_count; i++) {
        struct local_model *model = loading->retired[i];
        if (local_model_is_shared(model)) {
            loading->retired[kept++] = model;
            continue;
        }
        char path[PATH_MAX];
        snprintf(path, sizeof path, "%s", model->path);
        local_model_drop(model); /* first: who reads the line finds the file closed */
        log_event(LOG_LEVEL_INFO, "model_closed", "file=%s", path);
    }
    loading->retired_count = kept;
    return loading->running.config ? LOOK_MS : kept > 0 ? RETIRED_MS : UINT64_MAX;
}

void model_loading_free(struct model_loading *loading)
{
    if (!loading)
        return;
    if (loading->running.config) {
        pthread_join(loading->thread, NULL);
        engine_setup_close(&loading->result);
    }
    drop_order(&loading->running);
    drop_order(&loading->next);
    for (size_t i = 0; i < loading->retired_count; i++)
        local_model_drop(loading->retired[i]);
    free(loading);
}
