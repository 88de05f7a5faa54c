/* POST /v1/completions: one request, an exchange for each choice, one reply or stream.
 *
 * A few exchanges run at a time, and the next begins when one has ended. So one request with many
 * prompts does not fill the engine's queue. The first failure ends the request and cancels the
 * other exchanges.
 *
 * Without a stream nothing is given before all choices are there. So an exchange whose answer is
 * complete is held until then: when another one fails, its record must not say that the client got
 * its answer.
 *
 * A struct completion_call lives until one turn of the loop after its end, as a chat does
 * (chat_handler.c): exchanges read the request's strings when they call back for the last time. */
#include "api/http/access.h"
#include "api/http/access_note.h"
#include "api/http/call.h"
#include "api/http/event_stream.h"
#include "api/http/reply.h"
#include "api/inference/exchange_reply.h"
#include "api/inference/handlers.h"
#include "api/inference/quota.h"
#include "api/wire/completion_request.h"
#include "api/wire/completion_response.h"
#include "base/core/str.h"
#include "tier/openai/openai_beside.h"

#include <stdlib.h>

#define RUNNING_MAX 8
/* Prompts of exchanges that are held. Each keeps a copy of its own, and what was made of it. Beyond
 * that an exchange ends with its answer: a few hundred choices of a prompt as long as a book. */
#define HELD_BYTES_MAX ((size_t)16 << 20)

struct choice {
    struct completion_call *call;
    struct exchange *exchange; /* NULL before it began and once final */
    struct completion_choice request;
    struct text_answer answer;
    struct buf written; /* of a whole answer, once the choice is final */
    bool rejected;      /* it is too long to be written */
    bool held;          /* its answer is complete and waits for the others */
};

struct completion_call {
    struct api_call base;       /* first */
    struct event_stream stream; /* its http is NULL once replied or gone */
    struct exchange_services *services;
    struct arena *arena;
    struct completion_request request;
    struct response_writer writer;
    struct choice *choices;                  /* [choice_count] */
    size_t choice_count, begun, held, ended; /* an exchange that is held has not ended */
    size_t held_bytes;                       /* of all prompts that were held */
    size_t first;            /* the choice to begin with; the others follow it in a circle */
    bool checked, doubted;   /* whether all prompts were looked at; the first finds no tier */
    size_t written_bytes;    /* of all choices */
    struct tier_usage usage; /* of all that ended */
    struct json *beside;     /* what was told beside the first choice; owned; or NULL */
    struct loop_timer *step; /* begins exchanges, cancels, frees: never inside a callback */
    bool over;               /* nothing is to be begun any more */
    bool failed;             /* the client got an error in place of all choices */
};

/* --- life --- */

static void cancel_exchanges(struct completion_call *call)
{
    for (size_t i = 0; i < call->choice_count; i++) {
        struct exchange *exchange = call->choices[i].exchange;
        call->choices[i].exchange = NULL;
        if (!exchange)
            continue;
        if (call->choices[i].held && call->failed)
            exchange_reject(exchange, "another choice of the request failed");
        exchange_cancel(exchange);
    }
}

static void call_free(struct completion_call *call)
{
    struct api *api = call->base.api;
    cancel_exchanges(call);
    api_call_end(&call->base);
    for (size_t i = 0; i < call->choice_count; i++) {
        completion_choice_deinit(&call->choices[i].request);
        text_answer_deinit(&call->choices[i].answer);
        buf_deinit(&call->choices[i].written);
    }
    free(call->choices);
    json_free(call->beside);
    loop_timer_free(api->loop, call->step);
    event_stream_deinit(&call->stream);
    meters_leave(api->host->meters, &call->request.common.td.meters, 0, 0); /* never begun */
    completion_request_deinit(&call->request);
    arena_free(call->arena);
    if (call->services)
        api->host->release(api->host->ctx, call->services);
    free(call);
}

