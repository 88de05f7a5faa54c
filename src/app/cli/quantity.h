/* Numbers with their units, read so that a slip of a unit cannot pass: money is never a bare
 * number, and cents are not dollars.
 *
 *   "0.15 USD/Mtok"  "1.65 ct/query"  "$2400"  "350 W"  "0.30 USD/kWh"  "36 months"  "40 tok/s"
 *
 * A number, then a unit, then for rates a slash and another unit. Prefixes and currencies are
 * spelled out in one table (quantity.c); nothing is converted between currencies. */
#ifndef APP_QUANTITY_H
#define APP_QUANTITY_H

#include "tandem/types.h"

enum quantity_kind {
    QUANTITY_MONEY,             /* USD */
    QUANTITY_MONEY_PER_TOKEN,   /* USD a token */
    QUANTITY_MONEY_PER_MONTH,   /* USD a month of 30.4375 days */
    QUANTITY_MONEY_PER_ENERGY,  /* USD a joule */
    QUANTITY_MONEY_PER_BYTE,    /* USD a byte */
    QUANTITY_POWER,             /* W */
    QUANTITY_TIME,              /* s */
    QUANTITY_TOKENS_PER_SECOND, /* 1/s */
    QUANTITY_QUERIES_PER_MONTH,
    QUANTITY_COUNT_KINDS
};

/* In the unit that stands beside the kind. TD_INVALID says what was read and what is needed. */
TD_MUST_CHECK enum td_status quantity_read(struct td_str text, enum quantity_kind kind, double *out,
                                           struct td_error *err);
/* "1.5G", "700M", "2Gi" or a number of bytes: at least 1. False for anything else. */
bool quantity_read_size(struct td_str text, uint64_t *bytes);
const char *quantity_example(enum quantity_kind kind); /* "0.15 USD/Mtok" */

#endif
