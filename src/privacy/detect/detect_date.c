/* Dates and times of day: ISO 8601, day/month/year with . / - in either order, month names in
 * several languages, years where the words around say that a year is meant. A date near a word of
 * birth is sensitive; others are public and only reported. */
#include "privacy/detect/detect.h"

#include "base/core/str.h"
#include "privacy/words/lexicon.h"

#include <string.h>

#define YEAR_FIRST 1800
#define YEAR_LAST 2099
#define WHOLE_DATE_BYTES 8 /* with day, month and year: "1/5/2024" */
#define SMALL_WEEKDAYS 14  /* weekdays of the lexicon's list that are in lower case too */
#define BIRTH_REACH 48     /* "geboren wurde sie in Hamburg am " */

/* The last letter of "Mon", "Tue", "Tues", "Wed", "Thu", "Thur", "Fri", "Sat" in either case. */
static bool ends_weekday(char c)
{
    return memchr("neudrsit", c | 0x20, 8) != NULL;
}

static void finish(const struct place *place, size_t begin, size_t end, float score,
                   struct privacy_span *out)
{
    struct word day = spelled_before(place->text, begin, 2);
    if (day.end < begin && day.begin < day.end && place->text.data[begin - 1] == ' ' &&
        place->text.data[day.begin] >= 'A' && place->text.data[day.begin] <= 'Z' &&
        ends_weekday(place->text.data[day.end - 1]) &&
        word_in(place->text, &day, "mon tue tues wed thu thur thurs fri sat sun"))
        begin = day.begin;
    *out = (struct privacy_span){.kind = PRIVACY_DATE, .begin = begin, .end = end, .score = score};
    if (place_context(place, CONTEXT_BIRTH, BIRTH_REACH)) {
        out->data_class = TD_CLASS_SENSITIVE;
        out->score = 0.95f;
    }
}

static int value_of(const struct window *window, size_t i, size_t digits)
{
    int value = 0;
    for (size_t k = 0; k < digits && k < 6; k++)
        value = value * 10 + window->c[i + k] - '0';
    return value;
}

static int year_of(struct td_str text, size_t offset)
{
    int value = 0;
    for (size_t k = 0; k < 4; k++)
        value = value * 10 + text.data[offset + k] - '0';
    return value;
}

static bool is_year(int value)
{
    return value >= YEAR_FIRST && value <= YEAR_LAST;
}

/* At "10:30", "10:30:05.123", " pm", "Z", "+02:00": the end of the time, 0 when there is none. */
static size_t time_end(struct td_str text, size_t offset, bool must_be_sure)
{
    size_t parts = 0, end = 0;
    struct plain next = plain_at(text, offset);
    int hour = 0;
    for (; parts < 3; parts++) {
        int value = 0, digits = 0;
        for (; ascii_is_digit(next.c) && digits < 3; next = plain_at(text, next.end), digits++) {
            value = value * 10 + next.c - '0';
            end = next.end;
        }
        if (digits == 0 || digits > 2 || value > (parts == 0 ? 24 : 59) ||
            (parts > 0 && digits != 2))
            return 0;
        if (parts == 0)
            hour = digits;
        if (next.c != ':')
            break;
        struct plain after = plain_at(text, next.end);
        if (!ascii_is_digit(after.c))
            break;
        next = after;
    }
    if (parts < 3 && next.c == '.' && parts == 2) {
        struct plain digit = plain_at(text, next.end);
        for (int i = 0; ascii_is_digit(digit.c) && i < 9; i++, digit = plain_at(text, digit.end))
            end = digit.end;
        next = plain_at(text, end);
    }
    struct word word = word_after(text, end, 1);
    bool half = (word.roles & ROLE_HALF_DAY) != 0;
    if (half && word_in(text, &word, "a p"))
        half = word.end < text.len && text.data[word.end] == '.';
    if (parts == 0 && !(half && !word_in(text, &word, "h")))
        return 0;
    if (half) {
        end = word.end;
        if (word_in(text, &word, "a p")) { /* p.m. */
            struct word second = word_after(text, word.end, 1);
            if (!word_in(text, &second, "m"))
                return parts == 0 ? 0 : end;
            end = second.end + (second.end < text.len && text.data[second.end] == '.');
        }
        return end;
    }
    if (next.c == 'Z')
        return next.end;
    if (is_word(next.c))
        return 0;
    return must_be_sure && parts < 2 && hour < 2 ? 0 : end;
}