/* The client gets no more. What runs is cancelled in the loop's next turn. */
static void call_end(struct completion_call *call)
{
    call->over = true;
    event_stream_forget(&call->stream);
    loop_timer_start(call->base.api->loop, call->step, 0);
}

static void call_gone(void *ctx)
{
    struct completion_call *call = ctx;
    if (!call->stream.started)
        api_count_code(call->base.api, 499);
    call_end(call);
}

/* A failure of the whole request, before or after its first chunk. */
static void fail(struct completion_call *call, const struct fault *fault)
{
    struct event_stream *stream = &call->stream;
    call->failed = true;
    if (stream->http && !stream->started) {
        api_reply_fault(call->base.api, stream->http, fault);
    } else if (stream->http) {
        event_stream_send_fault(stream, fault);
        event_stream_done(stream);
    }
    call_end(call);
}

static void call_stop(struct api_call *base)
{
    struct completion_call *call = (struct completion_call *)base;
    struct fault fault;
    fault_stopping(&fault);
    fail(call, &fault);
    call->failed = false; /* what is held is cancelled like what runs */
    call_free(call);
}

/* --- answers --- */

static void start_stream(struct completion_call *call, const struct exchange_summary *summary)
{
    if (call->stream.started || !call->stream.http)
        return;
    if (call->choice_count == 1)
        exchange_reply_headers(call->stream.http, summary);
    event_stream_start(&call->stream);
}

static void send_piece(struct completion_call *call, const struct exchange_summary *summary,
                       size_t index, const struct tier_piece *piece)
{
    if (!call->stream.http)
        return;
    start_stream(call, summary);
    struct buf *frame = event_stream_frame(&call->stream);
    sse_begin(frame, NULL);
    completion_chunk(&call->writer, summary, index, piece, frame);
    sse_end(frame);
    event_stream_send(&call->stream, summary->id);
}

/* Details of a usage are of one answer. */
static const struct json *told_usage(const struct completion_call *call,
                                     const struct exchange_summary *summary)
{
    return call->choice_count == 1 ? response_told_usage(call->beside, &summary->usage) : NULL;
}

static void finish_stream(struct completion_call *call, const struct exchange_summary *summary)
{
    if (call->request.common.include_usage) {
        struct buf *frame = event_stream_frame(&call->stream);
        sse_begin(frame, NULL);
        completion_chunk_usage(&call->writer, summary, &call->usage, told_usage(call, summary),
                               frame);
        sse_end(frame);
        event_stream_send(&call->stream, summary->id);
    }
    event_stream_done(&call->stream);
    call_end(call);
}

/* For a whole answer: texts as JSON, and the log-probabilities of each token. */
static size_t choices_bytes_max(const struct completion_call *call)
{
    return 8 * call->base.api->host->answer_bytes_max;
}

static void finish_whole(struct completion_call *call, const struct exchange_summary *summary)
{
    struct buf body;
    struct fault fault;
    buf_init(&body, choices_bytes_max(call) + 65536);
    completion_write_head(&call->writer, summary, &body);
    buf_append_str(&body, STR(",\"choices\":["));
    for (size_t i = 0; i < call->choice_count; i++) {
        if (i)
            buf_append_char(&body, ',');
        buf_append_str(&body, buf_view(&call->choices[i].written));
    }
    buf_append_char(&body, ']');
    response_write_beside(call->beside, "chunk", NULL, &body);
    buf_append_str(&body, STR(",\"usage\":"));
    response_write_usage(&call->usage, told_usage(call, summary), &body);
    if (call->choice_count == 1) {
        buf_append_str(&body, STR(",\"tandem\":"));
        response_write_tandem(&call->writer, summary, &body);
        exchange_reply_headers(call->stream.http, summary);
    }
    buf_append_char(&body, '}');
    if (api_call_is_whole(&call->base, &fault))
        api_reply_json(call->base.api, call->stream.http, 200, &body);
    else
        api_reply_fault(call->base.api, call->stream.http, &fault);
    buf_deinit(&body);
    call_end(call);
}

