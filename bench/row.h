/* Printing figures beside their goals, as table.py does it. */
#ifndef BENCH_ROW_H
#define BENCH_ROW_H

#include <stdbool.h>

/* One figure that has a goal: what it is, the figure, the goal, and whether it is met. */
void row_print(const char *what, const char *value, const char *goal, bool met);

/* A figure of `unit` that has none. */
void row_print_plain(const char *what, double value, const char *unit);

/* A figure of `unit` that may be at most, or must be at least, so much. */
void row_print_most(const char *what, double value, const char *unit, double most);
void row_print_least(const char *what, double value, const char *unit, double least);

#endif
