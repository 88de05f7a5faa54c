/* A server on a loopback socket with the real handlers, a tier that plays a script, and a client:
 * for tests of what a client gets. */
#ifndef HANDLER_FIXTURE_H
#define HANDLER_FIXTURE_H

#include "test.h"

#include "api/api.h"
#include "api/http/auth.h"
#include "api/http/metrics.h"
#include "base/core/error.h"
#include "base/core/str.h"
#include "base/thread/background.h"
#include "ledger/record/ledger.h"
#include "net/client/loop_event.h"
#include "privacy/scan/conversation.h"
#include "scanners.h"

#include <arpa/inet.h>
#include <math.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

/* --- a tier that plays a script --- */

enum course {
    COURSE_ANSWER,
    COURSE_FAIL_AT_ONCE,
    COURSE_FAIL_AFTER_TEXT,
    COURSE_NEVER_END,
    COURSE_DENIED,
    COURSE_HUGE
};

struct scripted {
    struct tier base; /* first */
    enum course course;
    atomic_int started, cancelled;
};

struct tier_attempt {
    struct scripted *tier;
    struct loop *loop;
    struct loop_timer *timer;
    struct tier_sink sink;
    int step, http_status;
};

static void attempt_end(struct tier_attempt *attempt, enum td_status status)
{
    struct tier_result result = {
        .status = status,
        .http_status = attempt->http_status,
        .finish = TD_FINISH_STOP,
        .usage = {.prompt_tokens = 7, .completion_tokens = 2, .exact = true},
        .first_ms = 1,
        .total_ms = 2};
    if (status != TD_OK)
        error_set(&result.err, status, "the script says so");
    struct tier_sink sink = attempt->sink;
    loop_timer_free(attempt->loop, attempt->timer);
    free(attempt);
    sink.on_done(sink.ctx, &result);
}

static void attempt_step(void *ctx)
{
    struct tier_attempt *attempt = ctx;
    static const char *const words[] = {"Hello", ", world"};
    if (attempt->tier->course == COURSE_FAIL_AT_ONCE) {
        attempt_end(attempt, TD_UNAVAILABLE);
        return;
    }
    if (attempt->tier->course == COURSE_DENIED) {
        attempt->http_status = 401;
        attempt_end(attempt, TD_DENIED);
        return;
    }
    if (attempt->tier->course == COURSE_HUGE && attempt->step == 1) {
        static char huge[1 << 20]; /* six bytes each as JSON: more than a chunk may have */
        memset(huge, 1, sizeof huge);
        struct tier_piece piece = {.text = {huge, sizeof huge}};
        attempt->step++;
        loop_timer_start(attempt->loop, attempt->timer, 1);
        attempt->sink.on_piece(attempt->sink.ctx, &piece);
        return;
    }
    int step = attempt->step++;
    if (step < 2) {
        struct tier_piece piece = {.text = str_from(words[step])};
        attempt->sink.on_piece(attempt->sink.ctx, &piece);
        loop_timer_start(attempt->loop, attempt->timer, 1);
    } else if (attempt->tier->course == COURSE_ANSWER) {
        attempt_end(attempt, TD_OK);
    } else if (attempt->tier->course == COURSE_FAIL_AFTER_TEXT) {
        attempt_end(attempt, TD_CORRUPT);
    }
}

static char caller_seen[128]; /* of the last request, on the loop's thread */

static enum td_status scripted_start(struct tier *tier, struct loop *loop,
                                     const struct td_request *request, const struct tier_sink *sink,
                                     struct tier_attempt **out, struct td_error *err)
{
    snprintf(caller_seen, sizeof caller_seen, "%s", request->caller ? request->caller : "");
    struct tier_attempt *attempt = calloc(1, sizeof *attempt);
    if (!attempt)
        return error_set(err, TD_NO_MEMORY, "no memory");
    attempt->tier = (struct scripted *)tier;
    attempt->loop = loop;
    attempt->sink = *sink;
    attempt->timer = loop_timer_new(loop, attempt_step, attempt);
    atomic_fetch_add(&attempt->tier->started, 1);
    loop_timer_start(loop, attempt->timer, 1);
    *out = attempt;
    return TD_OK;
}

static void scripted_cancel(struct tier_attempt *attempt)
{
    atomic_fetch_add(&attempt->tier->cancelled, 1);
    loop_timer_free(attempt->loop, attempt->timer);
    free(attempt);
}

static uint32_t scripted_count(struct tier *tier, const struct td_request *request)
{
    (void)tier;
    return (uint32_t)request->message_count * 4;
}

static void scripted_free(struct tier *tier)
{
    (void)tier; /* static */
}

static const struct tier_ops scripted_ops = {.start = scripted_start,
                                             .cancel = scripted_cancel,
                                             .count_prompt = scripted_count,
                                             .free = scripted_free};
static struct scripted scripted = {
    .base = {&scripted_ops,
             {.name = "cloud", .model = "scripted", .place = TD_PLACE_CLOUD, .has_key = true}}};

/* --- a process around it --- */

