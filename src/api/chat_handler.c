/* POST /v1/chat/completions: one request, one exchange, one reply or stream.
 *
 * A struct chat lives from the request until one turn of the loop after its end: the exchange
 * still looks at the request's strings and the snapshot when it calls back for the last time, so
 * nothing is freed inside a callback. The `reaper` timer does it.
 *
 *   exchange event     not streamed            streamed
 *   START              remember nothing        headers, role chunk with `tandem`
 *   TEXT               collect                 content chunk
 *   CORRECTION         forget, collect anew    chunk with empty choices and tandem.correction
 *   DONE               headers, whole reply    finish chunk, usage chunk if asked, [DONE]
 *   FAILED             status and error body   the same before a byte; else error chunk, [DONE]
 *
 * A client that reads too slowly is cut off when STREAM_PENDING_MAX bytes wait for it: memory stays
 * bounded and the work stops. */
#include "api/api_internal.h"
#include "api/format_task.h"
#include "api/metrics.h"
#include "api/openai_request.h"
#include "api/openai_response.h"
#include "base/log.h"
#include "base/names.h"
#include "base/str.h"
#include "net/sse.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

/* Proxies and browsers cut a stream that is silent for 30 to 60 s. */
#define HEARTBEAT_MS 10000
/* Far above what any tier's answer makes in chunks: only a client that does not read gets there. */
#define STREAM_PENDING_MAX (4u << 20)
#define CHUNK_BYTES_MAX (4u << 20)

struct chat {
    struct chat *previous, *next; /* in api->chats */
    struct api *api;
    struct http_request *http;         /* NULL once replied or gone */
    struct background_task *compiling; /* what the exchange waits for, or NULL */
    struct exchange *exchange;         /* NULL before it began and once final */
    struct exchange_services *services;
    struct arena *arena;
    struct chat_request request;
    struct response_writer writer;
    struct response_answer answer;
    struct loop_timer *heartbeat, *reaper;
    struct buf chunk, frame;
    bool started;  /* stream headers are out */
    bool in_event; /* inside the exchange's callback: it must not be cancelled now */
    bool broken;   /* the client is too slow: cancel at the next turn */
};

/* --- life --- */

static void count_exchange(struct chat *chat, const struct exchange_summary *summary,
                           const char *status);

/* Stops the work of an exchange that nobody waits for any more. Not from inside its callback. */
static void chat_cancel(struct chat *chat)
{
    if (chat->compiling)
        background_cancel(chat->compiling);
    chat->compiling = NULL;
    if (!chat->exchange)
        return;
    exchange_cancel(chat->exchange);
    chat->exchange = NULL;
    count_exchange(chat, NULL, "cancelled");
}

static void chat_free(void *ctx)
{
    struct chat *chat = ctx;
    struct api *api = chat->api;
    chat_cancel(chat);
    if (chat->previous)
        chat->previous->next = chat->next;
    else
        api->chats = chat->next;
    if (chat->next)
        chat->next->previous = chat->previous;
    api->chat_count--;
    metrics_add(api->host->metrics, api->shard, METRICS_IN_FLIGHT, "", -1);
    loop_timer_free(api->loop, chat->heartbeat);
    loop_timer_free(api->loop, chat->reaper);
    openai_request_deinit(&chat->request);
    response_answer_deinit(&chat->answer);
    buf_deinit(&chat->chunk);
    buf_deinit(&chat->frame);
    arena_free(chat->arena);
    if (chat->services)
        api->host->release(api->host->ctx, chat->services);
    free(chat);
}

static void chat_end(struct chat *chat)
{
    chat->http = NULL;
    loop_timer_stop(chat->api->loop, chat->heartbeat);
    loop_timer_start(chat->api->loop, chat->reaper, 0);
}

