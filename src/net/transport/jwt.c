#include "net/transport/jwt.h"

#include "base/core/error.h"
#include "base/core/str.h"
#include "base/crypto/crypto.h"

#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <stdlib.h>

#define SIGNATURE_BYTES_MAX 1024 /* a key of 8192 bits */
#define TEXT_BYTES_MAX 4096
#define RSA_BITS_MIN 2048

/* Base64 with the alphabet of URLs, without padding (RFC 7515, section 2). */
static void append_base64url(const void *bytes, size_t len, struct buf *out)
{
    unsigned char text[4 * TEXT_BYTES_MAX / 3 + 8];
    if (len > TEXT_BYTES_MAX) {
        out->failed = true;
        return;
    }
    int written = EVP_EncodeBlock(text, bytes, (int)len);
    for (int i = 0; i < written && text[i] != '='; i++)
        buf_append_char(out, text[i] == '+' ? '-' : text[i] == '/' ? '_' : (char)text[i]);
}

/* No password is asked for: the key would come from a terminal that nobody watches. */
static int no_password(char *out, int size, int writing, void *ctx)
{
    (void)out;
    (void)size;
    (void)writing;
    (void)ctx;
    return 0;
}

static EVP_PKEY *read_key(struct td_str pem)
{
    BIO *bio = pem.len < 1 << 20 ? BIO_new_mem_buf(pem.data, (int)pem.len) : NULL;
    EVP_PKEY *key = bio ? PEM_read_bio_PrivateKey(bio, NULL, no_password, NULL) : NULL;
    BIO_free(bio);
    if (key && (EVP_PKEY_base_id(key) != EVP_PKEY_RSA || EVP_PKEY_bits(key) < RSA_BITS_MIN)) {
        EVP_PKEY_free(key);
        key = NULL;
    }
    return key;
}

enum td_status jwt_sign(struct td_str pem, struct td_str header, struct td_str claims,
                        struct buf *out, struct td_error *err)
{
    unsigned char signature[SIGNATURE_BYTES_MAX];
    size_t len = sizeof signature, begin = out->len;
    EVP_PKEY *key = read_key(pem);
    EVP_MD_CTX *ctx = key ? EVP_MD_CTX_new() : NULL;
    append_base64url(header.data, header.len, out);
    buf_append_char(out, '.');
    append_base64url(claims.data, claims.len, out);
    struct td_str message = str_slice(buf_view(out), begin, out->len);
    bool ok =
        ctx && !out->failed && (size_t)EVP_PKEY_size(key) <= sizeof signature &&
        EVP_DigestSignInit(ctx, NULL, EVP_sha256(), NULL, key) == 1 &&
        EVP_DigestSign(ctx, signature, &len, (const unsigned char *)message.data, message.len) == 1;
    bool readable = key != NULL;
    EVP_MD_CTX_free(ctx);
    EVP_PKEY_free(key);
    ERR_clear_error();
    if (!readable)
        return error_set(err, TD_INVALID,
                         "the private key is no RSA key of %d bits or more in PEM, without a "
                         "password",
                         RSA_BITS_MIN);
    if (ok) {
        buf_append_char(out, '.');
        append_base64url(signature, len, out);
    }
    return ok && !out->failed ? TD_OK : error_set(err, TD_NO_MEMORY, "no memory for a signature");
}
