/* The whole way of a request in one thread: a configuration's server on a loopback socket, with the
 * real HTTP parser, dialects, scan, plan, door and writer of requests, whose tiers record what
 * leaves and answer by a script. Only libcurl is missing: the linker redirects every function
 * of net/client/client.h that a tier calls to this file (--wrap in the meson.build of each user).
 *
 * Nothing of a request outlives it: recorded_renew gives the next one fresh tiers, health, classes
 * and vaults. Time runs faster for exchanges than for the server: their timers are divided by
 * RECORDED_HASTE, so that a second try does not make a search for faults wait. */
#ifndef TESTS_RECORDED_SERVER_H
#define TESTS_RECORDED_SERVER_H

#include "api/api.h"
#include "api/http/metrics.h"
#include "app/config/config.h"
#include "app/setup/policy/policy_build.h"
#include "app/setup/process/runtime.h"
#include "base/core/error.h"
#include "base/core/str.h"
#include "base/thread/background.h"
#include "base/time/clock.h"
#include "base/time/log.h"
#include "net/client/client.h"
#include "net/client/loop_event.h"
#include "privacy/pseudonym/vault_store.h"
#include "privacy/scan/conversation.h"
#include "tier/health.h"
#include "tier/servers.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#define RECORDED_HASTE 100
#define RECORDED_BYTES_MAX (1 << 22)
#define RECORDED_SENT_MAX 64
#define RECORDED_REPLIES_MAX 8
#define RECORDED_LATE_MS 60000 /* a request that is not answered by then never is */
#define RECORDED_QUIET_TURNS 5 /* of the loop, after which nothing more comes of broken bytes */

/* How the next request that leaves is answered. */
enum recorded_reply {
    REPLY_WHOLE,
    REPLY_UNSURE, /* with log-probabilities that no gate lets pass, when it is asked for them */
    REPLY_BUSY,
    REPLY_WRONG,
    REPLY_DENIED,
    REPLY_CUT,      /* after the first piece */
    REPLY_GARBAGE,  /* the same, and then what is no event */
    REPLY_UNREACHED /* no connection */
};
#define RECORDED_REPLY_KINDS (REPLY_UNREACHED + 1)
#define RECORDED_ANSWER "Remote answer."

struct sent {
    char *url;
    struct buf headers; /* a line each */
    struct buf body;
    bool direct;
};

struct recorded {
    struct runtime *runtime;
    const struct config *config;
    struct exchange_services *held, services;
    struct pseudonym_settings pseudonyms;
    struct tier *tiers[CONFIG_TIERS_MAX];
    struct api_host host;
    struct api *api;
    struct server *server;
    struct loop *loop, quick; /* quick: the exchanges' view of the same loop */
    struct loop_timer *timer;
    struct loop_watch *watch;
    int fd, quiet_turns;
    uint64_t begin_ms;
    struct buf reply; /* what the client got */
    bool late, closes;

    enum recorded_reply replies[RECORDED_REPLIES_MAX]; /* in turn; the last one again and again */
    size_t reply_count, reply_next;
    struct sent sent[RECORDED_SENT_MAX];
    size_t sent_count;
};

static struct recorded recorded;

/* While it is not 0, this file allocates, and not what is tested. */
static _Thread_local int recorded_own;

/* --- tiers' servers --- */

struct client_transfer {
    struct loop_timer *timer;
    struct client_request request; /* its callbacks alone */
    enum recorded_reply reply;
    bool streamed, completion, asks_logprobs;
    int step;
    bool in_callback, cancelled;
};

struct client *__wrap_client_of_loop(struct loop *loop);
enum td_status __wrap_client_start(struct client *client, const struct client_request *request,
                                   struct client_transfer **out, struct td_error *err);
void __wrap_client_cancel(struct client_transfer *transfer);
void __wrap_client_note_progress(struct client_transfer *transfer);

struct client *__wrap_client_of_loop(struct loop *loop)
{
    return (struct client *)loop; /* nobody looks into it */
}

static void recorded_transfer_free(struct client_transfer *transfer)
{
    recorded_own++;
    loop_timer_free(&recorded.quick, transfer->timer);
    free(transfer);
    recorded_own--;
}

