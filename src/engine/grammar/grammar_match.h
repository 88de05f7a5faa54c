/* Follows a text through a grammar, byte by byte. A place in the text is a set of stacks of rules.
 *
 * Stacks share their tails (a node is a state and the node to return to) and are never made twice.
 * So a set is a sorted list of node numbers, and equal sets have one number. The matcher remembers
 * to which set a byte leads. So it is an automaton that is built while it runs, as in RE2, but its
 * grammar may be recursive. It has limits; MATCH_FULL says that one was met. One thread. */
#ifndef ENGINE_GRAMMAR_MATCH_H
#define ENGINE_GRAMMAR_MATCH_H

#include "engine/grammar/grammar.h"

#define MATCH_DEAD 0u           /* the empty set: the text has left the grammar */
#define MATCH_FULL (UINT32_MAX) /* no set: out of memory, or the grammar is too ambiguous */

struct matcher;

/* Retains the grammar. **returns new** (matcher_free). */
TD_MUST_CHECK enum td_status matcher_new(struct td_grammar *grammar, struct matcher **out,
                                         struct td_error *err);
void matcher_free(struct matcher *matcher);

/* The set before any byte. */
uint32_t matcher_start(struct matcher *matcher);
/* The set after `byte`. In this and the calls below `set` is a number that the matcher gave, or
 * MATCH_DEAD. */
uint32_t matcher_step(struct matcher *matcher, uint32_t set, unsigned char byte);
bool matcher_may_end(const struct matcher *matcher, uint32_t set);
bool matcher_must_end(const struct matcher *matcher, uint32_t set); /* no byte can follow */
/* Fewest bytes after which the text may end; GRAMMAR_COST_MAX = this many or more. */
uint32_t matcher_bytes_to_end(const struct matcher *matcher, uint32_t set);

/* The only byte that can follow; -1 = there are several, or the text may end. */
int matcher_forced_byte(const struct matcher *matcher, uint32_t set);

/* Whether more than half of a limit is used: then matcher_compact is due. */
bool matcher_is_crowded(const struct matcher *matcher);
/* Forgets every set but this one and returns its new number. All other numbers become invalid. */
uint32_t matcher_compact(struct matcher *matcher, uint32_t set);

#endif
