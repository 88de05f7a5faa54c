/* The words of a text, one at a time. Nearly all words are ASCII letters, so those are read and
 * hashed eight bytes at a step. Everything else goes one character at a time through fold, which
 * takes case and accents away. Disguises must not hide a name. So invisible characters are skipped,
 * full-width letters are letters, and look-alikes from another script count as the Latin letters
 * that they look like. */
#include "privacy/names/tagger_words.h"

#include "base/core/ascii.h"
#include "base/text/unicode.h"
#include "base/text/utf8.h"

#include <string.h>

/* The punctuation of a gap, as a set. */
enum {
    PUNCT_SPACE = 1,
    PUNCT_NEWLINE = 2,
    PUNCT_BLANK = 4, /* a second line end */
    PUNCT_DOT = 8,
    PUNCT_COMMA = 16,
    PUNCT_COLON = 32,
    PUNCT_END = 64,
    PUNCT_OPEN = 128,
    PUNCT_CLOSE = 256,
    PUNCT_AND = 512,
    PUNCT_CODE = 1024,
    PUNCT_HYPHEN = 2048,
    PUNCT_APOSTROPHE = 4096,
    PUNCT_POSSESSIVE = 8192
};

static const uint16_t signs[128] = {
    [' '] = PUNCT_SPACE,  ['\t'] = PUNCT_SPACE | PUNCT_COLON,
    ['\r'] = PUNCT_SPACE, ['\n'] = PUNCT_NEWLINE,
    ['.'] = PUNCT_DOT,    [','] = PUNCT_COMMA,
    [':'] = PUNCT_COLON,  [';'] = PUNCT_END,
    ['!'] = PUNCT_END,    ['?'] = PUNCT_END,
    ['('] = PUNCT_OPEN,   ['['] = PUNCT_OPEN,
    ['{'] = PUNCT_OPEN,   ['"'] = PUNCT_OPEN,
    [')'] = PUNCT_CLOSE,  [']'] = PUNCT_CLOSE,
    ['}'] = PUNCT_CLOSE,  ['&'] = PUNCT_AND,
    ['-'] = PUNCT_HYPHEN, ['\''] = PUNCT_APOSTROPHE,
    ['@'] = PUNCT_CODE,   ['#'] = PUNCT_CODE,
    ['_'] = PUNCT_CODE,   ['/'] = PUNCT_CODE,
    ['\\'] = PUNCT_CODE,  ['='] = PUNCT_CODE,
    ['<'] = PUNCT_CODE,   ['>'] = PUNCT_CODE,
    ['*'] = PUNCT_CODE,   ['$'] = PUNCT_CODE,
    ['%'] = PUNCT_CODE,   ['+'] = PUNCT_CODE,
    ['|'] = PUNCT_CODE,   ['^'] = PUNCT_CODE,
    ['~'] = PUNCT_CODE,   ['`'] = PUNCT_CODE,
};

/* Latin-1's and Latin Extended-A's letters without their accents, from U+00C0 on. */
static const char latin[] = "aaaaaaaceeeeiiiidnooooo*ouuuuytsaaaaaaaceeeeiiiidnooooo*ouuuuyty"
                            "aaaaaaccccccccddddeeeeeeeeeegggggggghhhhiiiiiiiiiiiijjkkklllllll"
                            "lllnnnnnnnnnoooooooorrrrrrssssssssttttttuuuuuuuuuuuuwwyyyzzzzzzs";
_Static_assert(sizeof latin == 192 + 1, "U+00C0 to U+017F");

