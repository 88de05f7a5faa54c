/* The library asks for each character through two calls and keeps it in a buffer that grows, which
 * takes some 200 instructions a character: two thirds of a millisecond for 150 kB, and a fifth of
 * all that a small request cost. Here a string is looked through once for its end and copied once.
 *
 * Left to the library: escaped surrogates and NUL, numbers that are no plain integers of at most 18
 * digits (it converts those one by one), control characters, bytes that are no UTF-8, names that
 * stand twice, and every error. */
#include "base/json/json_fast.h"

#include "base/json/json.h"
#include "base/text/utf8.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#define DIGITS_MAX 18 /* of an integer that surely fits into 64 bits */
#define NUMBER_BYTES_MAX 64
#define NAME_BYTES_MAX 256

struct reader {
    const char *at, *end;
    int depth_left;
    bool reject_duplicates;
};

static json_t *read_value(struct reader *reader);

static void skip_space(struct reader *reader)
{
    while (reader->at < reader->end && (*reader->at == ' ' || *reader->at == '\n' ||
                                        *reader->at == '\r' || *reader->at == '\t'))
        reader->at++;
}

static bool take(struct reader *reader, char wanted)
{
    skip_space(reader);
    if (reader->at == reader->end || *reader->at != wanted)
        return false;
    reader->at++;
    return true;
}

/* Bytes that end the plain part of a string: its end, an escape, or what may not stand there. */
static bool is_special(unsigned char byte)
{
    return byte == '"' || byte == '\\' || byte < 0x20;
}

/* Whether one of eight bytes is special; for those from 0x80 on it may say so wrongly, which costs
 * nothing but a look at each. (x - n) sets a byte's top bit if the byte is below n.) */
static bool any_special(const char *bytes)
{
    const uint64_t ones = 0x0101010101010101u, tops = 0x8080808080808080u;
    uint64_t word;
    memcpy(&word, bytes, sizeof word);
    const uint64_t quote = word ^ ones * '"', slash = word ^ ones * '\\';
    return ((word - ones * 0x20) | (quote - ones) | (slash - ones)) & tops;
}

size_t json_plain_prefix(struct td_str text)
{
    size_t at = 0;
    while (text.len - at >= 8 && !any_special(text.data + at))
        at += 8;
    while (at < text.len && !is_special((unsigned char)text.data[at]))
        at++;
    return at;
}

/* The plain bytes from here on; the caller looks at what follows. */
static struct td_str take_plain(struct reader *reader)
{
    struct td_str left = {reader->at, (size_t)(reader->end - reader->at)};
    left.len = json_plain_prefix(left);
    reader->at += left.len;
    return left;
}

static int hex_of(char digit)
{
    if (digit >= '0' && digit <= '9')
        return digit - '0';
    digit = (char)(digit | 0x20);
    return digit >= 'a' && digit <= 'f' ? digit - 'a' + 10 : -1;
}

/* The four digits of \u, if they are a character of its own that is not NUL. */
static size_t take_code_unit(struct reader *reader, char out[4])
{
    uint32_t code = 0;
    if (reader->end - reader->at < 4)
        return 0;
    for (int i = 0; i < 4; i++) {
        int digit = hex_of(*reader->at++);
        if (digit < 0)
            return 0;
        code = code << 4 | (uint32_t)digit;
    }
    return code == 0 || (code >= 0xd800 && code <= 0xdfff) ? 0 : utf8_encode(code, out);
}

/* What the escape here means; 0 bytes: not for us. */
static size_t take_escape(struct reader *reader, char out[4])
{
    static const char names[] = "\"\\/bfnrt", meant[] = "\"\\/\b\f\n\r\t";
    if (++reader->at == reader->end)
        return 0;
    char name = *reader->at++;
    if (name == 'u')
        return take_code_unit(reader, out);
    const char *found = name ? strchr(names, name) : NULL;
    if (!found)
        return 0;
    *out = meant[found - names];
    return 1;
}

/* The rest of a string with escapes, into `out`, which has room for all that is left. */
static bool unescape(struct reader *reader, char *out, size_t *len)
{
    for (;;) {
        struct td_str plain = take_plain(reader);
        memcpy(out + *len, plain.data, plain.len);
        *len += plain.len;
        if (reader->at == reader->end)
            return false;
        if (*reader->at == '"')
            return true;
        size_t got = *reader->at == '\\' ? take_escape(reader, out + *len) : 0;
        if (got == 0)
            return false;
        *len += got;
    }
}

/* The length of a string up to its quotation mark, escapes and all; at least that of its text. */
static size_t string_bytes(const struct reader *reader)
{
    const char *at = reader->at;
    while (at < reader->end && *at != '"')
        at += *at == '\\' ? 2 : 1;
    return (size_t)((at < reader->end ? at : reader->end) - reader->at);
}

