/* Where the answer of a second tier goes on from the text that a first one has shown.
 *
 * A tier that is asked to go on may do so at once, say the last words again, or begin anew. Its
 * text is held back until it is clear which, and then given on without what was shown already.
 * Plain bytes in and out: whatever a server sends, nothing of it is shown twice. One owner. */
#ifndef EXCHANGE_OVERLAP_H
#define EXCHANGE_OVERLAP_H

#include "base/bytes/buf.h"

struct overlap {
    struct td_str shown; /* borrowed until `found` */
    bool exact;          /* the tier was handed the text as the beginning of its own */
    bool found;          /* where the new text begins is known; all of it passes from here on */
    size_t same;         /* bytes of `held` that are the beginning of `shown` */
    struct buf held;
};

/* shown: valid UTF-8, to stay as it is until `found`. exact: the tier goes on by its interface, so
 * a short repetition is meant. overlap_deinit frees. */
void overlap_init(struct overlap *overlap, struct td_str shown, bool exact);
void overlap_deinit(struct overlap *overlap); /* also of a zeroed one */

/* Takes the next text and appends to `out` what is new of it, perhaps nothing yet. False when the
 * tier has begun another answer, which cannot be joined to what was shown. */
TD_MUST_CHECK bool overlap_feed(struct overlap *overlap, struct td_str text, struct buf *out);
/* The text is over, or what follows is no text: appends the rest. False as above, and when it ended
 * before it came to anything new. */
TD_MUST_CHECK bool overlap_end(struct overlap *overlap, struct buf *out);

#endif
