/* Writes numbers within bounds and strings of known formats as GBNF. A grammar compares digits, not
 * values, so a range of integers is written by the number of its digits, and a bound in the middle
 * of such a group digit by digit. Where no exact grammar is possible (fractions, multiples) a part
 * of the allowed numbers is written. */
#include "base/core/assertion.h"
#include "base/core/str.h"
#include "engine/grammar/json_schema.h"

#include <math.h>
#include <stdio.h>

/* 15 digits: every such integer is exact in a double. */
#define DIGITS_MAX 15
#define INTEGER_MAX INT64_C(999999999999999)

/* --- formats ---------------------------------------------------------------------------------- */

#define DATE                                                                                      \
    "[0-9]{4} \"-\" (\"02-\" (\"0\" [1-9] | \"1\" [0-9] | \"2\" [0-8]) | (\"0\" [469] | \"11\") " \
    "\"-\" (\"0\" [1-9] | [12] [0-9] | \"30\") | (\"0\" [13578] | \"10\" | \"12\") \"-\" "        \
    "(\"0\" [1-9] | [12] [0-9] | \"3\" [01]))"
#define HOUR "([01] [0-9] | \"2\" [0-3])"
#define TIME                                                                            \
    HOUR " \":\" [0-5] [0-9] \":\" [0-5] [0-9] (\".\" [0-9]{1,6})? (\"Z\" | [+-] " HOUR \
         " \":\" [0-5] [0-9])"
#define LABEL "[a-z0-9] ([a-z0-9-]{0,20} [a-z0-9])?"
#define BYTE "(\"25\" [0-5] | \"2\" [0-4] [0-9] | \"1\" [0-9] [0-9] | [1-9] [0-9] | [0-9])"
#define HEX "[0-9a-f]"

/* Lengths are in characters. The longest may be more than the grammar ever writes. */
struct format {
    const char *name, *body;
    int64_t least, most;
};

static const struct format formats[] = {
    {"date", DATE, 10, 10}, /* February has 28 days here: always a date */
    {"time", TIME, 9, 21},
    {"date-time", DATE " \"T\" " TIME, 20, 32},
    {"duration", "\"P\" ([1-9] [0-9]{0,3} [DW] | \"T\" [1-9] [0-9]{0,3} [HMS])", 3, 7},
    {"uuid", HEX "{8} (\"-\" " HEX "{4}){3} \"-\" " HEX "{12}", 36, 36},
    {"email",
     "[a-zA-Z0-9] ([._+-]? [a-zA-Z0-9]){0,31} \"@\" " LABEL " (\".\" " LABEL
     "){0,3} \".\" [a-z]{2,10}",
     6, 254},
    {"hostname", LABEL " (\".\" " LABEL "){0,5}", 1, 253},
    {"ipv4", BYTE " (\".\" " BYTE "){3}", 7, 15},
    {"ipv6", HEX "{1,4} (\":\" " HEX "{1,4}){7}", 15, 39},
    {"uri",
     "\"http\" \"s\"? \"://\" " LABEL " (\".\" " LABEL "){0,4} (\"/\" [a-zA-Z0-9._~-]{0,40}){0,10}",
     8, 600},
    {"uri-reference", "(\"/\" [a-zA-Z0-9._~-]{1,40}){1,10}", 2, 410},
    {"json-pointer", "(\"/\" [a-zA-Z0-9._-]{1,40}){0,10}", 0, 410},
    {"regex", "[a-zA-Z0-9 ]{0,60}", 0, 60},
};

static const struct format *find_format(struct td_str name)
{
    static const char *const other_names[][2] = {
        {"idn-email", "email"}, {"idn-hostname", "hostname"},
        {"iri", "uri"},         {"iri-reference", "uri-reference"},
        {"url", "uri"},         {"datetime", "date-time"}};
    for (size_t i = 0; i < sizeof other_names / sizeof *other_names; i++)
        if (str_equal(name, str_from(other_names[i][0])))
            name = str_from(other_names[i][1]); /* it allows no more than the asked format */
    for (size_t i = 0; i < sizeof formats / sizeof *formats; i++)
        if (str_equal(name, str_from(formats[i].name)))
            return &formats[i];
    return NULL;
}

