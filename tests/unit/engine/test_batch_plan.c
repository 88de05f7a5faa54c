/* The scheduler's decisions, without a model: who gets rows, who waits how long. */
#include "engine/forward/batch_plan.h"

#include "base/crypto/rng.h"
#include "test.h"

#include <stdlib.h>
#include <string.h>

#define ROWS 128

static const struct plan_limits limits = {.row_max = ROWS, .row_unit = 1};

static struct plan_entry stream(enum td_priority priority, uint64_t order)
{
    return (struct plan_entry){.priority = priority, .streams = true, .due = 1, .order = order};
}

static struct plan_entry prompt(enum td_priority priority, uint64_t order, uint32_t due)
{
    return (struct plan_entry){.priority = priority, .due = due, .order = order};
}

/* Weights cost 4 ms, a row 1 ms. */
static struct pace known_pace(void)
{
    struct pace pace = {0};
    for (int i = 0; i < 50; i++) {
        for (uint32_t streams = 1; streams <= 16; streams += 3)
            pace_note(&pace, streams, 0, 4 + streams);
        pace_note(&pace, 0, 128, 132);
        pace_note(&pace, 8, 12, 24);
    }
    return pace;
}

static bool is_about(uint32_t value, uint32_t wanted)
{
    return value + 1 >= wanted && value <= wanted + 1;
}

static void test_a_pass_with_prompts_takes_less_than_twice_as_long_as_all_jobs_streaming(void)
{
    struct pace pace = known_pace();
    CHECK(is_about(pace_prompt_rows(&pace, 8, 9), 11)); /* 4 + 8 + 11 < 2 * (4 + 9) */
    CHECK(is_about(pace_prompt_rows(&pace, 12, 12), 12));
    CHECK(is_about(pace_prompt_rows(&pace, 1, 1), 6));
    CHECK(is_about(pace_prompt_rows(&pace, 1, 8), 16)); /* seven more will stream soon */
    CHECK(is_about(pace_prompt_rows(&pace, 1, 2), 6));  /* two streams were never seen */
    CHECK(pace_prompt_rows(&pace, 40, 200) >= 6);
}

static void test_prompts_follow_what_passes_turn_out_to_cost(void)
{
    struct pace pace = known_pace();
    for (int i = 0; i < 30; i++) /* deep in a long prompt a row costs more */
        pace_note(&pace, 8, 12, 44);
    CHECK(pace_prompt_rows(&pace, 8, 9) == 6);
    for (int i = 0; i < 30; i++)
        pace_note(&pace, 8, 12, 24);
    CHECK(is_about(pace_prompt_rows(&pace, 8, 9), 11));
}

static void test_a_cautious_number_before_anything_is_known(void)
{
    struct pace pace = {0};
    CHECK(pace_prompt_rows(&pace, 8, 8) == 16);
    pace_note(&pace, 0, 100, 50);
    CHECK(pace_prompt_rows(&pace, 8, 8) == 16);
    pace_note(&pace, 8, 0, 12);
    CHECK(pace_prompt_rows(&pace, 8, 8) == 16);
    pace_note(&pace, 8, 16, 24);
    CHECK(is_about(pace_prompt_rows(&pace, 8, 8), 7));
}

static void test_the_pace_survives_odd_clocks(void)
{
    struct pace pace = known_pace();
    pace_note(&pace, 8, 12, 1e9); /* a suspended laptop */
    pace_note(&pace, 10, 0, 1e9);
    for (int i = 0; i < 60; i++) {
        pace_note(&pace, 8, 12, 24);
        pace_note(&pace, 10, 0, 14);
    }
    CHECK(is_about(pace_prompt_rows(&pace, 8, 9), 11));
    struct pace flat = {0};
    pace_note(&flat, 8, 0, 0);
    pace_note(&flat, 8, 92, 0);
    pace_note(&flat, 0, 128, 0);
    CHECK(pace_prompt_rows(&flat, 8, 8) == 16);
    struct pace falling = known_pace(); /* more rows, less time */
    for (int i = 0; i < 60; i++)
        pace_note(&falling, 0, 128, 3);
    CHECK(pace_prompt_rows(&falling, 8, 9) >= 4 && pace_prompt_rows(&falling, 8, 9) <= ROWS);
    pace_note(&falling, 1000, 0, 5); /* more streams than are counted */
    pace_note(&falling, 0, 0, 5);
    CHECK(pace_prompt_rows(&falling, 100, 2000) >= 4);
}

