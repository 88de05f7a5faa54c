/* One of two files that know jansson; the other reads what is plain (json_fast.c). It adds what
 * jansson does not do: it limits the depth, and it turns invalid UTF-8 in built text into U+FFFD.
 * Doubles are written with 15 significant digits, because with 17 the number 0.1 would become
 * 0.10000000000000001. Lists, objects and texts are written here, to the same bytes: the library
 * asks for each character and formats an address for each list and object, which was a fifth of the
 * time of a large request. */
#include "base/json/json.h"

#include "base/core/ascii.h"
#include "base/core/assertion.h"
#include "base/core/error.h"
#include "base/core/shortage.h"
#include "base/core/str.h"
#include "base/json/json_fast.h"
#include "base/text/decimal.h"
#include "base/text/utf8.h"

#include <ctype.h>
#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* struct json is never defined: a struct json * is a json_t * under another name. */
static json_t *raw(const struct json *value)
{
    return (json_t *)(uintptr_t)value;
}

static struct json *wrap(json_t *value)
{
    return (struct json *)value;
}

/* No format here needs deeper trees, and each level costs stack in every walk. */
#define DEPTH_MAX 64
#define WRITTEN_DEPTH_MAX (2 * DEPTH_MAX) /* what was read may stand within what we make */

static bool too_deep(json_t *value, int depth_left)
{
    if (depth_left < 0)
        return true;
    size_t index;
    const char *key;
    json_t *child;
    if (json_is_array(value)) {
        json_array_foreach(value, index, child) if (too_deep(child, depth_left - 1)) return true;
    } else if (json_is_object(value)) {
        json_object_foreach(value, key, child) if (too_deep(child, depth_left - 1)) return true;
    }
    return false;
}

/* --- reading without memory ---
 *
 * The library (2.14) ignores that it had no memory for a character of a string, and looks for the
 * string's end beyond what it kept. So the first allocation of a reading that fails gets a block
 * that was set aside, large enough for any string of the text, and then the text ends before its
 * next quotation mark: no later string is ever complete. */

static _Thread_local struct {
    void *block; /* NULL: there is none, or it was given away */
    size_t bytes;
} reserve;

static void *allocate(size_t bytes)
{
    void *memory = malloc(bytes);
    if (memory)
        return memory;
    shortage_note();
    if (bytes <= reserve.bytes) {
        memory = reserve.block;
        reserve.block = NULL;
        reserve.bytes = 0;
    }
    return memory;
}

/* An upper bound: a mark after a backslash may end a string or not. */
static size_t longest_string(struct td_str text)
{
    size_t longest = 0, begin = 0;
    for (size_t at = 0; at < text.len; at++) {
        const char *mark = memchr(text.data + at, '"', text.len - at);
        at = mark ? (size_t)(mark - text.data) : text.len;
        if (mark && at > 0 && text.data[at - 1] == '\\')
            continue;
        longest = at - begin > longest ? at - begin : longest;
        begin = at;
    }
    return longest;
}

/* The library doubles its buffer for a string. */
static bool set_aside(struct td_str text)
{
    reserve.bytes = 2 * longest_string(text) + 64;
    reserve.block = malloc(reserve.bytes);
    return reserve.block != NULL;
}

static void give_back(void)
{
    free(reserve.block);
    reserve.block = NULL;
    reserve.bytes = 0;
}

void json_watch_memory(void)
{
    json_set_alloc_funcs(allocate, free);
}

/* What is still to be given to the library's reader. */
struct source {
    struct td_str rest;
    uint32_t shortages; /* before it */
};

/* A piece ends before a quotation mark. */
static size_t give_piece(void *buffer, size_t size, void *ctx)
{
    struct source *source = ctx;
    if (shortage_since(source->shortages) || source->rest.len == 0)
        return 0;
    size_t len = source->rest.len < size ? source->rest.len : size;
    const char *mark = memchr(source->rest.data + 1, '"', len - 1);
    if (mark)
        len = (size_t)(mark - source->rest.data);
    memcpy(buffer, source->rest.data, len);
    source->rest.data += len;
    source->rest.len -= len;
    return len;
}

