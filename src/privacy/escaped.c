#include "privacy/escaped.h"

#include "base/str.h"
#include "base/utf8.h"

static int hex_value(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    c = (char)(c | 0x20);
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* The unit of "\uXXXX" at the place; UINT32_MAX when there is none. */
static uint32_t unit_at(struct td_str text, size_t at)
{
    uint32_t unit = 0;
    if (text.len < 6 || at > text.len - 6 || text.data[at] != '\\' || text.data[at + 1] != 'u')
        return UINT32_MAX;
    for (size_t i = at + 2; i < at + 6; i++) {
        int digit = hex_value(text.data[i]);
        if (digit < 0)
            return UINT32_MAX;
        unit = unit << 4 | (uint32_t)digit;
    }
    return unit;
}

bool escaped_is_any(struct td_str text)
{
    for (size_t at = str_find(text, STR("\\u"), 0); at != SIZE_MAX;
         at = str_find(text, STR("\\u"), at + 1))
        if (unit_at(text, at) != UINT32_MAX)
            return true;
    return false;
}

/* One character of "\n", "\"" and the like; 0 when it is none of them. */
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

size_t escaped_read(struct td_str text, char *out)
{
    size_t len = 0;
    for (size_t at = 0; at < text.len;) {
        uint32_t unit = unit_at(text, at), low;
        if (unit == UINT32_MAX) {
            char plain =
                text.data[at] == '\\' && at + 1 < text.len ? short_escape(text.data[at + 1]) : 0;
            out[len++] = plain ? plain : text.data[at];
            at += plain ? 2 : 1;
            continue;
        }
        at += 6;
        if (unit >= 0xd800 && unit < 0xdc00 && (low = unit_at(text, at)) >= 0xdc00 &&
            low < 0xe000) {
            unit = 0x10000 + ((unit - 0xd800) << 10) + (low - 0xdc00); /* RFC 8259, 7 */
            at += 6;
        }
        char bytes[4];
        size_t count = utf8_encode(unit, bytes);
        for (size_t i = 0; i < count; i++)
            out[len++] = bytes[i];
        if (count == 0)
            out[len++] = ' '; /* half a pair */
    }
    return len;
}
