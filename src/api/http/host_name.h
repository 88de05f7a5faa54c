/* Whether a Host header names this server. Immutable input; any thread. */
#ifndef API_HOST_NAME_H
#define API_HOST_NAME_H

#include "api/http/api_host.h"

/* header: the Host that the client wrote. local: our numeric address that it has reached. */
bool host_name_is_ours(const struct api_host *host, const char *header, const char *local);
/* Whether a page of any stranger could read what a client at this address may read: where the
 * browser needs no key, or runs on this machine. */
bool host_name_matters(const struct api_host *host, const char *local);

#endif