static void count_exchange(struct chat *chat, const struct exchange_summary *summary,
                           const char *status)
{
    struct metrics *metrics = chat->api->host->metrics;
    uint32_t shard = chat->api->shard;
    char tier[METRICS_LABELS_BYTES] = "", labels[METRICS_LABELS_BYTES] = "";
    metrics_label(tier, "tier", summary ? summary->tier : NULL);
    snprintf(labels, sizeof labels, "%s", tier);
    metrics_label(labels, "route", summary ? summary->route : NULL);
    metrics_label(labels, "status", status);
    metrics_add(metrics, shard, METRICS_EXCHANGES, labels, 1);
    if (!summary)
        return;
    metrics_add(metrics, shard, METRICS_PROMPT_TOKENS, tier, summary->usage.prompt_tokens);
    metrics_add(metrics, shard, METRICS_COMPLETION_TOKENS, tier, summary->usage.completion_tokens);
    metrics_add(metrics, shard, METRICS_COST_USD, tier, summary->cost_usd);
    metrics_add(metrics, shard, METRICS_ALL_CLOUD_COST_USD, "", summary->all_cloud_cost_usd);
    if (summary->ttft_ms > 0)
        metrics_observe(metrics, shard, METRICS_TTFT_SECONDS, tier, summary->ttft_ms / 1e3);
    metrics_observe(metrics, shard, METRICS_TOTAL_SECONDS, tier, summary->total_ms / 1e3);
    for (size_t i = 0; i < summary->reason_count; i++) {
        const struct reason *reason = &summary->reasons[i];
        const char *name = reason_code_name(reason->code);
        if (strncmp(name, "left_", 5) != 0)
            continue;
        char left[METRICS_LABELS_BYTES] = "";
        metrics_label(left, "reason", name + 5);
        metrics_label(left, "tier", reason->tier);
        metrics_add(metrics, shard, METRICS_ESCALATIONS, left, 1);
    }
}

static void chat_gone(void *ctx)
{
    struct chat *chat = ctx;
    if (!chat->in_event)
        chat_cancel(chat);
    if (!chat->started)
        api_count_code(chat->api, 499);
    chat_end(chat);
}

void chat_cancel_all(struct api *api)
{
    while (api->chats) {
        struct chat *chat = api->chats;
        chat_cancel(chat);
        if (chat->http && !chat->started) {
            struct fault fault;
            fault_set(&fault, 503, "server_error", "shutting_down", "the server is stopping");
            fault.retry_after_s = 1;
            api_reply_fault(api, chat->http, &fault);
        } else if (chat->http) {
            http_stream_write(chat->http,
                              STR("data: {\"error\":{\"message\":\"the server is stopping\","
                                  "\"type\":\"server_error\",\"param\":null,"
                                  "\"code\":\"shutting_down\"}}\n\ndata: [DONE]\n\n"));
            http_stream_end(chat->http);
        }
        chat->http = NULL;
        chat_free(chat);
    }
}

/* --- writing --- */

static void set_headers(struct chat *chat, const struct exchange_summary *summary)
{
    char text[1024];
    if (summary->tier) {
        response_header_text(summary->tier, text, sizeof text);
        http_reply_header(chat->http, "x-tandem-tier", text);

        http_reply_header(chat->http, "x-tandem-place", names_place(summary->place));
    }
    if (isfinite(summary->confidence)) {
        snprintf(text, sizeof text, "%.4f", summary->confidence);
        http_reply_header(chat->http, "x-tandem-confidence", text);
    }
    http_reply_header(chat->http, "x-tandem-exchange", summary->id);
    if (summary->disclosure) {
        response_header_text(summary->disclosure, text, sizeof text);
        http_reply_header(chat->http, "x-tandem-disclosure", text);
    }
}

static void send_done(struct chat *chat);

/* A delta that does not fit into a chunk ends the stream: what follows would be an answer with a
 * hole in it. */
static void end_too_large(struct chat *chat)
{
    struct fault fault;
    log_event(LOG_LEVEL_WARN, "chunk_too_large", "exchange=%s limit=%u",
              chat->exchange ? exchange_id(chat->exchange) : "-", CHUNK_BYTES_MAX);
    fault_set(&fault, 502, "server_error", "chunk_too_large",
              "a piece of the answer is larger than the %u bytes that a chunk may have",
              CHUNK_BYTES_MAX);
    buf_clear(&chat->chunk);
    buf_clear(&chat->frame);
    fault_write(&fault, &chat->chunk);
    sse_write(&chat->frame, buf_view(&chat->chunk));
    http_stream_write(chat->http, buf_view(&chat->frame));
    send_done(chat);
}

/* Sends chat->chunk as one SSE event. */
static void send_chunk(struct chat *chat)
{
    if (!chat->http)
        return;
    buf_clear(&chat->frame);
    sse_write(&chat->frame, buf_view(&chat->chunk));
    if (chat->chunk.failed || chat->frame.failed) {
        end_too_large(chat);
        return;
    }
    if (http_stream_pending(chat->http) > STREAM_PENDING_MAX) {
        log_event(LOG_LEVEL_WARN, "stream_cut", "exchange=%s pending=%zu",
                  chat->exchange ? exchange_id(chat->exchange) : "-",
                  http_stream_pending(chat->http));
        chat->broken = true;
        return;
    }
    http_stream_write(chat->http, buf_view(&chat->frame));
    if (chat->http)
        loop_timer_start(chat->api->loop, chat->heartbeat, HEARTBEAT_MS);
}

