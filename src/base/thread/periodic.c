#include "base/thread/periodic.h"

#include "base/time/clock.h"

void periodic_init(struct periodic *periodic)
{
    *periodic = (struct periodic){.started = false};
    pthread_mutex_init(&periodic->lock, NULL);
    clock_cond_init(&periodic->wake);
}

bool periodic_start(struct periodic *periodic, void *(*run)(void *ctx), void *ctx)
{
    periodic->started = pthread_create(&periodic->thread, NULL, run, ctx) == 0;
    return periodic->started;
}

bool periodic_pause(struct periodic *periodic, uint32_t ms)
{
    const struct timespec until = clock_deadline(ms);
    int code = 0;
    pthread_mutex_lock(&periodic->lock);
    while (!periodic->stop && code == 0)
        code = pthread_cond_timedwait(&periodic->wake, &periodic->lock, &until);
    bool stop = periodic->stop;
    pthread_mutex_unlock(&periodic->lock);
    return stop;
}

void periodic_end(struct periodic *periodic)
{
    pthread_mutex_lock(&periodic->lock);
    periodic->stop = true;
    pthread_cond_broadcast(&periodic->wake);
    pthread_mutex_unlock(&periodic->lock);
    if (periodic->started)
        pthread_join(periodic->thread, NULL);
    pthread_mutex_destroy(&periodic->lock);
    pthread_cond_destroy(&periodic->wake);
}
