/* The smaller model that guesses ahead for the scheduler's streams (speculation.h): a session a
 * slot, of which all share one working memory and one pool of pages. Streams draft one after the
 * other, so that every guess of one makes the others wait: it pays while few run, and above
 * SPECULATION_DRAFT_STREAMS_MAX nobody drafts. That is also why contexts for so many are all the
 * memory that it takes: who begins to draft does so when no more than that many run, and who did
 * before is one of them.
 *
 * It has no adapters and reads a stream's text when it first guesses for it, a piece before each
 * pass. Texts that ended answers left behind are found again as those of the model are, within the
 * same scope. The scheduler's thread. */
#ifndef ENGINE_SCHEDULER_DRAFT_H
#define ENGINE_SCHEDULER_DRAFT_H

#include "engine/forward/prefix_index.h"
#include "engine/session/generate.h"
#include "engine/session/session.h"

struct scheduler_draft;

struct scheduler_draft_options {
    const struct td_model *model; /* whom it drafts for */
    const struct td_model *draft;
    uint32_t slot_count;
    uint32_t context_size; /* of a slot; the draft's own, where that is less */
    enum td_kv_type kv_type;
    struct thread_pool *threads;
    const atomic_bool *stop; /* as in struct workspace */
};

/* **returns new** (scheduler_draft_free), which **borrows** models, threads and stop. TD_INVALID
 * with the difference when the vocabularies are not the same. */
TD_MUST_CHECK enum td_status scheduler_draft_new(const struct scheduler_draft_options *options,
                                                 struct scheduler_draft **out,
                                                 struct td_error *err);
void scheduler_draft_free(struct scheduler_draft *draft); /* accepts NULL */

/* What it may come to hold: weights, cache and working memory. */
uint64_t scheduler_draft_bytes(const struct scheduler_draft *draft);

/* A slot's job begins: its session, for td_generate_options.draft. **borrows** cancel until
 * scheduler_draft_end. */
struct td_session *scheduler_draft_begin(struct scheduler_draft *draft, uint32_t slot,
                                         const atomic_bool *cancel);
/* Before the slot's next step, with `streams` jobs running. */
void scheduler_draft_prepare(struct scheduler_draft *draft, uint32_t slot,
                             struct generation *generation, const struct prefix_scope *scope,
                             uint32_t streams);
/* The slot's job has ended, and its generation is no more. scope NULL: nobody takes its text
 * over. */
void scheduler_draft_end(struct scheduler_draft *draft, uint32_t slot,
                         const struct prefix_scope *scope);
/* Overwrites what ended jobs have left; all: also what is kept for others. */
void scheduler_draft_forget(struct scheduler_draft *draft, bool all);

#endif