static void test_streams_always_get_their_token_and_a_prompt_a_bounded_chunk(void)
{
    struct pace pace = known_pace();
    struct plan_entry entries[9];
    for (uint64_t i = 0; i < 8; i++)
        entries[i] = stream(TD_PRIORITY_INTERACTIVE, i);
    entries[8] = prompt(TD_PRIORITY_INTERACTIVE, 8, 2000);
    struct plan plan = plan_batch(entries, 9, limits, &pace);
    for (int i = 0; i < 8; i++)
        CHECK(entries[i].rows == 1);
    CHECK(entries[8].rows >= 10 && entries[8].rows <= 12);
    CHECK(plan.stream_rows == 8 && plan.prompt_rows == entries[8].rows);
}

static void test_prompts_fill_what_the_kernels_multiply_together(void)
{
    struct pace pace = known_pace();
    const struct plan_limits units = {.row_max = ROWS, .row_unit = 16};
    struct plan_entry entries[13];
    for (uint32_t streams = 1; streams <= 12; streams++) {
        for (uint64_t i = 0; i < streams; i++)
            entries[i] = stream(TD_PRIORITY_INTERACTIVE, i);
        entries[streams] = prompt(TD_PRIORITY_INTERACTIVE, streams, 2000);
        struct plan plan = plan_batch(entries, streams + 1, units, &pace);
        uint32_t rows = plan.stream_rows + plan.prompt_rows;
        CHECK(rows < 16 || rows == 16 || rows == 32);
        CHECK(entries[streams].rows >= 6);
    }
}

/* On a machine where 16 more rows cost 6 ms: 17 fit, 24 would fill the next unit. */
static void test_units_are_not_filled_beyond_what_streams_were_promised(void)
{
    struct pace pace = {0};
    for (int i = 0; i < 50; i++) {
        pace_note(&pace, 8, 0, 16);
        pace_note(&pace, 9, 0, 16);
        pace_note(&pace, 8, 8, 24);
        pace_note(&pace, 0, 112, 60);
    }
    CHECK(is_about(pace_prompt_rows(&pace, 8, 9), 18)); /* 1.75 * 16 = 24 + 10 * 0.375 */
    const struct plan_limits units = {.row_max = ROWS, .row_unit = 16};
    struct plan_entry entries[9];
    for (uint64_t i = 0; i < 8; i++)
        entries[i] = stream(TD_PRIORITY_INTERACTIVE, i);
    entries[8] = prompt(TD_PRIORITY_INTERACTIVE, 8, 2000);
    CHECK(plan_batch(entries, 9, units, &pace).prompt_rows == 8);
}

static void test_a_prompt_alone_gets_the_whole_pass(void)
{
    struct pace pace = known_pace();
    struct plan_entry entry = prompt(TD_PRIORITY_INTERACTIVE, 0, 2000);
    CHECK(plan_batch(&entry, 1, limits, &pace).prompt_rows == ROWS && entry.rows == ROWS);
    entry.due = 5;
    CHECK(plan_batch(&entry, 1, limits, &pace).prompt_rows == 5);
    entry.due = 0;
    struct plan plan = plan_batch(&entry, 1, limits, &pace);
    CHECK(plan.stream_rows == 0 && plan.prompt_rows == 0 && entry.rows == 0);
}

