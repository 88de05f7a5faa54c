/* Text in its plain form, one character at a time.
 *
 * The plain form undoes cheap hiding. Full-width and other scripts' digits and letters become
 * ASCII, every kind of space ' ', and every kind of dash '-'. Invisible characters (zero-width,
 * soft hyphen, direction marks) are skipped. Nothing is copied, so byte offsets are those of the
 * text. Which characters are invisible, spaces and dashes is said in base/text/unicode.h, for
 * detectors, tagger and restorer alike. Pure; any thread. */
#ifndef PRIVACY_PLAIN_H
#define PRIVACY_PLAIN_H

#include "base/core/ascii.h"
#include "tandem/types.h"

enum {
    PLAIN_END = -1,
    PLAIN_OTHER = 0x80, /* a character that has no ASCII form and separates words */
    PLAIN_LETTER        /* Latin, Greek or Cyrillic beyond ASCII: part of a word */
};

/* One character: its plain form and the bytes that it has. */
struct plain {
    int c; /* 0..0x7f or PLAIN_* */
    size_t begin, end;
};

/* What a character beyond ASCII is in plain form, 0 when it is invisible. */
int plain_form(uint32_t c);
/* The first visible character at or after `offset`. Inline for ASCII: on hostile text detectors
 * read some hundred characters a trigger. */
struct plain plain_at_any(struct td_str text, size_t offset);
static inline struct plain plain_at(struct td_str text, size_t offset)
{
    if (offset < text.len && (unsigned char)text.data[offset] < 0x80)
        return (struct plain){text.data[offset], offset, offset + 1};
    return plain_at_any(text, offset);
}

/* A letter of another script that looks like an ASCII one becomes that; all else stays. */
struct plain plain_look_alike(struct td_str text, struct plain letter);

/* The offset after a line's end at `offset`, with the blanks around it and the quotation marks of
 * mail ('>'); 0 without a line's end. */
size_t after_line_end(struct td_str text, size_t offset);

static inline bool is_word(int c)
{
    return ascii_is_alnum(c) || c == PLAIN_LETTER;
}

/* ASCII letters and digits, and the bytes of two-byte characters (Latin, Greek, Cyrillic). */
extern const bool plain_word_bytes[256];
static inline bool plain_is_word_byte(unsigned char c)
{
    return plain_word_bytes[c];
}

#define PLAIN_EACH_BYTE UINT64_C(0x0101010101010101)

/* How many of eight bytes, from the first, are ASCII letters. */
static inline unsigned plain_letters_of(uint64_t bytes)
{
    uint64_t low = (bytes | 0x20 * PLAIN_EACH_BYTE) & 0x7f * PLAIN_EACH_BYTE;
    /* bit 7 of each byte: below 'a', above 'z', or beyond ASCII */
    uint64_t others =
        (~(low + (0x80 - 'a') * PLAIN_EACH_BYTE) | (low + (0x7f - 'z') * PLAIN_EACH_BYTE) | bytes) &
        0x80 * PLAIN_EACH_BYTE;
    return others ? (unsigned)__builtin_ctzll(others) / 8 : 8;
}

#endif
