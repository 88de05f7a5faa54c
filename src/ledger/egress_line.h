/* The two kinds of lines of the egress log, byte for byte. Internal to ledger/.
 *
 *   {"seq":N, ..., "previous":"<64 hex>","hash":"<64 hex>"}
 *   {"date":"YYYY-MM-DD","count":N,"hash":"<64 hex>","next":"<64 hex>","key":"<64 hex>",
 *    "signature":"<128 hex>"}
 *
 * What is hashed and signed are the bytes as they stand, so that no reader has to agree with us
 * about how JSON is written. */
#ifndef LEDGER_EGRESS_LINE_H
#define LEDGER_EGRESS_LINE_H

#include "base/buf.h"
#include "base/crypto.h"
#include "base/crypto_sign.h"
#include "ledger/egress_log.h"

#define EGRESS_ENTRIES_FILE "entries.jsonl"
#define EGRESS_HEADS_FILE "heads.jsonl"
#define EGRESS_LINE_BYTES_MAX 16384
#define EGRESS_HASH_HEX (2 * CRYPTO_SHA256_BYTES)
#define EGRESS_DATE_BYTES 10
#define EGRESS_NO_HASH "0000000000000000000000000000000000000000000000000000000000000000"

/* Where the chain stands. */
struct egress_chain {
    uint64_t count;
    char hash[EGRESS_HASH_HEX + 1]; /* of the last line; EGRESS_NO_HASH before the first */
};

struct egress_head {
    char date[EGRESS_DATE_BYTES + 1];
    struct egress_chain chain;
    char next[EGRESS_HASH_HEX + 1]; /* of the line about to be written; EGRESS_NO_HASH: of none */
    char key[2 * CRYPTO_SIGN_KEY_BYTES + 1];
};

/* Appends the line with its line break, and moves the chain on to it. */
TD_MUST_CHECK enum td_status egress_line_write(const struct egress_entry *entry,
                                               struct egress_chain *chain, struct buf *out,
                                               struct td_error *err);
/* `line` is without its line break. Checks that it follows the chain and moves the chain on to it;
 * else says in `err` what is wrong (TD_CORRUPT). */
TD_MUST_CHECK enum td_status egress_line_follow(struct td_str line, struct egress_chain *chain,
                                                struct td_error *err);
/* Number and hash of a line, read and not checked. False: it is no such line. */
bool egress_line_read(struct td_str line, struct egress_chain *out);

TD_MUST_CHECK enum td_status egress_head_write(const struct egress_head *head,
                                               const uint8_t seed[static CRYPTO_SIGN_KEY_BYTES],
                                               struct buf *out, struct td_error *err);
/* Reads a head and checks its signature by the key that it names (whose that is, is the caller's
 * question). TD_CORRUPT. */
TD_MUST_CHECK enum td_status egress_head_read(struct td_str line, struct egress_head *out,
                                              struct td_error *err);

/* How the lines lie to the last head. A head announces a line before it is written and is signed over
 * it afterwards, so that a line which nobody signed is no machine's that stopped in the middle. */
enum egress_end {
    EGRESS_END_SIGNED,
    EGRESS_END_UNWRITTEN, /* stopped before the announced line was written */
    EGRESS_END_UNSIGNED,  /* stopped between the announced line and the head over it */
    EGRESS_END_CUT,
    EGRESS_END_FORGED
};
enum egress_end egress_head_compare(const struct egress_head *head,
                                    const struct egress_chain *chain);

#endif