static void test_prompts_go_first_come_first_served(void)
{
    struct pace pace = {0};
    struct plan_entry entries[3] = {prompt(TD_PRIORITY_INTERACTIVE, 9, 100),
                                    prompt(TD_PRIORITY_INTERACTIVE, 7, 100),
                                    prompt(TD_PRIORITY_INTERACTIVE, 8, 100)};
    plan_batch(entries, 3, limits, &pace);
    CHECK(entries[1].rows == 100 && entries[2].rows == 28 && entries[0].rows == 0);
}

static void test_batch_work_gets_what_is_left(void)
{
    struct pace pace = known_pace();
    struct plan_entry entries[3] = {stream(TD_PRIORITY_INTERACTIVE, 0),
                                    prompt(TD_PRIORITY_BATCH, 1, 500),
                                    prompt(TD_PRIORITY_INTERACTIVE, 2, 500)};
    plan_batch(entries, 3, limits, &pace);
    CHECK(entries[0].rows == 1 && entries[2].rows == 6 && entries[1].rows == 1);
    entries[2].due = 0;
    plan_batch(entries, 3, limits, &pace);
    CHECK(entries[0].rows == 1 && entries[1].rows == 1);
    entries[0].due = 0;
    plan_batch(entries, 3, limits, &pace);
    CHECK(entries[1].rows == ROWS);
}

static void test_batch_work_moves_under_any_load(void)
{
    struct pace pace = {0};
    struct plan_entry entries[2] = {prompt(TD_PRIORITY_INTERACTIVE, 0, 100000),
                                    prompt(TD_PRIORITY_BATCH, 1, 100)};
    plan_batch(entries, 2, limits, &pace);
    CHECK(entries[0].rows == ROWS - 1 && entries[1].rows == 1);
    /* A stream with guessed tokens needs them all at once. */
    entries[1] = stream(TD_PRIORITY_BATCH, 1);
    entries[1].due = 6;
    plan_batch(entries, 2, limits, &pace);
    CHECK(entries[0].rows == ROWS - 6 && entries[1].rows == 6);
}

static void test_batch_streams_take_turns(void)
{
    struct pace pace = known_pace();
    struct plan_entry entries[5] = {stream(TD_PRIORITY_INTERACTIVE, 0)};
    uint32_t served[5] = {0};
    for (uint64_t i = 1; i < 5; i++)
        entries[i] = stream(TD_PRIORITY_BATCH, i);
    for (uint64_t pass = 1; pass <= 40; pass++) {
        plan_batch(entries, 5, limits, &pace);
        for (int i = 0; i < 5; i++)
            if (entries[i].rows) {
                entries[i].served_last = pass;
                served[i]++;
            }
    }
    CHECK(served[0] == 40);
    for (int i = 1; i < 5; i++)
        CHECK(served[i] == 10); /* one of the four a pass */
}

static void test_more_streams_than_rows_take_turns(void)
{
    struct pace pace = {0};
    const struct plan_limits four = {.row_max = 4, .row_unit = 1};
    struct plan_entry entries[10];
    uint32_t served[10] = {0};
    for (uint64_t i = 0; i < 10; i++)
        entries[i] = stream(TD_PRIORITY_INTERACTIVE, i);
    for (uint64_t pass = 1; pass <= 50; pass++) {
        CHECK(plan_batch(entries, 10, four, &pace).stream_rows == 4);
        for (int i = 0; i < 10; i++)
            if (entries[i].rows) {
                entries[i].served_last = pass;
                served[i]++;
            }
    }
    for (int i = 0; i < 10; i++) /* 20 on average; of those served together the older go first */
        CHECK(served[i] >= 15);
}

static void test_interactive_jobs_overtake_batch_jobs_a_bounded_number_of_times(void)
{
    struct plan_waiting waiting[3] = {{TD_PRIORITY_BATCH, 0, 0}, {TD_PRIORITY_BATCH, 0, 0}, {0}};
    for (int i = 0; i < PLAN_OVERTAKEN_MAX; i++) {
        CHECK(plan_next(waiting, 3) == 2);
        plan_note_overtaken(waiting, 2); /* and another takes its place */
    }
    CHECK(plan_next(waiting, 3) == 0);
    struct plan_waiting batch[2] = {{TD_PRIORITY_BATCH, 3, 0}, {TD_PRIORITY_BATCH, 0, 0}};
    CHECK(plan_next(batch, 2) == 0);
    CHECK(plan_batch_share(8) == 6 && plan_batch_share(1) == 1 && plan_batch_share(4) == 3);
}

