/* Reading an egress log beside its writer, or what `tandem egress export` made of one: a first line
 * {"public_key": hex}, the heads, the entries. One caller, any thread. */
#ifndef LEDGER_EGRESS_READ_H
#define LEDGER_EGRESS_READ_H

#include "base/crypto_sign.h"

#define EGRESS_KEY_HEX (2 * CRYPTO_SIGN_KEY_BYTES)

/* Each line, without its line break; other than TD_OK ends the reading. */
typedef enum td_status egress_line_fn(void *ctx, struct td_str line, struct td_error *err);

/* The key line, heads and entries of a folder as an exported file has them, in one consistent
 * state. */
TD_MUST_CHECK enum td_status egress_each_line(const char *path, egress_line_fn *fn, void *ctx,
                                              struct td_error *err);

/* Is it a line of a transfer? */
bool egress_is_entry(struct td_str line);

#endif
