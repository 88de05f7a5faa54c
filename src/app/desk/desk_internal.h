/* The parts of a desk. */
#ifndef APP_DESK_INTERNAL_H
#define APP_DESK_INTERNAL_H

#include "app/desk/desk.h"

#include <pthread.h>

struct calibrating;

struct desk {
    struct desk_options options;
    pthread_mutex_t edit; /* one change at a time */
    struct calibrating *calibrating;
    pthread_mutex_t lock; /* of the rest */
    pthread_cond_t reloaded;
    uint64_t asked, answered; /* reloads */
    enum td_status status;    /* of the last one */
    struct td_error err;
};

/* Reloads as SIGHUP does, and waits for what came of it. */
TD_MUST_CHECK enum td_status desk_reload(struct desk *desk, struct td_error *err);

/* config_edit.c */
TD_MUST_CHECK enum td_status desk_config_show(struct desk *desk, const struct api_desk_ask *ask,
                                              struct json **out, struct td_error *err);
TD_MUST_CHECK enum td_status desk_config_check(struct desk *desk, const struct api_desk_ask *ask,
                                               struct json **out, struct td_error *err);
TD_MUST_CHECK enum td_status desk_config_apply(struct desk *desk, const struct api_desk_ask *ask,
                                               struct json **out, struct td_error *err);

/* calibrating.c: one runs at a time, in a thread of the least priority. */
struct calibrating *calibrating_new(void);
void calibrating_free(struct calibrating *calibrating); /* ends it first; accepts NULL */
struct json *calibrating_state(struct calibrating *calibrating);
TD_MUST_CHECK enum td_status calibrating_start(struct desk *desk, const struct api_desk_ask *ask,
                                               struct td_error *err);
void calibrating_cancel(struct calibrating *calibrating);
/* Writes what was found, and reloads. */
TD_MUST_CHECK enum td_status calibrating_keep(struct desk *desk, const struct api_desk_ask *ask,
                                              struct td_error *err);

#endif
