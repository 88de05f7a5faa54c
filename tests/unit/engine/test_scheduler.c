/* The scheduler: answers equal td_generate's, fairness, full queues, slow loops, cancelling at any
 * moment. Meant to run under TSan and ASan as well. */
#include "scheduler_client.h"

#include "base/crypto/rng.h"
#include "base/time/clock.h"
#include "engine/session/job.h"

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

/* It may use the pages of earlier jobs, but leaves none to later ones. */
static void test_a_job_that_keeps_nothing_leaves_nothing_and_others_keep_theirs(void)
{
    int32_t ids[200];
    struct client clients[4] = {0};
    struct td_error err;
    struct td_generate_options options = plain_options(10);
    struct scheduler *scheduler = open_scheduler(1, 4);
    const uint32_t wanted_cached[] = {0, 149, 149, 0};
    for (size_t i = 0; i < 4; i++) {
        if (i == 0 || i == 3)
            fill_prompt(ids, 200, i == 0 ? 77 : 78);
        struct job_request request = {.ids = ids,
                                      .id_count = 150,
                                      .options = options,
                                      .keep_nothing = i == 1 || i == 3,
                                      .loop = &loop.loop,
                                      .on_token = on_token,
                                      .on_done = on_done,
                                      .ctx = &clients[i]};
        buf_init(&clients[i].text, 1 << 20);
        REQUIRE(scheduler_submit(scheduler, &request, &clients[i].job, &err) == TD_OK);
        run_until_done(&clients[i], 1);
        CHECK(clients[i].result.cached_tokens == wanted_cached[i]);
    }
    struct client again = {0};
    CHECK(submit(scheduler, &again, ids, 150, &options, &err) == TD_OK);
    run_until_done(&again, 1);
    CHECK(again.result.cached_tokens == 0);
    CHECK(str_equal(buf_view(&again.text), buf_view(&clients[3].text)));
    buf_deinit(&again.text);
    for (size_t i = 0; i < 4; i++)
        buf_deinit(&clients[i].text);
    scheduler_free(scheduler);
}

