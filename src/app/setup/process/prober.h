/* Sends the health checks of a server: to tiers that could not be reached, until they can be. It
 * sleeps while none rests for that reason.
 *
 * One for the process. prober_wake may be called by any thread; the rest belongs to the loop that
 * it is attached to, except that nothing runs any more when it is attached or detached. */
#ifndef APP_PROBER_H
#define APP_PROBER_H

#include "base/thread/loop.h"
#include "exchange/machine/exchange.h"

struct prober;

/* **returns new** (prober_free), or NULL. */
struct prober *prober_new(void);
void prober_free(struct prober *prober); /* detached before. Accepts NULL */

/* For tier_health_new; ctx is the prober. */
void prober_wake(void *ctx);

/* Where the services in use come from, as in struct api_host. */
struct prober_host {
    struct exchange_services *(*acquire)(void *ctx);
    void (*release)(void *ctx, struct exchange_services *services);
    void *ctx;
};
/* False without memory. */
bool prober_attach(struct prober *prober, struct loop *loop, const struct prober_host *host);
/* Gives up what runs. */
void prober_detach(struct prober *prober);

#endif
