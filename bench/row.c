#include "row.h"

#include <stdio.h>

#define FIGURE_CHARS 64

static const char *figure_of(double value, const char *unit, char figure[static FIGURE_CHARS])
{
    snprintf(figure, FIGURE_CHARS, "%.*f %s", value < 100 ? 2 : 0, value, unit);
    return figure;
}

void row_print(const char *what, const char *value, const char *goal, bool met)
{
    printf("%-58s %22s  goal %s  %s\n", what, value, goal, met ? "met" : "MISSED");
}

void row_print_plain(const char *what, double value, const char *unit)
{
    char figure[FIGURE_CHARS];
    printf("%-58s %22s\n", what, figure_of(value, unit, figure));
}

static void print_bounded(const char *what, double value, const char *unit, const char *sign,
                          double bound)
{
    char figure[FIGURE_CHARS], goal[FIGURE_CHARS];
    snprintf(goal, sizeof goal, "%s %g %s", sign, bound, unit);
    row_print(what, figure_of(value, unit, figure), goal,
              *sign == '<' ? value <= bound : value >= bound);
}

void row_print_most(const char *what, double value, const char *unit, double most)
{
    print_bounded(what, value, unit, "<=", most);
}

void row_print_least(const char *what, double value, const char *unit, double least)
{
    print_bounded(what, value, unit, ">=", least);
}