/* The letter without case and accent; 0 when the character is no letter. */
static uint32_t fold(uint32_t c, bool *upper)
{
    *upper = false;
    c = unicode_narrow(c);
    if (c < 0x80) {
        *upper = ascii_is_upper((int)c);
        return ascii_is_letter((int)c) ? c | 0x20 : 0;
    }
    if (c < 0xC0 || c == 0xD7 || c == 0xF7)
        return 0;
    if (c < 0x180) {
        bool odd_is_upper = (c >= 0x139 && c <= 0x148) || c >= 0x179;
        *upper = c < 0x100 ? c < 0xDF : c == 0x178 || (c != 0x17F && (c & 1) == odd_is_upper);
        return (uint32_t)latin[c - 0xC0];
    }
    if (c >= 0x218 && c <= 0x21B) { /* Romanian */
        *upper = (c & 1) == 0;
        return c < 0x21A ? 's' : 't';
    }
    if (c >= 0x391 && c <= 0x3A9) { /* Greek and Cyrillic capitals stand before their small ones */
        *upper = true;
        return c + 0x20;
    }
    if (c >= 0x400 && c < 0x430) {
        *upper = true;
        return c + (c < 0x410 ? 0x50 : 0x20);
    }
    if (c >= 0x1EA0 && c < 0x1EFA) { /* Vietnamese */
        *upper = (c & 1) == 0;
        return c < 0x1EB8   ? 'a'
               : c < 0x1EC8 ? 'e'
               : c < 0x1ECC ? 'i'
               : c < 0x1EE4 ? 'o'
               : c < 0x1EF2 ? 'u'
                            : 'y';
    }
    if ((c >= 0x2B0 && c < 0x370) || unicode_is_invisible(c)) /* modifiers, combining accents */
        return 0;
    return c < 0x530 || (c >= 0x5D0 && c < 0x800) || (c >= 0x904 && c < 0xE50) ? c : 0;
}

static uint16_t sign_of(uint32_t c)
{
    if (c < 0x80)
        return signs[c];
    if (c == 0x2019 || c == 0x2018 || c == 0x2BC)
        return PUNCT_APOSTROPHE;
    if (c == 0xAB || c == 0x201C || c == 0x201E || c == 0x300C)
        return PUNCT_OPEN;
    if (c == 0xBB || c == 0x201D || c == 0x300D)
        return PUNCT_CLOSE;
    if (c >= 0x2010 && c <= 0x2015)
        return c == 0x2010 || c == 0x2011 ? PUNCT_HYPHEN : PUNCT_HYPHEN | PUNCT_SPACE;
    if (unicode_is_space(c))
        return PUNCT_SPACE;
    if (c == 0x3002)
        return PUNCT_DOT | PUNCT_SPACE;
    return unicode_is_invisible(c) ? 0 : c == 0xFF0C || c == 0x3001 ? PUNCT_COMMA : PUNCT_CODE;
}

static uint8_t gap_of(uint16_t set)
{
    static const struct {
        uint16_t any;
        uint8_t gap;
    } order[] = {
        {PUNCT_BLANK, GAP_BLANK}, {PUNCT_CODE, GAP_CODE},   {PUNCT_END, GAP_END},
        {PUNCT_OPEN, GAP_OPEN},   {PUNCT_CLOSE, GAP_CLOSE}, {PUNCT_NEWLINE, GAP_NEWLINE},
        {PUNCT_AND, GAP_AND},     {PUNCT_COLON, GAP_COLON}, {PUNCT_COMMA, GAP_COMMA},
    };
    for (size_t i = 0; i < sizeof order / sizeof *order; i++)
        if (set & order[i].any)
            return order[i].gap;
    bool space = set & PUNCT_SPACE;
    if (set & PUNCT_DOT)
        return space ? GAP_DOT_SPACE : GAP_DOT;
    if (set & PUNCT_HYPHEN)
        return space ? GAP_DASH : GAP_HYPHEN;
    if (set & PUNCT_POSSESSIVE)
        return GAP_POSSESSIVE;
    return set & PUNCT_APOSTROPHE ? (space ? GAP_OPEN : GAP_APOSTROPHE) : GAP_SPACE;
}

static inline uint32_t next_char(struct td_str text, size_t *at)
{
    unsigned char byte = (unsigned char)text.data[*at];
    if (byte < 0x80) {
        ++*at;
        return byte;
    }
    return utf8_next(text, at);
}

/* The letters after an apostrophe ("s", "t", "ll"). Returns where they end. */
static size_t tail_after(struct td_str text, size_t at, char tail[static 3])
{
    size_t count = 0;
    tail[0] = tail[1] = tail[2] = '\0';
    while (at < text.len) {
        size_t next = at;
        bool upper;
        uint32_t c = fold(next_char(text, &next), &upper);
        if (c == 0)
            break;
        if (count < 3)
            tail[count] = (char)(c < 0x80 ? c : '?');
        if (++count == 3)
            return at; /* longer than any contraction */
        at = next;
    }
    return at;
}

