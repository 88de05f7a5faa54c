/* The record of what left the device: one line per transfer, written before its first byte is sent.
 *
 * It is not a table of the ledger's database for two reasons. A transfer must be on record even
 * when the process is killed in the middle of it. A line is one write(2) of some hundred bytes into
 * the page cache and takes about 10 us, while the database's writer collects batches. And a text
 * file can be checked by anyone with twenty lines of any language. The folder holds:
 *
 *   entries.jsonl  one JSON object per line. Its last member `hash` is the SHA-256 of the line's
 *                  bytes before `,"hash":`. The member before it, `previous`, is the hash of the
 *                  line before (64 zeros in the first line). So the lines form a chain.
 *   heads.jsonl    {"date", "count", "hash", "next", "pending", "key", "signature"}: how long the
 *                  chain was and how it ended, one line per day (UTC). The last one is rewritten
 *                  with every transfer, so a tail that was cut off is noticed. The signature is
 *                  Ed25519 over the line's bytes before `,"signature":`. A head is signed before a
 *                  line is written, with the line's hash as `next`; the next head signs the line,
 *                  at the latest 20 ms later. So a line that no head covers or announces is a
 *                  forgery.
 *   pending        a token, whose hash the head has, until the announced line is written
 *                  (egress_pending.h)
 *   synced         how much of it is on the disk (egress_mark.h)
 *   key, key.pub   the private seed (0600) and the public key in hexadecimal digits, made at the
 *                  first start
 *
 * After a loss of power what had not reached the disk is gone, which is a second's transfers at
 * most. Then a line with the purpose power_loss follows the last one that is there.
 *
 * Of a text only its hash is here, so nothing has to be erased. Any thread; processes may share a
 * folder (flock). A write that fails leaves the files as they were, and the transfer is refused. */
#ifndef LEDGER_EGRESS_LOG_H
#define LEDGER_EGRESS_LOG_H

#include "tandem/types.h"

struct egress_log;

/* A kind of value that was replaced in the payload, and how often. */
struct egress_replaced {
    const char *type; /* "PERSON" */
    uint32_t count;
};

#define EGRESS_REPLACED_MAX 128

struct egress_entry {
    uint64_t wall_ms;
    const char *exchange; /* id, or NULL (a health check) */
    const char *purpose, *tier, *place, *host, *data_class;
    const char *region;                     /* or NULL: unknown */
    const char *const *certified;           /* NULL-terminated; or NULL: none */
    struct td_str payload;                  /* its length and hash are recorded */
    const struct egress_replaced *replaced; /* [replaced_count] */
    size_t replaced_count;
};

/* Opens the log; makes folder and key if there are none. A damaged or shortened log is refused,
 * with what to do, and left as it is. **returns new** (egress_log_close). */
TD_MUST_CHECK enum td_status egress_log_open(const char *folder, struct egress_log **out,
                                             struct td_error *err);
void egress_log_close(struct egress_log *log);

/* TD_OK: the transfer is on record. TD_BUSY: another process held the files for 50 ms. */
TD_MUST_CHECK enum td_status
egress_log_append(struct egress_log *log, const struct egress_entry *entry, struct td_error *err);
/* Has the disk take all that was recorded before. It may take long; others append meanwhile. */
TD_MUST_CHECK enum td_status egress_log_sync(struct egress_log *log, struct td_error *err);
/* The same, and the mark from which a loss of power is told apart from a cut (egress_mark.h). To be
 * called once a second. Without new transfers it does nothing. */
TD_MUST_CHECK enum td_status egress_log_mark(struct egress_log *log, struct td_error *err);
/* Whether transfers can be recorded: the files are where they were, and the last record was
 * written. */
TD_MUST_CHECK enum td_status egress_log_check(struct egress_log *log, struct td_error *err);

#endif
