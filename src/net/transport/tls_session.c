/* One connection's TLS, without blocking: whatever needs the socket says what it waits for. */
#include "net/transport/tls_internal.h"

#include <errno.h>
#include <limits.h>
#include <openssl/err.h>
#include <openssl/x509v3.h>
#include <stdlib.h>
#include <string.h>

struct tls_session {
    SSL *ssl;
};

struct tls_session *tls_session_new(struct tls_keeper *keeper, int fd)
{
    struct tls_session *session = calloc(1, sizeof *session);
    SSL_CTX *context = tls_keeper_hold(keeper);
    if (session)
        session->ssl = SSL_new(context); /* holds the context from here on */
    SSL_CTX_free(context);
    if (!session || !session->ssl || SSL_set_fd(session->ssl, fd) != 1) {
        tls_session_free(session);
        ERR_clear_error();
        return NULL;
    }
    SSL_set_accept_state(session->ssl);
    return session;
}

void tls_session_free(struct tls_session *session)
{
    if (!session)
        return;
    SSL_free(session->ssl);
    free(session);
}

enum tls_result tls_session_accept(struct tls_session *session, const char **reason)
{
    ERR_clear_error();
    int done = SSL_accept(session->ssl);
    if (done == 1)
        return TLS_DONE;
    int code = SSL_get_error(session->ssl, done);
    if (code == SSL_ERROR_WANT_READ)
        return TLS_WANT_READ;
    if (code == SSL_ERROR_WANT_WRITE)
        return TLS_WANT_WRITE;
    unsigned long error = ERR_peek_error();
    const char *words = error ? ERR_reason_error_string(error) : NULL;
    *reason = words ? words : "the client left";
    bool http = ERR_GET_LIB(error) == ERR_LIB_SSL && ERR_GET_REASON(error) == SSL_R_HTTP_REQUEST;
    ERR_clear_error();
    return http ? TLS_PLAIN_HTTP : TLS_FAILED;
}

/* The result of a read or write of `done` bytes in the terms of read(2). */
static ssize_t result_of(struct tls_session *session, int done, bool *wants_write)
{
    if (done > 0)
        return done;
    int code = SSL_get_error(session->ssl, done);
    int saved = errno;
    if (wants_write)
        *wants_write = code == SSL_ERROR_WANT_WRITE;
    bool again = code == SSL_ERROR_WANT_READ || code == SSL_ERROR_WANT_WRITE;
    ERR_clear_error();
    if (code == SSL_ERROR_ZERO_RETURN)
        return 0;
    errno = again ? EAGAIN : code == SSL_ERROR_SYSCALL && saved ? saved : EPROTO;
    return -1;
}

ssize_t tls_session_read(struct tls_session *session, void *bytes, size_t size, bool *wants_write)
{
    ERR_clear_error();
    errno = 0;
    *wants_write = false;
    return result_of(session, SSL_read(session->ssl, bytes, size > INT_MAX ? INT_MAX : (int)size),
                     wants_write);
}

ssize_t tls_session_write(struct tls_session *session, const void *bytes, size_t len)
{
    ERR_clear_error();
    errno = 0;
    ssize_t done = result_of(
        session, SSL_write(session->ssl, bytes, len > INT_MAX ? INT_MAX : (int)len), NULL);
    if (done != 0)
        return done;
    errno = EPIPE;
    return -1;
}

bool tls_session_has_pending(const struct tls_session *session)
{
    return SSL_has_pending(session->ssl) == 1;
}

void tls_session_end(struct tls_session *session)
{
    ERR_clear_error();
    (void)SSL_shutdown(session->ssl); /* where the socket is full, its end says the same */
    ERR_clear_error();
}

bool tls_session_is_http2(const struct tls_session *session)
{
    const unsigned char *name = NULL;
    unsigned len = 0;
    SSL_get0_alpn_selected(session->ssl, &name, &len);
    return len == 2 && memcmp(name, "h2", 2) == 0;
}

/* --- who the client is --- */

static bool take_name(const ASN1_STRING *text, char name[static TLS_NAME_BYTES])
{
    const unsigned char *bytes = ASN1_STRING_get0_data(text);
    int len = ASN1_STRING_length(text);
    if (len <= 0 || len >= TLS_NAME_BYTES)
        return false;
    for (int i = 0; i < len; i++)
        if (bytes[i] < ' ' || bytes[i] >= 0x7f)
            return false;
    memcpy(name, bytes, (size_t)len);
    name[len] = '\0';
    return true;
}

/* The first DNS name or URI; *there says whether the certificate has any. */
static bool take_alternative(const X509 *certificate, bool *there, char name[static TLS_NAME_BYTES])
{
    GENERAL_NAMES *names = X509_get_ext_d2i(certificate, NID_subject_alt_name, NULL, NULL);
    bool taken = false;
    *there = false;
    for (int i = 0; i < sk_GENERAL_NAME_num(names) && !*there; i++) {
        const GENERAL_NAME *one = sk_GENERAL_NAME_value(names, i);
        if (one->type != GEN_DNS && one->type != GEN_URI)
            continue;
        *there = true;
        taken = take_name(one->type == GEN_DNS ? one->d.dNSName : one->d.uniformResourceIdentifier,
                          name);
    }
    GENERAL_NAMES_free(names);
    return taken;
}

bool tls_session_client(const struct tls_session *session, char name[static TLS_NAME_BYTES])
{
    const X509 *certificate = SSL_get0_peer_certificate(session->ssl);
    bool there = false;
    if (!certificate || SSL_get_verify_result(session->ssl) != X509_V_OK)
        return false;
    bool taken = take_alternative(certificate, &there, name);
    if (there)
        return taken;
    const X509_NAME *subject = X509_get_subject_name(certificate);
    int at = X509_NAME_get_index_by_NID(subject, NID_commonName, -1);
    const X509_NAME_ENTRY *entry = at >= 0 ? X509_NAME_get_entry(subject, at) : NULL;
    return entry && take_name(X509_NAME_ENTRY_get_data(entry), name);
}