/* OpenAI counts a prompt once, however many choices it has. */
static void add_usage(struct completion_call *call, size_t index, const struct tier_usage *usage)
{
    if (index % call->request.n == 0) {
        call->usage.prompt_tokens += usage->prompt_tokens;
        call->usage.cached_tokens += usage->cached_tokens;
    }
    call->usage.completion_tokens += usage->completion_tokens;
}

static void hold(struct completion_call *call, struct choice *choice)
{
    size_t bytes = choice->request.completion.text.len;
    if (call->choice_count == 1 || bytes > HELD_BYTES_MAX - call->held_bytes)
        return;
    exchange_hold(choice->exchange);
    choice->held = true;
    call->held++;
    call->held_bytes += bytes;
    loop_timer_start(call->base.api->loop, call->step, 0);
}

static void keep_beside(struct completion_call *call, struct text_answer *answer)
{
    json_free(call->beside);
    call->beside = answer->beside;
    answer->beside = NULL;
}

/* Written before the exchange is recorded, so that the record says whether it can be given. */
static void on_complete(struct completion_call *call, struct choice *choice,
                        const struct exchange_summary *summary)
{
    size_t index = (size_t)(choice - call->choices);
    if (call->over) { /* it ends with those that still run, in the loop's next turn */
        choice->held = true;
        exchange_hold(choice->exchange);
        return;
    }
    if (!call->stream.http || call->request.common.td.streamed)
        return;
    buf_init(&choice->written, choices_bytes_max(call) - call->written_bytes);
    choice->rejected = !text_answer_write(&call->writer, &choice->answer, summary, index,
                                          call->choice_count > 1, &choice->written);
    struct fault fault = {.error_code = "answer_too_large"};
    choice->rejected |= !api_call_is_whole(&call->base, &fault);
    if (choice->rejected)
        exchange_reject(choice->exchange, fault.error_code);
    call->written_bytes += choice->written.len;
    if (index == 0)
        keep_beside(call, &choice->answer);
    text_answer_deinit(&choice->answer);
    if (!choice->rejected)
        hold(call, choice);
}

static void on_done(struct completion_call *call, struct choice *choice,
                    const struct exchange_summary *summary)
{
    size_t index = (size_t)(choice - call->choices);
    call->ended++;
    add_usage(call, index, &summary->usage);
    if (!call->stream.http)
        return;
    if (call->request.common.td.streamed) {
        send_piece(call, summary, index, NULL);
        if (call->ended == call->choice_count && call->stream.http)
            finish_stream(call, summary);
        return;
    }
    if (call->ended == call->choice_count)
        finish_whole(call, summary);
}

static void stream_piece(struct completion_call *call, struct choice *choice,
                         const struct exchange_event *event)
{
    const struct json *beside = json_get(event->piece->raw_delta, OPENAI_BESIDE);
    if (beside && choice == call->choices) {
        json_free(call->beside);
        call->beside = json_clone(beside);
    }
    send_piece(call, event->summary, (size_t)(choice - call->choices), event->piece);
}

