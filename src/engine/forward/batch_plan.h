/* Who gets into the next forward pass, with how many tokens, and who is next in the queue. Plain
 * data in and out, no clock, no thread: the scheduler (scheduler.h) asks once a pass.
 *
 * Interactive streams always get their next token. Interactive prompts go first come, first served,
 * so that prompts that arrive together get their first tokens one after another and not all at the
 * end; while anybody streams they may make the pass about twice as long as one in which all running
 * jobs stream. Batch work gets what is left: everything when nobody waits, else a quarter of
 * what a prompt would get, one token at least, least recently served first, so it always moves.
 * Spare work stands still while others have anything due, and its passes are short, because who
 * comes meanwhile waits for the end of one. */
#ifndef ENGINE_BATCH_PLAN_H
#define ENGINE_BATCH_PLAN_H

#include "base/names.h"

/* What passes have cost lately, as moving averages. */
#define PACE_STREAMS_MAX 32

struct pace_point {
    double rows, ms; /* rows 0 = not seen yet */
};

struct pace {
    double streams_ms[PACE_STREAMS_MAX + 1]; /* of streams alone, by their rows; 0 = not seen */
    struct pace_point prompts;               /* of prompts alone, large ones */
    struct pace_point both;
};

void pace_note(struct pace *pace, uint32_t stream_rows, uint32_t prompt_rows, double ms);
/* Rows of prompts beside `stream_rows` rows of streams, so that the pass takes less than twice as
 * long as one with a token of each of `job_count` jobs: those who stream now will see such passes
 * in any case, once the prompts have become streams. A cautious number before anything is known. */
uint32_t pace_prompt_rows(const struct pace *pace, uint32_t stream_rows, uint32_t job_count);

struct plan_entry {
    enum td_priority priority;
    bool streams;         /* has its first token: its due tokens go together or not at all */
    uint32_t due;         /* tokens that have to go through the model; 0 = not now */
    uint64_t order;       /* of its admission */
    uint64_t served_last; /* number of the last pass that it was in */
    uint32_t rows;        /* out: how many of them go now */
};

struct plan {
    uint32_t stream_rows, prompt_rows;
};

struct plan_limits {
    uint32_t row_max; /* of a pass */
    uint32_t
        row_unit; /* rows that the kernels multiply together: others cost more each; 1 = none */
};

/* Fills entries[].rows. */
struct plan plan_batch(struct plan_entry *entries, uint32_t count, struct plan_limits limits,
                       const struct pace *pace);

/* A batch job that so many interactive ones have overtaken in the queue is treated as one of them:
 * under a steady load it waits for that many answers more, not for ever. */
#define PLAN_OVERTAKEN_MAX 16

struct plan_waiting {
    enum td_priority priority;
    uint32_t overtaken; /* by later interactive jobs, so far */
};

static inline bool plan_is_urgent(const struct plan_waiting *waiting)
{
    return waiting->priority == TD_PRIORITY_INTERACTIVE ||
           (waiting->priority == TD_PRIORITY_BATCH && waiting->overtaken >= PLAN_OVERTAKEN_MAX);
}

/* The one to admit next, of `count` (at least 1) in the order of their arrival. */
uint32_t plan_next(const struct plan_waiting *waiting, uint32_t count);
/* Notes that the one at `index` goes, before it is taken out. */
void plan_note_overtaken(struct plan_waiting *waiting, uint32_t index);

/* Slots (or pages) that batch work may hold of `total`: a quarter stays free for others, so that an
 * interactive request need not wait for the end of a batch job. */
static inline uint32_t plan_batch_share(uint32_t total)
{
    return total - total / 4;
}

#endif