static void recorded_say(const struct client_transfer *transfer, const char *text)
{
    static const char *const forms[] = {
        "data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"%s\"}%s}]}\n\n",
        "data: {\"choices\":[{\"index\":0,\"text\":\"%s\"%s}]}\n\n"};
    char logprobs[160] = "", event[512];
    if (transfer->asks_logprobs && transfer->reply == REPLY_UNSURE && !transfer->completion)
        snprintf(logprobs, sizeof logprobs,
                 ",\"logprobs\":{\"content\":[{\"token\":\"%s\",\"logprob\":-7.5,"
                 "\"top_logprobs\":[]}]}",
                 text);
    int len = snprintf(event, sizeof event, forms[transfer->completion], text, logprobs);
    transfer->request.on_body(transfer->request.ctx, (struct td_str){event, (size_t)len});
}

static void recorded_say_end(const struct client_transfer *transfer)
{
    static const char *const forms[] = {
        "data: {\"choices\":[{\"index\":0,\"delta\":{},\"finish_reason\":\"stop\"}],\"usage\":"
        "{\"prompt_tokens\":9,\"completion_tokens\":2}}\n\ndata: [DONE]\n\n",
        "data: {\"choices\":[{\"index\":0,\"text\":\"\",\"finish_reason\":\"stop\"}],\"usage\":"
        "{\"prompt_tokens\":9,\"completion_tokens\":2}}\n\ndata: [DONE]\n\n"};
    transfer->request.on_body(transfer->request.ctx, str_from(forms[transfer->completion]));
}

static void recorded_say_whole(const struct client_transfer *transfer)
{
    static const char *const forms[] = {
        "{\"choices\":[{\"index\":0,\"message\":{\"role\":\"assistant\",\"content\":"
        "\"" RECORDED_ANSWER "\"},\"finish_reason\":\"stop\"}],"
        "\"usage\":{\"prompt_tokens\":9,\"completion_tokens\":2}}",
        "{\"choices\":[{\"index\":0,\"text\":\"" RECORDED_ANSWER "\",\"finish_reason\":\"stop\"}],"
        "\"usage\":{\"prompt_tokens\":9,\"completion_tokens\":2}}"};
    transfer->request.on_body(transfer->request.ctx, str_from(forms[transfer->completion]));
}

static int recorded_code(enum recorded_reply reply)
{
    return reply == REPLY_BUSY     ? 503
           : reply == REPLY_WRONG  ? 400
           : reply == REPLY_DENIED ? 401
                                   : 200;
}

/* One step of an answer; true when it was the last. */
static bool recorded_answer(struct client_transfer *transfer)
{
    const struct client_request *request = &transfer->request;
    struct td_error err = {0};
    int code = recorded_code(transfer->reply);
    bool refuses = code != 200,
         breaks = transfer->reply == REPLY_CUT || transfer->reply == REPLY_GARBAGE;
    switch (transfer->step++) {
    case 0:
        if (transfer->reply == REPLY_UNREACHED) {
            error_set(&err, TD_UNAVAILABLE, "no connection");
            request->on_done(request->ctx, TD_UNAVAILABLE, 0, &err);
            return true;
        }
        request->on_connected(request->ctx);
        break;
    case 1:
        request->on_headers(request->ctx, code, "application/json", NULL);
        break;
    case 2:
        if (refuses)
            request->on_body(request->ctx, STR("{\"error\":{\"message\":\"the script says so\"}}"));
        else if (transfer->streamed)
            recorded_say(transfer, "Remote");
        else if (!breaks)
            recorded_say_whole(transfer);
        break;
    case 3:
        if (transfer->reply == REPLY_GARBAGE)
            request->on_body(request->ctx, STR("data: {\"choices\": [{\"delta\": \n\n"));
        else if (!refuses && !breaks && transfer->streamed)
            recorded_say(transfer, " answer.");
        break;
    case 4:
        if (!refuses && !breaks && transfer->streamed)
            recorded_say_end(transfer);
        break;
    default:
        if (breaks)
            error_set(&err, TD_UNAVAILABLE, "the connection broke");
        request->on_done(request->ctx, breaks ? TD_UNAVAILABLE : TD_OK, code, breaks ? &err : NULL);
        return true;
    }
    return false;
}

static void recorded_step(void *ctx)
{
    struct client_transfer *transfer = ctx;
    transfer->in_callback = true;
    bool last = recorded_answer(transfer);
    transfer->in_callback = false;
    if (last || transfer->cancelled)
        recorded_transfer_free(transfer);
    else
        loop_timer_start(&recorded.quick, transfer->timer, 0);
}

