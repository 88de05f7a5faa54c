/* Captive portals: a network that wants a sign-in answers in the place of every server. Seen from
 * here, a page for people or a redirect comes where JSON is due, or the status that was made for it
 * (RFC 6585, section 6). A wrong base_url looks the same, so the words name both. Asking an address
 * of somebody else's whether there is a portal would tell that somebody that we are here. */
#ifndef TIER_PORTAL_H
#define TIER_PORTAL_H

#include <stdbool.h>
#include <string.h>
#include <strings.h>

#define PORTAL_WORDS                                                                        \
    "a web page came in the place of an answer: the network may want a sign-in (a captive " \
    "portal), or base_url is wrong"

/* A page, whose media type says so. content_type may be NULL. */
static inline bool portal_is_page(int code, const char *content_type)
{
    return code == 511 || (code >= 200 && code < 300 && content_type &&
                           strncasecmp(content_type, "text/html", 9) == 0);
}

/* A page, or a redirect to one: they are followed nowhere. */
static inline bool portal_is_likely(int code, const char *content_type)
{
    return portal_is_page(code, content_type) || (code >= 301 && code <= 308 && code != 304);
}

#endif
