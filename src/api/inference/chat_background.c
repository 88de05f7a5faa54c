/* A response in the background goes on when its client has left, or was told its id at once.
 * Whether it was cancelled is looked at from time to time. */
#include "api/inference/chat_internal.h"
#include "base/core/str.h"

/* How soon one in the background notices that it was cancelled. */
#define WANTED_MS 100
/* Of one loop. */
#define DETACHED_MAX 256

static void look_whether_wanted(void *ctx)
{
    struct chat *chat = ctx;
    const struct kept_answer kept = chat_kept(chat);
    if (kept_answer_is_wanted(&kept)) {
        loop_timer_start(chat->base.api->loop, chat->wanted, WANTED_MS);
        return;
    }
    if (!chat->exchange) /* it has ended */
        return;
    chat_cancel(chat);
    event_stream_abort(&chat->stream);
    chat_end(chat);
}

/* Of the calls that are chats: those that are stopped alike. */
static uint32_t count_detached(const struct api *api, void (*stop)(struct api_call *call))
{
    uint32_t count = 0;
    for (const struct api_call *call = api->calls; call; call = call->next)
        count += call->stop == stop && ((const struct chat *)call)->detached;
    return count;
}

bool chat_detach(struct chat *chat, struct fault *fault)
{
    struct api *api = chat->base.api;
    const struct kept_answer kept = chat_kept(chat);
    if (!chat->request.turn.store)
        return fault_request(fault, "background",
                             "a response in the background has to be kept, and this route keeps "
                             "nothing");
    if (count_detached(api, chat->base.stop) >= DETACHED_MAX) {
        fault_from_status(fault, TD_BUSY, "too many responses run in the background", NULL);
        return false;
    }
    chat->wanted = loop_timer_new(api->loop, look_whether_wanted, chat);
    buf_init(&chat->body, 2 * chat->request.asked_bytes + 65536);
    if (!chat->wanted) {
        return fault_no_memory(fault);
    }
    if (!kept_answer_begin(&kept, &chat->body, fault))
        return false;
    chat->detached = true;
    loop_timer_start(api->loop, chat->wanted, WANTED_MS);
    if (!chat->request.td.streamed) {
        http_reply_header(chat->stream.http, "x-tandem-exchange", exchange_id(chat->exchange));
        api_reply_json(api, chat->stream.http, 200, &chat->body);
        event_stream_forget(&chat->stream);
    }
    return true;
}
