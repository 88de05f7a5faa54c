/* SHA-256 and system randomness (OpenSSL inside). Any thread. */
#ifndef BASE_CRYPTO_H
#define BASE_CRYPTO_H

#include "tandem/types.h"

#define CRYPTO_SHA256_BYTES 32

void crypto_sha256(const void *data, size_t len, uint8_t out[static CRYPTO_SHA256_BYTES]);
/* The same over bytes that come in parts. **returns new** (crypto_sha256_end frees it); NULL
 * without memory. */
struct crypto_sha256;
struct crypto_sha256 *crypto_sha256_begin(void);
void crypto_sha256_feed(struct crypto_sha256 *hash, const void *data, size_t len);
void crypto_sha256_end(struct crypto_sha256 *hash, uint8_t out[static CRYPTO_SHA256_BYTES]);
/* Lower-case hex of `len` bytes into out[2 * len + 1]. */
void crypto_hex(const uint8_t *data, size_t len, char *out);
/* The same back: exactly 2 * len lower-case digits. */
bool crypto_unhex(struct td_str text, uint8_t *out, size_t len);
TD_MUST_CHECK enum td_status crypto_random(void *out, size_t len, struct td_error *err);
/* Equal-time comparison for secrets. */
bool crypto_equal(const void *a, const void *b, size_t len);
/* Wipes memory in a way the compiler keeps. */
void crypto_wipe(void *data, size_t len);
/* What the calling thread's stack holds of calls that have returned: 512 KB below the caller. */
void crypto_wipe_stack(void);

#endif
