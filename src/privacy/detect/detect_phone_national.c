/* National telephone numbers by their grouping: what the numbering plans of these countries print.
 * Digits alone say little, so a form has its trunk prefix or its first digits, one kind of separator,
 * and no grouping that thousands or dates have as well. Beside a telling word any grouping is taken
 * (detect_phone.c). */
#include "privacy/detect/detect.h"

#include "base/str.h"

#define GROUPS_MAX 6

struct groups {
    size_t count, digits, end; /* end: index after the last digit in the window */
    uint8_t lens[GROUPS_MAX];
    unsigned form;         /* lens as one decimal number */
    char sign[GROUPS_MAX]; /* behind each but the last */
};

/* By lens, so that a number finds its own. */
static const struct {
    unsigned lens;     /* digits of each group, as one decimal number */
    const char *first; /* what the number begins with, by '|'; "" anything */
    const char *signs; /* that may part the groups */
    float score;
} forms[] = {
    {27, "0", "/-", 0.6f},  /* Italy, Austria: 02/6845045 */
    {28, "0", "/- ", 0.6f}, /* 06-12345678 */
    {36, "0", "/-", 0.6f},
    {37, "0", " /-", 0.6f}, /* Netherlands 020-1234567, Germany */
    {38, "0", " /-", 0.6f},
    {46, "0", " /-", 0.65f},
    {47, "0", " /-", 0.65f},
    {48, "0", "/-", 0.6f},
    {54, "0", " /-", 0.55f},
    {55, "0|6|7|8|9", " -", 0.55f}, /* India */
    {56, "0", " -/", 0.7f},         /* United Kingdom, Germany */
    {57, "0", "/-", 0.6f},
    {234, "0", " -", 0.6f},                       /* Korea 02-123-4567 */
    {244, "0|55|33|81", " -", 0.65f},             /* Australia 02, Japan 03; Mexico 55 */
    {323, "4|9|8", " ", 0.5f},                    /* Norway 432 03 163 */
    {333, "5|6|7|8|9", " -", 0.45f},              /* Spain, Poland, Portugal */
    {334, "0", " -", 0.7f},                       /* South Africa, Finland, Israel, Korea */
    {335, "0", " -", 0.6f},                       /* Germany 030 123 45678 */
    {343, "0", " -", 0.65f},                      /* Finland 040 1234 567 */
    {344, "0|13|14|15|16|17|18|19", " -", 0.75f}, /* UK 020, Japan 090, Korea 010; China 1xx */
    {433, "0|1300|1800", " -", 0.7f},             /* Australia 0412 345 678, Netherlands */
    {434, "0|1800|1300", " -", 0.75f},            /* United Kingdom: 0161 496 0000 */
    {533, "0", " -", 0.75f},                      /* United Kingdom: 07700 063 966 */
    {1322, "8|9", " ", 0.4f},
    {1334, "8", "- ", 0.5f},
    {2222, "2|3|4|5|6|7|8|9", "-", 0.6f}, /* Denmark, Norway: 60-56-85-91 */
    {2322, "0", " ./-", 0.7f},            /* Belgium, Sweden: 02 123 45 67 */
    {2322, "9|8|5|2|3", "- ", 0.5f},      /* Spain 91 123 45 67, Ukraine */
    {2332, "0", " -", 0.65f},             /* Sweden: 08-123 456 78 */
    {2422, "0", " -", 0.6f},              /* Austria */
    {3222, "6|7|8|9", " ", 0.55f},        /* Spain 612 34 56 78 */
    {3222, "0", " -", 0.65f},             /* Sweden: 031-12 34 56 */
    {3322, "0", " .-/", 0.75f},           /* Switzerland, Sweden, Turkey */
    {3422, "0", " -", 0.65f},             /* Finland */
    {4222, "0", " ./-", 0.75f},           /* Belgium: 0490 39 07 81 */
    {4322, "0", " -", 0.7f},              /* Austria, Finland 0680 298 70 63 */
    {5322, "0", " -", 0.65f},
    {13322, "8", "- ", 0.7f},   /* Russia */
    {22222, "0", " .-", 0.75f}, /* France: 01 84 17 61 18 */
};

