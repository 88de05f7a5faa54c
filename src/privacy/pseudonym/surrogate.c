/* Which form a kind's surrogates have, and the forms that are numbers. */
#include "privacy/pseudonym/surrogate.h"

#include "base/str.h"
#include "base/utf8.h"
#include "privacy/pseudonym/restore_spell.h"
#include "privacy/scan/scan.h"
#include "privacy/text/spell.h"

#include <ctype.h>
#include <stdio.h>

/* --- drawing --- */

void draw_init(struct draw *draw, const uint8_t key[static KEYED_KEY_BYTES], const char *label,
               struct td_str text, uint32_t salt)
{
    struct buf bytes;
    buf_init(&bytes, text.len + 128);
    buf_printf(&bytes, "%s/%u/", label, salt);
    buf_append_str(&bytes, text);
    *draw = (struct draw){.used = KEYED_MAC_BYTES};
    keyed_mac(key, bytes.data, bytes.len, draw->key);
    buf_deinit(&bytes);
}

uint64_t draw_u64(struct draw *draw)
{
    uint64_t number;
    if (draw->used + sizeof number > KEYED_MAC_BYTES) {
        draw->block_count++;
        keyed_mac(draw->key, &draw->block_count, sizeof draw->block_count, draw->block);
        draw->used = 0;
    }
    memcpy(&number, draw->block + draw->used, sizeof number);
    draw->used += sizeof number;
    return number;
}

uint32_t draw_below(struct draw *draw, uint32_t bound)
{
    /* 2^64 is so much larger than any bound here that the bias is below 2^-32. */
    return (uint32_t)(draw_u64(draw) % bound);
}

/* --- kinds --- */

enum surrogate_form surrogate_form_of(enum privacy_kind kind)
{
    switch (kind) {
    case PRIVACY_PERSON:
    case PRIVACY_PLACE:
    case PRIVACY_ORGANIZATION:
    case PRIVACY_ADDRESS:
    case PRIVACY_PHONE:
    case PRIVACY_CARD:
    case PRIVACY_IBAN:
    case PRIVACY_BANK_ACCOUNT:
        return SURROGATE_LOOSE;
    default:
        return kind >= PRIVACY_US_MBI && kind <= PRIVACY_IL_ID ? SURROGATE_LOOSE
               : kind == PRIVACY_US_SSN                        ? SURROGATE_LOOSE
                                                               : SURROGATE_STRICT;
    }
}

bool surrogate_is_worded(enum privacy_kind kind)
{
    return kind == PRIVACY_PERSON || kind == PRIVACY_PLACE || kind == PRIVACY_ORGANIZATION ||
           kind == PRIVACY_ADDRESS;
}

void surrogate_canonical(enum privacy_kind kind, struct td_str value, struct buf *out)
{
    if (surrogate_form_of(kind) == SURROGATE_LOOSE) {
        spell_fold(value, out);
        return;
    }
    bool caseless = kind == PRIVACY_EMAIL || kind == PRIVACY_DOMAIN || kind == PRIVACY_IP ||
                    kind == PRIVACY_MAC;
    size_t begin = out->len;
    if (caseless)
        spell_in_case(value, SPELL_LOWER, out);
    else
        buf_append_str(out, value);
    for (size_t i = begin; kind == PRIVACY_IP && i < out->len; i++)
        if (out->data[i] == '-' || out->data[i] == '_')
            out->data[i] = '.'; /* a host that is named after the address */
}

/* --- shapes --- */

static void append_like(uint32_t c, bool first_digit, struct draw *draw, struct buf *out)
{
    if (c >= '0' && c <= '9') /* a number stays as long as it is */
        buf_append_char(out, (char)(first_digit && c != '0' ? '1' + (char)draw_below(draw, 9)
                                                            : '0' + (char)draw_below(draw, 10)));
    else if (spell_lower(c) != c)
        buf_append_char(out, (char)('A' + (char)draw_below(draw, 26)));
    else
        buf_append_char(out, (char)('a' + (char)draw_below(draw, 26)));
}

/* A longer gap would not be read as one of the surrogate's, not even in a JSON string where each byte may
 * be two; a control character is six there. */
#define GAP_BYTES_KEPT (RESTORE_GAP_BYTES_MAX / 2)

void surrogate_write_shape(struct td_str value, struct draw *draw, struct buf *out)
{
    bool in_number = false;
    size_t gap_bytes = 0;
    for (struct sign sign = spell_at(value, 0, false); sign.kind != SIGN_END;
         sign = spell_at(value, sign.end, false)) {
        bool separates = !spell_is_significant(&sign);
        bool blank = sign.c == '\n' || sign.c == '\t' || sign.c == '\r';
        gap_bytes = separates ? gap_bytes + sign.end - sign.begin : 0;
        if (separates && gap_bytes <= GAP_BYTES_KEPT && (sign.c >= ' ' || blank))
            buf_append_str(out, str_slice(value, sign.begin, sign.end));
        else if (sign.kind == SIGN_DIGIT)
            append_like(sign.c, !in_number, draw, out);
        else if (!separates)
            append_like(sign.upper ? 'A' : 'a', false, draw, out);
        in_number = sign.kind == SIGN_DIGIT;
    }
}

