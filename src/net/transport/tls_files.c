/* Certificates, keys and authorities from files. Each message names the file: whoever reads it may
 * have three, and they are often replaced by programs. A key that others can read is refused,
 * because nobody can tell who already has. */
#include "net/transport/tls_internal.h"

#include "base/bytes/buf.h"
#include "base/bytes/file.h"
#include "base/core/error.h"
#include "base/crypto/crypto.h"

#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/x509v3.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define FILE_BYTES_MAX (1024 * 1024)

/* The whole file as a source of PEM. The buffer is the caller's. */
static BIO *open_pem(const char *path, struct buf *text, struct td_error *err)
{
    buf_init(text, FILE_BYTES_MAX);
    if (buf_read_file(text, path, err) != TD_OK)
        return NULL;
    BIO *source = BIO_new_mem_buf(text->len ? text->data : "", (int)text->len);
    if (!source)
        error_set(err, TD_NO_MEMORY, "no memory for %s", path);
    return source;
}

static void close_pem(BIO *source, struct buf *text)
{
    BIO_free(source);
    if (text->data)
        crypto_wipe(text->data, text->len);
    buf_deinit(text);
}

/* Nobody can type a passphrase into a server. */
static int no_passphrase(char *out, int size, int writes, void *ctx)
{
    (void)out, (void)size, (void)writes;
    *(bool *)ctx = true;
    return -1;
}

static time_t expiry_of(const X509 *certificate)
{
    struct tm tm = {0};
    return ASN1_TIME_to_tm(X509_get0_notAfter(certificate), &tm) == 1 ? timegm(&tm) : 0;
}

static enum td_status read_certificates(const char *path, SSL_CTX *context, time_t *expiry,
                                        struct td_error *err)
{
    struct buf text;
    BIO *source = open_pem(path, &text, err);
    enum td_status status = source ? TD_OK : err ? err->status : TD_IO;
    X509 *certificate = source ? PEM_read_bio_X509_AUX(source, NULL, NULL, NULL) : NULL;
    if (source && !certificate)
        status = error_set(err, TD_INVALID, "%s: there is no certificate in PEM in it", path);
    if (certificate && SSL_CTX_use_certificate(context, certificate) != 1)
        status = error_set(err, TD_INVALID, "%s: the certificate cannot be used: %s", path,
                           ERR_reason_error_string(ERR_peek_error()));
    if (certificate)
        *expiry = expiry_of(certificate);
    X509_free(certificate);
    SSL_CTX_clear_chain_certs(context);
    while (status == TD_OK && (certificate = PEM_read_bio_X509(source, NULL, NULL, NULL)) != NULL)
        if (SSL_CTX_add0_chain_cert(context, certificate) != 1) {
            X509_free(certificate);
            status =
                error_set(err, TD_INVALID, "%s: a certificate of its chain cannot be used", path);
        }
    close_pem(source, &text);
    ERR_clear_error(); /* the end of the file is one */
    return status;
}

static enum td_status check_mode(const char *path, struct td_error *err)
{
    struct stat seen;
    if (stat(path, &seen) == 0 && (seen.st_mode & 0007))
        return error_set(err, TD_DENIED,
                         "%s: other users may read or write this key (mode %04o); chmod 640 or 600 "
                         "it, and replace the key if others may have it",
                         path, seen.st_mode & 07777);
    return TD_OK;
}

static enum td_status read_key(const char *path, const char *certificate, SSL_CTX *context,
                               struct td_error *err)
{
    struct buf text;
    bool encrypted = false;
    enum td_status status = check_mode(path, err);
    if (status != TD_OK)
        return status;
    BIO *source = open_pem(path, &text, err);
    status = source ? TD_OK : err ? err->status : TD_IO;
    EVP_PKEY *key =
        source ? PEM_read_bio_PrivateKey(source, NULL, no_passphrase, &encrypted) : NULL;
    if (source && !key)
        status = error_set(err, TD_INVALID,
                           encrypted ? "%s: the key has a passphrase, which a server cannot be "
                                       "asked for; write it without one (openssl pkey)"
                                     : "%s: there is no private key in PEM in it",
                           path);
    else if (source &&
             (SSL_CTX_use_PrivateKey(context, key) != 1 || SSL_CTX_check_private_key(context) != 1))
        status = error_set(err, TD_INVALID, "%s: this key is not that of the certificate in %s",
                           path, certificate);
    EVP_PKEY_free(key);
    close_pem(source, &text);
    ERR_clear_error();
    return status;
}

static enum td_status read_authorities(const char *path, SSL_CTX *context, struct td_error *err)
{
    struct buf text;
    size_t count = 0;
    X509 *certificate;
    BIO *source = open_pem(path, &text, err);
    enum td_status status = source ? TD_OK : err ? err->status : TD_IO;
    X509_STORE *store = SSL_CTX_get_cert_store(context);
    while (status == TD_OK && (certificate = PEM_read_bio_X509(source, NULL, NULL, NULL)) != NULL) {
        if (X509_STORE_add_cert(store, certificate) != 1 ||
            SSL_CTX_add_client_CA(context, certificate) != 1)
            status = error_set(err, TD_INVALID, "%s: a certificate in it cannot be used", path);
        X509_free(certificate);
        count++;
    }
    if (status == TD_OK && count == 0)
        status = error_set(err, TD_INVALID, "%s: there is no certificate in PEM in it", path);
    close_pem(source, &text);
    ERR_clear_error();
    return status;
}

enum td_status tls_files_read(const struct tls_files *files, SSL_CTX *context, time_t *expiry,
                              struct td_error *err)
{
    const char *key = files->key ? files->key : files->certificate;
    enum td_status status = read_certificates(files->certificate, context, expiry, err);
    if (status == TD_OK)
        status = read_key(key, files->certificate, context, err);
    if (status == TD_OK && files->client_ca)
        status = read_authorities(files->client_ca, context, err);
    return status;
}