/* Fewer threads and pages make answers later, and no other ones. */
static void test_an_eased_scheduler_gives_the_same_answers_and_sleeps(void)
{
    enum { JOBS = 5 };
    struct client clients[JOBS] = {0};
    int32_t ids[150];
    struct td_error err;
    struct td_generate_options options = plain_options(20);
    struct scheduler *scheduler = open_scheduler(3, 8);
    const struct scheduler_ease least = {0.01, 0.01, 0.5, true}, usual = {1, 1, 1, false};
    scheduler_set_ease(scheduler, &least);
    fill_prompt(ids, 150, 5);
    for (int i = 0; i < JOBS; i++)
        CHECK(submit(scheduler, &clients[i], ids, 100, &options, &err) == TD_OK);
    run_until_done(clients, JOBS);
    for (int i = 0; i < JOBS; i++) {
        CHECK(clients[i].status == TD_OK && clients[i].tokens == 20);
        expect_text(ids, 100, &options, &clients[i].text);
        buf_deinit(&clients[i].text);
    }
    for (int i = 0; i < 60000 && scheduler_get_load(scheduler).loaded; i++)
        usleep(1000);
    CHECK(!scheduler_get_load(scheduler).loaded); /* nobody needs it: its memory is given back */
    scheduler_set_ease(scheduler, &usual);
    struct client again = {0};
    CHECK(submit(scheduler, &again, ids, 100, &options, &err) == TD_OK);
    run_until_done(&again, 1);
    expect_text(ids, 100, &options, &again.text);
    CHECK(scheduler_get_load(scheduler).loaded && scheduler_get_load(scheduler).pass_us > 0);
    buf_deinit(&again.text);
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

/* The job has its own reference to the grammar and its own copy of the biases. */
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
    /* A cancelled job frees its place soon, also while it waits. */
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
    /* An error that is found only when the job starts: on_done reports it. */
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
    for (int i = 0; i < WAIT_MS && test_loop_refused(&loop) == 0; i++)
        usleep(1000);
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

/* The loop may deliver between the scheduler's job_end and its job_post: the end is in that
 * delivery, and there must be no second one. */
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
    CHECK(!scheduler_get_load(scheduler).running);
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

static struct scheduler *open_sleeper(uint32_t idle_ms)
{
    struct scheduler *scheduler = NULL;
    const struct scheduler_options options = {.model = model,
                                              .slot_count = 2,
                                              .queue_capacity = 8,
                                              .thread_count = 2,
                                              .idle_ms = idle_ms};
    CHECK(scheduler_new(&options, &scheduler, NULL) == TD_OK);
    return scheduler;
}

static void test_memory_is_taken_with_the_first_job_and_given_back_when_idle(void)
{
    int32_t ids[50];
    struct td_error err;
    struct td_generate_options options = plain_options(10);
    struct scheduler *scheduler = open_sleeper(20);
    fill_prompt(ids, 50, 3);
    CHECK(!scheduler_get_load(scheduler).loaded && scheduler_get_load(scheduler).loads == 0);
    scheduler_forget(scheduler, NULL); /* there is nothing */
    for (uint64_t turn = 1; turn <= 3; turn++) {
        struct client client = {0};
        CHECK(submit(scheduler, &client, ids, 50, &options, &err) == TD_OK);
        run_until_done(&client, 1);
        CHECK(client.status == TD_OK && client.result.cached_tokens == 0);
        expect_text(ids, 50, &options, &client.text);
        buf_deinit(&client.text);
        struct scheduler_load load = scheduler_get_load(scheduler);
        CHECK(load.loads == turn && load.load_ms > 0);
        double begin = clock_monotonic_ms(NULL);
        while (scheduler_get_load(scheduler).loaded && clock_monotonic_ms(NULL) - begin < WAIT_MS)
            usleep(1000);
        load = scheduler_get_load(scheduler);
        CHECK(!load.loaded && load.page_count == 0 && load.pages_used == 0);
    }
    scheduler_free(scheduler);
}

/* The shortest idle time there is, and jobs that come, go and are cancelled around it. */
static void test_jobs_that_come_while_it_falls_asleep_are_answered(void)
{
    int32_t ids[20];
    struct td_error err;
    struct rng rng;
    struct td_generate_options options = plain_options(3);
    struct scheduler *scheduler = open_sleeper(1);
    rng_init(&rng, 8);
    fill_prompt(ids, 20, 4);
    for (int turn = 0; turn < 150; turn++) {
        struct client clients[2] = {0};
        usleep((unsigned)rng_below(&rng, 3000));
        for (int i = 0; i < 2; i++)
            CHECK(submit(scheduler, &clients[i], ids, 20, &options, &err) == TD_OK);
        if (turn % 3 == 0) {
            job_cancel(clients[1].job);
            run_until_done(clients, 1);
        } else {
            run_until_done(clients, 2);
            CHECK(clients[1].status == TD_OK && clients[1].tokens == 3);
        }
        CHECK(clients[0].status == TD_OK && clients[0].tokens == 3);
        for (int i = 0; i < 2; i++)
            buf_deinit(&clients[i].text);
    }
    scheduler_free(scheduler);
}

int main(void)
{
    model = tiny_model(1);
    if (model == NULL)
        return 1;
    test_loop_init(&loop);
    RUN(test_interleaved_jobs_give_the_answers_of_lone_ones);
    RUN(test_second_turn_reuses_the_cache_and_says_the_same);
    RUN(test_a_job_that_keeps_nothing_leaves_nothing_and_others_keep_theirs);
    RUN(test_an_eased_scheduler_gives_the_same_answers_and_sleeps);
    RUN(test_long_prompt_does_not_stall_a_running_stream);
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
    RUN(test_memory_is_taken_with_the_first_job_and_given_back_when_idle);
    RUN(test_jobs_that_come_while_it_falls_asleep_are_answered);
    RUN(test_bad_schedulers_are_refused);
    test_loop_deinit(&loop);
    td_model_close(model);
    return test_finish();
}
