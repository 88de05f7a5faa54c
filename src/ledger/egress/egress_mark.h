/* How much of the egress log is on the disk.
 *
 * A line and its head are in the kernel's hands when a transfer begins. That survives the end of
 * the process, not that of the machine, and the disk may have got the two files in any order. So
 * once a second the entries are flushed, and then the file `synced` says how many there are. It is
 * a line as in heads.jsonl, whose `next` is the SHA-256 of the kernel's id of this boot.
 *
 * After a loss of power (another boot) the log may end anywhere behind the mark: the lines that
 * follow the chain are kept, the rest is cut off, and a line of its own says so. Within one boot
 * nothing may be missing. Internal to ledger/; no state; any thread. */
#ifndef LEDGER_EGRESS_MARK_H
#define LEDGER_EGRESS_MARK_H

#include "ledger/egress/egress_line.h"

#include <sys/types.h>

#define EGRESS_MARK_FILE "synced"

/* The head with this boot's id takes the place of the old mark. */
TD_MUST_CHECK enum td_status egress_mark_write(const char *folder, const struct egress_head *head,
                                               const struct crypto_signer *signer,
                                               struct td_error *err);
/* False: there is none that this key has signed. *same_boot: in it this machine still runs. */
bool egress_mark_read(const char *folder, const char *key, struct egress_head *out,
                      bool *same_boot);

/* Follows the entries from the first line on: *chain and *bytes say where they stop to follow.
 * False: that is before the mark, or they could not be read. */
bool egress_mark_follow(const char *folder, const struct egress_head *mark,
                        struct egress_chain *chain, off_t *bytes);
/* The same for heads: the last one that this key has signed over at most `count` lines, where its
 * line begins, and where it ends. An empty date: there is none. */
bool egress_mark_heads(const char *folder, const char *key, uint64_t count,
                       struct egress_head *last, off_t *last_at, off_t *bytes);

#endif
