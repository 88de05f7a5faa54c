/* What the pre-tokenizers ask about a code point: a letter, a number, white space, punctuation. The
 * table is generated in the build (tools/generate_unicode.py). No state; any thread. */
#ifndef ENGINE_UNICODE_H
#define ENGINE_UNICODE_H

#include <stdint.h>

enum unicode_class {
    UNICODE_LETTER = 1,        /* categories L* */
    UNICODE_NUMBER = 2,        /* categories N* */
    UNICODE_SPACE = 4,         /* property White_Space */
    UNICODE_PUNCTUATION = 8,   /* categories P* */
    UNICODE_DEEPSEEK_WORD = 16 /* the word characters listed by DeepSeek-LLM's tokenizer */
};

/* Bits of enum unicode_class; 0 for everything else, also beyond U+10FFFF. */
uint8_t unicode_class_of(uint32_t code_point);

#endif
