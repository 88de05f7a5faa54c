/* Units are rows with a dimension and a factor. A rate has two of them, so that "USD/Mtok" and
 * "ct/query" need no rows of their own, and a unit of another dimension is refused instead of
 * converted. */
#include "app/cli/quantity.h"

#include "base/core/ascii.h"
#include "base/core/assertion.h"
#include "base/core/error.h"
#include "base/core/str.h"

#include <math.h>
#include <string.h>

#define MONTH_S (30.4375 * 86400)

enum dimension { MONEY, TOKENS, TIME, ENERGY, BYTES, POWER, QUERIES, NOTHING };

struct unit {
    const char *name;
    enum dimension dimension;
    double factor; /* to USD, token, second, joule, byte, watt, query */
};

static const struct unit units[] = {
    {"USD", MONEY, 1},
    {"$", MONEY, 1},
    {"ct", MONEY, 0.01},
    {"cent", MONEY, 0.01},
    {"cents", MONEY, 0.01},
    {"\xc2\xa2", MONEY, 0.01},
    {"tok", TOKENS, 1},
    {"token", TOKENS, 1},
    {"tokens", TOKENS, 1},
    {"ktok", TOKENS, 1e3},
    {"Mtok", TOKENS, 1e6},
    {"s", TIME, 1},
    {"h", TIME, 3600},
    {"hour", TIME, 3600},
    {"day", TIME, 86400},
    {"days", TIME, 86400},
    {"month", TIME, MONTH_S},
    {"months", TIME, MONTH_S},
    {"year", TIME, 12 * MONTH_S},
    {"years", TIME, 12 * MONTH_S},
    {"J", ENERGY, 1},
    {"Wh", ENERGY, 3600},
    {"kWh", ENERGY, 3.6e6},
    {"B", BYTES, 1},
    {"kB", BYTES, 1e3},
    {"MB", BYTES, 1e6},
    {"GB", BYTES, 1e9},
    {"W", POWER, 1},
    {"kW", POWER, 1e3},
    {"mW", POWER, 1e-3},
    {"query", QUERIES, 1},
    {"queries", QUERIES, 1},
};

/* factor: from units of the table to the kind's own. */
static const struct {
    enum dimension over, under;
    double factor;
    const char *example;
} kinds[QUANTITY_COUNT_KINDS] = {
    [QUANTITY_MONEY] = {MONEY, NOTHING, 1, "2400 USD"},
    [QUANTITY_MONEY_PER_TOKEN] = {MONEY, TOKENS, 1, "0.15 USD/Mtok"},
    [QUANTITY_MONEY_PER_MONTH] = {MONEY, TIME, MONTH_S, "500 USD/month"},
    [QUANTITY_MONEY_PER_ENERGY] = {MONEY, ENERGY, 1, "0.30 USD/kWh"},
    [QUANTITY_MONEY_PER_BYTE] = {MONEY, BYTES, 1, "0.09 USD/GB"},
    [QUANTITY_POWER] = {POWER, NOTHING, 1, "350 W"},
    [QUANTITY_TIME] = {TIME, NOTHING, 1, "36 months"},
    [QUANTITY_TOKENS_PER_SECOND] = {TOKENS, TIME, 1, "40 tok/s"},
    [QUANTITY_QUERIES_PER_MONTH] = {QUERIES, TIME, MONTH_S, "200000 queries/month"},
};

const char *quantity_example(enum quantity_kind kind)
{
    return kinds[kind].example;
}

static const struct unit *unit_find(struct td_str name)
{
    for (size_t i = 0; i < sizeof units / sizeof *units; i++)
        if (str_equal(str_from(units[i].name), name))
            return &units[i];
    return NULL;
}

/* "$2400" as "2400 $". */
static struct td_str take_number(struct td_str *rest, bool *dollar)
{
    size_t len = 0;
    *dollar = rest->len > 0 && rest->data[0] == '$';
    if (*dollar)
        *rest = str_slice(*rest, 1, rest->len);
    while (len < rest->len && (strchr("+-.", rest->data[len]) || ascii_is_digit(rest->data[len]) ||
                               (len > 0 && rest->data[len] == 'e' && len + 1 < rest->len &&
                                strchr("+-0123456789", rest->data[len + 1]))))
        len++;
    struct td_str number = str_slice(*rest, 0, len);
    *rest = str_trim(str_slice(*rest, len, rest->len));
    return number;
}

/* The dimensions of "USD/Mtok" and its factor; false for an unknown unit. */
static bool read_units(struct td_str text, bool dollar, enum dimension *over, enum dimension *under,
                       double *factor)
{
    size_t slash = str_find(text, STR("/"), 0);
    struct td_str upper = str_trim(str_slice(text, 0, slash == SIZE_MAX ? text.len : slash));
    const struct unit *a = dollar && upper.len == 0 ? unit_find(STR("$")) : unit_find(upper);
    const struct unit *b =
        slash == SIZE_MAX ? NULL : unit_find(str_trim(str_slice(text, slash + 1, text.len)));
    if (!a || (dollar && upper.len > 0) || (slash != SIZE_MAX && !b))
        return false;
    *over = a->dimension;
    *under = b ? b->dimension : NOTHING;
    *factor = a->factor / (b ? b->factor : 1);
    return true;
}

enum td_status quantity_read(struct td_str text, enum quantity_kind kind, double *out,
                             struct td_error *err)
{
    ASSERT(kind < QUANTITY_COUNT_KINDS);
    struct td_str rest = str_trim(text);
    bool dollar;
    double number, factor = 0;
    enum dimension over = NOTHING, under = NOTHING;
    struct td_str digits = take_number(&rest, &dollar);
    if (!str_to_double(digits, &number) || number < 0)
        return error_set(err, TD_INVALID,
                         "'%.*s' must begin with a number that is not negative, as in %s",
                         (int)(text.len < 60 ? text.len : 60), text.data, kinds[kind].example);
    if (rest.len == 0 && !dollar)
        return error_set(err, TD_INVALID, "'%.*s' has no unit; write it as in %s",
                         (int)(text.len < 60 ? text.len : 60), text.data, kinds[kind].example);
    if (!read_units(rest, dollar, &over, &under, &factor) || over != kinds[kind].over ||
        under != kinds[kind].under)
        return error_set(err, TD_INVALID, "'%.*s' has the wrong unit; write it as in %s",
                         (int)(text.len < 60 ? text.len : 60), text.data, kinds[kind].example);
    *out = number * factor * kinds[kind].factor;
    if (!isfinite(*out))
        return error_set(err, TD_INVALID, "'%.*s' is too large",
                         (int)(text.len < 60 ? text.len : 60), text.data);
    return TD_OK;
}

bool quantity_read_size(struct td_str text, uint64_t *bytes)
{
    static const struct {
        const char *unit;
        double factor;
    } sizes[] = {{"Gi", 1073741824.0}, {"Mi", 1048576.0}, {"G", 1e9}, {"M", 1e6}, {"K", 1e3}};
    double value, factor = 1;
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes && factor == 1; i++)
        if (str_ends_with(text, str_from(sizes[i].unit))) {
            factor = sizes[i].factor;
            text = str_slice(text, 0, text.len - strlen(sizes[i].unit));
        }
    if (!str_to_double(text, &value) || value * factor < 1 || value * factor > 1e15)
        return false;
    *bytes = (uint64_t)(value * factor);
    return true;
}
