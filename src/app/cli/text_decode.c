#include "app/cli/text_decode.h"

#include "base/core/error.h"
#include "base/core/str.h"
#include "base/text/utf8.h"

struct decoding {
    struct buf *out;
    size_t count, controls;
};

static void put(struct decoding *d, uint32_t c)
{
    char bytes[4];
    bool control = c < ' ' && c != '\t' && c != '\n' && c != '\r' && c != '\f';
    size_t len = utf8_encode(control ? ' ' : c, bytes);
    d->count++;
    d->controls += control || len == 0;
    buf_append(d->out, len ? bytes : "?", len ? len : 1);
}

/* Surrogates without their other half are no characters: utf8_encode refuses them. */
static void decode_utf16(struct decoding *d, struct td_str text, bool big)
{
    uint32_t high = 0;
    for (size_t i = 0; i + 1 < text.len; i += 2) {
        uint32_t a = (unsigned char)text.data[i], b = (unsigned char)text.data[i + 1];
        uint32_t unit = big ? a << 8 | b : b << 8 | a;
        if (high && unit >= 0xDC00 && unit < 0xE000) {
            put(d, 0x10000 + ((high - 0xD800) << 10) + (unit - 0xDC00));
            high = 0;
            continue;
        }
        if (high)
            put(d, high);
        high = unit >= 0xD800 && unit < 0xDC00 ? unit : 0;
        if (!high)
            put(d, unit);
    }
}

/* How many bytes are zero, of those at even or at odd places. */
static size_t zeros(struct td_str bytes, size_t first)
{
    size_t count = 0;
    for (size_t i = first; i < bytes.len; i += 2)
        count += bytes.data[i] == 0;
    return count;
}

bool text_is_utf8(struct td_str bytes)
{
    return (zeros(bytes, 0) + zeros(bytes, 1)) * 100 <= bytes.len && utf8_is_valid(bytes);
}

enum td_status text_decode(struct td_str bytes, struct buf *out, struct td_error *err)
{
    struct decoding d = {.out = out};
    bool utf8 = text_is_utf8(bytes);
    size_t mark =
        str_starts_with(bytes, STR("\xFF\xFE")) || str_starts_with(bytes, STR("\xFE\xFF"));
    bool big = mark ? bytes.data[0] == '\xFE' : zeros(bytes, 0) * 4 > bytes.len;
    if (mark || big || zeros(bytes, 1) * 4 > bytes.len)
        decode_utf16(&d, str_slice(bytes, 2 * mark, bytes.len), big);
    else if (utf8)
        for (size_t at = 0; at < bytes.len;)
            put(&d, utf8_next(bytes, &at));
    else
        for (size_t i = 0; i < bytes.len; i++)
            put(&d, (unsigned char)bytes.data[i]);
    if (out->failed)
        return error_set(err, TD_LIMIT,
                         "as UTF-8 it is larger than %zu bytes, or there is no memory for it",
                         out->bytes_max);
    return d.controls * 100 <= d.count ? TD_OK : TD_UNSUPPORTED;
}
