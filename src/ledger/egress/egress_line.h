/* The two kinds of lines of the egress log, byte for byte. Internal to ledger/. No state; any
 * thread.
 *
 *   {"seq":N, ..., "previous":"<64 hex>","hash":"<64 hex>"}
 *   {"date":"YYYY-MM-DD","count":N,"hash":"<64 hex>","next":"<64 hex>",
 *    "pending":"<64 hex>","key":"<64 hex>","signature":"<128 hex>"}
 *
 * Hash and signature cover the bytes as they stand, so a reader need not write JSON as we do. */
#ifndef LEDGER_EGRESS_LINE_H
#define LEDGER_EGRESS_LINE_H

#include "base/bytes/buf.h"
#include "base/crypto/crypto.h"
#include "base/crypto/crypto_sign.h"
#include "ledger/egress/egress_log.h"

#define EGRESS_ENTRIES_FILE "entries.jsonl"
#define EGRESS_HEADS_FILE "heads.jsonl"
#define EGRESS_LINE_BYTES_MAX 16384
#define EGRESS_HASH_HEX (2 * CRYPTO_SHA256_BYTES)
#define EGRESS_DATE_BYTES 10
#define EGRESS_NO_HASH "0000000000000000000000000000000000000000000000000000000000000000"

/* The end of the chain. */
struct egress_chain {
    uint64_t count;
    char hash[EGRESS_HASH_HEX + 1]; /* of the last line; EGRESS_NO_HASH before the first */
};

struct egress_head {
    char date[EGRESS_DATE_BYTES + 1];
    struct egress_chain chain;
    char next[EGRESS_HASH_HEX + 1]; /* of the line about to be written; EGRESS_NO_HASH: none */
    /* With `next`, the hash of the token that is there until the line is written
     * (egress_pending.h); else EGRESS_NO_HASH. Empty in heads of versions that had no such. */
    char pending[EGRESS_HASH_HEX + 1];
    char key[2 * CRYPTO_SIGN_KEY_BYTES + 1];
};

/* Appends the line with its line break, and moves the chain on to it. */
TD_MUST_CHECK enum td_status egress_line_write(const struct egress_entry *entry,
                                               struct egress_chain *chain, struct buf *out,
                                               struct td_error *err);
/* Checks that `line`, without its line break, follows the chain, and moves the chain on to it.
 * TD_CORRUPT with what is wrong. */
TD_MUST_CHECK enum td_status egress_line_follow(struct td_str line, struct egress_chain *chain,
                                                struct td_error *err);
/* Reads number and hash of a line without checking them. False: it is not such a line. */
bool egress_line_read(struct td_str line, struct egress_chain *out);

TD_MUST_CHECK enum td_status egress_head_sign(const struct egress_head *head,
                                              const struct crypto_signer *signer, struct buf *out,
                                              struct td_error *err);
/* The same with a key that is made ready for this one signature. */
TD_MUST_CHECK enum td_status egress_head_write(const struct egress_head *head,
                                               const uint8_t seed[static CRYPTO_SIGN_KEY_BYTES],
                                               struct buf *out, struct td_error *err);
/* Reads a head and checks its signature with the key that it names. Whether that is the right key
 * is for the caller to decide. TD_CORRUPT. */
TD_MUST_CHECK enum td_status egress_head_read(struct td_str line, struct egress_head *out,
                                              struct td_error *err);

/* How the last line and the last head fit together. A head announces a line before it is written,
 * and the next one signs it. So a line that no head announces or signs was not left by a machine
 * that stopped in the middle. pending: the hash of the token that was found, or EGRESS_NO_HASH. */
enum egress_end {
    EGRESS_END_SIGNED,
    EGRESS_END_UNWRITTEN, /* stopped before the announced line was written */
    EGRESS_END_UNSIGNED,  /* stopped after it, before the head over it */
    EGRESS_END_CUT,
    EGRESS_END_FORGED
};
enum egress_end egress_head_compare(const struct egress_head *head,
                                    const struct egress_chain *chain, const char *pending);

/* How many lines were written, as the head knows them once the announced one may not miss. */
uint64_t egress_head_rows(const struct egress_head *head);

#endif
