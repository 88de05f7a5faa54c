/* POST /v1/chat/completions and the other dialects of a chat (dialect.h). One request is one
 * exchange and one reply or stream.
 *
 * A struct chat lives until one turn of the loop after its end. The exchange still reads the
 * request's strings and the snapshot when it calls back for the last time, so nothing is freed
 * inside a callback. The `reaper` timer frees it.
 *
 *   exchange event     not streamed            streamed
 *   (10 s of silence)                          headers, signs of life
 *   START              remember nothing        headers, the dialect's first events
 *   TEXT               collect                 its events for a piece
 *   CORRECTION         forget, collect again   its events for one (chat alone has them)
 *   COMPLETE           write the reply         write its last events
 *   DONE               send it                 send them
 *   CANCELLED          counted               counted
 *   FAILED             status and error body   the same before a byte; else an error event
 */
#include "api/http/access.h"
#include "api/http/call.h"
#include "api/http/reply.h"
#include "api/http/tracing.h"
#include "api/inference/exchange_reply.h"
#include "api/inference/format_task.h"
#include "api/inference/handlers.h"
#include "api/wire/dialect.h"
#include "api/wire/openai_format.h"
#include "base/str.h"

#include <stdlib.h>

struct chat {
    struct api_call base; /* first */
    const struct dialect *dialect;
    struct event_stream stream;        /* its http is NULL once replied or gone */
    struct background_task *compiling; /* what the exchange waits for, or NULL */
    struct exchange *exchange;         /* NULL before it began and once final */
    struct exchange_services *services;
    struct arena *arena;
    struct chat_request request;
    struct dialect_reply reply;
    struct loop_timer *reaper;
    struct buf body;    /* the whole reply */
    struct fault fault; /* why the answer cannot be given; code 0 = it can */
    bool opened;        /* the dialect's first events are out */
    bool in_event;      /* inside the exchange's callback: it must not be cancelled now */
};

/* --- life --- */

/* Stops an exchange that nobody waits for any more. Must not be called inside its callback. */
static void chat_cancel(struct chat *chat)
{
    if (chat->compiling)
        background_cancel(chat->compiling);
    chat->compiling = NULL;
    if (!chat->exchange)
        return;
    exchange_cancel(chat->exchange);
    chat->exchange = NULL;
}

static void chat_free(void *ctx)
{
    struct chat *chat = ctx;
    struct api *api = chat->base.api;
    chat_cancel(chat);
    api_call_end(&chat->base);
    loop_timer_free(api->loop, chat->reaper);
    openai_request_deinit(&chat->request);
    response_answer_deinit(&chat->reply.answer);
    buf_deinit(&chat->body);
    event_stream_deinit(&chat->stream);
    arena_free(chat->arena);
    if (chat->services)
        api->host->release(api->host->ctx, chat->services);
    if (chat->dialect->deinit)
        chat->dialect->deinit(chat->reply.state);
    free(chat->reply.state);
    free(chat);
}

static void chat_end(struct chat *chat)
{
    event_stream_forget(&chat->stream);
    loop_timer_start(chat->base.api->loop, chat->reaper, 0);
}

static void chat_gone(void *ctx)
{
    struct chat *chat = ctx;
    if (!chat->in_event)
        chat_cancel(chat);
    if (!chat->stream.started)
        api_count_code(chat->base.api, 499);
    chat_end(chat);
}

static void chat_stop(struct api_call *call)
{
    struct chat *chat = (struct chat *)call;
    struct event_stream *stream = &chat->stream;
    struct fault fault;
    chat_cancel(chat);
    fault_stopping(&fault);
    if (stream->http && !stream->started) {
        api_reply_fault(call->api, stream->http, &fault);
    } else if (stream->http) {
        event_stream_send_fault(stream, &fault);
        event_stream_done(stream);
    }
    event_stream_forget(stream);
    chat_free(chat);
}

/* --- writing --- */

static void send_frame(struct chat *chat)
{
    event_stream_send(&chat->stream, chat->exchange ? exchange_id(chat->exchange) : "-");
}

static void start_stream(struct chat *chat, const struct exchange_summary *summary)
{
    if (chat->opened || !chat->stream.http)
        return;
    chat->opened = true;
    if (!chat->stream.started)
        exchange_reply_headers(chat->stream.http, summary);
    event_stream_start(&chat->stream);
    chat->dialect->write_start(&chat->reply, summary, event_stream_frame(&chat->stream));
    send_frame(chat);
}

/* The tier's answer has no form in this client's dialect. What runs is stopped after the event. */
static void fail_stream(struct chat *chat, const struct fault *fault)
{
    event_stream_send_fault(&chat->stream, fault);
    event_stream_done(&chat->stream);
}

