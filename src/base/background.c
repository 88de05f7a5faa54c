/* A task has two references: its owner's, until done returned or background_cancel, and the
 * thread's, until it was posted; a post under way has a third. Whoever drops the last one frees
 * it. */
#include "base/background.h"

#include "base/error.h"
#include "base/queue.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <time.h>

#define POST_RETRY_NS 5000000L /* a loop whose queue was full is asked again so soon */

struct background {
    struct queue *queue;
    uint32_t capacity;
    atomic_bool stop;
    uint32_t started;
    uint32_t thread_count;
    pthread_t threads[];
};

struct background_task {
    struct background_work work;
    atomic_uint references;
    /* Held while a post is made: once background_cancel has returned the loop may be freed. */
    pthread_mutex_t posting;
    atomic_bool cancelled; /* set by the owner; no callback after */
};

static void task_release(struct background_task *task)
{
    if (atomic_fetch_sub_explicit(&task->references, 1, memory_order_acq_rel) != 1)
        return;
    task->work.free_ctx(task->work.ctx);
    pthread_mutex_destroy(&task->posting);
    free(task);
}

static void deliver(void *ctx)
{
    struct background_task *task = ctx;
    if (!atomic_load(&task->cancelled)) {
        task->work.done(task->work.ctx, task->work.owner);
        task_release(task); /* the owner's */
    }
    task_release(task);
}

static bool is_wanted(const struct background *background, const struct background_task *task)
{
    return !atomic_load(&task->cancelled) && !atomic_load(&background->stop);
}

/* False when the loop took no post: try again later. */
static bool post(struct background_task *task)
{
    atomic_fetch_add(&task->references, 1);
    pthread_mutex_lock(&task->posting);
    bool posted = !atomic_load(&task->cancelled) && loop_post(task->work.loop, deliver, task);
    pthread_mutex_unlock(&task->posting);
    if (!posted)
        task_release(task);
    return posted;
}

static void *background_main(void *arg)
{
    struct background *background = arg;
    static const struct timespec retry = {.tv_nsec = POST_RETRY_NS};
    struct background_task *task;
    while ((task = queue_wait(background->queue, UINT32_MAX)) != NULL) {
        if (is_wanted(background, task))
            task->work.run(task->work.ctx);
        while (is_wanted(background, task) && !post(task))
            nanosleep(&retry, NULL);
        task_release(task);
    }
    return NULL;
}

struct background *background_new(uint32_t thread_count, uint32_t capacity)
{
    struct background *background =
        calloc(1, sizeof *background + thread_count * sizeof *background->threads);
    if (!background)
        return NULL;
    background->thread_count = thread_count;
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
    struct background_task *task = calloc(1, sizeof *task);
    *out = NULL;
    if (!task)
        return error_set(err, TD_NO_MEMORY, "no memory for another request");
    task->work = *work;
    atomic_init(&task->references, 2);
    pthread_mutex_init(&task->posting, NULL);
    *out = task;
    if (queue_push(background->queue, task))
        return TD_OK;
    *out = NULL;
    pthread_mutex_destroy(&task->posting);
    free(task);
    return error_set(err, TD_BUSY, "%u requests wait already to be prepared", background->capacity);
}

void background_cancel(struct background_task *task)
{
    pthread_mutex_lock(&task->posting);
    atomic_store(&task->cancelled, true);
    pthread_mutex_unlock(&task->posting);
    task_release(task);
}
