/* Many jobs at once: when each gets its first token, that other jobs do not change an answer, and
 * which job waits for which. */
#include "scheduler_client.h"

#include "base/crypto/rng.h"
#include "engine/forward/batch_plan.h"

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

/* Texts of a few tokens, so that there is something to guess; some end at a stop string within a
 * run of guesses, some are cancelled. */
static void test_speculating_streams_write_what_they_would_alone(void)
{
    enum { JOBS = 10 };
    static const struct td_logit_bias few[] = {{70, 60}, {80, 60}, {90, 60}};
    int32_t ids[JOBS][80];
    struct client clients[JOBS] = {0};
    struct td_error err = {0};
    struct td_generate_options options = plain_options(150);
    struct td_str stop = STR("BLVB"); /* bytes of the tokens 70, 80, 90 are B, L, V */
    struct scheduler *scheduler = NULL;
    const struct scheduler_options open = {.model = model,
                                           .slot_count = 4,
                                           .queue_capacity = JOBS,
                                           .thread_count = 2,
                                           .speculation = TD_SPECULATION_NGRAM};
    REQUIRE(scheduler_new(&open, &scheduler, &err) == TD_OK);
    options.sampling.biases = few;
    options.sampling.bias_count = 3;
    options.stops = &stop;
    uint32_t drafted = 0, accepted = 0;
    for (int i = 0; i < JOBS; i++) {
        fill_prompt(ids[i], 80, 300 + (uint64_t)i);
        clients[i].cancel_after = i == 3 ? 40 : 0;
        options.stop_count = i % 2;
        CHECK(submit(scheduler, &clients[i], ids[i], 80, &options, &err) == TD_OK);
    }
    run_until_done(clients, JOBS);
    for (int i = 0; i < JOBS; i++) {
        options.stop_count = i % 2;
        if (!clients[i].gone)
            expect_text(ids[i], 80, &options, &clients[i].text);
        drafted += clients[i].result.drafted_tokens;
        accepted += clients[i].result.accepted_tokens;
        buf_deinit(&clients[i].text);
    }
    CHECK(drafted > 0 && accepted <= drafted);
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

/* Spare jobs are counted separately: as many as slots, and never in the place of others. */
static void test_spare_work_takes_no_place_in_the_queue(void)
{
    enum { PLACES = 3, SPARES = 2 };
    int32_t ids[10];
    struct client spare[SPARES + 1] = {0}, wanted[PLACES + 1] = {0};
    struct td_error err;
    struct td_generate_options options = plain_options(60);
    struct scheduler *scheduler = open_scheduler(2, PLACES - 2);
    fill_prompt(ids, 10, 4);
    for (int i = 0; i < SPARES; i++)
        CHECK(submit_as(TD_PRIORITY_SPARE, scheduler, &spare[i], ids, 10, &options, &err) == TD_OK);
    CHECK(submit_as(TD_PRIORITY_SPARE, scheduler, &spare[SPARES], ids, 10, &options, &err) ==
          TD_BUSY);
    for (int i = 0; i < PLACES; i++)
        CHECK(submit(scheduler, &wanted[i], ids, 10, &options, &err) == TD_OK);
    CHECK(submit(scheduler, &wanted[PLACES], ids, 10, &options, &err) == TD_BUSY);
    run_until_done(wanted, PLACES);
    run_until_done(spare, SPARES);
    for (int i = 0; i < PLACES; i++)
        CHECK(wanted[i].status == TD_OK && wanted[i].tokens == 60);
    for (int i = 0; i <= PLACES; i++)
        buf_deinit(&wanted[i].text);
    for (int i = 0; i <= SPARES; i++)
        buf_deinit(&spare[i].text);
    scheduler_free(scheduler);
}

/* One slot; loops that take nothing make what runs stay. */
static void test_spare_work_gives_its_place_up_and_waits_for_none(void)
{
    int32_t ids[10];
    struct client spare = {0}, late = {0}, wanted = {0}, alone = {0};
    struct td_error err;
    struct td_generate_options options = plain_options(100), brief = plain_options(4);
    struct scheduler *scheduler = open_scheduler(1, 4);
    fill_prompt(ids, 10, 3);
    CHECK(submit_as(TD_PRIORITY_SPARE, scheduler, &spare, ids, 10, &options, &err) == TD_OK);
    while (scheduler_get_load(scheduler).running == 0)
        usleep(100);
    CHECK(submit(scheduler, &wanted, ids, 10, &options, &err) == TD_OK);
    run_until_done(&spare, 1);
    CHECK(spare.status == TD_BUSY && strstr(spare.message, "needed"));
    while (submit_as(TD_PRIORITY_SPARE, scheduler, &late, ids, 10, &brief, &err) == TD_BUSY)
        usleep(100); /* the place of the one before is given back after its end was told */
    run_until_done(&late, 1);
    CHECK(late.status == TD_BUSY && late.tokens == 0 && !wanted.done);
    CHECK(scheduler_get_load(scheduler).running == 1);
    run_until_done(&wanted, 1);
    CHECK(wanted.status == TD_OK && wanted.tokens == 100);
    while (submit_as(TD_PRIORITY_SPARE, scheduler, &alone, ids, 10, &brief, &err) == TD_BUSY)
        usleep(100);
    run_until_done(&alone, 1);
    CHECK(alone.status == TD_OK && alone.tokens == 4);
    expect_text(ids, 10, &brief, &alone.text);
    struct client *all[] = {&spare, &late, &wanted, &alone};
    for (int i = 0; i < 4; i++)
        buf_deinit(&all[i]->text);
    scheduler_free(scheduler);
}

/* Eight pages, four slots; a job may come to hold four pages. */
static void test_jobs_wait_for_pages_and_never_run_out_of_them(void)
{
    enum { JOBS = 9 };
    int32_t ids[JOBS][150];
    struct client clients[JOBS] = {0};
    struct td_error err = {0};
    struct td_generate_options options = plain_options(90);
    struct scheduler *scheduler = NULL;
    struct scheduler_options small = {.model = model,
                                      .slot_count = 4,
                                      .queue_capacity = JOBS,
                                      .cache_tokens = 512,
                                      .thread_count = 1};
    REQUIRE(scheduler_new(&small, &scheduler, &err) == TD_OK);
    uint32_t running_max = 0;
    for (int i = 0; i < JOBS; i++) {
        fill_prompt(ids[i], 150, 60 + (uint64_t)i);
        CHECK(submit(scheduler, &clients[i], ids[i], 150, &options, &err) == TD_OK);
    }
    for (int i = 0; i < JOBS; i++)
        while (!clients[i].done && test_loop_run_one(&loop, WAIT_MS)) {
            struct scheduler_load load = scheduler_get_load(scheduler);
            running_max = load.running > running_max ? load.running : running_max;
            CHECK(load.pages_used <= load.page_count && load.page_count == 8);
        }
    CHECK(running_max == 2);
    for (int i = 0; i < JOBS; i++) {
        CHECK(clients[i].status == TD_OK && clients[i].tokens == 90);
        expect_text(ids[i], 150, &options, &clients[i].text);
        buf_deinit(&clients[i].text);
    }
    scheduler_free(scheduler);
    small.cache_tokens = 511;
    CHECK(scheduler_new(&small, &scheduler, &err) == TD_INVALID && strstr(err.message, "511"));
}

/* Prompt and answer together end before, at and after the end of a page: there are never more jobs
 * in work than the pages are enough for to their last token. */
static void test_jobs_in_work_have_pages_for_their_last_token(void)
{
    enum { JOBS = 8, PAGES = 8, ANSWER = 24 };
    static const uint32_t ends[] = {63, 64, 65, 127, 128, 129, 191, 192, 193, 255, 256};
    for (size_t e = 0; e < sizeof ends / sizeof *ends; e++) {
        int32_t ids[JOBS][256];
        struct client clients[JOBS] = {0};
        struct td_error err = {0};
        struct td_generate_options options = plain_options(ANSWER);
        struct scheduler *scheduler = NULL;
        struct scheduler_options small = {.model = model,
                                          .slot_count = JOBS,
                                          .queue_capacity = JOBS,
                                          .cache_tokens = PAGES * KV_PAGE_TOKENS,
                                          .thread_count = 1};
        REQUIRE(scheduler_new(&small, &scheduler, &err) == TD_OK);
        uint32_t fit = PAGES / ((ends[e] + KV_PAGE_TOKENS - 1) / KV_PAGE_TOKENS), most = 0;
        for (int i = 0; i < JOBS; i++) {
            fill_prompt(ids[i], ends[e] - ANSWER, 60 + (uint64_t)i);
            CHECK(submit(scheduler, &clients[i], ids[i], ends[e] - ANSWER, &options, &err) ==
                  TD_OK);
        }
        for (int i = 0; i < JOBS; i++)
            while (!clients[i].done && test_loop_run_one(&loop, WAIT_MS)) {
                struct scheduler_load load = scheduler_get_load(scheduler);
                most = load.running > most ? load.running : most;
            }
        if (most > fit)
            fprintf(stderr, "%u tokens: %u jobs at once, there are pages for %u\n", ends[e], most,
                    fit);
        CHECK(most <= fit);
        for (int i = 0; i < JOBS; i++) {
            CHECK(clients[i].status == TD_OK && clients[i].tokens == ANSWER);
            buf_deinit(&clients[i].text);
        }
        scheduler_free(scheduler);
    }
}

struct crowd {
    struct client clients[MIXED_JOBS];
    bool spare[MIXED_JOBS];
    int32_t ids[64];
};

static bool submit_mixed(struct scheduler *scheduler, struct crowd *crowd, int i, struct rng *rng)
{
    struct td_error err;
    struct td_generate_options options = plain_options(1 + (uint32_t)rng_below(rng, 6));
    options.sampling.seed = (uint64_t)i;
    crowd->clients[i].cancel_after = rng_below(rng, 20) ? 0 : 1 + rng_below(rng, 3);
    static const enum td_priority priorities[] = {TD_PRIORITY_INTERACTIVE, TD_PRIORITY_INTERACTIVE,
                                                  TD_PRIORITY_BATCH, TD_PRIORITY_SPARE};
    enum td_priority priority = priorities[rng_below(rng, 4)];
    crowd->spare[i] = priority == TD_PRIORITY_SPARE;
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
               crowd->clients[i].tokens > 0) ||
              (crowd->spare[i] && crowd->clients[i].status == TD_BUSY));
    struct scheduler_load load = scheduler_get_load(scheduler);
    CHECK(load.rows > load.passes); /* they did run together */
    scheduler_free(scheduler);
    while (test_loop_run_one(&loop, 0))
        ;
    free(crowd);
}

int main(void)
{
    model = tiny_model(1);
    if (model == NULL)
        return 1;
    test_loop_init(&loop);
    RUN(test_prompts_that_come_together_get_their_first_tokens_one_after_another);
    RUN(test_greedy_answers_do_not_depend_on_company_that_comes_and_goes);
    RUN(test_speculating_streams_write_what_they_would_alone);
    RUN(test_a_faulty_job_fails_alone);
    RUN(test_interactive_jobs_overtake_a_batch_job_but_not_for_ever);
    RUN(test_spare_work_takes_no_place_in_the_queue);
    RUN(test_spare_work_gives_its_place_up_and_waits_for_none);
    RUN(test_jobs_wait_for_pages_and_never_run_out_of_them);
    RUN(test_jobs_in_work_have_pages_for_their_last_token);
    RUN(test_thousands_of_mixed_jobs_all_end);
    test_loop_deinit(&loop);
    td_model_close(model);
    return test_finish();
}
