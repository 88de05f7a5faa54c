/* What tokenizers ask about a code point: its classes, its canonical decomposition, its lower case.
 * The tables are generated in the build (tools/generate_unicode.py). No state; any thread. */
#ifndef ENGINE_UNICODE_H
#define ENGINE_UNICODE_H

#include <stddef.h>
#include <stdint.h>

enum unicode_class {
    UNICODE_LETTER = 1,         /* categories L* */
    UNICODE_NUMBER = 2,         /* categories N* */
    UNICODE_SPACE = 4,          /* property White_Space */
    UNICODE_PUNCTUATION = 8,    /* categories P* */
    UNICODE_DEEPSEEK_WORD = 16, /* the word characters listed by DeepSeek-LLM's tokenizer */
    UNICODE_MARK = 32,          /* category Mn: accents and other marks without width */
    UNICODE_CONTROL = 64        /* categories Cc, Cf and Co */
};

/* Bits of enum unicode_class; 0 for everything else and beyond U+10FFFF. */
uint8_t unicode_class_of(uint32_t code_point);

/* No canonical decomposition has more characters. */
#define UNICODE_PARTS_MAX 4

/* Full canonical decomposition (Unicode Standard, section 3.7); a character without one gives
 * itself. Returns the number of parts. */
size_t unicode_decompose(uint32_t code_point, uint32_t parts[static UNICODE_PARTS_MAX]);

/* The lower-case letter if it is a single one, otherwise the code point itself. */
uint32_t unicode_lower(uint32_t code_point);

#endif
