/* What the connections of all loops share, and its replacement. A context of OpenSSL is never
 * changed while it is in use: a new one is made from the files and swapped under the lock, and each
 * session holds the one that it began with. So a reload drops no connection, and a broken file
 * changes nothing. */
#include "base/core/assertion.h"
#include "net/transport/tls_internal.h"

#include "base/core/error.h"

#include <openssl/err.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define FILES (3 + 2 * TLS_MORE_MAX)

/* Forward secret, with authenticated encryption; all of what browsers and HTTP libraries of the
 * last ten years offer. TLS 1.3 has its own list. */
#define CIPHERS "ECDHE+AESGCM:ECDHE+CHACHA20"

/* What tells one state of a file from another. */
struct file_mark {
    dev_t device;
    ino_t inode;
    off_t bytes;
    struct timespec written, changed;
};

struct tls_keeper {
    struct tls_options options;
    struct tls_tickets tickets;
    pthread_mutex_t lock; /* of `context` and `expiry` */
    SSL_CTX *context;
    time_t expiry;
    struct file_mark marks[FILES]; /* of the files that were last read */
};

/* Our first choice of what the client offers; HTTP/1.1 is what every client speaks. */
static int on_alpn(SSL *ssl, const unsigned char **out, unsigned char *out_len,
                   const unsigned char *offered, unsigned len, void *ctx)
{
    static const unsigned char both[] = "\2h2\10http/1.1";
    const struct tls_keeper *keeper = ctx;
    const unsigned char *list = keeper->options.http2 ? both : both + 3;
    unsigned list_len = (unsigned)(sizeof both - 1) - (keeper->options.http2 ? 0 : 3);
    unsigned char *found;
    (void)ssl;
    if (SSL_select_next_proto(&found, out_len, list, list_len, offered, len) !=
        OPENSSL_NPN_NEGOTIATED)
        return SSL_TLSEXT_ERR_ALERT_FATAL;
    *out = found;
    return SSL_TLSEXT_ERR_OK;
}

static void set_client_rules(SSL_CTX *context, const struct tls_options *options)
{
    static const unsigned char name[] = "tandem";
    SSL_CTX_set_session_id_context(context, name, sizeof name - 1);
    if (!options->files.client_ca)
        return;
    int required = options->client_required ? SSL_VERIFY_FAIL_IF_NO_PEER_CERT : 0;
    SSL_CTX_set_verify(context, SSL_VERIFY_PEER | required, NULL);
    SSL_CTX_set_verify_depth(context, 5);
}

static SSL_CTX *new_context(struct tls_keeper *keeper)
{
    SSL_CTX *context = SSL_CTX_new(TLS_server_method());
    if (!context)
        return NULL;
    SSL_CTX_set_options(context, SSL_OP_NO_RENEGOTIATION | SSL_OP_NO_COMPRESSION |
                                     SSL_OP_CIPHER_SERVER_PREFERENCE | SSL_OP_PRIORITIZE_CHACHA |
                                     SSL_OP_IGNORE_UNEXPECTED_EOF);
    SSL_CTX_set_mode(context, SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER |
                                  SSL_MODE_RELEASE_BUFFERS);
    SSL_CTX_set_alpn_select_cb(context, on_alpn, keeper);
    tls_tickets_attach(&keeper->tickets, context);
    set_client_rules(context, &keeper->options);
    if (SSL_CTX_set_min_proto_version(context, TLS1_2_VERSION) != 1 ||
        SSL_CTX_set_cipher_list(context, CIPHERS) != 1) {
        SSL_CTX_free(context);
        return NULL;
    }
    return context;
}

/* --- the files --- */

static void mark_files(const struct tls_keeper *keeper, struct file_mark marks[static FILES])
{
    const struct tls_options *options = &keeper->options;
    const char *paths[FILES] = {options->files.certificate, options->files.key,
                                options->files.client_ca};
    for (size_t i = 0; i < options->more_count; i++) {
        paths[3 + 2 * i] = options->more[i].certificate;
        paths[4 + 2 * i] = options->more[i].key;
    }
    for (size_t i = 0; i < FILES; i++) {
        struct stat seen;
        marks[i] = (struct file_mark){0};
        if (paths[i] && stat(paths[i], &seen) == 0)
            marks[i] = (struct file_mark){seen.st_dev, seen.st_ino, seen.st_size, seen.st_mtim,
                                          seen.st_ctim};
    }
}

static bool same_time(const struct timespec *a, const struct timespec *b)
{
    return a->tv_sec == b->tv_sec && a->tv_nsec == b->tv_nsec;
}

