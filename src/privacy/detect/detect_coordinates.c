/* Where something is: decimal degrees in pairs ("48.8584, 2.2945"; four decimals or more are 11 m
 * and less, so a place, while two are weather), and degrees with minutes and seconds. */
#include "privacy/detect/detect.h"

#include <string.h>

#define REACH 48

struct degrees {
    double value;
    size_t decimals, end;
    int letter; /* N, S, E, W or 0 */
};

static bool read_letter(struct td_str text, struct degrees *degrees)
{
    struct plain next = plain_at(text, degrees->end);
    if (next.c == ' ')
        next = plain_at(text, next.end);
    int upper = next.c > 0 && ascii_is_letter(next.c) ? next.c & ~0x20 : 0;
    if (upper != 'N' && upper != 'S' && upper != 'E' && upper != 'W' && upper != 'O')
        return false;
    if (is_word(plain_at(text, next.end).c))
        return false;
    degrees->letter = upper;
    degrees->end = next.end;
    return true;
}

/* A decimal number with an optional sign, degree sign and letter. */
static bool read_decimal(struct td_str text, size_t offset, struct degrees *degrees)
{
    struct plain next = plain_at(text, offset);
    double sign = 1, scale = 1;
    size_t whole = 0;
    *degrees = (struct degrees){0};
    if (next.c == '-' || next.c == '+') {
        sign = next.c == '-' ? -1 : 1;
        next = plain_at(text, next.end);
    }
    for (; ascii_is_digit(next.c) && whole < 4; next = plain_at(text, next.end), whole++) {
        degrees->value = degrees->value * 10 + next.c - '0';
        degrees->end = next.end;
    }
    if (whole == 0 || whole > 3 || next.c != '.')
        return false;
    next = plain_at(text, next.end);
    for (; ascii_is_digit(next.c) && degrees->decimals < 16; next = plain_at(text, next.end)) {
        scale /= 10;
        degrees->value += (next.c - '0') * scale;
        degrees->decimals++;
        degrees->end = next.end;
    }
    degrees->value *= sign;
    if (degrees->end + 1 < text.len && (unsigned char)text.data[degrees->end] == 0xC2 &&
        (unsigned char)text.data[degrees->end + 1] == 0xB0)
        degrees->end += 2; /* U+00B0 */
    if (!read_letter(text, degrees) && is_word(plain_at(text, degrees->end).c))
        return false;
    return degrees->decimals > 0;
}

/* 48°51'29.6"N: the signs may be the typographic ones; the letter is needed. */
static bool read_sexagesimal(struct td_str text, size_t offset, struct degrees *degrees)
{
    static const double limits[] = {180, 59, 60};
    *degrees = (struct degrees){0};
    for (int part = 0; part < 3; part++) {
        struct plain next = plain_at(text, offset);
        while (part > 0 && next.c == ' ')
            next = plain_at(text, next.end);
        double value = 0;
        size_t digits = 0, end = next.begin;
        for (; (ascii_is_digit(next.c) || (next.c == '.' && digits > 0)) && digits < 8; digits++) {
            if (ascii_is_digit(next.c) && digits < 3)
                value = value * 10 + next.c - '0';
            end = next.end;
            next = plain_at(text, end);
        }
        if (digits == 0)
            return part == 2 && read_letter(text, degrees);
        if (part < 2 && value > limits[part])
            return false;
        int sign = next.c;
        bool degree = next.begin + 1 < text.len && (unsigned char)text.data[next.begin] == 0xC2 &&
                      (unsigned char)text.data[next.begin + 1] == 0xB0;
        if (part == 0 ? !degree : sign != '\'' && sign != '"' && sign != PLAIN_OTHER)
            return false;
        degrees->value += part == 0 ? value : part == 1 ? value / 60 : value / 3600;
        degrees->end = offset = next.end;
        if (part == 2 && sign == '\'' && plain_at(text, offset).c == '\'')
            degrees->end = plain_at(text, offset).end;
    }
    return read_letter(text, degrees);
}

static size_t skip_between(struct td_str text, size_t offset, bool *comma)
{
    *comma = false;
    for (int i = 0; i < 4; i++) {
        struct plain next = plain_at(text, offset);
        if (next.c != ' ' && next.c != ',' && next.c != ';' && next.c != '/')
            break;
        *comma |= next.c != ' ';
        offset = next.end;
    }
    return offset;
}