static enum td_status load(struct td_str text, size_t flags, struct json **out,
                           struct td_error *err)
{
    json_error_t error;
    struct source source = {text, shortage_count()};
    *out = NULL;
    if ((flags & ~(size_t)JSON_REJECT_DUPLICATES) == 0) {
        *out = json_fast_read(text, DEPTH_MAX, flags & JSON_REJECT_DUPLICATES);
        if (*out && !shortage_since(source.shortages))
            return TD_OK;
        json_free(*out);
        *out = NULL;
    }
    if (!set_aside(text))
        return error_set(err, TD_NO_MEMORY, "no memory for JSON of %zu bytes", text.len);
    json_t *value = json_load_callback(give_piece, &source, flags | JSON_DECODE_ANY, &error);
    give_back();
    if (shortage_since(source.shortages)) {
        json_decref(value);
        return error_set(err, TD_NO_MEMORY, "no memory for JSON of %zu bytes", text.len);
    }
    if (value == NULL) {
        /* The library's words for it are for its users. */
        enum json_error_code code = json_error_code(&error);
        bool nul = code == json_error_null_character || code == json_error_null_byte_in_key;
        return error_set(err, TD_INVALID, "%s JSON at line %d, column %d: %s",
                         nul ? "unusable" : "malformed", error.line, error.column,
                         nul ? "the text that ends here has a \\u0000: remove it" : error.text);
    }
    if (too_deep(value, DEPTH_MAX)) {
        json_decref(value);
        return error_set(err, TD_INVALID, "JSON nested deeper than %d levels", DEPTH_MAX);
    }
    *out = wrap(value);
    return TD_OK;
}

enum td_status json_parse(struct td_str text, struct json **out, struct td_error *err)
{
    ASSERT(out != NULL);
    if (str_starts_with(text, STR("\xEF\xBB\xBF")))
        text = str_slice(text, 3, text.len);
    return load(text, JSON_REJECT_DUPLICATES, out, err);
}

enum td_status json_parse_last(struct td_str text, struct json **out, struct td_error *err)
{
    ASSERT(out != NULL);
    return load(text, 0, out, err);
}

enum td_status json_check(struct td_str text, enum json_kind *kind, struct td_error *err)
{
    ASSERT(kind != NULL);
    struct json *value = NULL;
    enum td_status status = load(text, JSON_DECODE_INT_AS_REAL | JSON_ALLOW_NUL, &value, err);
    *kind = json_kind_of(value);
    json_free(value);
    return status;
}

static bool is_code_unit(const char *digits)
{
    for (int i = 0; i < 4; i++)
        if (!isxdigit((unsigned char)digits[i]))
            return false;
    return true;
}

/* U+FFFD in the place of every escaped code unit and of every byte that is no UTF-8: the grammar
 * is the same, and no string is refused. */
static void append_harmless(struct td_str text, struct buf *out)
{
    size_t at = 0;
    while (at < text.len && !out->failed) {
        char character[4];
        bool escape = text.data[at] == '\\' && at + 1 < text.len;
        if (escape && text.data[at + 1] == 'u' && at + 6 <= text.len &&
            is_code_unit(text.data + at + 2)) {
            buf_append_str(out, STR("\\ufffd"));
            at += 6;
        } else if (escape) {
            buf_append(out, text.data + at, 2);
            at += 2;
        } else {
            buf_append(out, character, utf8_encode(utf8_next(text, &at), character));
        }
    }
}

bool json_is_grammatical(struct td_str text)
{
    struct buf harmless;
    enum json_kind kind;
    buf_init(&harmless, 3 * text.len + 1); /* U+FFFD has three bytes */
    append_harmless(text, &harmless);
    bool is = !harmless.failed && json_check(buf_view(&harmless), &kind, NULL) == TD_OK;
    buf_deinit(&harmless);
    return is;
}

void json_free(struct json *value)
{
    json_decref(raw(value));
}

enum json_kind json_kind_of(const struct json *value)
{
    if (value == NULL)
        return JSON_KIND_ABSENT;
    switch (json_typeof(raw(value))) {
    case JSON_OBJECT:
        return JSON_KIND_OBJECT;
    case JSON_ARRAY:
        return JSON_KIND_ARRAY;
    case JSON_STRING:
        return JSON_KIND_TEXT;
    case JSON_INTEGER:
        return JSON_KIND_INT;
    case JSON_REAL:
        return JSON_KIND_DOUBLE;
    case JSON_TRUE:
    case JSON_FALSE:
        return JSON_KIND_BOOL;
    case JSON_NULL:
        break;
    }
    return JSON_KIND_NULL;
}

