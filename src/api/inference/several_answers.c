/* The answers are requests of their own, from inside: each is the client's request without `n`, so
 * each is scanned, planned, judged, paid and recorded like one. A few run at a time. The first that
 * fails ends all, with its error.
 *
 * A stream begins when all answers are there: they may come from different tiers, one after the
 * other, and a client could do nothing with them earlier that it cannot do then. Signs of life are
 * sent meanwhile. */
#include "api/inference/several_answers.h"

#include "api/http/call.h"
#include "api/http/event_stream.h"
#include "api/http/fault.h"
#include "api/http/reply.h"
#include "api/wire/openai_request.h"
#include "base/core/str.h"
#include "base/json/json.h"

#include <math.h>
#include <stdlib.h>

#define RUNNING_MAX 4

struct several;

struct one {
    struct several *several;
    struct http_request *request; /* while it runs */
    struct json *answer;
};

struct several {
    struct api_call base;       /* first */
    struct event_stream stream; /* its http is NULL once replied or gone */
    struct http_request *http;  /* the client's, whose head each request has */
    struct auth_who who;
    struct json *body; /* without what is said once for all */
    bool streams, tells_usage;
    size_t count, begun, ended;
    struct one ones[OPENAI_ANSWERS_MAX];
    int code; /* of the first that failed */
    struct buf error;
    struct loop_timer *step; /* begins requests, replies, frees: never inside a callback */
    bool over;
};

static void several_free(struct several *several)
{
    for (size_t i = 0; i < several->count; i++) {
        if (several->ones[i].request)
            http_inside_cancel(several->ones[i].request);
        json_free(several->ones[i].answer);
    }
    api_call_end(&several->base);
    loop_timer_free(several->base.api->loop, several->step);
    event_stream_deinit(&several->stream);
    buf_deinit(&several->error);
    json_free(several->body);
    free(several);
}

static void soon(struct several *several)
{
    loop_timer_start(several->base.api->loop, several->step, 0);
}

static void on_gone(void *ctx)
{
    struct several *several = ctx;
    if (!several->stream.started)
        api_count_code(several->base.api, 499);
    event_stream_forget(&several->stream);
    several->http = NULL;
    several->over = true;
    soon(several);
}

static void on_stop(struct api_call *base)
{
    struct several *several = (struct several *)base;
    struct fault fault;
    fault_stopping(&fault);
    if (several->stream.http && several->stream.started)
        event_stream_send_fault(&several->stream, &fault);
    else if (several->stream.http)
        api_reply_fault(base->api, several->http, &fault);
    several_free(several);
}

/* --- the answers --- */

static void on_answer(void *ctx, int code, struct td_str body)
{
    struct one *one = ctx;
    struct several *several = one->several;
    one->request = NULL;
    several->ended++;
    if (code != 200 || json_parse(body, &one->answer, NULL) != TD_OK) {
        if (several->code == 0)
            buf_append_str(&several->error, body);
        several->code = several->code ? several->code : code != 0 && code != 200 ? code : 500;
    }
    soon(several); /* not from here: answers that come at once would nest */
}

/* An answer that was kept would be the first one again. */
static void ask_anew(struct json *body)
{
    const struct json *given = json_get(body, "tandem");
    struct json *options = json_absent(given) ? json_new_object() : json_clone(given);
    if (json_kind_of(options) == JSON_KIND_OBJECT)
        json_put(options, "cache", json_new_cstr("off"));
    json_put(body, "tandem", options);
}

