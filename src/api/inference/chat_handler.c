/* A chat of any dialect (dialect.h; chat_endpoints.c has the paths). One request is one
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
 *
 * A response in the background goes on when its client has left, or was told its id at once. It is
 * `detached`: its answer is kept (kept_answer.h), and it ends early only when it is cancelled.
 */
#include "api/inference/chat_handler.h"
#include "api/dialects/responses/responses_compact.h"
#include "api/files/file_inline.h"
#include "api/http/access.h"
#include "api/http/access_note.h"
#include "api/inference/call_cache.h"
#include "api/inference/chat_internal.h"
#include "api/inference/exchange_reply.h"
#include "api/inference/format_task.h"
#include "api/inference/quota.h"
#include "api/wire/openai_format.h"
#include "base/core/str.h"
#include "tier/call_grammar.h"

#include <stdio.h>
#include <stdlib.h>

/* Of an answer to a request that asks for none: a model's name. */
#define NOTHING_BYTES_MAX 8192
/* --- life --- */

void chat_cancel(struct chat *chat)
{
    if (chat->compiling)
        background_cancel(chat->compiling);
    chat->compiling = NULL;
    history_wait_cancel(chat->saving);
    chat->saving = NULL;
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
    meters_leave(api->host->meters, &chat->request.td.meters, 0, 0); /* it never began */
    api_call_end(&chat->base);
    loop_timer_free(api->loop, chat->reaper);
    loop_timer_free(api->loop, chat->wanted);
    openai_request_deinit(&chat->request);
    response_answer_deinit(&chat->reply.answer);
    buf_deinit(&chat->body);
    buf_deinit(&chat->filled);
    deferral_draft_deinit(&chat->draft);
    free(chat->fault);
    event_stream_deinit(&chat->stream);
    arena_free(chat->arena);
    if (chat->services)
        api->host->release(api->host->ctx, chat->services);
    if (chat->dialect->deinit)
        chat->dialect->deinit(chat->reply.state);
    free(chat->reply.state);
    free(chat);
}

void chat_end(struct chat *chat)
{
    event_stream_forget(&chat->stream);
    loop_timer_start(chat->base.api->loop, chat->reaper, 0);
}

