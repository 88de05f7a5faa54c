#include "net/client/client_url.h"

#include "base/core/error.h"
#include "base/core/str.h"
#include "net/client/loopback.h"

#include <curl/curl.h>
#include <stdio.h>
#include <strings.h>

enum td_status client_url_read(const struct client_request *request,
                               char host[static CLIENT_HOST_BYTES], bool *loopback,
                               struct td_error *err)
{
    char *scheme = NULL, *name = NULL, *user = NULL;
    CURLU *url = curl_url();
    bool good = url && curl_url_set(url, CURLUPART_URL, request->url, 0) == CURLUE_OK &&
                curl_url_get(url, CURLUPART_SCHEME, &scheme, 0) == CURLUE_OK &&
                curl_url_get(url, CURLUPART_HOST, &name, 0) == CURLUE_OK;
    bool with_user = good && curl_url_get(url, CURLUPART_USER, &user, 0) == CURLUE_OK;
    enum td_status status = TD_OK;
    if (!good) {
        status = error_set(err, TD_INVALID, "an upstream's URL is malformed");
    } else if (with_user) {
        status = error_set(err, TD_INVALID, "%s: a URL may not hold a user name or password", name);
    } else if (strcasecmp(scheme, "https") != 0 &&
               (strcasecmp(scheme, "http") != 0 || !request->allow_http)) {
        status = error_set(err, TD_DENIED, "%s: only https is allowed, not %s", name, scheme);
    } else {
        snprintf(host, CLIENT_HOST_BYTES, "%s", name);
        *loopback = loopback_is_host(str_from(name));
    }
    curl_free(scheme);
    curl_free(name);
    curl_free(user);
    curl_url_cleanup(url);
    return status;
}
