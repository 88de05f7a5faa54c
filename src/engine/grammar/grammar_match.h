/* Where a text stands in a grammar: a set of stacks, followed byte by byte.
 *
 * Stacks share their tails (a node is a state and the node to return to) and are never built twice,
 * so that a set of stacks is a sorted list of node numbers, and equal sets have one number. What a
 * byte does to a set is remembered: an automaton that is built while it runs, as RE2 does, for a
 * grammar with recursion. All of it has limits; MATCH_FULL says that one was met. One thread. */
#ifndef ENGINE_GRAMMAR_MATCH_H
#define ENGINE_GRAMMAR_MATCH_H

#include "engine/grammar/grammar.h"

#define MATCH_DEAD 0u           /* the set of no stacks: the text has left the grammar */
#define MATCH_FULL (UINT32_MAX) /* no set: out of memory, or the grammar explodes */

struct matcher;

/* Retains the grammar. **returns new** (matcher_free). */
TD_MUST_CHECK enum td_status matcher_new(struct td_grammar *grammar, struct matcher **out,
                                         struct td_error *err);
void matcher_free(struct matcher *matcher);

uint32_t matcher_start(struct matcher *matcher);
/* The set after `byte`; `set` must be the number of a set, or MATCH_DEAD. */
uint32_t matcher_step(struct matcher *matcher, uint32_t set, unsigned char byte);
bool matcher_may_end(const struct matcher *matcher, uint32_t set);
bool matcher_must_end(const struct matcher *matcher, uint32_t set); /* no byte can follow */
/* Fewest bytes after which the text may end; GRAMMAR_COST_MAX = that or more. */
uint32_t matcher_bytes_to_end(const struct matcher *matcher, uint32_t set);

/* The one byte that can follow, or -1: another can, or the text may end. */
int matcher_forced_byte(const struct matcher *matcher, uint32_t set);

/* More than half of what the limits allow is used: time for matcher_compact. */
bool matcher_is_crowded(const struct matcher *matcher);
/* Forgets every set but this one; returns its new number. All others are invalid after. */
uint32_t matcher_compact(struct matcher *matcher, uint32_t set);

#endif
