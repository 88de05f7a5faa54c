/* The lists from which lexicon.c builds its table. Words are in lower case, with one space between
 * them. "a+b" means: b, if a stands before it. */
#ifndef PRIVACY_LEXICON_WORDS_H
#define PRIVACY_LEXICON_WORDS_H

#include <stddef.h>
#include <stdint.h>

struct lexicon_list {
    uint32_t roles;
    uint8_t context;
    const char *words; /* an entry's value is its place in the list, from 1 */
};

extern const struct lexicon_list lexicon_lists[];
extern const size_t lexicon_list_count;

#endif
