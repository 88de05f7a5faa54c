/* The OpenAI tier over a played client, and one attempt on it. */
#ifndef TESTS_OPENAI_SCENE_H
#define TESTS_OPENAI_SCENE_H

#include "tier/tier.h"

#include "base/core/str.h"
#include "base/crypto/secret.h"
#include "played_client.h"
#include "test.h"
#include "tier/door.h"
#include "virtual_loop.h"

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
