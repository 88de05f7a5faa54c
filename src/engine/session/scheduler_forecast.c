/* How long a job would wait that came now. All jobs before it are one pile of work: the tokens of
 * their prompts and of the answers that they are likely to give, at the speed that passes were
 * measured to have. The pile drains through the slots, so with n jobs in s slots the next one gets
 * its turn when n - s + 1 of them have ended, which is that share of the pile.
 *
 * Event loops ask for each request, so the pile is a few atomic counters and not a look at the
 * queue. Guesses may be wrong in the single case; they are renewed with each pass and each ended
 * job. */
#include "engine/session/scheduler_internal.h"

#include "base/core/assertion.h"
#include "base/time/clock.h"

#include <math.h>

/* Of each pass that is timed before the first job. */
#define WARM_UP_ROWS 16
#define WARM_UP_TRIES 5
#define WARM_UP_ENOUGH_MS 50 /* a turn of another hardly lengthens what takes longer */
/* Until then: a pass reads all weights once, at a speed that even a slow machine has, and the
 * kernels multiply about eight rows of a prompt in that time. It holds for a moment after the
 * start, in which it is better to fill the slots and no more. */
#define UNKNOWN_BYTES_MS 4e5
#define UNKNOWN_PROMPT_ROWS 8
/* Before the first answer has ended. */
#define UNKNOWN_ANSWER_TOKENS 64
/* The weight of a new value is that of the 16 last ones. */
#define ANSWERS_REMEMBERED 16
/* Of a normal distribution, one in 20 is further above the mean than that many deviations. */
#define TAIL_DEVIATIONS 1.64

static unsigned kind_of(const struct job *job)
{
    return job->request.priority == TD_PRIORITY_BATCH;
}

static bool counts(const struct job *job)
{
    return job->request.priority != TD_PRIORITY_SPARE;
}

/* --- accounts --- */

/* Before a stream was measured. */
static void guess(struct backlog *backlog, double prompt_row_ms)
{
    atomic_store(&backlog->prompt_row_ms, prompt_row_ms);
    atomic_store(&backlog->token_ms, prompt_row_ms * UNKNOWN_PROMPT_ROWS);
}

void backlog_init(struct scheduler *scheduler)
{
    struct backlog *backlog = &scheduler->backlog;
    guess(backlog,
          (double)gguf_file_bytes(scheduler->model->gguf) / UNKNOWN_BYTES_MS / UNKNOWN_PROMPT_ROWS);
    atomic_store(&backlog->computed, 1);
    atomic_store(&backlog->answer_mean, UNKNOWN_ANSWER_TOKENS);
    atomic_store(&backlog->answer_square, UNKNOWN_ANSWER_TOKENS * UNKNOWN_ANSWER_TOKENS);
}

void backlog_enter(struct scheduler *scheduler, struct job *job)
{
    job->submitted_ms = clock_monotonic_ms(NULL);
    if (!counts(job))
        return;
    job->prompt_owed = true;
    atomic_fetch_add(&scheduler->backlog.jobs[kind_of(job)], 1);
    atomic_fetch_add(&scheduler->backlog.prompt_tokens[kind_of(job)], job->request.id_count);
}

void backlog_run(struct scheduler *scheduler, struct job *job)
{
    job->admitted_ms = clock_monotonic_ms(NULL);
    if (counts(job))
        atomic_fetch_add(&scheduler->backlog.running[kind_of(job)], 1);
}

void backlog_prompt_done(struct scheduler *scheduler, struct job *job)
{
    if (!job->prompt_owed)
        return;
    job->prompt_owed = false;
    atomic_fetch_sub(&scheduler->backlog.prompt_tokens[kind_of(job)], job->request.id_count);
}

static void move(_Atomic double *average, double value, double weight)
{
    double old = atomic_load_explicit(average, memory_order_relaxed);
    atomic_store_explicit(average, old + weight * (value - old), memory_order_relaxed);
}

/* However it ended: an answer that was given up made that much work, too. */
void backlog_stop(struct scheduler *scheduler, const struct job *job,
                  const struct td_generate_result *result)
{
    struct backlog *backlog = &scheduler->backlog;
    if (!counts(job))
        return;
    atomic_fetch_sub(&backlog->running[kind_of(job)], 1);
    if (result->prompt_tokens == 0 || job->label_scores) /* labels are no answers */
        return;
    backlog->answer_count += backlog->answer_count < ANSWERS_REMEMBERED;
    double weight = 1.0 / backlog->answer_count, tokens = result->completion_tokens;
    move(&backlog->answer_mean, tokens, weight);
    move(&backlog->answer_square, tokens * tokens, weight);
    move(&backlog->computed, 1 - (double)result->cached_tokens / result->prompt_tokens, weight);
}

void backlog_leave(struct scheduler *scheduler, struct job *job)
{
    if (!counts(job))
        return;
    backlog_prompt_done(scheduler, job);
    atomic_fetch_sub(&scheduler->backlog.jobs[kind_of(job)], 1);
}

void backlog_note_pace(struct scheduler *scheduler)
{
    struct backlog *backlog = &scheduler->backlog;
    double token_ms = pace_streams_ms(&scheduler->pace, scheduler->slot_count);
    if (token_ms > 0)
        atomic_store_explicit(&backlog->token_ms, token_ms, memory_order_relaxed);
    if (scheduler->pace.prompt_row_ms > 0)
        atomic_store_explicit(&backlog->prompt_row_ms, scheduler->pace.prompt_row_ms,
                              memory_order_relaxed);
}

