/* The configuration is read anew for each call, as a command does: what was pulled, and what is the
 * default, are files that commands change, too. Only names of the checked list and sources on the
 * hub are taken: an operator of a server is not the user of its machine, and an address or a path
 * would let him read what this process alone may reach. */
#include "app/store/pull_desk.h"

#include "app/setup/model/model_default.h"
#include "app/store/pull.h"
#include "app/store/shortlist.h"
#include "base/json/json.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ASKED_BYTES 512

struct pull_desk {
    const char *config_path;
    pthread_mutex_t lock;
    pthread_t thread;
    bool started; /* the thread has to be joined */
    bool running;
    atomic_bool cancel;
    char asked[ASKED_BYTES];
    struct json *event; /* the last one of the pull; NULL = none yet */
    enum td_status status;
    struct td_error err;
    struct shortlist speed; /* what was measured */
};

/* --- the pull --- */

static void on_event(void *ctx, struct json *event)
{
    struct pull_desk *desk = ctx;
    pthread_mutex_lock(&desk->lock);
    json_free(desk->event);
    desk->event = event;
    pthread_mutex_unlock(&desk->lock);
}

static enum td_status pull_asked(struct pull_desk *desk, struct td_error *err)
{
    struct pull *pull = calloc(1, sizeof *pull);
    struct catalog *catalog = NULL;
    const struct catalog_model *model = NULL;
    bool printed = true;
    if (!pull)
        return error_set(err, TD_NO_MEMORY, "no memory to pull a model");
    *pull = (struct pull){.config_path = desk->config_path,
                          .retries = PULL_RETRIES,
                          .json = true,
                          .cancel = &desk->cancel,
                          .on_event = on_event,
                          .ctx = desk};
    enum td_status status = pull_open(pull, err);
    if (status == TD_OK && strncmp(desk->asked, "hf:", 3) != 0) {
        status = catalog_open(pull->config, &catalog, err);
        model = status == TD_OK ? catalog_find(catalog, desk->asked) : NULL;
        if (status == TD_OK && !model)
            status = error_set(err, TD_NOT_FOUND,
                               "no model of the list is called '%.100s'%s; hf:ORG/REPO:Q4_K_M "
                               "names one on the hub",
                               desk->asked, catalog_suggest(catalog, desk->asked).text);
    }
    if (status == TD_OK && model) { /* whatever file has that name where the server began */
        pull->name = model->name;
        snprintf(pull->digest, sizeof pull->digest, "%s", model->sha256);
        snprintf(pull->digest_from, sizeof pull->digest_from, "the list of %s",
                 catalog_day(catalog));
    }
    if (status == TD_OK)
        status = pull_run(pull, model ? model->source : desk->asked, &printed, err);
    catalog_free(catalog);
    config_free(pull->config);
    free(pull);
    return status;
}

static void *run(void *ctx)
{
    struct pull_desk *desk = ctx;
    struct td_error err = {0};
    enum td_status status = pull_asked(desk, &err);
    pthread_mutex_lock(&desk->lock);
    desk->status = status;
    desk->err = err;
    desk->running = false;
    pthread_mutex_unlock(&desk->lock);
    return NULL;
}

/* --- what operators ask --- */

static enum td_status begin(void *ctx, const char *asked, struct td_error *err)
{
    struct pull_desk *desk = ctx;
    enum td_status status = TD_OK;
    size_t len = strlen(asked);
    if (len == 0 || len >= ASKED_BYTES)
        return error_set(err, TD_INVALID, "a model's name has 1 to %d bytes", ASKED_BYTES - 1);
    pthread_mutex_lock(&desk->lock);
    if (desk->running) {
        status =
            error_set(err, TD_BUSY, "%.200s is being pulled; one model at a time", desk->asked);
    } else {
        if (desk->started)
            pthread_join(desk->thread, NULL); /* it has ended, or is about to */
        json_free(desk->event);
        desk->event = NULL;
        memcpy(desk->asked, asked, len + 1);
        atomic_store(&desk->cancel, false);
        desk->status = TD_OK;
        desk->started = desk->running = pthread_create(&desk->thread, NULL, run, desk) == 0;
        if (!desk->started)
            status = error_set(err, TD_NO_MEMORY, "no thread to pull a model");
    }
    pthread_mutex_unlock(&desk->lock);
    return status;
}

static void end(void *ctx)
{
    struct pull_desk *desk = ctx;
    atomic_store(&desk->cancel, true);
}

static struct json *state(void *ctx)
{
    struct pull_desk *desk = ctx;
    pthread_mutex_lock(&desk->lock);
    const char *name = !*desk->asked                  ? "none"
                       : desk->running                ? "running"
                       : desk->status == TD_OK        ? "done"
                       : desk->status == TD_CANCELLED ? "cancelled"
                                                      : "failed";
    struct json *object = json_new_object();
    json_put(object, "object", json_new_cstr("model.pull"));
    json_put(object, "state", json_new_cstr(name));
    json_put(object, "model", json_new_cstr(*desk->asked ? desk->asked : NULL));
    if (desk->event)
        json_put(object, "last", json_clone(desk->event));
    if (!desk->running && desk->status != TD_OK)
        json_put(object, "error", json_new_cstr(desk->err.message));
    pthread_mutex_unlock(&desk->lock);
    return object;
}

static enum td_status list(void *ctx, struct json **out, struct td_error *err)
{
    struct pull_desk *desk = ctx;
    struct config *config = NULL;
    struct catalog *catalog = NULL;
    char name[MODEL_NAME_BYTES];
    enum td_status status = config_load(desk->config_path, &config, err);
    if (status == TD_OK)
        status = catalog_open(config, &catalog, err);
    if (status == TD_OK) {
        pthread_mutex_lock(&desk->lock);
        struct shortlist shortlist = desk->speed;
        pthread_mutex_unlock(&desk->lock);
        shortlist_make(config, catalog, &shortlist);
        pthread_mutex_lock(&desk->lock);
        desk->speed = shortlist;
        pthread_mutex_unlock(&desk->lock);
        *out = shortlist_to_json(config, catalog, &shortlist);
        bool chosen = model_default_read(config->models.dir, name);
        json_put(*out, "default", json_new_cstr(chosen ? name : NULL));
    }
    catalog_free(catalog);
    config_free(config);
    return status;
}

static enum td_status choose(void *ctx, const char *name, struct td_error *err)
{
    struct pull_desk *desk = ctx;
    struct config *config = NULL;
    enum td_status status = config_load(desk->config_path, &config, err);
    if (status == TD_OK)
        status = model_default_write(config->models.dir, name, err);
    config_free(config);
    return status;
}

/* --- */

struct pull_desk *pull_desk_new(const char *config_path)
{
    struct pull_desk *desk = calloc(1, sizeof *desk);
    if (desk) {
        desk->config_path = config_path;
        pthread_mutex_init(&desk->lock, NULL);
    }
    return desk;
}

void pull_desk_free(struct pull_desk *desk)
{
    if (!desk)
        return;
    end(desk);
    if (desk->started)
        pthread_join(desk->thread, NULL);
    json_free(desk->event);
    pthread_mutex_destroy(&desk->lock);
    free(desk);
}

struct api_models pull_desk_calls(struct pull_desk *desk)
{
    return (struct api_models){list, choose, begin, end, state, desk};
}
