/* Clients of a scheduler that record their callbacks, for its tests. */
#ifndef TESTS_SCHEDULER_CLIENT_H
#define TESTS_SCHEDULER_CLIENT_H

#include "engine/session/scheduler.h"

#include "base/bytes/buf.h"
#include "base/core/str.h"
#include "base/crypto/rng.h"
#include "base/time/clock.h"
#include "engine/session/job.h"
#include "test.h"
#include "test_loop.h"
#include "tiny_model.h"

#include <stdatomic.h>

#define WAIT_MS 120000

static struct td_model *model;
static struct test_loop loop;

struct client {
    struct job *job;
    struct buf text;
    size_t tokens;
    uint64_t first_order; /* place of the first token among all clients' tokens */
    size_t cancel_after;  /* cancel in the callback after this many tokens; 0 = never */
    bool done, gone;      /* cancelled: no callback may come any more */
    bool cancel_in_done;
    enum td_status status;
    struct td_generate_result result;
    char message[TD_ERROR_BYTES];
};

static uint64_t token_order;

static inline void on_token(void *ctx, const struct td_token *token, struct td_str text)
{
    struct client *client = ctx;
    CHECK(!client->done && !client->gone);
    buf_append_str(&client->text, text);
    if (token == NULL)
        return;
    token_order++;
    if (client->tokens++ == 0)
        client->first_order = token_order;
    if (client->cancel_after && client->tokens == client->cancel_after) {
        client->gone = true;
        job_cancel(client->job);
    }
}

static inline void on_done(void *ctx, enum td_status status,
                           const struct td_generate_result *result, const struct td_error *err)
{
    struct client *client = ctx;
    CHECK(!client->done && !client->gone);
    client->done = true;
    client->status = status;
    client->result = *result;
    snprintf(client->message, sizeof client->message, "%s", err->message);
    if (client->cancel_in_done)
        job_cancel(client->job);
}

static inline struct td_generate_options plain_options(uint32_t tokens_max)
{
    struct td_generate_options options = {
        .sampling = td_sampling_default(), .tokens_max = tokens_max, .ignore_eos = true};
    options.sampling.seed = 9;
    options.sampling.seed_set = true;
    return options;
}

static inline struct scheduler *open_scheduler(uint32_t slots, uint32_t queue)
{
    struct scheduler *scheduler = NULL;
    struct td_error err = {0};
    struct scheduler_options options = {
        .model = model, .slot_count = slots, .queue_capacity = queue, .thread_count = 2};
    enum td_status status = scheduler_new(&options, &scheduler, &err);
    if (status != TD_OK)
        fprintf(stderr, "scheduler: %s\n", err.message);
    CHECK(status == TD_OK);
    return scheduler;
}

static inline enum td_status submit_as(enum td_priority priority, struct scheduler *scheduler,
                                       struct client *client, const int32_t *ids, size_t count,
                                       const struct td_generate_options *options,
                                       struct td_error *err)
{
    struct job_request request = {.ids = ids,
                                  .priority = priority,
                                  .id_count = count,
                                  .options = *options,
                                  .loop = &loop.loop,
                                  .on_token = on_token,
                                  .on_done = on_done,
                                  .ctx = client};
    buf_init(&client->text, 1 << 20);
    *err = (struct td_error){0};
    return scheduler_submit(scheduler, &request, &client->job, err);
}

static inline enum td_status submit(struct scheduler *scheduler, struct client *client,
                                    const int32_t *ids, size_t count,
                                    const struct td_generate_options *options, struct td_error *err)
{
    return submit_as(TD_PRIORITY_INTERACTIVE, scheduler, client, ids, count, options, err);
}

static inline void run_until_done(struct client *clients, size_t count)
{
    for (;;) {
        bool all = true;
        for (size_t i = 0; i < count; i++)
            all &= clients[i].done || clients[i].gone;
        if (all)
            return;
        bool got = test_loop_run_one(&loop, WAIT_MS);
        CHECK(got);
        if (!got)
            return;
    }
}

static inline void fill_prompt(int32_t *ids, size_t count, uint64_t seed)
{
    struct rng rng;
    rng_init(&rng, seed);
    for (size_t i = 0; i < count; i++)
        ids[i] = (int32_t)(4 + rng_below(&rng, TINY_VOCAB - 4));
}

static inline bool append_text(void *ctx, const struct td_token *token, struct td_str text)
{
    (void)token;
    buf_append_str(ctx, text);
    return true;
}

/* The answer of td_generate to the same request in a new session. */
static inline void expect_text(const int32_t *ids, size_t count,
                               const struct td_generate_options *options, const struct buf *text)
{
    struct td_session *session = NULL;
    struct td_error err = {0};
    struct buf expected;
    buf_init(&expected, 1 << 20);
    struct td_session_options session_options = {.thread_count = 1};
    CHECK(td_session_new(model, &session_options, &session, &err) == TD_OK);
    CHECK(td_generate(session, ids, count, options, append_text, &expected, NULL, &err) == TD_OK);
    CHECK(str_equal(buf_view(&expected), buf_view(text)));
    td_session_free(session);
    buf_deinit(&expected);
}

#endif
