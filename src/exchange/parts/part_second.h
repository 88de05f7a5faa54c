/* What the ledger asks of the second signal. */
#ifndef EXCHANGE_PART_SECOND_H
#define EXCHANGE_PART_SECOND_H

#include "exchange/machine/part.h"

struct json_writer;

extern const struct exchange_part part_second;

/* "second": {...}, where it was asked for: what it said, and what it took. */
void part_second_write(const struct exchange *exchange, struct json_writer *to);

#endif
