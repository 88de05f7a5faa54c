/* The scheduler: answers equal td_generate's, fairness, full queues, slow loops, cancelling at any
 * moment. Meant to run under TSan and ASan as well. */
#include "engine/scheduler.h"

#include "base/buf.h"
#include "base/clock.h"
#include "base/rng.h"
#include "base/str.h"
#include "engine/batch_plan.h"
#include "engine/job.h"
#include "test.h"
#include "test_loop.h"
#include "tiny_model.h"

#include <stdatomic.h>

#define WAIT_MS 20000

/* Sanitizers make everything ten times slower; races need no ten thousand jobs. */
#if defined(__SANITIZE_THREAD__) || defined(__SANITIZE_ADDRESS__)
#define MIXED_JOBS 1000
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer) || __has_feature(address_sanitizer)
#define MIXED_JOBS 1000
#endif
#endif
#ifndef MIXED_JOBS
#define MIXED_JOBS 10000
#endif

static struct td_model *model;
static struct test_loop loop;

struct client {
    struct job *job;
    struct buf text;
    size_t tokens;
    uint64_t first_order; /* place of the first token among all clients' tokens */
    size_t cancel_after;  /* cancel from inside the callback after so many tokens; 0 = never */
    bool done, gone;      /* gone: cancelled, nothing may come any more */
    bool cancel_in_done;
    enum td_status status;
    struct td_generate_result result;
    char message[TD_ERROR_BYTES];
};

static uint64_t token_order;

static void on_token(void *ctx, const struct td_token *token, struct td_str text)
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

static void on_done(void *ctx, enum td_status status, const struct td_generate_result *result,
                    const struct td_error *err)
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

static struct td_generate_options plain_options(uint32_t tokens_max)
{
    struct td_generate_options options = {
        .sampling = td_sampling_default(), .tokens_max = tokens_max, .ignore_eos = true};
    options.sampling.seed = 9;
    options.sampling.seed_set = true;
    return options;
}

static struct scheduler *open_scheduler(uint32_t slots, uint32_t queue)
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

static enum td_status submit_as(enum td_priority priority, struct scheduler *scheduler,
                                struct client *client, const int32_t *ids, size_t count,
                                const struct td_generate_options *options, struct td_error *err)
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

static enum td_status submit(struct scheduler *scheduler, struct client *client, const int32_t *ids,
                             size_t count, const struct td_generate_options *options,
                             struct td_error *err)
{
    return submit_as(TD_PRIORITY_INTERACTIVE, scheduler, client, ids, count, options, err);
}

static void run_until_done(struct client *clients, size_t count)
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

static void fill_prompt(int32_t *ids, size_t count, uint64_t seed)
{
    struct rng rng;
    rng_init(&rng, seed);
    for (size_t i = 0; i < count; i++)
        ids[i] = (int32_t)(4 + rng_below(&rng, TINY_VOCAB - 4));
}

static bool append_text(void *ctx, const struct td_token *token, struct td_str text)
{
    (void)token;
    buf_append_str(ctx, text);
    return true;
}

/* What td_generate makes of the same request in a fresh session. */
static void expect_text(const int32_t *ids, size_t count, const struct td_generate_options *options,
                        const struct buf *text)
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

static void test_interleaved_jobs_give_the_answers_of_lone_ones(void)
{
    enum { JOBS = 6 };
    struct client clients[JOBS] = {0};
    int32_t ids[JOBS][150];
    struct td_error err;
    struct td_generate_options options = plain_options(40);
    struct scheduler *scheduler = open_scheduler(3, 8);
    for (int i = 0; i < JOBS; i++) {
        fill_prompt(ids[i], 150, (uint64_t)i);
        options.sampling.seed = (uint64_t)i;
        CHECK(submit(scheduler, &clients[i], ids[i], 10 + 28 * (size_t)i, &options, &err) == TD_OK);
    }
    run_until_done(clients, JOBS);
    for (int i = 0; i < JOBS; i++) {
        CHECK(clients[i].status == TD_OK && clients[i].tokens == 40);
        CHECK(clients[i].result.prompt_tokens == 10 + 28 * (uint32_t)i);
        CHECK(clients[i].result.completion_tokens == 40);
        CHECK(clients[i].result.finish == TD_FINISH_LENGTH);
        options.sampling.seed = (uint64_t)i;
        expect_text(ids[i], 10 + 28 * (size_t)i, &options, &clients[i].text);
        buf_deinit(&clients[i].text);
    }
    struct scheduler_load load = scheduler_get_load(scheduler);
    CHECK(load.completion_tokens == JOBS * 40 && load.prompt_tokens == 6 * 10 + 28 * 15);
    scheduler_free(scheduler);
}

