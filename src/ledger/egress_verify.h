/* Is an egress log, or what was exported of one, what was written? One caller, any thread. */
#ifndef LEDGER_EGRESS_VERIFY_H
#define LEDGER_EGRESS_VERIFY_H

#include "ledger/egress_read.h"

struct egress_verdict {
    bool sound;
    uint64_t entry_count, head_count;
    uint64_t bad_row; /* the first, from 1; 0: it is not a row */
    /* Of a machine that stopped in the middle of a transfer, 0 or 1: announced and never written; or
     * written as announced, and its head not signed yet. */
    uint64_t unwritten_rows, unsigned_rows;
    char problem[320];            /* when it is not sound */
    char key[EGRESS_KEY_HEX + 1]; /* that signed the heads; "" without heads */
};

/* What was kept elsewhere, that the record could not be made anew or put back to what it was. */
struct egress_kept {
    const char *key; /* the public key that must have signed, hex; NULL: the one that lies there */
    struct td_str
        heads; /* lines that `tandem egress head` printed, in that order; {NULL, 0}: none */
};

/* path: the folder, or an exported file. kept: may be NULL. TD_OK with a verdict also when it is a bad
 * one; else it could not be read. */
TD_MUST_CHECK enum td_status egress_verify(const char *path, const struct egress_kept *kept,
                                           struct egress_verdict *out, struct td_error *err);

#endif
