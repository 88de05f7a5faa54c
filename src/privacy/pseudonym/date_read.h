/* A date as it stands in a text: where its day, month and year are, and what they say. The months'
 * names are those of nine languages. Pure functions; any thread. */
#ifndef PRIVACY_DATE_READ_H
#define PRIVACY_DATE_READ_H

#include "tandem/types.h"

#define DATE_LANGUAGES 9
#define DATE_ENGLISH 0
#define DATE_NO_NAME (-1) /* the language of a field that is a number */

struct date_field {
    size_t begin, end; /* equal: the date has none */
    int value;
    int language; /* of a month's name, or DATE_NO_NAME */
    bool brief;   /* "Jan": the first letters only */
};

struct date {
    struct date_field day, month, year;
};

/* False when the text is no date, or has more than 64 bytes. The numbers are not checked against a
 * calendar. */
bool date_read(struct td_str value, struct date *out);
bool date_has(const struct date_field *field, size_t digits_min);
/* The whole year where only two digits are written: from 1940 to 2039. */
int date_year(const struct date *date);
/* The name of a month, 1 to 12. **borrows** for ever. */
struct td_str date_month_name(int language, int month);

#endif
