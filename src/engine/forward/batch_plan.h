/* Decides which jobs are in the next forward pass, with how many tokens, and which job is next in
 * the queue. Plain data in and out, no clock, no thread: the scheduler (scheduler.h) asks before
 * each pass.
 *
 * Interactive streams always get their next token. Interactive prompts are served first come, first
 * served, so that prompts that arrive together get their first tokens one after another and not all
 * at the end. While anybody streams, prompts may make the pass about twice as long as one in which
 * all running jobs stream. Batch work gets the rest, least recently served first. If nobody else
 * waits that is everything, otherwise a quarter of what a prompt would get and at least one token,
 * so it always moves. Spare work waits while others have anything due. Its passes are short,
 * because a new job waits for the end of one. */
#ifndef ENGINE_BATCH_PLAN_H
#define ENGINE_BATCH_PLAN_H

#include "base/text/names.h"

#define PACE_STREAMS_MAX 32

struct pace_point {
    double rows, ms; /* rows 0 = not seen yet */
};

/* The recent cost of passes, as moving averages. */
struct pace {
    double streams_ms[PACE_STREAMS_MAX + 1]; /* streams alone, by their rows; 0 = not seen yet */
    struct pace_point prompts;               /* prompts alone, large passes only */
    struct pace_point both;
    double prompt_row_ms; /* a row of prompts, in passes of any size; 0 = not seen yet */
};

/* Adds the time of a pass. */
void pace_note(struct pace *pace, uint32_t stream_rows, uint32_t prompt_rows, double ms);
/* The time of a pass with one token of each of `count` streams; 0 = none was measured. */
double pace_streams_ms(const struct pace *pace, uint32_t count);
/* How many rows of prompts may join `stream_rows` rows of streams, so that the pass takes less than
 * twice as long as one with a token of each of `job_count` jobs. The streams will see passes of
 * that length anyway, once the prompts have become streams. A cautious number before anything was
 * measured. */
uint32_t pace_prompt_rows(const struct pace *pace, uint32_t stream_rows, uint32_t job_count);

struct plan_entry {
    enum td_priority priority;
    bool streams;         /* it has its first token: its due tokens go together or not at all */
    uint32_t due;         /* tokens that must go through the model; 0 = none now */
    uint64_t order;       /* of its admission */
    uint64_t served_last; /* number of the last pass that it was in */
    uint32_t rows;        /* out: how many of the due tokens go now */
};

struct plan {
    uint32_t stream_rows, prompt_rows;
};

struct plan_limits {
    uint32_t row_max;  /* of a pass */
    uint32_t row_unit; /* the kernels multiply this many rows together; the rest costs more a row */
};

/* Sets entries[].rows. limits.row_max and limits.row_unit are at least 1. */
struct plan plan_batch(struct plan_entry *entries, uint32_t count, struct plan_limits limits,
                       const struct pace *pace);

/* A batch job that this many interactive jobs have overtaken in the queue is treated as one of
 * them. So under a steady load it waits for this many answers and not for ever. */
#define PLAN_OVERTAKEN_MAX 16

struct plan_waiting {
    enum td_priority priority;
    uint32_t overtaken; /* by later interactive jobs, so far */
    double turn;        /* virtual time of its owner (base/thread/fair.h): the least is next */
};

static inline bool plan_is_urgent(const struct plan_waiting *waiting)
{
    return waiting->priority == TD_PRIORITY_INTERACTIVE ||
           (waiting->priority == TD_PRIORITY_BATCH && waiting->overtaken >= PLAN_OVERTAKEN_MAX);
}

/* Index of the job to admit next, of `count` (at least 1) in the order of their arrival. Of those
 * that are equally urgent, it is the first of the owner whose turn it is. */
uint32_t plan_next(const struct plan_waiting *waiting, uint32_t count);
/* Counts that the job at `index` overtakes those before it. Call it before the job is taken out. */
void plan_note_overtaken(struct plan_waiting *waiting, uint32_t index);

/* How many of `total` slots (or pages) batch work may hold. A quarter stays free for others, so
 * that an interactive request need not wait for the end of a batch job. */
static inline uint32_t plan_batch_share(uint32_t total)
{
    return total - total / 4;
}

#endif
