/* A bounded queue of pointers between threads, with a wake-up that an event loop can watch.
 * Any number of producers and consumers. A full queue is an answer, never a wait. */
#ifndef BASE_QUEUE_H
#define BASE_QUEUE_H

#include "tandem/types.h"

struct queue;

struct queue *queue_new(size_t capacity); /* **returns new** (queue_free), or NULL */
void queue_free(struct queue *queue);     /* the items are the caller's */

TD_MUST_CHECK bool queue_push(struct queue *queue, void *item); /* false = full or closed */
void *queue_pop(struct queue *queue);                           /* NULL = empty */
/* Waits up to timeout_ms (UINT32_MAX = for ever) for an item; NULL on time-out or closed and
 * empty. */
void *queue_wait(struct queue *queue, uint32_t timeout_ms);
/* No more pushes; waiters return once it is empty. */
void queue_close(struct queue *queue);

/* Readable while the queue is not empty. A reader calls queue_pop until NULL; pop rearms the fd. */
int queue_fd(const struct queue *queue);
size_t queue_count(struct queue *queue);

#endif
