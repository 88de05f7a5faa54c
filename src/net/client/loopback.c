/* A tier on this machine may be reached over plain http, and data that must not leave may go to it.
 * So an address counts as this machine only if no name server and no configuration can make it
 * another one. URLs are read by libcurl, as they will be when it connects. */
#include "net/client/loopback.h"

#include "base/core/shortage.h"
#include "base/core/str.h"

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

/* **Returns new** the host of a loopback URL (curl_free), or NULL; *port 0 = not known. */
static char *loopback_host(struct td_str url, uint16_t *port)
{
    char *text = url.len ? strndup(url.data, url.len) : NULL, *host = NULL, *number = NULL;
    CURLU *parts = text ? curl_url() : NULL;
    if (url.len > 0 && !parts)
        shortage_note();
    if (parts && curl_url_set(parts, CURLUPART_URL, text, 0) == CURLUE_OK &&
        curl_url_get(parts, CURLUPART_HOST, &host, 0) == CURLUE_OK &&
        !loopback_is_host(str_from(host))) {
        curl_free(host);
        host = NULL;
    }
    bool known =
        host && curl_url_get(parts, CURLUPART_PORT, &number, CURLU_DEFAULT_PORT) == CURLUE_OK;
    *port = known ? (uint16_t)strtoul(number, NULL, 10) : 0;
    curl_free(number);
    curl_url_cleanup(parts);
    free(text);
    return host;
}

bool loopback_is_url(struct td_str url)
{
    uint16_t port;
    char *host = loopback_host(url, &port);
    curl_free(host);
    return host != NULL;
}

static bool is_number(const char *host)
{
    return *host >= '0' && *host <= '9';
}

/* Of two numbers of this machine, 127.0.0.1 and 127.0.0.2 or [::1], each may have a server. */
static bool leads_to(const char *named, const char *host)
{
    if (!*host || strcmp(host, "0.0.0.0") == 0 || strcmp(host, "::") == 0)
        return true;
    if (strcmp(host, "::1") == 0)
        return !is_number(named);
    if (is_number(host) && (is_number(named) || *named == '['))
        return strcmp(host, named) == 0;
    return loopback_is_host(str_from(host));
}

bool loopback_is_url_of(struct td_str url, const char *host, uint16_t port)
{
    uint16_t theirs;
    char *named = loopback_host(url, &theirs);
    bool same = named && port && port == theirs && leads_to(named, host);
    curl_free(named);
    return same;
}