static void test_second_turn_reuses_the_cache_and_says_the_same(void)
{
    int32_t ids[200];
    struct client first = {0}, second = {0}, same = {0};
    struct td_error err;
    struct td_generate_options options = plain_options(10);
    struct scheduler *scheduler = open_scheduler(2, 4);
    fill_prompt(ids, 200, 77);
    CHECK(submit(scheduler, &first, ids, 150, &options, &err) == TD_OK);
    run_until_done(&first, 1);
    CHECK(submit(scheduler, &second, ids, 200, &options, &err) == TD_OK);
    run_until_done(&second, 1);
    expect_text(ids, 200, &options, &second.text);
    CHECK(first.result.cached_tokens == 0 && second.result.cached_tokens == 150);
    /* The very same prompt: only its last token runs again. */
    CHECK(submit(scheduler, &same, ids, 150, &options, &err) == TD_OK);
    run_until_done(&same, 1);
    CHECK(str_equal(buf_view(&same.text), buf_view(&first.text)));
    CHECK(same.result.prompt_tokens == 150 && same.result.cached_tokens == 149);
    buf_deinit(&first.text);
    buf_deinit(&second.text);
    buf_deinit(&same.text);
    scheduler_free(scheduler);
}

static void test_long_prompt_does_not_stall_a_running_stream(void)
{
    int32_t ids[500];
    struct client clients[2] = {0};
    struct td_error err;
    struct td_generate_options options = plain_options(100), late = plain_options(1);
    struct scheduler *scheduler = open_scheduler(2, 4);
    fill_prompt(ids, 500, 5);
    token_order = 0;
    CHECK(submit(scheduler, &clients[0], ids, 5, &options, &err) == TD_OK);
    while (clients[0].tokens < 3 && test_loop_run_one(&loop, WAIT_MS))
        ;
    CHECK(submit(scheduler, &clients[1], ids, 500, &late, &err) == TD_OK);
    run_until_done(clients, 2);
    /* 500 tokens are 8 chunks: the stream got a token between any two. */
    CHECK(clients[1].first_order >= 3 + 7);
    CHECK(clients[0].tokens == 100 && clients[1].tokens == 1);
    buf_deinit(&clients[0].text);
    buf_deinit(&clients[1].text);
    scheduler_free(scheduler);
}

static void test_prompts_that_come_together_get_their_first_tokens_one_after_another(void)
{
    enum { JOBS = 8 };
    int32_t ids[JOBS][300];
    struct client clients[JOBS] = {0};
    struct td_error err;
    struct td_generate_options options = plain_options(60);
    struct scheduler *scheduler = open_scheduler(JOBS, 4);
    token_order = 0;
    for (int i = 0; i < JOBS; i++) {
        fill_prompt(ids[i], 300, (uint64_t)i);
        CHECK(submit(scheduler, &clients[i], ids[i], 300, &options, &err) == TD_OK);
    }
    run_until_done(clients, JOBS);
    for (int i = 0; i + 1 < JOBS; i++)
        CHECK(clients[i].first_order < clients[i + 1].first_order);
    /* The first had more than its first token when the last got one. */
    CHECK(clients[JOBS - 1].first_order > clients[0].first_order + 2 * JOBS);
    for (int i = 0; i < JOBS; i++)
        buf_deinit(&clients[i].text);
    scheduler_free(scheduler);
}

