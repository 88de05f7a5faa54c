/* Message authentication and encryption under one 32-byte key, by OpenSSL. Sealed bytes are nonce,
 * cipher text and tag in a row, with a fresh random nonce each time. The label is authenticated but
 * not stored, so that a file cannot be swapped for another one sealed under the same key. */
#include "base/crypto/keyed.h"

#include "base/core/ascii.h"
#include "base/core/assertion.h"
#include "base/core/error.h"
#include "base/crypto/crypto.h"

#include <limits.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <sodium.h>
#include <stdlib.h>
#include <string.h>

#define NONCE_BYTES 12 /* as GCM defines it; random nonces are safe for 2^32 files per key */
#define TAG_BYTES 16
#define HASH_BLOCK_BYTES 64 /* of SHA-256 */

/* One of the two hashes of HMAC: of the key, each byte xor `pad`, and then of the data. */
static void hash_padded(const uint8_t *key, uint8_t pad, const void *data, size_t len,
                        uint8_t out[static CRYPTO_SHA256_BYTES])
{
    uint8_t block[HASH_BLOCK_BYTES];
    struct crypto_sha256 *hash = crypto_sha256_begin();
    ASSERT(hash != NULL); /* fails only when memory is short */
    memset(block, pad, sizeof block);
    for (size_t i = 0; i < KEYED_KEY_BYTES; i++)
        block[i] ^= key[i];
    crypto_sha256_feed(hash, block, sizeof block);
    crypto_sha256_feed(hash, data, len);
    crypto_sha256_end(hash, out);
    crypto_wipe(block, sizeof block);
}

/* H((K xor opad) || H((K xor ipad) || data)), RFC 2104. By hand, because OpenSSL's HMAC looks its
 * algorithms up with each call, which takes ten times as long as to hash a line. */
void keyed_mac(const uint8_t key[static KEYED_KEY_BYTES], const void *data, size_t len,
               uint8_t out[static KEYED_MAC_BYTES])
{
    uint8_t inner[CRYPTO_SHA256_BYTES];
    hash_padded(key, 0x36, data, len, inner);
    hash_padded(key, 0x5c, inner, sizeof inner, out);
}

void keyed_mac_under(struct td_str key, const void *data, size_t len,
                     uint8_t out[static KEYED_MAC_BYTES])
{
    ASSERT(key.len > 0 && key.len <= INT_MAX);
    unsigned int written = 0;
    unsigned char *ok =
        HMAC(EVP_sha256(), key.data, (int)key.len, (const unsigned char *)data, len, out, &written);
    ASSERT(ok != NULL && written == KEYED_MAC_BYTES); /* fails only when memory is short */
    (void)ok;
}

_Static_assert(KEYED_SHORT_KEY_BYTES == crypto_shorthash_siphashx24_KEYBYTES &&
                   KEYED_SHORT_BYTES == crypto_shorthash_siphashx24_BYTES,
               "the sizes of SipHash-2-4-128");

void keyed_short(const uint8_t key[static KEYED_SHORT_KEY_BYTES], const void *data, size_t len,
                 uint8_t out[static KEYED_SHORT_BYTES])
{
    (void)crypto_shorthash_siphashx24(out, data, len, key);
}

enum td_status keyed_key_parse(struct td_str text, uint8_t key[static KEYED_KEY_BYTES],
                               struct td_error *err)
{
    bool fits = text.len == (size_t)2 * KEYED_KEY_BYTES;
    for (size_t i = 0; fits && i < KEYED_KEY_BYTES; i++) {
        int high = ascii_hex_value(text.data[2 * i]), low = ascii_hex_value(text.data[2 * i + 1]);
        fits = high >= 0 && low >= 0;
        key[i] = (uint8_t)((high & 15) << 4 | (low & 15));
    }
    return fits ? TD_OK
                : error_set(err, TD_INVALID,
                            "the key is not 64 hexadecimal digits (make one with: openssl rand "
                            "-hex 32)");
}

/* Encrypts or decrypts `text` to `out`, which has room for as many bytes. The tag is written or
 * checked. */
static bool run(bool sealing, const uint8_t *key, const uint8_t *nonce, struct td_str label,
                struct td_str text, uint8_t *out, uint8_t *tag)
{
    EVP_CIPHER_CTX *state = EVP_CIPHER_CTX_new();
    int len = 0, last = 0;
    bool ok = state &&
              EVP_CipherInit_ex(state, EVP_aes_256_gcm(), NULL, key, nonce, sealing ? 1 : 0) == 1;
    if (ok && label.len)
        ok = EVP_CipherUpdate(state, NULL, &len, (const unsigned char *)label.data,
                              (int)label.len) == 1;
    if (ok && text.len)
        ok = EVP_CipherUpdate(state, out, &len, (const unsigned char *)text.data, (int)text.len) ==
             1;
    if (ok && !sealing)
        ok = EVP_CIPHER_CTX_ctrl(state, EVP_CTRL_GCM_SET_TAG, TAG_BYTES, tag) == 1;
    ok = ok && EVP_CipherFinal_ex(state, out + text.len, &last) == 1;
    if (ok && sealing)
        ok = EVP_CIPHER_CTX_ctrl(state, EVP_CTRL_GCM_GET_TAG, TAG_BYTES, tag) == 1;
    EVP_CIPHER_CTX_free(state);
    return ok;
}

