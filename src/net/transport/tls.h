/* TLS for a server's connections (OpenSSL 3): 1.2 and 1.3, certificates with their chains, of which
 * the name that a client asks for (SNI) chooses one, and certificates of clients where an authority
 * for them is named. No type of OpenSSL leaves this room.
 *
 * A keeper has what all connections share, and replaces it when the files change: connections go on
 * with what they began with. It may be used by any thread; tls_keeper_reload by one at a time. A
 * session belongs to its connection's thread, and moves with it. */
#ifndef NET_TLS_H
#define NET_TLS_H

#include "tandem/types.h"

#include <sys/types.h>
#include <time.h>

struct tls_keeper;
struct tls_session;

struct tls_files {
    const char *certificate; /* PEM: the certificate, then those that lead to its authority */
    const char *key;         /* PEM; NULL = in the same file */
    const char *client_ca;   /* PEM: who may vouch for clients; NULL = nobody is asked for one */
};

/* Beside the first. */
#define TLS_MORE_MAX 32

struct tls_options {
    struct tls_files files; /* borrowed for the keeper's life */
    /* [more_count] further certificates, for names that the first is not for; without client_ca.
     * The first one of them with the name is shown, and the first of all where none has it.
     * Borrowed. */
    const struct tls_files *more;
    size_t more_count;
    bool client_required;  /* a client without a certificate is refused */
    bool http2;            /* offered by ALPN */
    uint32_t ticket_key_s; /* how long a key of session tickets is used; 0 = 6 hours */
};

/* Reads the files. TD_NOT_FOUND, TD_DENIED (others may read the key), TD_INVALID, with the file and
 * what is wrong with it. **returns new** (tls_keeper_free, after all its sessions). */
TD_MUST_CHECK enum td_status tls_keeper_new(const struct tls_options *options,
                                            struct tls_keeper **out, struct td_error *err);
void tls_keeper_free(struct tls_keeper *keeper);
/* Reads the files again. On failure everything stays as it is. */
TD_MUST_CHECK enum td_status tls_keeper_reload(struct tls_keeper *keeper, struct td_error *err);
/* Whether the files are others than those last read, with or without success. */
bool tls_keeper_is_stale(const struct tls_keeper *keeper);
/* When the first of the certificates in use ends. */
time_t tls_keeper_expiry(const struct tls_keeper *keeper);

enum tls_result {
    TLS_DONE,
    TLS_WANT_READ,
    TLS_WANT_WRITE,
    TLS_FAILED,
    TLS_PLAIN_HTTP /* of a handshake: the client speaks HTTP, unencrypted */
};

/* fd is non-blocking, and stays the caller's. NULL without memory. **returns new**
 * (tls_session_free). */
struct tls_session *tls_session_new(struct tls_keeper *keeper, int fd);
void tls_session_free(struct tls_session *session);
/* *reason: of a failure; text that lives for ever. */
enum tls_result tls_session_accept(struct tls_session *session, const char **reason);
/* As read(2) and write(2), with EAGAIN. A read that has to write first says so in *wants_write. */
ssize_t tls_session_read(struct tls_session *session, void *bytes, size_t size, bool *wants_write);
ssize_t tls_session_write(struct tls_session *session, const void *bytes, size_t len);
/* Decrypted bytes that wait to be read: no event of the socket tells of them. */
bool tls_session_has_pending(const struct tls_session *session);
/* Tells the peer that no more comes. */
void tls_session_end(struct tls_session *session);
bool tls_session_is_http2(const struct tls_session *session);
/* Who the client's certificate says it is: the first DNS name or URI in it, otherwise its common
 * name. False without a certificate, or with a name of other than 1 to 127 printable ASCII
 * characters. */
#define TLS_NAME_BYTES 128
bool tls_session_client(const struct tls_session *session, char name[static TLS_NAME_BYTES]);

#endif