/* After a date: "T10:30", " 10:30", ", at 10:30". */
static size_t with_time(struct td_str text, size_t end)
{
    struct plain next = plain_at(text, end);
    /* a web server's log: 25/Oct/2024:11:57:06 +0000 */
    if (next.c == ':' && ascii_is_digit(plain_at(text, next.end).c)) {
        size_t time = time_end(text, next.end, true);
        struct plain zone = plain_at(text, plain_at(text, time).end);
        bool zoned = time != 0 && plain_at(text, time).c == ' ' && (zone.c == '+' || zone.c == '-');
        return time == 0 ? end : zoned ? spelled_after(text, zone.end, 0).end : time;
    }
    if (next.c == 'T' || next.c == ' ' || next.c == ',') {
        bool comma = next.c == ',';
        next = plain_at(text, next.end);
        if (comma && next.c == ' ')
            next = plain_at(text, next.end);
        size_t time = ascii_is_digit(next.c) ? time_end(text, next.begin, true) : 0;
        if (time == 0)
            return end;
        struct plain zone = plain_at(text, time);
        if ((zone.c == '+' || zone.c == '-') && ascii_is_digit(plain_at(text, zone.end).c)) {
            size_t offset_end = zone.end;
            for (zone = plain_at(text, zone.end);
                 (ascii_is_digit(zone.c) || zone.c == ':') && zone.end - time < 8;
                 zone = plain_at(text, zone.end))
                offset_end = zone.end;
            return offset_end;
        }
        return time;
    }
    return end;
}

/* "02/1971", "05-2024", "20240501" and "30 03 2010": index after it, or 0. The last two are only
 * dates where every digit fits one. */
static size_t sparse_date(const struct window *window, size_t run)
{
    int first = value_of(window, 0, run);
    if (run <= 2 && (window->c[run] == '/' || window->c[run] == '-') &&
        window_digits(window, run + 1) == 4) {
        int year = value_of(window, run + 1, 4);
        bool fits = first >= 1 && first <= 12 && year >= 1900 && year <= 2040;
        return fits && (run == 2 || window->c[run] == '/') ? run + 5 : 0;
    }
    if (run == 2 && window->count >= 10 && window->c[2] == ' ' && window->c[5] == ' ' &&
        window_digits(window, 3) == 2 && window_digits(window, 6) == 4) {
        int month = value_of(window, 3, 2), year = value_of(window, 6, 4);
        return first >= 1 && first <= 31 && month >= 1 && month <= 12 && year >= 1900 &&
                       year <= 2040
                   ? 10
                   : 0;
    }
    return 0;
}

/* "20240501" after a word that says so. */
static bool compact_date(const struct place *place, const struct window *window)
{
    int year = value_of(window, 0, 4), month = value_of(window, 4, 2), day = value_of(window, 6, 2);
    return year >= 1900 && year <= 2040 && month >= 1 && month <= 12 && day >= 1 && day <= 31 &&
           !is_word(window->c[8]) &&
           (place_context(place, CONTEXT_BIRTH, BIRTH_REACH) ||
            word_in(place->text, place->previous,
                    "on date dated since until from due by issued day"));
}

/* Three groups: index after the last, or 0. */
static size_t numeric_date(const struct window *window)
{
    size_t lens[3], starts[3], i = 0;
    int separator = 0;
    for (size_t g = 0; g < 3; g++) {
        starts[g] = i;
        lens[g] = window_digits(window, i);
        i += lens[g];
        if (lens[g] == 0 || lens[g] > 4 || lens[g] == 3)
            return 0;
        if (g == 2)
            break;
        int c = window->c[i];
        if ((c != '-' && c != '.' && c != '/') || (separator && c != separator))
            return 0;
        separator = c;
        i++;
        if (window->c[i] == ' ' && separator == '.')
            i++; /* "1. 5. 2024" */
    }
    int a = value_of(window, starts[0], lens[0]), b = value_of(window, starts[1], lens[1]),
        c = value_of(window, starts[2], lens[2]);
    bool year_first = lens[0] == 4 && lens[1] <= 2 && lens[2] <= 2 && is_year(a) && b >= 1 &&
                      b <= 12 && c >= 1 && c <= 31;
    bool day_month = a >= 1 && b >= 1 && ((a <= 31 && b <= 12) || (a <= 12 && b <= 31));
    bool year_last = lens[0] <= 2 && lens[1] <= 2 && day_month &&
                     ((lens[2] == 4 && is_year(c)) ||
                      (lens[2] == 2 && (separator == '/' || lens[0] + lens[1] == 4)));
    return year_first || year_last ? i : 0;
}

