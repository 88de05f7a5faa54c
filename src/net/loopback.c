/* A tier on this machine may be reached over plain http, and data that must not leave may go to it.
 * So an address counts as this machine only if no name server and no configuration can make it
 * another one. URLs are read by libcurl, as they will be when it connects. */
#include "net/loopback.h"

#include "base/shortage.h"
#include "base/str.h"

#include <arpa/inet.h>
#include <curl/curl.h>
#include <stdlib.h>

bool loopback_is_host(struct td_str host)
{
    char text[INET_ADDRSTRLEN] = "";
    struct in_addr address;
    if (host.len > 0 && host.len < sizeof text)
        memcpy(text, host.data, host.len);
    if (inet_pton(AF_INET, text, &address) == 1)
        return ntohl(address.s_addr) >> 24 == 127;
    const struct td_str suffix = STR(".localhost");
    return str_equal(host, STR("[::1]")) || str_equal_nocase(host, STR("localhost")) ||
           (host.len > suffix.len &&
            str_equal_nocase(str_slice(host, host.len - suffix.len, host.len), suffix));
}

bool loopback_is_url(struct td_str url)
{
    char *text = url.len ? strndup(url.data, url.len) : NULL, *host = NULL;
    CURLU *parts = text ? curl_url() : NULL;
    if (url.len > 0 && !parts)
        shortage_note();
    bool yes = parts && curl_url_set(parts, CURLUPART_URL, text, 0) == CURLUE_OK &&
               curl_url_get(parts, CURLUPART_HOST, &host, 0) == CURLUE_OK &&
               loopback_is_host(str_from(host));
    curl_free(host);
    curl_url_cleanup(parts);
    free(text);
    return yes;
}
