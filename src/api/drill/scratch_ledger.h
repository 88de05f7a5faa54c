/* A ledger of a drill's own, in a folder beside the real one, which somebody else has locked. Its
 * calls block: they are for a thread beside the loops, one at a time. */
#ifndef API_SCRATCH_LEDGER_H
#define API_SCRATCH_LEDGER_H

#include "ledger/record/ledger.h"

struct scratch_ledger;

/* beside: the real ledger's path; a URL or NULL: the folder for temporary files. **returns new**
 * (scratch_ledger_free). */
TD_MUST_CHECK enum td_status scratch_ledger_open(const char *beside, struct scratch_ledger **out,
                                                 struct td_error *err);
/* **borrows** until scratch_ledger_free */
struct ledger *scratch_ledger_of(struct scratch_ledger *scratch);
/* It is unlocked: *written is how many exchanges it has got by then. */
TD_MUST_CHECK enum td_status scratch_ledger_unlock(struct scratch_ledger *scratch, int64_t *written,
                                                   struct td_error *err);
/* Removes the files. Accepts NULL. */
void scratch_ledger_free(struct scratch_ledger *scratch);

#endif
