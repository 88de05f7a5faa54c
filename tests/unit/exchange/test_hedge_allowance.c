/* The purse that hedges are taken from: never more than was paid in, whoever asks at the same
 * time. */
#include "exchange/limits/hedge_allowance.h"

#include "test.h"

#include <math.h>
#include <pthread.h>

#define THREADS 4
#define ROUNDS 20000

static void test_hedges_are_a_share_of_the_requests(void)
{
    struct hedge_allowance *hedging = hedge_allowance_new();
    struct hedge_numbers n;
    int taken = 0;
    for (int i = 0; i < 1000; i++) { /* an outage: each request asks for one */
        hedge_allowance_pay(hedging, 0.05);
        taken += hedge_allowance_take(hedging);
    }
    CHECK(taken == 51); /* and one that was there at the beginning */
    hedge_allowance_numbers(hedging, &n);
    CHECK(n.requests == 1000 && n.started == 51 && n.refused == 949);
    hedge_allowance_free(hedging);
}

static void test_what_a_quiet_time_saves_up_is_limited(void)
{
    struct hedge_allowance *hedging = hedge_allowance_new();
    for (int i = 0; i < 100000; i++)
        hedge_allowance_pay(hedging, 0.05);
    int taken = 0;
    while (hedge_allowance_take(hedging))
        taken++;
    CHECK(taken == 10);
    hedge_allowance_free(hedging);
}

static void *spend(void *ctx)
{
    struct hedge_allowance *hedging = ctx;
    for (int i = 0; i < ROUNDS; i++) {
        hedge_allowance_pay(hedging, 0.1);
        if (hedge_allowance_take(hedging))
            hedge_allowance_count(hedging, (enum hedge_result)(i % HEDGE_RESULT_COUNT), 0.5);
    }
    return NULL;
}

static void test_threads_together_take_no_more_than_was_paid(void)
{
    struct hedge_allowance *hedging = hedge_allowance_new();
    struct hedge_numbers n;
    pthread_t threads[THREADS];
    for (int i = 0; i < THREADS; i++)
        REQUIRE(pthread_create(&threads[i], NULL, spend, hedging) == 0);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    hedge_allowance_numbers(hedging, &n);
    CHECK(n.requests == THREADS * ROUNDS && n.started + n.refused == n.requests);
    CHECK(n.started >= n.requests / 10 - 10 && n.started <= n.requests / 10 + 1);
    uint64_t ended = 0;
    for (int i = 0; i < HEDGE_RESULT_COUNT; i++)
        ended += n.ended[i];
    CHECK(ended == n.started && fabs(n.spent_usd - 0.5 * (double)ended) < 1e-6);
    hedge_allowance_free(hedging);
}

int main(void)
{
    RUN(test_hedges_are_a_share_of_the_requests);
    RUN(test_what_a_quiet_time_saves_up_is_limited);
    RUN(test_threads_together_take_no_more_than_was_paid);
    return test_finish();
}
