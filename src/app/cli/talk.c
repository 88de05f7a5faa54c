/* The two ways of `tandem chat` give the same answer: text as it comes, then the `tandem`
 * object. In this process that object is written by the same code as for the wire (api/wire). */
#include "app/cli/talk.h"

#include "api/wire/openai_response.h"
#include "app/cli/remote.h"
#include "app/setup/process/runtime.h"
#include "app/terminal/signals.h"
#include "app/terminal/terminal.h"
#include "base/core/assertion.h"
#include "base/core/error.h"
#include "base/core/str.h"
#include "base/json/json.h"
#include "base/text/names.h"
#include "base/time/clock.h"
#include "net/client/loop_event.h"

#define ANSWER_BYTES_MAX (16u << 20)
#define REMOTE_TIMEOUT_MS 300000

void talk_answer_init(struct talk_answer *answer)
{
    *answer = (struct talk_answer){0};
    buf_init(&answer->text, ANSWER_BYTES_MAX);
}

void talk_answer_deinit(struct talk_answer *answer)
{
    buf_deinit(&answer->text);
    json_free(answer->tandem);
    answer->tandem = NULL;
}

/* Takes what signals there are; true when the answer is to stop. */
static bool is_stopped(struct talk_answer *answer)
{
    enum signal_event event;
    while ((event = signals_next()) != SIGNAL_NONE) {
        if (event == SIGNAL_SUSPEND)
            terminal_suspend();
        if (event == SIGNAL_INTERRUPT || event == SIGNAL_END)
            answer->stopped = true;
    }
    return answer->stopped;
}

static void take_text(struct talk_answer *answer, struct td_str text)
{
    buf_append_str(&answer->text, text);
    if (answer->on_text && text.len)
        answer->on_text(answer->ctx, text);
}

/* --- in this process --- */

struct local_talk {
    struct talk_answer *answer;
    struct loop *loop;
    struct exchange *exchange;
    struct response_writer writer;
    struct td_error *err;
    bool ended;
};

static void take_tandem(struct local_talk *talk, const struct exchange_summary *summary)
{
    struct buf text;
    struct td_error ignored = {0};
    buf_init(&text, 1u << 20);
    response_write_tandem(&talk->writer, summary, &text);
    if (!text.failed && json_parse(buf_view(&text), &talk->answer->tandem, &ignored) != TD_OK)
        talk->answer->tandem = NULL;
    buf_deinit(&text);
}

static void on_event(void *ctx, const struct exchange_event *event)
{
    struct local_talk *talk = ctx;
    switch (event->kind) {
    case EXCHANGE_START:
    case EXCHANGE_COMPLETE:
    case EXCHANGE_PROVISIONAL:
    case EXCHANGE_VERDICT:
        break;
    case EXCHANGE_TEXT:
        take_text(talk->answer, event->piece->text);
        break;
    case EXCHANGE_CORRECTION:
        buf_clear(&talk->answer->text); /* not streamed: nothing of it stays */
        break;
    case EXCHANGE_FAILED:
        error_set(talk->err, event->status, "%s", event->message);
        /* fall through */
    case EXCHANGE_CANCELLED:
    case EXCHANGE_DONE:
        take_tandem(talk, event->summary);
        talk->ended = true;
        loop_event_stop(talk->loop);
        break;
    }
}

static void on_signal(void *ctx)
{
    struct local_talk *talk = ctx;
    if (!talk->ended && is_stopped(talk->answer))
        exchange_cancel(talk->exchange);
}

/* Until the exchange has ended. */
static enum td_status wait_for_end(struct local_talk *talk, struct td_error *err)
{
    struct loop_watch *watch = NULL;
    if (signals_fd() >= 0)
        watch = loop_watch_new(talk->loop, signals_fd(), on_signal, talk);
    while (!talk->ended)
        loop_event_run(talk->loop);
    loop_watch_free(talk->loop, watch);
    return talk->err->status == TD_OK ? TD_OK
                                      : error_set(err, talk->err->status, "%s", talk->err->message);
}

