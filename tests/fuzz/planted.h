/* Private values as somebody may write them: in clear, and in each disguise of which
 * docs/privacy.md ("What hides nothing") says that it hides nothing. */
#ifndef FUZZ_PLANTED_H
#define FUZZ_PLANTED_H

#include "base/bytes/buf.h"
#include "base/core/str.h"
#include "base/text/names.h"
#include "base/text/utf8.h"

#include <ctype.h>
#include <stdio.h>

enum disguise {
    DISGUISE_NONE,
    DISGUISE_FULL_WIDTH,
    DISGUISE_ZERO_WIDTH,
    DISGUISE_SOFT_HYPHEN,
    DISGUISE_PERCENT,
    DISGUISE_BASE64,
    DISGUISE_HTML,
    DISGUISE_HTML_HEX,
    DISGUISE_JSON,
    DISGUISE_ARABIC,
    DISGUISE_BOLD,
    DISGUISE_GROUPS,
    DISGUISE_DASHES,
    DISGUISE_NO_BREAK,
    DISGUISE_LINES,
    DISGUISE_WORDS,
    DISGUISE_BRACKETS,
    DISGUISE_COUNT
};

#define BIT(disguise) (1u << (disguise))
#define ANY_TEXT                                                                \
    (BIT(DISGUISE_NONE) | BIT(DISGUISE_FULL_WIDTH) | BIT(DISGUISE_ZERO_WIDTH) | \
     BIT(DISGUISE_SOFT_HYPHEN) | BIT(DISGUISE_PERCENT) | BIT(DISGUISE_BASE64) | \
     BIT(DISGUISE_HTML) | BIT(DISGUISE_HTML_HEX) | BIT(DISGUISE_JSON))
/* An operator's own rules are tried on what a text shows, and not on what is encoded in it. */
#define ANY_RULE (ANY_TEXT & ~BIT(DISGUISE_PERCENT) & ~BIT(DISGUISE_BASE64))
#define ANY_NUMBER (ANY_TEXT | BIT(DISGUISE_ARABIC) | BIT(DISGUISE_BOLD))
#define ANY_CARD                                                                         \
    (ANY_NUMBER | BIT(DISGUISE_GROUPS) | BIT(DISGUISE_DASHES) | BIT(DISGUISE_NO_BREAK) | \
     BIT(DISGUISE_LINES))
#define ANY_MAIL (ANY_TEXT | BIT(DISGUISE_WORDS) | BIT(DISGUISE_BRACKETS))

struct plant {
    const char *text;
    enum td_data_class data_class;
    unsigned disguises;
};

static const struct plant plants[] = {
    {"5500005555555559", TD_CLASS_RESTRICTED, ANY_CARD},
    {"4539578763621486", TD_CLASS_RESTRICTED, ANY_CARD},
    {"371449635398431", TD_CLASS_RESTRICTED, ANY_NUMBER | BIT(DISGUISE_GROUPS)},
    {"DE89370400440532013000", TD_CLASS_RESTRICTED, ANY_NUMBER | BIT(DISGUISE_GROUPS)},
    {"536-90-4399", TD_CLASS_RESTRICTED, ANY_NUMBER},
    {"nina.kowalczyk@acmecorp.com", TD_CLASS_SENSITIVE, ANY_MAIL},
    {"sk-proj-Zx81kQm2Lr7Tn5Vb9Wc3Yd6Fh0Gj4Ks8", TD_CLASS_RESTRICTED, ANY_TEXT},
    {"AKIAZQ3DRYBWF7KJX2MN", TD_CLASS_RESTRICTED, ANY_TEXT},
    {"ghp_16C7e42F292c6912E7710c838347Ae178B4a", TD_CLASS_RESTRICTED, ANY_TEXT},
    {"+49 30 90182345", TD_CLASS_SENSITIVE, ANY_NUMBER},
    {"EMP-90417", TD_CLASS_RESTRICTED, ANY_RULE},
    {"Bluebird Harbour", TD_CLASS_SENSITIVE, ANY_RULE},
    {"84.17.133.92", TD_CLASS_SENSITIVE, ANY_NUMBER},
};
#define PLANT_COUNT (sizeof plants / sizeof *plants)
#define PLANT_NUMBERS 3 /* the first are digits alone */
/* What the operator's own rules find: PLANT_RULES stands in the configuration's privacy section. */
#define PLANT_RULES                                                         \
    "  patterns: [{name: STAFF, regex: 'EMP-\\d{5}', class: restricted}]\n" \
    "  words: [{name: PROJECT, list: [Bluebird Harbour], class: sensitive}]\n"

