/* Where the server listens, as server.listen, TANDEM_LISTEN and --listen say it: one address or
 * several. Main thread. */
#ifndef APP_CONFIG_LISTEN_H
#define APP_CONFIG_LISTEN_H

#include "app/config/config.h"

#include <sys/types.h>

struct address_set;

/* Whether each of the addresses, which commas separate, is one of: HOST:PORT, unix:/PATH. */
bool config_listen_is_list(const char *list);

/* Fills server.listen, addresses and what follows from them. list: what replaces the file's value,
 * from the setting named `where`; NULL = the file's value, or the default. TD_INVALID. */
TD_MUST_CHECK enum td_status config_listen_fill(struct config *config, const char *list,
                                                const char *where, struct td_error *err);
/* Whether a socket of this address is one that only this machine reaches. */
bool config_listen_is_near(const char *host);

/* server.unix_mode as a number, and server.proxy_protocol_from as a set. False when they are wrong;
 * *bad is then the address at fault. */
bool config_listen_mode(const struct config *config, mode_t *mode);
bool config_listen_proxies(const struct config *config, struct address_set *out, const char **bad);

#endif
