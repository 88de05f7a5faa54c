/* Finds and reads the escapes of JSON and of programs in a text. A \uXXXX may be half of a pair;
 * both halves are read as one character. An incomplete escape is copied, so that reading never
 * loses a byte. */
#include "privacy/text/escaped.h"

#include "base/bytes/buf.h"
#include "base/core/ascii.h"
#include "base/core/str.h"
#include "base/text/utf8.h"
#include "privacy/text/plain.h"

/* The unit of "\uXXXX" at the place; UINT32_MAX when there is none. */
static uint32_t unit_at(struct td_str text, size_t at)
{
    uint32_t unit = 0;
    if (text.len < 6 || at > text.len - 6 || text.data[at] != '\\' || text.data[at + 1] != 'u')
        return UINT32_MAX;
    for (size_t i = at + 2; i < at + 6; i++) {
        int digit = ascii_hex_value(text.data[i]);
        if (digit < 0)
            return UINT32_MAX;
        unit = unit << 4 | (uint32_t)digit;
    }
    return unit;
}

/* The number of so many digits at the place; *used: how many stand there. */
static uint32_t number_at(struct td_str text, size_t at, unsigned base, size_t digits, size_t *used)
{
    uint32_t number = 0;
    for (*used = 0; *used < digits && at + *used < text.len; ++*used) {
        int digit = ascii_hex_value((unsigned char)text.data[at + *used]);
        if (digit < 0 || digit >= (int)base)
            break;
        number = number * base + (uint32_t)digit;
    }
    return number;
}

/* An ASCII character as programs escape it: \x34, \u{34}, \U00000034, \064. Answers the bytes, 0:
 * none. */
static size_t ascii_at(struct td_str text, size_t at, uint32_t *character)
{
    static const struct {
        const char *before;
        uint8_t base, min, max;
        char after;
    } forms[] = {{"x", 16, 2, 2, 0}, {"u{", 16, 1, 6, '}'}, {"U", 16, 8, 8, 0}, {"", 8, 3, 3, 0}};
    if (text.data[at] != '\\')
        return 0;
    for (size_t i = 0; i < sizeof forms / sizeof *forms; i++) {
        struct td_str before = str_from(forms[i].before);
        size_t begin = at + 1 + before.len, used, end;
        if (!str_equal(str_slice(text, at + 1, begin), before))
            continue;
        *character = number_at(text, begin, forms[i].base, forms[i].max, &used);
        end = begin + used;
        if (used < forms[i].min || *character < ' ' || *character >= 0x7f ||
            (forms[i].after != 0 && (end >= text.len || text.data[end++] != forms[i].after)))
            continue;
        return end - at;
    }
    return 0;
}

/* The character at the place and the bytes of its escape, of a pair (RFC 8259, 7) both; 0 bytes:
 * none. */
static size_t character_at(struct td_str text, size_t at, uint32_t *character)
{
    uint32_t unit = unit_at(text, at), low;
    if (unit == UINT32_MAX)
        return ascii_at(text, at, character);
    *character = unit;
    if (unit < 0xd800 || unit >= 0xdc00 || (low = unit_at(text, at + 6)) < 0xdc00 || low >= 0xe000)
        return 6;
    *character = 0x10000 + ((unit - 0xd800) << 10) + (low - 0xdc00);
    return 12;
}

static bool is_blank_escape(char c)
{
    return c == 'n' || c == 'r' || c == 't';
}

size_t escaped_next(struct td_str text, size_t from)
{
    while (from < text.len) {
        const char *found = memchr(text.data + from, '\\', text.len - from);
        if (found == NULL)
            break;
        size_t at = (size_t)(found - text.data);
        uint32_t character;
        if (character_at(text, at, &character) > 0 ||
            (at + 2 < text.len && is_blank_escape(text.data[at + 1]) &&
             plain_is_word_byte((unsigned char)text.data[at + 2])))
            return at;
        from = at + 1;
    }
    return SIZE_MAX;
}

bool escaped_ends_at(struct td_str text, size_t offset)
{
    if (offset >= 6 && unit_at(text, offset - 6) != UINT32_MAX)
        return true;
    return offset >= 2 && text.data[offset - 2] == '\\' && is_blank_escape(text.data[offset - 1]);
}

/* The character of a short escape such as "\n" or "\""; 0 for another text. */
static char short_escape(char c)
{
    switch (c) {
    case '"':
    case '\\':
    case '/':
        return c;
    case 'n':
    case 'r':
    case 't':
    case 'b':
    case 'f':
        return ' ';
    default:
        return 0;
    }
}

size_t escaped_read(struct td_str text, const uint32_t *from, char *out, uint32_t *origin)
{
    size_t len = 0, at = 0;
    while (at < text.len) {
        uint32_t place = from ? from[at] : (uint32_t)at, character = 0;
        size_t used = character_at(text, at, &character), count = 1;
        char bytes[4] = {text.data[at]};
        if (used > 0) {
            count = utf8_encode(character, bytes);
            if (count == 0) { /* half a pair */
                bytes[0] = ' ';
                count = 1;
            }
        } else {
            char plain =
                text.data[at] == '\\' && at + 1 < text.len ? short_escape(text.data[at + 1]) : 0;
            used = plain ? 2 : 1;
            bytes[0] = plain ? plain : bytes[0];
        }
        at += used;
        for (size_t i = 0; i < count; i++) {
            origin[len] = place;
            out[len++] = bytes[i];
        }
    }
    origin[len] = from ? from[text.len] : (uint32_t)text.len;
    return len;
}

void escaped_value(struct td_str value, struct buf *out)
{
    for (size_t at = 0; at < value.len;) {
        uint32_t character = 0;
        size_t used = character_at(value, at, &character), count;
        char bytes[4];
        if (used > 0 && character >= ' ' && character != '"' && character != '\\' &&
            (count = utf8_encode(character, bytes)) > 0) {
            buf_append_str(out, (struct td_str){bytes, count});
        } else {
            /* an escaped backslash is no beginning of another escape */
            used = used > 0 ? used : value.data[at] == '\\' && at + 1 < value.len ? 2 : 1;
            buf_append_str(out, str_slice(value, at, at + used));
        }
        at += used;
    }
}