/* After a word stands an apostrophe, which ends at `after`. A contraction ("'s", "'ll") becomes
 * part of the gap. Does the word go on ("O'Brien", "don't")? */
static bool apostrophe(struct tagger_reader *reader, size_t after, size_t length)
{
    char tail[3];
    size_t end = tail_after(reader->text, after, tail);
    if (tail[0] == '\0')
        return false;
    if (tail[1] == '\0' && tail[0] == 't')
        return true;
    bool one = tail[1] == '\0' && (tail[0] == 's' || tail[0] == 'm' || tail[0] == 'd');
    bool two =
        tail[1] != '\0' && tail[2] == '\0' &&
        (memcmp(tail, "ll", 2) == 0 || memcmp(tail, "re", 2) == 0 || memcmp(tail, "ve", 2) == 0);
    if (one || two) {
        reader->at = end;
        reader->pending = PUNCT_POSSESSIVE;
        return false;
    }
    return length <= 2;
}

static uint8_t shape_of(size_t upper, size_t lower, size_t digits, bool first_upper)
{
    if (digits > 0)
        return upper + lower > 0 ? SHAPE_ALNUM : SHAPE_DIGITS;
    if (upper == 0)
        return SHAPE_LOWER;
    if (!first_upper)
        return SHAPE_CAMEL;
    if (upper + lower == 1)
        return SHAPE_INITIAL;
    if (lower == 0)
        return SHAPE_CAPITALS;
    return upper == 1 ? SHAPE_TITLE : SHAPE_MIXED;
}

void tagger_reader_init(struct tagger_reader *reader, struct td_str text)
{
    *reader = (struct tagger_reader){.text = text, .pending = PUNCT_BLANK};
}

/* Reads the punctuation up to the next word; false at the end of the text. */
static bool read_gap(struct tagger_reader *reader, struct tagger_word *word)
{
    struct td_str text = reader->text;
    uint16_t set = reader->pending;
    size_t at = reader->at;
    bool found = false;
    if (set == 0 && at + 1 < text.len && text.data[at] == ' ') {
        unsigned char next = (unsigned char)text.data[at + 1];
        if (ascii_is_letter(next) || ascii_is_digit(next)) { /* most gaps are one space */
            reader->at = at + 1;
            word->gap = GAP_SPACE;
            word->sentence = false;
            return true;
        }
    }
    while (at < text.len) {
        size_t next = at;
        uint32_t c = next_char(text, &next);
        bool upper;
        if (fold(c, &upper) != 0 || ascii_is_digit((int)c)) {
            found = true;
            break;
        }
        uint16_t sign = sign_of(c);
        if (sign & set & PUNCT_NEWLINE)
            sign |= PUNCT_BLANK;
        set |= sign;
        at = next;
    }
    reader->at = at;
    reader->pending = 0;
    word->gap = found ? gap_of(set) : GAP_BLANK;
    word->sentence =
        word->gap == GAP_BLANK || word->gap == GAP_NEWLINE || (set & PUNCT_END) ||
        ((set & PUNCT_DOT) && (set & (PUNCT_SPACE | PUNCT_CLOSE)) && !reader->last_title);
    return found;
}

/* What the letters of a word add up to. Their hash takes eight bytes a step, letters beyond ASCII
 * as two, so that a word of ASCII letters is read eight letters at a time. */
struct letters {
    size_t upper, lower, digits;
    uint64_t hash, block;
    unsigned block_bits;
    bool first_upper;
};

static inline uint64_t hash_block(uint64_t hash, uint64_t block)
{
    hash = (hash ^ block) * UINT64_C(0x9e3779b97f4a7c15);
    return hash ^ hash >> 32;
}

static void add_byte(struct letters *letters, uint32_t byte)
{
    letters->block |= (uint64_t)(byte & 0xff) << letters->block_bits;
    letters->block_bits += 8;
    if (letters->block_bits == 64) {
        letters->hash = hash_block(letters->hash, letters->block);
        letters->block = letters->block_bits = 0;
    }
}

