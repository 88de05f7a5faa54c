/* What the tagger looks at in a word and its neighbours, as hashes. The trainer and the product
 * share this file: a change here makes a new names file necessary. */
#ifndef PRIVACY_TAGGER_FEATURES_H
#define PRIVACY_TAGGER_FEATURES_H

#include "privacy/names/tagger_words.h"

#define TAGGER_FEATURES_MAX 32
/* How many words before and after a word its features look at. */
#define TAGGER_REACH 2

/* How a text is written as a whole; capitals say little where all or none are. */
enum tagger_case { CASE_MIXED, CASE_LOWER, CASE_CAPITALS };

/* An island of words among those around it: words[begin..end) of [count]. */
struct tagger_island {
    const struct tagger_word *words;
    size_t count, begin, end;
    enum tagger_case text_case;
    bool foreign; /* the lexicon knows little of its language: unknown words are not rare */
};

/* Features of the island's words[i]; beyond the ends of `words` there is nothing. Writes at most
 * TAGGER_FEATURES_MAX hashes, answers how many. */
size_t tagger_features(struct td_str text, const struct tagger_island *island, size_t i,
                       uint32_t *out);

#endif