/* "3 May", "3rd of May 1977", "3. Mai": is the word after the number a month? */
static size_t day_month(const struct place *place, const struct window *window, size_t run)
{
    struct td_str text = place->text;
    int day = value_of(window, 0, run);
    if (run > 2 || day < 1 || day > 31)
        return 0;
    size_t end = window->end[run - 1];
    struct word word =
        window->c[run] == '.' ? word_after(text, end, 2) : *place->next; /* "3. Mai" */
    if (word.begin == word.end || word.digits)
        return 0;
    if (end < text.len && ascii_is_letter((unsigned char)text.data[end])) {
        if (!word_in(text, &word, "st nd rd th er"))
            return 0;
        end = word.end;
        word = word_after(text, end, 2);
    }
    int sign = end < text.len ? (unsigned char)text.data[end] : 0;
    if ((word.roles & ROLE_OF))
        word = word_after(text, word.end, 1);
    if (!(word.roles & (ROLE_MONTH | ROLE_MONTH_SHORT)))
        return 0;
    end =
        word.end + (word.end < text.len && text.data[word.end] == '.' && word.end - word.begin < 5);
    struct word year = word_after(text, word.end, 3);
    if ((year.roles & ROLE_OF))
        year = word_after(text, year.end, 1);
    size_t digits = year.end - year.begin;
    if (year.digits && digits == 4 &&
        (text.data[year.begin] == '1' || text.data[year.begin] == '2'))
        return with_time(text, year.end);
    bool same_sign = (sign == '-' || sign == '/') && word.end < text.len &&
                     text.data[word.end] == sign && year.begin == word.end + 1;
    if (year.digits && digits == 2 && same_sign)
        return year.end; /* 17-MAY-15 */
    return text.data[end - 1] == '.' ? word.end : end;
}

/* Four digits alone: a year only where a word says so, and never "2000 people". */
static bool year_alone(const struct place *place, const struct window *window, size_t *begin,
                       size_t *end)
{
    struct td_str text = place->text;
    int year = value_of(window, 0, 4);
    if (year < 1900 || year > 2040 || place->before == '$' || place->before == '#')
        return false;
    *end = window->end[3];
    *begin = place->begin;
    struct plain next = plain_at(text, *end);
    if (next.c == 's' && !is_word(plain_at(text, next.end).c)) {
        *end = next.end; /* the 1990s */
        return true;
    }
    if (is_word(next.c) || next.c == '%' || next.c == ':' ||
        ((next.c == '.' || next.c == ',' || next.c == '/') &&
         ascii_is_digit(plain_at(text, next.end).c)))
        return false;
    if (next.c == ')' && place->before == '(')
        return true;
    struct word before = *place->previous, after = *place->next;
    if (next.c == '-' && after.digits && after.end - after.begin == 4)
        return true; /* 1998-2003 */
    if (place->before == '-' && ascii_is_digit(place->before2) && before.digits)
        return true;
    if (before.begin == before.end)
        return false;
    if (before.roles & (ROLE_MONTH | ROLE_MONTH_SHORT))
        return true;
    if (before.roles & ROLE_YEAR_BEFORE)
        return true;
    bool unit = after.roles & (ROLE_COUNTED | ROLE_STREET);
    bool loose = before.roles & ROLE_YEAR_MAYBE;
    return loose && !unit && (year % 100 != 0 || after.begin == after.end) &&
           (!after.capital || (after.roles & ROLE_NRP));
}