static void begin_one(struct several *several)
{
    struct one *one = &several->ones[several->begun];
    struct json *body = json_clone(several->body);
    const struct json *seed = json_get(body, "seed");
    struct buf text;
    if (json_kind_of(seed) == JSON_KIND_INT) /* the same one would give the same answer */
        json_put(body, "seed", json_new_int(json_int(seed, 0) + (int64_t)several->begun));
    else if (several->begun > 0)
        ask_anew(body);
    several->begun++;
    one->several = several;
    buf_init(&text, several->base.api->host->body_bytes_max);
    json_write(body, &text);
    if (body && !text.failed)
        one->request = http_inside_like(several->http, buf_view(&text), on_answer, one);
    buf_deinit(&text);
    json_free(body);
    if (one->request)
        several->base.api->ask(several->base.api, one->request, &several->who);
    else
        on_answer(one, 503, STR(""));
}

/* --- the reply --- */

static struct json *choice_of(const struct several *several, size_t number)
{
    struct json *choice = json_clone(json_at(json_get(several->ones[number].answer, "choices"), 0));
    json_put(choice, "index", json_new_int((int64_t)number));
    return choice;
}

/* The sums of all answers. */
static struct json *usage_of(const struct several *several)
{
    static const char *const names[] = {"prompt_tokens", "completion_tokens", "total_tokens"};
    struct json *usage = json_new_object();
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        int64_t sum = 0;
        for (size_t j = 0; j < several->count; j++)
            sum += json_int(json_get(json_get(several->ones[j].answer, "usage"), names[i]), 0);
        json_put(usage, names[i], json_new_int(sum));
    }
    return usage;
}

/* The first answer with the choices of all, and the names of all exchanges. */
static struct json *whole_answer(const struct several *several)
{
    struct json *whole = json_clone(several->ones[0].answer);
    struct json *choices = json_new_array(), *exchanges = json_new_array();
    struct json *tandem = json_clone(json_get(whole, "tandem"));
    for (size_t i = 0; i < several->count; i++) {
        const struct json *own = json_get(several->ones[i].answer, "tandem");
        json_push(choices, choice_of(several, i));
        json_push(exchanges, json_clone(json_get(own, "exchange")));
    }
    json_put(whole, "choices", choices);
    json_put(whole, "usage", usage_of(several));
    if (tandem)
        json_put(tandem, "exchanges", exchanges);
    else
        json_free(exchanges);
    if (tandem)
        json_put(whole, "tandem", tandem);
    return whole;
}

static void write_chunk(const struct json *chunk, struct buf *out)
{
    buf_append_str(out, STR("data: "));
    json_write(chunk, out);
    buf_append_str(out, STR("\n\n"));
}

/* Calls of tools have numbers in a stream. */
static void number_calls(struct json *delta)
{
    struct json *numbered = json_new_array();
    const struct json *calls = json_get(delta, "tool_calls");
    for (size_t i = 0; i < json_count(calls); i++) {
        struct json *call = json_clone(json_at(calls, i));
        json_put(call, "index", json_new_int((int64_t)i));
        json_push(numbered, call);
    }
    if (json_count(numbered) > 0)
        json_put(delta, "tool_calls", numbered);
    else
        json_free(numbered);
}

/* The whole choice as one delta, which also has its end. */
static struct json *delta_of(const struct several *several, size_t number)
{
    struct json *choice = choice_of(several, number);
    struct json *delta = json_clone(json_get(choice, "message"));
    number_calls(delta);
    json_remove(choice, "message");
    json_put(choice, "delta", delta);
    return choice;
}

static void send_stream(struct several *several)
{
    struct event_stream *stream = &several->stream;
    struct json *chunk = whole_answer(several);
    struct json *usage = json_clone(json_get(chunk, "usage"));
    struct json *tandem = json_clone(json_get(chunk, "tandem"));
    json_put(chunk, "object", json_new_cstr("chat.completion.chunk"));
    json_remove(chunk, "usage");
    json_remove(chunk, "tandem");
    event_stream_start(stream);
    for (size_t i = 0; i < several->count && stream->http; i++) {
        struct json *choices = json_new_array();
        json_push(choices, delta_of(several, i));
        json_put(chunk, "choices", choices);
        if (i + 1 == several->count)
            json_put(chunk, "tandem", tandem);
        write_chunk(chunk, event_stream_frame(stream));
        event_stream_send(stream, NULL);
    }
    if (several->tells_usage && stream->http) {
        json_put(chunk, "choices", json_new_array());
        json_put(chunk, "usage", usage);
        usage = NULL;
        write_chunk(chunk, event_stream_frame(stream));
        event_stream_send(stream, NULL);
    }
    json_free(usage);
    json_free(chunk);
    if (stream->http)
        event_stream_done(stream);
}

