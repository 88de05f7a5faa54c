/* A key that signs (base/crypto/crypto_sign.h), as two files of a folder: `key` (the private seed,
 * mode 0600) and `key.pub`. No state; any thread. */
#ifndef BASE_SIGN_KEY_H
#define BASE_SIGN_KEY_H

#include "base/crypto/crypto_sign.h"

#include <stdbool.h>

#define SIGN_KEY_DIGITS (2 * CRYPTO_SIGN_KEY_BYTES)

struct sign_key_place {
    const char *folder; /* it exists */
    const char *what;   /* "egress ledger": stands before the folder in messages */
    const char *mend;   /* what to do when the key is lost or no key */
};

/* may_make: where there is no key, one is made. *out: **returns new** (crypto_signer_free); key:
 * the public one. TD_CORRUPT, TD_DENIED (others may read it), TD_IO. */
TD_MUST_CHECK enum td_status sign_key_open(const struct sign_key_place *place, bool may_make,
                                           struct crypto_signer **out,
                                           char key[static SIGN_KEY_DIGITS + 1],
                                           struct td_error *err);

#endif
