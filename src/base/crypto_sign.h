/* Ed25519 signatures (RFC 8032; OpenSSL inside). A private key is its 32-byte seed. Any thread. */
#ifndef BASE_CRYPTO_SIGN_H
#define BASE_CRYPTO_SIGN_H

#include "tandem/types.h"

#define CRYPTO_SIGN_KEY_BYTES 32 /* the private seed, and the public key */
#define CRYPTO_SIGNATURE_BYTES 64

TD_MUST_CHECK enum td_status crypto_sign_public(const uint8_t seed[static CRYPTO_SIGN_KEY_BYTES],
                                                uint8_t out[static CRYPTO_SIGN_KEY_BYTES],
                                                struct td_error *err);
TD_MUST_CHECK enum td_status crypto_sign(const uint8_t seed[static CRYPTO_SIGN_KEY_BYTES],
                                         struct td_str message,
                                         uint8_t out[static CRYPTO_SIGNATURE_BYTES],
                                         struct td_error *err);
/* False for a wrong signature and for bytes that are no valid key. */
bool crypto_sign_verify(const uint8_t public_key[static CRYPTO_SIGN_KEY_BYTES],
                        struct td_str message,
                        const uint8_t signature[static CRYPTO_SIGNATURE_BYTES]);

#endif
