/* What the detectors share: the place where a candidate begins, and the words around it. Detectors are pure
 * functions of a place; the pass (scan/scan.c) calls them and settles overlaps. */
#ifndef PRIVACY_DETECT_H
#define PRIVACY_DETECT_H

#include "privacy/detect/window.h"
#include "privacy/kind/spans.h"
#include "privacy/words/lexicon.h"

/* Where a candidate begins, and what stands before it in plain form (PLAIN_END = nothing). */
struct place {
    struct td_str text;
    size_t begin;
    int before, before2;           /* the character before, and the one before that */
    size_t before_begin;           /* offset of `before` */
    const struct context *context; /* the words that were read up to here */
    /* At a number: the word before it and the one behind its first digits. NULL elsewhere. */
    const struct word *previous, *next;
};

/* Where each announcing word (lexicon.h) last ended: the pass keeps it as it reads, so that no
 * detector looks back for words. */
#define CONTEXTS_MAX 112
struct context {
    size_t ended[CONTEXTS_MAX]; /* end + 1; 0 = not yet */
};

/* Did a word that announces `kind` (a kind or CONTEXT_*) end at most `reach` bytes before the
 * place? */
static inline bool place_context(const struct place *place, int kind, size_t reach)
{
    size_t ended = place->context ? place->context->ended[kind] : 0;
    return ended != 0 && ended - 1 <= place->begin && place->begin - (ended - 1) <= reach;
}
/* Does a letter of another script stand right before the place? */
bool script_before(const struct place *place);
/* Does a word of another script that announces the kind stand right before the place? */
bool script_announces(const struct place *place, int kind);
/* Does one begin within the few words behind `end`? */
bool place_context_after(const struct place *place, size_t end, int kind);

/* What the detectors of numbers keep from one number to the next. All zero at first. */
struct numbers {
    struct window window;
    struct word last;   /* the last word that is a number */
    struct word behind; /* the last word of letters that stood behind a number */
    size_t address_end; /* of the last street address */
    size_t date_end;    /* of the last date */
    struct streets {
        size_t
            next; /* where a word for a street begins, the first from some place on; 0 none yet */
        size_t read; /* as far as words were asked whether they are one */
    } streets;
};
#define NUMBER_FINDINGS_MAX 12
/* All that begins at the place, the first digit of a word that ends at word_end. Answers how many. */
size_t detect_number(struct numbers *numbers, struct place *place, size_t word_end,
                     struct privacy_span out[static NUMBER_FINDINGS_MAX]);

static inline struct privacy_span span_of(enum privacy_kind kind, size_t begin, size_t end,
                                          float score)
{
    return (struct privacy_span){.kind = kind, .begin = begin, .end = end, .score = score};
}

/* Does one of the NULL-ended lower-case words begin in the `reach` bytes before the offset? */
bool context_before(struct td_str text, size_t offset, size_t reach, const char *const *words);

/* Each fills *out and answers true when a finding begins at the place (detect_email: ends around
 * it). */
bool detect_card(const struct place *place, const struct window *window, struct privacy_span *out);
bool detect_ssn(const struct place *place, const struct window *window, struct privacy_span *out);
bool detect_ip4(const struct place *place, const struct window *window, struct privacy_span *out);
bool detect_ip6(const struct place *place, struct privacy_span *out);
bool detect_iban(const struct place *place, struct privacy_span *out);
/* place: at the first digit of a national number. */
bool detect_phone(const struct place *place, const struct window *window, struct privacy_span *out);
/* The index after a number in one of the national groupings, 0 when it is none. */
size_t phone_national(const struct place *place, const struct window *window, float *score);
/* place: at the '+'. */
bool detect_phone_plus(const struct place *place, struct privacy_span *out);
/* place: at the '@'; local_begin: where the run of local-part characters before it began. Finds an
 * address, or the password of a URL (kind PRIVACY_API_KEY). */
bool detect_email(const struct place *place, size_t local_begin, struct privacy_span *out);
#define KEY_CHARSETS 5
/* What was read ahead for one key in vain and need not be read again for the next one, which may begin
 * behind each sign of the same row of characters. All zero at first. */
struct keys {
    size_t no_token_end; /* no JSON web token begins before it */
    /* By set of characters: so many of them without a digit. */
    struct stretch {
        size_t begin, end, count;
    } stretches[KEY_CHARSETS];
};
/* place: at the first letter of a word: tokens known by their prefix, "Bearer ...", "password is
 * ...". */
