/* Reads a text as a row of words for the tagger: what a word is, what stands before it, how it is
 * written, and what the lexicon knows of it. Punctuation is no word; it is the gap before the next
 * one. Pure; any thread. */
#ifndef PRIVACY_TAGGER_WORDS_H
#define PRIVACY_TAGGER_WORDS_H

#include "tandem/types.h"

/* What stands between a word and the one before it. The numbers are in the names file. */
enum tagger_gap {
    GAP_SPACE,
    GAP_HYPHEN, /* glued by "-" */
    GAP_APOSTROPHE,
    GAP_DOT_SPACE, /* "J. Smith", and between sentences */
    GAP_DOT,       /* "J.R.", "example.com" */
    GAP_COMMA,
    GAP_NEWLINE,
    GAP_BLANK, /* an empty line; the beginning and the end of the text */
    GAP_COLON,
    GAP_POSSESSIVE, /* "John's car", "I'm here" */
    GAP_END,        /* ! ? ; */
    GAP_OPEN,       /* opening bracket, quotation mark */
    GAP_CLOSE,
    GAP_AND,  /* & */
    GAP_CODE, /* @ # _ / \ = < > and their like */
    GAP_DASH, /* " - " */
    GAP_COUNT
};

enum tagger_shape {
    SHAPE_LOWER,
    SHAPE_TITLE,
    SHAPE_CAPITALS,
    SHAPE_INITIAL, /* one capital */
    SHAPE_MIXED,   /* McDonald, GmbH */
    SHAPE_CAMEL,   /* iPhone */
    SHAPE_DIGITS,
    SHAPE_ALNUM, /* letters and digits */
    SHAPE_COUNT
};

/* What the lexicon says of a word. The bits are in the names file. */
enum {
    CLASS_ORDINARY = 1, /* stands in lower case in ordinary text */
    CLASS_GIVEN = 2,
    CLASS_SURNAME = 4,
    CLASS_CITY = 8,
    CLASS_REGION = 16, /* countries, states, provinces */
    CLASS_ORG = 32,    /* "bank", "GmbH": part of an organisation's name */
    CLASS_KNOWN_ORG = 64,
    CLASS_STREET = 128,
    CLASS_TITLE = 256,
    CLASS_CUE = 512,          /* "named", "dear": a name may follow */
    CLASS_CUE_PLACE = 1024,   /* "in", "near" */
    CLASS_TIME_PEOPLE = 2048, /* months, days, nationalities, languages */
    CLASS_FUNCTION = 4096,
    CLASS_PARTICLE = 8192, /* "van", "de", "bin" */
    CLASS_PRODUCT = 16384,
    CLASS_PLACE_PART = 32768 /* "north", "saint", "lake" */
};
#define CLASSES_OF_NAMES (CLASS_GIVEN | CLASS_SURNAME | CLASS_CITY | CLASS_REGION | CLASS_KNOWN_ORG)

struct tagger_word {
    size_t begin, end; /* bytes */
    uint32_t hash;     /* of the letters without case and accents; 0: says nothing */
    uint16_t classes;
    uint8_t gap, shape; /* gap: before the word */
    uint8_t length;     /* letters, at most 255 */
    bool sentence;      /* begins one */
    bool mixed;         /* of two scripts: look-alike letters count as Latin ones */
};

struct tagger_reader {
    struct td_str text;
    size_t at;
    uint16_t pending; /* signs after the last word that are read already */
    bool last_title;  /* shape of the last word: initial or abbreviation */
};

void tagger_reader_init(struct tagger_reader *reader, struct td_str text);
/* The next word, classes not yet filled. False at the end; then `word->gap` is what stood last. */
bool tagger_read(struct tagger_reader *reader, struct tagger_word *word);

/* Letters of a word without case and accents, low 16 bits of each; at most `capacity` (its first
 * ones). Returns how many. */
size_t tagger_letters(struct td_str text, const struct tagger_word *word, uint16_t *out,
                      size_t capacity);

static inline uint32_t tagger_mix(uint32_t x)
{
    x ^= x >> 16;
    x *= 0x85ebca6bu; /* finaliser of MurmurHash3 */
    x ^= x >> 13;
    x *= 0xc2b2ae35u;
    return x ^ x >> 16;
}

#endif
