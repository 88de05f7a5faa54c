/* SHA-256 and random numbers of the system (OpenSSL inside). Any thread. */
#ifndef BASE_CRYPTO_H
#define BASE_CRYPTO_H

#include "tandem/types.h"

#define CRYPTO_SHA256_BYTES 32

void crypto_sha256(const void *data, size_t len, uint8_t out[static CRYPTO_SHA256_BYTES]);
/* The same for bytes that come in parts. **returns new** (crypto_sha256_end frees it); NULL without
 * memory. */
struct crypto_sha256;
struct crypto_sha256 *crypto_sha256_begin(void);
void crypto_sha256_feed(struct crypto_sha256 *hash, const void *data, size_t len);
void crypto_sha256_end(struct crypto_sha256 *hash, uint8_t out[static CRYPTO_SHA256_BYTES]);
/* Writes `len` bytes as lower-case hexadecimal digits to out[2 * len + 1]. */
void crypto_hex(const uint8_t *data, size_t len, char *out);
/* Reads them back; false unless the text is exactly 2 * len lower-case digits. */
bool crypto_unhex(struct td_str text, uint8_t *out, size_t len);
TD_MUST_CHECK enum td_status crypto_random(void *out, size_t len, struct td_error *err);
/* Compares secrets in a time that does not depend on their contents. */
bool crypto_equal(const void *a, const void *b, size_t len);
/* Wipes memory; the compiler cannot remove it. */
void crypto_wipe(void *data, size_t len);
/* Wipes what calls that have returned left on the stack: 512 KB below the caller. */
void crypto_wipe_stack(void);

#endif
