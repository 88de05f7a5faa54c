/* Tells a line that was announced and not written from one that was written and cut off, without a
 * second signature.
 *
 * The head that announces a line holds in `pending` the SHA-256 of a random token (64 hex digits),
 * and the token stands in the file `pending`. When the line is written, the token is overwritten by
 * zeros. So an announced line may be missing only while the token is there, and whoever cuts the
 * line off cannot make the token again. Internal to ledger/; the caller holds the lock. */
#ifndef LEDGER_EGRESS_PENDING_H
#define LEDGER_EGRESS_PENDING_H

#include "ledger/egress/egress_line.h"

#define EGRESS_PENDING_FILE "pending"
#define EGRESS_TOKEN_HEX 64

/* Writes a new token; hash: its SHA-256, for the head. */
TD_MUST_CHECK enum td_status egress_pending_write(int fd, char hash[static EGRESS_HASH_HEX + 1],
                                                  struct td_error *err);
bool egress_pending_erase(int fd);
/* The token of a file without its line break, and its hash: EGRESS_NO_HASH when there is none. */
void egress_pending_read(int fd, char token[static EGRESS_TOKEN_HEX + 1],
                         char hash[static EGRESS_HASH_HEX + 1]);
/* The hash of a token that was read elsewhere. False: it is not one. */
bool egress_pending_hash(struct td_str token, char hash[static EGRESS_HASH_HEX + 1]);

#endif
