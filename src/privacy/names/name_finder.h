/* The tagger with its threshold and class. It gives a scan the names of a text one after another,
 * in order. Immutable; any thread. */
#ifndef PRIVACY_NAME_FINDER_H
#define PRIVACY_NAME_FINDER_H

#include "base/text/names.h"
#include "privacy/names/tagger.h"

struct name_finder {
    const struct tagger *tagger;   /* **borrows**; NULL: names are not looked for */
    float min_score;               /* of a name that is a finding, 0..1 */
    enum td_data_class data_class; /* of such a finding */
};

/* The threshold where a missed name costs fifty times as much as a false one. */
#define NAME_STRICT_SCORE_MIN 0.02f

/* About 20 KB, on the stack of a scan. */
struct name_source {
    struct tagger_cursor cursor;
    struct td_str text;
    enum td_data_class data_class;
    bool on, strict;
    struct privacy_span next; /* begin: SIZE_MAX when there is no more */
};

/* **borrows** the finder's tagger and the text until the last name_source_advance. */
void name_source_begin(struct name_source *source, const struct name_finder *finder,
                       struct td_str text, bool strict);
void name_source_advance(struct name_source *source);

/* What the tagger's list says of a word (CLASS_* of tagger_words.h); 0 without a tagger. */
uint16_t name_finder_classes(const struct name_finder *finder, uint32_t hash);

#endif
