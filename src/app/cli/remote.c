/* A blocking call on an event loop of its own: the verbs have nothing else to do meanwhile.
 * Answers that are streamed are handed on piece by piece, all others are collected. */
#include "app/cli/remote.h"

#include "app/config/config.h"
#include "app/setup/files/secret_source.h"
#include "base/core/assertion.h"
#include "base/core/error.h"
#include "base/core/str.h"
#include "base/crypto/crypto.h"
#include "base/json/json.h"
#include "net/client/client.h"
#include "net/client/loop_event.h"
#include "net/client/sse.h"

#include <stdio.h>
#include <stdlib.h>

#define CONNECT_TIMEOUT_MS 3000
#define EVENT_BYTES_MAX (4u << 20)
#define ANSWER_BYTES_MAX (64u << 20)

struct call {
    const struct remote_request *request;
    struct loop *loop;
    struct sse_reader sse;
    bool streaming, done, stopped;
    int code;
    enum td_status status;
    struct td_error err;
};

static void on_event(void *ctx, struct td_str event, struct td_str data)
{
    struct call *call = ctx;
    (void)event;
    call->request->on_event(call->request->ctx, data);
}

static void on_headers(void *ctx, int code, const char *content_type, const char *retry_after)
{
    struct call *call = ctx;
    (void)retry_after;
    call->code = code;
    call->streaming = call->request->on_event && content_type &&
                      strncmp(content_type, "text/event-stream", 17) == 0;
}

static void on_body(void *ctx, struct td_str bytes)
{
    struct call *call = ctx;
    if (!call->streaming)
        buf_append_str(call->request->answer, bytes);
    else if (call->err.status == TD_OK &&
             sse_reader_feed(&call->sse, bytes, on_event, call, &call->err) != TD_OK)
        loop_event_stop(call->loop);
}

static void on_done(void *ctx, enum td_status status, int code, const struct td_error *err)
{
    struct call *call = ctx;
    call->code = code;
    call->done = true;
    call->status = status;
    if (status != TD_OK && err)
        error_set(&call->err, status, "%s", err->message);
    loop_event_stop(call->loop);
}

static void on_stop(void *ctx)
{
    struct call *call = ctx;
    if (call->done || !call->request->stop(call->request->ctx))
        return;
    call->stopped = true;
    loop_event_stop(call->loop);
}

/* What to do about a call that failed before there was an answer. */
static const char *advise(const struct call *call)
{
    if (strstr(call->err.message, "SSL certificate problem"))
        return "; SSL_CERT_FILE names a file of certificates to trust instead of the system's";
    return call->code == 0 && call->err.status == TD_UNAVAILABLE
               ? "; does a server run there? 'tandem serve' starts one"
               : "";
}

static enum td_status judge(struct call *call, struct td_error *err)
{
    if (call->stopped)
        return TD_OK;
    if (call->err.status != TD_OK)
        return error_set(err, call->err.status, "%s: %s%s", call->request->base, call->err.message,
                         advise(call));
    if (call->code < 400)
        return TD_OK;
    struct json *body = NULL;
    struct td_error ignored = {0};
    const char *message = NULL;
    if (json_parse(buf_view(call->request->answer), &body, &ignored) == TD_OK)
        message = json_cstr(json_get(json_get(body, "error"), "message"));
    if (body && !message)
        message = json_cstr(json_get(body, "error")); /* as Ollama's API says it */
    enum td_status status = call->code == 404 ? TD_NOT_FOUND : TD_UNAVAILABLE;
    error_set(err, status, "%s answered %d: %s%s", call->request->base, call->code,
              message ? message : "no reason given",
              call->code == 401 ? "; TANDEM_API_KEY holds the key for --url" : "");
    json_free(body);
    return status;
}

/* The path of "unix:/run/tandem/tandem.sock"; NULL for an address. */
static const char *path_of(const char *base)
{
    return str_starts_with(str_from(base), STR("unix:/")) ? base + 5 : NULL;
}

static enum td_status check_base(const char *base, struct td_error *err)
{
    struct td_str text = str_from(base);
    if (path_of(base) || str_starts_with(text, STR("http://")) ||
        str_starts_with(text, STR("https://")))
        return TD_OK;
    return error_set(err, TD_INVALID,
                     "'%.200s' is no address of a server: write http://HOST:PORT, "
                     "https://HOST:PORT or unix:/PATH",
                     base);
}

static void make_url(const struct remote_request *request, char *out, size_t size)
{
    struct td_str base = str_from(path_of(request->base) ? "http://localhost" : request->base);
    while (base.len && base.data[base.len - 1] == '/')
        base.len--;
    if (str_ends_with(base, STR("/v1")))
        base.len -= 3;
    snprintf(out, size, STR_FMT "%s", STR_ARG(base), request->path);
}

