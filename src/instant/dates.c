/* Dates of the years 1 to 9999 in the proleptic Gregorian calendar. Days are counted from 1 March
 * of the year 0, so that the leap day is a year's last (Howard Hinnant, "chrono-Compatible
 * Low-Level Date Algorithms"). An answer has the form of the question's date. */
#include "instant/dates.h"

#include "base/core/str.h"

#include <stdio.h>
#include <stdlib.h>

#define YEAR_MAX 9999
#define COUNT_MAX 1000000

enum form {
    FORM_ISO,
    FORM_DAY_FIRST,
    FORM_MONTH_FIRST,
    FORM_DOTS,
    FORM_SLASHES, /* the month first */
    FORM_SLASHES_DAY,
};

struct date {
    int year, month, day;
    enum form form;
};

static const char *const months[] = {
    "january|jan|januar|janvier|enero|gennaio|janeiro|januari",
    "february|feb|februar|février|febrero|febbraio|fevereiro|februari",
    "march|mar|märz|mars|marzo|março|maart",
    "april|apr|avril|abril|aprile",
    "may|mai|mayo|maggio|maio|mei",
    "june|jun|juni|juin|junio|giugno|junho",
    "july|jul|juli|juillet|julio|luglio|julho",
    "august|aug|août|agosto|augustus|augusti",
    "september|sept|sep|septembre|septiembre|settembre|setembro",
    "october|oct|oktober|octobre|octubre|ottobre|outubro",
    "november|nov|novembre|noviembre|novembro",
    "december|dec|dezember|décembre|diciembre|dicembre|dezembro",
};
static const char *const month_names[] = {"January",   "February", "March",    "April",
                                          "May",       "June",     "July",     "August",
                                          "September", "October",  "November", "December"};
static const char *const day_names[] = {"Monday", "Tuesday",  "Wednesday", "Thursday",
                                        "Friday", "Saturday", "Sunday"};

static bool is_leap(int year)
{
    return year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
}

