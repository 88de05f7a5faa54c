/* Erases what the ledger holds of a user, with or without a running server. Any thread. */
#ifndef LEDGER_FORGET_H
#define LEDGER_FORGET_H

#include "tandem/types.h"

struct ledger_forgotten {
    uint64_t exchanges; /* rows that named the user */
    uint64_t texts;     /* those of them with a stored prompt or answer */
    uint64_t comments;  /* comments on them */
};

/* Removes user, texts, comments, signals, reasons and disclosures from all rows of the user, of one
 * tenant's only unless tenant is NULL. Times,
 * tiers, costs and the ids of exchanges stay, so that totals stay true. The bytes are overwritten
 * in the file and its log (SQLite's secure_delete, then a checkpoint that empties the log). A
 * record that a server has not committed yet is not seen: call ledger_flush first. TD_NOT_FOUND:
 * there is no such ledger. TD_BUSY: erased, but a reader kept the log from being emptied; call
 * again. */
TD_MUST_CHECK enum td_status ledger_forget(const char *path, const char *tenant, const char *user,
                                           struct ledger_forgotten *out, struct td_error *err);

#endif
