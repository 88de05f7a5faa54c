/* A surrogate date as an answer may write it otherwise: "12 March 1987" as 1987-03-12. Only where both days
 * are certain: a day, a month and a year of four digits, in an order that cannot be another. Pure functions;
 * any thread. */
#ifndef PRIVACY_DATE_FORMS_H
#define PRIVACY_DATE_FORMS_H

#include "tandem/types.h"

#define DATE_FORMS 15
#define DATE_FORMS_NUMERIC \
    10 /* the first so many: digits and one sign, which belongs to the form */
#define DATE_FORM_BYTES 48

struct date_form {
    char surrogate[DATE_FORM_BYTES], original[DATE_FORM_BYTES];
    uint32_t owner; /* the caller's */
};

/* The day as a word ("day19870312") in out, where day, month and year are said. False when they are not. */
#define DATE_DAY_BYTES 16
bool date_forms_day(struct td_str value, char out[static DATE_DAY_BYTES]);

/* The surrogate and the value in each other form of the two. How many there are; 0: it is not certain which
 * days they are. */
size_t date_forms_write(struct td_str surrogate, struct td_str original,
                        struct date_form forms[static DATE_FORMS]);

#endif
