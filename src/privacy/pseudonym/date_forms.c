/* One day in all the forms in which people write it. A model that has read "12 March 1987" may
 * answer with 1987-03-12, and the restorer has to know that one, too. A date that two readers could
 * take for two days has no other forms. */
#include "privacy/pseudonym/date_forms.h"

#include "base/bytes/buf.h"
#include "base/core/str.h"
#include "base/crypto/crypto.h"
#include "privacy/pseudonym/date_read.h"

#include <stdio.h>
#include <string.h>

/* Could somebody read the day as the month? 03/04/1987, and 03-04-1987. */
static bool is_ambiguous(struct td_str value, const struct date *date)
{
    bool year_first = date->year.begin < date->month.begin;
    return date->month.language == DATE_NO_NAME && !year_first &&
           value.data[date->day.end] != '.' && value.data[date->month.end] != '.' &&
           date->day.value <= 12 && date->month.value <= 12;
}

/* All three are written, and nobody reads them as another day. */
static bool read_certain(struct td_str value, struct date *date)
{
    return date_read(value, date) && date_has(&date->year, 4) && date_has(&date->day, 1) &&
           date_has(&date->month, 1) && date->month.value >= 1 && date->month.value <= 12 &&
           date->day.value >= 1 && date->day.value <= 31 && date->year.value >= 1000 &&
           !is_ambiguous(value, date);
}

static const char *ordinal(int day)
{
    if (day / 10 != 1 && day % 10 >= 1 && day % 10 <= 3)
        return day % 10 == 1 ? "st" : day % 10 == 2 ? "nd" : "rd";
    return "th";
}

/* The parts of each form in their order. Y: year. m, d: month and day of two digits. M, D: without
 * a leading zero. N: the month's name in the date's own language, E: in English, B: its first three
 * letters. o: the ending of an ordinal. */
static const char *const form_parts[DATE_FORMS] = {
    "Y-m-d", "Y/m/d", "d.m.Y", "m/d/Y",  "d/m/Y", "d-m-Y",  "m-d-Y",   "D.M.Y",
    "M/D/Y", "D/M/Y", "D N Y", "E D, Y", "D B Y", "B D, Y", "E Do, Y",
};

static void write_form(const char *parts, const struct date *date, int language,
                       char out[static DATE_FORM_BYTES])
{
    const int month = date->month.value;
    const struct td_str english = date_month_name(DATE_ENGLISH, month);
    struct buf text;
    buf_init(&text, DATE_FORM_BYTES - 1);
    for (; *parts; parts++) {
        switch (*parts) {
        case 'Y':
            buf_printf(&text, "%04d", date->year.value);
            break;
        case 'm':
        case 'd':
            buf_printf(&text, "%02d", *parts == 'm' ? month : date->day.value);
            break;
        case 'M':
        case 'D':
            buf_printf(&text, "%d", *parts == 'M' ? month : date->day.value);
            break;
        case 'N':
            buf_append_str(&text, date_month_name(language, month));
            break;
        case 'E':
            buf_append_str(&text, english);
            break;
        case 'B':
            buf_append_str(&text, str_slice(english, 0, 3));
            break;
        case 'o':
            buf_append_str(&text, str_from(ordinal(date->day.value)));
            break;
        default:
            buf_append_char(&text, *parts);
        }
    }
    memcpy(out, text.data, text.len);
    out[text.len] = '\0';
    crypto_wipe(text.data, text.len);
    buf_deinit(&text);
}

size_t date_forms_write(struct td_str surrogate, struct td_str original,
                        struct date_form forms[static DATE_FORMS])
{
    struct date from, to;
    if (!read_certain(surrogate, &from) || !read_certain(original, &to))
        return 0;
    int language = from.month.language == DATE_NO_NAME ? DATE_ENGLISH : from.month.language;
    for (size_t i = 0; i < DATE_FORMS; i++) {
        write_form(form_parts[i], &from, language, forms[i].surrogate);
        write_form(form_parts[i], &to, language, forms[i].original);
    }
    return DATE_FORMS;
}

bool date_forms_day(struct td_str value, char out[static DATE_DAY_BYTES])
{
    struct date date;
    if (!date_read(value, &date) || !date_has(&date.day, 1) || !date_has(&date.month, 1) ||
        !date_has(&date.year, 2))
        return false;
    snprintf(out, DATE_DAY_BYTES, "day%04d%02d%02d", date_year(&date) % 10000,
             date.month.value % 100, date.day.value % 100);
    return true;
}