static bool read_date(const struct place *place, struct privacy_span *out)
{
    const struct window *window = place->window;
    size_t run = window->run, begin = place->begin, end = 0;
    if (run == 8 && !is_word(place->before) && compact_date(place, window)) {
        finish(place, begin, window->end[7], 0.7f, out);
        return true;
    }
    if (run == 0 || run > 4 ||
        ((place->before == '.' || place->before == '-' || place->before == '/' ||
          place->before == ':') &&
         ascii_is_digit(place->before2) && run != 4))
        return false;
    bool after_comma =
        place->before == ',' && ascii_is_digit(place->before2); /* "1,05" or a column */
    float score = 0.85f;
    size_t numeric = numeric_date(window);
    if (numeric == 0)
        numeric = sparse_date(window, run);
    if (numeric != 0) {
        size_t after = numeric;
        int next = window->c[after];
        if (is_word(next) && next != 'T')
            return false;
        if ((next == '-' || next == '/' || next == '.') && ascii_is_alnum(window->c[after + 1]))
            return false;
        end = with_time(place->text, window->end[after - 1]);
    } else if (after_comma && run != 4) {
        return false;
    } else if (run <= 2 && (end = day_month(place, window, run)) != 0) {
        score = 0.8f;
    } else if (run <= 2 && place->before != ':' &&
               (window->c[run] == ':' || (place->next->roles & ROLE_HALF_DAY)) &&
               (end = time_end(place->text, place->begin, true)) != 0) {
        score = 0.6f;
    } else if (run == 4 && year_alone(place, window, &begin, &end)) {
        score = 0.6f;
    } else {
        return false;
    }
    finish(place, begin, end, score, out);
    return true;
}

static bool find_date(const struct place *place, struct privacy_span *out)
{
    if (!read_date(place, out))
        return false;
    if (out->end - out->begin >= WHOLE_DATE_BYTES)
        place->memory->date = (struct stretch){place->begin, out->end};
    return true;
}

/* At a month's name; it may be "Jan". The finding may begin before the place ("3 May"). */
static bool find_month(const struct place *place, struct privacy_span *out)
{
    struct td_str text = place->text;
    size_t end = place->word_end;
    bool brief = place->entry->roles & ROLE_MONTH_SHORT;
    unsigned char first = (unsigned char)text.data[place->begin];
    bool capital = first < 0x80 && first >= 'A' && first <= 'Z';
    struct word before = word_before(text, place->begin, 2), day = {0}, year = {0};
    if (before.digits && before.end - before.begin <= 2)
        return false; /* the number before it has found it */
    size_t last = 0;
    day = word_after(text, end, brief ? 2 : 1);
    if (day.end > day.begin && day.digits && day.end - day.begin == 4 &&
        is_year(year_of(text, day.begin))) {
        last = day.end; /* May 1977 */
    } else if (day.end > day.begin && day.end - day.begin <= 4 &&
               ascii_is_digit((unsigned char)text.data[day.begin])) {
        size_t digits = day.begin;
        while (digits < day.end && ascii_is_digit((unsigned char)text.data[digits]))
            digits++;
        struct td_str tail = str_slice(text, digits, day.end);
        if (digits - day.begin <= 2 && (tail.len == 0 || tail.len == 2)) {
            last = day.end;
            year = word_after(text, day.end, 2);
            if (year.digits && year.end - year.begin == 4)
                last = year.end;
            last = with_time(text, last);
        }
    }
    static const char modal[] = "may march mars mai mayo mei abril";
    struct word self = {.begin = place->begin, .end = end, .capital = capital};
    if (last == 0 && (brief || !capital || word_in(text, &self, modal)))
        return false;
    finish(place, place->begin, last ? last : end, last ? 0.85f : 0.6f, out);
    return true;
}

/* "Monday", and "mon." where the language writes it small. */
static bool find_weekday(const struct place *place, struct privacy_span *out)
{
    if (!place->capital && place->entry->value > SMALL_WEEKDAYS)
        return false;
    *out = span_of(PRIVACY_DATE, place->begin, place->word_end, 0.6f);
    return true;
}

const struct detector detector_date = {
    .kinds = {PRIVACY_DATE, KINDS_END},
    .triggers = ON(NUMBER),
    .any = NUMBER_RUNS(1, 4) | NUMBER_RUNS(8, 8),
    .find = find_date,
};

const struct detector detector_month = {
    .kinds = {PRIVACY_DATE, KINDS_END},
    .triggers = ON(LISTED),
    .any = ROLE_MONTH | ROLE_MONTH_SHORT,
    .find = find_month,
};

const struct detector detector_weekday = {
    .kinds = {PRIVACY_DATE, KINDS_END},
    .triggers = ON(LISTED),
    .any = ROLE_WEEKDAY,
    .find = find_weekday,
};
