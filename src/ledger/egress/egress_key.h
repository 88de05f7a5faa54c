/* The key that signs the heads of an egress log: its files `key` (the private seed, mode 0600) and
 * `key.pub`, which are made at the first start. Internal to ledger/. No state; any thread. */
#ifndef LEDGER_EGRESS_KEY_H
#define LEDGER_EGRESS_KEY_H

#include "base/crypto/sign_key.h"

#define EGRESS_KEY_DIGITS SIGN_KEY_DIGITS
#define EGRESS_MEND "move the folder away (it is evidence) to begin a new one at the next start"

/* False, with the reason, when the folder has a key whose record was removed. A new one would be
 * signed by the same key, and nothing would tell that there was another before. */
bool egress_key_has_record(const char *folder, struct td_error *err);

/* is_new: there are no entries yet, so a key may be made. *out: **returns new**
 * (crypto_signer_free); key: the public one. */
TD_MUST_CHECK enum td_status egress_key_open(const char *folder, bool is_new,
                                             struct crypto_signer **out,
                                             char key[static EGRESS_KEY_DIGITS + 1],
                                             struct td_error *err);

#endif