static void test_greedy_answers_do_not_depend_on_company_that_comes_and_goes(void)
{
    enum { JOBS = 12 };
    int32_t ids[JOBS][200];
    struct client clients[JOBS] = {0};
    struct td_error err;
    struct td_generate_options options = plain_options(50);
    options.sampling.temperature = 0;
    struct scheduler *scheduler = open_scheduler(5, JOBS);
    for (int i = 0; i < JOBS; i++) {
        fill_prompt(ids[i], 200, 100 + (uint64_t)i);
        clients[i].cancel_after = i % 3 == 1 ? 1 + (size_t)i : 0;
        options.tokens_max = 20 + 5 * (uint32_t)i;
        enum td_priority priority = i % 4 == 2 ? TD_PRIORITY_BATCH : TD_PRIORITY_INTERACTIVE;
        CHECK(submit_as(priority, scheduler, &clients[i], ids[i], 1 + 18 * (size_t)i, &options,
                        &err) == TD_OK);
    }
    run_until_done(clients, JOBS);
    for (int i = 0; i < JOBS; i++) {
        options.tokens_max = 20 + 5 * (uint32_t)i;
        if (!clients[i].gone)
            expect_text(ids[i], 1 + 18 * (size_t)i, &options, &clients[i].text);
        buf_deinit(&clients[i].text);
    }
    scheduler_free(scheduler);
    while (test_loop_run_one(&loop, 0))
        ;
}

static void test_a_faulty_job_fails_alone(void)
{
    int32_t ids[3][100];
    struct client clients[3] = {0};
    struct td_error err;
    struct td_generate_options options = plain_options(40);
    struct scheduler *scheduler = open_scheduler(3, 3);
    for (int i = 0; i < 3; i++)
        fill_prompt(ids[i], 100, 40 + (uint64_t)i);
    ids[1][90] = TINY_VOCAB;
    for (int i = 0; i < 3; i++)
        CHECK(submit(scheduler, &clients[i], ids[i], 100, &options, &err) == TD_OK);
    run_until_done(clients, 3);
    CHECK(clients[1].status == TD_INVALID && strstr(clients[1].message, "vocabulary"));
    for (int i = 0; i < 3; i += 2) {
        CHECK(clients[i].status == TD_OK);
        expect_text(ids[i], 100, &options, &clients[i].text);
    }
    for (int i = 0; i < 3; i++)
        buf_deinit(&clients[i].text);
    scheduler_free(scheduler);
}

/* One slot, held by a job whose loop takes nothing until all others wait. */
static void test_interactive_jobs_overtake_a_batch_job_but_not_for_ever(void)
{
    enum { LATER = PLAN_OVERTAKEN_MAX + 4 };
    int32_t ids[10];
    struct client holder = {0}, batch = {0}, later[LATER] = {0};
    struct td_error err;
    struct td_generate_options options = plain_options(100), brief = plain_options(1);
    struct scheduler *scheduler = open_scheduler(1, LATER + 1);
    fill_prompt(ids, 10, 2);
    CHECK(submit(scheduler, &holder, ids, 10, &options, &err) == TD_OK);
    while (scheduler_get_load(scheduler).running == 0)
        usleep(100);
    CHECK(submit_as(TD_PRIORITY_BATCH, scheduler, &batch, ids, 10, &brief, &err) == TD_OK);
    for (int i = 0; i < LATER; i++)
        CHECK(submit(scheduler, &later[i], ids, 10, &brief, &err) == TD_OK);
    run_until_done(later, LATER);
    run_until_done(&batch, 1);
    run_until_done(&holder, 1);
    for (int i = 0; i < LATER; i++)
        CHECK((later[i].first_order < batch.first_order) == (i < PLAN_OVERTAKEN_MAX));
    buf_deinit(&holder.text);
    buf_deinit(&batch.text);
    for (int i = 0; i < LATER; i++)
        buf_deinit(&later[i].text);
    scheduler_free(scheduler);
}

struct crowd {
    struct client clients[MIXED_JOBS];
    int32_t ids[64];
};

