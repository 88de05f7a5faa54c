/* An eventfd instead of a call into the loop: the loop may have stopped when the ledger is done. */
#include "exchange/machine/recording.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <unistd.h>

struct recording {
    atomic_int users; /* the ledger and the exchange */
    atomic_int status;
    int fd;
    struct loop_watch *watch;
};

static void drop(struct recording *recording)
{
    if (atomic_fetch_sub(&recording->users, 1) > 1)
        return;
    close(recording->fd);
    free(recording);
}

struct recording *recording_begin(struct loop *loop, loop_fn *then, void *ctx)
{
    struct recording *recording = calloc(1, sizeof *recording);
    if (!recording)
        return NULL;
    atomic_init(&recording->users, 2);
    atomic_init(&recording->status, TD_BUSY);
    recording->fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (recording->fd >= 0)
        recording->watch = loop_watch_new(loop, recording->fd, then, ctx);
    if (recording->watch)
        return recording;
    if (recording->fd >= 0)
        close(recording->fd);
    free(recording);
    return NULL;
}

void recording_told(void *ctx, enum td_status status)
{
    struct recording *recording = ctx;
    atomic_store(&recording->status, (int)status);
    (void)eventfd_write(recording->fd, 1); /* the counter cannot be full */
    drop(recording);
}

enum td_status recording_end(struct loop *loop, struct recording *recording)
{
    loop_watch_free(loop, recording->watch);
    enum td_status status = (enum td_status)atomic_load(&recording->status);
    drop(recording);
    return status;
}
