/* Surrogates by shape, and of the numbers that keep a part of what they say: a card its brand, an
 * IBAN its country. A number stays as long as it is, with its separators, because an answer copies
 * and counts digits. Check digits are not this file's matter: surrogate.c draws again while a
 * detector would take the surrogate for a true number. */
#include "base/core/assertion.h"
#include "base/core/str.h"
#include "privacy/pseudonym/restore_spell.h"
#include "privacy/pseudonym/surrogate_writers.h"
#include "privacy/text/spell.h"

#include <stdio.h>

static char any_digit(bool first, char own, struct draw *draw)
{
    if (first && own != '0') /* a number stays as long as it is */
        return (char)('1' + (char)draw_below(draw, 9));
    return (char)('0' + (char)draw_below(draw, 10));
}

/* The restorer would not read a longer gap as one of the surrogate's. Half of what it reads: in a
 * JSON string a byte may become two. */
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
        /* Other control characters take six bytes in a JSON string. */
        if (separates && gap_bytes <= GAP_BYTES_KEPT && (sign.c >= ' ' || blank))
            buf_append_str(out, str_slice(value, sign.begin, sign.end));
        else if (sign.kind == SIGN_DIGIT)
            buf_append_char(out, any_digit(!in_number, (char)sign.c, draw));
        else if (!separates)
            buf_append_char(out, (char)((sign.upper ? 'A' : 'a') + (char)draw_below(draw, 26)));
        in_number = sign.kind == SIGN_DIGIT;
    }
}

void surrogate_write_shape_after(struct td_str value, size_t kept, struct draw *draw,
                                 struct buf *out)
{
    ASSERT(kept <= value.len);
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

/* The brand stays visible: one digit; two digits of Mastercard and American Express. */
bool surrogate_write_card(const struct surrogate_request *request, struct draw *draw,
                          struct buf *out)
{
    struct buf digits;
    buf_init(&digits, 64);
    spell_fold(request->value, &digits);
    bool two = digits.len > 1 && (digits.data[0] == '5' || digits.data[0] == '3');
    buf_deinit(&digits);
    surrogate_write_shape_after(request->value, prefix_of(request->value, two ? 2 : 1), draw, out);
    return true;
}

/* The country stays visible. */
bool surrogate_write_iban(const struct surrogate_request *request, struct draw *draw,
                          struct buf *out)
{
    surrogate_write_shape_after(request->value, prefix_of(request->value, 2), draw, out);
    return true;
}

/* Numbers from 900-01 on belong to nobody: social security numbers do not begin with 9, and
 * taxpayer numbers that do have no group below 50. */
bool surrogate_write_ssn(const struct surrogate_request *request, struct draw *draw,
                         struct buf *out)
{
    char digits[16];
    if (spell_count(request->value) != 9)
        return false;
    snprintf(digits, sizeof digits, "9%02u%02u%04u", draw_below(draw, 100),
             1 + draw_below(draw, 49), 1 + draw_below(draw, 9999));
    spell_fill(request->value, str_from(digits), out);
    return true;
}
