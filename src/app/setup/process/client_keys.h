/* The API keys that clients and the operator must show, as the configuration names them. Main
 * thread. */
#ifndef APP_CLIENT_KEYS_H
#define APP_CLIENT_KEYS_H

#include "tandem/types.h"

struct auth;
struct config;
struct runtime;

/* Whether a server with this configuration would start. TD_INVALID: a variable or a file that it
 * names has no key. TD_DENIED: nobody needs a key, other machines can reach the server, and the
 * configuration does not say that this is wanted. */
TD_MUST_CHECK enum td_status client_keys_check(const struct config *config, struct td_error *err);

/* The latter for an address that other machines reach. */
TD_MUST_CHECK enum td_status client_keys_check_address(const struct config *config,
                                                       const char *address, struct td_error *err);

/* Reads the keys of the configuration into *auth, which is made when there is none yet (auth_free).
 * It is open where there are none in the configuration at the start. On failure the keys of before
 * stay. TD_DENIED: as above. */
TD_MUST_CHECK enum td_status client_keys_read(struct runtime *runtime, struct auth **auth,
                                              struct td_error *err);

#endif
