/* What a new job would meet: the wait grows with what is queued, jobs that leave take their work
 * along, and batch work does not count against those who overtake it. */
#include "scheduler_client.h"

enum { QUEUED = 12 };

static double wait_of(struct scheduler *scheduler, enum td_priority priority, uint32_t coming)
{
    struct scheduler_forecast forecast;
    scheduler_forecast(scheduler, priority, coming, 100, &forecast);
    CHECK(forecast.token_ms > 0 && forecast.prompt_row_ms > 0);
    CHECK(forecast.answer_most >= forecast.answer_mean && forecast.answer_mean >= 0);
    return forecast.wait_ms;
}

static double interactive_wait(struct scheduler *scheduler)
{
    return wait_of(scheduler, TD_PRIORITY_INTERACTIVE, 0);
}

/* Posts of ended jobs may come a moment after their last event. */
static void wait_for_rest(struct scheduler *scheduler)
{
    double until = clock_monotonic_ms(NULL) + WAIT_MS;
    while ((scheduler_get_load(scheduler).running || scheduler_get_load(scheduler).waiting) &&
           clock_monotonic_ms(NULL) < until)
        test_loop_run_one(&loop, 5);
}

static void test_a_queue_is_a_wait_and_its_end_is_none(void)
{
    int32_t ids[100];
    struct client clients[QUEUED] = {0};
    struct td_error err;
    struct td_generate_options options = plain_options(40);
    struct scheduler *scheduler = open_scheduler(1, QUEUED);
    CHECK(interactive_wait(scheduler) <= 0);
    double before = 0;
    for (int i = 0; i < QUEUED; i++) {
        fill_prompt(ids, 100, (uint64_t)i);
        CHECK(submit(scheduler, &clients[i], ids, 100, &options, &err) == TD_OK);
    }
    before = interactive_wait(scheduler);
    CHECK(before > 0);
    CHECK(wait_of(scheduler, TD_PRIORITY_INTERACTIVE, 5) > before);
    run_until_done(clients, QUEUED);
    wait_for_rest(scheduler);
    CHECK(interactive_wait(scheduler) <= 0);
    struct scheduler_forecast forecast;
    scheduler_forecast(scheduler, TD_PRIORITY_INTERACTIVE, 0, 100, &forecast);
    CHECK(forecast.answer_mean >= 39 && forecast.answer_mean <= 41);
    for (int i = 0; i < QUEUED; i++)
        buf_deinit(&clients[i].text);
    scheduler_free(scheduler);
}

static void test_cancelled_jobs_take_their_work_along(void)
{
    int32_t ids[100];
    struct client clients[QUEUED] = {0};
    struct td_error err;
    struct td_generate_options options = plain_options(200);
    struct scheduler *scheduler = open_scheduler(2, QUEUED);
    for (int i = 0; i < QUEUED; i++) {
        fill_prompt(ids, 100, (uint64_t)i);
        CHECK(submit(scheduler, &clients[i], ids, 100, &options, &err) == TD_OK);
    }
    for (int i = 0; i < QUEUED; i++)
        if (!clients[i].done) {
            clients[i].gone = true;
            job_cancel(clients[i].job);
        }
    wait_for_rest(scheduler);
    CHECK(interactive_wait(scheduler) <= 0);
    CHECK(wait_of(scheduler, TD_PRIORITY_BATCH, 0) <= 0);
    for (int i = 0; i < QUEUED; i++)
        buf_deinit(&clients[i].text);
    scheduler_free(scheduler);
}

static void test_waiting_batch_work_is_overtaken(void)
{
    int32_t ids[100];
    struct client clients[QUEUED] = {0};
    struct td_error err;
    struct td_generate_options options = plain_options(40);
    struct scheduler *scheduler = open_scheduler(4, QUEUED);
    for (int i = 0; i < QUEUED; i++) {
        fill_prompt(ids, 100, (uint64_t)i);
        CHECK(submit_as(TD_PRIORITY_BATCH, scheduler, &clients[i], ids, 100, &options, &err) ==
              TD_OK);
    }
    CHECK(interactive_wait(scheduler) < wait_of(scheduler, TD_PRIORITY_BATCH, 0));
    run_until_done(clients, QUEUED);
    wait_for_rest(scheduler);
    CHECK(wait_of(scheduler, TD_PRIORITY_BATCH, 0) <= 0);
    for (int i = 0; i < QUEUED; i++)
        buf_deinit(&clients[i].text);
    scheduler_free(scheduler);
}

static void test_spare_work_counts_for_nothing(void)
{
    int32_t ids[100];
    struct client client = {0};
    struct td_error err;
    struct td_generate_options options = plain_options(200);
    struct scheduler *scheduler = open_scheduler(1, 2);
    fill_prompt(ids, 100, 1);
    CHECK(submit_as(TD_PRIORITY_SPARE, scheduler, &client, ids, 100, &options, &err) == TD_OK);
    CHECK(interactive_wait(scheduler) <= 0);
    run_until_done(&client, 1);
    wait_for_rest(scheduler);
    CHECK(interactive_wait(scheduler) <= 0);
    buf_deinit(&client.text);
    scheduler_free(scheduler);
}

int main(void)
{
    model = tiny_model(1);
    if (model == NULL)
        return 1;
    test_loop_init(&loop);
    RUN(test_a_queue_is_a_wait_and_its_end_is_none);
    RUN(test_cancelled_jobs_take_their_work_along);
    RUN(test_waiting_batch_work_is_overtaken);
    RUN(test_spare_work_counts_for_nothing);
    test_loop_deinit(&loop);
    td_model_close(model);
    return test_finish();
}
