/* The texts of one request, as one reading, without what is private in them: found, sealed, written. What was
 * found once is replaced wherever it stands, also where no detector saw it. One owner, who has the vault for
 * itself meanwhile. */
#ifndef PRIVACY_MASK_H
#define PRIVACY_MASK_H

#include "base/names.h"
#include "privacy/pseudonym/vault.h"
#include "privacy/scan/tally.h"
#include "privacy/text/reading.h"

#define MASK_SPANS_MAX 65536u

struct privacy_scanner;

struct mask_rules {
    const struct privacy_scanner *scanner; /* finds the values */
    bool strict; /* recall first: privacy_scan_strict says what is found */
    bool classes[TD_CLASS_RESTRICTED + 1]; /* findings of these classes are replaced */
    bool kinds[PRIVACY_KIND_COUNT];        /* and these kinds, whatever their class */
};

struct mask;

/* **borrows** all until mask_free. uses: what was replaced, in order. **returns new**; NULL without
 * memory. */
struct mask *mask_new(struct vault *vault, const struct mask_rules *rules, struct vault_uses *uses);
void mask_free(struct mask *mask);

/* Once. **borrows** the reading until mask_free. TD_LIMIT: there is more than can be replaced. After a failure
 * the mask is of no use. */
TD_MUST_CHECK enum td_status mask_find(struct mask *mask, const struct reading *reading,
                                       struct td_error *err);
/* Between finding and writing: gives all values their surrogates, and reads the masked texts as an answer that
 * repeats them. Every value comes back then, and no surrogate stands where no value stood, in no form in which
 * an answer that means the text would have it replaced. A value that would not come back is replaced with
 * what it is joined to by a word. TD_LIMIT: that did not help. */
TD_MUST_CHECK enum td_status mask_seal(struct mask *mask, struct td_error *err);
/* Makes the masked reading, of the same parts with the same sources (reading_init'd, empty). *rest: the highest
 * class of what is found in it, by the pass that gives every request its class, and is not a surrogate, or
 * was found and not replaced; raised only. */
TD_MUST_CHECK enum td_status mask_write(struct mask *mask, struct reading *out,
                                        enum td_data_class *rest, struct td_error *err);

/* All three for one text, appended to out. */
TD_MUST_CHECK enum td_status mask_one(struct mask *mask, struct td_str text, struct buf *out,
                                      enum td_data_class *rest, struct td_error *err);

/* Places that were replaced. **borrows**. */
const struct privacy_tally *mask_replaced(const struct mask *mask);

#endif
