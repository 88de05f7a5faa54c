/* A large request is parsed into many small blocks, and malloc keeps their pages: forty schemas
 * with long lists left the server three times as large as it was before. Giving pages back takes
 * milliseconds and holds up whoever allocates meanwhile. So it is done beside the loop, some time
 * after such a request, and once for all requests of that time. */
#include "api/http/trim.h"

#include "base/thread/background.h"

#include <malloc.h>

#define LARGE_BYTES (64 * 1024)
#define TRIM_AFTER_MS 300

static void run(void *ctx)
{
    (void)ctx;
    malloc_trim(0);
}

static void done(void *ctx, void *owner)
{
    (void)ctx, (void)owner;
}

static void free_nothing(void *ctx)
{
    (void)ctx;
}

static void on_timer(void *ctx)
{
    struct api *api = ctx;
    const struct background_work work = {
        .run = run, .done = done, .free_ctx = free_nothing, .loop = api->loop};
    struct background_task *task;
    api->trim_waits = false;
    api->large = api->calls != NULL; /* those that still run may be large */
    if (background_submit(api->host->background, &work, &task, NULL) != TD_OK)
        api->large = true; /* after the next call, then */
}

bool trim_weigh(struct api *api, size_t bytes)
{
    if (bytes < LARGE_BYTES || !api->host->background)
        return true;
    if (!api->trim)
        api->trim = loop_timer_new(api->loop, on_timer, api);
    api->large = api->trim != NULL;
    return api->large;
}

void trim_call_ended(struct api *api)
{
    if (!api->large || api->trim_waits)
        return;
    api->trim_waits = true;
    loop_timer_start(api->loop, api->trim, TRIM_AFTER_MS);
}
