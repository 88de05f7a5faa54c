/* Surrogates for names. They have the same script and, as far as the spelling tells, the same
 * language and gender. The lists are our own. They leave out names that are ordinary words or
 * months, so that "Grace" or "Mark" in an answer is not taken for a surrogate. Pure functions; any
 * thread. */
#ifndef PRIVACY_SURROGATE_NAMES_H
#define PRIVACY_SURROGATE_NAMES_H

#include "base/bytes/buf.h"

enum name_group {
    NAMES_ENGLISH, /* and all Latin spellings that tell nothing */
    NAMES_GERMAN,
    NAMES_FRENCH,
    NAMES_SPANISH, /* and Portuguese */
    NAMES_ITALIAN,
    NAMES_SLAVIC, /* in Latin letters */
    NAMES_NORDIC,
    NAMES_TURKISH,
    NAMES_CYRILLIC,
    NAMES_GREEK,
    NAMES_CHINESE, /* and Japanese in Chinese characters */
    NAMES_KANA,
    NAMES_KOREAN,
    NAMES_ARABIC,
    NAMES_HEBREW,
    NAMES_DEVANAGARI,
    NAMES_GROUP_COUNT
};

enum name_part { NAME_FEMALE, NAME_MALE, NAME_FAMILY, NAME_PART_COUNT };

/* Decides by script, then by letters and endings. */
enum name_group surrogate_names_group_of(struct td_str phrase);
/* Whose given name is it? NAME_FAMILY: it is no given name that we know. */
enum name_part surrogate_names_part_of(struct td_str word);
/* The gender of a given name, by the lists or else by its ending: NAME_FEMALE or NAME_MALE. */
enum name_part surrogate_names_gender_of(struct td_str word);

/* How many names the list has, and one of them (**borrows** for ever). */
size_t surrogate_names_count(enum name_group group, enum name_part part);
struct td_str surrogate_names_at(enum name_group group, enum name_part part, size_t index);

/* Words that stay: particles, titles, suffixes ("von", "Dr", "Jr"). */
bool surrogate_names_is_particle(struct td_str word);

/* Appends a word that no language has, of syllables that the number chooses, with a capital. Used
 * when a list is used up, and for places and organisations. */
void surrogate_names_invent(uint64_t number, struct buf *out);

#endif
