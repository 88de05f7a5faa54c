/* Characters in plain form. One table of bytes answers for most of a text, one function for the
 * rest; both are asked for every character that a detector reads, so nothing is copied and nothing
 * is kept. */
#include "privacy/text/plain.h"

#include "base/text/unicode.h"
#include "base/text/utf8.h"

#define REPLACEMENT 0xFFFD /* what bytes that are no UTF-8 are read as */

#define FOUR(c) [c] = true, [(c) + 1] = true, [(c) + 2] = true, [(c) + 3] = true
#define SIXTEEN(c) FOUR(c), FOUR((c) + 4), FOUR((c) + 8), FOUR((c) + 12)
/* clang-format off */
const bool plain_word_bytes[256] = {
    FOUR('0'), FOUR('4'), ['8'] = true, ['9'] = true,
    FOUR('A'), FOUR('E'), FOUR('I'), FOUR('M'), FOUR('Q'), FOUR('U'), ['Y'] = true, ['Z'] = true,
    FOUR('a'), FOUR('e'), FOUR('i'), FOUR('m'), FOUR('q'), FOUR('u'), ['y'] = true, ['z'] = true,
    SIXTEEN(0x80), SIXTEEN(0x90), SIXTEEN(0xA0), SIXTEEN(0xB0), /* second bytes */
    [0xC3] = true, FOUR(0xC4), FOUR(0xC8), FOUR(0xCC), FOUR(0xD0), [0xD4] = true,
};
/* clang-format on */

/* In the order of how often a character occurs, or is repeated by whoever wants to cost time. */
int plain_form(uint32_t c)
{
    if (c >= 0xC0 && c < 0x530)
        return unicode_is_invisible(c) ? 0 : PLAIN_LETTER;
    if (c == REPLACEMENT)
        return PLAIN_OTHER;
    if (unicode_is_space(c))
        return ' ';
    if (unicode_is_dash(c))
        return '-';
    if (unicode_narrow(c) != c)
        return (int)unicode_narrow(c);
    if (unicode_is_invisible(c))
        return 0;
    static const uint32_t zeros[] = {0x660, 0x6F0, 0x966,
                                     0x9E6}; /* Arabic, Persian, Devanagari, Bengali */
    for (size_t i = 0; i < sizeof zeros / sizeof zeros[0]; i++)
        if (c >= zeros[i] && c < zeros[i] + 10)
            return (int)(c - zeros[i] + '0');
    if (c >= 0x1D7CE && c <= 0x1D7FF) /* mathematical digits, five styles of ten */
        return (int)((c - 0x1D7CE) % 10 + '0');
    if (c >= 0x1D400 && c <= 0x1D6A3) /* mathematical letters, thirteen styles of two alphabets */
        return (int)((c - 0x1D400) % 52 < 26 ? (c - 0x1D400) % 52 + 'A' : (c - 0x1D400) % 26 + 'a');
    if (c >= 0x24B6 && c <= 0x24E9) /* in circles */
        return (int)(c < 0x24D0 ? c - 0x24B6 + 'A' : c - 0x24D0 + 'a');
    if (c == 0x2024 || c == 0xFF61) /* one dot leader, half-width full stop */
        return '.';
    return PLAIN_OTHER;
}

struct plain plain_at_any(struct td_str text, size_t offset)
{
    while (offset < text.len) {
        unsigned char byte = (unsigned char)text.data[offset];
        if (byte < 0x80)
            return (struct plain){byte, offset, offset + 1};
        size_t begin = offset;
        int c = plain_form(utf8_next(text, &offset));
        if (c != 0)
            return (struct plain){c, begin, offset};
    }
    return (struct plain){PLAIN_END, text.len, text.len};
}

/* Unicode's confusables (UTS 39) of Latin letters among Greek and Cyrillic ones: those that no font
 * tells apart. */
struct plain plain_look_alike(struct td_str text, struct plain letter)
{
    static const struct {
        uint16_t code;
        char ascii;
    } pairs[] = {{0x391, 'A'}, {0x392, 'B'}, {0x395, 'E'}, {0x396, 'Z'}, {0x397, 'H'}, {0x399, 'I'},
                 {0x39A, 'K'}, {0x39C, 'M'}, {0x39D, 'N'}, {0x39F, 'O'}, {0x3A1, 'P'}, {0x3A4, 'T'},
                 {0x3A5, 'Y'}, {0x3A7, 'X'}, {0x3BF, 'o'}, {0x405, 'S'}, {0x406, 'I'}, {0x408, 'J'},
                 {0x410, 'A'}, {0x412, 'B'}, {0x415, 'E'}, {0x41A, 'K'}, {0x41C, 'M'}, {0x41D, 'H'},
                 {0x41E, 'O'}, {0x420, 'P'}, {0x421, 'C'}, {0x422, 'T'}, {0x423, 'Y'}, {0x425, 'X'},
                 {0x430, 'a'}, {0x435, 'e'}, {0x43E, 'o'}, {0x440, 'p'}, {0x441, 'c'}, {0x443, 'y'},
                 {0x445, 'x'}, {0x455, 's'}, {0x456, 'i'}, {0x458, 'j'}, {0x501, 'd'}, {0x51B, 'q'},
                 {0x51D, 'w'}};
    if (letter.c != PLAIN_LETTER)
        return letter;
    size_t offset = letter.begin;
    uint32_t code = utf8_next(text, &offset);
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++)
        if (pairs[i].code == code)
            letter.c = pairs[i].ascii;
    return letter;
}

size_t after_line_end(struct td_str text, size_t offset)
{
    const size_t marks_max = 8;
    while (offset < text.len && (text.data[offset] == ' ' || text.data[offset] == '\r'))
        offset++;
    if (offset == text.len || text.data[offset] != '\n')
        return 0;
    size_t end = offset + 1;
    while (end < text.len && end - offset <= marks_max &&
           (text.data[end] == ' ' || text.data[end] == '>'))
        end++;
    return end;
}
