/* A local tier over an engine that the test plays, and what comes of it. */
#ifndef LOCAL_SCENE_H
#define LOCAL_SCENE_H

#include "tier/tier.h"

#include "base/core/str.h"
#include "played_engine.h"
#include "virtual_loop.h"
#include "wire_members.h"

/* --- the scene --- */

struct scene {
    struct virtual_loop loop;
    struct tier *tier;
    struct tier_attempt *attempt;
    struct td_request request;
    struct td_message message;
    char text[128];
    int stats_count, computed_count, done_count;
    struct td_token_stats stats;
    bool cancels;
    char calls[512]; /* the last raw delta as text */
    struct tier_result result;
};

static inline void on_piece(void *ctx, const struct tier_piece *piece)
{
    struct scene *scene = ctx;
    size_t len = strlen(scene->text);
    snprintf(scene->text + len, sizeof scene->text - len, STR_FMT, STR_ARG(piece->text));
    scene->stats_count += piece->has_stats;
    scene->computed_count += piece->computed;
    if (piece->has_stats)
        scene->stats = piece->stats;
    if (piece->raw_delta) {
        struct buf out;
        buf_init(&out, sizeof scene->calls - 1);
        json_write(piece->raw_delta, &out);
        snprintf(scene->calls, sizeof scene->calls, STR_FMT, STR_ARG(buf_view(&out)));
        buf_deinit(&out);
    }
    if (scene->cancels)
        tier_cancel(scene->tier, scene->attempt);
}

static inline void on_done(void *ctx, const struct tier_result *result)
{
    struct scene *scene = ctx;
    scene->done_count++;
    scene->result = *result;
}

static inline void scene_init_with(struct scene *scene, uint32_t context_tokens,
                                   size_t prompt_count, enum tool_format tool_format)
{
    memset(scene, 0, sizeof *scene);
    memset(&engine, 0, sizeof engine);
    engine.prompt_count = prompt_count;
    engine.tool_format = tool_format;
    virtual_loop_init(&scene->loop);
    struct tier_facts facts = {.name = "local", .context_tokens = context_tokens, .has_key = true};
    const struct tier_local_options options = {
        .main = {.model = (const void *)&engine,
                 .scheduler = (void *)&engine}}; /* not looked into */
    CHECK(tier_local_new(&facts, &options, &scene->tier, NULL) == TD_OK);
    scene->message = (struct td_message){TD_ROLE_USER, STR("hello")};
    scene->request = (struct td_request){.messages = &scene->message, .message_count = 1};
}

static inline void scene_init(struct scene *scene, uint32_t context_tokens, size_t prompt_count)
{
    scene_init_with(scene, context_tokens, prompt_count, TOOL_FORMAT_NONE);
}

static inline enum td_status scene_start(struct scene *scene, struct td_error *err)
{
    struct tier_sink sink = {.on_piece = on_piece, .on_done = on_done, .ctx = scene};
    return tier_start(scene->tier, &scene->loop.loop, &scene->request, &sink, &scene->attempt, err);
}

static inline void finish_job(enum td_status status)
{
    struct td_generate_result result = {
        .finish = TD_FINISH_LENGTH, .prompt_tokens = 10, .completion_tokens = 2};
    engine.job.request.on_done(engine.job.request.ctx, status, &result, NULL);
}

/* A conversation of one message, and a tool that may be called. */
static inline void offer_tool(struct scene *s, struct wire_members *wire)
{
    wire_members_init(
        wire,
        "{\"messages\":[{\"role\":\"user\",\"content\":\"hello\"}],\"tools\":[{\"type\":"
        "\"function\",\"function\":{\"name\":\"stop\"}}]}",
        &s->request);
    s->request.tool_count = 1;
}

static inline void say(const char *text, int32_t id)
{
    struct td_token token = {.id = id, .piece = str_from(text)};
    engine.job.request.on_token(engine.job.request.ctx, &token, str_from(text));
}

static inline void stop_job(void)
{
    struct td_generate_result result = {.finish = TD_FINISH_STOP};
    engine.job.request.on_done(engine.job.request.ctx, TD_OK, &result, NULL);
}

#endif