static bool read_groups(const struct window *window, bool bracket, struct groups *groups)
{
    size_t i = 0;
    *groups = (struct groups){0};
    while (groups->count < GROUPS_MAX) {
        size_t run = window_digits(window, i);
        if (run == 0 || run > 9)
            return false;
        groups->lens[groups->count++] = (uint8_t)run;
        groups->digits += run;
        groups->form = groups->form * 10 + (unsigned)run;
        i += run;
        groups->end = i;
        int sign = window->c[i];
        if (bracket && groups->count == 1) {
            if (sign != ')')
                return false;
            i += 1 + (window->c[i + 1] == ' ' || window->c[i + 1] == '-');
        } else if ((sign == ' ' || sign == '-' || sign == '.' || sign == '/') &&
                   i + 1 < window->count && is_digit(window->c[i + 1])) {
            groups->sign[groups->count - 1] = (char)sign;
            i++;
        } else {
            break;
        }
        if (!is_digit(window->c[i]))
            return false;
    }
    return groups->count > 1 && !is_digit(window->c[groups->end]);
}

/* Behind the first separator, which may differ ("0171/123 456"), all are alike. */
static bool signs_fit(const struct groups *groups, const char *signs)
{
    for (size_t i = 0; i + 1 < groups->count; i++)
        if (strchr(signs, groups->sign[i]) == NULL || groups->sign[i] == '\0' ||
            (i > 1 && groups->sign[i] != groups->sign[1]))
            return false;
    return true;
}

static bool first_fits(const struct window *window, const char *first)
{
    for (const char *p = first; *p;) {
        size_t len = strcspn(p, "|"), i = 0, at = 0;
        while (i < len && at < window->count) {
            if (is_digit(window->c[at])) {
                if (window->c[at] != p[i])
                    break;
                i++;
            }
            at++;
        }
        if (i == len)
            return true;
        p += len + (p[len] == '|');
    }
    return *first == '\0';
}

/* The first form of this grouping. */
static size_t first_form(unsigned lens)
{
    size_t begin = 0, end = sizeof forms / sizeof *forms;
    while (begin < end) {
        size_t middle = (begin + end) / 2;
        if (forms[middle].lens < lens)
            begin = middle + 1;
        else
            end = middle;
    }
    return begin;
}

size_t phone_national(const struct place *place, const struct window *window, float *score)
{
    struct groups groups;
    bool bracket = place->before == '(';
    if (place->before == ' ' && is_digit(place->before2))
        return 0; /* a piece of a longer row of numbers */
    if (!read_groups(window, bracket, &groups))
        return 0;
    if (bracket) { /* (08) 8747 6301, (11) 91234-5678, (37) 788-063 */
        *score = 0.65f;
        bool fits = groups.count >= 2 && groups.lens[0] >= 2 && groups.lens[0] <= 5 &&
                    groups.digits >= 7 && groups.digits <= 12 && groups.lens[1] >= 2;
        return fits ? groups.end : 0;
    }
    bool thousands = true;
    for (size_t i = 1; i < groups.count; i++)
        thousands &= groups.lens[i] == 3;
    bool round = window->c[groups.end - 1] == '0' && window->c[groups.end - 2] == '0' &&
                 window->c[groups.end - 3] == '0';
    for (size_t i = first_form(groups.form);
         i < sizeof forms / sizeof *forms && forms[i].lens == groups.form; i++)
        if (signs_fit(&groups, forms[i].signs) && first_fits(window, forms[i].first) &&
            !(thousands && round)) {
            *score = forms[i].score;
            return groups.end;
        }
    return 0;
}
