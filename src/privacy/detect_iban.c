/* IBAN: country, its length, and ISO 7064 mod 97-10 over the rearranged number (ISO 13616). One
 * to three spaces, dashes and dots may stand between groups of any size, for the check is strong; letters
 * may be small, or another script's that look the same. */
#include "privacy/detect.h"

#define IBAN_MAX 34

/* SWIFT IBAN registry, release 99, and the unregistered ones in use (last rows). */
static const struct {
    char country[3];
    uint8_t length;
} countries[] = {
    {"AD", 24}, {"AE", 23}, {"AL", 28}, {"AT", 20}, {"AZ", 28}, {"BA", 20}, {"BE", 16}, {"BG", 22},
    {"BH", 22}, {"BI", 27}, {"BR", 29}, {"BY", 28}, {"CH", 21}, {"CR", 22}, {"CY", 28}, {"CZ", 24},
    {"DE", 22}, {"DJ", 27}, {"DK", 18}, {"DO", 28}, {"EE", 20}, {"EG", 29}, {"ES", 24}, {"FI", 18},
    {"FK", 18}, {"FO", 18}, {"FR", 27}, {"GB", 22}, {"GE", 22}, {"GI", 23}, {"GL", 18}, {"GR", 27},
    {"GT", 28}, {"HN", 28}, {"HR", 21}, {"HU", 28}, {"IE", 22}, {"IL", 23}, {"IQ", 23}, {"IS", 26},
    {"IT", 27}, {"JO", 30}, {"KW", 30}, {"KZ", 20}, {"LB", 28}, {"LC", 32}, {"LI", 21}, {"LT", 20},
    {"LU", 20}, {"LV", 21}, {"LY", 25}, {"MC", 27}, {"MD", 24}, {"ME", 22}, {"MK", 19}, {"MN", 20},
    {"MR", 27}, {"MT", 31}, {"MU", 30}, {"NI", 28}, {"NL", 18}, {"NO", 15}, {"OM", 23}, {"PK", 24},
    {"PL", 28}, {"PS", 29}, {"PT", 25}, {"QA", 29}, {"RO", 24}, {"RS", 22}, {"RU", 33}, {"SA", 24},
    {"SC", 31}, {"SD", 18}, {"SE", 24}, {"SI", 19}, {"SK", 24}, {"SM", 27}, {"SO", 23}, {"ST", 25},
    {"SV", 28}, {"TL", 23}, {"TN", 24}, {"TR", 26}, {"UA", 29}, {"VA", 22}, {"VG", 24}, {"XK", 20},
    {"YE", 30}, {"DZ", 26}, {"AO", 25}, {"BJ", 28}, {"BF", 28}, {"CV", 25}, {"CM", 27}, {"CF", 27},
    {"TD", 27}, {"KM", 27}, {"CG", 27}, {"GA", 27}, {"GQ", 27}, {"GW", 25}, {"IR", 26}, {"CI", 28},
    {"MG", 27}, {"ML", 28}, {"MA", 28}, {"MZ", 25}, {"NE", 28}, {"SN", 28}, {"TG", 28},
};

static size_t country_length(int first, int second)
{
    for (size_t i = 0; i < sizeof countries / sizeof countries[0]; i++)
        if (countries[i].country[0] == first && countries[i].country[1] == second)
            return countries[i].length;
    return 0;
}

static unsigned mod97_add(unsigned remainder, int c)
{
    return is_digit(c) ? (remainder * 10 + (unsigned)(c - '0')) % 97
                       : (remainder * 100 + (unsigned)(c - 'A' + 10)) % 97;
}

bool detect_iban(const struct place *place, struct privacy_span *out)
{
    int number[IBAN_MAX];
    size_t count = 0, length = 4, offset = place->begin, end = place->begin;
    bool grouped = false;
    while (count < length) {
        struct plain next = plain_look_alike(place->text, plain_at(place->text, offset));
        for (int k = 0; k < 3 && count > 0 && (next.c == ' ' || next.c == '-' || next.c == '.');
             k++) {
            next = plain_look_alike(place->text, plain_at(place->text, next.end));
            grouped = true;
        }
        if (!is_alnum(next.c) || (count < 2 && !is_alpha(next.c)) ||
            ((count == 2 || count == 3) && !is_digit(next.c)))
            return false;
        number[count++] = is_alpha(next.c) ? next.c & ~0x20 : next.c;
        if (count == 2 && (length = country_length(number[0], number[1])) == 0)
            return false;
        offset = end = next.end;
    }
    if (is_alnum(plain_at(place->text, end).c))
        return false; /* runs on */
    unsigned remainder = 0;
    for (size_t i = 4; i < count; i++)
        remainder = mod97_add(remainder, number[i]);
    for (size_t i = 0; i < 4; i++)
        remainder = mod97_add(remainder, number[i]);
    if (remainder != 1)
        return false;
    *out = span_of(PRIVACY_IBAN, place->begin, end, grouped ? 0.95f : 1.0f);
    return true;
}