static bool submit_mixed(struct scheduler *scheduler, struct crowd *crowd, int i, struct rng *rng)
{
    struct td_error err;
    struct td_generate_options options = plain_options(1 + (uint32_t)rng_below(rng, 6));
    options.sampling.seed = (uint64_t)i;
    crowd->clients[i].cancel_after = rng_below(rng, 20) ? 0 : 1 + rng_below(rng, 3);
    enum td_priority priority = rng_below(rng, 3) ? TD_PRIORITY_INTERACTIVE : TD_PRIORITY_BATCH;
    size_t begin = rng_below(rng, 32), count = 1 + rng_below(rng, 32);
    return submit_as(priority, scheduler, &crowd->clients[i], crowd->ids + begin, count, &options,
                     &err) == TD_OK;
}

static void test_thousands_of_mixed_jobs_all_end(void)
{
    struct crowd *crowd = calloc(1, sizeof *crowd);
    struct rng rng;
    REQUIRE(crowd != NULL);
    struct scheduler *scheduler = open_scheduler(8, 56);
    fill_prompt(crowd->ids, 64, 3);
    rng_init(&rng, 3);
    int made = 0;
    for (int ended = 0; ended < MIXED_JOBS;) {
        for (; made < MIXED_JOBS && made < ended + 64; made++)
            if (!submit_mixed(scheduler, crowd, made, &rng)) /* the cancelled free places late */
                break;
        /* With nobody left to call back there is only the wait for places. */
        if (!test_loop_run_one(&loop, ended < made ? WAIT_MS : 1) && ended < made)
            break;
        while (ended < made && (crowd->clients[ended].done || crowd->clients[ended].gone))
            buf_deinit(&crowd->clients[ended++].text);
    }
    for (int i = 0; i < MIXED_JOBS; i++)
        CHECK(crowd->clients[i].gone ||
              (crowd->clients[i].done && crowd->clients[i].status == TD_OK &&
               crowd->clients[i].tokens > 0));
    struct scheduler_load load = scheduler_get_load(scheduler);
    CHECK(load.rows > load.passes); /* they did run together */
    scheduler_free(scheduler);
    while (test_loop_run_one(&loop, 0))
        ;
    free(crowd);
}

/* The job keeps its own hold of the grammar and its own copy of the biases. */
static void test_jobs_outlive_the_grammar_of_their_caller(void)
{
    struct scheduler *scheduler = open_scheduler(1, 1);
    struct client client = {0};
    struct td_error err = {0};
    static const int32_t ids[] = {1, 40};
    struct td_logit_bias *biases = calloc(1, sizeof *biases);
    REQUIRE(biases != NULL);
    biases[0] = (struct td_logit_bias){4 + 'q', 100};
    struct td_generate_options options = plain_options(40);
    options.sampling.biases = biases;
    options.sampling.bias_count = 1;
    CHECK(td_grammar_parse((struct td_str){"root ::= [pqr]{20}", 18}, &options.grammar, &err) ==
          TD_OK);
    CHECK(submit(scheduler, &client, ids, 2, &options, &err) == TD_OK);
    td_grammar_free(options.grammar);
    free(biases);
    run_until_done(&client, 1);
    CHECK(client.status == TD_OK && client.result.finish == TD_FINISH_STOP);
    CHECK(client.text.len == 20 && strspn(client.text.data, "q") == 20);
    buf_deinit(&client.text);
    scheduler_free(scheduler);
}

