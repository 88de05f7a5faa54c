/* Many words found at once in one pass: Aho and Corasick, "Efficient string matching" (1975). Words
 * are bytes. The reader feeds one byte at a time and keeps the state, a number, so a text may come
 * in any pieces. One owner builds it; a sealed automaton is immutable (any thread). */
#ifndef PRIVACY_AUTOMATON_H
#define PRIVACY_AUTOMATON_H

#include "tandem/types.h"

#define AUTOMATON_ROOT 0u
#define AUTOMATON_NONE UINT32_MAX

struct automaton;

/* node_max bounds the memory: about 24 bytes a node, and no more nodes than bytes of words.
 * **returns new** (automaton_free); NULL without memory. */
struct automaton *automaton_new(uint32_t node_max);
void automaton_free(struct automaton *automaton);

/* automaton_value returns *value for this word. If the word is there already, *value becomes the
 * first one's. gaps[i] (may be NULL): whether other bytes may stand after byte i of the word. False
 * without memory, over the limit, or for an empty word. */
TD_MUST_CHECK bool automaton_add(struct automaton *automaton, struct td_str word, const bool *gaps,
                                 uint32_t *value);
/* Must come before the questions below. False without memory. */
TD_MUST_CHECK bool automaton_seal(struct automaton *automaton);

uint32_t automaton_step(const struct automaton *automaton, uint32_t state, unsigned char byte);
/* The length of the longest beginning of a word that the text ends with here. */
uint32_t automaton_depth(const struct automaton *automaton, uint32_t state);
/* The state of the next shorter such beginning. */
uint32_t automaton_shorter(const struct automaton *automaton, uint32_t state);
/* The state after bytes that belong to no word: the longest beginning with a gap at its end. */
uint32_t automaton_gap(const struct automaton *automaton, uint32_t state);
/* The value of the longest word that ends here, or AUTOMATON_NONE. automaton_next_whole gives the
 * state of the next shorter one. */
uint32_t automaton_value(const struct automaton *automaton, uint32_t state);
uint32_t automaton_next_whole(const struct automaton *automaton, uint32_t state);
uint32_t automaton_depth_max(const struct automaton *automaton);

#endif
