/* Many words found at once in one pass: Aho and Corasick, "Efficient string matching" (1975). Words
 * are bytes; the reader feeds a byte at a time and keeps one number of state, so that a text may
 * come in any pieces. Building is one owner's, a sealed automaton is immutable: any thread. */
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

/* value: what automaton_value says of the word; of words added twice the first is kept, and *value
 * is then that one. gaps[i] (may be NULL): may something else stand after byte i of the word?
 * False without memory, over the limit, or for no bytes. */
TD_MUST_CHECK bool automaton_add(struct automaton *automaton, struct td_str word, const bool *gaps,
                                 uint32_t *value);
/* Must come before the questions below. False without memory. */
TD_MUST_CHECK bool automaton_seal(struct automaton *automaton);

uint32_t automaton_step(const struct automaton *automaton, uint32_t state, unsigned char byte);
/* How many of the last bytes are the beginning of a word. */
uint32_t automaton_depth(const struct automaton *automaton, uint32_t state);
/* The state of the next shorter such beginning. */
uint32_t automaton_shorter(const struct automaton *automaton, uint32_t state);
/* After something that is in no word: the longest beginning after which it may stand. */
uint32_t automaton_gap(const struct automaton *automaton, uint32_t state);
/* The value of the word that is whole here, or AUTOMATON_NONE; the shorter ones by
 * automaton_next_whole. */
uint32_t automaton_value(const struct automaton *automaton, uint32_t state);
uint32_t automaton_next_whole(const struct automaton *automaton, uint32_t state);
uint32_t automaton_depth_max(const struct automaton *automaton);

#endif
