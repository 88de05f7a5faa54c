/* The OpenAI tier over an HTTP client that the test plays, and one attempt on it. */
#ifndef TESTS_OPENAI_SCENE_H
#define TESTS_OPENAI_SCENE_H

#include "tier/tier.h"

#include "base/secret.h"
#include "base/str.h"
#include "net/client.h"
#include "test.h"
#include "tier/door.h"
#include "virtual_loop.h"

/* --- the HTTP client, played by the test: one transfer at a time --- */

struct client_transfer {
    struct client_request request;
};

static struct {
    struct client_transfer *running;
    char url[256], headers[1024], body[2048];
    int start_count, cancel_count, progress_count;
    bool refuse, unconnected;
} net;

struct client *client_of_loop(struct loop *loop)
{
    return (struct client *)loop;
}

enum td_status client_start(struct client *client, const struct client_request *request,
                            struct client_transfer **out, struct td_error *err)
{
    (void)client, (void)err;
    net.start_count++;
    if (net.refuse)
        return TD_NO_MEMORY;
    net.running = calloc(1, sizeof *net.running);
    if (!net.running)
        abort();
    net.running->request = *request;
    snprintf(net.url, sizeof net.url, "%s", request->url);
    snprintf(net.body, sizeof net.body, STR_FMT, STR_ARG(request->body));
    net.headers[0] = '\0';
    for (size_t i = 0; request->headers[i]; i++) {
        size_t len = strlen(net.headers);
        snprintf(net.headers + len, sizeof net.headers - len, "%s\n", request->headers[i]);
    }
    *out = net.running;
    return TD_OK;
}

void client_note_progress(struct client_transfer *transfer)
{
    CHECK(transfer == net.running);
    net.progress_count++;
}

void client_cancel(struct client_transfer *transfer)
{
    net.cancel_count++;
    net.running = NULL;
    free(transfer);
}

static void net_connected(void)
{
    if (!net.unconnected && net.running->request.on_connected)
        net.running->request.on_connected(net.running->request.ctx);
}

static void net_headers(int code, const char *retry_after)
{
    net_connected();
    net.running->request.on_headers(net.running->request.ctx, code, "text/event-stream",
                                    retry_after);
}

static void net_body(const char *text)
{
    net.running->request.on_body(net.running->request.ctx, str_from(text));
}

static void net_done(enum td_status status, const char *message)
{
    net_connected();
    struct client_transfer *transfer = net.running;
    struct td_error err = {.status = status};
    snprintf(err.message, sizeof err.message, "%s", message ? message : "");
    net.running = NULL;
    transfer->request.on_done(transfer->request.ctx, status, 0, &err);
    free(transfer);
}

/* --- the scene --- */

struct scene {
    struct virtual_loop loop;
    struct tier *tier;
    struct secret *key;
    struct tier_attempt *attempt; /* NULL once it is gone */
    char text[256];
    int piece_count, done_count, cancel_at_piece;
    struct tier_result result;
};

static const struct egress_pass pass = {
    .data_class = TD_CLASS_PUBLIC, .scanned = true, .exchange = "ex_1"};

static const struct tier_facts facts = {
    .name = "openai", .model = "gpt-x", .place = TD_PLACE_CLOUD, .has_key = true};

static void on_piece(void *ctx, const struct tier_piece *piece)
{
    struct scene *scene = ctx;
    size_t len = strlen(scene->text);
    snprintf(scene->text + len, sizeof scene->text - len, STR_FMT, STR_ARG(piece->text));
    if (++scene->piece_count == scene->cancel_at_piece) {
        tier_cancel(scene->tier, scene->attempt);
        scene->attempt = NULL;
    }
}

static void on_done(void *ctx, const struct tier_result *result)
{
    struct scene *scene = ctx;
    scene->done_count++;
    scene->result = *result;
    scene->attempt = NULL;
}

static uint32_t pad_bytes; /* for the next scene */
static bool judged;        /* the same */

static void scene_start_with(struct scene *scene, const struct egress_pass *with)
{
    static const struct td_message message = {TD_ROLE_USER, {"twelve bytes", 12}};
    struct td_request request = {.messages = &message, .message_count = 1};
    memset(scene, 0, sizeof *scene);
    memset(&net, 0, sizeof net);
    virtual_loop_init(&scene->loop);
    scene->key = secret_new(STR("sk-secret"));
    struct tier_server_options options = {
        .base_url = "https://api.example.com/v1/", .api_key = scene->key, .pad_bytes = pad_bytes};
    CHECK(tier_openai_new(&facts, &options, &scene->tier, NULL) == TD_OK);
    struct tier_sink sink = {
        .on_piece = on_piece, .on_done = on_done, .ctx = scene, .judged = judged, .pass = with};
    CHECK(tier_start(scene->tier, &scene->loop.loop, &request, &sink, &scene->attempt, NULL) ==
          TD_OK);
}

static void scene_start(struct scene *scene)
{
    scene_start_with(scene, &pass);
}

static void scene_end(struct scene *scene)
{
    virtual_loop_run(&scene->loop, 10000);
    CHECK(net.running == NULL && scene->loop.timer_count == 0);
    tier_free(scene->tier);
    secret_free(scene->key);
}

#define SAY(text) "data: {\"choices\":[{\"delta\":{\"content\":\"" text "\"}}]}\n\n"
#define STOP "data: {\"choices\":[{\"delta\":{},\"finish_reason\":\"stop\"}]}\n\n"

#endif
