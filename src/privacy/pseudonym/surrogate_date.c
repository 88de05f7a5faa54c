/* Dates move by the same number of days in a whole conversation, so that spans between them stay what
 * they are. Only day, month and year are written anew; order, padding, words and times stay. */
#include "privacy/pseudonym/surrogate.h"

#include "base/crypto.h"
#include "base/str.h"
#include "privacy/pseudonym/date_forms.h"
#include "privacy/text/spell.h"

#include <stdio.h>

#define SHIFT_DAYS_MIN 40   /* the month changes as well */
#define SHIFT_DAYS_MAX 1500 /* an age stays about what it is */

struct field {
    size_t begin, end; /* equal: the date has none */
    int value;
    int language; /* of a month's name, else -1 */
    bool brief;   /* its first letters only */
};

struct date {
    struct field day, month, year;
};

/* clang-format off */
static const char *const months[][12] = {
    {"January", "February", "March", "April", "May", "June", "July", "August", "September", "October", "November", "December"},
    {"Januar", "Februar", "März", "April", "Mai", "Juni", "Juli", "August", "September", "Oktober", "November", "Dezember"},
    {"janvier", "février", "mars", "avril", "mai", "juin", "juillet", "août", "septembre", "octobre", "novembre", "décembre"},
    {"enero", "febrero", "marzo", "abril", "mayo", "junio", "julio", "agosto", "septiembre", "octubre", "noviembre", "diciembre"},
    {"gennaio", "febbraio", "marzo", "aprile", "maggio", "giugno", "luglio", "agosto", "settembre", "ottobre", "novembre", "dicembre"},
    {"janeiro", "fevereiro", "março", "abril", "maio", "junho", "julho", "agosto", "setembro", "outubro", "novembro", "dezembro"},
    {"januari", "februari", "maart", "april", "mei", "juni", "juli", "augustus", "september", "oktober", "november", "december"},
    {"stycznia", "lutego", "marca", "kwietnia", "maja", "czerwca", "lipca", "sierpnia", "września", "października", "listopada", "grudnia"},
    {"января", "февраля", "марта", "апреля", "мая", "июня", "июля", "августа", "сентября", "октября", "ноября", "декабря"},
};
/* clang-format on */
#define LANGUAGES (sizeof months / sizeof *months)

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

static bool same_word(struct td_str word, struct td_str name)
{
    struct buf a, b;
    buf_init(&a, 64);
    buf_init(&b, 64);
    spell_fold(word, &a);
    spell_fold(name, &b);
    bool same = !a.failed && !b.failed && str_equal(buf_view(&a), buf_view(&b));
    buf_deinit(&a);
    buf_deinit(&b);
    return same;
}

static bool month_of(struct td_str word, struct field *out)
{
    for (size_t language = 0; language < LANGUAGES; language++)
        for (int m = 0; m < 12; m++) {
            struct td_str name = str_from(months[language][m]);
            bool brief =
                language == 0 && word.len == 3 && str_equal_nocase(word, str_slice(name, 0, 3));
            if (!brief && !same_word(word, name))
                continue;
            out->value = m + 1;
            out->language = (int)language;
            out->brief = brief && name.len > 3;
            return true;
        }
    return false;
}

static struct field number_field(struct td_str value, size_t begin, size_t end)
{
    struct field field = {.begin = begin, .end = end, .language = -1};
    for (size_t i = begin; i < end; i++)
        field.value = field.value * 10 + (value.data[i] - '0');
    return field;
}

#define NUMBERS_MAX 8

/* Three numbers with the same sign between them. */
static bool read_numeric(struct td_str value, const struct field *n, size_t count, struct date *out)
{
    if (count < 3 || n[1].begin - n[0].end > 2 || n[2].begin - n[1].end > 2)
        return false;
    char sign = value.data[n[0].end];
    if (!strchr("-/.", sign) || value.data[n[1].end] != sign)
        return false;
    if (n[0].end - n[0].begin == 4) {
        *out = (struct date){.year = n[0], .month = n[1], .day = n[2]};
        return true;
    }
    bool day_first = sign != '/' || n[0].value > 12;
    if (n[1].value > 12)
        day_first = false;
    *out = (struct date){.day = n[day_first ? 0 : 1], .month = n[day_first ? 1 : 0], .year = n[2]};
    return true;
}

