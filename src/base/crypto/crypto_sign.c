/* Ed25519. A key is handled as its 32 raw bytes, so that key files have no format to parse.
 * libsodium signs, because a signature stands in the way of each request to a server elsewhere, and
 * OpenSSL 3 takes more than twice as long for one (37 us against 17 us). OpenSSL checks them, so
 * that what one library makes another one reads. */
#include "base/crypto/crypto_sign.h"

#include "base/core/error.h"

#include <openssl/evp.h>
#include <pthread.h>
#include <sodium.h>
#include <stdlib.h>

static EVP_PKEY *private_key(const uint8_t *seed)
{
    return EVP_PKEY_new_raw_private_key(EVP_PKEY_ED25519, NULL, seed, CRYPTO_SIGN_KEY_BYTES);
}

enum td_status crypto_sign_public(const uint8_t seed[static CRYPTO_SIGN_KEY_BYTES],
                                  uint8_t out[static CRYPTO_SIGN_KEY_BYTES], struct td_error *err)
{
    EVP_PKEY *key = private_key(seed);
    size_t len = CRYPTO_SIGN_KEY_BYTES;
    bool ok = key && EVP_PKEY_get_raw_public_key(key, out, &len) == 1;
    EVP_PKEY_free(key);
    return ok ? TD_OK
              : error_set(err, TD_INTERNAL, "the system's Ed25519 signatures are not available");
}

struct crypto_signer {
    unsigned char key[crypto_sign_SECRETKEYBYTES]; /* seed and public key */
};

static pthread_once_t began = PTHREAD_ONCE_INIT;
static bool usable;

static void begin(void)
{
    usable = sodium_init() >= 0;
}

enum td_status crypto_signer_new(const uint8_t seed[static CRYPTO_SIGN_KEY_BYTES],
                                 struct crypto_signer **out, struct td_error *err)
{
    unsigned char public_key[crypto_sign_PUBLICKEYBYTES];
    *out = NULL;
    pthread_once(&began, begin);
    struct crypto_signer *signer = calloc(1, sizeof *signer);
    if (!signer)
        return error_set(err, TD_NO_MEMORY, "no memory for a key");
    if (!usable || crypto_sign_seed_keypair(public_key, signer->key, seed) != 0) {
        crypto_signer_free(signer);
        return error_set(err, TD_INTERNAL, "the system's Ed25519 signatures are not available");
    }
    *out = signer;
    return TD_OK;
}

enum td_status crypto_signer_sign(const struct crypto_signer *signer, struct td_str message,
                                  uint8_t out[static CRYPTO_SIGNATURE_BYTES], struct td_error *err)
{
    if (crypto_sign_detached(out, NULL, (const unsigned char *)message.data, message.len,
                             signer->key) == 0)
        return TD_OK;
    return error_set(err, TD_INTERNAL, "the system's Ed25519 signatures are not available");
}

void crypto_signer_free(struct crypto_signer *signer)
{
    if (!signer)
        return;
    sodium_memzero(signer->key, sizeof signer->key);
    free(signer);
}

enum td_status crypto_sign_once(const uint8_t seed[static CRYPTO_SIGN_KEY_BYTES],
                                struct td_str message, uint8_t out[static CRYPTO_SIGNATURE_BYTES],
                                struct td_error *err)
{
    struct crypto_signer *signer;
    enum td_status status = crypto_signer_new(seed, &signer, err);
    if (status == TD_OK)
        status = crypto_signer_sign(signer, message, out, err);
    crypto_signer_free(signer);
    return status;
}

bool crypto_sign_verify(const uint8_t public_key[static CRYPTO_SIGN_KEY_BYTES],
                        struct td_str message,
                        const uint8_t signature[static CRYPTO_SIGNATURE_BYTES])
{
    EVP_PKEY *key =
        EVP_PKEY_new_raw_public_key(EVP_PKEY_ED25519, NULL, public_key, CRYPTO_SIGN_KEY_BYTES);
    EVP_MD_CTX *context = EVP_MD_CTX_new();
    bool ok = key && context && EVP_DigestVerifyInit(context, NULL, NULL, NULL, key) == 1 &&
              EVP_DigestVerify(context, signature, CRYPTO_SIGNATURE_BYTES,
                               (const uint8_t *)message.data, message.len) == 1;
    EVP_MD_CTX_free(context);
    EVP_PKEY_free(key);
    return ok;
}
