/* The record of what left the device: one line a transfer, written before its first byte goes.
 *
 * Not a table of the ledger's database, because a transfer is to be on record when the process is
 * killed in the middle of it: a line is one write(2) of some hundred bytes into the page cache,
 * about 10 us, where the database's writer takes batches. And because whoever trusts nobody can
 * check a text file with twenty lines of anything. The folder holds
 *
 *   entries.jsonl  one JSON object a line; the last member `hash` is the SHA-256 of the line's bytes
 *                  before `,"hash":`, and the member before it, `previous`, is the hash of the line
 *                  before (64 zeros at the first): a chain
 *   heads.jsonl    {"date", "count", "hash", "next", "key", "signature"}: how long the chain was and
 *                  how it ended, one line a day (UTC), the last one rewritten with every transfer, so
 *                  that a cut tail is seen; Ed25519 over the line's bytes before `,"signature":`. It
 *                  is signed before a line is written, with the line's hash as `next`, and after it,
 *                  with 64 zeros: a line that no head covers or announces was written by nobody
 *   key, key.pub   the private seed (0600) and the public key, hex; made at the first start
 *
 * Nothing of a text is here but its hash, so that nothing has to be erased from it. Any thread;
 * processes may share a folder (flock). A write that fails leaves the files as they were, and the
 * transfer is refused. */
#ifndef LEDGER_EGRESS_LOG_H
#define LEDGER_EGRESS_LOG_H

#include "tandem/types.h"

struct egress_log;

/* What stands in a payload in place of something else. */
struct egress_replaced {
    const char *type; /* "PERSON" */
    uint32_t count;
};

#define EGRESS_REPLACED_MAX 128

struct egress_entry {
    uint64_t wall_ms;
    const char *exchange; /* id, or NULL: of none (a health check) */
    const char *purpose, *tier, *place, *host, *data_class;
    const char *region;                     /* or NULL: not said */
    const char *const *certified;           /* NULL-terminated; or NULL: nothing */
    struct td_str payload;                  /* its length and hash are recorded */
    const struct egress_replaced *replaced; /* [replaced_count] */
    size_t replaced_count;
};

/* Makes folder and key where there are none. What is damaged or was cut is refused with what to do,
 * and left as it is. **returns new** (egress_log_close). */
TD_MUST_CHECK enum td_status egress_log_open(const char *folder, struct egress_log **out,
                                             struct td_error *err);
void egress_log_close(struct egress_log *log);

/* TD_OK: it is on record. TD_BUSY: another process held the files for 50 ms. */
TD_MUST_CHECK enum td_status
egress_log_append(struct egress_log *log, const struct egress_entry *entry, struct td_error *err);

#endif
