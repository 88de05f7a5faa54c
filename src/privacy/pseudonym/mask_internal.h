/* What mask_find.c (values in the texts), mask.c (their surrogates) and mask_write.c (the masked
 * reading) share. */
#ifndef PRIVACY_MASK_INTERNAL_H
#define PRIVACY_MASK_INTERNAL_H

#include "privacy/pseudonym/mask.h"
#include "privacy/pseudonym/round_trip.h"

#define MASK_TEXT_BYTES_MAX ((size_t)64 << 20)

struct mask_text {
    struct td_str text;
    bool fixed; /* nothing in it may be replaced */
    struct spans found;
    struct round_trip_place *places; /* [place_count] what is replaced */
    size_t place_count;
    struct buf masked; /* empty when nothing is replaced */
};

struct mask {
    struct vault *vault;
    struct mask_rules rules;
    struct vault_uses *uses;
    struct word_set words; /* of all texts: no surrogate may be one of them */
    const struct reading *reading;
    struct mask_text *texts; /* [text_count], the reading's parts */
    size_t text_count;
    struct spans left; /* in the reading: findings that the rules do not want replaced */
    struct privacy_tally replaced;
    const char **rule_of; /* [VAULT_ENTRIES_MAX] which rule found an entry's value; NULL: none */
};

/* Scans a reading. Fills *out, to be freed by the caller. TD_LIMIT: more than MASK_SPANS_MAX. */
TD_MUST_CHECK enum td_status mask_scan(const struct mask *mask, const struct reading *reading,
                                       bool strict, struct spans *out, struct td_error *err);
enum td_status mask_too_many(struct td_error *err);
/* One more finding of a text. What overlaps the findings before it becomes one with them. */
void mask_join(struct spans *found, struct privacy_span span);
/* Where the findings of a text end so far. What ends there needs no edges of its own and is not
 * looked at again: a text may be one word with thousands of findings. */
size_t mask_covered(const struct spans *found);
/* A text as the restorer would read it back: masked, or as it is when nothing is replaced. */
struct round_trip_text mask_round_trip(const struct mask_text *text);

#endif
