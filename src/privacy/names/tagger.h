/* Finds names of people, places and organisations, and streets with their numbers. It is a
 * linear-chain tagger over hashed features, with weights from a file. It looks only at words that
 * can be part of a name (tagger_chunk.h).
 *
 * A word belongs to a name when the probability of that reaches a threshold, so that one number
 * trades precision against recall. The single best labelling (Viterbi) was rejected: it would fix
 * that trade in training. Immutable after open; any thread. */
#ifndef PRIVACY_TAGGER_H
#define PRIVACY_TAGGER_H

#include "privacy/kind/spans.h"
#include "privacy/names/tagger_chunk.h"

struct tagger;

/* **returns new** (tagger_close). */
TD_MUST_CHECK enum td_status tagger_open(const char *path, struct tagger **out,
                                         struct td_error *err);
/* The same from memory, 4-byte aligned. **borrows** data until tagger_close. */
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
    float least; /* a word with at least this probability is part of a name */
    float min_score;
    struct tagger_chunk chunk;
    struct chain chain;
    struct tagger_span spans[CHAIN_MAX]; /* of the last island */
    size_t span_count, span_at;
    size_t judged; /* words so far */
};

/* **borrows** both until the last tagger_next. */
void tagger_begin(struct tagger_cursor *cursor, const struct tagger *tagger, struct td_str text,
                  float min_score);
/* The next name, in order, not overlapping; false at the end.
 *
 * Work is limited: after TAGGER_WORDS_FREE words that may be part of a name, one in
 * TAGGER_WORD_BYTES bytes is judged, which is denser than in any language. The others count as
 * names of people with the least score. Otherwise a text of capitals would take as long as it
 * likes, or would hide a name after them. */
#define TAGGER_WORD_BYTES 6
#define TAGGER_WORDS_FREE 8192
bool tagger_next(struct tagger_cursor *cursor, struct tagger_span *out);

#endif