static void test_spare_work_stands_still_beside_others_and_never_goes_first(void)
{
    struct pace pace = known_pace();
    struct plan_entry entries[3] = {stream(TD_PRIORITY_SPARE, 1), prompt(TD_PRIORITY_SPARE, 2, 100),
                                    prompt(TD_PRIORITY_BATCH, 3, 5)};
    struct plan plan = plan_batch(entries, 3, limits, &pace);
    CHECK(entries[0].rows == 0 && entries[1].rows == 0 && entries[2].rows == 5);
    CHECK(plan.stream_rows == 0 && plan.prompt_rows == 5);
    entries[2].due = 0;
    plan_batch(entries, 3, limits, &pace);
    CHECK(entries[0].rows == 1 && entries[1].rows == 0);
    entries[0].due = 0;
    plan_batch(entries, 3, limits, &pace);
    CHECK(entries[1].rows > 0 && entries[1].rows < 100); /* who comes now waits for less */
    struct plan_waiting waiting[3] = {{TD_PRIORITY_SPARE, 2 * PLAN_OVERTAKEN_MAX, 0},
                                      {TD_PRIORITY_BATCH, 0, 0},
                                      {TD_PRIORITY_INTERACTIVE, 0, 0}};
    CHECK(plan_next(waiting, 3) == 2 && plan_next(waiting, 2) == 1 && plan_next(waiting, 1) == 0);
}

/* --- 10,000 jobs through eight slots --- */

enum { JOBS = 10000, SLOTS = 8, WAITING_MAX = 64 };

struct simulated {
    struct plan_entry slots[SLOTS];
    uint32_t answer[SLOTS]; /* tokens that are left */
    uint64_t began[SLOTS];
    struct plan_waiting waiting[WAITING_MAX];
    struct plan_entry waiting_jobs[WAITING_MAX];
    uint64_t arrived[WAITING_MAX];
    uint32_t waiting_count, made, ended;
    uint64_t pass, order;
    uint64_t wait_max[2], run_max[2]; /* passes, by priority */
};

static void arrive(struct simulated *sim, struct rng *rng)
{
    while (sim->made < JOBS && sim->waiting_count < WAITING_MAX && rng_below(rng, 4) != 0) {
        uint32_t at = sim->waiting_count++;
        enum td_priority priority = rng_below(rng, 3) ? TD_PRIORITY_INTERACTIVE : TD_PRIORITY_BATCH;
        uint32_t due = (uint32_t)(rng_below(rng, 50) ? 1 + rng_below(rng, 60) : 2000);
        sim->waiting[at] = (struct plan_waiting){.priority = priority};
        sim->waiting_jobs[at] = prompt(priority, 0, due);
        sim->arrived[at] = sim->pass;
        sim->made++;
    }
}

static void admit_all(struct simulated *sim, struct rng *rng)
{
    for (uint32_t slot = 0; slot < SLOTS && sim->waiting_count; slot++) {
        if (sim->answer[slot])
            continue;
        uint32_t next = plan_next(sim->waiting, sim->waiting_count);
        plan_note_overtaken(sim->waiting, next);
        struct plan_entry *entry = &sim->slots[slot];
        *entry = sim->waiting_jobs[next];
        entry->order = ++sim->order;
        entry->served_last = sim->pass;
        sim->answer[slot] = 1 + (uint32_t)rng_below(rng, 30);
        sim->began[slot] = sim->pass;
        uint64_t waited = sim->pass - sim->arrived[next];
        if (waited > sim->wait_max[entry->priority])
            sim->wait_max[entry->priority] = waited;
        uint32_t after = --sim->waiting_count - next;
        memmove(&sim->waiting[next], &sim->waiting[next + 1], after * sizeof *sim->waiting);
        memmove(&sim->waiting_jobs[next], &sim->waiting_jobs[next + 1],
                after * sizeof *sim->waiting_jobs);
        memmove(&sim->arrived[next], &sim->arrived[next + 1], after * sizeof *sim->arrived);
    }
}

