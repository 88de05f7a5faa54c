/* What the tls_*.c files share. For these files alone. */
#ifndef NET_TLS_INTERNAL_H
#define NET_TLS_INTERNAL_H

#include "net/transport/tls.h"

#include <openssl/ssl.h>
#include <pthread.h>

/* tls_tickets.c: the keys of session tickets. Any thread. */
struct tls_ticket_key {
    uint8_t name[16], cipher[32], mac[32];
    uint64_t begun_ms; /* 0 = none */
};
struct tls_tickets {
    pthread_mutex_t lock;
    struct tls_ticket_key now, before;
    uint64_t use_ms; /* how long one makes tickets; it is believed for twice as long */
};
void tls_tickets_init(struct tls_tickets *tickets, uint32_t use_s);
void tls_tickets_deinit(struct tls_tickets *tickets);
/* No ticket of before is believed any more. */
void tls_tickets_forget(struct tls_tickets *tickets);
void tls_tickets_attach(struct tls_tickets *tickets, SSL_CTX *context);

/* tls_files.c: fills a context from files. *expiry: of the certificate. */
TD_MUST_CHECK enum td_status tls_files_read(const struct tls_files *files, SSL_CTX *context,
                                            time_t *expiry, struct td_error *err);

/* tls_names.c: the context shows the certificate of one of the others to a client that asks for a
 * name which is not its own, but theirs. **takes** the others in any case. False without memory. */
bool tls_names_attach(SSL_CTX *context, SSL_CTX *const *others, size_t count);

/* tls_keeper.c: **returns new** (SSL_CTX_free). */
SSL_CTX *tls_keeper_hold(struct tls_keeper *keeper);

#endif
