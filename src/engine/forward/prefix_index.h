/* Keeps the pages of earlier sequences with their tokens. A later sequence with the same beginning
 * uses these pages instead of computing them again. Pages stay until the pool needs them; the least
 * recently used one goes first. Belongs to the thread of its pool.
 *
 * It is a tree: a page is a node, and its children are the pages that followed it in some text. So
 * a page is found only after exactly the tokens that its values depend on. Token ids are compared
 * themselves; there is no hash that an attacker could make collide. */
#ifndef ENGINE_PREFIX_INDEX_H
#define ENGINE_PREFIX_INDEX_H

#include "engine/forward/sequence.h"

struct prefix_index;

/* Texts share pages only within a scope. The time that a prompt takes shows that its text was there
 * before, so a scope contains those who may know that of each other. The caller chooses it, for
 * example a digest of the tenant; zeroes if all trust each other. Texts with different adapters are
 * always kept apart. */
struct prefix_scope {
    uint8_t bytes[32];
};

/* **returns new** (prefix_index_free, before the pool is freed); NULL = no memory. From then on the
 * pool takes pages from the index when it has no free ones. */
struct prefix_index *prefix_index_new(struct kv_pool *pool);
void prefix_index_free(struct prefix_index *index);

/* Gives an empty sequence, whose adapters are set, the longest known beginning of `ids`. It may end
 * in the middle of a page, which is copied when the sequence goes on; with a recurrent state it
 * ends where there is a checkpoint. Returns its length. */
uint32_t prefix_attach(struct prefix_index *index, struct sequence *sequence,
                       const struct prefix_scope *scope, const int32_t *ids, size_t count);

/* The length that prefix_attach would return. */
uint32_t prefix_find(const struct prefix_index *index, const struct sequence *sequence,
                     const struct prefix_scope *scope, const int32_t *ids, size_t count);

/* Adds the full pages of a sequence; with `last` (the sequence will not go on) also the half-full
 * one. Call it after each pass, so that sequences that run at the same time share pages too. */
void prefix_publish(struct prefix_index *index, struct sequence *sequence,
                    const struct prefix_scope *scope, bool last);

/* Forgets every text of the scope (NULL = of all), or of none (zeroes), that no sequence holds, and
 * overwrites the free pages. Of other scopes it forgets the half-full pages: the rest of such a
 * page may still have what lay there before. */
void prefix_forget(struct prefix_index *index, const struct prefix_scope *scope);

/* How many pages can be taken: free ones and those that only the index holds. */
uint32_t prefix_available(const struct prefix_index *index);

#endif
