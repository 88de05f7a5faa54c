/* The PROXY protocol, versions 1 and 2 (haproxy.org/download/2.9/doc/proxy-protocol.txt): a proxy
 * writes in front of a connection whose it is. Pure; any thread. */
#ifndef NET_PROXY_HEADER_H
#define NET_PROXY_HEADER_H

#include "tandem/types.h"

/* Of version 2, with what it may carry behind the addresses (TLVs, which are not used). HAProxy
 * and the large clouds send a few hundred bytes. Version 1 has 107 at most. */
#define PROXY_HEADER_BYTES_MAX 2048
#define PROXY_ADDRESS_BYTES 46 /* INET6_ADDRSTRLEN */

enum proxy_result {
    PROXY_MORE, /* nothing is wrong so far, and all bytes are the header's */
    PROXY_DONE, /* *used bytes are the header */
    PROXY_BAD
};

struct proxy_header {
    /* The client's numeric address; empty: the header names none, because the connection is the
     * proxy's own, or of a kind that has no such address. */
    char client[PROXY_ADDRESS_BYTES];
};

/* bytes: what has come, from the start of the connection. */
enum proxy_result proxy_header_read(struct td_str bytes, struct proxy_header *out, size_t *used);

#endif
