/* Reads URLs with libcurl's own parser, so that what is compared here is exactly what libcurl
 * connects to. A second parser that reads a URL differently is how a token reaches the wrong
 * host. */
#include "net/download/download_url.h"

#include "base/core/assertion.h"
#include "base/core/str.h"
#include "base/crypto/crypto.h"
#include "net/client/loopback.h"

#include <curl/curl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

static bool has_part(CURLU *url, CURLUPart part)
{
    char *text = NULL;
    bool found = curl_url_get(url, part, &text, 0) == CURLUE_OK;
    curl_free(text);
    return found;
}

bool download_url_read(struct download_url *out, const char *text)
{
    ASSERT(out != NULL && text != NULL);
    *out = (struct download_url){0};
    CURLU *url = curl_url();
    bool good =
        url && curl_url_set(url, CURLUPART_URL, text, CURLU_NON_SUPPORT_SCHEME) == CURLUE_OK;
    good = good && curl_url_get(url, CURLUPART_SCHEME, &out->scheme, 0) == CURLUE_OK &&
           curl_url_get(url, CURLUPART_HOST, &out->host, 0) == CURLUE_OK;
    /* Schemes that libcurl does not know have no default port. */
    if (good && curl_url_get(url, CURLUPART_PORT, &out->port, CURLU_DEFAULT_PORT) != CURLUE_OK)
        out->port = NULL;
    out->has_user = good && (has_part(url, CURLUPART_USER) || has_part(url, CURLUPART_PASSWORD));
    curl_url_cleanup(url);
    return good;
}

void download_url_deinit(struct download_url *url)
{
    curl_free(url->scheme);
    curl_free(url->host);
    curl_free(url->port);
    *url = (struct download_url){0};
}

bool download_url_is_web(const struct download_url *url)
{
    return strcasecmp(url->scheme, "https") == 0 || strcasecmp(url->scheme, "http") == 0;
}

bool download_url_is_loopback(const struct download_url *url)
{
    return loopback_is_host(str_from(url->host));
}

static bool same_origin(const struct download_url *a, const struct download_url *b)
{
    return strcasecmp(a->scheme, b->scheme) == 0 && strcasecmp(a->host, b->host) == 0 && a->port &&
           b->port && strcmp(a->port, b->port) == 0;
}

bool download_url_same_origin(const char *a, const char *b)
{
    struct download_url left, right;
    bool good = download_url_read(&left, a);
    good &= download_url_read(&right, b);
    good = good && same_origin(&left, &right);
    download_url_deinit(&left);
    download_url_deinit(&right);
    return good;
}

bool download_url_may_see_token(const char *url, const char *origin)
{
    struct download_url target, owner;
    bool good = download_url_read(&target, url);
    good &= download_url_read(&owner, origin);
    good = good && !target.has_user && !owner.has_user && same_origin(&target, &owner) &&
           strcasecmp(target.scheme, "https") == 0;
    download_url_deinit(&target);
    download_url_deinit(&owner);
    return good;
}

char *download_url_public(const char *text, bool *cut)
{
    ASSERT(text != NULL && cut != NULL);
    static const CURLUPart secrets[] = {CURLUPART_USER, CURLUPART_PASSWORD, CURLUPART_OPTIONS,
                                        CURLUPART_QUERY, CURLUPART_FRAGMENT};
    char *shown = NULL, *copy = NULL;
    CURLU *url = curl_url();
    bool good =
        url && curl_url_set(url, CURLUPART_URL, text, CURLU_NON_SUPPORT_SCHEME) == CURLUE_OK;
    *cut = false;
    for (size_t i = 0; good && i < sizeof secrets / sizeof *secrets; i++) {
        *cut |= has_part(url, secrets[i]);
        good = curl_url_set(url, secrets[i], NULL, 0) == CURLUE_OK;
    }
    if (good && curl_url_get(url, CURLUPART_URL, &shown, 0) == CURLUE_OK)
        copy = strdup(shown);
    curl_free(shown);
    curl_url_cleanup(url);
    return copy;
}

char *download_url_identity(const char *text)
{
    bool cut;
    uint8_t digest[CRYPTO_SHA256_BYTES];
    char hex[2 * CRYPTO_SHA256_BYTES + 1], *whole = NULL, *shown = download_url_public(text, &cut);
    if (shown == NULL || !cut)
        return shown;
    crypto_sha256(text, strlen(text), digest);
    crypto_hex(digest, sizeof digest, hex);
    if (asprintf(&whole, "%s sha256:%s", shown, hex) < 0)
        whole = NULL;
    free(shown);
    return whole;
}