static void test_full_queue_is_an_answer(void)
{
    int32_t ids[10];
    struct client clients[4] = {0};
    struct td_error err;
    struct td_generate_options options = plain_options(200);
    struct scheduler *scheduler = open_scheduler(1, 2);
    fill_prompt(ids, 10, 1);
    for (int i = 0; i < 3; i++)
        CHECK(submit(scheduler, &clients[i], ids, 10, &options, &err) == TD_OK);
    CHECK(submit(scheduler, &clients[3], ids, 10, &options, &err) == TD_BUSY &&
          clients[3].job == NULL);
    CHECK(strstr(err.message, "3 requests"));
    struct scheduler_load load = scheduler_get_load(scheduler);
    CHECK(load.running + load.waiting == 3);
    /* A cancelled one makes room soon, also while it waits. */
    clients[2].gone = true;
    job_cancel(clients[2].job);
    enum td_status status = TD_BUSY;
    for (double until = clock_monotonic_ms(NULL) + WAIT_MS;
         status == TD_BUSY && clock_monotonic_ms(NULL) < until;) {
        buf_deinit(&clients[3].text);
        status = submit(scheduler, &clients[3], ids, 10, &options, &err);
        test_loop_run_one(&loop, 1);
    }
    CHECK(status == TD_OK);
    run_until_done(clients, 4);
    for (int i = 0; i < 4; i++)
        buf_deinit(&clients[i].text);
    load = scheduler_get_load(scheduler);
    scheduler_free(scheduler);
    CHECK(load.waiting == 0);
}

static void test_wrong_requests_are_refused(void)
{
    static int32_t many[TINY_CONTEXT + 1];
    struct client client = {0};
    struct td_error err;
    struct td_generate_options options = plain_options(5);
    struct scheduler *scheduler = open_scheduler(1, 1);
    CHECK(submit(scheduler, &client, many, TINY_CONTEXT + 1, &options, &err) == TD_LIMIT);
    CHECK(submit(scheduler, &client, many, 0, &options, &err) == TD_INVALID);
    /* Found only when the job starts: told by on_done. */
    options.sampling.temperature = -1;
    CHECK(submit(scheduler, &client, many, 5, &options, &err) == TD_OK);
    run_until_done(&client, 1);
    CHECK(client.status == TD_INVALID && strstr(client.message, "temperature"));
    many[0] = TINY_VOCAB;
    struct client second = {0};
    options = plain_options(5);
    CHECK(submit(scheduler, &second, many, 5, &options, &err) == TD_OK);
    run_until_done(&second, 1);
    CHECK(second.status == TD_INVALID && strstr(second.message, "vocabulary"));
    buf_deinit(&client.text);
    buf_deinit(&second.text);
    scheduler_free(scheduler);
}

/* A loop that does not run: the job fills its ring and waits; then everything comes, in order. */
static void test_slow_loop_gets_everything_in_the_end(void)
{
    int32_t ids[10];
    struct client client = {0};
    struct td_error err;
    struct td_generate_options options = plain_options(200);
    struct scheduler *scheduler = open_scheduler(1, 1);
    fill_prompt(ids, 10, 3);
    CHECK(submit(scheduler, &client, ids, 10, &options, &err) == TD_OK);
    usleep(100000);
    CHECK(scheduler_get_load(scheduler).completion_tokens < 40);
    run_until_done(&client, 1);
    CHECK(client.tokens == 200);
    expect_text(ids, 10, &options, &client.text);
    buf_deinit(&client.text);
    scheduler_free(scheduler);
}

/* A loop whose queue is full refuses posts: they are tried again, nothing is lost. */
static void test_refused_posts_are_repeated(void)
{
    int32_t ids[10];
    struct client clients[3] = {0};
    struct td_error err;
    struct td_generate_options options = plain_options(60);
    struct scheduler *scheduler = open_scheduler(3, 1);
    fill_prompt(ids, 10, 4);
    test_loop_set_capacity(&loop, 0);
    for (int i = 0; i < 3; i++)
        CHECK(submit(scheduler, &clients[i], ids, 10, &options, &err) == TD_OK);
    usleep(50000);
    test_loop_set_capacity(&loop, 1);
    run_until_done(clients, 3);
    CHECK(loop.refused > 0);
    for (int i = 0; i < 3; i++) {
        CHECK(clients[i].tokens == 60);
        expect_text(ids, 10, &options, &clients[i].text);
        buf_deinit(&clients[i].text);
    }
    test_loop_set_capacity(&loop, TEST_LOOP_POSTS);
    scheduler_free(scheduler);
}

/* The loop may deliver between the scheduler's job_end and its job_post: the end is in that delivery, and
 * there must be no second one. */
