/* Checks that an egress log, or an exported copy, is what was written. Any thread, one caller at a
 * time. */
#ifndef LEDGER_EGRESS_VERIFY_H
#define LEDGER_EGRESS_VERIFY_H

#include "ledger/egress/egress_read.h"

struct egress_verdict {
    bool sound;
    uint64_t entry_count, head_count;
    uint64_t bad_row; /* the first bad row, from 1; 0: the fault is not in a row */
    /* 0 or 1 each, left by a machine that stopped in the middle of a transfer: a row was announced
     * but not written, or written but its head was not signed. */
    uint64_t unwritten_rows, unsigned_rows;
    char problem[320];            /* set when the log is not sound */
    char key[EGRESS_KEY_HEX + 1]; /* that signed the heads; "" without heads */
};

/* What was kept elsewhere, so that the log cannot have been made again or set back. */
struct egress_kept {
    const char *key;     /* the public key that must have signed; NULL: the folder's */
    struct td_str heads; /* lines printed by `tandem egress head`, in order; {NULL, 0}: none */
};

/* path: the folder, or an exported file. kept: may be NULL. TD_OK with a verdict, good or bad;
 * anything else when the log could not be read. */
TD_MUST_CHECK enum td_status egress_verify(const char *path, const struct egress_kept *kept,
                                           struct egress_verdict *out, struct td_error *err);

#endif
