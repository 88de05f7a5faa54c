/* The steps that an operator asks for, and how a change comes into force: the file is written here,
 * and the main thread reloads as for a SIGHUP. Whoever asked waits for what came of it, so that a
 * text which the server refuses does not stay in the file. */
#include "app/desk/desk_internal.h"

#include "app/cli/config_schema.h"
#include "base/core/error.h"
#include "base/json/json.h"
#include "base/time/clock.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#define RELOAD_WAIT_S 15

struct desk *desk_new(const struct desk_options *options)
{
    struct desk *desk = calloc(1, sizeof *desk);
    pthread_condattr_t clock;
    if (!desk)
        return NULL;
    desk->options = *options;
    if (!desk->options.config_path)
        desk->options.config_path = getenv("TANDEM_CONFIG");
    pthread_condattr_init(&clock);
    pthread_condattr_setclock(&clock, CLOCK_MONOTONIC);
    pthread_cond_init(&desk->reloaded, &clock);
    pthread_condattr_destroy(&clock);
    pthread_mutex_init(&desk->edit, NULL);
    pthread_mutex_init(&desk->lock, NULL);
    desk->calibrating = calibrating_new();
    if (desk->calibrating)
        return desk;
    desk_free(desk);
    return NULL;
}

void desk_free(struct desk *desk)
{
    if (!desk)
        return;
    calibrating_free(desk->calibrating);
    pthread_mutex_destroy(&desk->edit);
    pthread_mutex_destroy(&desk->lock);
    pthread_cond_destroy(&desk->reloaded);
    free(desk);
}

/* --- reloads --- */

uint64_t desk_reload_begins(struct desk *desk)
{
    pthread_mutex_lock(&desk->lock);
    uint64_t ticket = desk->asked;
    pthread_mutex_unlock(&desk->lock);
    return ticket;
}

void desk_reload_ends(struct desk *desk, uint64_t ticket, enum td_status status,
                      const struct td_error *err)
{
    pthread_mutex_lock(&desk->lock);
    desk->answered = ticket;
    desk->status = status;
    desk->err = *err;
    pthread_cond_broadcast(&desk->reloaded);
    pthread_mutex_unlock(&desk->lock);
}

enum td_status desk_reload(struct desk *desk, struct td_error *err)
{
    struct timespec until;
    int waited = 0;
    clock_gettime(CLOCK_MONOTONIC, &until);
    until.tv_sec += RELOAD_WAIT_S;
    pthread_mutex_lock(&desk->lock);
    uint64_t ticket = ++desk->asked;
    kill(getpid(), SIGHUP);
    while (desk->answered < ticket && waited == 0)
        waited = pthread_cond_timedwait(&desk->reloaded, &desk->lock, &until);
    enum td_status status = desk->answered < ticket ? TD_TIMEOUT : desk->status;
    if (status == TD_TIMEOUT)
        error_set(err, TD_TIMEOUT, "the server did not read it within %d seconds", RELOAD_WAIT_S);
    else if (status != TD_OK)
        error_set(err, status, "%s", desk->err.message);
    pthread_mutex_unlock(&desk->lock);
    return status;
}

/* --- steps --- */

enum td_status desk_ask(void *ctx, const struct api_desk_ask *ask, struct json **out,
                        struct td_error *err)
{
    struct desk *desk = ctx;
    enum td_status status = TD_OK;
    switch (ask->step) {
    case API_DESK_SHOW:
        return desk_config_show(desk, ask, out, err);
    case API_DESK_SCHEMA:
        *out = config_schema_new();
        return *out ? TD_OK : error_set(err, TD_NO_MEMORY, "no memory for the schema");
    case API_DESK_CHECK:
        return desk_config_check(desk, ask, out, err);
    case API_DESK_APPLY:
        return desk_config_apply(desk, ask, out, err);
    case API_DESK_CALIBRATE:
        status = calibrating_start(desk, ask, err);
        break;
    case API_DESK_CANCEL:
        calibrating_cancel(desk->calibrating);
        break;
    case API_DESK_KEEP:
        status = calibrating_keep(desk, ask, err);
        break;
    case API_DESK_CALIBRATION:
        break;
    }
    if (status == TD_OK)
        *out = calibrating_state(desk->calibrating);
    return status;
}