/* Of three or more numbers in a row two are no place: "[0.1813, -0.4198, 0.2729]". */
static bool is_vector(const struct place *place, size_t end)
{
    struct degrees third;
    bool comma;
    size_t next = skip_between(place->text, end, &comma);
    if (comma && read_decimal(place->text, next, &third) && third.decimals >= 3)
        return true;
    struct word before =
        spelled_before(place->text, place->before == '-' ? place->before_begin : place->begin, 2);
    return before.begin < before.end && before.begin > 0 && before.end < place->begin &&
           memchr(place->text.data + before.end, ',', place->begin - before.end) != NULL &&
           ascii_is_digit((unsigned char)place->text.data[before.end - 1]) &&
           place->text.data[before.begin - 1] == '.';
}

/* "[52.5200, 13.4050]" without a word that says what it is: a program's list of two numbers. */
static bool is_of_a_list(const struct place *place, size_t begin, size_t end)
{
    return begin > 0 && strchr("[{", place->text.data[begin - 1]) != NULL &&
           end < place->text.len && strchr("]}", place->text.data[end]) != NULL;
}

/* Both below one: a probability, a weight, a part of something; as a place the open sea off Ghana.
 */
static bool is_at_sea(const struct degrees *first, const struct degrees *second)
{
    return first->value < 1 && first->value > -1 && second->value < 1 && second->value > -1;
}

static bool find_coordinates(const struct place *place, struct privacy_span *out)
{
    const struct window *window = place->window;
    struct td_str text = place->text;
    struct degrees first, second;
    size_t run = window->run, begin = place->begin;
    bool comma;
    if (run == 0 || run > 3 || (place->before == '.' && is_word(place->before2)) ||
        is_word(place->before))
        return false;
    size_t mark = window->end[run - 1];
    bool fraction = window->c[run] == '.' && ascii_is_digit(window->c[run + 1]);
    if (!fraction && window->c[run] < 0x80)
        return false; /* no degree sign either */
    bool announced = place_context(place, PRIVACY_COORDINATES, REACH);
    if (mark + 1 < text.len && (unsigned char)text.data[mark] == 0xC2 &&
        (unsigned char)text.data[mark + 1] == 0xB0) {
        if (!read_sexagesimal(text, begin, &first))
            return false;
        size_t next = skip_between(text, first.end, &comma);
        size_t end = first.end;
        if (ascii_is_digit(plain_at(text, next).c) && read_sexagesimal(text, next, &second))
            end = second.end;
        *out = (struct privacy_span){
            .kind = PRIVACY_COORDINATES, .begin = begin, .end = end, .score = 0.9f};
        return true;
    }
    if (!fraction)
        return false;
    if (place->before == '-' && !is_word(place->before2))
        begin = place->before_begin;
    if (!read_decimal(text, begin, &first) || first.decimals < 3 || first.value > 180 ||
        first.value < -180)
        return false;
    size_t next = skip_between(text, first.end, &comma);
    bool pair = next > first.end &&
                (ascii_is_digit(plain_at(text, next).c) || plain_at(text, next).c == '-') &&
                read_decimal(text, next, &second) && second.decimals >= 3 && second.value <= 180 &&
                second.value >= -180 && first.value <= 90 && first.value >= -90;
    if (!pair && !(announced && first.decimals >= 4))
        return false;
    if (pair && !announced && !first.letter && is_vector(place, second.end))
        return false;
    if (pair && !announced && !first.letter &&
        (!comma || first.decimals < 4 || second.decimals < 4 ||
         is_of_a_list(place, begin, second.end) || is_at_sea(&first, &second)))
        return false;
    *out = (struct privacy_span){.kind = PRIVACY_COORDINATES,
                                 .begin = begin,
                                 .end = pair ? second.end : first.end,
                                 .score = announced || first.letter ? 0.95f : 0.7f};
    return true;
}

const struct detector detector_coordinates = {
    .kinds = {PRIVACY_COORDINATES, KINDS_END},
    .triggers = ON(NUMBER),
    .any = NUMBER_DOT | NUMBER_OTHER,
    .find = find_coordinates,
};
