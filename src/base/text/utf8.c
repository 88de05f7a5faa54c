/* One function, character_len, decides what valid UTF-8 is; everything else asks it. Text from
 * outside is checked with it before it is stored, sent or cut. */
#include "base/text/utf8.h"

#include "base/core/assertion.h"

#include <string.h>

/* The length of the valid character at p (1..4); 0 when it is invalid; -1 when it is a valid
 * beginning that the end of the text cuts off. RFC 3629, section 4: no overlong forms, no
 * surrogates, at most U+10FFFF. */
static int character_len(const unsigned char *p, size_t left)
{
    unsigned char first = p[0];
    if (first < 0x80)
        return 1;
    int len = first >= 0xc2 && first <= 0xdf   ? 2
              : first >= 0xe0 && first <= 0xef ? 3
              : first >= 0xf0 && first <= 0xf4 ? 4
                                               : 0;
    if (len == 0)
        return 0;
    for (int i = 1; i < len; i++) {
        if ((size_t)i >= left)
            return -1;
        unsigned char low = 0x80, high = 0xbf;
        if (i == 1) {
            low = first == 0xe0 ? 0xa0 : first == 0xf0 ? 0x90 : 0x80;
            high = first == 0xed ? 0x9f : first == 0xf4 ? 0x8f : 0xbf;
        }
        if (p[i] < low || p[i] > high)
            return 0;
    }
    return len;
}

size_t utf8_valid_prefix(struct td_str text)
{
    size_t i = 0;
    while (i < text.len) {
        uint64_t word; /* eight bytes of ASCII at once */
        if (text.len - i >= sizeof word) {
            memcpy(&word, text.data + i, sizeof word);
            if (!(word & 0x8080808080808080u)) {
                i += sizeof word;
                continue;
            }
        }
        int len = character_len((const unsigned char *)text.data + i, text.len - i);
        if (len <= 0)
            return i;
        i += (size_t)len;
    }
    return i;
}

uint32_t utf8_next(struct td_str text, size_t *offset)
{
    ASSERT(*offset < text.len);
    const unsigned char *p = (const unsigned char *)text.data + *offset;
    int len = character_len(p, text.len - *offset);
    if (len <= 0) {
        *offset += 1;
        return 0xFFFD;
    }
    *offset += (size_t)len;
    switch (len) {
    case 1:
        return p[0];
    case 2:
        return (p[0] & 0x1fu) << 6 | (p[1] & 0x3fu);
    case 3:
        return (p[0] & 0x0fu) << 12 | (p[1] & 0x3fu) << 6 | (p[2] & 0x3fu);
    default:
        return (p[0] & 0x07u) << 18 | (p[1] & 0x3fu) << 12 | (p[2] & 0x3fu) << 6 | (p[3] & 0x3fu);
    }
}

size_t utf8_character_begin(struct td_str text, size_t offset)
{
    for (size_t back = 1; back <= 3 && back <= offset && offset < text.len; back++) {
        const unsigned char *p = (const unsigned char *)text.data + offset - back;
        if ((p[1] & 0xc0) != 0x80)
            break;
        if (character_len(p, text.len - offset + back) > (int)back)
            return offset - back;
    }
    return offset;
}

size_t utf8_encode(uint32_t code_point, char out[static 4])
{
    if (code_point < 0x80) {
        out[0] = (char)code_point;
        return 1;
    }
    if (code_point < 0x800) {
        out[0] = (char)(0xc0 | code_point >> 6);
        out[1] = (char)(0x80 | (code_point & 0x3f));
        return 2;
    }
    if (code_point < 0x10000) {
        if (code_point >= 0xd800 && code_point < 0xe000)
            return 0;
        out[0] = (char)(0xe0 | code_point >> 12);
        out[1] = (char)(0x80 | (code_point >> 6 & 0x3f));
        out[2] = (char)(0x80 | (code_point & 0x3f));
        return 3;
    }
    if (code_point > 0x10FFFF)
        return 0;
    out[0] = (char)(0xf0 | code_point >> 18);
    out[1] = (char)(0x80 | (code_point >> 12 & 0x3f));
    out[2] = (char)(0x80 | (code_point >> 6 & 0x3f));
    out[3] = (char)(0x80 | (code_point & 0x3f));
    return 4;
}

size_t utf8_complete_len(struct td_str text)
{
    size_t back = text.len < 3 ? text.len : 3; /* an unfinished character has at most 3 bytes */
    for (size_t i = text.len - back; i < text.len; i++) {
        unsigned char c = (unsigned char)text.data[i];
        if (c >= 0xc2 && c <= 0xf4 &&
            character_len((const unsigned char *)text.data + i, text.len - i) == -1)
            return i;
    }
    return text.len;
}
