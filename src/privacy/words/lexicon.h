/* The words that announce a value near them: "passport", "geboren", "street", "January", "Dr". All
 * languages and detectors share one table. The pass looks a word up by a hash that it has computed
 * anyway, so a text without such words costs almost nothing. Built once; any thread. */
#ifndef PRIVACY_LEXICON_H
#define PRIVACY_LEXICON_H

#include "privacy/kind/kind.h"
#include "privacy/text/plain.h"

/* What a word announces: a kind of privacy.h (its number), or one of these. */
enum {
    CONTEXT_BIRTH = PRIVACY_KIND_COUNT,
    CONTEXT_HOME,     /* "address", "lives at": a street may follow that no word marks */
    CONTEXT_HEALTH,   /* "diagnosis", "patient" */
    CONTEXT_IDENTITY, /* "national id", "tax number": any country's */
    CONTEXT_MEDICINE, /* its name */
    CONTEXT_PASSWORD,
    CONTEXT_NATIONAL, /* the last word of those that announce a kind of national number */
    CONTEXT_COUNT,
    CONTEXT_NONE = 255
};

enum {
    ROLE_MONTH = 1,       /* value: 1..12 */
    ROLE_MONTH_SHORT = 2, /* "Jan": a month only beside a number */
    ROLE_WEEKDAY = 4,
    ROLE_TITLE = 8,         /* "Mr", "Dr" */
    ROLE_NRP = 16,          /* nationality, religion, political group */
    ROLE_STREET = 32,       /* "Street", after a name */
    ROLE_STREET_FIRST = 64, /* "Rue", before a name */
    ROLE_UNIT = 128,        /* "Apt", "Suite": with a number of their own */
    ROLE_BOX = 256,         /* "Box", "PSC": an address by themselves with a number */
    ROLE_STATE = 512,       /* "CA": before a ZIP code */
    ROLE_COUNTRY = 1024,
    ROLE_MEDICINE = 2048,
    /* What follows is asked for only next to numbers. */
    ROLE_PARTICLE = 1 << 12,    /* "de", "von": inside a street's name */
    ROLE_OF = 1 << 13,          /* between day, month and year */
    ROLE_YEAR_BEFORE = 1 << 14, /* "since": a year follows */
    ROLE_YEAR_MAYBE = 1 << 15,  /* "of": a year may follow */
    ROLE_COUNTED = 1 << 16,     /* "people": the number before was an amount */
    ROLE_DOSE = 1 << 17,
    ROLE_AGE_BEFORE = 1 << 18,   /* "aged" */
    ROLE_VERB_BEING = 1 << 19,   /* "am", "'s" */
    ROLE_YEARS = 1 << 20,        /* "years", "Jahre" */
    ROLE_STREET_LAST = 1 << 21,  /* a word of its own between a name and a number: "utca" */
    ROLE_NUMBER_ALONE = 1 << 22, /* "Apt" 5 is an address by itself */
    ROLE_HALF_DAY = 1 << 23,     /* "pm" */
    ROLE_DOT = 1 << 24,          /* "dot": of an address in words */
    ROLE_KEY = 1 << 25,          /* "bearer", "password": a secret may follow */
    ROLE_STREET_RARE =
        1 << 26, /* "Landing": a street when a house number of some size stands before */
    ROLE_STREET_SURE = 1 << 27, /* "rue": before a name, with a small letter too */
    ROLE_JOB = 1 << 28,         /* "clerk": ends what somebody works as */
    ROLE_COMPANY = 1 << 29,     /* "Ltd": ends a firm's name */
    ROLE_LITTLE = 1 << 30, /* "the", "is": before names and titles and, except for "and", in none */
};
/* Of these the pass itself wants to know while it reads. */
#define ROLES_OF_PASS                                                                             \
    (ROLE_MONTH | ROLE_MONTH_SHORT | ROLE_WEEKDAY | ROLE_TITLE | ROLE_NRP | ROLE_DOT | ROLE_KEY | \
     ROLE_JOB | ROLE_COMPANY)

struct lexicon_entry {
    const char *word, *previous; /* previous: the word that must stand before, NULL any */
    uint8_t len, previous_len, context, value;
    uint16_t next;             /* entry of the same word, 0 none */
    uint32_t roles, all_roles; /* its own; with those of the entries after it */
};

#define LEXICON_FILTER_BITS \
    65536 /* 8 KB: stays in the first cache, one word of prose in 40 passes */
#define LEXICON_HASH_BASIS UINT64_C(0x811c9dc5)

/* A word's hash takes eight bytes a step, the last ones alone. Letters compare without case, ASCII
 * and Latin-1 alike: in UTF-8 the two cases of both differ in this bit alone. */
#define LEXICON_FOLD UINT64_C(0x2020202020202020)
static inline uint64_t lexicon_mix(uint64_t hash, uint64_t block)
{
    hash = (hash ^ block) * UINT64_C(0x9e3779b97f4a7c15);
    return hash ^ hash >> 32;
}
uint64_t lexicon_hash(const char *word, size_t len);

#define LEXICON_WORD_BYTES_MAX 40 /* of a word that is in a list */

/* Must have been called before the others in every thread's scan. */
void lexicon_init(void);
/* May it be a word that the pass wants to know? */
extern uint32_t lexicon_pass_filter[LEXICON_FILTER_BITS / 32];
static inline bool lexicon_may_hold(uint64_t hash)
{
    uint32_t bit = (uint32_t)(hash >> 48); /* only the upper bits depend on every letter */
    return lexicon_pass_filter[bit / 32] >> (bit % 32) & 1;
}

/* The first entry of the word, or NULL; the others by lexicon_next. */
const struct lexicon_entry *lexicon_find(uint64_t hash, const char *word, size_t len);
const struct lexicon_entry *lexicon_next(const struct lexicon_entry *entry);

/* A word of the text as it stands there. */
struct word {
    size_t begin, end;    /* equal: there is none */
    bool capital, digits; /* begins with a capital; digits only */
    uint32_t roles;       /* of all its entries */
    const struct lexicon_entry *entry;
};

/* Is there a word, and no mere number? */
static inline bool word_has_letters(const struct word *word)
{
    return word->end > word->begin && !word->digits;
}

/* The word that begins after at most `gap` characters of " ,.\t\n-" and their like from `offset` on
 * (ends before it). Longer words than LEXICON_WORD_BYTES_MAX are never in it. */
struct word word_after(struct td_str text, size_t offset, size_t gap);
struct word word_before(struct td_str text, size_t offset, size_t gap);
/* The same without looking it up, for who only asks how it is spelled: begin and end. */
struct word spelled_after(struct td_str text, size_t offset, size_t gap);
struct word spelled_before(struct td_str text, size_t offset, size_t gap);
bool word_is(struct td_str text, const struct word *word, const char *lower);
/* Is it one of the words of a list with spaces between? */
bool word_in(struct td_str text, const struct word *word, const char *list);

#endif
