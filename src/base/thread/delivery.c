/* Carries a result from a working thread to an event loop exactly once, or not at all when its
 * owner has cancelled. Two sides hold a delivery, and the last release frees it, so neither side
 * needs to know whether the other one still exists. The mutex makes cancelling wait for a post that
 * is under way, because the loop may be freed right after. */
#include "base/thread/delivery.h"

#include "base/core/assertion.h"

#include <time.h>

#define RETRY_NS 5000000L /* pause before a loop with a full queue is tried again */

void delivery_init(struct delivery *delivery, struct loop *loop,
                   void (*on_loop)(struct delivery *delivery),
                   void (*free_all)(struct delivery *delivery))
{
    ASSERT(loop != NULL && on_loop != NULL && free_all != NULL);
    delivery->loop = loop;
    delivery->on_loop = on_loop;
    delivery->free_all = free_all;
    atomic_init(&delivery->holds, 2);
    atomic_init(&delivery->cancelled, false);
    pthread_mutex_init(&delivery->posting, NULL);
}

void delivery_release(struct delivery *delivery)
{
    if (atomic_fetch_sub_explicit(&delivery->holds, 1, memory_order_acq_rel) != 1)
        return;
    pthread_mutex_destroy(&delivery->posting);
    delivery->free_all(delivery);
}

/* Runs on the loop and releases the hold of the post. */
static void arrive(void *ctx)
{
    struct delivery *delivery = ctx;
    if (delivery_is_wanted(delivery)) {
        delivery->on_loop(delivery);
        delivery_release(delivery); /* the owner's hold */
    }
    delivery_release(delivery);
}

/* False when the loop's queue is full: the caller tries again. The mutex makes delivery_cancel wait
 * for a post under way, after which the loop may be gone. */
static bool post(struct delivery *delivery)
{
    atomic_fetch_add(&delivery->holds, 1);
    pthread_mutex_lock(&delivery->posting);
    bool posted = delivery_is_wanted(delivery) && loop_post(delivery->loop, arrive, delivery);
    pthread_mutex_unlock(&delivery->posting);
    if (!posted)
        delivery_release(delivery);
    return posted;
}

void delivery_send(struct delivery *delivery, const atomic_bool *stop)
{
    static const struct timespec retry = {.tv_nsec = RETRY_NS};
    while (delivery_is_wanted(delivery) && !atomic_load(stop) && !post(delivery))
        nanosleep(&retry, NULL);
    delivery_release(delivery);
}

void delivery_cancel(struct delivery *delivery)
{
    pthread_mutex_lock(&delivery->posting);
    atomic_store(&delivery->cancelled, true);
    pthread_mutex_unlock(&delivery->posting);
    delivery_release(delivery);
}
