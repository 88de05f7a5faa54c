/* The table that a restorer uses: an automaton over the letters and digits of all surrogates of a
 * request, and the values that they replaced. restore.h has the functions that make and free one.
 * Immutable; any thread. */
#ifndef PRIVACY_RESTORE_TABLE_H
#define PRIVACY_RESTORE_TABLE_H

#include "privacy/pseudonym/date_forms.h"
#include "privacy/pseudonym/restore.h"
#include "privacy/text/automaton.h"

struct restore_table {
    struct vault_entry *entries;
    uint32_t *next_alike; /* [count] the next entry with the same letters and digits */
    uint32_t *owners;     /* [count] place in the uses that the entry comes from */
    size_t count;
    struct automaton *automaton;
    size_t ring;             /* a power of two: folded bytes whose places a restorer keeps */
    struct date_form *dates; /* [date_count] strings of the entries for dates in other forms */
    size_t date_count;
};

#endif
