/* Work beside a loop: what runs, what is reported, and that nothing is reported or freed twice. */
#include "test.h"
#include "test_loop.h"

#include "base/thread/background.h"

#include <semaphore.h>
#include <stdatomic.h>

#define WAIT_MS 20000

/* A piece of work that waits until it may run, and counts its calls. */
struct piece {
    sem_t entered, leave;
    atomic_int ran, done, freed;
    pthread_t runner;
};

static void run(void *ctx)
{
    struct piece *piece = ctx;
    piece->runner = pthread_self();
    sem_post(&piece->entered);
    sem_wait(&piece->leave);
    atomic_fetch_add(&piece->ran, 1);
}

static void done(void *ctx, void *owner)
{
    struct piece *piece = ctx;
    CHECK(owner == piece && atomic_load(&piece->freed) == 0);
    atomic_fetch_add(&piece->done, 1);
}

static void free_piece(void *ctx)
{
    atomic_fetch_add(&((struct piece *)ctx)->freed, 1);
}

static struct background_work work_of(struct piece *piece, struct test_loop *loop)
{
    *piece = (struct piece){0};
    sem_init(&piece->entered, 0, 0);
    sem_init(&piece->leave, 0, 0);
    return (struct background_work){run, done, free_piece, piece, piece, &loop->loop};
}

static bool counts(const struct piece *piece, int ran, int told, int freed)
{
    return atomic_load(&piece->ran) == ran && atomic_load(&piece->done) == told &&
           atomic_load(&piece->freed) == freed;
}

static void test_work_runs_on_another_thread_and_is_told_on_the_loop(void)
{
    struct test_loop loop;
    struct piece piece;
    struct background_task *task;
    test_loop_init(&loop);
    struct background *background = background_new(2, 4);
    struct background_work work = work_of(&piece, &loop);
    REQUIRE(background && background_submit(background, &work, &task, NULL) == TD_OK && task);
    CHECK(counts(&piece, 0, 0, 0));
    sem_post(&piece.leave);
    CHECK(test_loop_run_one(&loop, WAIT_MS));
    CHECK(!pthread_equal(piece.runner, pthread_self()));
    background_free(background); /* the hold of the thread has ended, too */
    CHECK(counts(&piece, 1, 1, 1));
    test_loop_deinit(&loop);
}

static void test_cancelled_work_is_never_told_and_freed_once(void)
{
    struct test_loop loop;
    struct piece running, waiting, posted;
    struct background_task *tasks[3];
    test_loop_init(&loop);
    struct background *background = background_new(1, 4);
    struct background_work first = work_of(&running, &loop), second = work_of(&waiting, &loop);
    struct background_work third = work_of(&posted, &loop);
    REQUIRE(background && background_submit(background, &first, &tasks[0], NULL) == TD_OK &&
            background_submit(background, &second, &tasks[1], NULL) == TD_OK &&
            background_submit(background, &third, &tasks[2], NULL) == TD_OK);
    sem_wait(&running.entered);
    background_cancel(tasks[0]);
    background_cancel(tasks[1]);
    CHECK(counts(&running, 0, 0, 0) && counts(&waiting, 0, 0, 0));
    sem_post(&running.leave);
    sem_post(&posted.leave);
    sem_wait(&posted.entered); /* the work before it has ended */
    CHECK(counts(&running, 1, 0, 1) && counts(&waiting, 0, 0, 1));
    background_free(background); /* waits for the third: posted or dropped */
    background_cancel(tasks[2]);
    test_loop_deinit(&loop); /* runs what was posted */
    CHECK(counts(&posted, 1, 0, 1));
}

static void test_a_full_loop_is_asked_again(void)
{
    struct test_loop loop;
    struct piece piece;
    struct background_task *task;
    test_loop_init(&loop);
    test_loop_set_capacity(&loop, 0);
    struct background *background = background_new(1, 4);
    struct background_work work = work_of(&piece, &loop);
    REQUIRE(background && background_submit(background, &work, &task, NULL) == TD_OK);
    sem_post(&piece.leave);
    while (test_loop_refused(&loop) < 3)
        ;
    CHECK(counts(&piece, 1, 0, 0));
    test_loop_set_capacity(&loop, TEST_LOOP_POSTS);
    CHECK(test_loop_run_one(&loop, WAIT_MS));
    background_free(background);
    CHECK(counts(&piece, 1, 1, 1));
    test_loop_deinit(&loop);
}

static void test_too_much_work_is_refused_and_stays_the_callers(void)
{
    enum { MANY = 16 };
    struct test_loop loop;
    struct piece pieces[MANY];
    struct background_task *tasks[MANY];
    struct td_error err = {0};
    size_t taken = 0;
    test_loop_init(&loop);
    struct background *background = background_new(1, 2);
    REQUIRE(background);
    enum td_status status = TD_OK;
    while (status == TD_OK && taken < MANY) {
        struct background_work work = work_of(&pieces[taken], &loop);
        status = background_submit(background, &work, &tasks[taken], &err);
        taken += status == TD_OK;
    }
    REQUIRE(status == TD_BUSY && taken < MANY && taken >= 2);
    CHECK(err.status == TD_BUSY && tasks[taken] == NULL && counts(&pieces[taken], 0, 0, 0));
    for (size_t i = 0; i < taken; i++)
        sem_post(&pieces[i].leave);
    for (size_t i = 0; i < taken; i++)
        CHECK(test_loop_run_one(&loop, WAIT_MS));
    background_free(background);
    for (size_t i = 0; i < taken; i++)
        CHECK(counts(&pieces[i], 1, 1, 1));
    test_loop_deinit(&loop);
}

int main(void)
{
    RUN(test_work_runs_on_another_thread_and_is_told_on_the_loop);
    RUN(test_cancelled_work_is_never_told_and_freed_once);
    RUN(test_a_full_loop_is_asked_again);
    RUN(test_too_much_work_is_refused_and_stays_the_callers);
    return test_finish();
}