static void put_code_point(struct buf *out, uint32_t code_point)
{
    char bytes[4];
    buf_append(out, bytes, utf8_encode(code_point, bytes));
}

static void put_base64(struct buf *out, struct td_str text)
{
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    for (size_t i = 0; i < text.len; i += 3) {
        uint32_t block = 0;
        for (size_t j = 0; j < 3; j++)
            block = block << 8 | (i + j < text.len ? (unsigned char)text.data[i + j] : 0);
        for (size_t j = 0; j < 4; j++)
            buf_append_char(out, i + j > text.len ? '=' : digits[block >> (18 - 6 * j) & 63]);
    }
}

static void put_char_disguised(struct buf *out, struct td_str text, size_t at,
                               enum disguise disguise)
{
    char c = text.data[at];
    static const char *const joints[DISGUISE_COUNT] = {
        [DISGUISE_ZERO_WIDTH] = "\u200b", [DISGUISE_SOFT_HYPHEN] = "\u00ad",
        [DISGUISE_GROUPS] = " ",          [DISGUISE_DASHES] = "-",
        [DISGUISE_NO_BREAK] = "\u00a0",   [DISGUISE_LINES] = " "};
    uint32_t digit = (uint32_t)(c - '0');
    if (disguise == DISGUISE_LINES && at == 8) /* one line's end */
        buf_append_str(out, STR("\n>"));
    if (joints[disguise] && at > 0 && at % 4 == 0)
        buf_append_str(out, str_from(joints[disguise]));
    if (disguise == DISGUISE_FULL_WIDTH && c > ' ')
        put_code_point(out, 0xff00 + (uint32_t)c - 0x20);
    else if (disguise == DISGUISE_PERCENT)
        buf_printf(out, "%%%02X", (unsigned char)c);
    else if (disguise == DISGUISE_HTML)
        buf_printf(out, "&#%u;", (unsigned char)c);
    else if (disguise == DISGUISE_HTML_HEX)
        buf_printf(out, "&#x%x;", (unsigned char)c);
    else if (disguise == DISGUISE_JSON)
        buf_printf(out, "\\u%04x", (unsigned char)c);
    else if (disguise == DISGUISE_ARABIC && digit < 10)
        put_code_point(out, 0x660 + digit);
    else if (disguise == DISGUISE_BOLD && digit < 10)
        put_code_point(out, 0x1d7ce + digit);
    else if (disguise == DISGUISE_WORDS && c == '@')
        buf_append_str(out, STR(" at "));
    else if (disguise == DISGUISE_WORDS && c == '.' && memchr(text.data, '@', at))
        buf_append_str(out, STR(" dot "));
    else if (disguise == DISGUISE_BRACKETS && (c == '@' || c == '.'))
        buf_append_str(out, c == '@' ? STR("[@]") : STR("[.]"));
    else
        buf_append_char(out, c);
}

static void put_planted(struct buf *out, const struct plant *plant, enum disguise disguise)
{
    struct td_str text = str_from(plant->text);
    if (disguise == DISGUISE_BASE64)
        put_base64(out, text);
    else
        for (size_t i = 0; i < text.len; i++)
            put_char_disguised(out, text, i, disguise);
}

/* The letters and digits of a text, in lower case: what is left of a value that was only written
 * in another way. */
static void put_squeezed(struct buf *out, struct td_str text)
{
    buf_append_str(out, text);
    size_t len = out->len - (out->failed ? 0 : text.len), begin = len;
    for (size_t i = begin; i < out->len; i++)
        if (isalnum((unsigned char)out->data[i]))
            out->data[len++] = (char)tolower((unsigned char)out->data[i]);
    buf_truncate(out, len);
}

#endif
