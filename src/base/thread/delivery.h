/* Tells an event loop once that a thread has finished its work, unless the owner no longer wants to
 * know. Two sides hold a delivery: its owner, on the loop, and the thread that works for it. */
#ifndef BASE_DELIVERY_H
#define BASE_DELIVERY_H

#include "base/thread/loop.h"

#include <pthread.h>
#include <stdatomic.h>

/* Embedded as the first member of what is delivered. */
struct delivery {
    struct loop *loop;
    void (*on_loop)(struct delivery *delivery);  /* the owner's hold ends when it returns */
    void (*free_all)(struct delivery *delivery); /* called when the last hold is gone; any thread */
    atomic_uint holds;
    pthread_mutex_t posting; /* held while a post is made */
    atomic_bool cancelled;
};

/* Initialised with two holds: the owner's and the thread's. */
void delivery_init(struct delivery *delivery, struct loop *loop,
                   void (*on_loop)(struct delivery *delivery),
                   void (*free_all)(struct delivery *delivery));
/* Whether the owner still waits. Any thread. */
static inline bool delivery_is_wanted(const struct delivery *delivery)
{
    return !atomic_load(&delivery->cancelled);
}
/* The thread's last call: posts to the loop, again and again while its queue is full, until
 * *stop. */
void delivery_send(struct delivery *delivery, const atomic_bool *stop);
/* The owner's last call before on_loop, on the loop: on_loop is not called afterwards, and the loop
 * may be freed. */
void delivery_cancel(struct delivery *delivery);
/* Ends one hold; nobody is told. */
void delivery_release(struct delivery *delivery);

#endif
