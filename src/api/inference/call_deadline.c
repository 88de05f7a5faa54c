#include "api/inference/call_deadline.h"

#include "api/http/access.h"
#include "api/wire/request_options.h"
#include "base/bytes/arena.h"
#include "base/core/error.h"
#include "exchange/machine/deadline.h"

bool call_deadline_start(struct call_deadline *deadline, struct api *api, struct http_request *http,
                         uint32_t server_ms, void (*on_passed)(void *ctx), void *ctx,
                         struct fault *fault)
{
    struct td_request options = {0};
    struct arena *arena = arena_new(api->host->arena_bytes_max);
    bool read =
        arena && request_options_read_headers(access_find_header, http, arena, &options, fault);
    arena_free(arena);
    if (arena && !read)
        return false;
    deadline->ms = deadline_of_answer(server_ms, &options);
    if (arena && deadline->ms)
        deadline->timer = loop_timer_new(api->loop, on_passed, ctx);
    if (!arena || (deadline->ms && !deadline->timer)) {
        return fault_no_memory(fault);
    }
    if (deadline->timer)
        loop_timer_start(api->loop, deadline->timer, deadline->ms);
    return true;
}

enum td_status call_deadline_passed(const struct call_deadline *deadline, struct td_error *err)
{
    return error_set(err, TD_TIMEOUT, "the deadline of %u ms passed", deadline->ms);
}

void call_deadline_stop(struct call_deadline *deadline, struct api *api)
{
    loop_timer_free(api->loop, deadline->timer);
    deadline->timer = NULL;
}
