/* The smaller model that guesses ahead for the scheduler's streams (speculation.h). Each slot has a
 * session; all share one working memory and one pool of pages. Streams draft one after another, so
 * every guess of one makes the others wait. That pays only while few streams run: with more than
 * SPECULATION_DRAFT_STREAMS_MAX no stream drafts. So the pool has pages for that many contexts and
 * no more.
 *
 * The smaller model has no adapters. It reads the text of a stream when it first guesses for it, a
 * piece before each pass. Texts of ended answers are found again within the same scope, as in the
 * larger model. Belongs to the scheduler's thread. */
#ifndef ENGINE_SCHEDULER_DRAFT_H
#define ENGINE_SCHEDULER_DRAFT_H

#include "engine/forward/prefix_index.h"
#include "engine/session/generate.h"
#include "engine/session/session.h"

struct scheduler_draft;

struct scheduler_draft_options {
    const struct td_model *model; /* the larger model */
    const struct td_model *draft;
    uint32_t slot_count;
    uint32_t context_size; /* of a slot; at most the draft's own is used */
    enum td_kv_type kv_type;
    struct thread_pool *threads;
    const atomic_bool *stop; /* as in struct workspace */
};

/* **returns new** (scheduler_draft_free). **borrows** models, threads and stop. TD_INVALID with the
 * difference when the vocabularies are not the same. */
TD_MUST_CHECK enum td_status scheduler_draft_new(const struct scheduler_draft_options *options,
                                                 struct scheduler_draft **out,
                                                 struct td_error *err);
void scheduler_draft_free(struct scheduler_draft *draft); /* accepts NULL */

/* The most memory that it may use: weights, cache and working memory. */
uint64_t scheduler_draft_bytes(const struct scheduler_draft *draft);

/* The job of a slot begins. Returns its session, for td_generate_options.draft. **borrows** cancel
 * until scheduler_draft_end. */
struct td_session *scheduler_draft_begin(struct scheduler_draft *draft, uint32_t slot,
                                         const atomic_bool *cancel);
/* Call it before the next step of the slot. streams: how many jobs run. */
void scheduler_draft_prepare(struct scheduler_draft *draft, uint32_t slot,
                             struct generation *generation, const struct prefix_scope *scope,
                             uint32_t streams);
/* The job of the slot has ended, and its generation is gone. scope NULL = no other job may use its
 * text. */
void scheduler_draft_end(struct scheduler_draft *draft, uint32_t slot,
                         const struct prefix_scope *scope);
/* Overwrites what ended jobs have left. all: also the pages that are kept for other jobs. */
void scheduler_draft_forget(struct scheduler_draft *draft, bool all,
                            const struct prefix_scope *scope);

#endif