static void reply_error(struct several *several)
{
    struct event_stream *stream = &several->stream;
    struct fault fault;
    fault_from_status(&fault, TD_UNAVAILABLE, "one of the answers failed", NULL);
    if (stream->started) {
        event_stream_send_fault(stream, &fault);
        return;
    }
    if (several->error.len > 0 && !several->error.failed)
        api_reply_json(several->base.api, stream->http, several->code, &several->error);
    else
        api_reply_fault(several->base.api, stream->http, &fault);
    event_stream_forget(stream);
}

static void step(void *ctx)
{
    struct several *several = ctx;
    api_begin_event(several->base.api);
    if (several->over || several->code != 0 || several->ended == several->count) {
        if (!several->over && several->code != 0) {
            reply_error(several);
        } else if (!several->over && several->streams) {
            send_stream(several);
        } else if (!several->over) {
            api_reply_value(several->base.api, several->stream.http, whole_answer(several),
                            several->base.api->host->answer_bytes_max);
            event_stream_forget(&several->stream);
        }
        several_free(several);
        return;
    }
    while (several->begun < several->count && several->begun - several->ended < RUNNING_MAX &&
           several->code == 0)
        begin_one(several);
}

/* --- the request --- */

/* How many answers a body asks for; 0 for one that cannot be read or asks for one. */
static size_t wanted(struct td_str text, struct json **body)
{
    *body = NULL;
    if (str_find(text, STR("\"n\""), 0) == SIZE_MAX ||
        openai_request_count_values(text) > OPENAI_VALUES_MAX ||
        json_parse(text, body, NULL) != TD_OK)
        return 0;
    double n = json_number(json_get(*body, "n"), 1);
    return n > 1 && n == trunc(n) && n < 1e6 ? (size_t)n : 0;
}

static void take_once_said(struct several *several)
{
    const struct json *options = json_get(several->body, "stream_options");
    several->streams = json_bool(json_get(several->body, "stream"), false);
    several->tells_usage = json_bool(json_get(options, "include_usage"), false);
    json_remove(several->body, "n");
    json_remove(several->body, "stream");
    json_remove(several->body, "stream_options");
}

bool several_answers_begin(struct api *api, struct http_request *request)
{
    struct fault fault;
    struct json *body;
    size_t count = wanted(http_request_body(request), &body);
    if (count < 2) {
        json_free(body);
        return false;
    }
    struct several *several = count <= OPENAI_ANSWERS_MAX ? calloc(1, sizeof *several) : NULL;
    if (several)
        several->step = loop_timer_new(api->loop, step, several);
    if (!several || !several->step ||
        !event_stream_init(&several->stream, api, request, &event_form_openai, NULL)) {
        fault_no_memory(&fault);
        if (count > OPENAI_ANSWERS_MAX)
            fault_request(&fault, "n", "n must be a whole number from 1 to %d", OPENAI_ANSWERS_MAX);
        if (several)
            loop_timer_free(api->loop, several->step);
        free(several);
        json_free(body);
        api_reply_fault(api, request, &fault);
        return true;
    }
    several->body = body;
    several->count = count;
    several->http = request;
    several->who = api->who;
    buf_init(&several->error, api->host->answer_bytes_max);
    take_once_said(several);
    api_call_begin(api, &several->base, on_stop, false);
    http_request_on_gone(request, on_gone, several);
    if (several->streams)
        event_stream_await(&several->stream, NULL, 0);
    soon(several);
    return true;
}
