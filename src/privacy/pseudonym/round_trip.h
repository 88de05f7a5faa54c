/* Does a masked text come back? It is read as an answer that repeats it: in the place of each surrogate its
 * value must be put, and nowhere else anything. */
#ifndef PRIVACY_ROUND_TRIP_H
#define PRIVACY_ROUND_TRIP_H

#include "privacy/kind/spans.h"
#include "privacy/pseudonym/restore.h"

struct round_trip_place {
    struct privacy_span span; /* in the text */
    size_t begin, end;        /* of its surrogate in the masked text */
    bool lost;                /* something else comes back */
};

/* **borrows** all. */
struct round_trip_text {
    struct td_str text, masked;
    struct round_trip_place *places; /* [place_count], in order */
    size_t place_count;
};

/* A value with its escaped letters comes back as escaped_value writes it. strays: of every surrogate that is
 * read where none stands strays[i] becomes true, i the place in the uses that the table was made of. False
 * without memory. */
TD_MUST_CHECK bool round_trip_check(const struct restore_table *table,
                                    const struct round_trip_text *text, bool *strays);

/* The place of a value that was lost, with what it is joined to on both sides: up to punctuation that has
 * nothing to do with what stands before and behind it. That is taken along where it was not enough. */
struct privacy_span round_trip_widen(const struct round_trip_text *text,
                                     const struct round_trip_place *place);

#endif
