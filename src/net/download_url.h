/* Addresses of downloads: whom a token belongs to, and what of an address may be shown or kept. Any
 * thread. */
#ifndef NET_DOWNLOAD_URL_H
#define NET_DOWNLOAD_URL_H

#include <stdbool.h>

struct download_url {
    char *scheme, *host, *port; /* the scheme's own port when none is written */
    bool has_user;
};

/* False when it is no URL; download_url_deinit in any case. */
bool download_url_read(struct download_url *url, const char *text);
void download_url_deinit(struct download_url *url);

/* http or https: nothing else is fetched. */
bool download_url_is_web(const struct download_url *url);
bool download_url_is_loopback(const struct download_url *url);

/* Whether both have the same origin (RFC 6454, section 5): scheme, host and port. */
bool download_url_same_origin(const char *a, const char *b);

/* Whether a token that belongs to `origin` (a URL of it) may go to `url`: its own origin, over
 * https, and nobody's name in front of the host. */
bool download_url_may_see_token(const char *url, const char *origin);

/* The address without what may be a secret: user, password, query and fragment. *cut: there was
 * some of it. **returns new** (free); NULL when it is no URL. */
char *download_url_public(const char *url, bool *cut);

/* What a later download of the same address is known by, without giving its query away: the public
 * address, and where something was cut the SHA-256 of the whole. **returns new** (free); NULL when
 * it is no URL. */
char *download_url_identity(const char *url);

#endif