/* A month's name, and numbers around it: at most 31 is a day, of four digits a year. */
static bool read_named(const struct field *n, size_t count, const struct field *month,
                       struct date *out)
{
    *out = (struct date){.month = *month};
    for (size_t i = 0; i < count && i < 3; i++) {
        size_t len = n[i].end - n[i].begin;
        if (len == 4 && out->year.end == 0 && n[i].value >= 1000)
            out->year = n[i];
        else if (len <= 2 && out->day.end == 0 && n[i].value >= 1 && n[i].value <= 31)
            out->day = n[i];
    }
    return out->day.end > 0 || out->year.end > 0;
}

static bool read_date(struct td_str value, struct date *out)
{
    struct field numbers[NUMBERS_MAX], month = {0};
    size_t count = 0, offset = 0;
    while (offset < value.len) {
        struct sign sign = spell_at(value, offset, false);
        size_t begin = offset, end = sign.end;
        enum sign_kind kind = sign.kind;
        while (end < value.len && spell_is_significant(&sign)) {
            struct sign next = spell_at(value, end, false);
            if (next.kind != kind)
                break;
            end = next.end;
        }
        bool ascii = (unsigned char)value.data[begin] < 0x80;
        if (kind == SIGN_DIGIT && ascii && end - begin <= 4 && count < NUMBERS_MAX)
            numbers[count++] = number_field(value, begin, end);
        else if (kind == SIGN_LETTER && month.end == 0 &&
                 month_of(str_slice(value, begin, end), &month)) {
            month.begin = begin;
            month.end = end;
        }
        offset = end;
    }
    return month.end > 0 ? read_named(numbers, count, &month, out)
                         : read_numeric(value, numbers, count, out);
}

static void write_field(struct td_str value, const struct field *field, long number,
                        struct buf *out)
{
    struct td_str old = str_slice(value, field->begin, field->end);
    if (field->language < 0) {
        if (old.len == 2 && number > 99)
            number %= 100;
        buf_printf(out, "%0*ld", (int)old.len, number);
        return;
    }
    struct td_str name = str_from(months[field->language][number - 1]);
    spell_in_case(field->brief ? str_slice(name, 0, 3) : name, spell_case_of(old), out);
}

bool surrogate_write_date(struct td_str value, const uint8_t key[static KEYED_KEY_BYTES],
                          uint32_t salt, struct buf *out)
{
    struct date date;
    struct draw draw;
    if (value.len > 64 || !read_date(value, &date) || date.month.value < 1 || date.month.value > 12)
        return false;
    draw_init(&draw, key, "dates", (struct td_str){NULL, 0}, 0);
    long shift = SHIFT_DAYS_MIN + (long)draw_below(&draw, SHIFT_DAYS_MAX - SHIFT_DAYS_MIN) +
                 (long)salt; /* that day stands in the text: the next */
    if (draw_below(&draw, 2))
        shift = -shift;
    long year = date.year.end > 0 ? date.year.value : 2001, month, day;
    if (date.year.end - date.year.begin == 2)
        year += year < 40 ? 2000 : 1900;
    if (year < 1600 || year > 9000)
        return false;
    long days = days_of(year, date.month.value, date.day.end > 0 ? date.day.value : 15);
    civil_of(days + shift, &year, &month, &day);
    const struct field *fields[] = {&date.day, &date.month, &date.year};
    const long values[] = {day, month, year};
    size_t done = 0;
    for (size_t n = 0; n < 3; n++) { /* in the order in which they stand */
        size_t next = 3;
        for (size_t i = 0; i < 3; i++)
            if (fields[i]->end > fields[i]->begin && fields[i]->begin >= done &&
                (next == 3 || fields[i]->begin < fields[next]->begin))
                next = i;
        if (next == 3)
            break;
        buf_append_str(out, str_slice(value, done, fields[next]->begin));
        write_field(value, fields[next], values[next], out);
        done = fields[next]->end;
    }
    buf_append_str(out, str_slice(value, done, value.len));
    return true;
}

