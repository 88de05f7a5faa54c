/* Several certificates: a client says in its first message which name it wants (RFC 6066, section
 * 3), and gets the certificate that is for it. The contexts of the others belong to the one that
 * connections begin with, and are freed with it. */
#include "net/transport/tls_internal.h"

#include <openssl/x509v3.h>
#include <stdlib.h>
#include <string.h>

struct names {
    size_t count;
    SSL_CTX *contexts[];
};

static pthread_once_t once = PTHREAD_ONCE_INIT;
static int place = -1;

static void free_names(void *parent, void *value, CRYPTO_EX_DATA *data, int index, long number,
                       void *ctx)
{
    struct names *names = value;
    (void)parent;
    (void)data;
    (void)index;
    (void)number;
    (void)ctx;
    for (size_t i = 0; names && i < names->count; i++)
        SSL_CTX_free(names->contexts[i]);
    free(names);
}

static void make_place(void)
{
    place = SSL_CTX_get_ex_new_index(0, NULL, NULL, NULL, free_names);
}

static bool is_for(const SSL_CTX *context, const char *name)
{
    X509 *certificate = SSL_CTX_get0_certificate(context);
    return certificate && X509_check_host(certificate, name, strlen(name), 0, NULL) == 1;
}

static int on_name(SSL *ssl, int *alert, void *ctx)
{
    const SSL_CTX *first = SSL_get_SSL_CTX(ssl);
    const struct names *names = SSL_CTX_get_ex_data(first, place);
    const char *name = SSL_get_servername(ssl, TLSEXT_NAMETYPE_host_name);
    (void)alert;
    (void)ctx;
    if (!name || !names || is_for(first, name))
        return SSL_TLSEXT_ERR_OK;
    for (size_t i = 0; i < names->count; i++)
        if (is_for(names->contexts[i], name)) {
            SSL_set_SSL_CTX(ssl, names->contexts[i]);
            break;
        }
    return SSL_TLSEXT_ERR_OK;
}

bool tls_names_attach(SSL_CTX *context, SSL_CTX *const *others, size_t count)
{
    struct names *names = calloc(1, sizeof *names + count * sizeof *names->contexts);
    pthread_once(&once, make_place);
    if (names) {
        names->count = count;
        memcpy(names->contexts, others, count * sizeof *others);
    }
    if (!names || place < 0 || SSL_CTX_set_ex_data(context, place, names) != 1) {
        for (size_t i = 0; i < count; i++)
            SSL_CTX_free(others[i]);
        free(names);
        return false;
    }
    SSL_CTX_set_tlsext_servername_callback(context, on_name);
    return true;
}
