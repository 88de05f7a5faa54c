/* Names of people, places and organisations, and streets with their numbers: a linear-chain tagger over hashed features, on the
 * words that can be part of a name (tagger_chunk.h), with weights from a file. A word belongs to a
 * name when the probability of that reaches the threshold, so that one number trades precision
 * against recall; the best single labelling (Viterbi) would fix the trade where it was trained.
 * Immutable after open; any thread. */
#ifndef PRIVACY_TAGGER_H
#define PRIVACY_TAGGER_H

#include "privacy/kind/spans.h"
#include "privacy/names/tagger_chunk.h"

struct tagger;

/* returns new; tagger_close frees. */
TD_MUST_CHECK enum td_status tagger_open(const char *path, struct tagger **out,
                                         struct td_error *err);
/* Over memory of the caller's, 4-byte aligned, which must outlive it. */
TD_MUST_CHECK enum td_status tagger_open_memory(const void *data, size_t len, const char *label,
                                                struct tagger **out, struct td_error *err);
void tagger_close(struct tagger *tagger);
/* What the lexicon says of a word (enum of tagger_words.h), by its hash. */
uint16_t tagger_word_classes(const struct tagger *tagger, uint32_t hash);

struct tagger_span {
    enum tagger_type type;
    size_t begin, end; /* bytes */
    float score;       /* how likely it is a name, 0..1 */
};

/* One pass over a text. About 20 KB: one on the stack. */
struct tagger_cursor {
    const struct tagger *tagger;
    float least; /* probability of a name from which a word is one */
    float min_score;
    struct tagger_chunk chunk;
    struct chain chain;
    size_t island, at; /* first word of the chain in the chunk; next word of the chain to look at */
    size_t judged;     /* words so far */
};

/* Borrows both until the last tagger_next. */
void tagger_begin(struct tagger_cursor *cursor, const struct tagger *tagger, struct td_str text,
                  float min_score);
/* The next name, in order, not overlapping; false at the end. Words that may be part of a name are judged
 * as long as they are not denser than in any language (one in TAGGER_WORD_BYTES bytes, behind the
 * first TAGGER_WORDS_FREE). More of them count as names, of people and with the least score, because
 * nobody looked at them: else a text of capitals would take as long as it likes, or hide a name behind
 * them. */
#define TAGGER_WORD_BYTES 6
#define TAGGER_WORDS_FREE 8192
bool tagger_next(struct tagger_cursor *cursor, struct tagger_span *out);

#endif
