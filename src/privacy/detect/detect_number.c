/* All that may begin at a number. Rows of numbers are what is cheapest to write and dearest to judge, so
 * every detector that costs something is asked only where its form can begin: by the digits in front, by
 * what follows them, by whether there are letters near. The window and the words beside are read once
 * for all. */
#include "privacy/detect/detect.h"

static bool parts_numbers(int c)
{
    return c == ' ' || c == '-' || c == '.' || c == '/' || c == ',' || c == '(' || c == ')' ||
           c == ':';
}

/* The words beside a number. In a row of numbers these are numbers, which need not be read again; nor
 * need a word between two numbers. */
static struct word previous_of(const struct numbers *numbers, const struct place *place)
{
    size_t end = numbers->last.end;
    if (numbers->behind.end != 0 && numbers->behind.end == place->before_begin &&
        numbers->behind.end + 1 == place->begin && place->before == ' ')
        return numbers->behind;
    return end != 0 && end == place->before_begin && end + 1 == place->begin &&
                   parts_numbers(place->before)
               ? numbers->last
               : word_before(place->text, place->begin, 2);
}

static struct word next_of(const struct window *window, struct td_str text)
{
    size_t i = window->run + 1, end = window->end[window->run - 1];
    if (i < window->count && is_digit(window->c[i]) && parts_numbers(window->c[i - 1])) {
        size_t count = window_digits(window, i), begin = window->begin[i];
        if (i + count < window->count && begin == end + 1 &&
            window->end[i + count - 1] == begin + count &&
            window->end[i + count] == begin + count + 1)
            return (struct word){.begin = begin, .end = begin + count, .digits = true};
    }
    return word_after(text, end, 1);
}

struct findings {
    struct privacy_span *spans;
    size_t count;
};

/* The next place of the list; it counts when the detector says so. */
static inline struct privacy_span *next_span(const struct findings *findings)
{
    return &findings->spans[findings->count];
}

/* Cards, telephones and their like. */
static void find_long(const struct place *place, const struct window *window,
                      struct findings *findings)
{
    int behind = window->c[window->run];
    bool inside = is_digit(place->before2) && (place->before == ' ' || place->before == '-');
    if (window->digits >= 4 && window->count >= 7) {
        if (behind == '.' && window->run <= 3)
            findings->count += detect_ip4(place, window, next_span(findings));
        if (window->run >= 3 || !inside)
            findings->count += detect_card(place, window, next_span(findings));
        findings->count += detect_ssn(place, window, next_span(findings));
        if (window->digits >= 7)
            findings->count += detect_phone(place, window, next_span(findings));
    }
    if (window->digits >= 7 || is_alpha(behind) || behind == '+')
        findings->count += detect_national_number(place, window, next_span(findings));
}

/* Dates, ages and what else has few digits. */
static void find_brief(const struct place *place, const struct window *window,
                       struct findings *findings)
{
    size_t run = window->run;
    int behind = window->c[run];
    bool letters_behind = word_has_letters(place->next);
    if (run <= 4 || run == 8)
        findings->count += detect_date(place, window, next_span(findings));
    findings->count += detect_pin(place, window, next_span(findings));
    if (run <= 3 && (letters_behind || word_has_letters(place->previous)))
        findings->count += detect_age(place, window, next_span(findings));
    if (letters_behind || behind == '.' || behind == '/' || detect_dose_possible(place, window))
        findings->count += detect_dose(place, window, next_span(findings));
    if (run <= 3 && (behind == '.' || behind >= PLAIN_OTHER))
        findings->count += detect_coordinates(place, window, next_span(findings));
}

/* The end of a date with its day, month and year among the findings, 0 none. */
static size_t end_of_date(const struct findings *findings)
{
    for (size_t i = 0; i < findings->count; i++)
        if (findings->spans[i].kind == PRIVACY_DATE &&
            findings->spans[i].end - findings->spans[i].begin >= 8)
            return findings->spans[i].end;
    return 0;
}

size_t detect_number(struct numbers *numbers, struct place *place, size_t word_end,
                     struct privacy_span out[static NUMBER_FINDINGS_MAX])
{
    struct window *window = &numbers->window;
    struct findings findings = {out, 0};
    if (window->count == 0 || !window_move(window, place->begin))
        window_read(place->text, place->begin, window);
    struct word previous = previous_of(numbers, place), next = next_of(window, place->text);
    if (word_has_letters(&next) && next.begin > window->end[window->run - 1])
        numbers->behind = next;
    place->previous = &previous;
    place->next = &next;
    if (word_end - place->begin == window->run)
        numbers->last = (struct word){.begin = place->begin, .end = word_end, .digits = true};
    find_long(place, window, &findings);
    find_brief(place, window, &findings);
    if (place->begin >= numbers->address_end &&
        detect_address(&numbers->streets, place, window, next_span(&findings)))
        numbers->address_end = out[findings.count++].end;
    bool in_date = place->begin < numbers->date_end;
    size_t date_end = end_of_date(&findings);
    if (date_end != 0)
        numbers->date_end = date_end;
    if (!in_date)
        findings.count += detect_document(place, date_end != 0, next_span(&findings));
    return findings.count;
}
