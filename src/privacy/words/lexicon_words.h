/* The lists that lexicon.c builds its table from. Words are parted by one space, in lower case (the
 * form "a+b": b, when a stands before it). */
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
