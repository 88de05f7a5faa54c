/* Signs of a text as a reader compares them. The sets of letters are blocks, coarse on purpose:
 * what is not listed separates words, and that decides where a value ends. What is invisible is
 * said in base/text/unicode.h, so that detectors and the tagger do not see it either. */
#include "privacy/text/spell.h"

#include "base/core/ascii.h"
#include "base/core/str.h"
#include "base/crypto/hash.h"
#include "base/text/unicode.h"
#include "base/text/utf8.h"

/* Backslashes before uXXXX: JSON in JSON in JSON has four. */
#define BACKSLASHES_MAX 8

/* --- characters --- */

struct range {
    uint32_t first, last;
};

static bool in_ranges(const struct range *ranges, size_t count, uint32_t c)
{
    for (size_t i = 0; i < count; i++)
        if (c >= ranges[i].first && c <= ranges[i].last)
            return true;
    return false;
}

/* Blocks of Unicode's letters; what is not listed separates words. */
static const struct range letters[] = {
    {0xaa, 0xaa},     {0xb5, 0xb5},     {0xba, 0xba},       {0xc0, 0xd6},     {0xd8, 0xf6},
    {0xf8, 0x24f},    {0x250, 0x2af},   {0x370, 0x373},     {0x376, 0x37d},   {0x386, 0x386},
    {0x388, 0x481},   {0x48a, 0x52f},   {0x531, 0x587},     {0x5d0, 0x5f2},   {0x620, 0x64a},
    {0x66e, 0x6d3},   {0x900, 0x963},   {0x980, 0x9e5},     {0xa01, 0xa65},   {0xa81, 0xae5},
    {0xb01, 0xb65},   {0xb82, 0xbe5},   {0xc00, 0xc65},     {0xc80, 0xce5},   {0xd00, 0xd65},
    {0xd80, 0xdf3},   {0xe01, 0xe4e},   {0xe81, 0xecf},     {0x1000, 0x103f}, {0x10a0, 0x10ff},
    {0x1100, 0x11ff}, {0x1200, 0x135a}, {0x1780, 0x17d3},   {0x1e00, 0x1fff}, {0x3005, 0x3007},
    {0x3041, 0x30ff}, {0x3105, 0x318e}, {0x3400, 0x4dbf},   {0x4e00, 0x9fff}, {0xa000, 0xa48c},
    {0xac00, 0xd7a3}, {0xf900, 0xfaff}, {0x20000, 0x3134f},
};
/* Thai, Lao, Burmese, Khmer, the Chinese and Japanese scripts. Korean has spaces, but puts its
 * particles directly after a name. */
static const struct range unspaced[] = {
    {0xe00, 0xeff},   {0x1000, 0x103f}, {0x1780, 0x17d3}, {0x3005, 0x3007}, {0x3041, 0x30ff},
    {0x3400, 0x4dbf}, {0x4e00, 0x9fff}, {0xac00, 0xd7a3}, {0xf900, 0xfaff}, {0x20000, 0x3134f},
};
#define IN(ranges, c) in_ranges(ranges, sizeof(ranges) / sizeof *(ranges), c)

/* Latin letters beyond Latin-1 stand in pairs, the capital at an even number; in these at an odd.
 */
static bool is_odd_pair(uint32_t c)
{
    return (c >= 0x139 && c <= 0x148) || (c >= 0x179 && c <= 0x17e) || (c >= 0x4c1 && c <= 0x4ce);
}

static bool is_pair(uint32_t c)
{
    return (c >= 0x100 && c <= 0x137) || (c >= 0x14a && c <= 0x177) || (c >= 0x460 && c <= 0x481) ||
           (c >= 0x48a && c <= 0x4bf) || (c >= 0x4d0 && c <= 0x52f) || (c >= 0x1e00 && c <= 0x1eff);
}

static uint32_t lower_case(uint32_t c)
{
    if (c < 0x80)
        return (uint32_t)ascii_lower((int)c);
    if ((c >= 0xc0 && c <= 0xde && c != 0xd7) || (c >= 0x391 && c <= 0x3ab) ||
        (c >= 0x410 && c <= 0x42f))
        return c + 0x20;
    if (c >= 0x400 && c <= 0x40f)
        return c + 0x50;
    if (c == 0x130 || c == 0x178)
        return c == 0x130 ? 'i' : 0xff;
    if (c == 0x386)
        return 0x3ac;
    if (c >= 0x388 && c <= 0x38a)
        return c + 37;
    if (c == 0x38c)
        return 0x3cc;
    if (c == 0x38e || c == 0x38f)
        return c + 63;
    if (is_odd_pair(c))
        return c + (c & 1);
    return is_pair(c) ? c | 1 : c;
}

