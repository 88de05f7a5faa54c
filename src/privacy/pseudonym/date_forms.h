/* The other forms in which an answer may write a surrogate date: "12 March 1987" as 1987-03-12.
 * There are such forms only if both dates are certain: a day, a month and a year of four digits,
 * whose order cannot be read in another way. Pure functions; any thread. */
#ifndef PRIVACY_DATE_FORMS_H
#define PRIVACY_DATE_FORMS_H

#include "tandem/types.h"

#define DATE_FORMS 15
/* The first forms are digits with one separator, which belongs to the form. */
#define DATE_FORMS_NUMERIC 10
#define DATE_FORM_BYTES 48

struct date_form {
    char surrogate[DATE_FORM_BYTES], original[DATE_FORM_BYTES];
    uint32_t owner; /* the caller's */
};

/* Writes surrogate and value in each form. Returns how many; 0 when it is not certain which days
 * they are. */
size_t date_forms_write(struct td_str surrogate, struct td_str original,
                        struct date_form forms[static DATE_FORMS]);

/* Writes the day as a word ("day19870312"). False when day, month or year is missing. */
#define DATE_DAY_BYTES 16
bool date_forms_day(struct td_str value, char out[static DATE_DAY_BYTES]);

#endif
