/* What a detector is, and what it is told of a place in a text.
 *
 * The pass (scan/scan.c) reads a text once. Where a value may begin it fills in a struct place and
 * asks the detectors of one trigger, in the order of the table in detectors.c. A detector is a
 * constant in its file: the kinds that it finds, when it is asked, and the function that decides.
 * That function reads a bounded stretch of text around the place and returns one finding or none.
 * Its only memory is struct detect_memory.
 *
 * To add a detector, write its file, name it in detectors.c, and give a new kind a row in
 * kind/kind.h. */
#ifndef PRIVACY_DETECT_H
#define PRIVACY_DETECT_H

#include "base/text/names.h"
#include "privacy/detect/window.h"
#include "privacy/kind/spans.h"
#include "privacy/words/lexicon.h"

/* --- when a detector is asked --- */

enum detect_trigger {
    TRIGGER_RUN,    /* a run of ASCII letters and digits begins; before the next three */
    TRIGGER_NUMBER, /* it begins with a digit */
    TRIGGER_WORD,   /* it begins with a letter */
    TRIGGER_TAIL,   /* it begins with a letter, after a letter of another script */
    TRIGGER_LISTED, /* a word that the lexicon knows; asked before TRIGGER_WORD */
    TRIGGER_AT,     /* '@' */
    TRIGGER_PLUS,
    TRIGGER_DASH,
    TRIGGER_COLON,
    TRIGGER_EQUALS,
    TRIGGER_COUNT
};
#define ON(trigger) (1u << TRIGGER_##trigger)

/* The shape of a place: what shows at once. TRIGGER_RUN, TRIGGER_WORD and TRIGGER_TAIL: */
#define WORD_LENGTH(n) (1u << (n)) /* ASCII letters and digits, n of 0..11 */
#define WORD_12_ON (1u << 12)
#define WORD_25_ON (1u << 13)
#define WORD_HAS_DIGIT (1u << 14)
#define WORD_CAPITAL (1u << 15)
#define WORD_FOREIGN \
    (1u << 16) /* what begins it is ASCII only in plain form: a full-width letter */
#define WORD_NUMBERED \
    (1u << 17)              /* has a digit, is foreign, or may be the letters before a number */
#define WORD_DOT (1u << 18) /* the character after it */
#define WORD_COLON (1u << 19)
#define WORD_DASH (1u << 20)
#define WORD_JOINT (1u << 21) /* / + _ */
#define WORD_OTHER (1u << 22) /* beyond ASCII */

/* TRIGGER_NUMBER: */
#define NUMBER_RUN(n) (1u << (n)) /* digits that it begins with, 9: nine or more */
#define NUMBER_RUNS(first, last) ((2u << (last)) - (1u << (first)))
#define NUMBER_IN_GROUPS (1u << 10) /* four digits and seven characters, or more */
#define NUMBER_7_DIGITS (1u << 11)  /* or more, in all its groups */
#define NUMBER_FIRST (1u << 12)     /* no number and one blank or dash stand before it */
#define NUMBER_DOT (1u << 13)       /* the character after its first digits */
#define NUMBER_SLASH (1u << 14)
#define NUMBER_PLUS (1u << 15)
#define NUMBER_LETTER (1u << 16)
#define NUMBER_COMMA (1u << 17)
#define NUMBER_OTHER (1u << 18)       /* beyond ASCII, also after a blank */
#define NUMBER_WORD_BEFORE (1u << 19) /* the next word is one with letters */
#define NUMBER_WORD_AFTER (1u << 20)

/* TRIGGER_LISTED: the roles of the word (ROLE_*), and: */
#define LISTED_PASSWORD (1u << 31)

/* Every place but a listed word: */
#define SHAPE_ALWAYS (1u << 31)

/* --- what it is told --- */

/* Where each announcing word (lexicon.h) last ended: the pass keeps it as it reads, so that no
 * detector looks back for words. */
#define CONTEXTS_MAX 112
struct context {
    size_t ended[CONTEXTS_MAX]; /* end + 1; 0 = not yet */
};

struct stretch {
    size_t begin, end;
};

#define KEY_CHARSETS 5
/* What was read ahead for one key without success. The next key may begin after each sign of the
 * same run of characters, and need not read it again. */
struct keys {
    size_t no_token_end; /* no JSON web token begins before it */
    /* By set of characters: characters without a digit among them, how many. */
    struct digitless {
        size_t begin, end, count;
    } digitless[KEY_CHARSETS];
};

