/* Reads the headers that say which bytes of which file came. Formats: Content-Range (RFC 9110,
 * 14.4), ETag (8.8.3) and If-Range (13.1.5). If-Range forbids weak tags and dates younger than a
 * second. Dates are only compared for equality here. X-Linked-ETag is Hugging Face's: for files in
 * its large storage it is the SHA-256 of the file, for others the 40 digits of a git blob, which is
 * no hash of the bytes. */
#include "net/download/download_headers.h"

#include "base/core/ascii.h"
#include "base/core/assertion.h"
#include "base/core/str.h"

bool download_sha256_parse(struct td_str text, char out[static DOWNLOAD_SHA256_HEX + 1])
{
    if (text.len >= 2 && text.data[0] == '"' && text.data[text.len - 1] == '"')
        text = str_slice(text, 1, text.len - 1);
    if (text.len != DOWNLOAD_SHA256_HEX)
        return false;
    char lower[DOWNLOAD_SHA256_HEX + 1];
    for (size_t i = 0; i < text.len; i++) {
        if (!ascii_is_hex(text.data[i]))
            return false;
        lower[i] = (char)ascii_lower(text.data[i]);
    }
    lower[DOWNLOAD_SHA256_HEX] = '\0';
    memcpy(out, lower, sizeof lower);
    return true;
}

/* "bytes 0-99/1000", or with an asterisk for the range in a 416. An unknown total is refused: it
 * would not show whether the file is complete. */
static void read_content_range(struct download_headers *headers, struct td_str value)
{
    struct td_str unit, range, first;
    uint64_t begin, last, total;
    if (!str_next(&value, ' ', &unit) || !str_equal_nocase(unit, STR("bytes")))
        return;
    value = str_trim(value);
    if (!str_next(&value, '/', &range) || !str_to_u64(value, &total))
        return;
    if (str_equal(range, STR("*"))) {
        headers->total_alone = true;
        headers->total = total;
        return;
    }
    if (!str_next(&range, '-', &first) || !str_to_u64(first, &begin) || !str_to_u64(range, &last) ||
        begin > last || last >= total)
        return;
    headers->has_range = true;
    headers->begin = begin;
    headers->end = last + 1;
    headers->total = total;
}

/* Keeps a value that can be sent back in a header: printable and not too long. */
static bool keep(char *out, size_t size, struct td_str value)
{
    if (value.len == 0 || value.len >= size)
        return false;
    for (size_t i = 0; i < value.len; i++)
        if ((unsigned char)value.data[i] < 0x20 || (unsigned char)value.data[i] >= 0x7f)
            return false;
    memcpy(out, value.data, value.len);
    out[value.len] = '\0';
    return true;
}

static void read_etag(struct download_headers *headers, struct td_str value)
{
    bool strong = value.len >= 2 && value.data[0] == '"' && value.data[value.len - 1] == '"';
    if (strong && keep(headers->validator, sizeof headers->validator, value))
        headers->is_etag = true;
}

void download_headers_feed(struct download_headers *headers, struct td_str line)
{
    ASSERT(headers != NULL);
    if (str_starts_with(line, STR("HTTP/"))) {
        *headers = (struct download_headers){0};
        return;
    }
    struct td_str name, value = str_trim(line);
    uint64_t length;
    if (memchr(line.data ? line.data : "", ':', line.len) == NULL || !str_next(&value, ':', &name))
        return;
    value = str_trim(value);
    if (str_equal_nocase(name, STR("content-length"))) {
        headers->has_length = str_to_u64(value, &length);
        headers->length = headers->has_length ? length : 0;
    } else if (str_equal_nocase(name, STR("content-range"))) {
        read_content_range(headers, value);
    } else if (str_equal_nocase(name, STR("etag"))) {
        read_etag(headers, value);
    } else if (str_equal_nocase(name, STR("last-modified")) && !headers->is_etag) {
        (void)keep(headers->validator, sizeof headers->validator, value);
    } else if (str_equal_nocase(name, STR("x-linked-etag"))) {
        (void)download_sha256_parse(value, headers->sha256);
    } else if (str_equal_nocase(name, STR("content-encoding"))) {
        headers->encoded = !str_equal_nocase(value, STR("identity"));
    }
}
