/* Licence plates: the series that countries issue, letters and digits in groups. Beside a word that
 * announces one other series are taken too (detect_document.c); here is what says where a plate ends,
 * for "AB12 CDE was" goes on in capitals or does not. */
#include "privacy/detect/detect.h"

#include <string.h>

#define CHARACTERS_MAX 11
#define GROUPS_MAX 4

static const char *const series[] = {
    "LLDDLLL",                                          /* United Kingdom, Romania */
    "LDDDLLL",   "LLLDDDL",                             /* United Kingdom until 2001 */
    "LLDDDLL",                                          /* France, Italy */
    "DDDDLLL",                                          /* Spain */
    "LLDDLDDDD", "LLDDLLDDDD", "LLDDLLLDDDD",           /* India */
    "LLDDDL",    "DDLLLD",     "LDDDLL",      "DLLLDD", /* Netherlands */
    "LLDDLL",    "DDLLDD",     "DDDDLL",      "LLDDDD", /* Portugal */
    "LLDDDDD",   "LLDDDDDD",   "LLLDDDDD",              /* Poland, Norway, Denmark, Switzerland */
    "LLDDDDL",   "LLLDDLL",                             /* Poland, Austria */
    "LLLDDD",    "LLLDDL",     "LLLLDDD",               /* Sweden, Finland, Hungary, Australia */
    "DLLDLL",    "DDDLLL",     "DLLLDDD",               /* Australia; United States, Belgium */
    "LLLDDDD",   "LLLDLDD",                             /* United States, Germany, Brazil */
    "LLLLDDDD",  "LLLLLDDDD",  "LLLLLDDD",              /* Germany */
    "DLDDDDD",   "DLLDDDD",                             /* Czechia */
};

static bool is_series(const char *form)
{
    for (size_t i = 0; i < sizeof series / sizeof *series; i++)
        if (strcmp(series[i], form) == 0)
            return true;
    return false;
}

size_t plate_end(const struct place *place)
{
    char form[CHARACTERS_MAX + 1] = "";
    size_t count = 0, end = 0, offset = place->begin;
    for (size_t group = 0; group < GROUPS_MAX; group++) {
        struct plain next = plain_at(place->text, offset);
        size_t begin = count;
        for (; is_digit(next.c) || (next.c >= 'A' && next.c <= 'Z');
             next = plain_at(place->text, next.end)) {
            if (count == CHARACTERS_MAX)
                return end;
            form[count++] = is_digit(next.c) ? 'D' : 'L';
            form[count] = '\0';
            offset = next.end;
        }
        if (count == begin || is_word(next.c))
            break;
        if (is_series(form))
            end = offset;
        if (next.c != ' ' && next.c != '-')
            break;
        offset = next.end;
    }
    return end;
}