static void chat_gone(void *ctx)
{
    struct chat *chat = ctx;
    if (chat->detached) {
        event_stream_forget(&chat->stream);
        return;
    }
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

static void reply_headers(struct chat *chat, const struct exchange_summary *summary)
{
    char text[1024];
    exchange_reply_headers(chat->stream.http, summary);
    if (!chat->request.left_out)
        return;
    response_header_text(chat->request.left_out, text, sizeof text);
    http_reply_header(chat->stream.http, "x-tandem-not-run", text);
}

static void start_stream(struct chat *chat, const struct exchange_summary *summary)
{
    if (chat->opened || (!chat->stream.http && !chat->detached))
        return;
    chat->opened = true;
    if (chat->stream.http && !chat->stream.started)
        reply_headers(chat, summary);
    if (chat->stream.http)
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

static void write_stream_end(struct chat *chat, const struct exchange_summary *summary,
                             struct fault *fault)
{
    start_stream(chat, summary); /* an empty answer has no earlier event */
    struct buf *frame = event_stream_frame(&chat->stream);
    bool written = chat->dialect->write_finish(&chat->reply, summary, frame, fault);
    if ((!written || frame->failed) && !fault->code)
        fault_too_large(fault);
}

static void write_whole(struct chat *chat, const struct exchange_summary *summary,
                        struct fault *fault)
{
    size_t repeated = 2 * chat->request.asked_bytes; /* what a dialect repeats of the request */
    buf_init(&chat->body, 4 * chat->base.api->host->answer_bytes_max + repeated + 65536);
    bool written = chat->dialect->write_answer(&chat->reply, summary, &chat->body, fault);
    if ((!written || chat->body.failed) && !fault->code)
        fault_too_large(fault);
}

/* What the client gets is known before the exchange is recorded, so that the record says it. */
static void on_complete(struct chat *chat, const struct exchange_summary *summary)
{
    struct fault fault = {0};
    if (!chat->stream.http && !chat->detached)
        return;
    if (chat->request.td.streamed)
        write_stream_end(chat, summary, &fault);
    else if (chat->stream.http)
        write_whole(chat, summary, &fault);
    (void)api_call_is_whole(&chat->base, &fault);
    if (!fault.code)
        return;
    exchange_reject(chat->exchange, fault.error_code);
    chat->fault =
        malloc(sizeof *chat->fault); /* without it the exchange says that it was rejected */
    if (chat->fault)
        *chat->fault = fault;
}

struct kept_answer chat_kept(const struct chat *chat)
{
    const struct api_host *host = chat->base.api->host;
    return (struct kept_answer){.history = host->history,
                                .dialect = chat->dialect,
                                .reply = &chat->reply,
                                .bytes_max = host->answer_bytes_max};
}

/* Before its last byte goes out, because the client may go on from it at once. */
static void keep(struct chat *chat, const struct exchange_summary *summary,
                 const struct fault *fault)
{
    const struct kept_answer kept = chat_kept(chat);
    if (chat->detached || (chat->stream.http && !fault))
        kept_answer_end(&kept, summary, fault);
}

static void send_rest(struct chat *chat)
{
    struct fault fault;
    if (chat->request.td.streamed) {
        send_frame(chat);
        event_stream_done(&chat->stream);
        return;
    }
    if (api_call_is_whole(&chat->base, &fault))
        api_reply_json(chat->base.api, chat->stream.http, 200, &chat->body);
    else
        api_reply_fault(chat->base.api, chat->stream.http, &fault);
    chat_end(chat);
}

static void saved(void *ctx)
{
    struct chat *chat = ctx;
    api_begin_event(chat->base.api);
    chat->saving = NULL;
    send_rest(chat); /* a client that leaves ends the wait */
    if (chat->stream.broken && chat->stream.http)
        event_stream_abort(&chat->stream);
    loop_timer_start(chat->base.api->loop, chat->reaper, 0);
}

/* Where nodes share what is kept, another must find it when the client has the last byte. */
static void send_end(struct chat *chat, const struct exchange_summary *summary)
{
    const struct kept_answer kept = chat_kept(chat);
    keep(chat, summary, NULL);
    if (!chat->stream.http)
        return;
    if (!chat->request.td.streamed)
        reply_headers(chat, summary);
    chat->saving = kept_answer_wait(&kept, chat->base.api->loop, saved, chat);
    if (!chat->saving)
        send_rest(chat);
}

static void finish_failed(struct chat *chat, const struct exchange_event *event)
{
    if (!chat->stream.http && !chat->detached)
        return;
    struct fault fault = {0};
    if (chat->fault) {
        fault = *chat->fault;
    } else {
        exchange_reply_fault(event, &fault);
        dialect_name_fault(chat->dialect, &fault);
    }
    keep(chat, event->summary, &fault);
    if (!chat->stream.http)
        return;
    if (!chat->stream.started) {
        reply_headers(chat, event->summary);
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

/* A provisional answer is for whoever asks at its id meanwhile; what was found of it, for clients
 * that have read it. */
static void on_check(struct chat *chat, const struct exchange_event *event)
{
    const struct td_request *td = &chat->request.td;
    const struct kept_answer kept = chat_kept(chat);
    if (event->kind == EXCHANGE_PROVISIONAL && chat->detached && !td->streamed)
        kept_answer_update(&kept, event->summary);
    if (event->kind == EXCHANGE_PROVISIONAL || !td->streamed || !td->corrections || !chat->opened)
        return;
    chat->dialect->write_verdict(&chat->reply, event->summary, event_stream_frame(&chat->stream));
    send_frame(chat);
}

static struct deferral_call deferral_of(const struct chat *chat)
{
    return (struct deferral_call){chat->base.api, chat->stream.http, chat->services, chat->exchange,
                                  chat->request.td.user};
}

/* The question waits for a connection instead of getting this answer, or none. */
static bool put_aside(struct chat *chat, const struct exchange_event *event)
{
    const struct deferral_call call = deferral_of(chat);
    if (!chat->stream.http || chat->stream.started ||
        !deferral_draft_put_aside(&chat->draft, &call, event))
        return false;
    event_stream_forget(&chat->stream);
    return true;
}

static void on_event(void *ctx, const struct exchange_event *event)
{
    struct chat *chat = ctx;
    struct fault fault;
    api_begin_event(chat->base.api);
    chat->in_event = event->kind != EXCHANGE_CANCELLED;
    switch (event->kind) {
    case EXCHANGE_START:
        if (!put_aside(chat, event) && chat->request.td.streamed)
            start_stream(chat, event->summary);
        break;
    case EXCHANGE_TEXT:
        on_text(chat, event);
        break;
    case EXCHANGE_CORRECTION:
        on_correction(chat, event);
        break;
    case EXCHANGE_PROVISIONAL:
    case EXCHANGE_VERDICT:
        on_check(chat, event);
        break;
    case EXCHANGE_COMPLETE:
        if (!put_aside(chat, event))
            on_complete(chat, event->summary);
        break;
    case EXCHANGE_DONE:
        chat->exchange = NULL;
        exchange_reply_count(chat->base.api, event->summary);
        access_note_exchange(chat->stream.http, event->summary);
        send_end(chat, event->summary);
        break;
    case EXCHANGE_FAILED:
        chat->exchange = NULL;
        exchange_reply_count(chat->base.api, event->summary);
        access_note_exchange(chat->stream.http, event->summary);
        if (!put_aside(chat, event))
            finish_failed(chat, event);
        break;
    case EXCHANGE_CANCELLED:
        exchange_reply_count(chat->base.api, event->summary);
        access_note_exchange(chat->stream.http, event->summary);
        return; /* whoever cancelled goes on */
    }
    chat->in_event = false;
    (void)api_call_is_whole(&chat->base, &fault);
    if (chat->stream.cut && chat->exchange)
        exchange_reject(chat->exchange, chat->stream.cut);
    if (chat->stream.broken && chat->stream.http) {
        event_stream_abort(&chat->stream);
        if (!chat->detached)
            chat_end(chat);
    }
    /* Also when the client left inside a write. */
    if (chat->saving)
        return;
    if (!chat->exchange || (!chat->stream.http && !chat->detached))
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

/* --- beginning --- */

/* The client asked for it, so no exchange begins. False: the route keeps nothing, and it has to be
 * answered now. */
static bool put_unasked(struct chat *chat)
{
    struct fault fault;
    struct td_error err = {0};
    bool keeps_nothing = false;
    enum td_status status = exchange_look(chat->services, chat->base.api->loop, &chat->request.td,
                                          &keeps_nothing, &err);
    if (status != TD_OK) {
        exchange_reply_refusal(status, &err, chat->request.body, &fault);
        refuse(chat, &fault);
        return true;
    }
    if (keeps_nothing)
        return false;
    const struct deferral_call call = deferral_of(chat);
    deferral_draft_put(&chat->draft, &call, "its client asked for it");
    event_stream_forget(&chat->stream);
    chat_free(chat);
    return true;
}

static void begin_exchange(struct chat *chat)
{
    struct api *api = chat->base.api;
    struct fault fault = {0};
    struct td_error err = {0};
    if (chat->draft.text && chat->draft.use == DEFER_ONLY && put_unasked(chat))
        return;
    enum td_status status = exchange_start(chat->services, api->loop, &chat->request.td, on_event,
                                           chat, &chat->exchange, &err);
    if (status != TD_OK) {
        chat->exchange = NULL;
        exchange_reply_refusal(status, &err, chat->request.body, &fault);
        refuse(chat, &fault);
        return;
    }
    chat->request.td.meters = (struct meter_hold){.tokens = 0}; /* the exchange settles it */
    response_writer_init(&chat->reply.writer, exchange_id(chat->exchange),
                         (int64_t)(clock_wall_ms(chat->services->clock) / 1000), &chat->request.td);
    chat->reply.writer.left_out = chat->request.left_out;
    if (exchange_keeps_nothing(chat->exchange) && http_request_is_inside(chat->stream.http)) {
        exchange_reply_unkept(&fault);
        chat_cancel(chat);
        refuse(chat, &fault);
        return;
    }
    if (exchange_keeps_nothing(chat->exchange)) {
        responses_history_deinit(&chat->request.turn);
        chat->request.turn.store = false;
    }
    if (exchange_keeps_nothing(chat->exchange))
        deferral_draft_deinit(&chat->draft);
    if (chat->request.turn.background && !chat_detach(chat, &fault)) {
        chat_cancel(chat);
        refuse(chat, &fault);
        return;
    }
    if (chat->request.td.streamed)
        event_stream_await(&chat->stream, exchange_id(chat->exchange),
                           chat->request.td.client_timeout_ms);
}

/* Tools that no grammar holds are for tiers elsewhere, where there are any. */
static bool accept_calls(struct chat *chat, struct format_part *part, struct fault *fault)
{
    struct td_request *request = &chat->request.td;
    if (!part->wanted)
        return true;
    request->call_grammar = part->grammar;
    part->grammar = NULL;
    if (part->status == TD_OK) {
        call_cache_put(chat->base.api->host->call_cache, request, request->call_grammar);
        return true;
    }
    /* The place alone: reasons are recorded, and what follows it quotes the client's schema. */
    struct td_str why = str_from(part->err.message);
    why = str_slice(why, 0, str_find(why, STR(": "), 0));
    snprintf(chat->call_fault, sizeof chat->call_fault, STR_FMT, STR_ARG(why));
    request->call_fault = chat->call_fault;
    if (part->status == TD_NO_MEMORY) {
        fault_from_status(fault, part->status, part->err.message, NULL);
        return false;
    }
    bool elsewhere = request->mode != TD_MODE_ONLY_LOCAL;
    bool held_everywhere = true; /* by a grammar, if at all */
    for (size_t i = 0; i < chat->services->tier_count; i++)
        held_everywhere &= (chat->services->tiers[i]->facts.lacks & CAPABILITY_WHOLE_TOOLS) != 0;
    return (elsewhere && !held_everywhere) ||
           fault_request(fault, "tools", "%s", part->err.message);
}

static void format_compiled(void *owner, struct format_result *result)
{
    struct chat *chat = owner;
    struct format_part *format = &result->format;
    struct fault fault = {0};
    api_begin_event(chat->base.api);
    chat->compiling = NULL;
    bool ok = true;
    if (format->wanted) {
        ok = openai_format_accept(format->status, format->grammar, &format->err, &chat->request.td,
                                  &fault);
        format->grammar = NULL;
    }
    if (ok && accept_calls(chat, &result->calls, &fault))
        begin_exchange(chat);
    else
        refuse(chat, &fault);
}

/* Whether a tier would hold calls to a grammar. One of an earlier request is taken at once. */
static bool calls_are_due(struct chat *chat)
{
    struct td_request *request = &chat->request.td;
    bool held = false;
    for (size_t i = 0; i < chat->services->tier_count; i++) {
        unsigned lacks = chat->services->tiers[i]->facts.lacks;
        held |= (lacks & CAPABILITY_WHOLE_TOOLS) && !(lacks & CAPABILITY_TOOLS);
    }
    if (!held || !call_grammar_is_due(request))
        return false;
    request->call_grammar = call_cache_find(chat->base.api->host->call_cache, request);
    return !request->call_grammar;
}

/* Compiles what takes time, and then begins. */
static void prepare(struct chat *chat)
{
    struct td_error err = {0};
    const struct format_task_options options = {.background = chat->base.api->host->background,
                                                .loop = chat->base.api->loop,
                                                .request = &chat->request.td,
                                                .format = openai_format_is_due(&chat->request.td),
                                                .calls = calls_are_due(chat),
                                                .on_done = format_compiled,
                                                .owner = chat};
    if (!options.format && !options.calls) {
        begin_exchange(chat);
        return;
    }
    enum td_status status = format_task_start(&options, &chat->compiling, &err);
    if (status == TD_OK)
        return;
    struct fault fault = {0};
    fault_from_status(&fault, status, err.message, NULL);
    refuse(chat, &fault);
}

/* A model is not loaded because somebody asks: those of the configuration are there. */
static void reply_nothing(struct chat *chat)
{
    buf_init(&chat->body, NOTHING_BYTES_MAX);
    chat->dialect->write_nothing(chat->request.asked, &chat->body);
    api_reply_json(chat->base.api, chat->stream.http, 200, &chat->body);
    event_stream_forget(&chat->stream);
    chat_free(chat);
}

/* path: what the body does not say. */
void chat_handle_on(struct api *api, struct http_request *request, const struct dialect *dialect,
                    struct dialect_path path)
{
    struct td_str body;
    struct fault fault = {0};
    struct chat *chat = chat_new(api, dialect, request);
    if (!chat) {
        fault_no_memory(&fault);
        api_reply_fault(api, request, &fault);
        return;
    }
    const struct responses_history from = responses_history_of(api);
    chat->services = api->host->acquire(api->host->ctx);
    path.on_device = chat->services->model;
    if (!file_inline_request(api, request, &chat->filled, &body, &fault) ||
        !dialect_read_on(dialect, &path, &from, body, access_find_header, request, chat->arena,
                         &chat->request, &fault) ||
        !api_has_memory(api, &fault)) { /* then a member may be missing */
        refuse(chat, &fault);
        return;
    }
    if (chat->request.asks_nothing) {
        reply_nothing(chat);
        return;
    }
    if (chat->request.include_obfuscation)
        event_stream_obfuscate(&chat->stream);
    if (!quota_enter_request(api, request, 1, chat->arena, &chat->request.td, &fault)) {
        refuse(chat, &fault);
        return;
    }
    bool can = !chat->request.turn.background && dialect != &dialect_responses_compact;
    if (!deferral_draft_init(&chat->draft, api, request, chat->request.td.defer, can, &fault)) {
        refuse(chat, &fault);
        return;
    }
    http_request_on_gone(request, chat_gone, chat);
    http_request_forget_body(request); /* all that is asked lies in chat->request */
    buf_deinit(&chat->filled);
    prepare(chat);
}