static void test_an_end_that_was_delivered_is_not_posted_again(void)
{
    static const int32_t ids[] = {1};
    struct client client = {0};
    struct td_error err = {0};
    struct job_request request = {.ids = ids,
                                  .id_count = 1,
                                  .loop = &loop.loop,
                                  .on_token = on_token,
                                  .on_done = on_done,
                                  .ctx = &client};
    const struct generation_event token = {.kind = GENERATION_TOKEN};
    const struct td_generate_result result = {.completion_tokens = 1};
    struct wake *wake = wake_new();
    buf_init(&client.text, 1 << 10);
    REQUIRE(wake && job_new(&request, wake, &client.job, &err) == TD_OK);
    CHECK(job_add_event(client.job, &token, &err) == TD_OK && job_post(client.job));
    job_end(client.job, TD_OK, &result, &err);
    CHECK(test_loop_run_one(&loop, 0) && client.done);
    CHECK(job_post(client.job) && !test_loop_run_one(&loop, 0));
    job_release(client.job); /* the scheduler's */
    wake_release(wake);
    buf_deinit(&client.text);
}

static void test_cancel_from_inside_the_callbacks(void)
{
    int32_t ids[10];
    struct client clients[2] = {{.cancel_after = 3}, {.cancel_in_done = true}};
    struct td_error err;
    struct td_generate_options options = plain_options(30);
    struct scheduler *scheduler = open_scheduler(2, 1);
    fill_prompt(ids, 10, 6);
    CHECK(submit(scheduler, &clients[0], ids, 10, &options, &err) == TD_OK);
    CHECK(submit(scheduler, &clients[1], ids, 10, &options, &err) == TD_OK);
    run_until_done(clients, 2);
    CHECK(clients[0].tokens == 3 && !clients[0].done && clients[1].done);
    while (test_loop_run_one(&loop, 50)) /* late posts find nobody */
        ;
    buf_deinit(&clients[0].text);
    buf_deinit(&clients[1].text);
    scheduler_free(scheduler);
}

static void test_cancel_races_with_everything(void)
{
    enum { ROUNDS = 150 };
    int32_t ids[400];
    struct rng rng;
    struct scheduler *scheduler = open_scheduler(2, 4);
    fill_prompt(ids, 400, 8);
    rng_init(&rng, 1);
    for (int round = 0; round < ROUNDS; round++) {
        struct client clients[3] = {0};
        struct td_error err;
        struct td_generate_options options = plain_options(50);
        for (int i = 0; i < 3; i++)
            CHECK(submit(scheduler, &clients[i], ids, 1 + rng_below(&rng, 399), &options, &err) ==
                  TD_OK);
        uint64_t posts = rng_below(&rng, 6);
        for (uint64_t i = 0; i < posts; i++)
            test_loop_run_one(&loop, 1);
        if (rng_below(&rng, 2))
            usleep((useconds_t)rng_below(&rng, 2000));
        for (int i = 0; i < 3; i++)
            if (!clients[i].done) {
                clients[i].gone = true;
                job_cancel(clients[i].job);
            }
        for (double until = clock_monotonic_ms(NULL) + WAIT_MS; clock_monotonic_ms(NULL) < until;) {
            struct scheduler_load load = scheduler_get_load(scheduler);
            if (load.running + load.waiting == 0)
                break;
            test_loop_run_one(&loop, 1);
        }
        while (test_loop_run_one(&loop, 0))
            ;
        for (int i = 0; i < 3; i++)
            buf_deinit(&clients[i].text);
    }
    struct scheduler_load load = scheduler_get_load(scheduler);
    CHECK(load.running == 0 && load.waiting == 0);
    scheduler_free(scheduler);
}

