/* Reads a number and asks the detectors of numbers. Rows of numbers are the cheapest text to write
 * and the most expensive to judge. So the digits and the words next to a number are read once for
 * all detectors and all numbers of a row. The shape, which is known at once, rules out most
 * detectors. */
#include "privacy/scan/pass.h"
#include "privacy/scan/regroup.h"

#define ANNOUNCED_REACH 48 /* bytes between an announcing word and a row of numbers */

static bool parts_numbers(int c)
{
    return c == ' ' || c == '-' || c == '.' || c == '/' || c == ',' || c == '(' || c == ')' ||
           c == ':';
}

/* The words beside a number. In a row of numbers these are numbers, which need not be read again;
 * nor need a word between two numbers. */
static struct word previous_of(const struct numbers *numbers, const struct place *place)
{
    size_t end = numbers->last.end;
    if (numbers->after.end != 0 && numbers->after.end == place->before_begin &&
        numbers->after.end + 1 == place->begin && place->before == ' ')
        return numbers->after;
    return end != 0 && end == place->before_begin && end + 1 == place->begin &&
                   parts_numbers(place->before)
               ? numbers->last
               : word_before(place->text, place->begin, 2);
}

static struct word next_of(const struct window *window, struct td_str text)
{
    size_t i = window->run + 1, end = window->end[window->run - 1];
    if (i < window->count && ascii_is_digit(window->c[i]) && parts_numbers(window->c[i - 1])) {
        size_t count = window_digits(window, i), begin = window->begin[i];
        if (i + count < window->count && begin == end + 1 &&
            window->end[i + count - 1] == begin + count &&
            window->end[i + count] == begin + count + 1)
            return (struct word){.begin = begin, .end = begin + count, .digits = true};
    }
    return word_after(text, end, 1);
}

/* "5 \xc2\xb5g" */
static uint32_t sign_after_blank(const struct place *place)
{
    const struct window *window = place->window;
    size_t next = window->end[window->run];
    return next < place->text.len && (unsigned char)place->text.data[next] >= 0x80 ? NUMBER_OTHER
                                                                                   : 0;
}

static uint32_t shape_of(const struct place *place)
{
    const struct window *window = place->window;
    int after = window->c[window->run];
    bool goes_on = ascii_is_digit(place->before2) && (place->before == ' ' || place->before == '-');
    uint32_t shape = SHAPE_ALWAYS | NUMBER_RUN(window->run < 9 ? window->run : 9);
    shape |= window->digits >= 4 && window->count >= 7 ? NUMBER_IN_GROUPS : 0;
    shape |= window->digits >= 7 ? NUMBER_7_DIGITS : 0;
    shape |= goes_on ? 0 : NUMBER_FIRST;
    shape |= after == '.'             ? NUMBER_DOT
             : after == '/'           ? NUMBER_SLASH
             : after == '+'           ? NUMBER_PLUS
             : ascii_is_letter(after) ? NUMBER_LETTER
             : after == ','           ? NUMBER_COMMA
             : after >= PLAIN_OTHER   ? NUMBER_OTHER
             : after == ' '           ? sign_after_blank(place)
                                      : 0;
    shape |= word_has_letters(place->previous) ? NUMBER_WORD_BEFORE : 0;
    shape |= word_has_letters(place->next) ? NUMBER_WORD_AFTER : 0;
    return shape;
}

void scan_number(struct pass *pass, const struct run *run)
{
    struct numbers *numbers = &pass->numbers;
    struct place *place = &pass->place;
    struct window *window = &numbers->window;
    if (is_word(place->before))
        return;
    if (window->count == 0 || !window_move(window, place->begin))
        window_read(place->text, place->begin, window);
    numbers->previous = previous_of(numbers, place);
    numbers->next = next_of(window, place->text);
    if (word_has_letters(&numbers->next) && numbers->next.begin > window->end[window->run - 1])
        numbers->after = numbers->next;
    if (run->long_end - place->begin == window->run)
        numbers->last = (struct word){.begin = place->begin, .end = run->long_end, .digits = true};
    place->window = window;
    place->previous = &numbers->previous;
    place->next = &numbers->next;
    place->shape = shape_of(place);
    (void)detectors_ask(TRIGGER_NUMBER, place, settle_add, &pass->found);
    if (place->begin >= pass->row_end && pass_decodes(pass)) {
        bool announced = pass->announced != 0 && place->begin < pass->announced + ANNOUNCED_REACH;
        pass->row_end = regroup_scan_row(place, announced, settle_add, &pass->found);
    }
    place->window = NULL;
    place->previous = place->next = NULL;
}
