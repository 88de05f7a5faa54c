/* Small models add words to what they were asked for: "The answer is 42." is right. So a number is
 * looked for from the end, and words wherever they stand. Who says both of two answers is taken at
 * the first. */
#include "app/evidence/answer_check.h"

#include "base/bytes/buf.h"
#include "base/core/ascii.h"
#include "base/core/error.h"
#include "base/core/str.h"
#include "base/json/json.h"

#include <math.h>
#include <regex.h>
#include <stdlib.h>
#include <string.h>

#define ANSWER_BYTES_MAX (1u << 20)
#define PATTERN_BYTES_MAX 1024

/* What counts of a character when answers are compared: its lower-case form, 0 for punctuation. */
static unsigned char plain(unsigned char c)
{
    return ascii_is_alnum(c) || c >= 0x80 ? (unsigned char)ascii_lower(c) : 0;
}

bool answer_check_same(struct td_str a, struct td_str b)
{
    for (size_t i = 0, j = 0;;) {
        while (i < a.len && !plain((unsigned char)a.data[i]))
            i++;
        while (j < b.len && !plain((unsigned char)b.data[j]))
            j++;
        if (i == a.len || j == b.len)
            return i == a.len && j == b.len;
        if (plain((unsigned char)a.data[i++]) != plain((unsigned char)b.data[j++]))
            return false;
    }
}

/* --- numbers --- */

static bool is_digit(struct td_str text, size_t at)
{
    return at < text.len && text.data[at] >= '0' && text.data[at] <= '9';
}

/* The number that begins at a digit, with commas before groups of three: "1,234.5". *end: after
 * it. */
static double read_digits(struct td_str text, size_t at, size_t *end)
{
    char digits[64];
    size_t count = 0;
    bool point = false;
    for (; at < text.len; at++) {
        bool group = text.data[at] == ',' && !point && is_digit(text, at + 1) &&
                     is_digit(text, at + 2) && is_digit(text, at + 3) && !is_digit(text, at + 4);
        bool fraction = text.data[at] == '.' && !point && is_digit(text, at + 1);
        if (group)
            continue;
        if (!fraction && !is_digit(text, at))
            break;
        point = point || fraction;
        if (count + 1 < sizeof digits)
            digits[count++] = text.data[at];
    }
    digits[count] = '\0';
    *end = at;
    return strtod(digits, NULL);
}

/* The last number of the text; NAN when it has none. A minus that joins ("3-4") is none. */
static double last_number(struct td_str text)
{
    double found = (double)NAN;
    for (size_t at = 0; at < text.len;) {
        if (!is_digit(text, at)) {
            at++;
            continue;
        }
        size_t begin = at;
        bool minus = begin > 0 && text.data[begin - 1] == '-' &&
                     (begin == 1 || !plain((unsigned char)text.data[begin - 2]));
        double value = read_digits(text, at, &at);
        found = minus ? -value : value;
    }
    return found;
}

static enum td_status check_number(const struct json *line, const struct json *answer,
                                   struct td_str text, bool *right, struct td_error *err)
{
    const struct json *given = json_get(line, "tolerance");
    double wanted = json_number(answer, (double)NAN);
    double tolerance = json_number(given, json_kind_of(given) == JSON_KIND_ABSENT ? 0 : -1);
    if (!isfinite(wanted) || !(tolerance >= 0))
        return error_set(err, TD_INVALID,
                         "with the check number, 'answer' and 'tolerance' must be numbers");
    *right = fabs(last_number(text) - wanted) <= tolerance + 1e-9;
    return TD_OK;
}

/* --- words --- */

/* In lower case, one space between words and at both ends. */
static void write_words(struct td_str text, struct buf *out)
{
    bool space = false;
    buf_clear(out);
    buf_append_char(out, ' ');
    for (size_t i = 0; i < text.len; i++) {
        unsigned char c = plain((unsigned char)text.data[i]);
        if (c)
            buf_append_char(out, (char)c);
        if (!c && space)
            buf_append_char(out, ' ');
        space = c != 0;
    }
    if (space)
        buf_append_char(out, ' ');
}

/* Where the words of `wanted` stand in `words` (write_words); SIZE_MAX: nowhere. */
static size_t find_words(const struct buf *words, struct td_str wanted, struct buf *scratch)
{
    write_words(wanted, scratch);
    const char *at = scratch->len > 1 && !scratch->failed && !words->failed
                         ? memmem(words->data, words->len, scratch->data, scratch->len)
                         : NULL;
    return at ? (size_t)(at - words->data) : SIZE_MAX;
}