/* A string's text, behind its first quotation mark. *owned: what it was unescaped to, or NULL. */
static bool take_string(struct reader *reader, struct td_str *text, char **owned)
{
    const char *begin = reader->at;
    *owned = NULL;
    *text = take_plain(reader);
    if (reader->at == reader->end)
        return false;
    if (*reader->at != '"') {
        size_t len = text->len;
        if (*reader->at != '\\' || !(*owned = malloc(len + string_bytes(reader) + 4)))
            return false;
        memcpy(*owned, begin, len);
        if (!unescape(reader, *owned, &len))
            return false;
        *text = (struct td_str){*owned, len};
    }
    reader->at++;
    return utf8_is_valid(*text);
}

static json_t *read_string(struct reader *reader)
{
    struct td_str text;
    char *owned;
    json_t *value =
        take_string(reader, &text, &owned) ? json_stringn_nocheck(text.data, text.len) : NULL;
    free(owned);
    return value;
}

static json_t *read_list(struct reader *reader)
{
    json_t *list = json_array();
    if (list && take(reader, ']'))
        return list;
    while (list) {
        json_t *value = read_value(reader);
        if (!value || json_array_append_new(list, value) != 0)
            break;
        if (take(reader, ','))
            continue;
        if (take(reader, ']'))
            return list;
        break;
    }
    json_decref(list);
    return NULL;
}

/* One member, behind its name's first quotation mark. */
static bool read_member(struct reader *reader, json_t *object)
{
    struct td_str text;
    char *owned, name[NAME_BYTES_MAX];
    bool good = take_string(reader, &text, &owned) && text.len < sizeof name;
    if (good) {
        memcpy(name, text.data, text.len);
        name[text.len] = '\0';
    }
    free(owned);
    if (!good || !take(reader, ':') || (reader->reject_duplicates && json_object_get(object, name)))
        return false;
    json_t *value = read_value(reader);
    return value && json_object_set_new_nocheck(object, name, value) == 0;
}

static json_t *read_object(struct reader *reader)
{
    json_t *object = json_object();
    if (object && take(reader, '}'))
        return object;
    while (object && take(reader, '"') && read_member(reader, object)) {
        if (take(reader, ','))
            continue;
        if (take(reader, '}'))
            return object;
        break;
    }
    json_decref(object);
    return NULL;
}

/* Other numbers than plain integers are the library's, which knows what fits and how it rounds. */
static json_t *read_number(struct reader *reader)
{
    const char *begin = reader->at, *at = begin;
    bool minus = *at == '-', plain;
    json_int_t sum = 0;
    at += minus;
    const char *digits = at;
    for (; at < reader->end && *at >= '0' && *at <= '9'; at++)
        if (at - digits < DIGITS_MAX)
            sum = sum * 10 + (*at - '0');
    plain = at > digits && at - digits <= DIGITS_MAX && (*digits != '0' || at - digits == 1);
    if (plain && (at == reader->end || !strchr(".eE", *at))) {
        reader->at = at;
        return json_integer(minus ? -sum : sum);
    }
    while (at < reader->end && (hex_of(*at) >= 0 || strchr("+-.", *at)))
        at++;
    size_t len = (size_t)(at - begin);
    if (len >= NUMBER_BYTES_MAX)
        return NULL;
    reader->at = at;
    json_t *number = json_loadb(begin, len, JSON_DECODE_ANY, NULL);
    /* An integer of more than 64 bits, as schemas have 2^64 - 1. */
    return number ? number
                  : json_loadb(begin, len, JSON_DECODE_ANY | JSON_DECODE_INT_AS_REAL, NULL);
}

static json_t *read_word(struct reader *reader)
{
    size_t left = (size_t)(reader->end - reader->at);
    if (left >= 4 && memcmp(reader->at, "true", 4) == 0)
        return reader->at += 4, json_true();
    if (left >= 5 && memcmp(reader->at, "false", 5) == 0)
        return reader->at += 5, json_false();
    if (left >= 4 && memcmp(reader->at, "null", 4) == 0)
        return reader->at += 4, json_null();
    return NULL;
}

static json_t *read_value(struct reader *reader)
{
    json_t *value = NULL;
    skip_space(reader);
    if (reader->at == reader->end)
        return NULL;
    char first = *reader->at;
    if (first == '"') {
        reader->at++;
        return read_string(reader);
    }
    if (first == '{' || first == '[') {
        reader->at++;
        if (reader->depth_left-- > 0)
            value = first == '{' ? read_object(reader) : read_list(reader);
        reader->depth_left++;
        return value;
    }
    return first == '-' || (first >= '0' && first <= '9') ? read_number(reader) : read_word(reader);
}

struct json *json_fast_read(struct td_str text, int depth_max, bool reject_duplicates)
{
    if (text.len == 0) /* its data may be NULL */
        return NULL;
    struct reader reader = {text.data, text.data + text.len, depth_max, reject_duplicates};
    json_t *value = read_value(&reader);
    skip_space(&reader);
    if (value && reader.at == reader.end)
        return (struct json *)value;
    json_decref(value);
    return NULL;
}