static void send_done(struct chat *chat)
{
    if (!chat->http)
        return;
    http_stream_write(chat->http, STR("data: [DONE]\n\n"));
    if (chat->http)
        http_stream_end(chat->http);
    chat_end(chat);
}

static void heartbeat(void *ctx)
{
    struct chat *chat = ctx;
    if (!chat->http || !chat->started)
        return;
    http_stream_write(chat->http, STR(": keep-alive\n\n"));
    if (chat->http)
        loop_timer_start(chat->api->loop, chat->heartbeat, HEARTBEAT_MS);
}

static void start_stream(struct chat *chat, const struct exchange_summary *summary)
{
    if (chat->started || !chat->http)
        return;
    chat->started = true;
    set_headers(chat, summary);
    http_reply_header(chat->http, "cache-control", "no-cache");
    http_reply_header(chat->http, "x-accel-buffering", "no"); /* nginx would hold chunks back */
    api_count_code(chat->api, 200);
    http_stream_start(chat->http, 200, "text/event-stream; charset=utf-8");
    buf_clear(&chat->chunk);
    response_chunk_role(&chat->writer, summary, &chat->chunk);
    send_chunk(chat);
}

static void finish_stream(struct chat *chat, const struct exchange_summary *summary)
{
    start_stream(chat, summary); /* an empty answer has no earlier event */
    buf_clear(&chat->chunk);
    response_chunk_finish(&chat->writer, summary, &chat->chunk);
    send_chunk(chat);
    if (chat->request.include_usage) {
        buf_clear(&chat->chunk);
        response_chunk_usage(&chat->writer, summary, &chat->chunk);
        send_chunk(chat);
    }
    send_done(chat);
}

static void finish_whole(struct chat *chat, const struct exchange_summary *summary)
{
    if (!chat->http)
        return;
    struct buf body;
    buf_init(&body, 4 * chat->api->host->answer_bytes_max + 65536);
    if (!response_write_completion(&chat->writer, summary, &chat->answer, &body))
        body.failed = true;
    set_headers(chat, summary);
    api_reply_json(chat->api, chat->http, 200, &body);
    buf_deinit(&body);
    chat_end(chat);
}

static void finish_failed(struct chat *chat, const struct exchange_event *event)
{
    if (!chat->http)
        return;
    struct fault fault;
    if (event->upstream_denied)
        fault_upstream_denied(&fault, event->message);
    else
        fault_from_status(&fault, event->status, event->message, event->param);
    if (!chat->started) {
        set_headers(chat, event->summary);
        api_reply_fault(chat->api, chat->http, &fault);
        chat_end(chat);
        return;
    }
    buf_clear(&chat->chunk);
    fault_write(&fault, &chat->chunk);
    send_chunk(chat);
    send_done(chat);
}

/* --- the exchange's events --- */

static void on_text(struct chat *chat, const struct exchange_event *event)
{
    if (!chat->request.stream) {
        response_answer_add(&chat->writer, &chat->answer, event->piece);
        return;
    }
    start_stream(chat, event->summary);
    buf_clear(&chat->chunk);
    if (response_chunk_content(&chat->writer, event->summary, event->piece, &chat->chunk))
        send_chunk(chat);
}

static void on_correction(struct chat *chat, const struct exchange_event *event)
{
    if (!chat->request.stream) {
        response_answer_clear(&chat->answer);
        return;
    }
    buf_clear(&chat->chunk);
    response_chunk_correction(&chat->writer, event->summary, &chat->chunk);
    if (chat->started)
        send_chunk(chat);
}

static void on_event(void *ctx, const struct exchange_event *event)
{
    struct chat *chat = ctx;
    chat->in_event = true;
    switch (event->kind) {
    case EXCHANGE_START:
        if (chat->request.stream)
            start_stream(chat, event->summary);
        break;
    case EXCHANGE_TEXT:
        on_text(chat, event);
        break;
    case EXCHANGE_CORRECTION:
        on_correction(chat, event);
        break;
    case EXCHANGE_DONE:
        chat->exchange = NULL;
        count_exchange(chat, event->summary, "answered");
        if (chat->request.stream)
            finish_stream(chat, event->summary);
        else
            finish_whole(chat, event->summary);
        break;
    case EXCHANGE_FAILED:
        chat->exchange = NULL;
        count_exchange(chat, event->summary, "failed");
        finish_failed(chat, event);
        break;
    }
    chat->in_event = false;
    if (chat->broken && chat->http) {
        http_stream_end(chat->http);
        chat_end(chat);
    }
    if (!chat->exchange || !chat->http) /* also when the client left inside a write */
        loop_timer_start(chat->api->loop, chat->reaper, 0);
}

