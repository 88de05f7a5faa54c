/* How many private values of each type there are: the kinds, and an operator's own rules by the
 * names that the operator gave them. Names are copied, so that a tally outlives the scanner of its
 * findings. One owner. */
#ifndef PRIVACY_TALLY_H
#define PRIVACY_TALLY_H

#include "privacy/scan/rules.h"

/* Different rules that one tally names; findings of further ones are counted as CUSTOM. */
#define PRIVACY_TALLY_RULES 32
#define PRIVACY_TALLY_ROWS_MAX (PRIVACY_KIND_COUNT + PRIVACY_TALLY_RULES)

struct privacy_tally_row {
    char name[PRIVACY_RULE_NAME_BYTES];
    uint32_t count;
};

struct privacy_tally {
    uint32_t kinds[PRIVACY_KIND_COUNT]; /* [PRIVACY_CUSTOM]: of all rules together */
    size_t rule_count;
    struct privacy_tally_row rules[PRIVACY_TALLY_RULES]; /* last: privacy_tally_bytes */
};

void privacy_tally_add(struct privacy_tally *tally, const struct privacy_span *span);

/* Of a copy that has only the rules that it names. */
size_t privacy_tally_bytes(const struct privacy_tally *tally);
bool privacy_tally_has_any(const struct privacy_tally *tally);
/* What there is of anything, kinds first. How many rows were written. */
size_t privacy_tally_rows(const struct privacy_tally *tally,
                          struct privacy_tally_row rows[static PRIVACY_TALLY_ROWS_MAX]);

#endif