/* --- other forms --- */

static bool is_there(const struct field *field, size_t digits_min)
{
    return field->end - field->begin >= digits_min;
}

/* Could somebody read the day as the month? 03/04/1987, and 03-04-1987. */
static bool is_ambiguous(struct td_str value, const struct date *date)
{
    bool year_first = date->year.begin < date->month.begin;
    return date->month.language < 0 && !year_first && value.data[date->day.end] != '.' &&
           value.data[date->month.end] != '.' && date->day.value <= 12 && date->month.value <= 12;
}

/* All three are said, and nobody reads them otherwise. */
static bool read_certain(struct td_str value, struct date *date)
{
    return value.len <= 64 && read_date(value, date) && is_there(&date->year, 4) &&
           is_there(&date->day, 1) && is_there(&date->month, 1) && date->month.value >= 1 &&
           date->month.value <= 12 && date->day.value >= 1 && date->day.value <= 31 &&
           date->year.value >= 1000 && !is_ambiguous(value, date);
}

static const char *ordinal(int day)
{
    if (day / 10 != 1 && day % 10 >= 1 && day % 10 <= 3)
        return day % 10 == 1 ? "st" : day % 10 == 2 ? "nd" : "rd";
    return "th";
}

/* A form's parts in their order: Y year, m and d padded, M and D not; N the month's name in the date's own
 * language, E in English, B its first letters, o the ordinal's ending. */
static const char *const form_parts[DATE_FORMS] = {
    "Y-m-d", "Y/m/d", "d.m.Y", "m/d/Y",  "d/m/Y", "d-m-Y",  "m-d-Y",   "D.M.Y",
    "M/D/Y", "D/M/Y", "D N Y", "E D, Y", "D B Y", "B D, Y", "E Do, Y",
};

static void write_form(const char *parts, const struct date *date, int language,
                       char out[static DATE_FORM_BYTES])
{
    const char *english = months[0][date->month.value - 1];
    struct buf text;
    buf_init(&text, DATE_FORM_BYTES - 1);
    for (; *parts; parts++) {
        switch (*parts) {
        case 'Y':
            buf_printf(&text, "%04d", date->year.value);
            break;
        case 'm':
        case 'd':
            buf_printf(&text, "%02d", *parts == 'm' ? date->month.value : date->day.value);
            break;
        case 'M':
        case 'D':
            buf_printf(&text, "%d", *parts == 'M' ? date->month.value : date->day.value);
            break;
        case 'N':
            buf_append_str(&text,
                           str_from(months[language < 0 ? 0 : language][date->month.value - 1]));
            break;
        case 'E':
        case 'B':
            buf_printf(&text, "%.*s", *parts == 'B' ? 3 : 12, english);
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
    for (size_t i = 0; i < DATE_FORMS; i++) {
        write_form(form_parts[i], &from, from.month.language, forms[i].surrogate);
        write_form(form_parts[i], &to, from.month.language, forms[i].original);
    }
    return DATE_FORMS;
}

bool date_forms_day(struct td_str value, char out[static DATE_DAY_BYTES])
{
    struct date date;
    if (value.len > 64 || !read_date(value, &date) || !is_there(&date.day, 1) ||
        !is_there(&date.month, 1) || !is_there(&date.year, 2))
        return false;
    long year = date.year.value;
    if (date.year.end - date.year.begin == 2)
        year += year < 40 ? 2000 : 1900;
    snprintf(out, DATE_DAY_BYTES, "day%04ld%02d%02d", year % 10000, date.month.value % 100,
             date.day.value % 100);
    return true;
}
