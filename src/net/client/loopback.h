/* Which addresses are certainly this machine: 127.0.0.0/8, ::1, and the names that RFC 6761,
 * section 6.3, reserves for it. libcurl resolves these names itself, without a name server. An
 * address that only may be this machine ("0.0.0.0", its own host name, "127.example.com") is not
 * one of them. No state; any thread. */
#ifndef NET_LOOPBACK_H
#define NET_LOOPBACK_H

#include "tandem/types.h"

/* host: as libcurl reads it from a URL, with an IPv6 address in brackets. */
bool loopback_is_host(struct td_str host);
/* url: absolute, read as libcurl connects to it ("127.1" is 127.0.0.1). False for a text that is
 * not a URL. */
bool loopback_is_url(struct td_str url);

/* Whether this URL, with its port or its scheme's, leads to a server of this machine that listens
 * on `host` (as in "127.0.0.1", "::", "localhost"; "" = any address) and `port`. */
bool loopback_is_url_of(struct td_str url, const char *host, uint16_t port);

#endif
