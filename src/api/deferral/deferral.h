/* The queue of questions that wait for a connection, of the process. It asks them, oldest first, as
 * soon as a tier elsewhere can be reached: each as a request of whoever asked it, one of an owner
 * at a time, so that an owner's answers come in the order of its questions. A configured rate keeps
 * what has waited for hours from arriving at a cloud all at once.
 *
 * Made and freed by the main thread; attached before its loop runs, detached after it has ended;
 * deferral_wake and the readers from any thread; everything else on the loop. */
#ifndef API_DEFERRAL_H
#define API_DEFERRAL_H

#include "api/http/api_internal.h"
#include "request/request.h"

struct deferral;
struct deferred_store;

struct deferral_options {
    struct deferred_store *store; /* outlives it */
    enum td_defer otherwise;      /* of requests that do not say: DEFER_NEVER or DEFER_ALLOW */
    uint32_t at_once;             /* requests that run at once, each of another owner */
    uint32_t per_minute;          /* that begin */
    size_t body_bytes_max;
};

/* **returns new** (deferral_free); NULL without memory. */
struct deferral *deferral_new(const struct deferral_options *options);
void deferral_free(struct deferral *deferral); /* accepts NULL */

/* False without memory. */
bool deferral_attach(struct deferral *deferral, struct api *api, struct server *server);
void deferral_detach(struct deferral *deferral); /* accepts NULL */
/* Begins no more questions. */
void deferral_stop(struct deferral *deferral);
/* The queue has changed, or a tier may have come back. Accepts NULL. */
void deferral_wake(struct deferral *deferral);

extern const char deferral_off_text[]; /* where there is none */

const struct deferral_options *deferral_options(const struct deferral *deferral);

#endif
