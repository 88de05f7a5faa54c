/* The engine's scheduler thread. It takes generation jobs from a bounded queue, runs them together,
 * and sends tokens back through the event loop of the job's owner. Each forward pass has the next
 * tokens of all streams and a part of the prompts, so a long prompt never stalls running streams.
 * An answer does not depend on the other jobs.
 *
 * scheduler_submit, scheduler_forget and scheduler_get_load may be called from any thread,
 * job_cancel from the job's loop. Callbacks run on the job's loop. */
#ifndef ENGINE_SCHEDULER_H
#define ENGINE_SCHEDULER_H

#include "base/text/names.h"
#include "base/thread/loop.h"
#include "engine/forward/prefix_index.h"
#include "engine/grammar/token_filter.h"
#include "engine/sampling/sampler.h"
#include "tandem/engine.h"

struct adapter_set;
struct label_plan;
struct scheduler;
struct job;

struct scheduler_options {
    const struct td_model *model;
    uint32_t slot_count;     /* most sequences running at once */
    uint32_t queue_capacity; /* jobs that may wait beyond that; more are TD_BUSY */
    uint32_t context_tokens; /* of one sequence */
    /* Of the KV cache that all share; 0 = the contexts of all slots, or what fits into half of the
     * memory. */
    uint32_t cache_tokens;
    uint32_t thread_count; /* 0 = one for each fast core */
    enum td_kv_type kv_type;
    enum td_speculation speculation; /* of all jobs */
    const struct td_model *draft;    /* for TD_SPECULATION_DRAFT, else NULL; scheduler_draft.h */
    uint32_t draft_tokens;           /* 0 = 8 */
    float exit_threshold;            /* of all jobs, as in td_generate_options */
    bool keep_nothing;               /* for all jobs, as in job_request */
    /* Memory is taken when the first job comes and given back after so long without one; jobs wait
     * meanwhile. 0 = it is taken at once and kept. */
    uint32_t idle_ms;
};

struct job_request {
    const int32_t *ids; /* prompt, copied */
    size_t id_count;
    enum td_priority priority;
    struct td_generate_options options; /* stops and biases are copied, the grammar is retained */
    bool marked;                        /* options.grammar speaks of tokens by `marks` */
    struct token_marks marks;
    struct sampler_dry dry;       /* beside options.sampling */
    struct adapter_set *adapters; /* retained; NULL = the bare model */
    struct prefix_scope scope;    /* computed prompts are shared within it */
    uint64_t owner;    /* whose job it is: owners that wait have their shares; 0 = nobody's */
    uint32_t weight;   /* of the owner; 0 = 1 */
    bool score_prompt; /* job_prompt_scores gives the scores */
    bool prompt_only;  /* nothing is generated; options.tokens_max is 1 */
    /* The labels [label_begin, label_end) of the plan's order are scored after the prompt
     * (job_label_scores), and nothing is generated. Retained; NULL = none. options.tokens_max is
     * at least the plan's depth. */
    struct label_plan *labels;
    size_t label_begin, label_end;
    bool keep_nothing; /* no other job uses its pages, and they are overwritten when it has ended */
    struct loop *loop; /* runs the callbacks */
    /* Each token in order, as in td_token_fn (token NULL: only text that was held back). The token
     * that ends the answer comes too, with empty text. token->piece borrows from the model;
     * token->top is valid during the call. */
    void (*on_token)(void *ctx, const struct td_token *token, struct td_str text);
    /* Called exactly once, last, unless job_cancel was called: TD_OK with result, or the
     * failure. */
    void (*on_done)(void *ctx, enum td_status status, const struct td_generate_result *result,
                    const struct td_error *err);
    void *ctx;
};

/* **returns new** (scheduler_free). **borrows** the models. */
TD_MUST_CHECK enum td_status scheduler_new(const struct scheduler_options *options,
                                           struct scheduler **out, struct td_error *err);
void scheduler_free(struct scheduler *scheduler); /* cancels what runs, joins the thread */

/* TD_BUSY when the queue is full (spare work: when there is as much of it as slots), TD_LIMIT when
 * the prompt does not fit the context. *out is valid until on_done returns or job_cancel is
 * called. */
TD_MUST_CHECK enum td_status scheduler_submit(struct scheduler *scheduler,
                                              const struct job_request *request, struct job **out,
                                              struct td_error *err);
/* Call it on the job's loop thread. No callback comes after it returns. The work stops within one
 * layer, or at the end of the pass if it has other jobs too. */
void job_cancel(struct job *job);

struct prompt_score;
/* With score_prompt: [id_count] scores (generate.h). Valid in on_token and on_done. **borrows**. */
const struct prompt_score *job_prompt_scores(const struct job *job);

/* With labels: the scores of label_walk.h, in the plan caller's order; NULL without. Valid in
 * on_done. **borrows**. */
const double *job_label_scores(const struct job *job, double *not_mine);

/* How long the job waited for its slot. Valid in on_done. */
double job_waited_ms(const struct job *job);

/* Whether no job leaves anything for others (scheduler_options). */
bool scheduler_keeps_nothing(const struct scheduler *scheduler);

/* Overwrites, soon and between two passes, what the answers that have ended left in memory:
 * computed prompts, tokens, keys and values. scope: only computed prompts of that scope go, and at
 * most the last page of others; NULL = those of all callers. Running jobs go on. Any thread. */
void scheduler_forget(struct scheduler *scheduler, const struct prefix_scope *scope);

struct scheduler_load {
    uint32_t running, waiting;
    uint32_t pages_used, page_count, page_tokens; /* of the KV cache */
    bool loaded;                                  /* the memory is taken (idle_ms) */
    uint32_t load_ms;                             /* the last loading; 0 = there was none */
    /* What its weights, its whole cache, working memory and draft model come to while it is loaded,
     * as they were compared with the free memory before. */
    uint64_t memory_bytes;
    uint64_t loads;
    /* Totals since the start. cached_tokens: how many of prompt_tokens were cached already. rows /
     * passes is the mean size of a batch. */
    uint64_t prompt_tokens, cached_tokens, completion_tokens, passes, rows;
    uint64_t pass_us; /* that passes took */
    uint32_t thread_count;
    /* Of ended answers: tokens guessed ahead, and how many of them were right. */
    uint64_t drafted_tokens, accepted_tokens;
};
struct scheduler_load scheduler_get_load(struct scheduler *scheduler);

/* What the machine can spare: it is hot, or short of memory. Any thread. */
struct scheduler_ease {
    double thread_share; /* of the threads that compute, at least one does */
    /* Of the pages, that may be promised at a time; a job that needs more waits until it is alone.
     */
    double page_share;
    /* Of exit_threshold, for jobs that come from now on: they leave the model earlier. */
    double exit_share;
    bool sleep; /* the memory is given back as soon as there is no job */
};
void scheduler_set_ease(struct scheduler *scheduler, const struct scheduler_ease *ease);

/* What a job would meet that came now. Before anything was measured, a guess from the size of the
 * model. */
struct scheduler_forecast {
    double wait_ms;       /* until its own prompt has its turn */
    double prompt_row_ms; /* a token of its prompt */
    double token_ms;      /* a token of its answer */
    /* Tokens of the answers that ended lately: their mean, and what few of them exceed. */
    double answer_mean, answer_most;
};
/* coming: jobs that are about to be submitted, each with a prompt of prompt_tokens. Any thread; no
 * lock. */
void scheduler_forecast(struct scheduler *scheduler, enum td_priority priority, uint32_t coming,
                        uint32_t prompt_tokens, struct scheduler_forecast *out);

#endif