const char *json_format_body(struct td_str format)
{
    const struct format *row = find_format(format);
    return row ? row->body : NULL;
}

bool json_format_lengths(struct td_str format, int64_t lengths[2])
{
    const struct format *row = find_format(format);
    lengths[0] = row ? row->least : 0;
    lengths[1] = row ? row->most : 0;
    return row != NULL;
}

/* Formats of OpenAPI and others that describe what a text is for. A format that JSON Schema does
 * not define restricts nothing (2020-12, Validation, section 7.2.3). */
bool json_format_is_note(struct td_str format)
{
    static const char *const names[] = {"password", "byte",     "binary", "int32", "int64",
                                        "float",    "double",   "color",  "phone", "textarea",
                                        "markdown", "html",     "text",   "json",  "base64",
                                        "decimal",  "currency", "country"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (str_equal(format, str_from(names[i])))
            return true;
    return false;
}

/* --- ranges of digits ------------------------------------------------------------------------- */

static void put_class(struct buf *out, char low, char high)
{
    if (low == high)
        buf_printf(out, " [%c]", low);
    else
        buf_printf(out, " [%c-%c]", low, high);
}

/* Writes, as a group, the numbers with as many digits as `digits` that are at least (or at most)
 * that number. */
static void write_bound(struct buf *out, const char *digits, bool at_least)
{
    size_t len = strlen(digits);
    buf_printf(out, " (\"%s\"", digits);
    for (size_t i = 0; i < len; i++) {
        char limit = at_least ? '9' : '0';
        if (digits[i] == limit)
            continue;
        buf_printf(out, " | \"%.*s\"", (int)i, digits);
        if (at_least)
            put_class(out, (char)(digits[i] + 1), '9');
        else
            put_class(out, '0', (char)(digits[i] - 1));
        if (len - 1 - i > 0)
            buf_printf(out, " [0-9]{%zu}", len - 1 - i);
    }
    buf_append_str(out, STR(")"));
}

/* `low` and `high` must have the same number of digits, and low <= high. */
static void write_same_length(struct buf *out, const char *low, const char *high)
{
    ASSERT(strlen(low) == strlen(high));
    size_t same = 0;
    while (low[same] && low[same] == high[same])
        same++;
    buf_printf(out, " \"%.*s\"", (int)same, low);
    if (low[same] == '\0')
        return;
    buf_printf(out, " ([%c]", low[same]);
    write_bound(out, low + same + 1, true);
    if (high[same] - low[same] > 1) {
        buf_append_str(out, STR(" |"));
        put_class(out, (char)(low[same] + 1), (char)(high[same] - 1));
        if (low[same + 1])
            buf_printf(out, " [0-9]{%zu}", strlen(low + same + 1));
    }
    buf_printf(out, " | [%c]", high[same]);
    write_bound(out, high + same + 1, false);
    buf_append_str(out, STR(")"));
}

/* Writes the integers from low to high, 0 <= low <= high <= INTEGER_MAX, by their number of
 * digits. */
static void write_natural(struct buf *out, int64_t low, int64_t high)
{
    ASSERT(low >= 0 && low <= high && high <= INTEGER_MAX);
    int64_t power = 10; /* first number with one digit more */
    bool first = true;
    buf_append_str(out, STR("("));
    for (int digits = 1; digits <= DIGITS_MAX && low <= high; digits++, power *= 10) {
        if (low >= power)
            continue;
        int64_t end = high < power ? high : power - 1;
        char from[24], to[24];
        snprintf(from, sizeof from, "%lld", (long long)low);
        snprintf(to, sizeof to, "%lld", (long long)end);
        if (!first)
            buf_append_str(out, STR(" |"));
        first = false;
        write_same_length(out, from, to);
        low = end + 1;
    }
    buf_append_str(out, STR(")"));
}

struct bounds {
    double low, high;         /* infinite = no bound */
    bool low_open, high_open; /* the bound itself is not allowed */
};

static void add_alternative(struct buf *out, bool *any)
{
    if (*any)
        buf_append_str(out, STR(" | "));
    *any = true;
}

static int64_t clamp(double value)
{
    return value < -(double)INTEGER_MAX  ? -INTEGER_MAX
           : value > (double)INTEGER_MAX ? INTEGER_MAX
                                         : (int64_t)value;
}

static bool write_integers(struct buf *out, const struct bounds *b, bool *any)
{
    double least = b->low_open ? floor(b->low) + 1 : ceil(b->low);
    double most = b->high_open ? ceil(b->high) - 1 : floor(b->high);
    if (least > (double)INTEGER_MAX || most < -(double)INTEGER_MAX || least > most)
        return false;
    int64_t low = clamp(least), high = clamp(most);
    if (low < 0) {
        add_alternative(out, any);
        buf_append_str(out, STR("\"-\" "));
        write_natural(out, high < 0 ? -high : 1, -low);
    }
    if (high >= 0) {
        add_alternative(out, any);
        write_natural(out, low > 0 ? low : 0, high);
    }
    return true;
}

/* Writes the numbers with a fraction other than 0 between two allowed integers. */
static void write_fractions(struct buf *out, const struct bounds *b, bool *any)
{
    const struct td_str fraction = STR(" \".\" [0-9]{0,5} [1-9]");
    int64_t low = clamp(ceil(b->low)), high = clamp(floor(b->high));
    if (high > 0 && (low > 0 ? low : 0) <= high - 1) {
        add_alternative(out, any);
        write_natural(out, low > 0 ? low : 0, high - 1);
        buf_append_str(out, fraction);
    }
    if (low < 0 && (high < 0 ? -high : 0) <= -low - 1) {
        add_alternative(out, any);
        buf_append_str(out, STR("\"-\" "));
        write_natural(out, high < 0 ? -high : 0, -low - 1);
        buf_append_str(out, fraction);
    }
}

/* For bounds with no allowed integer between them: numbers i.ffffff with one whole part i >= 0 and
 * six digits after the point. */
static void write_between(struct buf *out, const struct bounds *b, bool *any)
{
    double whole = floor(b->low), scale = 1e6;
    double from = ceil((b->low - whole) * scale) + 1, to = floor((b->high - whole) * scale) - 1;
    if (!(whole >= 0 && whole < 1e9 && to < scale && from <= to))
        return;
    char low[16], high[16];
    snprintf(low, sizeof low, "%06d", (int)from);
    snprintf(high, sizeof high, "%06d", (int)to);
    add_alternative(out, any);
    buf_printf(out, "\"%d.\"", (int)whole);
    write_same_length(out, low, high);
}

static bool read_bounds(const struct json *schema, struct bounds *b, bool *bounded,
                        const char **reason)
{
    static const char *const names[] = {"minimum", "exclusiveMinimum", "maximum",
                                        "exclusiveMaximum"};
    *b = (struct bounds){.low = -INFINITY, .high = INFINITY};
    *bounded = false;
    for (int i = 0; i < 4; i++) {
        const struct json *value = json_get(schema, names[i]);
        enum json_kind kind = json_kind_of(value);
        if (kind == JSON_KIND_ABSENT)
            continue;
        if (kind != JSON_KIND_INT && kind != JSON_KIND_DOUBLE) {
            *reason = "minimum, maximum and their exclusive forms must be numbers";
            return false;
        }
        double number = json_number(value, 0);
        bool open = i % 2;
        *bounded = true;
        if (i < 2 && (number > b->low || (number == b->low && open))) {
            b->low = number;
            b->low_open = open;
        } else if (i >= 2 && (number < b->high || (number == b->high && open))) {
            b->high = number;
            b->high_open = open;
        }
    }
    return true;
}

/* --- multiples -------------------------------------------------------------------------------- */

#define MULTIPLES_MAX 1000 /* most multiples that are listed, those nearest to 0 */

static int64_t magnitude(int64_t value)
{
    return value < 0 ? -value : value;
}

/* Lists the multiples of `step` within the bounds that are nearest to 0. */
static bool write_multiples(struct buf *out, const struct bounds *b, int64_t step, bool *any)
{
    double least = b->low_open ? floor(b->low) + 1 : ceil(b->low);
    double most = b->high_open ? ceil(b->high) - 1 : floor(b->high);
    if (least > (double)INTEGER_MAX || most < -(double)INTEGER_MAX || least > most)
        return false;
    int64_t low = clamp(least), high = clamp(most);
    int64_t middle = low > 0    ? (low + step - 1) / step
                     : high < 0 ? -((-high + step - 1) / step)
                                : 0;
    for (int64_t i = 0; i < MULTIPLES_MAX; i++) {
        int64_t value = (middle + (i % 2 ? -(i + 1) / 2 : i / 2)) * step;
        if (value < low || value > high || magnitude(value) > INTEGER_MAX)
            continue;
        add_alternative(out, any);
        buf_printf(out, "\"%lld\"", (long long)value);
    }
    return *any;
}

/* Writes all multiples of a divisor of 10, 100 or 1000: their last digits decide. */
static bool write_last_digits(struct buf *out, int64_t step)
{
    int64_t power = 10;
    int digits = 1;
    while (digits < 4 && power % step != 0)
        power *= 10, digits++;
    if (digits == 4)
        return false;
    buf_append_str(out, STR("\"0\" | \"-\"? ("));
    for (int64_t value = step; value < power; value += step)
        buf_printf(out, "\"%lld\" | ", (long long)value);
    buf_printf(out, "[1-9] [0-9]{0,%d} (", DIGITS_MAX - digits - 1);
    for (int64_t value = 0; value < power; value += step)
        buf_printf(out, "%s\"%0*lld\"", value ? " | " : "", digits, (long long)value);
    buf_append_str(out, STR("))"));
    return true;
}

/* Writes those multiples that a grammar can express: integers, if the step is an integer or divides
 * one; tenths, hundredths and so on, if there are no bounds. */
static bool write_multiple_of(double step, const struct bounds *b, bool bounded, bool integer,
                              struct buf *out, bool *any)
{
    int decimals = 0;
    double scaled = step;
    for (; decimals < 6 && fabs(scaled - 1) > 1e-9; decimals++)
        scaled *= 10;
    if (decimals > 0 && decimals < 6 && !integer && !bounded) {
        buf_printf(out, "integer (\".\" [0-9]{1,%d})?", decimals);
        return *any = true;
    }
    if (step < 1 && fabs(1 / step - round(1 / step)) < 1e-9 * (1 / step))
        step = 1; /* every integer is a multiple of the step */
    if (!(step >= 1 && step <= 1e12 && step == floor(step)))
        return false;
    if (step == 1) {
        if (bounded)
            return write_integers(out, b, any);
        buf_append_str(out, STR("integer"));
        return *any = true;
    }
    if (!bounded && write_last_digits(out, (int64_t)step))
        return *any = true;
    return write_multiples(out, b, (int64_t)step, any);
}

bool json_number_write(const struct json *schema, bool integer, struct buf *out,
                       const char **reason)
{
    ASSERT(out != NULL && reason != NULL);
    struct bounds bounds;
    bool bounded, any = false;
    if (!read_bounds(schema, &bounds, &bounded, reason))
        return false;
    const struct json *step = json_get(schema, "multipleOf");
    if (step) {
        *reason = "multipleOf must be a number above 0";
        if (!(json_number(step, 0) > 0))
            return false;
        *reason = "no multiple that can be written lies between these bounds";
        return write_multiple_of(json_number(step, 0), &bounds, bounded, integer, out, &any);
    }
    if (!bounded) {
        buf_append_str(out, integer ? STR("integer") : STR("number"));
        return true;
    }
    write_integers(out, &bounds, &any);
    if (!integer)
        write_fractions(out, &bounds, &any);
    if (!integer && !any)
        write_between(out, &bounds, &any);
    if (!any)
        *reason = "no number that can be written lies between these bounds";
    return any;
}
