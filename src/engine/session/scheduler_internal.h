/* What the scheduler's files share: scheduler.c (life, the thread), scheduler_admit.c (queue to
 * slots), scheduler_pass.c (slots to forward passes). */
#ifndef ENGINE_SCHEDULER_INTERNAL_H
#define ENGINE_SCHEDULER_INTERNAL_H

#include "base/thread/fair.h"
#include "base/thread/queue.h"
#include "engine/forward/batch_plan.h"
#include "engine/forward/forward.h"
#include "engine/forward/prefix_index.h"
#include "engine/session/job.h"
#include "engine/session/scheduler_draft.h"

#define SLOTS_MAX 256

enum slot_state {
    SLOT_FREE,
    SLOT_RUNNING,
    SLOT_ENDING /* ended, but its loop has not taken the post */
};

struct slot {
    struct sequence sequence;
    enum slot_state state;
    struct job *job;
    struct generation generation;
    struct generation_due due; /* of the pass under way */
    uint32_t page_need;        /* most pages that the job may need */
    uint64_t order;            /* number of its admission */
    uint64_t served_last;      /* number of the pass that it was in last */
    bool begun;                /* some of the prompt has gone through the model */
};

/* What to overwrite of ended answers. */
enum forget {
    FORGET_UNUSED = 1, /* free pages */
    FORGET_ALL = 2,    /* also pages that are kept for other jobs */
    FORGET_SCOPE = 4   /* of these, what belongs to forget_scope */
};

/* What a forecast is made from (scheduler_forecast.c). Spare work counts for nothing: it gives
 * way. */
struct backlog {
    /* By whether they are batch work. `jobs` run or wait. */
    atomic_uint jobs[2], running[2];
    atomic_ullong prompt_tokens[2]; /* of jobs that have no token of their answer yet */
    /* Moving averages. Only the scheduler thread writes them. */
    _Atomic double prompt_row_ms, token_ms; /* token_ms: of a pass with all slots streaming */
    _Atomic double computed;                /* share of a prompt that was not cached */
    _Atomic double answer_mean, answer_square;
    uint32_t answer_count; /* so far; only the scheduler thread reads it */
};

struct scheduler {
    struct scheduler_options options;
    enum td_speculation speculation;
    uint32_t draft_tokens;
    float exit_threshold;
    const struct td_model *model;
    bool holds_weights; /* counted as in use (memory.h) */
    struct thread_pool *threads;
    struct kv_pool *kv_pool;
    struct prefix_index *prefixes; /* what ended and running answers have computed */
    struct workspace *workspace;
    struct scheduler_draft *draft; /* NULL without one */
    struct slot *slots;
    uint32_t slot_count;
    uint32_t jobs_max; /* running and waiting, without spare ones */
    /* With as many spare ones as slots, so that they take no other's place, and as many of owners,
     * so that one who fills the queue does not keep others out (scheduler_collect). */
    uint32_t places_max;
    uint32_t context_size;
    struct queue *submitted; /* from any thread */
    struct wake *wake;
    pthread_t thread;
    bool thread_started;
    atomic_bool stop;
    atomic_uint forget; /* set of enum forget that is due, see scheduler_forget */
    /* Whoever turns forget_claimed on may write the scope; the scheduler's thread reads it after
     * FORGET_SCOPE, and turns it off. */
    atomic_bool forget_claimed;
    struct prefix_scope forget_scope;
    bool keep_nothing;
    atomic_uint jobs, spares;           /* running and waiting; spares are not in jobs */
    atomic_uint running;                /* of both kinds */
    atomic_uint pages_used, page_count; /* 0 = asleep: the memory is given back */
    atomic_uint load_ms;                /* of the last time that it was taken */
    _Atomic uint64_t loads, memory_bytes;
    _Atomic uint64_t prompt_tokens, cached_tokens, completion_tokens, passes, rows, pass_us;
    _Atomic uint64_t drafted_tokens, accepted_tokens;
    struct backlog backlog;
    _Atomic double page_share, exit_share; /* scheduler_ease */
    atomic_bool sleep_early;

    /* Only the scheduler thread uses what follows. */
    struct job **waiting;               /* [places_max], in the order of their arrival */
    struct plan_waiting *waiting_plans; /* [places_max], of the same jobs */
    uint32_t waiting_count;
    struct fair fair;   /* owners of jobs */
    uint32_t page_need; /* of all slots */
    struct pace pace;
    uint64_t admissions, pass;
    bool post_failed;
    struct plan_entry entries[SLOTS_MAX]; /* working memory of a pass */
    struct segment segments[SLOTS_MAX];
    struct slot *segment_slots[SLOTS_MAX];
};

static inline uint32_t slot_number(const struct scheduler *scheduler, const struct slot *slot)
{
    return (uint32_t)(slot - scheduler->slots);
}

/* Takes new jobs from the queue, drops those that were cancelled while they waited, and gives slots
 * to those that fit. */
void scheduler_admit(struct scheduler *scheduler);
/* Runs one forward pass with all jobs that are due; false when none was. */
bool scheduler_pass(struct scheduler *scheduler);

/* The backlog's accounts. A job enters when it is submitted and leaves once, whatever becomes of
 * it. */
void backlog_init(struct scheduler *scheduler);
void backlog_enter(struct scheduler *scheduler, struct job *job);
void backlog_run(struct scheduler *scheduler, struct job *job);
void backlog_prompt_done(struct scheduler *scheduler, struct job *job);
void backlog_stop(struct scheduler *scheduler, const struct job *job,
                  const struct td_generate_result *result);
void backlog_leave(struct scheduler *scheduler, struct job *job);
void backlog_note_pace(struct scheduler *scheduler);
/* Runs three short passes over nothing in particular, so that the weights are in memory and the
 * first forecast rests on a measurement. */
void scheduler_warm_up(struct scheduler *scheduler);

void scheduler_collect(struct scheduler *scheduler);
void scheduler_forget_job(struct scheduler *scheduler, struct job *job);
/* The job has ended in its slot: its owner pays for what it really was. */
void scheduler_settle(struct scheduler *scheduler, struct job *job,
                      const struct td_generate_result *result);
/* Takes the memory that jobs need, or gives it back (also after a failure to take it). Between
 * jobs, by the scheduler's thread. */
TD_MUST_CHECK enum td_status scheduler_open_memory(struct scheduler *scheduler,
                                                   struct td_error *err);
void scheduler_close_memory(struct scheduler *scheduler);
/* Brings the weights into memory, or tells the kernel that nobody reads them. */
void scheduler_read_weights(struct scheduler *scheduler);
void scheduler_drop_weights(struct scheduler *scheduler);

/* Ends the slot's job and gives the slot back, now or once the job's loop takes the post. */
void scheduler_end_slot(struct scheduler *scheduler, struct slot *slot, enum td_status status,
                        const struct td_error *err);

#endif