static void recorded_keep(const struct client_request *request)
{
    if (recorded.sent_count == RECORDED_SENT_MAX)
        abort(); /* no request is repeated so often */
    struct sent *sent = &recorded.sent[recorded.sent_count++];
    sent->url = strdup(request->url);
    sent->direct = request->direct;
    buf_init(&sent->headers, RECORDED_BYTES_MAX);
    buf_init(&sent->body, 8 * RECORDED_BYTES_MAX);
    for (const char *const *header = request->headers; header && *header; header++)
        buf_printf(&sent->headers, "%s\n", *header);
    buf_append_str(&sent->body, request->body);
    if (!sent->url || sent->headers.failed || sent->body.failed)
        abort();
}

enum td_status __wrap_client_start(struct client *client, const struct client_request *request,
                                   struct client_transfer **out, struct td_error *err)
{
    (void)client, (void)err;
    recorded_own++;
    struct client_transfer *transfer = calloc(1, sizeof *transfer);
    if (!transfer)
        abort();
    recorded_keep(request);
    transfer->request = *request;
    transfer->streamed = str_find(request->body, STR("\"stream\":true"), 0) != SIZE_MAX;
    transfer->asks_logprobs = str_find(request->body, STR("\"logprobs\":true"), 0) != SIZE_MAX;
    transfer->completion = !strstr(request->url, "/chat/");
    transfer->reply = recorded.replies[recorded.reply_next];
    recorded.reply_next += recorded.reply_next + 1 < recorded.reply_count;
    transfer->timer = loop_timer_new(&recorded.quick, recorded_step, transfer);
    loop_timer_start(&recorded.quick, transfer->timer, 0);
    recorded_own--;
    *out = transfer;
    return TD_OK;
}

void __wrap_client_cancel(struct client_transfer *transfer)
{
    if (transfer && transfer->in_callback)
        transfer->cancelled = true;
    else if (transfer)
        recorded_transfer_free(transfer);
}

void __wrap_client_note_progress(struct client_transfer *transfer)
{
    (void)transfer; /* it is never silent */
}

/* --- a loop in haste --- */

static struct loop_timer *quick_timer_new(struct loop *loop, loop_fn *fn, void *ctx)
{
    (void)loop;
    return loop_timer_new(recorded.loop, fn, ctx);
}

static void quick_timer_start(struct loop_timer *timer, uint64_t delay_ms)
{
    loop_timer_start(recorded.loop, timer, delay_ms / RECORDED_HASTE);
}

static void quick_timer_stop(struct loop_timer *timer)
{
    loop_timer_stop(recorded.loop, timer);
}

static void quick_timer_free(struct loop_timer *timer)
{
    loop_timer_free(recorded.loop, timer);
}

static struct loop_watch *quick_watch_new(struct loop *loop, int fd, loop_fn *fn, void *ctx)
{
    (void)loop;
    return loop_watch_new(recorded.loop, fd, fn, ctx);
}

static void quick_watch_free(struct loop_watch *watch)
{
    loop_watch_free(recorded.loop, watch);
}

static bool quick_post(struct loop *loop, loop_fn *fn, void *ctx)
{
    (void)loop;
    return loop_post(recorded.loop, fn, ctx);
}

static const struct loop_ops quick_ops = {quick_timer_new,  quick_timer_start, quick_timer_stop,
                                          quick_timer_free, quick_watch_new,   quick_watch_free,
                                          quick_post};

/* --- a process around it --- */

static void recorded_must(enum td_status status, const struct td_error *err)
{
    if (status == TD_OK)
        return;
    fprintf(stderr, "the recorded server: %s\n", err->message);
    abort();
}

static struct exchange_services *recorded_acquire(void *ctx)
{
    (void)ctx;
    return &recorded.services;
}

static void recorded_release(void *ctx, struct exchange_services *services)
{
    (void)ctx, (void)services;
}

static bool recorded_ready(void *ctx, const char **why_not)
{
    (void)ctx, (void)why_not;
    return true;
}

static void recorded_drop(void)
{
    for (size_t i = 0; i < recorded.services.tier_count; i++)
        if (recorded.tiers[i] != recorded.held->tiers[i])
            tier_free(recorded.tiers[i]);
    tier_health_free(recorded.services.health);
    conversation_classes_free(recorded.services.classes);
    if (recorded.services.pseudonyms)
        vault_store_free(recorded.pseudonyms.vaults);
}