static void write_stream_end(struct chat *chat, const struct exchange_summary *summary)
{
    start_stream(chat, summary); /* an empty answer has no earlier event */
    struct buf *frame = event_stream_frame(&chat->stream);
    bool written = chat->dialect->write_finish(&chat->reply, summary, frame, &chat->fault);
    if ((!written || frame->failed) && !chat->fault.code)
        fault_too_large(&chat->fault);
}

static void write_whole(struct chat *chat, const struct exchange_summary *summary)
{
    size_t repeated = 2 * chat->request.asked_bytes; /* what a dialect repeats of the request */
    buf_init(&chat->body, 4 * chat->base.api->host->answer_bytes_max + repeated + 65536);
    bool written = chat->dialect->write_answer(&chat->reply, summary, &chat->body, &chat->fault);
    if ((!written || chat->body.failed) && !chat->fault.code)
        fault_too_large(&chat->fault);
}

/* What the client gets is known before the exchange is recorded, so that the record says it. */
static void on_complete(struct chat *chat, const struct exchange_summary *summary)
{
    if (!chat->stream.http)
        return;
    if (chat->request.td.streamed)
        write_stream_end(chat, summary);
    else
        write_whole(chat, summary);
    (void)api_call_is_whole(&chat->base, &chat->fault);
    if (chat->fault.code)
        exchange_reject(chat->exchange, chat->fault.error_code);
}

static void send_end(struct chat *chat, const struct exchange_summary *summary)
{
    if (!chat->stream.http)
        return;
    if (chat->request.td.streamed) {
        send_frame(chat);
        event_stream_done(&chat->stream);
        return;
    }
    struct fault fault;
    exchange_reply_headers(chat->stream.http, summary);
    if (api_call_is_whole(&chat->base, &fault))
        api_reply_json(chat->base.api, chat->stream.http, 200, &chat->body);
    else
        api_reply_fault(chat->base.api, chat->stream.http, &fault);
    chat_end(chat);
}

static void finish_failed(struct chat *chat, const struct exchange_event *event)
{
    if (!chat->stream.http)
        return;
    struct fault fault = chat->fault;
    if (!fault.code) {
        exchange_reply_fault(event, &fault);
        dialect_name_fault(chat->dialect, &fault);
    }
    if (!chat->stream.started) {
        exchange_reply_headers(chat->stream.http, event->summary);
        api_reply_fault(chat->base.api, chat->stream.http, &fault);
        chat_end(chat);
        return;
    }
    start_stream(chat, event->summary); /* clients expect its first event before any other */
    fail_stream(chat, &fault);
}

/* --- the exchange's events --- */

static void on_text(struct chat *chat, const struct exchange_event *event)
{
    struct fault fault = {0};
    if (!chat->request.td.streamed) {
        response_answer_add(&chat->reply.writer, &chat->reply.answer, event->piece);
        return;
    }
    start_stream(chat, event->summary);
    struct buf *frame = event_stream_frame(&chat->stream);
    if (chat->dialect->write_piece(&chat->reply, event->summary, event->piece, frame, &fault)) {
        send_frame(chat);
    } else {
        exchange_reject(chat->exchange, fault.error_code);
        fail_stream(chat, &fault);
    }
}

static void on_correction(struct chat *chat, const struct exchange_event *event)
{
    if (!chat->request.td.streamed) {
        response_answer_clear(&chat->reply.answer);
        return;
    }
    struct buf *frame = event_stream_frame(&chat->stream);
    chat->dialect->write_correction(&chat->reply, event->summary, frame);
    if (chat->opened)
        send_frame(chat);
}

static void on_event(void *ctx, const struct exchange_event *event)
{
    struct chat *chat = ctx;
    struct fault fault;
    api_begin_event(chat->base.api);
    chat->in_event = event->kind != EXCHANGE_CANCELLED;
    switch (event->kind) {
    case EXCHANGE_START:
        if (chat->request.td.streamed)
            start_stream(chat, event->summary);
        break;
    case EXCHANGE_TEXT:
        on_text(chat, event);
        break;
    case EXCHANGE_CORRECTION:
        on_correction(chat, event);
        break;
    case EXCHANGE_COMPLETE:
        on_complete(chat, event->summary);
        break;
    case EXCHANGE_DONE:
        chat->exchange = NULL;
        exchange_reply_count(chat->base.api, event->summary);
        send_end(chat, event->summary);
        break;
    case EXCHANGE_FAILED:
        chat->exchange = NULL;
        exchange_reply_count(chat->base.api, event->summary);
        finish_failed(chat, event);
        break;
    case EXCHANGE_CANCELLED:
        exchange_reply_count(chat->base.api, event->summary);
        return; /* whoever cancelled goes on */
    }
    chat->in_event = false;
    (void)api_call_is_whole(&chat->base, &fault);
    if (chat->stream.cut && chat->exchange)
        exchange_reject(chat->exchange, chat->stream.cut);
    if (chat->stream.broken && chat->stream.http) {
        http_stream_end(chat->stream.http);
        chat_end(chat);
    }
    if (!chat->exchange || !chat->stream.http) /* also when the client left inside a write */
        loop_timer_start(chat->base.api->loop, chat->reaper, 0);
}

