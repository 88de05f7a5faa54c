/* Quantities in other units: "5 miles in km", "how many inches are in 5 feet". */
#ifndef INSTANT_UNITS_H
#define INSTANT_UNITS_H

#include "instant/words.h"

/* Appends the converted quantity with its unit, or false. Factors: the international yard and
 * pound agreement of 1959, US gallons, 1,000 for kilo- (also of bytes). */
bool units_answer(struct words *words, struct buf *out);

#endif
