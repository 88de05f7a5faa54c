/* Certificates made on the spot, and a client that speaks TLS. For the tests of net/ alone. */
#ifndef TESTS_TLS_FIXTURE_H
#define TESTS_TLS_FIXTURE_H

#include "http_fixture.h"
#include "net/transport/tls.h"

#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>
#include <sys/stat.h>

static char tls_folder[] = "/tmp/tandem-tls-XXXXXX";

struct made {
    EVP_PKEY *key;
    X509 *certificate;
};

static inline const char *tls_path(const char *name)
{
    static char paths[256][128]; /* those in options live as long as a case */
    static unsigned next;
    char *path = paths[next++ % 256];
    snprintf(path, sizeof paths[0], "%s/%s", tls_folder, name);
    return path;
}

static inline void add_extension(X509 *certificate, int nid, const char *value)
{
    X509_EXTENSION *extension = X509V3_EXT_conf_nid(NULL, NULL, nid, value);
    X509_add_ext(certificate, extension, -1);
    X509_EXTENSION_free(extension);
}

/* alternative: "DNS:a", "URI:spiffe://a" or NULL; issuer NULL = its own. */
static inline struct made make_certificate(const char *name, const char *alternative,
                                           const struct made *issuer, long days)
{
    static long serial;
    struct made made = {EVP_EC_gen("P-256"), X509_new()};
    X509_NAME *subject = X509_get_subject_name(made.certificate);
    X509_set_version(made.certificate, 2);
    ASN1_INTEGER_set(X509_get_serialNumber(made.certificate), ++serial);
    X509_gmtime_adj(X509_getm_notBefore(made.certificate), -3600);
    X509_gmtime_adj(X509_getm_notAfter(made.certificate), days * 86400);
    X509_NAME_add_entry_by_txt(subject, "CN", MBSTRING_UTF8, (const unsigned char *)name, -1, -1,
                               0);
    X509_set_issuer_name(made.certificate,
                         issuer ? X509_get_subject_name(issuer->certificate) : subject);
    X509_set_pubkey(made.certificate, made.key);
    if (!issuer)
        add_extension(made.certificate, NID_basic_constraints, "critical,CA:TRUE");
    if (alternative)
        add_extension(made.certificate, NID_subject_alt_name, alternative);
    X509_sign(made.certificate, issuer ? issuer->key : made.key, EVP_sha256());
    return made;
}

static inline void made_free(struct made *made)
{
    EVP_PKEY_free(made->key);
    X509_free(made->certificate);
}

/* name.pem and name.key in the folder. */
static inline void write_made(const char *name, const struct made *made)
{
    char file[64];
    snprintf(file, sizeof file, "%s.pem", name);
    FILE *out = fopen(tls_path(file), "w");
    PEM_write_X509(out, made->certificate);
    fclose(out);
    snprintf(file, sizeof file, "%s.key", name);
    out = fopen(tls_path(file), "w");
    PEM_write_PrivateKey(out, made->key, NULL, NULL, 0, NULL, NULL);
    fclose(out);
    chmod(tls_path(file), 0600);
}

/* --- a client --- */

struct tls_client {
    int fd;
    SSL_CTX *context;
    SSL *ssl;
};

/* The socket is the client's. False when the handshake fails. */
static inline bool tls_dial_on(struct tls_client *client, int fd, SSL_CTX *context,
                               SSL_SESSION *session)
{
    client->fd = fd;
    client->context = context;
    client->ssl = SSL_new(context);
    SSL_set_fd(client->ssl, fd);
    if (session)
        SSL_set_session(client->ssl, session);
    return SSL_connect(client->ssl) == 1;
}

static inline void tls_hang_up(struct tls_client *client)
{
    SSL_free(client->ssl);
    SSL_CTX_free(client->context);
    close(client->fd);
    ERR_clear_error();
}

static inline bool tls_send(struct tls_client *client, const void *bytes, size_t len)
{
    return SSL_write(client->ssl, bytes, (int)len) == (int)len;
}

/* As `receive`. */
static inline size_t tls_receive(struct tls_client *client, char *out, size_t out_bytes,
                                 const char *until, int timeout_ms)
{
    size_t len = 0;
    out[0] = '\0';
    while (len + 1 < out_bytes && !(until && strstr(out, until))) {
        struct pollfd watched = {.fd = client->fd, .events = POLLIN};
        if (!SSL_pending(client->ssl) && poll(&watched, 1, timeout_ms) <= 0)
            break;
        int got = SSL_read(client->ssl, out + len, (int)(out_bytes - len - 1));
        if (got <= 0)
            break;
        len += (size_t)got;
        out[len] = '\0';
    }
    return len;
}

#endif
