#include "net/client/client_options.h"

#include "base/time/log.h"
#include "net/transport/address_set.h"

#include <stdint.h>
#include <string.h>
#include <sys/socket.h>

/* Looked at when a connection is made, so that a name that changes its address meanwhile does not
 * help. */
static curl_socket_t open_public(void *ctx, curlsocktype purpose, struct curl_sockaddr *address)
{
    (void)ctx, (void)purpose;
    if (!address_is_public(&address->addr)) {
        log_event(LOG_LEVEL_WARN, "private_address_refused", "family=%d", address->family);
        return CURL_SOCKET_BAD;
    }
    return socket(address->family, address->socktype | SOCK_CLOEXEC, address->protocol);
}

static const struct client_number common[] = {
    {CURLOPT_SSL_VERIFYPEER, 1}, {CURLOPT_SSL_VERIFYHOST, 2},
    {CURLOPT_FOLLOWLOCATION, 0}, {CURLOPT_SSLVERSION, CURL_SSLVERSION_TLSv1_2},
    {CURLOPT_NOSIGNAL, 1},       {CURLOPT_SUPPRESS_CONNECT_HEADERS, 1},
    {CURLOPT_QUICK_EXIT, 1}, /* cancelling must not wait for a name server that does not answer */
};

static CURLcode set_numbers(CURL *easy, const struct client_number *list, size_t count)
{
    CURLcode bad = CURLE_OK;
    for (size_t i = 0; i < count && !bad; i++)
        bad = curl_easy_setopt(easy, list[i].option, (long)list[i].number);
    return bad;
}

CURLcode client_options_numbers(CURL *easy, const struct client_number *list, size_t count)
{
    CURLcode bad = set_numbers(easy, common, sizeof common / sizeof *common);
    return bad ? bad : set_numbers(easy, list, count);
}

CURLcode client_options_method(CURL *easy, const struct client_request *request)
{
    if (strcmp(request->method, "HEAD") == 0)
        return curl_easy_setopt(easy, CURLOPT_NOBODY, 1L);
    if (strcmp(request->method, "GET") == 0 && request->body.len == 0)
        return curl_easy_setopt(easy, CURLOPT_HTTPGET, 1L);
    /* The size comes first: libcurl then copies that many bytes, instead of up to a NUL. */
    CURLcode bad =
        curl_easy_setopt(easy, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)request->body.len);
    const char *bytes = request->body.len ? request->body.data : "";
    bad = bad ? bad
              : curl_easy_setopt(
                    easy, request->shared ? CURLOPT_POSTFIELDS : CURLOPT_COPYPOSTFIELDS, bytes);
    return bad ? bad : curl_easy_setopt(easy, CURLOPT_CUSTOMREQUEST, request->method);
}

CURLcode client_options_security(CURL *easy, const struct client_request *request, bool direct)
{
    CURLcode bad =
        curl_easy_setopt(easy, CURLOPT_PROTOCOLS_STR, request->allow_http ? "http,https" : "https");
    if (!bad && request->ca_file)
        bad = curl_easy_setopt(easy, CURLOPT_CAINFO, request->ca_file);
    if (!bad && request->pinned_key)
        bad = curl_easy_setopt(easy, CURLOPT_PINNEDPUBLICKEY, request->pinned_key);
    if (!bad && request->unix_path)
        bad = curl_easy_setopt(easy, CURLOPT_UNIX_SOCKET_PATH, request->unix_path);
    if (!bad && request->public_only)
        bad = curl_easy_setopt(easy, CURLOPT_OPENSOCKETFUNCTION, open_public);
    if (!bad && request->public_only) /* not by a connection that others have opened */
        bad = curl_easy_setopt(easy, CURLOPT_FRESH_CONNECT, 1L);
    if (!bad && (direct || request->unix_path || request->public_only))
        bad = curl_easy_setopt(easy, CURLOPT_PROXY, "");
    return bad;
}

/* Our own limit for connecting counts, and libcurl's comes a quarter later. But libcurl has from it
 * the time after which it turns to the next address of a host: half of what is left. This machine
 * needs no such time, and a busy loop would find libcurl's passed before it has looked. */
long client_options_connect_ms(const struct client_request *request, bool loopback)
{
    if (loopback)
        return INT32_MAX;
    uint64_t ms = (uint64_t)request->connect_timeout_ms * 5 / 4;
    return ms > 0 && ms < INT32_MAX ? (long)ms : INT32_MAX;
}