/* --- the request --- */

static struct chat *chat_new(struct api *api, const struct dialect *dialect,
                             struct http_request *http)
{
    struct chat *chat = calloc(1, sizeof *chat);
    if (!chat)
        return NULL;
    chat->dialect = dialect;
    chat->arena = arena_new(api->host->arena_bytes_max);
    chat->reply.request = &chat->request;
    chat->reply.state = calloc(1, dialect->state_bytes + 1);
    bool streams = event_stream_init(&chat->stream, api, http, dialect->form, &chat->reply);
    chat->reaper = loop_timer_new(api->loop, chat_free, chat);
    response_answer_init(&chat->reply.answer, api->host->answer_bytes_max);
    if (!chat->arena || !chat->reply.state || !streams || !chat->reaper) {
        arena_free(chat->arena);
        event_stream_deinit(&chat->stream);
        loop_timer_free(api->loop, chat->reaper);
        free(chat->reply.state);
        free(chat);
        return NULL;
    }
    api_call_begin(api, &chat->base, chat_stop, true);
    return chat;
}

static void refuse(struct chat *chat, struct fault *fault)
{
    dialect_name_fault(chat->dialect, fault);
    api_reply_fault(chat->base.api, chat->stream.http, fault);
    event_stream_forget(&chat->stream);
    chat_free(chat);
}

static void begin_exchange(struct chat *chat)
{
    struct api *api = chat->base.api;
    struct fault fault = {0};
    struct td_error err = {0};
    chat->services = api->host->acquire(api->host->ctx);
    enum td_status status = exchange_start(chat->services, api->loop, &chat->request.td, on_event,
                                           chat, &chat->exchange, &err);
    if (status != TD_OK) {
        chat->exchange = NULL;
        exchange_reply_refusal(status, &err, chat->request.body, &fault);
        refuse(chat, &fault);
        return;
    }
    response_writer_init(&chat->reply.writer, exchange_id(chat->exchange),
                         (int64_t)(clock_wall_ms(chat->services->clock) / 1000), &chat->request.td);
    if (chat->request.td.streamed)
        event_stream_await(&chat->stream, exchange_id(chat->exchange),
                           chat->request.td.client_timeout_ms);
}

static void format_compiled(void *owner, enum td_status status, struct td_grammar *grammar,
                            const struct td_error *err)
{
    struct chat *chat = owner;
    struct fault fault = {0};
    api_begin_event(chat->base.api);
    chat->compiling = NULL;
    if (openai_format_accept(status, grammar, err, &chat->request.td, &fault))
        begin_exchange(chat);
    else
        refuse(chat, &fault);
}

static void compile_format(struct chat *chat)
{
    struct td_error err = {0};
    const struct format_task_options options = {.background = chat->base.api->host->background,
                                                .loop = chat->base.api->loop,
                                                .request = &chat->request.td,
                                                .on_done = format_compiled,
                                                .owner = chat};
    enum td_status status = format_task_start(&options, &chat->compiling, &err);
    if (status == TD_OK)
        return;
    struct fault fault = {0};
    fault_from_status(&fault, status, err.message, NULL);
    refuse(chat, &fault);
}

static void handle(struct api *api, struct http_request *request, const struct dialect *dialect)
{
    struct fault fault = {0};
    struct chat *chat = chat_new(api, dialect, request);
    if (!chat) {
        fault_from_status(&fault, TD_NO_MEMORY, "no memory for another request", NULL);
        api_reply_fault(api, request, &fault);
        return;
    }
    if (!dialect_read(dialect, http_request_body(request), access_find_header, request, chat->arena,
                      &chat->request, &fault) ||
        !api_has_memory(api, &fault)) { /* then a member may be missing */
        refuse(chat, &fault);
        return;
    }
    if (chat->request.include_obfuscation)
        event_stream_obfuscate(&chat->stream);
    if (!access_give(api, chat->arena, &chat->request.td) ||
        !tracing_give(api, request, chat->arena, &chat->request.td)) {
        fault_from_status(&fault, TD_NO_MEMORY, "no memory for another request", NULL);
        refuse(chat, &fault);
        return;
    }
    http_request_on_gone(request, chat_gone, chat);
    if (openai_format_is_due(&chat->request.td))
        compile_format(chat);
    else
        begin_exchange(chat);
}

void chat_handle(struct api *api, struct http_request *request, const char *rest)
{
    (void)rest;
    handle(api, request, &dialect_chat);
}

void messages_handle(struct api *api, struct http_request *request, const char *rest)
{
    (void)rest;
    handle(api, request, &dialect_messages);
}

void responses_handle(struct api *api, struct http_request *request, const char *rest)
{
    (void)rest;
    handle(api, request, &dialect_responses);
}
