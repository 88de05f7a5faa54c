/* What sequences have left behind: pages whose tokens are known, so that a later sequence that
 * begins alike takes them over instead of computing them again. Pages stay until their room is
 * wanted; the longest unused one goes first. Belongs to the thread of its pool.
 *
 * A tree: a page is a node, its children are pages that followed it in some text, so that a page is
 * found only behind the very tokens that its values depend on. Token ids themselves are compared;
 * there is no hash to be fooled. */
#ifndef ENGINE_PREFIX_INDEX_H
#define ENGINE_PREFIX_INDEX_H

#include "engine/forward/sequence.h"

struct prefix_index;

/* Texts share pages within a scope only: who may see (by the time that a prompt takes) that a text
 * was there before. The caller chooses it, such as a digest of the tenant; zeroes where all trust
 * each other. Adapters keep texts apart by themselves. */
struct prefix_scope {
    uint8_t bytes[32];
};

/* **returns new** (prefix_index_free, after which the pool may be freed), or NULL without memory.
 * The pool takes pages from the index from then on when it has no free ones. */
struct prefix_index *prefix_index_new(struct kv_pool *pool);
void prefix_index_free(struct prefix_index *index);

/* Gives an empty sequence (with its adapters set) the longest known beginning of `ids`, up to the
 * middle of a page (which is copied when the sequence goes on). Returns its length. */
uint32_t prefix_attach(struct prefix_index *index, struct sequence *sequence,
                       const struct prefix_scope *scope, const int32_t *ids, size_t count);

/* The length that prefix_attach would return now. */
uint32_t prefix_find(const struct prefix_index *index, const struct sequence *sequence,
                     const struct prefix_scope *scope, const int32_t *ids, size_t count);

/* Makes the full pages of a sequence known; `last` (when it will not go on): the half-full one as
 * well. Call it after each pass: sequences that run at the same time then share, too. */
void prefix_publish(struct prefix_index *index, struct sequence *sequence,
                    const struct prefix_scope *scope, bool last);

/* Forgets every text that nobody is at, and wipes what the free pages hold. */
void prefix_forget(struct prefix_index *index);

/* Pages that could be had: free ones and those that only the index holds. */
uint32_t prefix_available(const struct prefix_index *index);

#endif
