/* A pool of threads for work that would block an event loop, such as reading a large prompt. Each
 * task is a delivery (base/thread/delivery.h): a thread runs it, and the result comes back on the
 * loop that submitted it. A task that was cancelled while it waited is not run. */
#include "base/thread/background.h"

#include "base/core/assertion.h"
#include "base/core/error.h"
#include "base/thread/delivery.h"
#include "base/thread/queue.h"

#include <pthread.h>
#include <stdlib.h>

struct background {
    struct queue *queue;
    uint32_t capacity;
    atomic_bool stop;
    uint32_t started;
    pthread_t threads[];
};

struct background_task {
    struct delivery delivery; /* first */
    struct background_work work;
};

static struct background_task *task_of(struct delivery *delivery)
{
    return (struct background_task *)delivery;
}

static void task_free(struct delivery *delivery)
{
    struct background_task *task = task_of(delivery);
    if (task->work.free_ctx)
        task->work.free_ctx(task->work.ctx);
    free(task);
}

static void task_done(struct delivery *delivery)
{
    struct background_task *task = task_of(delivery);
    task->work.done(task->work.ctx, task->work.owner);
}

static void *background_main(void *arg)
{
    struct background *background = arg;
    struct background_task *task;
    while ((task = queue_wait(background->queue, UINT32_MAX)) != NULL) {
        if (delivery_is_wanted(&task->delivery) && !atomic_load(&background->stop))
            task->work.run(task->work.ctx);
        delivery_send(&task->delivery, &background->stop);
    }
    return NULL;
}

struct background *background_new(uint32_t thread_count, uint32_t capacity)
{
    ASSERT(thread_count > 0 && capacity > 0);
    struct background *background =
        calloc(1, sizeof *background + thread_count * sizeof *background->threads);
    if (!background)
        return NULL;
    background->capacity = capacity;
    background->queue = queue_new(capacity);
    bool ok = background->queue != NULL;
    while (ok && background->started < thread_count) {
        ok = pthread_create(&background->threads[background->started], NULL, background_main,
                            background) == 0;
        background->started += ok;
    }
    if (ok)
        return background;
    background_free(background);
    return NULL;
}

void background_free(struct background *background)
{
    if (!background)
        return;
    atomic_store(&background->stop, true);
    if (background->queue)
        queue_close(background->queue);
    for (uint32_t i = 0; i < background->started; i++)
        pthread_join(background->threads[i], NULL);
    queue_free(background->queue);
    free(background);
}

enum td_status background_submit(struct background *background, const struct background_work *work,
                                 struct background_task **out, struct td_error *err)
{
    ASSERT(background != NULL && work != NULL && out != NULL);
    ASSERT(work->run != NULL && work->done != NULL && work->loop != NULL);
    struct background_task *task = calloc(1, sizeof *task);
    *out = NULL;
    if (!task)
        return error_set(err, TD_NO_MEMORY, "no memory for another request");
    task->work = *work;
    delivery_init(&task->delivery, work->loop, task_done, task_free);
    *out = task;
    if (queue_push(background->queue, task))
        return TD_OK;
    *out = NULL;
    task->work.free_ctx = NULL; /* the caller keeps the context */
    delivery_release(&task->delivery);
    delivery_release(&task->delivery);
    return error_set(err, TD_BUSY, "%u requests wait already to be prepared", background->capacity);
}

void background_cancel(struct background_task *task)
{
    ASSERT(task != NULL);
    delivery_cancel(&task->delivery);
}
