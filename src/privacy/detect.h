/* What the detectors share: reading text in its plain form, and the place where a candidate begins.
 *
 * The plain form undoes cheap hiding while byte offsets stay those of the text: full-width and
 * other scripts' digits and letters are ASCII, every kind of space is ' ', every kind of dash is
 * '-', and invisible characters (zero-width, soft hyphen, direction marks) do not exist. Nothing is
 * copied but one bounded window of a number. Detectors are pure functions; scan.c calls them and
 * settles overlaps. */
#ifndef PRIVACY_DETECT_H
#define PRIVACY_DETECT_H

#include "privacy/privacy.h"

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

/* The first visible character at or after `offset`. Inline for ASCII: on hostile text detectors
 * read some hundred characters a trigger. */
struct plain plain_at_any(struct td_str text, size_t offset);
static inline struct plain plain_at(struct td_str text, size_t offset)
{
    if (offset < text.len && (unsigned char)text.data[offset] < 0x80)
        return (struct plain){text.data[offset], offset, offset + 1};
    return plain_at_any(text, offset);
}

static inline bool is_digit(int c)
{
    return c >= '0' && c <= '9';
}

static inline bool is_alpha(int c)
{
    return (c | 0x20) >= 'a' && (c | 0x20) <= 'z' && c < 0x80;
}

static inline bool is_alnum(int c)
{
    return is_digit(c) || is_alpha(c);
}

static inline bool is_word(int c)
{
    return is_alnum(c) || c == PLAIN_LETTER;
}

static inline int to_lower(int c)
{
    return c >= 'A' && c <= 'Z' ? c + ('a' - 'A') : c;
}

static inline bool is_hex(int c)
{
    return is_digit(c) || ((c | 0x20) >= 'a' && (c | 0x20) <= 'f' && c < 0x80);
}

/* Where a candidate begins, and what stands before it in plain form (PLAIN_END = nothing). */
struct place {
    struct td_str text;
    size_t begin;
    int before, before2; /* the character before, and the one before that */
    size_t before_begin; /* offset of `before` */
};

/* A number as written: digits and what may separate them, in plain form. 64 characters hold the
 * longest (19 digits of a card, 15 digits of a phone with theirs). c[count] is what follows: never
 * one of these characters, 0 at the end of the text, PLAIN_LETTER (it runs on) when the window is
 * full. One more place stands behind it, so that looking two ahead is safe. */
#define WINDOW_MAX 64
struct window {
    size_t count;
    int c[WINDOW_MAX + 2];
    size_t begin[WINDOW_MAX + 1], end[WINDOW_MAX + 1];
};

/* Reads digits and " -./()" from `offset`. */
void window_read(struct td_str text, size_t offset, struct window *window);
/* Digits from index i on. */
size_t window_digits(const struct window *window, size_t i);

/* Does one of the NULL-ended lower-case words begin in the `reach` bytes before (after) the
 * offset? */
bool context_before(struct td_str text, size_t offset, size_t reach, const char *const *words);
bool context_after(struct td_str text, size_t offset, size_t reach, const char *const *words);

/* Each fills *out and answers true when a finding begins at the place (detect_email: ends around
 * it). */
bool detect_card(const struct place *place, const struct window *window, struct privacy_span *out);
bool detect_ssn(const struct place *place, const struct window *window, struct privacy_span *out);
bool detect_ip4(const struct place *place, const struct window *window, struct privacy_span *out);
bool detect_ip6(const struct place *place, struct privacy_span *out);
bool detect_iban(const struct place *place, struct privacy_span *out);
/* place: at the first digit of a national number. */
bool detect_phone(const struct place *place, const struct window *window, struct privacy_span *out);
/* place: at the '+'. */
bool detect_phone_plus(const struct place *place, struct privacy_span *out);
/* place: at the '@'; local_begin: where the run of local-part characters before it began. Finds an
 * address, or the password of a URL (kind PRIVACY_API_KEY). */
bool detect_email(const struct place *place, size_t local_begin, struct privacy_span *out);
/* place: at the first letter of a word: tokens known by their prefix, "Bearer ...", "password is
 * ...". */
bool detect_key(const struct place *place, struct privacy_span *out);
/* Quick refusal by the first letter and the byte after it (0x80 and above: not known yet). */
bool detect_key_possible(int first, int second);
/* place: at '=' or ':' of `api_key = ...`. */
bool detect_assignment(const struct place *place, struct privacy_span *out);
/* place: at the first '-' of "-----BEGIN". */
bool detect_private_key(const struct place *place, struct privacy_span *out);

#endif
