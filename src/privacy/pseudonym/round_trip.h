/* Checks that a masked text can be restored. The text is restored as if an answer had repeated it:
 * each surrogate must become its value again, and nothing else may change. Pure; any thread. */
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

/* Sets `lost` in the places whose values do not come back. Sets strays[i] for every surrogate that
 * is read where none was put; i is its index in the uses that the table was made of. An escaped
 * value must come back as escaped_value writes it. False without memory. */
TD_MUST_CHECK bool round_trip_check(const struct restore_table *table,
                                    const struct round_trip_text *text, bool *strays);

/* The place of a lost value, widened on both sides up to the next character that separates words.
 * When the value has been widened before, that character and the word after it are taken along. */
struct privacy_span round_trip_widen(const struct round_trip_text *text,
                                     const struct round_trip_place *place);

#endif
