#include "base/delivery.h"

#include <time.h>

#define RETRY_NS 5000000L /* a loop whose queue was full is asked again so soon */

void delivery_init(struct delivery *delivery, struct loop *loop,
                   void (*on_loop)(struct delivery *delivery),
                   void (*free_all)(struct delivery *delivery))
{
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

/* On the loop, with the post's hold. */
static void arrive(void *ctx)
{
    struct delivery *delivery = ctx;
    if (delivery_is_wanted(delivery)) {
        delivery->on_loop(delivery);
        delivery_release(delivery); /* the owner's */
    }
    delivery_release(delivery);
}

/* False when the loop took no post: try again later. The mutex makes delivery_cancel wait for a
 * post under way, after which the loop may be gone. */
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
