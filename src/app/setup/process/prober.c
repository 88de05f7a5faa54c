/* Health decides which tier is due and when (tier/health.c), and the tier knows how it is asked.
 * Here is only what it takes to do it beside the requests: a timer on one worker's loop, set for
 * the next check, and a place for each check that runs. A check holds the services that it began
 * with, so that a reload does not take its tier away. */
#include "app/setup/process/prober.h"

#include "app/config/config.h"
#include "base/core/assertion.h"
#include "base/time/clock.h"
#include "base/time/log.h"

#include <pthread.h>
#include <stdlib.h>

/* A reload may come while every tier is being checked, and the new ones are due at once. */
#define CHECKS_MAX (2 * CONFIG_TIERS_MAX)

#define PROBE_AGAIN_MS 1000

struct check {
    struct prober *prober;
    struct exchange_services *services; /* NULL = the place is free */
    size_t tier;
    struct tier_probe *probe;
};

struct prober {
    pthread_mutex_t lock; /* of loop and posted */
    struct loop *loop;    /* NULL = detached */
    bool posted;
    struct prober_host host;
    struct loop_timer *timer;
    struct check checks[CHECKS_MAX];
};

struct prober *prober_new(void)
{
    struct prober *prober = calloc(1, sizeof *prober);
    if (prober)
        pthread_mutex_init(&prober->lock, NULL);
    return prober;
}

void prober_free(struct prober *prober)
{
    if (!prober)
        return;
    ASSERT(!prober->loop);
    pthread_mutex_destroy(&prober->lock);
    free(prober);
}

static uint64_t now_ms(void)
{
    return clock_monotonic_ns(NULL) / 1000000;
}

static void look(void *ctx);

static void on_probed(void *ctx, bool reached)
{
    struct check *check = ctx;
    struct prober *prober = check->prober;
    struct exchange_services *services = check->services;
    log_event(reached ? LOG_LEVEL_INFO : LOG_LEVEL_DEBUG, "tier_probed", "tier=%s reached=%s",
              services->tiers[check->tier]->facts.name, reached ? "yes" : "no");
    tier_health_probed(services->health, check->tier, reached, now_ms());
    check->services = NULL;
    prober->host.release(prober->host.ctx, services);
    look(prober);
}

static struct check *free_check(struct prober *prober)
{
    for (size_t i = 0; i < CHECKS_MAX; i++)
        if (!prober->checks[i].services)
            return &prober->checks[i];
    return NULL;
}

/* The tier is due. What cannot be sent counts as not answered. */
static void begin(struct prober *prober, struct exchange_services *services, size_t i,
                  uint32_t within_ms)
{
    struct check *check = free_check(prober);
    struct tier *tier = services->tiers[i];
    struct tier_probe *probe = NULL;
    if (check && tier->ops->probe)
        probe = tier->ops->probe(tier, prober->loop, within_ms, on_probed, check);
    if (!probe) {
        tier_health_probed(services->health, i, false, now_ms());
        return;
    }
    services->hold(services);
    *check = (struct check){prober, services, i, probe};
}

static void look(void *ctx)
{
    struct prober *prober = ctx;
    struct exchange_services *services = prober->host.acquire(prober->host.ctx);
    uint64_t soonest_ms = UINT64_MAX;
    for (size_t i = 0; i < services->tier_count; i++) {
        struct tier_probe_wish wish;
        tier_health_probe_due(services->health, i, now_ms(), &wish);
        if (wish.due) {
            begin(prober, services, i, wish.within_ms);
            wish.wait_ms = PROBE_AGAIN_MS; /* one that could not be sent */
        }
        soonest_ms = wish.wait_ms < soonest_ms ? wish.wait_ms : soonest_ms;
    }
    prober->host.release(prober->host.ctx, services);
    if (soonest_ms != UINT64_MAX)
        loop_timer_start(prober->loop, prober->timer, soonest_ms + 1);
}

static void on_wake(void *ctx)
{
    struct prober *prober = ctx;
    pthread_mutex_lock(&prober->lock);
    prober->posted = false;
    pthread_mutex_unlock(&prober->lock);
    look(prober);
}

void prober_wake(void *ctx)
{
    struct prober *prober = ctx;
    pthread_mutex_lock(&prober->lock);
    if (prober->loop && !prober->posted)
        prober->posted = loop_post(prober->loop, on_wake, prober);
    pthread_mutex_unlock(&prober->lock);
}

bool prober_attach(struct prober *prober, struct loop *loop, const struct prober_host *host)
{
    ASSERT(!prober->loop);
    prober->host = *host;
    prober->timer = loop_timer_new(loop, look, prober);
    if (!prober->timer)
        return false;
    pthread_mutex_lock(&prober->lock);
    prober->loop = loop;
    pthread_mutex_unlock(&prober->lock);
    return true;
}

void prober_detach(struct prober *prober)
{
    struct loop *loop = prober->loop;
    if (!loop)
        return;
    pthread_mutex_lock(&prober->lock);
    prober->loop = NULL;
    pthread_mutex_unlock(&prober->lock);
    loop_timer_free(loop, prober->timer);
    for (size_t i = 0; i < CHECKS_MAX; i++) {
        struct check *check = &prober->checks[i];
        if (!check->services)
            continue;
        check->services->tiers[check->tier]->ops->probe_cancel(check->probe);
        prober->host.release(prober->host.ctx, check->services);
        check->services = NULL;
    }
}
