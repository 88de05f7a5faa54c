/* A ring of pointers behind a mutex. The eventfd is readable exactly while the queue is not empty,
 * so an event loop can watch it. It is written only on the change from empty to not empty and read
 * only on the change back, which costs one system call per burst and not per item. */
#include "base/thread/queue.h"

#include "base/core/assertion.h"
#include "base/time/clock.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <unistd.h>

struct queue {
    pthread_mutex_t mutex;
    pthread_cond_t not_empty;
    size_t head, count, capacity;
    int fd; /* readable while count > 0 or closed: written on 0 -> 1, read on 1 -> 0 */
    bool closed;
    void *items[];
};

struct queue *queue_new(size_t capacity)
{
    size_t bytes;
    if (capacity == 0 || __builtin_mul_overflow(capacity, sizeof(void *), &bytes) ||
        __builtin_add_overflow(bytes, sizeof(struct queue), &bytes))
        return NULL;
    struct queue *queue = calloc(1, bytes);
    if (queue == NULL)
        return NULL;
    queue->capacity = capacity;
    queue->fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (queue->fd < 0) {
        free(queue);
        return NULL;
    }
    clock_cond_init(&queue->not_empty);
    pthread_mutex_init(&queue->mutex, NULL);
    return queue;
}

void queue_free(struct queue *queue)
{
    if (queue == NULL)
        return;
    pthread_mutex_destroy(&queue->mutex);
    pthread_cond_destroy(&queue->not_empty);
    close(queue->fd);
    free(queue);
}

static void fd_raise(struct queue *queue)
{
    uint64_t one = 1;
    ssize_t written = write(queue->fd, &one, sizeof one);
    (void)written; /* EAGAIN: it is readable already */
}

static void fd_lower(struct queue *queue)
{
    uint64_t value;
    ssize_t got = read(queue->fd, &value, sizeof value);
    (void)got; /* EAGAIN: it is not readable already */
}

bool queue_push(struct queue *queue, void *item)
{
    ASSERT(item != NULL);
    pthread_mutex_lock(&queue->mutex);
    bool fits = !queue->closed && queue->count < queue->capacity;
    if (fits) {
        queue->items[(queue->head + queue->count) % queue->capacity] = item;
        if (queue->count++ == 0)
            fd_raise(queue);
        pthread_cond_signal(&queue->not_empty);
    }
    pthread_mutex_unlock(&queue->mutex);
    return fits;
}

static void *queue_pop_locked(struct queue *queue)
{
    if (queue->count == 0)
        return NULL;
    void *item = queue->items[queue->head];
    queue->head = (queue->head + 1) % queue->capacity;
    if (--queue->count == 0 && !queue->closed)
        fd_lower(queue);
    return item;
}

void *queue_pop(struct queue *queue)
{
    pthread_mutex_lock(&queue->mutex);
    void *item = queue_pop_locked(queue);
    pthread_mutex_unlock(&queue->mutex);
    return item;
}

void *queue_wait(struct queue *queue, uint32_t timeout_ms)
{
    struct timespec until = clock_deadline(timeout_ms);
    pthread_mutex_lock(&queue->mutex);
    int rc = 0;
    while (queue->count == 0 && !queue->closed && rc != ETIMEDOUT) {
        if (timeout_ms == UINT32_MAX)
            pthread_cond_wait(&queue->not_empty, &queue->mutex);
        else
            rc = pthread_cond_timedwait(&queue->not_empty, &queue->mutex, &until);
    }
    void *item = queue_pop_locked(queue);
    pthread_mutex_unlock(&queue->mutex);
    return item;
}

void queue_close(struct queue *queue)
{
    pthread_mutex_lock(&queue->mutex);
    queue->closed = true;
    fd_raise(queue);
    pthread_cond_broadcast(&queue->not_empty);
    pthread_mutex_unlock(&queue->mutex);
}

int queue_fd(const struct queue *queue)
{
    return queue->fd;
}

size_t queue_count(struct queue *queue)
{
    pthread_mutex_lock(&queue->mutex);
    size_t count = queue->count;
    pthread_mutex_unlock(&queue->mutex);
    return count;
}
