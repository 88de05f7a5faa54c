/* Surrogates for dates. All dates of a conversation move by the same number of days, so that the
 * spans between them stay true. Only day, month and year are replaced; their order, padding, words
 * and times of day stay. */
#include "base/core/str.h"
#include "privacy/pseudonym/date_read.h"
#include "privacy/pseudonym/surrogate_writers.h"
#include "privacy/text/spell.h"

#define SHIFT_DAYS_MIN 40   /* the month changes, too */
#define SHIFT_DAYS_MAX 1500 /* an age stays about what it is */

/* Days of the Gregorian calendar since a day before every year here, counted in years that begin in
 * March, so that the leap day is the last. */
static long days_of(long year, long month, long day)
{
    long y = month <= 2 ? year - 1 : year, m = month <= 2 ? month + 9 : month - 3;
    return y * 365 + y / 4 - y / 100 + y / 400 + (153 * m + 2) / 5 + day - 1;
}

static void civil_of(long days, long *year, long *month, long *day)
{
    long y = (days * 400) / 146097 + 1;
    while (days_of(y, 3, 1) > days)
        y--;
    long in_year = days - days_of(y, 3, 1), m = (5 * in_year + 2) / 153;
    *day = in_year - (153 * m + 2) / 5 + 1;
    *month = m < 10 ? m + 3 : m - 9;
    *year = m < 10 ? y : y + 1;
}

static void write_field(struct td_str value, const struct date_field *field, long number,
                        struct buf *out)
{
    struct td_str old = str_slice(value, field->begin, field->end);
    if (field->language == DATE_NO_NAME) {
        if (old.len == 2 && number > 99)
            number %= 100;
        buf_printf(out, "%0*ld", (int)old.len, number);
        return;
    }
    struct td_str name = date_month_name(field->language, (int)number);
    spell_in_case(field->brief ? str_slice(name, 0, 3) : name, spell_case_of(old), out);
}

/* How far the conversation's dates move. When a moved day stands in the text already, another salt
 * gives the day after. */
static long shift_of(const struct surrogate_request *request)
{
    struct draw draw;
    draw_init(&draw, request->key, "dates", (struct td_str){NULL, 0}, 0);
    long shift = SHIFT_DAYS_MIN + (long)draw_below(&draw, SHIFT_DAYS_MAX - SHIFT_DAYS_MIN) +
                 (long)request->salt;
    return draw_below(&draw, 2) ? -shift : shift;
}

/* The field that stands first from the offset on; NULL when there is none. */
static const struct date_field *next_field(const struct date *date, size_t from)
{
    const struct date_field *fields[] = {&date->day, &date->month, &date->year}, *next = NULL;
    for (size_t i = 0; i < 3; i++)
        if (fields[i]->end > fields[i]->begin && fields[i]->begin >= from &&
            (next == NULL || fields[i]->begin < next->begin))
            next = fields[i];
    return next;
}

#define YEAR_ANY 2001 /* of a date without a year; no leap year */
#define DAY_ANY 15    /* of a date without a day: the middle of its month */

bool surrogate_write_date(const struct surrogate_request *request, struct draw *draw,
                          struct buf *out)
{
    struct td_str value = request->value;
    struct date date;
    (void)draw; /* all dates of a conversation move by the same number of days */
    if (!date_read(value, &date) || date.month.value < 1 || date.month.value > 12)
        return false;
    long year = date_has(&date.year, 1) ? date_year(&date) : YEAR_ANY, month, day;
    if (year < 1600 || year > 9000)
        return false;
    long days = days_of(year, date.month.value, date_has(&date.day, 1) ? date.day.value : DAY_ANY);
    civil_of(days + shift_of(request), &year, &month, &day);
    size_t done = 0;
    for (const struct date_field *field; (field = next_field(&date, done)) != NULL;) {
        buf_append_str(out, str_slice(value, done, field->begin));
        write_field(value, field,
                    field == &date.day     ? day
                    : field == &date.month ? month
                                           : year,
                    out);
        done = field->end;
    }
    buf_append_str(out, str_slice(value, done, value.len));
    return true;
}