static enum td_status send_and_wait(struct call *call, struct client *client,
                                    const char *authorization, struct td_error *err)
{
    const struct remote_request *request = call->request;
    struct client_transfer *transfer = NULL;
    const char *variable = getenv("SSL_CERT_FILE"), *trusted = variable ? variable : "";
    char url[2048];
    make_url(request, url, sizeof url);
    const char *headers[] = {"Content-Type: application/json",
                             *authorization ? authorization : NULL, NULL};
    struct client_request http = {
        .method = request->method     ? request->method
                  : request->body.len ? "POST"
                                      : "GET",
        .url = url,
        .headers = headers,
        .body = request->body,
        .allow_http = true,
        .unix_path = path_of(request->base),
        /* libcurl itself has the system's file built in, and does not look there. */
        .ca_file = *trusted ? trusted : NULL,
        .connect_timeout_ms = CONNECT_TIMEOUT_MS,
        .first_timeout_ms = request->timeout_ms,
        .idle_timeout_ms = request->timeout_ms,
        .response_bytes_max = ANSWER_BYTES_MAX,
        .on_headers = on_headers,
        .on_body = on_body,
        .on_done = on_done,
        .ctx = call,
    };
    enum td_status status = client_start(client, &http, &transfer, err);
    if (status != TD_OK)
        return status;
    struct loop_watch *watch = NULL;
    if (request->stop)
        watch = loop_watch_new(call->loop, request->stop_fd, on_stop, call);
    loop_event_run(call->loop);
    loop_watch_free(call->loop, watch);
    if (call->stopped)
        client_cancel(transfer);
    if (request->code)
        *request->code = call->code;
    return judge(call, err);
}

void remote_write_base(const struct config *config, char *out, size_t size)
{
    const struct config_listen *chosen = config->server.addresses;
    for (size_t i = 0; i < config->server.address_count && !chosen->path; i++)
        if (config->server.addresses[i].path)
            chosen = &config->server.addresses[i];
    if (chosen->path) {
        snprintf(out, size, "unix:%s", chosen->path);
        return;
    }
    bool any = strcmp(chosen->host, "0.0.0.0") == 0 || !*chosen->host;
    snprintf(out, size, "%s://%s:%u", config->server.tls.certificate_file ? "https" : "http",
             any ? "127.0.0.1" : chosen->host, chosen->port);
}

enum td_status remote_call(const struct remote_request *request, struct td_error *err)
{
    ASSERT(request->base && request->path && request->answer && request->timeout_ms > 0);
    struct call call = {.request = request};
    struct client *client = NULL;
    struct secret *key = NULL;
    char authorization[1024] = "";
    sse_reader_init(&call.sse, EVENT_BYTES_MAX);
    enum td_status status = check_base(request->base, err);
    if (status == TD_OK)
        status = secret_source_read("TANDEM_API_KEY", NULL, &key, err);
    if (status == TD_OK)
        status = loop_event_new(&call.loop, err);
    if (status == TD_OK)
        status = client_new(call.loop, &client, err);
    struct td_str bearer = key ? secret_reveal(key) : STR("");
    for (size_t i = 0; status == TD_OK && i < bearer.len; i++)
        if (bearer.data[i] <= ' ' || bearer.data[i] > '~')
            status = error_set(err, TD_INVALID,
                               "TANDEM_API_KEY must be a key and nothing else: it "
                               "has a space or a line break");
    if (key && bearer.len < sizeof authorization - 32)
        snprintf(authorization, sizeof authorization, "Authorization: Bearer " STR_FMT,
                 STR_ARG(bearer));
    if (status == TD_OK)
        status = send_and_wait(&call, client, authorization, err);
    crypto_wipe(authorization, sizeof authorization);
    sse_reader_deinit(&call.sse);
    client_free(client);
    if (call.loop)
        loop_event_free(call.loop);
    secret_free(key);
    return status;
}

enum td_status remote_ask(struct remote_request *request, const struct json *body, size_t bytes_max,
                          struct json **out, struct td_error *err)
{
    struct buf question, answer;
    buf_init(&question, bytes_max);
    buf_init(&answer, bytes_max);
    if (body)
        json_write(body, &question);
    request->body = buf_view(&question);
    request->answer = &answer;
    enum td_status status =
        question.failed
            ? error_set(err, TD_LIMIT, "what is sent would be over %zu bytes", bytes_max)
            : remote_call(request, err);
    if (status == TD_OK && (status = json_parse(buf_view(&answer), out, err)) != TD_OK)
        error_prefix(err, "%s answered with no JSON", request->base);
    buf_deinit(&question);
    buf_deinit(&answer);
    return status;
}
