/* How a text spells: its letters and digits one after another without case, as a reader compares
 * words, and what stands between them. It reads through JSON's escapes, markdown's backslashes,
 * invisible characters, full-width forms and percent-escapes of punctuation. Pure functions; any
 * thread. */
#ifndef PRIVACY_SPELL_H
#define PRIVACY_SPELL_H

#include "base/bytes/buf.h"
#include "tandem/types.h"

enum sign_kind {
    SIGN_END, /* no byte is left */
    SIGN_CUT, /* what is left may be the beginning of a sign */
    SIGN_LETTER,
    SIGN_DIGIT,
    SIGN_GAP,     /* anything that separates */
    SIGN_NOTHING, /* invisible */
};

struct sign {
    enum sign_kind kind;
    uint32_t c;    /* without case; of a gap: the character that it stands for */
    bool upper;    /* a capital */
    bool escaped;  /* written as \uXXXX or another escape of JSON */
    bool unspaced; /* of a script that puts no spaces between words */
    size_t begin, end;
};

/* The sign at the offset. more: bytes may follow the text, so that its end says nothing. */
struct sign spell_at(struct td_str text, size_t offset, bool more);

static inline bool spell_is_significant(const struct sign *sign)
{
    return sign->kind == SIGN_LETTER || sign->kind == SIGN_DIGIT;
}

/* "\n" in a text is a line's end in a program and the beginning of a name in C:\nina. Who looks for
 * words reads it both ways: the backslash alone (spell_split), and after the letter a word may
 * begin as well. */
struct backslashes {
    uint32_t run;      /* that have just been read */
    bool after_letter; /* the sign before may have been an escape's letter */
};
/* Cuts the escape after its backslash. json: what is surely an escape, because no backslash or two
 * stand before it, stays one. Then notes the sign. */
void spell_split(struct backslashes *before, struct td_str text, bool json, struct sign *sign);

uint32_t spell_upper(uint32_t c);

/* Appends all letters and digits without case, as UTF-8. */
void spell_fold(struct td_str text, struct buf *out);
/* How many letters and digits there are. */
size_t spell_count(struct td_str text);
/* A hash of what spell_fold writes. */
uint64_t spell_hash(struct td_str text);

enum spell_case { SPELL_MIXED, SPELL_LOWER, SPELL_UPPER, SPELL_TITLE };
/* TITLE: a capital, then small letters only. A text without letters is MIXED. */
enum spell_case spell_case_of(struct td_str text);
/* Appends the text in that case; MIXED: as it is. TITLE changes the first letter of every word. */
void spell_in_case(struct td_str text, enum spell_case form, struct buf *out);

/* Appends `form`'s separators with the letters and digits of `filling` in the place of its own;
 * both have equally many. A letter keeps the case that it has in filling. */
void spell_fill(struct td_str form, struct td_str filling, struct buf *out);

#endif
