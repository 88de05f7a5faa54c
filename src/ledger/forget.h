/* Erasing what the ledger holds of a user, beside a running server or without one. */
#ifndef LEDGER_FORGET_H
#define LEDGER_FORGET_H

#include "tandem/types.h"

struct ledger_forgotten {
    uint64_t exchanges; /* rows that named the user */
    uint64_t texts;     /* of them with a stored prompt or answer */
    uint64_t comments;  /* on them */
};

/* Takes user, texts, comments, signals, reasons and disclosures out of all rows of the user; times,
 * tiers, costs and the exchange's id stay, so that totals stay true. What was there is overwritten in
 * the file and its log (SQLite's secure_delete, then a checkpoint that empties the log), not only
 * unlinked. A record that a server has not committed yet is not seen: ledger_flush first. TD_NOT_FOUND:
 * no such ledger. TD_BUSY: erased, but a reader kept the log from being emptied: call it again. */
TD_MUST_CHECK enum td_status ledger_forget(const char *path, const char *user,
                                           struct ledger_forgotten *out, struct td_error *err);

#endif