static struct tier *tiers[] = {&scripted.base};
static const struct route route = {
    .name = "auto", .kind = ROUTE_HYBRID, .tiers = {"cloud"}, .tier_count = 1};
static const struct policy policy = {
    .version = "0123456789abcdef", .routes = &route, .route_count = 1};
static struct exchange_services services = {.policy = &policy,
                                            .tiers = tiers,
                                            .tier_count = 1,
                                            .clock = &clock_system,
                                            .all_cloud_tier = 0};
static atomic_int held;

static struct exchange_services *acquire(void *ctx)
{
    (void)ctx;
    atomic_fetch_add(&held, 1);
    return &services;
}

static void release(void *ctx, struct exchange_services *of)
{
    (void)ctx;
    (void)of;
    atomic_fetch_sub(&held, 1);
}

static bool ready(void *ctx, const char **why_not)
{
    (void)ctx;
    *why_not = "the test says so";
    return false;
}

static const char *const origins[] = {"https://ok.example", NULL};
static struct api_host host = {.acquire = acquire,
                               .release = release,
                               .ready = ready,
                               .cors_origins = origins,
                               .answer_bytes_max = 1 << 20,
                               .arena_bytes_max = 1 << 20};
static struct loop *loop;
static struct server *server;
static struct api *api;
static pthread_t thread;

static void *run_loop(void *ctx)
{
    loop_event_run(ctx);
    return NULL;
}

static bool process_start(void)
{
    struct td_error err = {0};
    struct server_options options = {.host = "127.0.0.1",
                                     .body_bytes_max = 4096,
                                     .header_bytes_max = 8192,
                                     .header_timeout_ms = 2000,
                                     .idle_timeout_ms = 2000};
    services.health = tier_health_new(1, NULL, NULL);
    services.classes = conversation_classes_new(64);
    services.scanner = plain_scanner();
    host.metrics = metrics_new(1);
    host.background = background_new(1, 4);
    if (loop_event_new(&loop, &err) != TD_OK)
        return false;
    api = api_new(loop, &host, 0);
    if (server_new(loop, &options, api_handle, api, &server, &err) != TD_OK)
        return false;
    server_set_head(server, api_admit);
    server_set_refuse(server, api_refuse);
    return pthread_create(&thread, NULL, run_loop, loop) == 0;
}

static void process_stop(void)
{
    loop_event_stop(loop);
    pthread_join(thread, NULL);
    api_free(api);
    server_free(server);
    loop_event_free(loop);
    background_free(host.background);
    metrics_free(host.metrics);
    conversation_classes_free(services.classes);
    tier_health_free(services.health);
}

/* --- a client --- */

static char answer[65536];

static int client_open(void)
{
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons(server_port(server))};
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    struct timeval limit = {.tv_sec = 5};
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
    if (connect(fd, (struct sockaddr *)&address, sizeof address) != 0) {
        close(fd);
        return -1;
    }
    return fd;
}

static void client_send(int fd, const char *method, const char *path, const char *headers,
                        const char *body)
{
    char text[16384];
    int len =
        snprintf(text, sizeof text,
                 "%s %s HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n%sContent-Length: "
                 "%zu\r\n\r\n%s",
                 method, path, headers, strlen(body), body);
    CHECK(write(fd, text, (size_t)len) == len);
}

/* Sends one request, reads to the end of the connection; gives the code, the rest is in
 * `answer`. */
static int ask(const char *method, const char *path, const char *headers, const char *body)
{
    int fd = client_open();
    size_t len = 0;
    ssize_t got;
    client_send(fd, method, path, headers, body);
    while ((got = read(fd, answer + len, sizeof answer - 1 - len)) > 0)
        len += (size_t)got;
    close(fd);
    answer[len] = '\0';
    return len > 12 ? atoi(answer + 9) : 0;
}

static bool has(const char *text)
{
    return strstr(answer, text) != NULL;
}

/* A success clears the failures that would let the tier rest for the next case. */
static void clear_health(void)
{
    uint64_t now_ms = clock_monotonic_ns(NULL) / 1000000;
    const struct tier_result good = {.status = TD_OK};
    struct tier_ticket ticket;
    struct tier_state why;
    CHECK(tier_health_enter(services.health, 0, &(struct tier_entry){0}, now_ms, &ticket, &why));
    tier_health_leave(services.health, 0, &ticket, &good, now_ms);
}

/* **returns new** (auth_free). */
static struct auth *auth_with(const char *keys)
{
    static const uint8_t installation[KEYED_KEY_BYTES] = {7};
    struct auth *auth = auth_new(installation);
    const struct auth_keys all = {.clients = str_from(keys)};
    if (!auth || auth_set(auth, &all, NULL) != TD_OK)
        abort();
    return auth;
}

#define CHAT "/v1/chat/completions"
#define USER "\"messages\":[{\"role\":\"user\",\"content\":\"hi\"}]"

static bool becomes(atomic_int *value, int wanted, int within_ms)
{
    for (int i = 0; i < within_ms; i++) {
        if (atomic_load(value) == wanted)
            return true;
        nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
    }
    return atomic_load(value) == wanted;
}

#endif
