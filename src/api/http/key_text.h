/* API keys as they are shown and as they are kept. A key of the store is "sk-tandem-" and 48
 * hexadecimal digits, of 24 random bytes. What is kept of any key is a mark: a hash of the
 * installation's secret and of the key's SHA-256. Pure; any thread. */
#ifndef API_KEY_TEXT_H
#define API_KEY_TEXT_H

#include "base/crypto/crypto.h"
#include "base/crypto/keyed.h"

#define KEY_TEXT_PREFIX "sk-tandem-"
#define KEY_TEXT_BYTES 59 /* with a NUL */

/* A new one. The caller wipes it. */
TD_MUST_CHECK enum td_status key_text_make(char out[static KEY_TEXT_BYTES], struct td_error *err);
/* digest: SHA-256 of the key. */
void key_text_mark(const uint8_t secret[static KEYED_KEY_BYTES],
                   const uint8_t digest[static CRYPTO_SHA256_BYTES],
                   uint8_t mark[static CRYPTO_SHA256_BYTES]);

#endif
