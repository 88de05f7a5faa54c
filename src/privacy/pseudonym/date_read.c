/* Reading a date in the spellings that people use: numbers with one sign between them, or a month's
 * name with numbers around it. What cannot be told apart by form (03/04) is read as Americans
 * write it with slashes, and day first with other signs. */
#include "privacy/pseudonym/date_read.h"

#include "base/bytes/buf.h"
#include "base/core/assertion.h"
#include "base/core/str.h"
#include "privacy/text/spell.h"

#include <string.h>

#define VALUE_BYTES_MAX 64

/* clang-format off */
static const char *const months[DATE_LANGUAGES][12] = {
    {"January", "February", "March", "April", "May", "June",
     "July", "August", "September", "October", "November", "December"},
    {"Januar", "Februar", "März", "April", "Mai", "Juni",
     "Juli", "August", "September", "Oktober", "November", "Dezember"},
    {"janvier", "février", "mars", "avril", "mai", "juin",
     "juillet", "août", "septembre", "octobre", "novembre", "décembre"},
    {"enero", "febrero", "marzo", "abril", "mayo", "junio",
     "julio", "agosto", "septiembre", "octubre", "noviembre", "diciembre"},
    {"gennaio", "febbraio", "marzo", "aprile", "maggio", "giugno",
     "luglio", "agosto", "settembre", "ottobre", "novembre", "dicembre"},
    {"janeiro", "fevereiro", "março", "abril", "maio", "junho",
     "julho", "agosto", "setembro", "outubro", "novembro", "dezembro"},
    {"januari", "februari", "maart", "april", "mei", "juni",
     "juli", "augustus", "september", "oktober", "november", "december"},
    {"stycznia", "lutego", "marca", "kwietnia", "maja", "czerwca",
     "lipca", "sierpnia", "września", "października", "listopada", "grudnia"},
    {"января", "февраля", "марта", "апреля", "мая", "июня",
     "июля", "августа", "сентября", "октября", "ноября", "декабря"},
};
/* clang-format on */

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

static bool month_of(struct td_str word, struct date_field *out)
{
    for (int language = 0; language < DATE_LANGUAGES; language++)
        for (int m = 0; m < 12; m++) {
            struct td_str name = str_from(months[language][m]);
            bool brief = language == DATE_ENGLISH && word.len == 3 &&
                         str_equal_nocase(word, str_slice(name, 0, 3));
            if (!brief && !same_word(word, name))
                continue;
            out->value = m + 1;
            out->language = language;
            out->brief = brief && name.len > 3;
            return true;
        }
    return false;
}

static struct date_field number_field(struct td_str value, size_t begin, size_t end)
{
    struct date_field field = {.begin = begin, .end = end, .language = DATE_NO_NAME};
    for (size_t i = begin; i < end; i++)
        field.value = field.value * 10 + (value.data[i] - '0');
    return field;
}

#define NUMBERS_MAX 8

/* Three numbers with the same character between them. */
static bool read_numeric(struct td_str value, const struct date_field *n, size_t count,
                         struct date *out)
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

/* A month's name with numbers around it. A number up to 31 is the day, one of four digits the
 * year. */
static bool read_named(const struct date_field *n, size_t count, const struct date_field *month,
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

bool date_read(struct td_str value, struct date *out)
{
    struct date_field numbers[NUMBERS_MAX], month = {0};
    size_t count = 0, offset = 0;
    if (value.len > VALUE_BYTES_MAX)
        return false;
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

bool date_has(const struct date_field *field, size_t digits_min)
{
    return field->end - field->begin >= digits_min;
}

int date_year(const struct date *date)
{
    int year = date->year.value;
    if (date->year.end - date->year.begin == 2)
        year += year < 40 ? 2000 : 1900;
    return year;
}

struct td_str date_month_name(int language, int month)
{
    ASSERT(language >= 0 && language < DATE_LANGUAGES && month >= 1 && month <= 12);
    return str_from(months[language][month - 1]);
}