static int month_days(int year, int month)
{
    static const int days[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
    return days[month - 1] + (month == 2 && is_leap(year));
}

static bool is_date(const struct date *date)
{
    return date->year >= 1 && date->year <= YEAR_MAX && date->month >= 1 && date->month <= 12 &&
           date->day >= 1 && date->day <= month_days(date->year, date->month);
}

static long day_number(const struct date *date)
{
    long year = date->year - (date->month <= 2);
    long month = (date->month + 9) % 12; /* March is 0 */
    return 365 * year + year / 4 - year / 100 + year / 400 + (153 * month + 2) / 5 + date->day - 1;
}

static bool from_day_number(long number, struct date *out)
{
    if (number < 306 || number > 365L * (YEAR_MAX + 1) + YEAR_MAX) /* 1 January of the year 1 */
        return false;
    int year = (int)(number / 366);
    struct date next = {year + 1, 1, 1, out->form};
    while (day_number(&next) <= number)
        next.year++;
    *out = (struct date){next.year - 1, 12, 31, out->form};
    while (out->month > 1 &&
           day_number(&(struct date){out->year, out->month, 1, out->form}) > number)
        out->month--;
    out->day = (int)(number - day_number(&(struct date){out->year, out->month, 1, out->form})) + 1;
    return is_date(out);
}

/* --- reading --- */

static bool eat_month(struct words *words, int *out)
{
    for (int i = 0; i < 12; i++)
        if (words_eat(words, months[i])) {
            words_eat(words, ".");
            *out = i + 1;
            return true;
        }
    return false;
}

static bool eat_year(struct words *words, int *out)
{
    words_eat(words, ",|of|de|del");
    return words_eat_digits(words, 4, 4, out);
}

static bool eat_parts(struct words *words, const char *sign, int parts[static 3], bool iso)
{
    return words_eat_digits(words, iso ? 4 : 1, iso ? 4 : 2, &parts[0]) && words_eat(words, sign) &&
           words_eat_digits(words, 1, 2, &parts[1]) && words_eat(words, sign) &&
           words_eat_digits(words, iso ? 1 : 4, iso ? 2 : 4, &parts[2]);
}

/* The cutting of words reads "14.05" of 14.05.2023 as one number. */
static bool eat_dots(struct words *words, struct date *out)
{
    int used = 0;
    char text[16];
    if (words_ended(words) || words->next + 2 >= words->count)
        return false;
    const struct word *word = &words->at[words->next];
    const struct word *last = &words->at[words->next + 2];
    size_t len = (size_t)(last->text.data + last->text.len - word->text.data);
    if (word->kind != WORD_NUMBER || last->kind != WORD_NUMBER || len >= sizeof text ||
        !last->glued || !last[-1].glued)
        return false;
    memcpy(text, word->text.data, len);
    text[len] = '\0';
    if (sscanf(text, "%2d.%2d.%4d%n", &out->day, &out->month, &out->year, &used) != 3 ||
        (size_t)used != len || out->year < 1000)
        return false;
    words->next += 3;
    return true;
}

static bool eat_form(struct words *words, enum form form, struct date *out)
{
    int parts[3];
    out->form = form;
    switch (form) {
    case FORM_ISO:
        if (!eat_parts(words, "-", parts, true))
            return false;
        *out = (struct date){parts[0], parts[1], parts[2], form};
        return true;
    case FORM_SLASHES: /* where both may be the month, nobody says which one is */
        if (!eat_parts(words, "/", parts, false) ||
            (parts[0] <= 12 && parts[1] <= 12 && parts[0] != parts[1]))
            return false;
        *out = parts[0] > 12 ? (struct date){parts[2], parts[1], parts[0], FORM_SLASHES_DAY}
                             : (struct date){parts[2], parts[0], parts[1], form};
        return true;
    case FORM_DOTS:
        return eat_dots(words, out);
    case FORM_DAY_FIRST:
        if (!words_eat_digits(words, 1, 2, &out->day))
            return false;
        words_eat(words, "st|nd|rd|th|.|er");
        words_eat(words, "of|de");
        return eat_month(words, &out->month) && eat_year(words, &out->year);
    default:
        if (!eat_month(words, &out->month) || !words_eat_digits(words, 1, 2, &out->day))
            return false;
        words_eat(words, "st|nd|rd|th");
        return eat_year(words, &out->year);
    }
}

static bool eat_date(struct words *words, struct date *out)
{
    words_eat(words, "the date|the day|the|dem|den|der|le|la|el|il|lo|o|il giorno");
    size_t begin = words->next;
    for (int form = FORM_ISO; form <= FORM_SLASHES; form++) {
        words->next = begin;
        if (eat_form(words, (enum form)form, out) && is_date(out))
            return true;
    }
    words->next = begin;
    return false;
}

enum step { STEP_DAY, STEP_WEEK, STEP_MONTH, STEP_YEAR };

static bool eat_step(struct words *words, enum step *out)
{
    static const char *const steps[] = {
        "days|day|tage|tag|tagen|jours|jour|días|dias|día|giorni|giorno|dagen|dag",
        "weeks|week|wochen|woche|semaines|semaine|semanas|semana|settimane|weken",
        "months|month|monate|monat|monaten|mois|meses|mes|mesi|maanden",
        "years|year|jahre|jahr|jahren|ans|an|años|año|anni|jaar"};
    for (int i = STEP_DAY; i <= STEP_YEAR; i++)
        if (words_eat(words, steps[i])) {
            *out = (enum step)i;
            return true;
        }
    return false;
}

/* --- writing --- */

static void write_date(const struct date *date, enum form form, struct buf *out)
{
    const char *month = month_names[date->month - 1];
    switch (form) {
    case FORM_ISO:
        buf_printf(out, "%04d-%02d-%02d", date->year, date->month, date->day);
        break;
    case FORM_DOTS:
        buf_printf(out, "%02d.%02d.%04d", date->day, date->month, date->year);
        break;
    case FORM_SLASHES:
        buf_printf(out, "%02d/%02d/%04d", date->month, date->day, date->year);
        break;
    case FORM_SLASHES_DAY:
        buf_printf(out, "%02d/%02d/%04d", date->day, date->month, date->year);
        break;
    case FORM_DAY_FIRST:
        buf_printf(out, "%d %s %d", date->day, month, date->year);
        break;
    default:
        buf_printf(out, "%s %d, %d", month, date->day, date->year);
        break;
    }
}

static bool move(struct date *date, long count, enum step step)
{
    if (step <= STEP_WEEK)
        return from_day_number(day_number(date) + count * (step == STEP_WEEK ? 7 : 1), date);
    long month = date->year * 12L + date->month - 1 + count * (step == STEP_YEAR ? 12 : 1);
    if (month < 12 || month / 12 > YEAR_MAX)
        return false;
    date->year = (int)(month / 12);
    date->month = (int)(month % 12) + 1;
    if (date->day > month_days(date->year, date->month))
        date->day = month_days(date->year, date->month);
    return true;
}

/* --- questions --- */

#define ASKS                                                                                     \
    "what day is it|which day is it|what date is it|what is the date|what's the date|"           \
    "whats the date|the date that is|the date is|it is|what day is|which day is|what date "      \
    "is|which date is|"                                                                          \
    "what will be the date|which day comes|what day comes|what day will it be|tell me the date|" \
    "calculate the date|when is|what is|what's|whats|the date|date|calculate|welches datum ist|" \
    "welcher tag ist|quelle est la date|quel jour est|qué fecha es|que fecha es|"               \
    "qué día es|che giorno è|starting from|:"

/* "3 weeks", "a month" */
static bool eat_distance(struct words *words, double *count, enum step *step)
{
    *count = 1;
    return (words_eat_number(words, count) ||
            words_eat(words, "an|a|one|eine|einen|ein|une|un|una")) &&
           eat_step(words, step) && *count <= COUNT_MAX && *count == (double)(long)*count;
}

/* "2024-06-01 + 30 days", "the date is 2 May 2024. What is the date 3 weeks later?" */
static bool eat_onward(struct words *words, double *count, enum step *step, bool *back)
{
    bool signed_before = words_eat(words, "-|minus|+|plus");
    if (signed_before) {
        struct td_str sign = words->at[words->next - 1].text;
        *back = str_equal(sign, STR("-")) || str_equal_nocase(sign, STR("minus"));
        return eat_distance(words, count, step);
    }
    while (words_eat(words, ASKS "|,|."))
        ;
    if (!eat_distance(words, count, step))
        return false;
    *back = words_eat(words, "earlier|before that|before|ago");
    return *back || words_eat(words, "later|after that|afterwards|after|on");
}

/* "3 weeks after 1 May 2023" */
static bool answer_moved(struct words *words, struct buf *out)
{
    struct date date;
    enum step step;
    double count;
    bool back;
    while (words_eat(words, ASKS))
        ;
    bool adds = words_eat(words, "add"),
         takes = !adds && words_eat(words, "subtract|take away|take");
    size_t begin = words->next;
    if (adds || takes) { /* "add 3 weeks to 2024-02-10" */
        back = takes;
        if (!eat_distance(words, &count, &step) || !words_eat(words, adds ? "to" : "from") ||
            !eat_date(words, &date))
            return false;
    } else if (eat_date(words, &date)) {
        if (!eat_onward(words, &count, &step, &back))
            return false;
    } else {
        words->next = begin;
        if (!eat_distance(words, &count, &step))
            return false;
        back =
            words_eat(words, "before|prior to|earlier than|vor|avant|antes de|antes del|prima di");
        if (!back && !words_eat(words, "after|from|later than|past|following|nach|après|"
                                       "después de|después del|dopo"))
            return false;
        if (!eat_date(words, &date))
            return false;
    }
    words_eat(words, "= ?|=");
    if (!words_ended(words) || !move(&date, back ? -(long)count : (long)count, step))
        return false;
    write_date(&date, date.form, out);
    return true;
}

/* "how many days are there from 2023-10-05 to 2023-10-31" */
static bool answer_between(struct words *words, struct buf *out)
{
    struct date from, to;
    enum step step;
    while (words_eat(
        words, "how many|the number of|number of|count the|count|calculate the|calculate|what is|"
               "how long is it|the difference in|difference in|wie viele|combien "
               "de|cuántos|cuantos|quanti"))
        ;
    bool counted = eat_step(words, &step);
    if (counted && step > STEP_WEEK)
        return false;
    while (words_eat(words,
                     "are there|is it|is there|are|is|lie|passed|will pass|sind es|sind|liegen|hay|"
                     "y a - t - il|il y a|ci sono|pass|do we have"))
        ;
    words_eat(words, "in days :");
    words_eat(words, "between|from|zwischen|vom|von|entre|du|desde|del|tra|dal|:");
    if (!eat_date(words, &from) ||
        !words_eat(words, "and|to|until|till|und|bis zum|bis|et|au|y|hasta el|hasta|e|al") ||
        !eat_date(words, &to))
        return false;
    words_eat(words, ": how many|in|, in");
    if (!counted && (!eat_step(words, &step) || step > STEP_WEEK))
        return false;
    long days = labs(day_number(&to) - day_number(&from));
    if (!words_ended(words) || (step == STEP_WEEK && days % 7 != 0))
        return false;
    long count = step == STEP_WEEK ? days / 7 : days;
    buf_printf(out, "%ld %s%s", count, step == STEP_WEEK ? "week" : "day", PLURAL(count));
    return true;
}

/* "what day of the week was 14 July 1789" */
static bool answer_weekday(struct words *words, struct buf *out)
{
    struct date date;
    if (!words_eat(words, "what day of the week|which day of the week|what weekday|which "
                          "weekday|what day|which day|"
                          "day of the week|weekday|welcher wochentag|quel jour de la semaine"))
        return false;
    words_eat(words, "is it on|was it on|is|was|of|will be|does|did|war|ist|était|:");
    if (!eat_date(words, &date))
        return false;
    words_eat(words, "fall on|fall|be");
    if (!words_ended(words))
        return false;
    buf_append_str(out, str_from(day_names[(day_number(&date) + 2) % 7]));
    return true;
}

/* "4:30 pm", "16:30" */
static bool eat_clock(struct words *words, int *hour, int *minute, bool *half)
{
    *minute = 0;
    if (!words_eat_digits(words, 1, 2, hour))
        return false;
    bool colon = words_eat(words, ":");
    if (colon && !words_eat_digits(words, 2, 2, minute))
        return false;
    bool pm = words_eat(words, "pm|p . m .|p . m");
    *half = pm || words_eat(words, "am|a . m .|a . m");
    if ((!colon && !*half) || *minute > 59 || *hour > 23 || (*half && (*hour < 1 || *hour > 12)))
        return false;
    if (*half)
        *hour = *hour % 12 + (pm ? 12 : 0);
    return true;
}

struct rewriting {
    bool has_date, has_clock, has_form, to_24, to_12, half;
    struct date date;
    enum form form;
    int hour, minute;
};

/* Eats one of the two halves of a rewriting: what is rewritten, or the form it is to have. */
static bool eat_rewriting(struct words *words, struct rewriting *it)
{
    static const struct {
        const char *names;
        enum form form;
    } forms[] = {
        {"iso 8601|iso|yyyy - mm - dd", FORM_ISO},
        {"dd . mm . yyyy|german|european", FORM_DOTS},
        {"mm / dd / yyyy|us|american", FORM_SLASHES},
        {"words|long form|long", FORM_MONTH_FIRST},
    };
    size_t begin = words->next;
    if (!it->has_form && !it->to_24 && !it->to_12) {
        for (size_t i = 0; i < sizeof forms / sizeof *forms; i++)
            if (words_eat(words, forms[i].names)) {
                it->form = forms[i].form;
                return it->has_form = true;
            }
        if (words_eat(words, "24 - hour|24 hour|24 hours|24 h|24h|military"))
            return it->to_24 = true;
        if (words_eat(words, "12 - hour|12 hour|12 hours|12 h|12h|am / pm"))
            return it->to_12 = true;
    }
    if (it->has_date || it->has_clock)
        return false;
    if (eat_date(words, &it->date))
        return it->has_date = true;
    words->next = begin;
    if (eat_clock(words, &it->hour, &it->minute, &it->half))
        return it->has_clock = true;
    words->next = begin;
    return false;
}

/* "March 9, 1999 in YYYY-MM-DD", "4:30 pm in 24 hour time", "Time: 3:30 AM\n24h:" */
static bool answer_rewritten(struct words *words, struct buf *out)
{
    struct rewriting it = {0};
    while (!words_ended(words))
        if (!eat_rewriting(words, &it) &&
            !words_eat(
                words,
                "can you|could you|convert|write|rewrite|turn|change|put|format|reformat|express|"
                "normalise|normalize|standardise|standardize|parse|print|show|give|return|"
                "render|state|spell|bring|what is|what's|whats|i need|use|and return|it|me|"
                "using|this|that|the|a|date|day|time|clock|notation|target|output|input|wanted|"
                "text|"
                "value|form|in|into|to|as|on|for|only|is|please|:|.|,|?|(|)|\"|>|- >|-"))
            return false;
    if (it.has_date && it.has_form && it.form != it.date.form) {
        write_date(&it.date, it.form, out);
        return true;
    }
    if (it.has_clock && it.to_24 && it.half)
        buf_printf(out, "%02d:%02d", it.hour, it.minute);
    else if (it.has_clock && it.to_12 && !it.half)
        buf_printf(out, "%d:%02d %s", (it.hour + 11) % 12 + 1, it.minute,
                   it.hour < 12 ? "AM" : "PM");
    else
        return false;
    return true;
}

bool dates_answer(struct words *words, struct buf *out)
{
    bool (*const questions[])(struct words *, struct buf *) = {answer_moved, answer_between,
                                                               answer_weekday, answer_rewritten};
    size_t begin = words->next;
    for (size_t i = 0; i < sizeof questions / sizeof *questions; i++) {
        words->next = begin;
        if (questions[i](words, out))
            return true;
    }
    words->next = begin;
    return false;
}
