/* What an operator may do with a running server by the API: see the configuration's file, check a
 * text, put it in the file's place, and calibrate a model. Any thread. */
#ifndef APP_DESK_H
#define APP_DESK_H

#include "api/http/api_desk.h"

struct desk;
struct runtime;

struct desk_options {
    struct runtime *runtime; /* outlives the desk */
    const char *config_path; /* as runtime_options has these two */
    const char *model;
};

/* **returns new** (desk_free, when nobody asks any more); NULL without memory. */
struct desk *desk_new(const struct desk_options *options);
/* Ends a calibration that runs. Accepts NULL. */
void desk_free(struct desk *desk);

/* An api_desk_fn; ctx is the struct desk. */
enum td_status desk_ask(void *ctx, const struct api_desk_ask *ask, struct json **out,
                        struct td_error *err);

/* The main thread reloads: what was asked for before the first call is answered by the second. */
uint64_t desk_reload_begins(struct desk *desk);
void desk_reload_ends(struct desk *desk, uint64_t ticket, enum td_status status,
                      const struct td_error *err);

#endif