bool tls_keeper_is_stale(const struct tls_keeper *keeper)
{
    struct file_mark now[FILES];
    bool same = true;
    mark_files(keeper, now);
    for (size_t i = 0; i < FILES; i++) {
        const struct file_mark *old = &keeper->marks[i];
        same = same && now[i].device == old->device && now[i].inode == old->inode &&
               now[i].bytes == old->bytes && same_time(&now[i].written, &old->written) &&
               same_time(&now[i].changed, &old->changed);
    }
    return !same;
}

static enum td_status no_memory(struct td_error *err)
{
    return error_set(err, TD_NO_MEMORY, "no memory for TLS");
}

/* A context with these files. *expiry: the earlier of what it is and theirs; 0 = none is known. */
static enum td_status open_context(struct tls_keeper *keeper, const struct tls_files *files,
                                   SSL_CTX **out, time_t *expiry, struct td_error *err)
{
    time_t ends = 0;
    *out = new_context(keeper);
    enum td_status status = *out ? tls_files_read(files, *out, &ends, err) : no_memory(err);
    if (status != TD_OK) {
        SSL_CTX_free(*out);
        *out = NULL;
    } else if (*expiry == 0 || ends < *expiry) {
        *expiry = ends;
    }
    return status;
}

/* Of the further certificates. */
static enum td_status open_more(struct tls_keeper *keeper, SSL_CTX *context, time_t *expiry,
                                struct td_error *err)
{
    const struct tls_options *options = &keeper->options;
    SSL_CTX *others[TLS_MORE_MAX];
    size_t count = 0;
    enum td_status status = TD_OK;
    for (; count < options->more_count && status == TD_OK; count += status == TD_OK)
        status = open_context(keeper, &options->more[count], &others[count], expiry, err);
    if (status == TD_OK)
        return count == 0 || tls_names_attach(context, others, count) ? TD_OK : no_memory(err);
    while (count-- > 0)
        SSL_CTX_free(others[count]);
    return status;
}

enum td_status tls_keeper_reload(struct tls_keeper *keeper, struct td_error *err)
{
    struct td_error cause = {0};
    time_t expiry = 0;
    mark_files(keeper, keeper->marks); /* before: what changes while it is read is read again */
    SSL_CTX *context = NULL, *old = NULL;
    enum td_status status = open_context(keeper, &keeper->options.files, &context, &expiry, &cause);
    if (status == TD_OK)
        status = open_more(keeper, context, &expiry, &cause);
    if (status != TD_OK) {
        SSL_CTX_free(context);
        ERR_clear_error();
        return error_set(err, status, "%s", cause.message);
    }
    pthread_mutex_lock(&keeper->lock);
    old = keeper->context;
    keeper->context = context;
    keeper->expiry = expiry;
    pthread_mutex_unlock(&keeper->lock);
    SSL_CTX_free(old);
    if (keeper->options.files.client_ca)
        tls_tickets_forget(&keeper->tickets);
    return TD_OK;
}

/* --- the keeper --- */

enum td_status tls_keeper_new(const struct tls_options *options, struct tls_keeper **out,
                              struct td_error *err)
{
    struct tls_keeper *keeper = calloc(1, sizeof *keeper);
    ASSERT(options->more_count <= TLS_MORE_MAX);
    *out = NULL;
    if (!keeper)
        return error_set(err, TD_NO_MEMORY, "no memory for TLS");
    keeper->options = *options;
    pthread_mutex_init(&keeper->lock, NULL);
    tls_tickets_init(&keeper->tickets, options->ticket_key_s);
    enum td_status status = tls_keeper_reload(keeper, err);
    if (status == TD_OK)
        *out = keeper;
    else
        tls_keeper_free(keeper);
    return status;
}

void tls_keeper_free(struct tls_keeper *keeper)
{
    if (!keeper)
        return;
    SSL_CTX_free(keeper->context);
    tls_tickets_deinit(&keeper->tickets);
    pthread_mutex_destroy(&keeper->lock);
    free(keeper);
}

SSL_CTX *tls_keeper_hold(struct tls_keeper *keeper)
{
    pthread_mutex_lock(&keeper->lock);
    SSL_CTX *context = keeper->context;
    SSL_CTX_up_ref(context);
    pthread_mutex_unlock(&keeper->lock);
    return context;
}

time_t tls_keeper_expiry(const struct tls_keeper *keeper)
{
    return keeper->expiry; /* written by the thread that reads it */
}
