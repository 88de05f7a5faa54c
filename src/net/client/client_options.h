/* What libcurl is told of one request: its method and body, whom it may trust, how long it may
 * connect. For net/client/client.c, and what all transfers have for net/download/ too. */
#ifndef NET_CLIENT_OPTIONS_H
#define NET_CLIENT_OPTIONS_H

#include "net/client/client.h"

#include <curl/curl.h>
#include <stdbool.h>

struct client_number {
    CURLoption option;
    int number;
};

/* What all transfers have (who answers is checked, nothing is followed, no signals), and then what
 * the list says. */
CURLcode client_options_numbers(CURL *easy, const struct client_number *list, size_t count);
CURLcode client_options_method(CURL *easy, const struct client_request *request);
/* direct: without a proxy. */
CURLcode client_options_security(CURL *easy, const struct client_request *request, bool direct);
long client_options_connect_ms(const struct client_request *request, bool loopback);

#endif
