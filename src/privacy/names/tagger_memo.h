/* Remembers what the tagger found in islands of words that it has read before. A client sends the
 * whole conversation with each request, and programs send the same instructions each time, so most
 * islands come again. Only keyed hashes and places in the island are kept, no text. Owned by a
 * tagger; any thread. */
#ifndef PRIVACY_TAGGER_MEMO_H
#define PRIVACY_TAGGER_MEMO_H

#include "privacy/names/tagger_features.h"
#include "tandem/types.h"

#define TAGGER_MEMO_SPANS 3 /* an island with more names is not remembered */

struct tagger_memo;

struct tagger_memo_key {
    uint64_t words[2];
};

struct tagger_memo_span {
    uint16_t begin, end; /* bytes from the island's first */
    uint8_t type;        /* enum tagger_type */
    float score;
};

struct tagger_memo_spans {
    uint32_t count;
    struct tagger_memo_span span[TAGGER_MEMO_SPANS];
};

/* What the result depends on beside the island. */
struct tagger_memo_settings {
    float least, min_score;
    uint8_t gap_after;
};

/* **returns new** (tagger_memo_free); NULL without memory or random numbers: nothing is
 * remembered. */
struct tagger_memo *tagger_memo_new(void);
void tagger_memo_free(struct tagger_memo *memo);

/* Hashes all that the result depends on. False for an island that is too long. */
bool tagger_memo_key(const struct tagger_memo *memo, struct td_str text,
                     const struct tagger_island *island,
                     const struct tagger_memo_settings *settings, struct tagger_memo_key *out);
/* False: not there, or another thread is using the memo now. */
bool tagger_memo_find(struct tagger_memo *memo, const struct tagger_memo_key *key,
                      struct tagger_memo_spans *out);
void tagger_memo_keep(struct tagger_memo *memo, const struct tagger_memo_key *key,
                      const struct tagger_memo_spans *spans);

#endif
