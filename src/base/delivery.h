/* What a thread has done for an event loop, told there once, unless nobody wants it any more. Two
 * hold a delivery: its owner, on the loop, and the thread that works for it. */
#ifndef BASE_DELIVERY_H
#define BASE_DELIVERY_H

#include "base/loop.h"

#include <pthread.h>
#include <stdatomic.h>

/* Embedded first in what is delivered. */
struct delivery {
    struct loop *loop;
    void (*on_loop)(struct delivery *delivery);  /* the owner's hold ends when it returns */
    void (*free_all)(struct delivery *delivery); /* the last hold is gone; any thread */
    atomic_uint holds;
    pthread_mutex_t posting; /* held while a post is made */
    atomic_bool cancelled;
};

/* Held by both. */
void delivery_init(struct delivery *delivery, struct loop *loop,
                   void (*on_loop)(struct delivery *delivery),
                   void (*free_all)(struct delivery *delivery));
/* Any thread: whether the owner still waits. */
static inline bool delivery_is_wanted(const struct delivery *delivery)
{
    return !atomic_load(&delivery->cancelled);
}
/* The thread's end: posts, while the loop's queue is full again and again, until *stop. */
void delivery_send(struct delivery *delivery, const atomic_bool *stop);
/* The owner's end before on_loop, on the loop: there is no on_loop after it, and the loop may be
 * freed. */
void delivery_cancel(struct delivery *delivery);
/* Ends one hold without a word. */
void delivery_release(struct delivery *delivery);

#endif