uint32_t spell_upper(uint32_t c)
{
    if (c < 0x80)
        return (uint32_t)ascii_upper((int)c);
    if ((c >= 0xe0 && c <= 0xfe && c != 0xf7) || (c >= 0x3b1 && c <= 0x3cb && c != 0x3c2) ||
        (c >= 0x430 && c <= 0x44f))
        return c - 0x20;
    if (c >= 0x450 && c <= 0x45f)
        return c - 0x50;
    if (c == 0xff)
        return 0x178;
    if (c == 0x131) /* a Turkish i without its dot */
        return 'I';
    if (c == 0x3c2)
        return 0x3a3;
    if (c == 0x3ac)
        return 0x386;
    if (c >= 0x3ad && c <= 0x3af)
        return c - 37;
    if (c == 0x3cc)
        return 0x38c;
    if (c == 0x3cd || c == 0x3ce)
        return c - 63;
    if (is_odd_pair(c))
        return c - (c & 1 ? 0 : 1);
    return is_pair(c) ? c & ~1u : c;
}

/* --- signs --- */

static void classify(struct sign *sign, uint32_t c)
{
    c = unicode_narrow(c);
    if (c == 0x2019 || c == 0x2bc)
        c = '\'';
    uint32_t lower = lower_case(c);
    sign->c = lower;
    sign->upper = lower != c;
    if (c < 0x80)
        sign->kind = ascii_is_digit((int)c)    ? SIGN_DIGIT
                     : ascii_is_letter((int)c) ? SIGN_LETTER
                                               : SIGN_GAP;
    else
        sign->kind = unicode_is_invisible(c) ? SIGN_NOTHING
                     : IN(letters, c)        ? SIGN_LETTER
                                             : SIGN_GAP;
    if (lower == 0x3c2)
        sign->c = 0x3c3; /* the sigma at a word's end */
    sign->unspaced = c >= 0xe00 && IN(unspaced, c);
}

/* The four hex digits at `at`: their value, UINT32_MAX when there are none, UINT32_MAX - 1 when the
 * text ends within them. */
static uint32_t hex4(struct td_str text, size_t at)
{
    uint32_t value = 0;
    for (size_t i = 0; i < 4; i++) {
        if (at + i >= text.len)
            return UINT32_MAX - 1;
        int digit = ascii_hex_value(text.data[at + i]);
        if (digit < 0)
            return UINT32_MAX;
        value = value << 4 | (uint32_t)digit;
    }
    return value;
}

/* \uXXXX from its first backslash; u: offset of the u. False when it is none. */
static bool read_unicode(struct td_str text, size_t u, bool more, struct sign *sign)
{
    uint32_t c = hex4(text, u + 1);
    if (c == UINT32_MAX || (c == UINT32_MAX - 1 && !more))
        return false;
    if (c == UINT32_MAX - 1) {
        sign->kind = SIGN_CUT;
        return true;
    }
    sign->end = u + 5;
    size_t backslashes = u - sign->begin;
    if (c >= 0xd800 && c < 0xdc00) { /* the second half follows, written the same way */
        size_t at = u + 5;
        for (size_t i = 0; i < backslashes + 1; i++, at++) {
            if (at >= text.len && more) {
                sign->kind = SIGN_CUT;
                return true;
            }
            if (at >= text.len || text.data[at] != (i < backslashes ? '\\' : 'u')) {
                classify(sign, 0xfffd);
                return true;
            }
        }
        uint32_t low = hex4(text, at);
        if (low == UINT32_MAX - 1 && more) {
            sign->kind = SIGN_CUT;
            return true;
        }
        if (low >= 0xdc00 && low < 0xe000) {
            c = 0x10000 + ((c - 0xd800) << 10) + (low - 0xdc00);
            sign->end = at + 4;
        }
    }
    sign->escaped = true;
    classify(sign, c);
    return true;
}

static void read_backslash(struct td_str text, size_t offset, bool more, struct sign *sign)
{
    size_t next = offset + 1;
    while (next < text.len && text.data[next] == '\\' && next - offset < BACKSLASHES_MAX)
        next++;
    if (next >= text.len && more && next - offset < BACKSLASHES_MAX) {
        sign->kind = SIGN_CUT;
        return;
    }
    if (next < text.len && text.data[next] == 'u' && read_unicode(text, next, more, sign))
        return;
    sign->kind = SIGN_GAP;
    sign->c = '\\';
    if (offset + 1 < text.len && text.data[offset + 1] != 0 &&
        strchr("nrtbf/\"", text.data[offset + 1])) {
        char c = text.data[offset + 1];
        sign->end = offset + 2;
        sign->escaped = true;
        sign->c = c == '/' || c == '"' ? (unsigned char)c : ' ';
    }
}

/* %20, %40: punctuation in an address. Letters and digits are not written so. */
static bool read_percent(struct td_str text, size_t offset, bool more, struct sign *sign)
{
    if (offset + 2 >= text.len) {
        sign->kind = SIGN_CUT;
        return more && (offset + 1 >= text.len || ascii_hex_value(text.data[offset + 1]) >= 0);
    }
    int high = ascii_hex_value(text.data[offset + 1]), low = ascii_hex_value(text.data[offset + 2]);
    if (high < 2 || high > 7 || low < 0)
        return false;
    struct sign inner = {.begin = offset, .end = offset + 3, .escaped = true};
    classify(&inner, (uint32_t)(high << 4 | low));
    if (inner.kind != SIGN_GAP)
        return false;
    *sign = inner;
    return true;
}

