/* The sockets of a server that starts: those of its configuration, or those that the service
 * manager hands over instead. Main thread. */
#ifndef APP_LISTENERS_H
#define APP_LISTENERS_H

#include "net/server/server.h"
#include "net/transport/tls.h"

struct config;
struct listeners;
struct tls_options;

/* More than the configuration can name. */
#define LISTENERS_MAX 16

/* What server.tls says; false where it has no certificate. The options borrow `more`. */
bool listeners_tls(const struct config *config, struct tls_files more[static TLS_MORE_MAX],
                   struct tls_options *out);
/* A certificate that ends in fewer days is warned of. Those of the usual programs are replaced a
 * month before their end. */
#define LISTENERS_EXPIRY_DAYS 21

/* Makes sure that the server may listen there. worker_count: who will call listeners_take. A
 * configuration whose server strangers could use is refused, as client_keys_check_address says it.
 * **returns new** (listeners_close). */
TD_MUST_CHECK enum td_status listeners_open(const struct config *config, uint32_t worker_count,
                                            struct listeners **out, struct td_error *err);

/* TD_INVALID: a tier has the address of this very server, so that each question would come back.
 * It happens where OPENAI_BASE_URL is meant for a program that uses this server. */
TD_MUST_CHECK enum td_status listeners_check_tiers(const struct config *config, const char *host,
                                                   uint16_t port, struct td_error *err);

/* A set of sockets for one more worker. The descriptors in *out are the caller's. */
TD_MUST_CHECK enum td_status listeners_take(struct listeners *listeners,
                                            struct server_socket out[static LISTENERS_MAX],
                                            size_t *count, struct td_error *err);
/* The address that a client on this machine may use: "http://127.0.0.1:8080", "unix:/run/t.sock".
 * After the first listeners_take. *port is 0 for a path. */
void listeners_url(const struct listeners *listeners, char *url, size_t size, uint16_t *port);
/* Reads certificates again: those that changed, or all of them. What is broken is logged, and the
 * one in use stays. */
void listeners_tend(struct listeners *listeners);
void listeners_reload(struct listeners *listeners);
/* How often listeners_tend wants to be called; UINT64_MAX = never. */
uint64_t listeners_wait_ms(const struct listeners *listeners);
/* Takes paths away; the workers' descriptors stay open. Accepts NULL. */
void listeners_close(struct listeners *listeners);

#endif