static void finish_word(struct tagger_reader *reader, struct tagger_word *word,
                        const struct letters *letters)
{
    size_t length = letters->upper + letters->lower + letters->digits;
    /* An empty last block counts, too: read_any leaves one after eight letters. */
    word->hash = tagger_mix((uint32_t)hash_block(letters->hash, letters->block));
    word->hash += word->hash == 0; /* 0 is kept for "says nothing" */
    word->length = (uint8_t)(length > 255 ? 255 : length);
    word->shape = shape_of(letters->upper, letters->lower, letters->digits, letters->first_upper);
    word->classes = 0;
    reader->last_title = word->shape == SHAPE_INITIAL;
}

#define EACH_BYTE UINT64_C(0x0101010101010101)

/* Reads a word of ASCII letters alone. Returns its end; 0 when there is anything else in it, or
 * when the text ends within eight bytes. */
static size_t read_ascii(struct td_str text, size_t begin, struct letters *letters)
{
    const char *p = text.data;
    size_t at = begin;
    for (;;) {
        uint64_t bytes;
        if (text.len - at < 9) /* one more, to see what follows */
            return 0;
        memcpy(&bytes, p + at, 8);
        uint64_t lower = bytes | 0x20 * EACH_BYTE, low = lower & 0x7f * EACH_BYTE;
        /* Bit 7 of each byte: 'a' to 'z', and below 0x80. */
        uint64_t is_letter = (low + (0x80 - 'a') * EACH_BYTE) & ~(low + (0x7f - 'z') * EACH_BYTE) &
                             ~bytes & 0x80 * EACH_BYTE;
        uint64_t others = ~is_letter & 0x80 * EACH_BYTE;
        unsigned count = others ? (unsigned)__builtin_ctzll(others) / 8 : 8;
        uint64_t kept = count == 8 ? ~UINT64_C(0) : (UINT64_C(1) << (8 * count)) - 1;
        uint64_t capitals = (~bytes & kept & 0x20 * EACH_BYTE) >> 5; /* one bit a byte */
        size_t upper = (size_t)(capitals * EACH_BYTE >> 56);
        letters->upper += upper;
        letters->lower += count - upper;
        at += count;
        if (count == 8) {
            letters->hash = hash_block(letters->hash, lower);
            continue;
        }
        letters->block = lower & kept;
        unsigned char next = (unsigned char)p[at];
        return next >= 0x80 || next == '\'' || ascii_is_digit(next) ? 0 : at;
    }
}

/* Reads a number of ASCII digits alone; every digit counts as a zero. Returns its end; 0 when there
 * is anything else in it. */
static size_t read_digits(struct td_str text, size_t begin, struct letters *letters)
{
    size_t end = begin;
    while (end < text.len && ascii_is_digit(text.data[end]))
        end++;
    unsigned char next = end < text.len ? (unsigned char)text.data[end] : ' ';
    if (end == begin || next >= 0x80 || ascii_is_letter(next))
        return 0;
    size_t count = letters->digits = end - begin;
    for (; count >= 8; count -= 8)
        letters->hash = hash_block(letters->hash, '0' * EACH_BYTE);
    letters->block = count == 0 ? 0 : '0' * EACH_BYTE >> (64 - 8 * count);
    return end;
}

/* Scripts with letters that look like those of the other. */
enum { SCRIPT_LATIN = 1, SCRIPT_GREEK_OR_CYRILLIC = 2, SCRIPTS_MIXED = 3 };

/* Of a folded letter; 0 for all other scripts. */
static unsigned script_of(uint32_t folded)
{
    if (folded < 0x80)
        return SCRIPT_LATIN;
    return folded >= 0x370 && folded < 0x530 ? SCRIPT_GREEK_OR_CYRILLIC : 0;
}

/* In a word of two scripts, letters that look like Latin ones (Unicode's confusables) are taken for
 * those. By folded letter; some look the same as capitals only. */