bool detect_key(const struct place *place, struct keys *keys, struct privacy_span *out);
/* Quick refusal by the first letter and the byte after it (0x80 and above: not known yet). */
bool detect_key_possible(int first, int second);
/* place: at '=' or ':' of `api_key = ...`. */
bool detect_assignment(const struct place *place, struct privacy_span *out);
/* place: at a word for a password that ends at word_end: "is" or ':' and the password follow. */
bool detect_password(const struct place *place, size_t word_end, struct privacy_span *out);
/* "PIN: ...", "CVV is ...". */
bool detect_pin(const struct place *place, const struct window *window, struct privacy_span *out);
/* place: at the first '-' of "-----BEGIN". */
bool detect_private_key(const struct place *place, struct privacy_span *out);

/* Before the first scan of a thread. */
void detect_national_init(void);
/* National numbers that begin with a digit, and those that begin with a letter (place: at the first
 * character of a word). */
bool detect_national_number(const struct place *place, const struct window *window,
                            struct privacy_span *out);
bool detect_national_word(const struct place *place, struct privacy_span *out);
/* Dates and times that begin with a digit. */
bool detect_date(const struct place *place, const struct window *window, struct privacy_span *out);
/* place: at a month's name that ends at `end`; month: 1..12; brief: "Jan". The span may begin
 * before the place ("3 May"). */
bool detect_month(const struct place *place, size_t end, bool brief, struct privacy_span *out);
/* place: at a title's first letter ("Dr", "Mrs"). */
bool detect_title(const struct place *place, size_t end, struct privacy_span *out);
/* place: at the noun of an occupation that ends at `end`; the span begins at or before it. */
bool detect_job(const struct place *place, size_t end, struct privacy_span *out);
/* place: at a legal form ("Ltd") that ends at `end`; the span begins at the firm's name. */
bool detect_company(const struct place *place, size_t end, struct privacy_span *out);
/* "41 years old", "aged 41", "turned 41". */
bool detect_age(const struct place *place, const struct window *window, struct privacy_span *out);
/* place: at the first digit of a house number, a ZIP code, a box or a flat; the span may begin
 * before it. */
bool detect_address(struct streets *streets, const struct place *place, const struct window *window,
                    struct privacy_span *out);
/* place: at the first letter: British and Canadian postal codes. */
bool detect_postcode(const struct place *place, struct privacy_span *out);
/* Numbers that only a word near them makes what they are: passports, licences, medical records,
 * plates, bank accounts. place: at a word with a digit in it. dated: a date begins there. */
#define DOCUMENT_REACH 40 /* bytes between the word and the number */
bool detect_document(const struct place *place, bool dated, struct privacy_span *out);
/* The end of the longest licence plate of a known series that begins at the place, 0 none. */
size_t plate_end(const struct place *place);
/* place: at a capital letter of a word with a digit in it. */
bool detect_icd10(const struct place *place, struct privacy_span *out);
/* Does a decimal comma or a unit that is no ASCII word ("µg") follow the number? */
bool detect_dose_possible(const struct place *place, const struct window *window);
/* place: at a number with a unit of mass or volume behind it; before it a medicine's name. */
bool detect_dose(const struct place *place, const struct window *window, struct privacy_span *out);
/* 48.8584, 2.2945 and 48°51'29"N 2°17'40"E. */
bool detect_coordinates(const struct place *place, const struct window *window,
                        struct privacy_span *out);
/* Six pairs of hex digits with : or - between, or three groups of four with dots. */
bool detect_mac(const struct place *place, struct privacy_span *out);
/* A row of characters of paths that was read: addresses may stand within the path of another one. */
struct path {
    size_t begin, end;
};
/* place: at the first letter of a word. http://host/path and bare host names. path: all zero at first. */
bool detect_url(const struct place *place, struct path *path, struct privacy_span *out);
/* Is the label one that exists at the top? */
bool domain_is_top_level(struct td_str label);
bool detect_domain(const struct place *place, size_t word_end, struct path *path,
                   struct privacy_span *out);
/* Bitcoin (base58check, bech32), Ethereum, Litecoin, Tron. */
bool detect_crypto(const struct place *place, size_t word_end, struct privacy_span *out);
/* BIC of 8 or 11 characters. */
bool detect_swift(const struct place *place, size_t word_end, struct privacy_span *out);
/* Long strings of base64 characters that look drawn by lot. */
bool detect_random(const struct place *place, size_t word_end, struct privacy_span *out);

#endif