static void on_event(void *ctx, const struct exchange_event *event)
{
    struct choice *choice = ctx;
    struct completion_call *call = choice->call;
    struct fault fault;
    api_begin_event(call->base.api);
    switch (event->kind) {
    case EXCHANGE_TEXT:
        if (call->request.common.td.streamed)
            stream_piece(call, choice, event);
        else
            text_answer_add(&choice->answer, event->piece);
        break;
    case EXCHANGE_COMPLETE:
        on_complete(call, choice, event->summary);
        return;
    case EXCHANGE_DONE:
        choice->exchange = NULL;
        exchange_reply_count(call->base.api, event->summary);
        access_note_exchange(call->stream.http, event->summary);
        on_done(call, choice, event->summary);
        break;
    case EXCHANGE_FAILED:
        choice->exchange = NULL;
        exchange_reply_count(call->base.api, event->summary);
        access_note_exchange(call->stream.http, event->summary);
        exchange_reply_fault(event, &fault);
        if (choice->rejected && api_call_is_whole(&call->base, &fault))
            fault_too_large(&fault);
        if (call->stream.http && !call->stream.started && call->choice_count == 1)
            exchange_reply_headers(call->stream.http, event->summary);
        fail(call, &fault);
        break;
    case EXCHANGE_CANCELLED:
        exchange_reply_count(call->base.api, event->summary);
        access_note_exchange(call->stream.http, event->summary);
        return;               /* whoever cancelled goes on */
    case EXCHANGE_CORRECTION: /* of an answer that is not streamed */
        text_answer_clear(&choice->answer);
        break;
    case EXCHANGE_START:
    case EXCHANGE_PROVISIONAL:
    case EXCHANGE_VERDICT:
        break;
    }
    (void)api_call_is_whole(&call->base, &fault);
    if (call->stream.broken && call->stream.http) {
        event_stream_abort(&call->stream);
    }
    if (!call->stream.http)
        call->over = true;
    if (call->over || !choice->exchange) /* also when the client left inside a write */
        loop_timer_start(call->base.api->loop, call->step, 0);
}

/* --- the request --- */

static bool begin_choice(struct completion_call *call, struct fault *fault)
{
    size_t index = (call->first + call->begun++) % call->choice_count;
    struct choice *choice = &call->choices[index];
    struct td_error err = {0};
    choice->call = call;
    text_answer_init(&choice->answer, call->base.api->host->answer_bytes_max);
    enum td_status status = TD_OK;
    if (!completion_choice_init(&call->request, index, &choice->request))
        status = TD_NO_MEMORY;
    /* Several answers to one prompt are to differ. */
    if (index % call->request.n > 0 && !choice->request.td.sampling.seed_set)
        choice->request.td.cache = CACHE_OFF;
    struct meter_hold *meters = &call->request.common.td.meters;
    choice->request.td.meters =
        meters_split(meters, (uint32_t)(call->choice_count + 1 - call->begun));
    if (status == TD_OK)
        status = exchange_start(call->services, call->base.api->loop, &choice->request.td, on_event,
                                choice, &choice->exchange, &err);
    if (status != TD_OK)
        meters_leave(call->base.api->host->meters, &choice->request.td.meters, 0, 0);
    if (status == TD_OK && call->begun == 1) {
        bool usage = call->request.common.include_usage;
        response_writer_init(&call->writer, exchange_id(choice->exchange),
                             (int64_t)(clock_wall_ms(call->services->clock) / 1000),
                             &choice->request.td);
        call->writer.include_usage = usage;
    }
    if (status == TD_OK && call->stream.http && http_request_is_inside(call->stream.http) &&
        exchange_keeps_nothing(choice->exchange)) {
        exchange_reply_unkept(fault);
        return false;
    }
    if (status == TD_OK)
        return true;
    choice->exchange = NULL;
    exchange_reply_refusal(status, &err, call->request.common.body, fault);
    return false;
}

/* Of two hundred choices with a large prompt each, only those that run have one. */
static void free_ended_requests(struct completion_call *call)
{
    for (size_t i = 0; i < call->choice_count; i++)
        if (!call->choices[i].exchange)
            completion_choice_deinit(&call->choices[i].request);
}

/* One prompt that no tier may answer makes the whole request fail. So it is tried first and alone:
 * the others would have been sent for nothing. */
