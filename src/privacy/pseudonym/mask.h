/* Replaces private values in the texts of one request, in three steps: mask_find, mask_seal,
 * mask_write. A value that was found once is replaced everywhere, also where no detector saw it.
 * One owner, who holds the vault alone during these steps. */
#ifndef PRIVACY_MASK_H
#define PRIVACY_MASK_H

#include "base/text/names.h"
#include "privacy/pseudonym/vault.h"
#include "privacy/scan/tally.h"
#include "privacy/text/reading.h"

#define MASK_SPANS_MAX 65536u

struct privacy_scanner;

struct mask_rules {
    const struct privacy_scanner *scanner; /* finds the values */
    bool strict; /* recall before precision, as privacy_scan_strict finds */
    bool classes[TD_CLASS_RESTRICTED + 1]; /* replace findings of these classes */
    bool kinds[PRIVACY_KIND_COUNT];        /* and of these kinds, whatever their class */
};

struct mask;

/* **borrows** all until mask_free. uses: gets what was replaced, in order. **returns new**; NULL
 * without memory. */
struct mask *mask_new(struct vault *vault, const struct mask_rules *rules, struct vault_uses *uses);
void mask_free(struct mask *mask);

/* Finds the values. To be called once; **borrows** the reading until mask_free. TD_LIMIT: there are
 * more values than can be replaced. After a failure the mask can only be freed. */
TD_MUST_CHECK enum td_status mask_find(struct mask *mask, const struct reading *reading,
                                       struct td_error *err);
/* Gives every value its surrogate, and reads the masked texts as an answer that repeats them.
 * Afterwards two things hold. Every value comes back. No surrogate can be confused with other text,
 * in any form an answer may write it. TD_LIMIT: no such surrogates were found. */
TD_MUST_CHECK enum td_status mask_seal(struct mask *mask, struct td_error *err);
/* Makes the masked reading, of the same parts with the same sources (reading_init'd, empty). Raises
 * *rest to the highest class that is left in the masked reading. Two things count: what the scan
 * that classifies requests still finds, except surrogates, and what was found but not replaced. */
TD_MUST_CHECK enum td_status mask_write(struct mask *mask, struct reading *out,
                                        enum td_data_class *rest, struct td_error *err);

/* All three for one text. Appends it masked to out. */
TD_MUST_CHECK enum td_status mask_one(struct mask *mask, struct td_str text, struct buf *out,
                                      enum td_data_class *rest, struct td_error *err);

/* The places that were replaced. **borrows**. */
const struct privacy_tally *mask_replaced(const struct mask *mask);

#endif