double job_waited_ms(const struct job *job)
{
    return job->admitted_ms > 0 ? job->admitted_ms - job->submitted_ms : 0;
}

/* --- before the first job --- */

/* 0 when it failed. */
static double timed_pass_ms(struct scheduler *scheduler, uint32_t rows)
{
    static const int32_t ids[WARM_UP_ROWS]; /* any text takes as long */
    const struct segment segment = {
        .sequence = &scheduler->slots[0].sequence, .ids = ids, .count = rows, .logit_rows = 1};
    sequence_truncate(&scheduler->slots[0].sequence, 0);
    double begin_ms = clock_monotonic_ms(NULL);
    enum td_status status =
        forward_run(scheduler->workspace, &segment, 1, scheduler->workspace->logits, NULL);
    return status == TD_OK ? clock_monotonic_ms(NULL) - begin_ms : 0;
}

/* A pass of a small model takes less than a turn of the processor. One that had to wait for its
 * turn would make the device seem a hundred times slower than it is until answers have told better,
 * and requests with a deadline would pass it by. So the best of several short passes counts. */
static double best_pass_ms(struct scheduler *scheduler, uint32_t rows)
{
    double best_ms = 0, spent_ms = 0;
    for (int i = 0; i < WARM_UP_TRIES && spent_ms < WARM_UP_ENOUGH_MS; i++) {
        double ms = timed_pass_ms(scheduler, rows);
        if (ms <= 0)
            return 0;
        best_ms = best_ms > 0 ? fmin(best_ms, ms) : ms;
        spent_ms += ms;
    }
    return best_ms;
}

void scheduler_warm_up(struct scheduler *scheduler)
{
    if (scheduler->context_size < WARM_UP_ROWS)
        return;
    /* Reads the weights from the disk. That is the speed until the next passes have told better. */
    guess(&scheduler->backlog, timed_pass_ms(scheduler, WARM_UP_ROWS) / WARM_UP_ROWS);
    double prompt_ms = best_pass_ms(scheduler, WARM_UP_ROWS);
    double stream_ms = best_pass_ms(scheduler, 1);
    if (prompt_ms > 0 && stream_ms > 0) {
        pace_note(&scheduler->pace, 1, 0, stream_ms);
        pace_note(&scheduler->pace, 0, WARM_UP_ROWS, prompt_ms);
        backlog_note_pace(scheduler);
    }
    sequence_truncate(&scheduler->slots[0].sequence, 0);
}

/* --- the forecast --- */

/* The jobs that a new one has before it. Interactive jobs overtake batch work that waits, so only
 * the batch work that runs is before them. */
struct pile {
    double jobs, running, prompt_tokens;
};

static struct pile pile_before(const struct backlog *backlog, enum td_priority priority)
{
    unsigned run = atomic_load_explicit(&backlog->running[0], memory_order_relaxed);
    unsigned all = atomic_load_explicit(&backlog->jobs[0], memory_order_relaxed);
    unsigned batch_run = atomic_load_explicit(&backlog->running[1], memory_order_relaxed);
    struct pile pile = {.jobs = (double)(all > run ? all : run) + batch_run,
                        .running = (double)run + batch_run,
                        .prompt_tokens = (double)atomic_load_explicit(&backlog->prompt_tokens[0],
                                                                      memory_order_relaxed)};
    if (priority == TD_PRIORITY_INTERACTIVE)
        return pile;
    unsigned batch = atomic_load_explicit(&backlog->jobs[1], memory_order_relaxed);
    pile.jobs += batch > batch_run ? batch - batch_run : 0;
    pile.prompt_tokens +=
        (double)atomic_load_explicit(&backlog->prompt_tokens[1], memory_order_relaxed);
    return pile;
}

void scheduler_forecast(struct scheduler *scheduler, enum td_priority priority, uint32_t coming,
                        uint32_t prompt_tokens, struct scheduler_forecast *out)
{
    ASSERT(scheduler != NULL && out != NULL);
    struct backlog *backlog = &scheduler->backlog;
    double slots = scheduler->slot_count;
    double mean = atomic_load_explicit(&backlog->answer_mean, memory_order_relaxed);
    double square = atomic_load_explicit(&backlog->answer_square, memory_order_relaxed);
    double computed = atomic_load_explicit(&backlog->computed, memory_order_relaxed);
    *out = (struct scheduler_forecast){
        .prompt_row_ms = atomic_load_explicit(&backlog->prompt_row_ms, memory_order_relaxed),
        .token_ms = atomic_load_explicit(&backlog->token_ms, memory_order_relaxed),
        .answer_mean = mean,
        .answer_most = mean + TAIL_DEVIATIONS * sqrt(fmax(square - mean * mean, 0)),
    };
    struct pile pile = pile_before(backlog, priority);
    pile.jobs += coming;
    pile.prompt_tokens += (double)coming * prompt_tokens;
    double prompts_ms = pile.prompt_tokens * computed * out->prompt_row_ms;
    /* Those that run are half done, on average. */
    double answers_ms = (pile.jobs - pile.running / 2) * mean * out->token_ms / slots;
    double turns = pile.jobs >= slots ? (pile.jobs - slots + 1) / pile.jobs : 0;
    out->wait_ms = fmax(prompts_ms, (prompts_ms + answers_ms) * turns);
}
