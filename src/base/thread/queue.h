/* A bounded queue of pointers between threads, which an event loop can watch. Any number of
 * producers and consumers. A push never waits: when the queue is full, it says so. */
#ifndef BASE_QUEUE_H
#define BASE_QUEUE_H

#include "tandem/types.h"

struct queue;

struct queue *queue_new(size_t capacity); /* **returns new** (queue_free), or NULL */
void queue_free(struct queue *queue);     /* does not free the items */

TD_MUST_CHECK bool queue_push(struct queue *queue, void *item); /* false = full or closed */
void *queue_pop(struct queue *queue);                           /* NULL = empty */
/* Waits up to timeout_ms for an item (UINT32_MAX = for ever). NULL after the time, or when the
 * queue is closed and empty. */
void *queue_wait(struct queue *queue, uint32_t timeout_ms);
/* Refuses further pushes; waiting threads return when the queue is empty. */
void queue_close(struct queue *queue);

/* A file descriptor that is readable while the queue is not empty. Read by calling queue_pop until
 * it returns NULL. */
int queue_fd(const struct queue *queue);
size_t queue_count(struct queue *queue);

#endif
