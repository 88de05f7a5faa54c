/* What libcurl is told of one request: its method and body, whom it may trust, how long it may
 * connect. For net/client/client.c alone. */
#ifndef NET_CLIENT_OPTIONS_H
#define NET_CLIENT_OPTIONS_H

#include "net/client/client.h"

#include <curl/curl.h>
#include <stdbool.h>

CURLcode client_options_method(CURL *easy, const struct client_request *request);
/* direct: without a proxy. */
CURLcode client_options_security(CURL *easy, const struct client_request *request, bool direct);
long client_options_connect_ms(const struct client_request *request, bool loopback);

#endif