static void test_cancel_stops_the_work_soon(void)
{
    int32_t ids[10];
    struct client client = {.cancel_after = 2};
    struct td_error err;
    struct td_generate_options options = plain_options(0);
    struct scheduler *scheduler = open_scheduler(1, 1);
    fill_prompt(ids, 10, 6);
    CHECK(submit(scheduler, &client, ids, 10, &options, &err) == TD_OK);
    run_until_done(&client, 1);
    double begin = clock_monotonic_ms(NULL);
    while (scheduler_get_load(scheduler).running && clock_monotonic_ms(NULL) - begin < WAIT_MS)
        usleep(100);
    CHECK(clock_monotonic_ms(NULL) - begin < 2000);
    CHECK(scheduler_get_load(scheduler).completion_tokens < 80);
    buf_deinit(&client.text);
    scheduler_free(scheduler);
    while (test_loop_run_one(&loop, 0))
        ;
}

static void test_shutting_down_ends_every_job(void)
{
    int32_t ids[10];
    struct client clients[4] = {0};
    struct td_error err;
    struct td_generate_options options = plain_options(0);
    struct scheduler *scheduler = open_scheduler(2, 4);
    fill_prompt(ids, 10, 6);
    for (int i = 0; i < 4; i++)
        CHECK(submit(scheduler, &clients[i], ids, 10, &options, &err) == TD_OK);
    test_loop_run_one(&loop, WAIT_MS);
    scheduler_free(scheduler);
    run_until_done(clients, 4); /* told after the scheduler is gone */
    for (int i = 0; i < 4; i++) {
        CHECK(clients[i].status == TD_CANCELLED);
        buf_deinit(&clients[i].text);
    }
}

static void test_jobs_can_be_cancelled_after_shutting_down(void)
{
    int32_t ids[10];
    struct client client = {0};
    struct td_error err;
    struct td_generate_options options = plain_options(0);
    struct scheduler *scheduler = open_scheduler(1, 4);
    fill_prompt(ids, 10, 6);
    CHECK(submit(scheduler, &client, ids, 10, &options, &err) == TD_OK);
    scheduler_free(scheduler);
    client.gone = true;
    job_cancel(client.job);
    while (test_loop_run_one(&loop, 0))
        ;
    buf_deinit(&client.text);
}

static void test_bad_schedulers_are_refused(void)
{
    struct scheduler *scheduler;
    struct td_error err = {0};
    struct scheduler_options options = {.model = model, .slot_count = 0};
    CHECK(scheduler_new(&options, &scheduler, &err) == TD_INVALID && scheduler == NULL);
    options =
        (struct scheduler_options){.model = model, .slot_count = 1, .context_tokens = 1 << 20};
    err = (struct td_error){0};
    CHECK(scheduler_new(&options, &scheduler, &err) == TD_INVALID && scheduler == NULL);
    scheduler_free(NULL);
}

int main(void)
{
    model = tiny_model(1);
    if (model == NULL)
        return 1;
    test_loop_init(&loop);
    RUN(test_interleaved_jobs_give_the_answers_of_lone_ones);
    RUN(test_second_turn_reuses_the_cache_and_says_the_same);
    RUN(test_long_prompt_does_not_stall_a_running_stream);
    RUN(test_prompts_that_come_together_get_their_first_tokens_one_after_another);
    RUN(test_greedy_answers_do_not_depend_on_company_that_comes_and_goes);
    RUN(test_a_faulty_job_fails_alone);
    RUN(test_interactive_jobs_overtake_a_batch_job_but_not_for_ever);
    RUN(test_thousands_of_mixed_jobs_all_end);
    RUN(test_jobs_outlive_the_grammar_of_their_caller);
    RUN(test_full_queue_is_an_answer);
    RUN(test_wrong_requests_are_refused);
    RUN(test_slow_loop_gets_everything_in_the_end);
    RUN(test_refused_posts_are_repeated);
    RUN(test_an_end_that_was_delivered_is_not_posted_again);
    RUN(test_cancel_from_inside_the_callbacks);
    RUN(test_cancel_races_with_everything);
    RUN(test_cancel_stops_the_work_soon);
    RUN(test_shutting_down_ends_every_job);
    RUN(test_jobs_can_be_cancelled_after_shutting_down);
    RUN(test_bad_schedulers_are_refused);
    test_loop_deinit(&loop);
    td_model_close(model);
    return test_finish();
}