enum td_status talk_local(struct runtime *runtime, struct loop *loop,
                          const struct talk_request *request, struct talk_answer *answer,
                          struct td_error *err)
{
    ASSERT(request->message_count > 0 && !answer->tandem);
    struct td_error failure = {0};
    struct local_talk talk = {.answer = answer, .loop = loop, .err = &failure};
    struct td_request td = {
        .messages = request->messages,
        .message_count = request->message_count,
        .model = request->model,
        .tokens_max = request->tokens_max,
        .sampling = td_sampling_default(),
        .streamed = answer->on_text != NULL,
        .mode = request->mode,
        .data_class = request->data_class,
        .keep_nothing = request->keep_nothing,
    };
    td.sampling.temperature = (float)request->temperature;
    double begin = clock_monotonic_ms(NULL);
    loop_event_restart(loop); /* the answer before stopped it */
    struct exchange_services *services = runtime_acquire(runtime);
    enum td_status status =
        exchange_start(services, loop, &td, on_event, &talk, &talk.exchange, err);
    if (status == TD_OK) {
        response_writer_init(&talk.writer, exchange_id(talk.exchange), 0, &td);
        status = wait_for_end(&talk, err);
    }
    answer->total_ms = clock_monotonic_ms(NULL) - begin;
    runtime_release(runtime, services);
    return status;
}

/* --- at a server --- */

struct remote_talk {
    struct talk_answer *answer;
    struct td_error err; /* of an error chunk */
};

static void on_chunk(void *ctx, struct td_str data)
{
    struct remote_talk *talk = ctx;
    struct json *chunk = NULL;
    struct td_error ignored = {0};
    if (str_equal(data, STR("[DONE]")) || json_parse(data, &chunk, &ignored) != TD_OK)
        return;
    const struct json *error = json_get(chunk, "error");
    const char *message = json_cstr(json_get(error, "message"));
    if (error)
        error_set(&talk->err, TD_UNAVAILABLE, "%s", message ? message : "the answer broke off");
    const struct json *delta = json_get(json_at(json_get(chunk, "choices"), 0), "delta");
    take_text(talk->answer, json_text(json_get(delta, "content")));
    const struct json *tandem = json_get(chunk, "tandem");
    if (tandem) {
        json_free(talk->answer->tandem);
        talk->answer->tandem = json_clone(tandem);
    }
    json_free(chunk);
}

static void write_request(const struct talk_request *request, struct buf *out)
{
    struct json *body = json_new_object(), *messages = json_new_array();
    for (size_t i = 0; i < request->message_count; i++) {
        struct json *message = json_new_object();
        json_put(message, "role", json_new_cstr(names_role(request->messages[i].role)));
        json_put(message, "content", json_new_text(request->messages[i].content));
        json_push(messages, message);
    }
    json_put(body, "model", json_new_cstr(request->model ? request->model : "auto"));
    json_put(body, "messages", messages);
    json_put(body, "stream", json_new_bool(true));
    json_put(body, "temperature", json_new_double(request->temperature));
    if (request->tokens_max)
        json_put(body, "max_tokens", json_new_int(request->tokens_max));
    struct json *tandem = json_new_object();
    json_put(tandem, "mode", json_new_cstr(names_mode(request->mode)));
    json_put(tandem, "data_class", json_new_cstr(names_class(request->data_class)));
    json_put(body, "tandem", tandem);
    json_write(body, out);
    json_free(body);
}

static bool on_signal_of_remote(void *ctx)
{
    const struct remote_talk *talk = ctx;
    return is_stopped(talk->answer);
}

enum td_status talk_remote(const char *url, const struct talk_request *request,
                           struct talk_answer *answer, struct td_error *err)
{
    struct remote_talk talk = {.answer = answer};
    struct buf body, reply;
    buf_init(&body, ANSWER_BYTES_MAX);
    buf_init(&reply, ANSWER_BYTES_MAX);
    write_request(request, &body);
    double begin = clock_monotonic_ms(NULL);
    struct remote_request remote = {
        .base = url,
        .path = "/v1/chat/completions",
        .body = buf_view(&body),
        .on_event = on_chunk,
        .ctx = &talk,
        .answer = &reply,
        .timeout_ms = REMOTE_TIMEOUT_MS,
        .stop_fd = signals_fd(),
        .stop = on_signal_of_remote,
    };
    enum td_status status = body.failed
                                ? error_set(err, TD_LIMIT, "the conversation is too long to send")
                                : remote_call(&remote, err);
    if (status == TD_OK && talk.err.status != TD_OK)
        status = error_set(err, talk.err.status, "%s", talk.err.message);
    answer->total_ms = clock_monotonic_ms(NULL) - begin;
    buf_deinit(&body);
    buf_deinit(&reply);
    return status;
}
