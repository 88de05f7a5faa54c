/* JSON Web Tokens that are signed with RSA and SHA-256 (RS256: RFC 7515, RFC 7518 section 3.3), as
 * servers that give out access tokens ask for them. OpenSSL inside. Any thread. */
#ifndef NET_JWT_H
#define NET_JWT_H

#include "base/bytes/buf.h"

/* Appends HEADER.CLAIMS.SIGNATURE; header and claims are JSON. pem: a private key (PKCS#8 or
 * PKCS#1) without a password. TD_INVALID when it is none of RSA. */
TD_MUST_CHECK enum td_status jwt_sign(struct td_str pem, struct td_str header, struct td_str claims,
                                      struct buf *out, struct td_error *err);

#endif
