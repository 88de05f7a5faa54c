/* Finds the places where a name is possible. It reads a text in chunks of words and gives out
 * islands: words in a row that may be part of a name. In most prose that is one word in ten; the
 * tagger looks at no other word. One owner. */
#ifndef PRIVACY_TAGGER_CHUNK_H
#define PRIVACY_TAGGER_CHUNK_H

#include "privacy/names/tagger_chain.h"
#include "privacy/names/tagger_features.h"

#define CHUNK_WORDS 256

struct tagger_chunk {
    const struct tagger_file *file;
    struct tagger_reader reader;
    struct tagger_word words[CHUNK_WORDS];
    size_t count, next;         /* words read; the first one not yet looked at */
    size_t floor;               /* end of the last island */
    bool ended;                 /* the text has no more words */
    enum tagger_case text_case; /* of the words read, and so is `foreign` */
    bool foreign;               /* see struct tagger_island */
};

/* Borrows both until the last chunk_next. */
void chunk_init(struct tagger_chunk *chunk, const struct tagger_file *file, struct td_str text);
/* The next island, words[*begin .. *end), at most CHAIN_MAX; false at the end of the text. The
 * words stay where they are until the next call. */
bool chunk_next(struct tagger_chunk *chunk, size_t *begin, size_t *end);
/* The gap after words[i]. */
enum tagger_gap chunk_gap_after(const struct tagger_chunk *chunk, size_t i);

#endif
