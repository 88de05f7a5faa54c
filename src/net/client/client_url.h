/* The URL of an upstream server, as a transfer begins. Internal to net/. No state; any thread. */
#ifndef NET_CLIENT_URL_H
#define NET_CLIENT_URL_H

#include "net/client/client.h"

#define CLIENT_HOST_BYTES 256

/* Checks the URL and reads its host, for messages. *loopback: the host is this machine. */
TD_MUST_CHECK enum td_status client_url_read(const struct client_request *request,
                                             char host[static CLIENT_HOST_BYTES], bool *loopback,
                                             struct td_error *err);

#endif
