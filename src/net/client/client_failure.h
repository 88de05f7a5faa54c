/* What a failure of libcurl means, in words that say no address and in its own, which may. */
#ifndef NET_CLIENT_FAILURE_H
#define NET_CLIENT_FAILURE_H

#include "tandem/types.h"

#include <curl/curl.h>

struct client_failure {
    enum td_status status;
    const char *words;  /* a literal */
    const char *secret; /* the same, or what libcurl says; **borrows** `detail` */
};

/* detail: of CURLOPT_ERRORBUFFER, may be empty. in_head: there is a connection, and the head of the
 * answer is not whole. */
void client_failure_read(CURLcode code, const char *detail, bool in_head,
                         struct client_failure *out);

#endif