static uint32_t look_alike(uint32_t folded, bool upper)
{
    static const uint16_t both[][2] = {{0x3BF, 'o'}, {0x430, 'a'}, {0x435, 'e'}, {0x43E, 'o'},
                                       {0x440, 'p'}, {0x441, 'c'}, {0x443, 'y'}, {0x445, 'x'},
                                       {0x455, 's'}, {0x456, 'i'}, {0x458, 'j'}};
    static const uint16_t capitals[][2] = {
        {0x3B1, 'a'}, {0x3B2, 'b'}, {0x3B5, 'e'}, {0x3B6, 'z'}, {0x3B7, 'h'}, {0x3B9, 'i'},
        {0x3BA, 'k'}, {0x3BC, 'm'}, {0x3BD, 'n'}, {0x3C1, 'p'}, {0x3C4, 't'}, {0x3C5, 'y'},
        {0x3C7, 'x'}, {0x432, 'b'}, {0x43A, 'k'}, {0x43C, 'm'}, {0x43D, 'h'}, {0x442, 't'}};
    for (size_t i = 0; i < sizeof both / sizeof *both; i++)
        if (both[i][0] == folded)
            return both[i][1];
    for (size_t i = 0; upper && i < sizeof capitals / sizeof *capitals; i++)
        if (capitals[i][0] == folded)
            return capitals[i][1];
    return folded;
}

/* Reads any word, one character at a time. mixed: it has two scripts. Returns the scripts in it. */
static unsigned read_any(struct tagger_reader *reader, struct tagger_word *word,
                         struct letters *letters, bool mixed)
{
    unsigned scripts = 0;
    struct td_str text = reader->text;
    size_t at = word->begin;
    while (at < text.len) {
        size_t next = at;
        bool upper;
        uint32_t c = next_char(text, &next), folded = fold(c, &upper);
        size_t length = letters->upper + letters->lower;
        if (folded == 0 && ascii_is_digit((int)c)) {
            folded = '0';
            letters->digits++;
        } else if (folded != 0) {
            scripts |= script_of(folded);
            folded = mixed ? look_alike(folded, upper) : folded;
            letters->upper += upper;
            letters->lower += !upper;
            letters->first_upper |= upper && word->end == word->begin;
        } else if (sign_of(c) == PUNCT_APOSTROPHE && length > 0) {
            reader->at = at;
            if (!apostrophe(reader, next, length))
                return scripts;
            reader->at = at = next;
            continue;
        } else if (unicode_is_invisible(c)) {
            at = next;
            continue;
        } else {
            return scripts;
        }
        add_byte(letters, folded);
        if (folded >= 0x80)
            add_byte(letters, folded >> 8);
        reader->at = at = word->end = next;
    }
    return scripts;
}

bool tagger_read(struct tagger_reader *reader, struct tagger_word *word)
{
    struct letters letters = {.hash = 0x811c9dc5u};
    if (!read_gap(reader, word))
        return false;
    word->mixed = false;
    word->begin = reader->at;
    if ((word->end = read_digits(reader->text, word->begin, &letters)) > 0) {
        reader->at = word->end;
    } else if ((word->end = read_ascii(reader->text, word->begin, &letters)) > 0) {
        reader->at = word->end;
        letters.first_upper = !(reader->text.data[word->begin] & 0x20);
    } else {
        unsigned scripts = 0;
        do { /* a second time when it turns out to be of two scripts */
            letters = (struct letters){.hash = 0x811c9dc5u};
            reader->at = word->end = word->begin;
            word->mixed = scripts == SCRIPTS_MIXED;
            reader->pending = 0;
            scripts = read_any(reader, word, &letters, word->mixed);
        } while (scripts == SCRIPTS_MIXED && !word->mixed);
    }
    finish_word(reader, word, &letters);
    return true;
}

size_t tagger_letters(struct td_str text, const struct tagger_word *word, uint16_t *out,
                      size_t capacity)
{
    size_t count = 0;
    for (size_t at = word->begin; at < word->end && count < capacity;) {
        bool upper;
        uint32_t c = fold(next_char(text, &at), &upper);
        if (c != 0)
            out[count++] = (uint16_t)(word->mixed ? look_alike(c, upper) : c);
    }
    return count;
}
