/* A calibration beside a server's answers. Its threads have the least priority, so answers go
 * first, and it takes longer than `tandem calibrate` on a machine that rests. What it finds is kept
 * here until somebody looked at it and wants it. */
#include "app/config/config.h"
#include "app/desk/desk_internal.h"
#include "app/evidence/calibrate.h"
#include "app/setup/policy/calibration_file.h"
#include "app/setup/process/runtime.h"
#include "base/core/error.h"
#include "base/core/str.h"
#include "base/json/json.h"
#include "base/time/log.h"

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <unistd.h>

#define LEAST_PRIORITY 19
#define QUESTION_BYTES_MAX (8u << 20)

enum state { NONE, RUNNING, DONE, FAILED, CANCELLED };
static const char *const state_names[] = {"none", "running", "done", "failed", "cancelled"};

struct calibrating {
    pthread_mutex_t lock; /* of all but the options */
    struct calibrate_options options;
    struct calibrate_found found;
    char tier[64];
    struct buf questions; /* empty = the program's */
    pthread_t thread;
    bool joinable, kept;
    enum state state;
    atomic_bool cancel;
    size_t done, all, right;
    double left_s;
    char error[TD_ERROR_BYTES];
};

struct calibrating *calibrating_new(void)
{
    struct calibrating *calibrating = calloc(1, sizeof *calibrating);
    if (calibrating)
        pthread_mutex_init(&calibrating->lock, NULL);
    return calibrating;
}

/* Waits for the thread, and forgets what it found. */
static void clear(struct calibrating *calibrating)
{
    if (calibrating->joinable)
        pthread_join(calibrating->thread, NULL);
    calibrating->joinable = calibrating->kept = false;
    json_free(calibrating->found.report);
    calibrating->found.report = NULL;
    buf_deinit(&calibrating->questions);
    *calibrating->error = '\0';
}

void calibrating_free(struct calibrating *calibrating)
{
    if (!calibrating)
        return;
    atomic_store(&calibrating->cancel, true);
    clear(calibrating);
    pthread_mutex_destroy(&calibrating->lock);
    free(calibrating);
}

struct json *calibrating_state(struct calibrating *calibrating)
{
    struct json *object = json_new_object();
    pthread_mutex_lock(&calibrating->lock);
    bool runs = calibrating->state == RUNNING;
    json_put(object, "object", json_new_cstr("calibration_run"));
    json_put(object, "state", json_new_cstr(state_names[calibrating->state]));
    json_put(object, "tier", json_new_cstr(*calibrating->tier ? calibrating->tier : NULL));
    json_put(object, "asked", json_new_int((int64_t)calibrating->done));
    json_put(object, "questions", json_new_int((int64_t)calibrating->all));
    json_put(object, "right", json_new_int((int64_t)calibrating->right));
    json_put(object, "left_s",
             runs && calibrating->done ? json_new_double(calibrating->left_s) : json_new_null());
    json_put(object, "error", json_new_cstr(*calibrating->error ? calibrating->error : NULL));
    json_put(object, "found",
             runs || !calibrating->found.report ? json_new_null()
                                                : json_clone(calibrating->found.report));
    json_put(object, "kept", json_new_bool(calibrating->kept));
    pthread_mutex_unlock(&calibrating->lock);
    return object;
}

/* --- the thread --- */

static void on_answer(void *ctx, size_t done, size_t all, size_t right, double left_s)
{
    struct calibrating *calibrating = ctx;
    pthread_mutex_lock(&calibrating->lock);
    calibrating->done = done;
    calibrating->all = all;
    calibrating->right = right;
    calibrating->left_s = left_s;
    pthread_mutex_unlock(&calibrating->lock);
}

/* The priority is this thread's, and that of those that it makes. */
static void *run(void *ctx)
{
    struct calibrating *calibrating = ctx;
    struct td_error err = {0};
    struct calibrate_found found = {.report = NULL};
    calibrating->options.found = &found;
    (void)setpriority(PRIO_PROCESS, 0, LEAST_PRIORITY);
    enum td_status status = calibrate_run(&calibrating->options, NULL, &err);
    pthread_mutex_lock(&calibrating->lock);
    calibrating->found = found;
    calibrating->state = status == TD_OK ? DONE : status == TD_CANCELLED ? CANCELLED : FAILED;
    if (calibrating->state == FAILED)
        snprintf(calibrating->error, sizeof calibrating->error, "%s", err.message);
    log_event(LOG_LEVEL_INFO, "calibration_ended", "state=%s questions=%zu right=%zu",
              state_names[calibrating->state], calibrating->done, calibrating->right);
    pthread_mutex_unlock(&calibrating->lock);
    return NULL;
}

