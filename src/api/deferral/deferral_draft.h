/* A request that may wait for a connection: what is kept of it until that is decided, when it
 * waits, and what its client is told then. One loop's thread. */
#ifndef API_DEFERRAL_DRAFT_H
#define API_DEFERRAL_DRAFT_H

#include "api/http/api_internal.h"
#include "exchange/machine/exchange.h"

struct deferral_draft {
    enum td_defer use;          /* what holds for this request */
    struct deferred_text *text; /* NULL = it does not wait */
    struct auth_who who;
};

/* Decides what holds, and where the request may wait, keeps it as it came. can: it is one whose
 * answer may come later. False with the fault. deferral_draft_deinit, also of one that is zero. */
bool deferral_draft_init(struct deferral_draft *draft, const struct api *api,
                         const struct http_request *http, enum td_defer asked, bool can,
                         struct fault *fault);
void deferral_draft_deinit(struct deferral_draft *draft);

/* What the draft is of. */
struct deferral_call {
    struct api *api;
    struct http_request *http;
    const struct exchange_services *services;
    struct exchange *exchange; /* NULL once it has ended */
    const char *user;
};
/* Inside of START, COMPLETE and FAILED. True: the answer is poor, or there is none, for want of a
 * tier elsewhere that cannot be reached now, and the client has been told that its question waits
 * (202), or why it cannot; the queue itself, that it goes on waiting (503). */
bool deferral_draft_put_aside(struct deferral_draft *draft, const struct deferral_call *call,
                              const struct exchange_event *event);
/* The same of a question for which nobody waits. */
void deferral_draft_put(struct deferral_draft *draft, const struct deferral_call *call,
                        const char *reason);

#endif
