/* The tagger of the process, and its findings as a scan takes them: one after another, in order. Any
 * thread; installing waits for scans that read with the old tagger. */
#ifndef PRIVACY_NAME_FINDER_H
#define PRIVACY_NAME_FINDER_H

#include "base/names.h"
#include "privacy/names/tagger.h"

/* For all scans from now on: findings of at least min_score, of this class. **takes** tagger; NULL:
 * names are not looked for. */
void name_finder_install(struct tagger *tagger, float min_score, enum td_data_class data_class);

/* Names from this probability on where a missed name costs more than a word that is none: one in fifty. */
#define NAME_STRICT_SCORE_MIN 0.02f

/* About 20 KB, on the stack of a scan. */
struct name_source {
    struct tagger_cursor cursor;
    struct td_str text;
    enum td_data_class data_class;
    bool on, strict;
    struct privacy_span next; /* begin: SIZE_MAX when there is no more */
};

/* Borrows the text until name_source_end, which must follow. */
void name_source_begin(struct name_source *source, struct td_str text, bool strict);
void name_source_advance(struct name_source *source);
void name_source_end(struct name_source *source);

/* The installed tagger stays until the release. The classes of a word (0 without a tagger) may be asked between. */
void name_finder_hold(void);
uint16_t name_finder_classes(uint32_t hash);
void name_finder_release(void);

#endif