/* All digits of value are in place; numbers of a person keep their length and lose their meaning. */
static void write_after(struct td_str value, size_t kept, struct draw *draw, struct buf *out)
{
    buf_append_str(out, str_slice(value, 0, kept));
    surrogate_write_shape(str_slice(value, kept, value.len), draw, out);
}

/* Bytes of the value that hold its first `count` letters and digits; the value's length when it has
 * fewer. */
static size_t prefix_of(struct td_str value, size_t count)
{
    size_t offset = 0;
    while (count > 0) {
        struct sign sign = spell_at(value, offset, false);
        if (sign.kind == SIGN_END)
            break;
        count -= spell_is_significant(&sign);
        offset = sign.end;
    }
    return offset;
}

static bool is_plain(struct td_str value)
{
    for (size_t i = 0; i < value.len; i++)
        if ((unsigned char)value.data[i] >= 0x80 || value.data[i] == '\\')
            return false;
    return true;
}

/* The brand stays visible: one digit, of Mastercard and American Express two. */
static void write_card(struct td_str value, struct draw *draw, struct buf *out)
{
    struct buf digits;
    buf_init(&digits, 64);
    spell_fold(value, &digits);
    bool two = digits.len > 1 && (digits.data[0] == '5' || digits.data[0] == '3');
    buf_deinit(&digits);
    write_after(value, prefix_of(value, two ? 2 : 1), draw, out);
}

/* Numbers from 900-01 on are nobody's: neither a social security number, nor (group below 50) a
 * taxpayer's. */
static void write_ssn(struct td_str value, struct draw *draw, struct buf *out)
{
    char digits[16];
    snprintf(digits, sizeof digits, "9%02u%02u%04u", draw_below(draw, 100),
             1 + draw_below(draw, 49), 1 + draw_below(draw, 9999));
    spell_fill(value, str_from(digits), out);
}

/* A key shows by its beginning whose it is; that stays, so that an answer can be about it. */
static size_t key_prefix(struct td_str value)
{
    static const char *const plain[] = {"AKIA", "ASIA", "AIza", "eyJ", "EAAC", NULL};
    size_t kept = 0;
    for (size_t i = 0; plain[i]; i++)
        if (str_starts_with(value, str_from(plain[i])))
            return strlen(plain[i]);
    for (size_t i = 0; i < value.len && i < 12; i++) {
        char c = value.data[i];
        if (c == '-' || c == '_')
            kept = i + 1;
        else if (!((c | 0x20) >= 'a' && (c | 0x20) <= 'z'))
            break;
    }
    return value.len - kept >= 8 ? kept : 0;
}

/* A line that frames a PEM block and nothing else: all of it may be seen. */
static bool is_frame(struct td_str line, struct td_str begin)
{
    if (line.len < begin.len + 5 || !str_starts_with(line, begin) ||
        !str_equal(str_slice(line, line.len - 5, line.len), STR("-----")))
        return false;
    for (size_t i = begin.len; i < line.len - 5; i++)
        if (line.data[i] != ' ' && !(line.data[i] >= 'A' && line.data[i] <= 'Z'))
            return false;
    return true;
}

/* Of a PEM block the lines that frame it, and one line of characters. A finding that goes on behind the block (others have become one with it)
 * is none. */
static bool write_private_key(struct td_str value, struct draw *draw, struct buf *out)
{
    static const char line[] = "MHcCAQEEIAaAaAaAaAaAaAaAaAaAaAaAaAaAaAaAaAaAaAaAoAoGCCqGSM49AwEH";
    size_t head = str_find(value, STR("-----"), 5);
    if (head == SIZE_MAX)
        return false;
    head += 5;
    size_t end = str_find(value, STR("-----END"), head);
    size_t tail = end == SIZE_MAX ? value.len : end;
    if (!is_frame(str_slice(value, 0, head), STR("-----BEGIN")) ||
        (tail < value.len && !is_frame(str_slice(value, tail, value.len), STR("-----END"))))
        return false;
    const char *newline = str_find(str_slice(value, head, tail), STR("\\n"), 0) == 0 ? "\\n" : "\n";
    buf_append_str(out, str_slice(value, 0, head));
    buf_append_str(out, str_from(newline));
    surrogate_write_shape(STR(line), draw, out);
    if (tail < value.len)
        buf_append_str(out, str_from(newline));
    buf_append_str(out, str_slice(value, tail, value.len));
    return true;
}

