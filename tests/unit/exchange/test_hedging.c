/* The purse that hedges are taken from: never more than was paid in, whoever asks at the same
 * time. */
#include "exchange/limits/hedging.h"

#include "test.h"

#include <math.h>
#include <pthread.h>

#define THREADS 4
#define ROUNDS 20000

static void test_hedges_are_a_share_of_the_requests(void)
{
    struct hedging *hedging = hedging_new();
    struct hedging_numbers n;
    int taken = 0;
    for (int i = 0; i < 1000; i++) { /* an outage: each request asks for one */
        hedging_pay(hedging, 0.05);
        taken += hedging_take(hedging);
    }
    CHECK(taken == 51); /* and one that was there at the beginning */
    hedging_numbers(hedging, &n);
    CHECK(n.requests == 1000 && n.started == 51 && n.refused == 949);
    hedging_free(hedging);
}

static void test_what_a_quiet_time_saves_up_is_limited(void)
{
    struct hedging *hedging = hedging_new();
    for (int i = 0; i < 100000; i++)
        hedging_pay(hedging, 0.05);
    int taken = 0;
    while (hedging_take(hedging))
        taken++;
    CHECK(taken == 10);
    hedging_free(hedging);
}

static void *spend(void *ctx)
{
    struct hedging *hedging = ctx;
    for (int i = 0; i < ROUNDS; i++) {
        hedging_pay(hedging, 0.1);
        if (hedging_take(hedging))
            hedging_count(hedging, (enum hedging_result)(i % HEDGING_RESULT_COUNT), 0.5);
    }
    return NULL;
}

static void test_threads_together_take_no_more_than_was_paid(void)
{
    struct hedging *hedging = hedging_new();
    struct hedging_numbers n;
    pthread_t threads[THREADS];
    for (int i = 0; i < THREADS; i++)
        REQUIRE(pthread_create(&threads[i], NULL, spend, hedging) == 0);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    hedging_numbers(hedging, &n);
    CHECK(n.requests == THREADS * ROUNDS && n.started + n.refused == n.requests);
    CHECK(n.started >= n.requests / 10 - 10 && n.started <= n.requests / 10 + 1);
    uint64_t ended = 0;
    for (int i = 0; i < HEDGING_RESULT_COUNT; i++)
        ended += n.ended[i];
    CHECK(ended == n.started && fabs(n.spent_usd - 0.5 * (double)ended) < 1e-6);
    hedging_free(hedging);
}

int main(void)
{
    RUN(test_hedges_are_a_share_of_the_requests);
    RUN(test_what_a_quiet_time_saves_up_is_limited);
    RUN(test_threads_together_take_no_more_than_was_paid);
    return test_finish();
}
