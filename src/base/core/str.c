/* Operations on string views. Views are not NUL-terminated and may be {NULL, 0}, so no function
 * here uses the C string functions on them without a copy. */
#include "base/core/str.h"

#include "base/core/ascii.h"
#include "base/core/assertion.h"

#include <math.h>
#include <stdlib.h>

bool str_equal_nocase(struct td_str a, struct td_str b)
{
    if (a.len != b.len)
        return false;
    for (size_t i = 0; i < a.len; i++)
        if (ascii_lower(a.data[i]) != ascii_lower(b.data[i]))
            return false;
    return true;
}

bool str_starts_with(struct td_str text, struct td_str prefix)
{
    return text.len >= prefix.len && str_equal(str_slice(text, 0, prefix.len), prefix);
}

bool str_ends_with(struct td_str text, struct td_str suffix)
{
    return text.len >= suffix.len &&
           str_equal(str_slice(text, text.len - suffix.len, text.len), suffix);
}

struct td_str str_trim(struct td_str text)
{
    while (text.len && ascii_is_space(text.data[0])) {
        text.data++;
        text.len--;
    }
    while (text.len && ascii_is_space(text.data[text.len - 1]))
        text.len--;
    return text;
}

struct td_str str_slice(struct td_str text, size_t begin, size_t end)
{
    if (end > text.len)
        end = text.len;
    if (begin >= end)
        return (struct td_str){NULL, 0};
    return (struct td_str){text.data + begin, end - begin};
}

/* memmem takes some six instructions a byte for a short needle, memchr a fifth of one. So the first
 * byte is looked for, as long as it is rare. */
#define FIRST_BYTES_MAX 64

static const char *find(const char *at, const char *end, struct td_str needle)
{
    for (size_t tries = 0; (size_t)(end - at) >= needle.len; tries++) {
        if (tries == FIRST_BYTES_MAX && needle.len > 1)
            return memmem(at, (size_t)(end - at), needle.data, needle.len);
        at = memchr(at, needle.data[0], (size_t)(end - at) - needle.len + 1);
        if (at == NULL)
            break;
        if (memcmp(at, needle.data, needle.len) == 0)
            return at;
        at++;
    }
    return NULL;
}

size_t str_find(struct td_str text, struct td_str needle, size_t from)
{
    if (from > text.len)
        return SIZE_MAX;
    if (needle.len == 0)
        return from;
    if (text.len == 0)
        return SIZE_MAX;
    const char *found = find(text.data + from, text.data + text.len, needle);
    return found ? (size_t)(found - text.data) : SIZE_MAX;
}

bool str_next(struct td_str *rest, char separator, struct td_str *part)
{
    ASSERT(rest != part);
    *part = (struct td_str){NULL, 0};
    if (rest->data == NULL || rest->len == 0)
        return false;
    const char *found = memchr(rest->data, separator, rest->len);
    if (found == NULL) {
        *part = *rest;
        *rest = (struct td_str){NULL, 0};
        return true;
    }
    size_t len = (size_t)(found - rest->data);
    *part = (struct td_str){rest->data, len};
    *rest = (struct td_str){found + 1, rest->len - len - 1};
    return true;
}

bool str_to_u64(struct td_str text, uint64_t *out)
{
    uint64_t value = 0;
    if (text.len == 0)
        return false;
    for (size_t i = 0; i < text.len; i++) {
        char c = text.data[i];
        if (!ascii_is_digit(c) || __builtin_mul_overflow(value, 10, &value) ||
            __builtin_add_overflow(value, (uint64_t)(c - '0'), &value))
            return false;
    }
    *out = value;
    return true;
}

bool str_to_i64(struct td_str text, int64_t *out)
{
    bool negative = text.len > 0 && text.data[0] == '-';
    if (text.len > 0 && (text.data[0] == '-' || text.data[0] == '+'))
        text = str_slice(text, 1, text.len);
    uint64_t value;
    if (!str_to_u64(text, &value))
        return false;
    if (value > (uint64_t)INT64_MAX + (negative ? 1 : 0))
        return false;
    *out = negative ? (int64_t)(0 - value) : (int64_t)value;
    return true;
}

bool str_to_double(struct td_str text, double *out)
{
    char copy[64]; /* room for more digits than any double needs */
    if (text.len == 0 || text.len >= sizeof copy)
        return false;
    memcpy(copy, text.data, text.len);
    copy[text.len] = '\0';
    char *end;
    double value = strtod(copy, &end);
    if (end != copy + text.len || ascii_is_space(copy[0]) || !isfinite(value))
        return false;
    *out = value;
    return true;
}

bool str_to_share(struct td_str text, double *out)
{
    bool percent = str_ends_with(text, STR("%"));
    if (!str_to_double(str_slice(text, 0, text.len - percent), out))
        return false;
    *out /= percent ? 100 : 1;
    return true;
}

/* The Levenshtein distance of two names without regard to ASCII case, or more than `limit` when it
 * is larger. Names of more than 63 bytes never match. */
static size_t edit_distance(struct td_str a, struct td_str b, size_t limit)
{
    size_t row[64];
    if (a.len >= 64 || b.len >= 64)
        return limit + 1;
    for (size_t j = 0; j <= b.len; j++)
        row[j] = j;
    for (size_t i = 1; i <= a.len; i++) {
        size_t diagonal = row[0];
        row[0] = i;
        for (size_t j = 1; j <= b.len; j++) {
            size_t cost = diagonal + (ascii_lower(a.data[i - 1]) != ascii_lower(b.data[j - 1]));
            diagonal = row[j];
            if (row[j] + 1 < cost)
                cost = row[j] + 1;
            if (row[j - 1] + 1 < cost)
                cost = row[j - 1] + 1;
            row[j] = cost;
        }
    }
    return row[b.len];
}

const char *str_nearest(struct td_str text, const char *const *candidates, size_t candidate_count)
{
    ASSERT(candidates != NULL || candidate_count == 0);
    size_t limit = text.len / 3 + 1; /* one wrong letter in three is still recognisable */
    const char *best = NULL;
    for (size_t i = 0; i < candidate_count; i++) {
        size_t distance = edit_distance(text, str_from(candidates[i]), limit);
        if (distance <= limit) {
            best = candidates[i];
            if (distance == 0)
                break;
            limit = distance - 1;
        }
    }
    return best;
}