static bool check_prompts(struct completion_call *call)
{
    size_t n = call->request.n;
    call->checked = true;
    for (size_t i = 0; call->request.prompt_count > 1 && i < call->choice_count; i += n) {
        struct completion_choice choice = {0};
        bool whole = completion_choice_init(&call->request, i, &choice);
        call->doubted =
            whole && !exchange_finds_tier(call->services, call->base.api->loop, &choice.td);
        completion_choice_deinit(&choice);
        call->first = call->doubted ? i : 0;
        if (call->doubted || !whole)
            return whole;
    }
    return true;
}

/* All answers are there. The last exchange to end sends them, unless one cannot be recorded. */
static void give_held(struct completion_call *call)
{
    for (size_t i = 0; i < call->choice_count; i++) {
        struct choice *choice = &call->choices[i];
        if (!choice->held || call->over)
            continue;
        choice->held = false;
        call->held--;
        exchange_give(choice->exchange);
    }
}

/* In a turn of the loop of its own. */
static void step(void *ctx)
{
    struct completion_call *call = ctx;
    struct fault fault = {0};
    api_begin_event(call->base.api);
    if (call->over) {
        call_free(call);
        return;
    }
    free_ended_requests(call);
    if (!call->checked && !check_prompts(call)) {
        fault_no_memory(&fault);
        fail(call, &fault);
        return;
    }
    if (call->held > 0 && call->held + call->ended == call->choice_count)
        give_held(call);
    size_t answered = call->held + call->ended;
    size_t running_max = call->doubted && answered == 0 ? 1 : RUNNING_MAX;
    while (call->begun < call->choice_count && call->begun - answered < running_max) {
        if (begin_choice(call, &fault))
            continue;
        fail(call, &fault);
        return;
    }
}

static struct completion_call *call_new(struct api *api, struct http_request *http)
{
    struct completion_call *call = calloc(1, sizeof *call);
    if (!call)
        return NULL;
    call->arena = arena_new(api->host->arena_bytes_max);
    call->step = loop_timer_new(api->loop, step, call);
    if (!event_stream_init(&call->stream, api, http, &event_form_openai, NULL) || !call->arena ||
        !call->step) {
        event_stream_deinit(&call->stream);
        loop_timer_free(api->loop, call->step);
        arena_free(call->arena);
        free(call);
        return NULL;
    }
    api_call_begin(api, &call->base, call_stop, true);
    return call;
}

static bool read_request(struct completion_call *call, struct http_request *http,
                         struct td_str named, struct fault *fault)
{
    struct completion_request *request = &call->request;
    struct td_request *td = &request->common.td;
    struct api *api = call->base.api;
    if (!completion_request_parse(http_request_body(http), named, call->services->model,
                                  call->arena, request, fault) ||
        !request_options_read_headers(access_find_header, http, call->arena, td, fault))
        return false;
    td->corrections = false; /* a form for them is not known to clients of this kind */
    call->choices = calloc(request->prompt_count * request->n, sizeof *call->choices);
    if (call->choices) {
        call->choice_count = request->prompt_count * request->n;
        return quota_enter_request(api, http, (uint32_t)call->choice_count, call->arena, td, fault);
    }
    return fault_no_memory(fault);
}

void completions_handle(struct api *api, struct http_request *request, const char *rest)
{
    struct fault fault = {0};
    struct completion_call *call = call_new(api, request);
    if (!call) {
        fault_no_memory(&fault);
        api_reply_fault(api, request, &fault);
        return;
    }
    call->services = api->host->acquire(api->host->ctx);
    if (!read_request(call, request, endpoint_part(rest), &fault) || !api_has_memory(api, &fault)) {
        api_reply_fault(api, request, &fault);
        event_stream_forget(&call->stream);
        call_free(call);
        return;
    }
    if (call->request.common.include_obfuscation)
        event_stream_obfuscate(&call->stream);
    http_request_on_gone(request, call_gone, call);
    if (call->request.common.td.streamed)
        event_stream_await(&call->stream, NULL, call->request.common.td.client_timeout_ms);
    loop_timer_start(api->loop, call->step, 0);
}
