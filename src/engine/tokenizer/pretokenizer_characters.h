/* How the stages of pre-tokenizers read a text: characters, runs of them, matches. Only the files
 * pretokenizer*.c include this. Pure; any thread. */
#ifndef ENGINE_PRETOKENIZER_CHARACTERS_H
#define ENGINE_PRETOKENIZER_CHARACTERS_H

#include "base/core/ascii.h"
#include "base/core/str.h"
#include "base/text/unicode.h"
#include "base/text/utf8.h"

/* Returns where the piece that begins at `begin` ends: begin < text.len, begin < the result. */
typedef size_t (*stage_function)(struct td_str text, size_t begin);

struct character {
    uint32_t code_point;
    uint32_t len; /* bytes; 0 = past the end */
    uint16_t classes;
};

static inline struct character character_at(struct td_str text, size_t at)
{
    if (at >= text.len)
        return (struct character){0};
    unsigned char first = (unsigned char)text.data[at];
    if (first < 0x80)
        return (struct character){first, 1, unicode_class_of(first)};
    size_t end = at;
    uint32_t code_point = utf8_next(text, &end);
    return (struct character){code_point, (uint32_t)(end - at), unicode_class_of(code_point)};
}

static inline size_t run_of(struct td_str text, size_t at, uint16_t classes)
{
    for (;;) {
        struct character c = character_at(text, at);
        if (!(c.classes & classes))
            return at;
        at += c.len;
    }
}

#define WORD_CLASSES (UNICODE_SPACE | UNICODE_LETTER | UNICODE_NUMBER)

/* [^\s\p{L}\p{N}] */
static inline bool is_symbol(struct character c)
{
    return c.len != 0 && !(c.classes & WORD_CLASSES);
}

static inline size_t run_of_symbols(struct td_str text, size_t at)
{
    for (;;) {
        struct character c = character_at(text, at);
        if (!is_symbol(c))
            return at;
        at += c.len;
    }
}

/* Length of 's 't 'm 'd 're 've 'll at `at`, or 0. */
static inline size_t contraction_len(struct td_str text, size_t at, bool any_case)
{
    if (text.data[at] != '\'')
        return 0;
    char c[2] = {0};
    for (size_t i = 0; i < 2 && at + 1 + i < text.len; i++) {
        c[i] = text.data[at + 1 + i];
        if (any_case)
            c[i] = (char)ascii_lower(c[i]);
    }
    if (c[0] == 's' || c[0] == 't' || c[0] == 'm' || c[0] == 'd')
        return 2;
    if ((c[0] == 'r' && c[1] == 'e') || (c[0] == 'v' && c[1] == 'e') ||
        (c[0] == 'l' && c[1] == 'l'))
        return 3;
    return 0;
}

/* \s+(?!\S)|\s+ : a run of white space, without its last character when a word follows it. `begin`
 * is at white space. */
static inline size_t end_of_white_space(struct td_str text, size_t begin)
{
    size_t end = begin, last = begin;
    for (;;) {
        struct character c = character_at(text, end);
        if (!(c.classes & UNICODE_SPACE))
            break;
        last = end;
        end += c.len;
    }
    return end < text.len && last > begin ? last : end;
}

/* \s*[\r\n]+ : the end of the last line break in the run of white space, or `begin`. */
static inline size_t end_of_line_breaks(struct td_str text, size_t begin)
{
    size_t end = begin;
    for (size_t at = begin;;) {
        struct character c = character_at(text, at);
        if (!(c.classes & UNICODE_SPACE))
            return end;
        at += c.len;
        if (c.code_point == '\r' || c.code_point == '\n')
            end = at;
    }
}

/* Stages that call this make a piece of each match and of each gap between matches. `length` gives
 * the bytes of a match at `at`, or 0. */
static inline size_t end_of_match_or_gap(struct td_str text, size_t begin,
                                         size_t (*length)(struct td_str text, size_t at))
{
    size_t match = length(text, begin);
    if (match)
        return begin + match;
    size_t at = begin;
    do
        at += character_at(text, at).len;
    while (at < text.len && length(text, at) == 0);
    return at;
}

/* \s?X+ for the class of character that `is_x` knows */
static inline size_t spaced_run_len(struct td_str text, size_t begin,
                                    bool (*is_x)(struct character c))
{
    struct character first = character_at(text, begin);
    size_t at = first.classes & UNICODE_SPACE ? begin + first.len : begin;
    size_t end = at;
    for (;;) {
        struct character c = character_at(text, end);
        if (c.len == 0 || !is_x(c))
            break;
        end += c.len;
    }
    return end > at ? end - begin : 0;
}

#endif
