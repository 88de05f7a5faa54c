/* Character classes of Unicode in one place: what the tokenizers, the privacy detectors, the name
 * tagger and the restorer ask about a code point.
 *
 * Two sources. The large tables (classes, decompositions, lower case) are generated in the build by
 * tools/generate_unicode.py. The small sets that decide about safety (invisible characters, spaces,
 * dashes, full-width forms) are written by hand in unicode.c, each with its reason, because no
 * property of Unicode answers exactly that question.
 *
 * Users: engine/tokenizer (classes, decomposition, lower case); privacy (the small sets). The
 * router folds its texts with a table of its own. No state; any thread. */
#ifndef BASE_UNICODE_H
#define BASE_UNICODE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum unicode_class {
    UNICODE_LETTER = 1,         /* categories L* */
    UNICODE_NUMBER = 2,         /* categories N* */
    UNICODE_SPACE = 4,          /* property White_Space */
    UNICODE_PUNCTUATION = 8,    /* categories P* */
    UNICODE_DEEPSEEK_WORD = 16, /* the word characters listed by DeepSeek-LLM's tokenizer */
    UNICODE_MARK = 32,          /* category Mn: accents and other marks without width */
    UNICODE_CONTROL = 64,       /* categories Cc, Cf and Co */
    UNICODE_UPPER = 128,        /* categories Lu and Lt */
    UNICODE_LOWER = 256,        /* category Ll */
    UNICODE_SYMBOL = 512,       /* categories S* */
    UNICODE_ANY_MARK = 1024     /* categories M* */
};

/* Bits of enum unicode_class; 0 for everything else, also beyond U+10FFFF. */
uint16_t unicode_class_of(uint32_t code_point);

/* No canonical decomposition has more characters. */
#define UNICODE_PARTS_MAX 4

/* Full canonical decomposition (Unicode Standard, section 3.7); a character without one gives
 * itself. Returns the number of parts. */
size_t unicode_decompose(uint32_t code_point, uint32_t parts[static UNICODE_PARTS_MAX]);

/* The lower-case letter where there is a single one, otherwise the code point itself. */
uint32_t unicode_lower(uint32_t code_point);

bool unicode_is_listed_invisible(uint32_t code_point); /* use unicode_is_invisible */

/* Whether a reader of the text does not see the character as one of its own: nothing is drawn for
 * it, or it is drawn onto the character before (combining accents). Whoever wants to hide a value
 * from a scan puts such characters into it; so detectors, tagger and restorer read as if they were
 * not there. The set is a table in unicode.c. */
static inline bool unicode_is_invisible(uint32_t code_point)
{
    if (code_point < 0x300) /* Latin */
        return code_point == 0xAD;
    if (code_point >= 0x370 && code_point < 0x61C) /* Greek, Cyrillic, Armenian, Hebrew */
        return false;
    return unicode_is_listed_invisible(code_point);
}

/* A space with a width, beyond ASCII: category Zs. */
static inline bool unicode_is_space(uint32_t c)
{
    return c == 0xA0 || c == 0x1680 || (c >= 0x2000 && c <= 0x200A) || c == 0x202F || c == 0x205F ||
           c == 0x3000;
}

/* A dash or hyphen of running text, beyond ASCII: those of category Pd that Latin texts use, and
 * the minus sign. */
static inline bool unicode_is_dash(uint32_t c)
{
    return (c >= 0x2010 && c <= 0x2015) || c == 0x2212 || c == 0xFE58 || c == 0xFE63;
}

/* The ASCII character of a full-width form (U+FF01 to U+FF5E); every other code point itself. */
static inline uint32_t unicode_narrow(uint32_t c)
{
    return c >= 0xFF01 && c <= 0xFF5E ? c - 0xFF01 + '!' : c;
}

#endif