bool json_absent(const struct json *value)
{
    enum json_kind kind = json_kind_of(value);
    return kind == JSON_KIND_ABSENT || kind == JSON_KIND_NULL;
}

const char *json_kind_name(enum json_kind kind)
{
    static const char *const names[] = {"absent", "null",   "boolean", "integer",
                                        "number", "string", "array",   "object"};
    return names[kind];
}

const struct json *json_get(const struct json *object, const char *key)
{
    return object ? wrap(json_object_get(raw(object), key)) : NULL;
}

size_t json_count(const struct json *value)
{
    if (value == NULL)
        return 0;
    return json_is_array(raw(value)) ? json_array_size(raw(value)) : json_object_size(raw(value));
}

const struct json *json_at(const struct json *array, size_t index)
{
    return array ? wrap(json_array_get(raw(array), index)) : NULL;
}

struct json *json_last(struct json *array)
{
    size_t count = json_count(array);
    return count > 0 ? wrap(json_array_get(raw(array), count - 1)) : NULL;
}

struct td_str json_text(const struct json *value)
{
    if (value == NULL || !json_is_string(raw(value)))
        return (struct td_str){NULL, 0};
    return (struct td_str){json_string_value(raw(value)), json_string_length(raw(value))};
}

struct td_str json_get_text(const struct json *object, const char *key)
{
    return json_text(json_get(object, key));
}

const char *json_cstr(const struct json *value)
{
    return json_text(value).data;
}

int64_t json_int(const struct json *value, int64_t otherwise)
{
    return value && json_is_integer(raw(value)) ? json_integer_value(raw(value)) : otherwise;
}

double json_number(const struct json *value, double otherwise)
{
    return value && json_is_number(raw(value)) ? json_number_value(raw(value)) : otherwise;
}

bool json_bool(const struct json *value, bool otherwise)
{
    return value && json_is_boolean(raw(value)) ? json_is_true(raw(value)) : otherwise;
}

bool json_next(const struct json *object, void **iterator, const char **key,
               const struct json **value)
{
    if (object == NULL || !json_is_object(raw(object)))
        return false;
    *iterator =
        *iterator ? json_object_iter_next(raw(object), *iterator) : json_object_iter(raw(object));
    if (*iterator == NULL)
        return false;
    *key = json_object_iter_key(*iterator);
    *value = wrap(json_object_iter_value(*iterator));
    return true;
}

struct json *json_new_object(void)
{
    return wrap(json_object());
}

struct json *json_new_array(void)
{
    return wrap(json_array());
}

struct json *json_new_text(struct td_str text)
{
    if (utf8_is_valid(text))
        return wrap(json_stringn(text.data ? text.data : "", text.len));
    struct buf fixed;
    buf_init(&fixed, SIZE_MAX / 8);
    for (size_t i = 0; i < text.len;) {
        char bytes[4];
        uint32_t code_point = utf8_next(text, &i);
        buf_append(&fixed, bytes, utf8_encode(code_point, bytes));
    }
    json_t *value = fixed.failed ? NULL : json_stringn(fixed.data, fixed.len);
    buf_deinit(&fixed);
    return wrap(value);
}

struct json *json_new_cstr(const char *text)
{
    return text ? json_new_text((struct td_str){text, strlen(text)}) : json_new_null();
}

struct json *json_new_int(int64_t value)
{
    return wrap(json_integer(value));
}

struct json *json_new_double(double value)
{
    return isfinite(value) ? wrap(json_real(value)) : json_new_null();
}

struct json *json_new_bool(bool value)
{
    return wrap(json_boolean(value));
}

struct json *json_new_null(void)
{
    return wrap(json_null());
}

struct json *json_clone(const struct json *value)
{
    return value ? wrap(json_deep_copy(raw(value))) : NULL;
}

struct json *json_share(const struct json *value)
{
    return value ? wrap(json_incref(raw(value))) : NULL;
}

void json_put(struct json *object, const char *key, struct json *value)
{
    ASSERT(key != NULL);
    if (value)
        json_object_set_new(raw(object), key, raw(value));
}

void json_push(struct json *array, struct json *value)
{
    if (value)
        json_array_append_new(raw(array), raw(value));
}

void json_remove(struct json *object, const char *key)
{
    json_object_del(raw(object), key);
}

static int append_chunk(const char *data, size_t len, void *ctx)
{
    struct buf *out = ctx;
    buf_append(out, data, len);
    return out->failed ? -1 : 0;
}

