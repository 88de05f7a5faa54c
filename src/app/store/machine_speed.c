/* Decoding goes through all weights for each token, so the time of products of one row of
 * activations with more weights than caches hold is the time of a token. The attention to earlier
 * tokens is left out: it is small in short chats. */
#include "app/store/machine_speed.h"

#include "base/thread/thread_pool.h"
#include "base/time/clock.h"
#include "kernels/kernels.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#define COLUMNS 4096u
#define ROWS 32u /* of one item of work */
#define WEIGHT_BYTES (UINT64_C(192) << 20)
#define PASS_COUNT 8
#define MEASURE_MS 500

struct job {
    const struct kernels *kernels;
    const uint8_t *weights;
    const void *activations;
    size_t row_bytes, act_bytes;
    uint32_t item_count;
    atomic_uint next;
};

static void take_items(void *ctx)
{
    struct job *job = ctx;
    float out[ROWS];
    for (uint32_t i; (i = atomic_fetch_add(&job->next, 1)) < job->item_count;)
        job->kernels->matmul(TENSOR_Q4_K, job->weights + (size_t)i * ROWS * job->row_bytes,
                             job->row_bytes, COLUMNS, 0, ROWS, job->activations, job->act_bytes, 1,
                             out, ROWS);
}

/* The best of some passes: what the machine can do when nothing disturbs it. */
static double best_seconds(struct thread_pool *pool, struct job *job)
{
    double best = 0, end_ms = clock_monotonic_ms(NULL) + MEASURE_MS;
    for (int i = 0; i < PASS_COUNT && (i < 2 || clock_monotonic_ms(NULL) < end_ms); i++) {
        double begin_ms = clock_monotonic_ms(NULL);
        atomic_store(&job->next, 0);
        thread_pool_run(pool, take_items, job);
        double seconds = (clock_monotonic_ms(NULL) - begin_ms) / 1000;
        best = i == 0 || seconds < best ? seconds : best;
    }
    return best;
}

double machine_speed_measure(uint32_t *threads)
{
    const struct tensor_traits *traits = tensor_traits_get(TENSOR_Q4_K);
    struct job job = {.kernels = kernels_get(TD_CPU_AUTO, NULL)};
    struct thread_pool *pool = thread_pool_new(0);
    *threads = pool ? thread_pool_count(pool) : 0;
    if (!pool || !job.kernels) {
        thread_pool_free(pool);
        return 0;
    }
    enum activation_form form = job.kernels->form_of(TENSOR_Q4_K);
    job.row_bytes = (size_t)COLUMNS / traits->block_elements * traits->block_bytes;
    job.act_bytes = job.kernels->activation_bytes(form, COLUMNS);
    job.item_count = (uint32_t)(WEIGHT_BYTES / (ROWS * job.row_bytes));
    size_t bytes = (size_t)job.item_count * ROWS * job.row_bytes;
    void *activations = aligned_alloc(64, job.act_bytes);
    uint8_t *weights =
        mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    double speed = 0;
    if (activations && weights != MAP_FAILED) {
        memset(weights, 0x11, bytes); /* a page of zeros would be one page for all */
        job.kernels->activation_prepare(form, (const float *)(const void *)weights, COLUMNS,
                                        activations);
        job.weights = weights;
        job.activations = activations;
        double seconds = best_seconds(pool, &job);
        speed = seconds > 0 ? (double)bytes / seconds : 0;
    }
    if (weights != MAP_FAILED)
        munmap(weights, bytes);
    free(activations);
    thread_pool_free(pool);
    return speed;
}