/* Adds `len` zero bytes to the buffer and returns them. */
static uint8_t *extend(struct buf *out, size_t len)
{
    static const uint8_t zeros[64];
    size_t begin = out->len;
    for (size_t left = len; left > 0 && !out->failed;) {
        size_t part = left < sizeof zeros ? left : sizeof zeros;
        buf_append(out, zeros, part);
        left -= part;
    }
    return out->failed ? NULL : (uint8_t *)out->data + begin;
}

enum td_status keyed_seal(const uint8_t key[static KEYED_KEY_BYTES], struct td_str label,
                          struct td_str text, struct buf *out, struct td_error *err)
{
    if (text.len > INT32_MAX / 2 || label.len > INT16_MAX)
        return error_set(err, TD_LIMIT, "%zu bytes are too many to encrypt at once", text.len);
    uint8_t *room = extend(out, NONCE_BYTES + text.len + TAG_BYTES);
    if (room == NULL)
        return error_set(err, TD_NO_MEMORY, "no memory to encrypt %zu bytes", text.len);
    enum td_status status = crypto_random(room, NONCE_BYTES, err);
    if (status == TD_OK &&
        !run(true, key, room, label, text, room + NONCE_BYTES, room + NONCE_BYTES + text.len))
        status = error_set(err, TD_INTERNAL, "encrypting failed");
    return status;
}

enum td_status keyed_open(const uint8_t key[static KEYED_KEY_BYTES], struct td_str label,
                          struct td_str sealed, struct buf *out, struct td_error *err)
{
    if (sealed.len < NONCE_BYTES + TAG_BYTES || sealed.len > INT32_MAX / 2 || label.len > INT16_MAX)
        return error_set(err, TD_CORRUPT, "%zu bytes are no sealed text", sealed.len);
    struct td_str text = {sealed.data + NONCE_BYTES, sealed.len - NONCE_BYTES - TAG_BYTES};
    uint8_t nonce[NONCE_BYTES], tag[TAG_BYTES];
    memcpy(nonce, sealed.data, NONCE_BYTES);
    memcpy(tag, text.data + text.len, TAG_BYTES);
    size_t begin = out->len;
    uint8_t *room = extend(out, text.len + 1); /* one more byte: an empty text needs room, too */
    if (room == NULL)
        return error_set(err, TD_NO_MEMORY, "no memory to decrypt %zu bytes", text.len);
    bool ok = run(false, key, nonce, label, text, room, tag);
    if (!ok)
        crypto_wipe(room, text.len);
    out->len = ok ? begin + text.len : begin;
    out->data[out->len] = '\0';
    return ok ? TD_OK
              : error_set(err, TD_DENIED,
                          "it does not open with this key: the key is another, or the file was "
                          "changed");
}

/* Of so many bytes in base64, and the NUL that OpenSSL puts behind it. */
static size_t base64_bytes(size_t len)
{
    return (len + 2) / 3 * 4 + 1;
}

enum td_status keyed_seal_text(const uint8_t key[static KEYED_KEY_BYTES], struct td_str label,
                               struct td_str text, struct buf *out, struct td_error *err)
{
    struct buf sealed;
    buf_init(&sealed, NONCE_BYTES + text.len + TAG_BYTES);
    enum td_status status = keyed_seal(key, label, text, &sealed, err);
    if (status == TD_OK) {
        uint8_t *room = extend(out, base64_bytes(sealed.len));
        if (room) {
            EVP_EncodeBlock(room, (const uint8_t *)sealed.data, (int)sealed.len);
            buf_truncate(out, out->len - 1);
        } else {
            status = error_set(err, TD_NO_MEMORY, "no memory to encrypt %zu bytes", text.len);
        }
    }
    buf_deinit(&sealed);
    return status;
}

enum td_status keyed_open_text(const uint8_t key[static KEYED_KEY_BYTES], struct td_str label,
                               struct td_str sealed, struct buf *out, struct td_error *err)
{
    if (sealed.len == 0 || sealed.len % 4 != 0 || sealed.len > INT32_MAX / 2)
        return error_set(err, TD_CORRUPT, "%zu characters are no sealed text", sealed.len);
    uint8_t *bytes = malloc(sealed.len / 4 * 3);
    if (!bytes)
        return error_set(err, TD_NO_MEMORY, "no memory to decrypt %zu bytes", sealed.len);
    int len = EVP_DecodeBlock(bytes, (const uint8_t *)sealed.data, (int)sealed.len);
    for (size_t end = sealed.len; len > 0 && sealed.len - end < 2 && sealed.data[end - 1] == '=';
         end--)
        len--;
    const struct td_str raw = {(const char *)bytes, len < 0 ? 0 : (size_t)len};
    enum td_status status = keyed_open(key, label, raw, out, err);
    free(bytes);
    return status;
}
