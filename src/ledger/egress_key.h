/* The key that signs the heads of an egress log: its files `key` (the private seed, mode 0600) and
 * `key.pub`, which are made at the first start. Internal to ledger/. No state; any thread. */
#ifndef LEDGER_EGRESS_KEY_H
#define LEDGER_EGRESS_KEY_H

#include "base/crypto_sign.h"

#define EGRESS_KEY_DIGITS (2 * CRYPTO_SIGN_KEY_BYTES)
#define EGRESS_MEND "move the folder away (it is evidence) to begin a new one at the next start"

/* is_new: there are no entries yet, so a key may be made. *out: **returns new**
 * (crypto_signer_free); key: the public one. */
TD_MUST_CHECK enum td_status egress_key_open(const char *folder, bool is_new,
                                             struct crypto_signer **out,
                                             char key[static EGRESS_KEY_DIGITS + 1],
                                             struct td_error *err);

#endif