static bool write_once(enum privacy_kind kind, struct td_str value, const uint8_t *key,
                       uint32_t salt, struct draw *draw, struct buf *out)
{
    bool digits9 = spell_count(value) == 9;
    switch (kind) {
    case PRIVACY_EMAIL:
        return surrogate_write_email(value, draw, out);
    case PRIVACY_PHONE:
        return is_plain(value) && surrogate_write_phone(value, draw, out);
    case PRIVACY_IP:
        return surrogate_write_ip(value, draw, out);
    case PRIVACY_MAC:
        return surrogate_write_mac(value, draw, out);
    case PRIVACY_DOMAIN:
        return surrogate_write_domain(value, draw, out);
    case PRIVACY_DATE:
        return surrogate_write_date(value, key, salt, out);
    case PRIVACY_PRIVATE_KEY:
        return write_private_key(value, draw, out);
    case PRIVACY_CARD:
        write_card(value, draw, out);
        return true;
    case PRIVACY_IBAN:
        write_after(value, prefix_of(value, 2), draw, out);
        return true;
    case PRIVACY_US_SSN:
        if (digits9)
            write_ssn(value, draw, out);
        return digits9;
    case PRIVACY_API_KEY:
        write_after(value, key_prefix(value), draw, out);
        return true;
    default:
        return false;
    }
}

/* --- check digits --- */

struct sighting {
    enum privacy_kind kind;
    bool seen;
};

static void see(void *ctx, const struct privacy_span *span)
{
    struct sighting *sighting = ctx;
    sighting->seen |= span->kind == sighting->kind;
}

static bool has_check_digits(enum privacy_kind kind)
{
    return kind == PRIVACY_CARD || kind == PRIVACY_IBAN ||
           (kind >= PRIVACY_US_NPI && kind <= PRIVACY_IL_ID);
}

/* Would the detectors take it for a true one, beside a word that announces it? */
static bool passes_for_true(enum privacy_kind kind, struct td_str surrogate)
{
    struct sighting sighting = {kind, false};
    struct buf text;
    buf_init(&text, surrogate.len + 64);
    buf_printf(&text, "%s", kind == PRIVACY_CARD ? "credit card " : "national id number ");
    buf_append_str(&text, surrogate);
    scan_plain(buf_view(&text), NULL, see, &sighting);
    buf_deinit(&text);
    return sighting.seen;
}

#define CHECKED_TRIES 12 /* one in ten passes a check digit by chance: 10^-12 */

/* The value's letters and digits alone, in their case. */
static void append_signs(struct td_str value, struct buf *out)
{
    for (struct sign sign = spell_at(value, 0, false); sign.kind != SIGN_END;
         sign = spell_at(value, sign.end, false)) {
        char bytes[4];
        if (spell_is_significant(&sign))
            buf_append(out, bytes, utf8_encode(sign.upper ? spell_upper(sign.c) : sign.c, bytes));
    }
}

/* Where separators do not count, they do not change the draws either. */
static void write_try(enum privacy_kind kind, struct td_str value, const uint8_t *key,
                      uint32_t salt, struct draw *draw, struct buf *out)
{
    struct buf signs, other;
    if (surrogate_form_of(kind) != SURROGATE_LOOSE || kind == PRIVACY_PHONE) {
        if (!write_once(kind, value, key, salt, draw, out))
            surrogate_write_shape(value, draw, out);
        return;
    }
    buf_init(&signs, value.len * 4 + 16);
    buf_init(&other, value.len * 4 + 16);
    append_signs(value, &signs);
    if (!write_once(kind, buf_view(&signs), key, salt, draw, &other))
        surrogate_write_shape(buf_view(&signs), draw, &other);
    spell_fill(value, buf_view(&other), out);
    buf_deinit(&signs);
    buf_deinit(&other);
}

void surrogate_write(enum privacy_kind kind, struct td_str value,
                     const uint8_t key[static KEYED_KEY_BYTES], struct td_str canonical,
                     uint32_t salt, struct buf *out)
{
    size_t begin = out->len;
    for (uint32_t try = 0; try < CHECKED_TRIES; try++) {
        struct draw draw;
        draw_init(&draw, key, privacy_kind_name(kind), canonical, salt * CHECKED_TRIES + try);
        write_try(kind, value, key, salt, &draw, out);
        if (out->failed || !has_check_digits(kind) ||
            !passes_for_true(kind, str_slice(buf_view(out), begin, out->len)))
            return;
        if (try + 1 < CHECKED_TRIES) {
            out->len = begin;
            out->data[begin] = '\0';
        }
    }
}
