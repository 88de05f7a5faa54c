#include "privacy/detect.h"

#include "base/utf8.h"
#include "privacy/lexicon.h"

/* Spaces and dashes by Unicode's categories Zs and Pd; invisible ones are Cf and the variation
 * selectors that occur in copied text. */
int plain_form(uint32_t c)
{
    if (c == 0xAD || c == 0x34F || c == 0x180E || (c >= 0x200B && c <= 0x200F) ||
        (c >= 0x202A && c <= 0x202E) || (c >= 0x2060 && c <= 0x2064) || c == 0xFEFF ||
        (c >= 0xFE00 && c <= 0xFE0F))
        return 0;
    if (c == 0xA0 || c == 0x1680 || (c >= 0x2000 && c <= 0x200A) || c == 0x202F || c == 0x205F ||
        c == 0x3000)
        return ' ';
    if ((c >= 0x2010 && c <= 0x2015) || c == 0x2212 || c == 0xFE58 || c == 0xFE63)
        return '-';
    if (c >= 0xFF01 && c <= 0xFF5E)
        return (int)(c - 0xFF01 + '!');
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
    return c >= 0xC0 && c < 0x530 ? PLAIN_LETTER : PLAIN_OTHER;
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

static bool in_number(int c)
{
    return is_digit(c) || c == ' ' || c == '-' || c == '.' || c == '/' || c == '(' || c == ')';
}

/* What is asked of many places of a row is summed up once. Luhn's doubling: ISO/IEC 7812-1, annex B. */
static void window_sum_up(struct window *window)
{
    size_t count = window->count, digits = 0;
    unsigned sums[2] = {0};
    for (size_t i = 0; i <= count; i++) {
        window->digits_before[i] = (uint8_t)digits;
        window->luhn[0][i] = (uint16_t)sums[0];
        window->luhn[1][i] = (uint16_t)sums[1];
        if (i == count || !is_digit(window->chars[i]))
            continue;
        unsigned digit = (unsigned)window->chars[i] - '0';
        sums[digits % 2] += digit > 4 ? 2 * digit - 9 : 2 * digit;
        sums[1 - digits % 2] += digit;
        digits++;
    }
    window->digits = digits;
    window->runs[count] = 0;
    for (size_t i = count; i-- > 0;)
        window->runs[i] = is_digit(window->chars[i]) ? (uint8_t)(window->runs[i + 1] + 1) : 0;
}

void window_read(struct td_str text, size_t offset, struct window *window)
{
    size_t count = 0;
    struct plain next = plain_at(text, offset);
    for (; in_number(next.c) && count < WINDOW_MAX; next = plain_at(text, next.end)) {
        window->chars[count] = next.c;
        window->begins[count] = next.begin;
        window->ends[count++] = next.end;
    }
    window->count = count;
    window->full = in_number(next.c);
    window->chars[count] = window->full ? PLAIN_LETTER : next.c == PLAIN_END ? 0 : next.c;
    window->begins[count] = next.begin;
    window->ends[count] = next.end;
    window->chars[count + 1] = 0;
    window->c = window->chars;
    window->begin = window->begins;
    window->end = window->ends;
    window->at = 0;
    window_sum_up(window);
    window->run = window_digits(window, 0);
}

#define WINDOW_AHEAD 40 /* what a number may need: 19 digits of a card and their separators */

bool window_move(struct window *window, size_t offset)
{
    size_t i = 0;
    while (i < window->count && window->begin[i] < offset)
        i++;
    if (i == window->count || window->begin[i] != offset ||
        (window->full && window->count - i < WINDOW_AHEAD))
        return false;
    window->c += i;
    window->begin += i;
    window->end += i;
    window->count -= i;
    window->digits -=
        (size_t)window->digits_before[window->at + i] - window->digits_before[window->at];
    window->at += i;
    window->run = window_digits(window, 0);
    return true;
}

bool window_luhn_holds(const struct window *window, size_t i)
{
    const uint16_t *sums = window->luhn[window->digits_before[window->at + i] % 2];
    return (sums[window->at + i] - sums[window->at]) % 10 == 0;
}

static bool context_in(const char *data, size_t len, const char *const *words)
{
    for (; *words != NULL; words++)
        for (size_t i = 0; i < len; i++) {
            if (i > 0 && is_alnum((unsigned char)data[i - 1]))
                continue;
            size_t matched = 0;
            while ((*words)[matched] != '\0' && i + matched < len &&
                   to_lower((unsigned char)data[i + matched]) == (*words)[matched])
                matched++;
            if ((*words)[matched] == '\0')
                return true;
        }
    return false;
}

bool context_before(struct td_str text, size_t offset, size_t reach, const char *const *words)
{
    size_t begin = offset > reach ? offset - reach : 0;
    return context_in(text.data + begin, offset - begin, words);
}

bool place_context_after(const struct place *place, size_t end, int kind)
{
    size_t at = end;
    for (int i = 0; i < 5; i++) {
        struct word word = word_after(place->text, at, 3);
        if (word.begin == word.end || word.digits)
            return false;
        for (const struct lexicon_entry *e = word.entry; e != NULL; e = lexicon_next(e))
            if (e->context == kind && e->previous == NULL)
                return true;
        at = word.end;
    }
    return false;
}

size_t behind_line_end(struct td_str text, size_t offset)
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