/* --- the request --- */

static const char *find_header(void *ctx, const char *name)
{
    return http_request_header(ctx, name);
}

static struct chat *chat_new(struct api *api, struct http_request *http)
{
    struct chat *chat = calloc(1, sizeof *chat);
    if (!chat)
        return NULL;
    chat->api = api;
    chat->http = http;
    chat->arena = arena_new(api->host->arena_bytes_max);
    chat->heartbeat = loop_timer_new(api->loop, heartbeat, chat);
    chat->reaper = loop_timer_new(api->loop, chat_free, chat);
    buf_init(&chat->chunk, CHUNK_BYTES_MAX);
    buf_init(&chat->frame, CHUNK_BYTES_MAX);
    response_answer_init(&chat->answer, api->host->answer_bytes_max);
    if (!chat->arena || !chat->heartbeat || !chat->reaper) {
        arena_free(chat->arena);
        loop_timer_free(api->loop, chat->heartbeat);
        loop_timer_free(api->loop, chat->reaper);
        free(chat);
        return NULL;
    }
    chat->next = api->chats;
    if (chat->next)
        chat->next->previous = chat;
    api->chats = chat;
    api->chat_count++;
    metrics_add(api->host->metrics, api->shard, METRICS_IN_FLIGHT, "", 1);
    return chat;
}

static void refuse(struct chat *chat, const struct fault *fault)
{
    api_reply_fault(chat->api, chat->http, fault);
    chat->http = NULL;
    chat_free(chat);
}

/* Of what only the configuration can tell: no such model, or no such adapter. */
static const char *param_at_fault(const struct chat *chat, enum td_status status)
{
    if (status == TD_NOT_FOUND)
        return "model";
    if (status != TD_INVALID)
        return NULL;
    return json_count(json_get(chat->request.body, "lora")) > 0 ? "lora" : "tandem.adapters";
}

static void begin_exchange(struct chat *chat)
{
    struct api *api = chat->api;
    struct fault fault = {0};
    struct td_error err = {0};
    chat->services = api->host->acquire(api->host->ctx);
    enum td_status status = exchange_start(chat->services, api->loop, &chat->request.td, on_event,
                                           chat, &chat->exchange, &err);
    if (status != TD_OK) {
        chat->exchange = NULL;
        fault_from_status(&fault, status, err.message, param_at_fault(chat, status));
        refuse(chat, &fault);
        return;
    }
    response_writer_init(&chat->writer, exchange_id(chat->exchange),
                         (int64_t)(clock_wall_ms(chat->services->clock) / 1000), &chat->request.td,
                         api->host->model);
    chat->writer.include_usage = chat->request.include_usage;
}

static void format_compiled(void *owner, enum td_status status, struct td_grammar *grammar,
                            const struct td_error *err)
{
    struct chat *chat = owner;
    struct fault fault = {0};
    chat->compiling = NULL;
    if (openai_format_accept(&chat->request.format, status, grammar, err, &chat->request.td,
                             &fault))
        begin_exchange(chat);
    else
        refuse(chat, &fault);
}

static void compile_format(struct chat *chat)
{
    struct td_error err = {0};
    const struct format_task_options options = {.background = chat->api->host->background,
                                                .loop = chat->api->loop,
                                                .format = &chat->request.format,
                                                .on_done = format_compiled,
                                                .owner = chat};
    enum td_status status = format_task_start(&options, &chat->compiling, &err);
    if (status == TD_OK)
        return;
    struct fault fault = {0};
    fault_from_status(&fault, status, err.message, NULL);
    refuse(chat, &fault);
}

void chat_handle(struct api *api, struct http_request *request, const char *rest)
{
    (void)rest;
    struct fault fault = {0};
    struct chat *chat = chat_new(api, request);
    if (!chat) {
        fault_from_status(&fault, TD_NO_MEMORY, "no memory for another request", NULL);
        api_reply_fault(api, request, &fault);
        return;
    }
    if (!openai_request_parse(http_request_body(request), find_header, request, chat->arena,
                              &chat->request, &fault)) {
        refuse(chat, &fault);
        return;
    }
    char caller[AUTH_DIGEST_BYTES];
    api_find_caller(api, request, caller);
    chat->request.td.caller = arena_copy(chat->arena, str_from(caller));
    if (!chat->request.td.caller) {
        fault_from_status(&fault, TD_NO_MEMORY, "no memory for another request", NULL);
        refuse(chat, &fault);
        return;
    }
    http_request_on_gone(request, chat_gone, chat);
    if (chat->request.format.source)
        compile_format(chat);
    else
        begin_exchange(chat);
}