/* Words for a street near house numbers: rows of numbers share the answer. */
struct streets {
    size_t next; /* where a word for a street begins, the first from some place on; 0 none yet */
    size_t read; /* as far as words were asked whether they are one */
};

/* Is told of every stretch of a text that reads another way. */
struct rereader {
    /* origin[plain.len + 1]: from `base`, where each byte of `plain` comes from. */
    void (*see)(void *ctx, struct td_str plain, const uint32_t *origin, size_t base);
    void *ctx;
};

/* What detectors keep from one place of a pass to the next. The pass owns it; all zero at first. */
struct detect_memory {
    struct keys keys;
    struct streets streets;
    size_t address_end;  /* of the last street address */
    struct stretch date; /* the last one with day, month and year; begin: its number's */
    struct stretch path; /* characters of a URL's path; addresses may stand within another's */
    struct stretch host; /* the last host name */
    size_t decoded_end;  /* of the base64 or %-escaped text that the pass has looked into */
    unsigned level;      /* how often this text was decoded */
    const struct rereader *rereader; /* NULL: nobody asks */
    bool names;                      /* names of people, places and firms are looked for, */
    enum td_data_class name_class;   /* and are findings of this class */
    const struct reading *reading;   /* whose text it is; NULL: one text */
    size_t part;                     /* of the reading, where a private key was last looked for */
};

/* Where a candidate begins, and what stands before it in plain form (PLAIN_END = nothing). */
struct place {
    struct td_str text;
    size_t begin;
    int before, before2;           /* the character before, and the one before that */
    size_t before_begin;           /* offset of `before` */
    const struct context *context; /* the words that were read up to here */
    struct detect_memory *memory;
    uint32_t shape;
    /* All but signs: */
    size_t run_end;  /* of the ASCII letters and digits */
    size_t word_end; /* of these and the letters beyond ASCII that follow */
    bool in_date;    /* within a date that began before */
    /* TRIGGER_NUMBER, else NULL: the number, and the words before it and after its first digits */
    const struct window *window;
    const struct word *previous, *next;
    /* TRIGGER_LISTED: */
    const struct lexicon_entry *entry;
    size_t entry_begin; /* of the word before it, where the entry has two words */
    bool capital;
    /* The signs: */
    size_t local_begin; /* of the characters of a mail address before it; SIZE_MAX none */
    size_t last_word;   /* where the ASCII word begins that ends here; SIZE_MAX none */
};

/* --- a detector --- */

#define DETECTOR_KINDS_MAX 8
#define KINDS_END 255
#define KINDS_NATIONAL 254 /* every kind with privacy_kind_is_national */

struct detector {
    uint8_t kinds[DETECTOR_KINDS_MAX + 1];
    uint32_t triggers; /* ON() each */
    uint32_t all, any; /* it is asked where the shape has all these and, if given, one of those */
    bool resumes;      /* the pass goes on after the finding: it is long and has no other within */
    bool (*find)(const struct place *place, struct privacy_span *out);
};

/* --- what they share --- */

static inline struct privacy_span span_of(enum privacy_kind kind, size_t begin, size_t end,
                                          float score)
{
    return (struct privacy_span){.kind = kind, .begin = begin, .end = end, .score = score};
}

/* Did a word that announces `kind` (a kind or CONTEXT_*) end at most `reach` bytes before the
 * place? */
static inline bool place_context(const struct place *place, int kind, size_t reach)
{
    size_t ended = place->context ? place->context->ended[kind] : 0;
    return ended != 0 && ended - 1 <= place->begin && place->begin - (ended - 1) <= reach;
}
/* Does one begin within the few words after `end`? */
bool place_context_after(const struct place *place, size_t end, int kind);
/* Does one of the NULL-ended lower-case words begin in the `reach` bytes before the offset? */
bool context_before(struct td_str text, size_t offset, size_t reach, const char *const *words);
/* Does a letter of another script stand right before the place? */
bool script_before(const struct place *place);
/* Does a word of another script that announces the kind stand right before the place? */
bool script_announces(const struct place *place, int kind);

/* Bytes between a word that announces a document and its number. */
#define DOCUMENT_REACH 40
/* Builds the index of the forms of national numbers, once in a process. */
void detect_national_init(void);
/* Finds a diagnosis that begins with a capital letter, in a word with a digit. The number of a
 * medical record is not one. */
bool detect_icd10(const struct place *place, struct privacy_span *out);
/* Is the label a top-level domain that exists? */
bool domain_is_top_level(struct td_str label);
/* RFC 2606, section 3: example.com, .org and .net, and what is below them. */
bool domain_is_example(struct td_str host);

#endif