static void recorded_forget_sent(void)
{
    for (size_t i = 0; i < recorded.sent_count; i++) {
        free(recorded.sent[i].url);
        buf_deinit(&recorded.sent[i].headers);
        buf_deinit(&recorded.sent[i].body);
    }
    recorded.sent_count = recorded.reply_next = 0;
    buf_clear(&recorded.reply);
}

static void recorded_open_tier(size_t i)
{
    const struct config_tier *from = &recorded.config->tiers[i];
    recorded.tiers[i] = recorded.held->tiers[i];
    if (from->kind == CONFIG_TIER_LOCAL)
        return;
    struct tier_facts facts = policy_tier_facts(recorded.config, from);
    const struct tier_server_options options = {.server = config_tier_server(from),
                                                .base_url = from->base_url,
                                                .allow_http = from->allow_http,
                                                .pad_bytes = from->pad_bytes,
                                                .health = recorded.services.health,
                                                .health_index = i};
    struct td_error err = {0};
    facts.has_key = true;
    recorded_must(config_tier_server(from)->open(&facts, &options, &recorded.tiers[i], &err), &err);
}

/* Forgets everything that earlier requests left behind. */
static void recorded_renew(void)
{
    recorded_own++;
    if (recorded.services.health)
        recorded_drop();
    recorded_forget_sent();
    recorded.services = *recorded.held;
    recorded.services.hold = NULL;
    recorded.services.release = NULL;
    recorded.services.tiers = recorded.tiers;
    recorded.services.latency = NULL;
    recorded.services.load = NULL;
    recorded.services.consistency = NULL;
    recorded.services.reactions = NULL;
    recorded.services.escalations_per_hour = 0;
    recorded.services.health = tier_health_new(recorded.held->tier_count, NULL, NULL);
    recorded.services.classes = conversation_classes_new(64);
    if (recorded.held->pseudonyms) {
        recorded.pseudonyms = *recorded.held->pseudonyms;
        recorded.pseudonyms.vaults = vault_store_new(16, SIZE_MAX, 60000);
        recorded.services.pseudonyms = &recorded.pseudonyms;
    }
    if (!recorded.services.health || !recorded.services.classes)
        abort();
    for (size_t i = 0; i < recorded.services.tier_count; i++)
        recorded_open_tier(i);
    recorded_own--;
}

static char *recorded_write_config(const char *text)
{
    static char path[] = "/tmp/tandem-recorded-XXXXXX";
    int fd = mkstemp(path);
    size_t len = strlen(text);
    if (fd < 0 || write(fd, text, len) != (ssize_t)len)
        abort();
    close(fd);
    return path;
}

static void recorded_open(const char *config)
{
    struct td_error err = {0};
    char *path = recorded_write_config(config);
    const struct runtime_options options = {.config_path = path};
    log_set_level(LOG_LEVEL_ERROR);
    recorded_must(runtime_open(&options, &recorded.runtime, &err), &err);
    log_set_level(LOG_LEVEL_ERROR);
    unlink(path);
    recorded.config = runtime_config(recorded.runtime);
    recorded.held = runtime_acquire(recorded.runtime);
    recorded_must(loop_event_new(&recorded.loop, &err), &err);
    recorded.quick.ops = &quick_ops;
    recorded.host = (struct api_host){
        .acquire = recorded_acquire,
        .release = recorded_release,
        .ready = recorded_ready,
        .background = background_new(1, 16),
        .ledger = runtime_ledger(recorded.runtime),
        .metrics = metrics_new(1),
        .answer_bytes_max = recorded.config->server.answer_bytes_max,
        .arena_bytes_max = (size_t)recorded.config->server.body_bytes_max * 4 + 65536,
    };
    recorded.api = api_new(&recorded.quick, &recorded.host, 0);
    const struct server_options server = {.host = "127.0.0.1",
                                          .body_bytes_max = recorded.config->server.body_bytes_max,
                                          .header_bytes_max =
                                              recorded.config->server.header_bytes_max,
                                          .header_timeout_ms = 10000,
                                          .idle_timeout_ms = 10000};
    recorded_must(
        server_new(recorded.loop, &server, api_handle, recorded.api, &recorded.server, &err), &err);
    server_set_head(recorded.server, api_admit);
    server_set_refuse(recorded.server, api_refuse);
    buf_init(&recorded.reply, 64 << 20);
    recorded.replies[0] = REPLY_WHOLE;
    recorded.reply_count = 1;
    recorded_renew();
}

