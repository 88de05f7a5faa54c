/* Which addresses are this machine for certain: 127.0.0.0/8, ::1, and the names that RFC 6761,
 * section 6.3, reserves for it, which libcurl resolves by itself and asks no name server for. What
 * only may be this machine ("0.0.0.0", its own name, "127.example.com") is not. No state. */
#ifndef NET_LOOPBACK_H
#define NET_LOOPBACK_H

#include "tandem/types.h"

/* As libcurl's reader of URLs gives it: an IPv6 address in brackets. */
bool loopback_is_host(struct td_str host);
/* Of an absolute URL, read by libcurl as it will be connected to ("127.1" is 127.0.0.1). False for
 * what is no URL. */
bool loopback_is_url(struct td_str url);

#endif
