/* Addresses of downloads: which origin may see a token, and what of an address may be shown or
 * stored. Any thread. */
#ifndef NET_DOWNLOAD_URL_H
#define NET_DOWNLOAD_URL_H

#include <stdbool.h>

struct download_url {
    char *scheme, *host, *port; /* the default port of the scheme if the URL names none */
    bool has_user;
};

/* False when it is no URL. Call download_url_deinit in any case. */
bool download_url_read(struct download_url *url, const char *text);
void download_url_deinit(struct download_url *url);

/* http or https; nothing else is fetched. */
bool download_url_is_web(const struct download_url *url);
bool download_url_is_loopback(const struct download_url *url);

/* Whether both have the same origin (RFC 6454, section 5): scheme, host and port. */
bool download_url_same_origin(const char *a, const char *b);

/* Whether a token that belongs to the origin of the URL `origin` may be sent to `url`: the same
 * origin, over https, without user:password. */
bool download_url_may_see_token(const char *url, const char *origin);

/* The address without user, password, query and fragment, which may be secrets. *cut: something was
 * removed. **returns new** (free); NULL when it is no URL. */
char *download_url_public(const char *url, bool *cut);

/* Identifies the address for a later download without storing its query: the public address, and if
 * something was removed, the SHA-256 of the whole. **returns new** (free); NULL when it is no
 * URL. */
char *download_url_identity(const char *url);

#endif