static inline void recorded_close(void)
{
    recorded_own++;
    api_free(recorded.api);
    server_free(recorded.server);
    recorded_drop();
    recorded_forget_sent();
    buf_deinit(&recorded.reply);
    background_free(recorded.host.background);
    metrics_free(recorded.host.metrics);
    loop_event_free(recorded.loop);
    runtime_release(recorded.runtime, recorded.held);
    runtime_close(recorded.runtime);
    recorded = (struct recorded){.fd = -1};
    recorded_own--;
}

/* --- a client --- */

static void recorded_on_readable(void *ctx)
{
    (void)ctx;
    char bytes[65536];
    ssize_t got = read(recorded.fd, bytes, sizeof bytes);
    recorded_own++;
    if (got > 0)
        buf_append(&recorded.reply, bytes, (size_t)got);
    recorded_own--;
    if (got == 0 || (got < 0 && errno != EAGAIN))
        loop_event_stop(recorded.loop);
}

/* Bytes that are no whole request get no reply: they are over when nothing happens any more. */
static void recorded_look(void *ctx)
{
    (void)ctx;
    bool quiet = server_active(recorded.server) == 0 && api_active(recorded.api) == 0;
    recorded.quiet_turns = quiet ? recorded.quiet_turns + 1 : 0;
    recorded.late = clock_monotonic_ms(NULL) > (double)(recorded.begin_ms + RECORDED_LATE_MS);
    if (recorded.late || (!recorded.closes && recorded.quiet_turns > RECORDED_QUIET_TURNS))
        loop_event_stop(recorded.loop);
    else
        loop_timer_start(recorded.loop, recorded.timer, recorded.closes ? 100 : 0);
}

/* Long searches use up the ports of the loopback; they come free again within a minute. */
static int recorded_connect(void)
{
    struct sockaddr_in address = {.sin_family = AF_INET,
                                  .sin_port = htons(server_port(recorded.server))};
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    const struct linger reset = {.l_onoff = 1}; /* leaves no port behind */
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), size = 1 << 21;
    setsockopt(fd, SOL_SOCKET, SO_SNDBUF, &size, sizeof size);
    setsockopt(fd, SOL_SOCKET, SO_LINGER, &reset, sizeof reset);
    bool connected = false;
    for (unsigned tries = 0; !connected && tries < 90; tries++) {
        connected = fd >= 0 && connect(fd, (struct sockaddr *)&address, sizeof address) == 0;
        if (!connected && errno != EADDRNOTAVAIL)
            break;
        if (!connected)
            sleep(1);
    }
    if (!connected) {
        perror("recorded_connect");
        abort();
    }
    return fd;
}

/* What still runs when the client has left is stopped, and the loop gets a turn for it. */
static void recorded_settle(void)
{
    recorded.closes = false;
    recorded.quiet_turns = 0;
    loop_event_restart(recorded.loop);
    loop_timer_start(recorded.loop, recorded.timer, 0);
    loop_event_run(recorded.loop);
}

/* Sends the bytes on a connection of their own and waits until everything that they cause is over.
 * closes: they ask the server to close the connection after its answer. False: never answered. */
static bool recorded_ask(struct td_str bytes, bool closes)
{
    recorded_own++;
    buf_clear(&recorded.reply);
    recorded.fd = recorded_connect();
    recorded.closes = closes;
    recorded.quiet_turns = 0;
    recorded.begin_ms = (uint64_t)clock_monotonic_ms(NULL);
    for (size_t at = 0; at < bytes.len;) {
        ssize_t sent = write(recorded.fd, bytes.data + at, bytes.len - at);
        if (sent <= 0)
            abort();
        at += (size_t)sent;
    }
    fcntl(recorded.fd, F_SETFL, O_NONBLOCK);
    recorded.watch = loop_watch_new(recorded.loop, recorded.fd, recorded_on_readable, NULL);
    recorded.timer = loop_timer_new(recorded.loop, recorded_look, NULL);
    loop_event_restart(recorded.loop);
    loop_timer_start(recorded.loop, recorded.timer, closes ? 100 : 0);
    recorded_own--;
    loop_event_run(recorded.loop);
    bool answered = !recorded.late;
    recorded_own++;
    loop_watch_free(recorded.loop, recorded.watch);
    close(recorded.fd);
    recorded_own--;
    recorded_settle();
    recorded_own++;
    loop_timer_free(recorded.loop, recorded.timer);
    recorded_own--;
    return answered && !recorded.late;
}

#endif
