/* Ed25519 signatures (RFC 8032; libsodium and OpenSSL inside). A private key is its 32-byte seed.
 * Any thread. */
#ifndef BASE_CRYPTO_SIGN_H
#define BASE_CRYPTO_SIGN_H

#include "tandem/types.h"

#define CRYPTO_SIGN_KEY_BYTES 32 /* the private seed, and the public key */
#define CRYPTO_SIGNATURE_BYTES 64

TD_MUST_CHECK enum td_status crypto_sign_public(const uint8_t seed[static CRYPTO_SIGN_KEY_BYTES],
                                                uint8_t out[static CRYPTO_SIGN_KEY_BYTES],
                                                struct td_error *err);
TD_MUST_CHECK enum td_status crypto_sign_once(const uint8_t seed[static CRYPTO_SIGN_KEY_BYTES],
                                              struct td_str message,
                                              uint8_t out[static CRYPTO_SIGNATURE_BYTES],
                                              struct td_error *err);
/* A key that is ready to sign many times: making it ready costs as much as a signature.
 * **returns new** (crypto_signer_free, which wipes it). */
struct crypto_signer;
TD_MUST_CHECK enum td_status crypto_signer_new(const uint8_t seed[static CRYPTO_SIGN_KEY_BYTES],
                                               struct crypto_signer **out, struct td_error *err);
TD_MUST_CHECK enum td_status crypto_signer_sign(const struct crypto_signer *signer,
                                                struct td_str message,
                                                uint8_t out[static CRYPTO_SIGNATURE_BYTES],
                                                struct td_error *err);
void crypto_signer_free(struct crypto_signer *signer);
/* False for a wrong signature and for bytes that are no valid key. */
bool crypto_sign_verify(const uint8_t public_key[static CRYPTO_SIGN_KEY_BYTES],
                        struct td_str message,
                        const uint8_t signature[static CRYPTO_SIGNATURE_BYTES]);

#endif