struct sign spell_at(struct td_str text, size_t offset, bool more)
{
    struct sign sign = {.begin = offset, .end = offset + 1};
    if (offset >= text.len) {
        sign.kind = SIGN_END;
        sign.end = offset;
        return sign;
    }
    char c = text.data[offset];
    if (c == '\\') {
        read_backslash(text, offset, more, &sign);
        return sign;
    }
    if (c == '%' && read_percent(text, offset, more, &sign))
        return sign;
    if ((unsigned char)c < 0x80) {
        classify(&sign, (unsigned char)c);
        return sign;
    }
    struct td_str rest = str_slice(text, offset, offset + 4);
    if (more && text.len - offset < 4 && utf8_complete_len(rest) == 0) {
        sign.kind = SIGN_CUT;
        return sign;
    }
    size_t end = 0;
    uint32_t code_point = utf8_next(rest, &end);
    sign.end = offset + end;
    classify(&sign, code_point);
    return sign;
}

void spell_split(struct backslashes *before, struct td_str text, bool json, struct sign *sign)
{
    bool escape = sign->kind == SIGN_GAP && sign->escaped && sign->end - sign->begin == 2 &&
                  text.data[sign->begin] == '\\' && sign->c == ' ';
    if (escape && !(json && before->run % 2 == 0)) {
        sign->end--;
        sign->c = '\\';
        sign->escaped = false;
    }
    bool backslash = sign->kind == SIGN_GAP && sign->c == '\\' && !sign->escaped;
    before->after_letter = before->run > 0 && sign->kind == SIGN_LETTER && !sign->upper &&
                           sign->c < 0x80 && strchr("nrtbf", (int)sign->c) != NULL;
    before->run = backslash ? before->run + 1 : 0;
}

/* --- whole texts --- */

static void append_character(uint32_t c, struct buf *out)
{
    char bytes[4];
    buf_append(out, bytes, utf8_encode(c, bytes));
}

void spell_fold(struct td_str text, struct buf *out)
{
    for (struct sign sign = spell_at(text, 0, false); sign.kind != SIGN_END;
         sign = spell_at(text, sign.end, false))
        if (spell_is_significant(&sign))
            append_character(sign.c, out);
}

size_t spell_count(struct td_str text)
{
    size_t count = 0;
    for (struct sign sign = spell_at(text, 0, false); sign.kind != SIGN_END;
         sign = spell_at(text, sign.end, false))
        count += spell_is_significant(&sign);
    return count;
}

uint64_t spell_hash(struct td_str text)
{
    uint64_t hash = HASH_FNV1A64_BASIS;
    for (struct sign sign = spell_at(text, 0, false); sign.kind != SIGN_END;
         sign = spell_at(text, sign.end, false))
        if (spell_is_significant(&sign))
            hash = (hash ^ sign.c) * UINT64_C(0x100000001b3);
    return hash;
}

enum spell_case spell_case_of(struct td_str text)
{
    size_t lower = 0, upper = 0;
    bool first_upper = false;
    for (struct sign sign = spell_at(text, 0, false); sign.kind != SIGN_END;
         sign = spell_at(text, sign.end, false)) {
        if (sign.kind != SIGN_LETTER)
            continue;
        if (lower + upper == 0)
            first_upper = sign.upper;
        upper += sign.upper;
        lower += !sign.upper;
    }
    if (upper + lower == 0)
        return SPELL_MIXED;
    if (upper == 0)
        return SPELL_LOWER;
    if (upper == 1 && first_upper)
        return SPELL_TITLE;
    return lower == 0 ? SPELL_UPPER : SPELL_MIXED;
}

void spell_in_case(struct td_str text, enum spell_case form, struct buf *out)
{
    bool in_word = false;
    size_t offset = 0;
    if (form == SPELL_MIXED) {
        buf_append_str(out, text);
        return;
    }
    while (offset < text.len) {
        size_t begin = offset;
        uint32_t c = utf8_next(text, &offset);
        struct sign sign = {0};
        classify(&sign, c);
        if (sign.kind == SIGN_LETTER && c != 0xfffd)
            append_character(form == SPELL_UPPER || (form == SPELL_TITLE && !in_word)
                                 ? spell_upper(c)
                                 : lower_case(c),
                             out);
        else
            buf_append(out, text.data + begin, offset - begin);
        in_word = sign.kind != SIGN_GAP;
    }
}

void spell_fill(struct td_str form, struct td_str filling, struct buf *out)
{
    struct sign next = spell_at(filling, 0, false);
    for (struct sign sign = spell_at(form, 0, false); sign.kind != SIGN_END;
         sign = spell_at(form, sign.end, false)) {
        if (!spell_is_significant(&sign)) {
            buf_append_str(out, str_slice(form, sign.begin, sign.end));
            continue;
        }
        while (next.kind != SIGN_END && !spell_is_significant(&next))
            next = spell_at(filling, next.end, false);
        if (next.kind == SIGN_END)
            continue;
        append_character(next.upper ? spell_upper(next.c) : next.c, out);
        next = spell_at(filling, next.end, false);
    }
}