/* The first place of one of the texts; a text alone is a list of one. */
static size_t find_first(const struct buf *words, const struct json *list, struct buf *scratch)
{
    size_t first = SIZE_MAX, count = json_kind_of(list) == JSON_KIND_ARRAY ? json_count(list) : 1;
    for (size_t i = 0; i < count; i++) {
        const struct json *one = json_kind_of(list) == JSON_KIND_ARRAY ? json_at(list, i) : list;
        size_t at = find_words(words, json_text(one), scratch);
        first = at < first ? at : first;
    }
    return first;
}

static bool check_words(const struct json *line, const struct json *answer, struct td_str text)
{
    struct buf words, scratch;
    buf_init(&words, ANSWER_BYTES_MAX + 2);
    buf_init(&scratch, ANSWER_BYTES_MAX + 2);
    write_words(text, &words);
    size_t right = find_first(&words, answer, &scratch);
    size_t wrong = find_first(&words, json_get(line, "or"), &scratch);
    buf_deinit(&words);
    buf_deinit(&scratch);
    return right < wrong;
}

/* --- patterns --- */

static enum td_status check_pattern(const struct json *answer, struct td_str text, bool *right,
                                    struct td_error *err)
{
    regex_t pattern;
    const char *source = json_cstr(answer);
    char *copy = source && strlen(source) <= PATTERN_BYTES_MAX
                     ? strndup(text.data ? text.data : "", text.len)
                     : NULL;
    if (!source || strlen(source) > PATTERN_BYTES_MAX)
        return error_set(err, TD_INVALID, "'answer' is no pattern of at most %d bytes",
                         PATTERN_BYTES_MAX);
    if (!copy)
        return error_set(err, TD_NO_MEMORY, "no memory for an answer");
    if (regcomp(&pattern, source, REG_EXTENDED | REG_NOSUB | REG_NEWLINE) != 0) {
        free(copy);
        return error_set(err, TD_INVALID, "'answer' is no regular expression (POSIX, extended)");
    }
    *right = regexec(&pattern, copy, 0, NULL, 0) == 0;
    regfree(&pattern);
    free(copy);
    return TD_OK;
}

/* --- the line --- */

/* A text, or a list of texts. */
static bool is_texts(const struct json *value)
{
    bool list = json_kind_of(value) == JSON_KIND_ARRAY;
    for (size_t i = 0; list && i < json_count(value); i++)
        if (json_kind_of(json_at(value, i)) != JSON_KIND_TEXT)
            return false;
    return list ? json_count(value) > 0 : json_kind_of(value) == JSON_KIND_TEXT;
}

static bool check_same(const struct json *answer, struct td_str text)
{
    size_t count = json_kind_of(answer) == JSON_KIND_ARRAY ? json_count(answer) : 1;
    bool right = false;
    for (size_t i = 0; i < count; i++) {
        bool list = json_kind_of(answer) == JSON_KIND_ARRAY;
        right = right || answer_check_same(json_text(list ? json_at(answer, i) : answer), text);
    }
    return right;
}

enum td_status answer_check(const struct json *line, struct td_str text, bool *right,
                            struct td_error *err)
{
    const struct json *given = json_get(line, "right"), *answer = json_get(line, "answer"),
                      *others = json_get(line, "or"), *check = json_get(line, "check");
    struct td_str how = json_text(check);
    *right = false;
    if ((json_kind_of(given) == JSON_KIND_ABSENT) == (json_kind_of(answer) == JSON_KIND_ABSENT))
        return error_set(err, TD_INVALID, "give exactly one of 'right' and 'answer'");
    *right = json_bool(given, false);
    if (json_kind_of(given) == JSON_KIND_BOOL)
        return TD_OK;
    if (json_kind_of(given) != JSON_KIND_ABSENT)
        return error_set(err, TD_INVALID, "'right' must be true or false");
    if (str_equal(how, STR("number")))
        return check_number(line, answer, text, right, err);
    if (str_equal(how, STR("pattern")))
        return check_pattern(answer, text, right, err);
    if (json_kind_of(check) != JSON_KIND_ABSENT && !str_equal(how, STR("words")))
        return error_set(err, TD_INVALID, "'check' is number, words or pattern");
    if (!is_texts(answer) || (json_kind_of(others) != JSON_KIND_ABSENT && !is_texts(others)))
        return error_set(err, TD_INVALID,
                         "'answer' must be a text or a list of texts, and 'or' "
                         "too");
    *right = how.len ? check_words(line, answer, text) : check_same(answer, text);
    return TD_OK;
}
