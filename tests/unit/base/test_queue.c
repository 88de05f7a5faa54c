/* The bounded queue: order, limits, wake-ups, many threads (also run under TSan). */
#include "base/thread/queue.h"
#include "base/time/clock.h"
#include "test.h"

#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>

static bool is_readable(const struct queue *queue)
{
    struct pollfd poller = {.fd = queue_fd(queue), .events = POLLIN};
    return poll(&poller, 1, 0) == 1;
}

static void test_a_full_queue_says_so(void)
{
    struct queue *queue = queue_new(3);
    int items[4];
    for (int i = 0; i < 3; i++)
        CHECK(queue_push(queue, &items[i]));
    CHECK(!queue_push(queue, &items[3]) && queue_count(queue) == 3);
    for (int i = 0; i < 3; i++)
        CHECK(queue_pop(queue) == &items[i]);
    CHECK(queue_pop(queue) == NULL);
    queue_free(queue);
    CHECK(queue_new(0) == NULL && queue_new(SIZE_MAX / 2) == NULL);
}

static void test_fd_is_readable_exactly_while_items_wait(void)
{
    struct queue *queue = queue_new(2);
    int item;
    CHECK(!is_readable(queue));
    CHECK(queue_push(queue, &item) && queue_push(queue, &item) && is_readable(queue));
    CHECK(queue_pop(queue) && is_readable(queue));
    CHECK(queue_pop(queue) && !is_readable(queue));
    queue_free(queue);
}

/* Who watches the descriptor learns of the end, however much was taken before and after it. */
static void test_a_closed_queue_stays_readable(void)
{
    for (int pushed = 0; pushed <= 3; pushed++)
        for (int taken = 0; taken <= pushed; taken++) {
            struct queue *queue = queue_new(3);
            int item;
            for (int i = 0; i < pushed; i++)
                CHECK(queue_push(queue, &item));
            for (int i = 0; i < taken; i++)
                CHECK(queue_pop(queue) == &item);
            queue_close(queue);
            for (int i = taken; i < pushed; i++)
                CHECK(is_readable(queue) && queue_pop(queue) == &item);
            CHECK(is_readable(queue) && queue_pop(queue) == NULL && is_readable(queue));
            queue_free(queue);
        }
}

static void test_wait_ends_by_time_and_by_close(void)
{
    struct queue *queue = queue_new(2);
    int item;
    double begin = clock_monotonic_ms(NULL);
    CHECK(queue_wait(queue, 20) == NULL && clock_monotonic_ms(NULL) - begin >= 19);
    CHECK(queue_push(queue, &item));
    queue_close(queue);
    CHECK(!queue_push(queue, &item));
    CHECK(queue_wait(queue, UINT32_MAX) == &item);
    CHECK(queue_wait(queue, UINT32_MAX) == NULL);
    queue_free(queue);
}

enum { PRODUCERS = 3, PER_PRODUCER = 20000 };
static struct queue *shared;
static atomic_int consumed;
static char items[PRODUCERS * PER_PRODUCER];

static void *produce(void *arg)
{
    char *mine = arg;
    for (int i = 0; i < PER_PRODUCER; i++)
        while (!queue_push(shared, mine + i))
            sched_yield();
    return NULL;
}

static void *consume(void *arg)
{
    (void)arg;
    for (char *item; (item = queue_wait(shared, UINT32_MAX)) != NULL;) {
        *item += 1;
        atomic_fetch_add(&consumed, 1);
    }
    return NULL;
}

static void test_every_item_arrives_exactly_once(void)
{
    shared = queue_new(64);
    pthread_t producers[PRODUCERS], consumers[2];
    for (int i = 0; i < 2; i++)
        REQUIRE(pthread_create(&consumers[i], NULL, consume, NULL) == 0);
    for (int i = 0; i < PRODUCERS; i++)
        REQUIRE(pthread_create(&producers[i], NULL, produce, items + i * PER_PRODUCER) == 0);
    for (int i = 0; i < PRODUCERS; i++)
        pthread_join(producers[i], NULL);
    queue_close(shared);
    for (int i = 0; i < 2; i++)
        pthread_join(consumers[i], NULL);
    CHECK(atomic_load(&consumed) == PRODUCERS * PER_PRODUCER);
    for (int i = 0; i < PRODUCERS * PER_PRODUCER; i++)
        CHECK(items[i] == 1);
    queue_free(shared);
}

int main(void)
{
    RUN(test_a_full_queue_says_so);
    RUN(test_fd_is_readable_exactly_while_items_wait);
    RUN(test_a_closed_queue_stays_readable);
    RUN(test_wait_ends_by_time_and_by_close);
    RUN(test_every_item_arrives_exactly_once);
    return test_finish();
}