/* --- what is asked --- */

static enum td_status find_model(struct desk *desk, const char *name, const char **model,
                                 struct td_error *err)
{
    const struct config *config = runtime_config(desk->options.runtime);
    const struct config_tier *tier = name ? config_tier_find(config, name) : NULL;
    *model = desk->options.model;
    if (!name)
        return TD_OK;
    if (!tier || tier->kind != CONFIG_TIER_LOCAL)
        return error_set(err, TD_INVALID,
                         "'%.60s' is no local tier of the configuration that the server began with",
                         name);
    if (tier->model)
        *model = tier->model;
    return TD_OK;
}

/* Half of the processors: the others are left to answers. */
static uint32_t count_threads(void)
{
    long cores = sysconf(_SC_NPROCESSORS_ONLN);
    return cores < 4 ? 1 : (uint32_t)cores / 2;
}

static enum td_status begin(struct desk *desk, const struct api_desk_ask *ask, const char *model,
                            struct td_error *err)
{
    struct calibrating *calibrating = desk->calibrating;
    clear(calibrating);
    calibrating->state = NONE;
    calibrating->done = calibrating->all = calibrating->right = 0;
    buf_init(&calibrating->questions, QUESTION_BYTES_MAX);
    buf_append_str(&calibrating->questions, ask->text);
    if (calibrating->questions.failed)
        return error_set(err, TD_LIMIT, "the questions may have at most %u bytes",
                         QUESTION_BYTES_MAX);
    snprintf(calibrating->tier, sizeof calibrating->tier, "%s", ask->tier ? ask->tier : "");
    atomic_store(&calibrating->cancel, false);
    calibrating->options = (struct calibrate_options){
        .model = model,
        .config = desk->options.config_path,
        .text = ask->text.len ? buf_view(&calibrating->questions) : (struct td_str){NULL, 0},
        .tokens_max = CALIBRATE_TOKENS,
        .threads = count_threads(),
        .seed = 1,
        .cpu = TD_CPU_AUTO,
        .cancel = &calibrating->cancel,
        .on_answer = on_answer,
        .ctx = calibrating,
    };
    calibrating->joinable = pthread_create(&calibrating->thread, NULL, run, calibrating) == 0;
    if (!calibrating->joinable)
        return error_set(err, TD_NO_MEMORY, "no memory for a thread");
    calibrating->state = RUNNING;
    log_event(LOG_LEVEL_INFO, "calibration_began", "tier=%s key=%s", calibrating->tier,
              *ask->key_id ? ask->key_id : "none");
    return TD_OK;
}

enum td_status calibrating_start(struct desk *desk, const struct api_desk_ask *ask,
                                 struct td_error *err)
{
    const char *model;
    enum td_status status = find_model(desk, ask->tier, &model, err);
    if (status != TD_OK)
        return status;
    pthread_mutex_lock(&desk->calibrating->lock);
    status = desk->calibrating->state == RUNNING
                 ? error_set(err, TD_BUSY, "a calibration runs; wait for its end, or cancel it")
                 : begin(desk, ask, model, err);
    pthread_mutex_unlock(&desk->calibrating->lock);
    return status;
}

void calibrating_cancel(struct calibrating *calibrating)
{
    atomic_store(&calibrating->cancel, true);
}

enum td_status calibrating_keep(struct desk *desk, const struct api_desk_ask *ask,
                                struct td_error *err)
{
    struct calibrating *calibrating = desk->calibrating;
    const char *state_dir = runtime_config(desk->options.runtime)->state_dir;
    pthread_mutex_lock(&calibrating->lock);
    enum td_status status =
        calibrating->state == DONE
            ? calibration_file_write(state_dir, &calibrating->found.fitted, err)
            : error_set(err, TD_INVALID, "no calibration has ended, so there is nothing to use");
    calibrating->kept = status == TD_OK;
    pthread_mutex_unlock(&calibrating->lock);
    if (status != TD_OK)
        return status;
    log_event(LOG_LEVEL_INFO, "calibration_kept", "model=%s key=%s",
              calibrating->found.fitted.binding.model, *ask->key_id ? ask->key_id : "none");
    return desk_reload(desk, err);
}
