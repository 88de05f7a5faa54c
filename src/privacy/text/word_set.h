/* The set of words in a text, as spell.h reads them. No surrogate may be one of them. One owner. */
#ifndef PRIVACY_WORD_SET_H
#define PRIVACY_WORD_SET_H

#include "tandem/types.h"

struct word_set {
    uint64_t *hashes; /* open addressing; 0 = free */
    size_t capacity, count;
    bool failed; /* out of memory: it does not hold all words */
};

void word_set_deinit(struct word_set *set);
/* Every run of letters and digits. */
void word_set_add(struct word_set *set, struct td_str text);
/* Only the text as a whole, as if nothing stood between its letters and digits. */
void word_set_add_joined(struct word_set *set, struct td_str text);
/* Writes the keys of the text's words that have at least that many letters, each once; at most
 * `capacity`. */
size_t word_set_list(struct td_str text, size_t letters_min, uint64_t *keys, size_t capacity);
bool word_set_has_key(const struct word_set *set, uint64_t key);
/* The word without case; a hash may be another's once in 2^64. */
bool word_set_has(const struct word_set *set, struct td_str word);
/* Are all of the text's runs in the set, or the text as one word? Then it could stand in the text
 * that the set was made of. */
bool word_set_may_hold(const struct word_set *set, struct td_str text);

#endif