static void run_pass(struct simulated *sim, const struct pace *pace)
{
    sim->pass++;
    for (uint32_t slot = 0; slot < SLOTS; slot++)
        if (sim->answer[slot] == 0)
            sim->slots[slot].due = 0;
    struct plan plan = plan_batch(sim->slots, SLOTS, limits, pace);
    CHECK(plan.stream_rows + plan.prompt_rows <= ROWS);
    for (uint32_t slot = 0; slot < SLOTS; slot++) {
        struct plan_entry *entry = &sim->slots[slot];
        if (entry->rows == 0) {
            CHECK(entry->due == 0 || entry->priority == TD_PRIORITY_BATCH || !entry->streams);
            continue;
        }
        entry->served_last = sim->pass;
        entry->due -= entry->rows;
        if (entry->due)
            continue;
        entry->streams = true;
        entry->due = 1;
        if (--sim->answer[slot])
            continue;
        sim->ended++;
        uint64_t ran = sim->pass - sim->began[slot];
        if (ran > sim->run_max[entry->priority])
            sim->run_max[entry->priority] = ran;
    }
}

static void test_ten_thousand_mixed_jobs_all_end_and_none_waits_for_ever(void)
{
    struct simulated *sim = calloc(1, sizeof *sim);
    struct pace pace = known_pace();
    struct rng rng;
    REQUIRE(sim != NULL);
    rng_init(&rng, 12);
    while (sim->ended < JOBS && sim->pass < 1000000) {
        arrive(sim, &rng);
        admit_all(sim, &rng);
        run_pass(sim, &pace);
    }
    CHECK(sim->ended == JOBS);
    printf("passes %llu, longest wait %llu interactive, %llu batch; longest run %llu, %llu\n",
           (unsigned long long)sim->pass, (unsigned long long)sim->wait_max[0],
           (unsigned long long)sim->wait_max[1], (unsigned long long)sim->run_max[0],
           (unsigned long long)sim->run_max[1]);
    /* The queue is always full: 64 jobs of about 30 passes in 8 slots make a job that nobody
     * overtakes wait for about 250 passes. */
    CHECK(sim->wait_max[TD_PRIORITY_INTERACTIVE] < 2500);
    CHECK(sim->wait_max[TD_PRIORITY_BATCH] < 5000);
    CHECK(sim->run_max[TD_PRIORITY_INTERACTIVE] < 2500);
    CHECK(sim->run_max[TD_PRIORITY_BATCH] < 5000);
    free(sim);
}

int main(void)
{
    RUN(test_a_pass_with_prompts_takes_less_than_twice_as_long_as_all_jobs_streaming);
    RUN(test_prompts_follow_what_passes_turn_out_to_cost);
    RUN(test_a_cautious_number_before_anything_is_known);
    RUN(test_the_pace_survives_odd_clocks);
    RUN(test_streams_always_get_their_token_and_a_prompt_a_bounded_chunk);
    RUN(test_prompts_fill_what_the_kernels_multiply_together);
    RUN(test_units_are_not_filled_beyond_what_streams_were_promised);
    RUN(test_a_prompt_alone_gets_the_whole_pass);
    RUN(test_prompts_go_first_come_first_served);
    RUN(test_batch_work_gets_what_is_left);
    RUN(test_batch_work_moves_under_any_load);
    RUN(test_batch_streams_take_turns);
    RUN(test_more_streams_than_rows_take_turns);
    RUN(test_interactive_jobs_overtake_batch_jobs_a_bounded_number_of_times);
    RUN(test_spare_work_stands_still_beside_others_and_never_goes_first);
    RUN(test_ten_thousand_mixed_jobs_all_end_and_none_waits_for_ever);
    return test_finish();
}
