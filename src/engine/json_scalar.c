/* Numbers within bounds and strings of known formats, as GBNF. */
#include "base/str.h"
#include "engine/json_schema.h"

#include <math.h>
#include <stdio.h>

/* 15 digits: every such integer is exact in a double. */
#define DIGITS_MAX 15
#define INTEGER_MAX INT64_C(999999999999999)

/* --- formats ------------------------------------------------------------------------------------- */

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

const char *json_format_body(struct td_str format)
{
    static const struct {
        const char *name, *body;
    } formats[] = {
        {"date", DATE}, /* February has 28 days here: always a date */
        {"time", TIME},
        {"date-time", DATE " \"T\" " TIME},
        {"duration", "\"P\" ([1-9] [0-9]{0,3} [DW] | \"T\" [1-9] [0-9]{0,3} [HMS])"},
        {"uuid", HEX "{8} (\"-\" " HEX "{4}){3} \"-\" " HEX "{12}"},
        {"email", "[a-zA-Z0-9] ([._+-]? [a-zA-Z0-9]){0,31} \"@\" " LABEL " (\".\" " LABEL
                  "){0,3} \".\" [a-z]{2,10}"},
        {"hostname", LABEL " (\".\" " LABEL "){0,5}"},
        {"ipv4", BYTE " (\".\" " BYTE "){3}"},
        {"ipv6", HEX "{1,4} (\":\" " HEX "{1,4}){7}"},
        {"uri", "\"http\" \"s\"? \"://\" " LABEL " (\".\" " LABEL
                "){0,4} (\"/\" [a-zA-Z0-9._~-]{0,40}){0,10}"},
    };
    for (size_t i = 0; i < sizeof formats / sizeof *formats; i++)
        if (str_equal(format, str_from(formats[i].name)))
            return formats[i].body;
    return NULL;
}

/* --- ranges of digits ---------------------------------------------------------------------------- */

static void put_class(struct buf *out, char low, char high)
{
    if (low == high)
        buf_printf(out, " [%c]", low);
    else
        buf_printf(out, " [%c-%c]", low, high);
}

/* Strings as long as `digits` that are at least (or at most) it, as a group. */
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

/* low and high have the same number of digits and low <= high. */
static void write_same_length(struct buf *out, const char *low, const char *high)
{
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

/* Integers from low to high, 0 <= low <= high <= INTEGER_MAX: by their number of digits. */
static void write_natural(struct buf *out, int64_t low, int64_t high)
{
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
    double low, high;         /* infinite where there is none */
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

/* Numbers between two integers that are both allowed: the whole part, and a fraction that is not 0. */
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

/* Where no integer is near: numbers i.ffffff with one whole part i >= 0 and six digits after the point. */
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

bool json_number_write(const struct json *schema, bool integer, struct buf *out,
                       const char **reason)
{
    struct bounds bounds;
    bool bounded, any = false;
    if (!read_bounds(schema, &bounds, &bounded, reason))
        return false;
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