/* What a byte is escaped as; 'u': \u00xx. */
static char escape_of(char byte)
{
    switch (byte) {
    case '"':
    case '\\':
        return byte;
    case '\b':
        return 'b';
    case '\f':
        return 'f';
    case '\n':
        return 'n';
    case '\r':
        return 'r';
    case '\t':
        return 't';
    default:
        return 'u';
    }
}

static void write_string(struct buf *out, struct td_str text)
{
    buf_append_char(out, '"');
    for (;;) {
        size_t plain = json_plain_prefix(text);
        buf_append(out, text.data, plain);
        if (plain == text.len)
            break;
        char escape = escape_of(text.data[plain]);
        if (escape == 'u')
            buf_printf(out, "\\u%04X", (unsigned char)text.data[plain]);
        else
            buf_append(out, (const char[]){'\\', escape}, 2);
        text = str_slice(text, plain + 1, text.len);
    }
    buf_append_char(out, '"');
}

void json_write_int(int64_t value, struct buf *out)
{
    char digits[24], *at = digits + sizeof digits;
    uint64_t left = value < 0 ? 0 - (uint64_t)value : (uint64_t)value;
    do
        *--at = (char)('0' + left % 10);
    while (left /= 10);
    if (value < 0)
        *--at = '-';
    buf_append(out, at, (size_t)(digits + sizeof digits - at));
}

/* As the library writes it: with a point where nothing else says that it is no integer. What has an
 * exponent, and what a locale writes with another point, is left to it. */
static bool write_plain_double(double value, struct buf *out)
{
    char text[40];
    size_t len = decimal_write(value, text);
    if (len == 0)
        len = (size_t)snprintf(text, sizeof text, "%.15g", value); /* of 22 bytes at most */
    for (size_t i = 0; i < len; i++)
        if (text[i] != '-' && text[i] != '.' && !ascii_is_digit(text[i]))
            return false;
    buf_append(out, text, len);
    if (!memchr(text, '.', len))
        buf_append(out, ".0", 2);
    return true;
}

static void write_by_library(json_t *value, struct buf *out)
{
    const size_t flags = JSON_ENCODE_ANY | JSON_REAL_PRECISION(15);
    if (json_dump_callback(value, append_chunk, out, flags) != 0)
        out->failed = true;
}

void json_write_double(double value, struct buf *out)
{
    ASSERT(isfinite(value));
    if (write_plain_double(value, out))
        return;
    json_t *number = json_real(value);
    write_by_library(number, out); /* fails with NULL */
    json_decref(number);
}

static void write_plain(json_t *value, struct buf *out)
{
    if (json_is_integer(value))
        json_write_int(json_integer_value(value), out);
    else if (json_is_boolean(value))
        buf_append_str(out, json_is_true(value) ? STR("true") : STR("false"));
    else if (json_is_null(value))
        buf_append_str(out, STR("null"));
    else if (!(json_is_real(value) && write_plain_double(json_real_value(value), out)))
        write_by_library(value, out);
}

static void write_value(json_t *value, struct buf *out, int depth_left)
{
    size_t index;
    const char *key;
    json_t *child;
    if (depth_left < 0 || out->failed) {
        out->failed = true;
    } else if (json_is_string(value)) {
        write_string(out, json_text(wrap(value)));
    } else if (json_is_array(value)) {
        buf_append_char(out, '[');
        json_array_foreach(value, index, child)
        {
            if (index > 0)
                buf_append_char(out, ',');
            write_value(child, out, depth_left - 1);
        }
        buf_append_char(out, ']');
    } else if (json_is_object(value)) {
        char mark = '{';
        json_object_foreach(value, key, child)
        {
            buf_append_char(out, mark);
            mark = ',';
            write_string(out, str_from(key));
            buf_append_char(out, ':');
            write_value(child, out, depth_left - 1);
        }
        buf_append_str(out, mark == '{' ? STR("{}") : STR("}"));
    } else {
        write_plain(value, out);
    }
}

void json_write(const struct json *value, struct buf *out)
{
    if (value == NULL)
        out->failed = true;
    else
        write_value(raw(value), out, WRITTEN_DEPTH_MAX);
}

void json_write_text(struct td_str text, struct buf *out)
{
    if (utf8_is_valid(text)) {
        write_string(out, text);
        return;
    }
    struct json *value = json_new_text(text);
    json_write(value, out);
    json_free(value);
}
