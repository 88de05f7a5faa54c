/* Prepares the requests of a download and finds the file behind redirects. The first request is a
 * GET of one byte and not a HEAD. Signed addresses of a hub's storage often allow only GET. The
 * answer to a range is all that is needed: 206 with the total, or 200 without ranges. Redirects are
 * followed here and not by libcurl, so that each hop is checked and the token never travels
 * along. */
#include "net/download/download_request.h"

#include "base/core/assertion.h"
#include "base/core/error.h"
#include "base/core/str.h"
#include "net/client/client_options.h"
#include "net/download/download_url.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <strings.h>

#define HOPS_MAX 8
#define PAGE_BYTES_MAX ((size_t)64 << 10)
#define CONNECT_MS_DEFAULT 15000
#define IDLE_MS_DEFAULT 30000

static void global_init(void)
{
    curl_global_init(CURL_GLOBAL_DEFAULT);
}

bool download_cancelled(const struct download_options *options)
{
    return options->cancel && atomic_load(options->cancel);
}

void download_request_deinit(struct download_request *request)
{
    curl_easy_cleanup(request->easy);
    curl_slist_free_all(request->lines);
    *request = (struct download_request){0};
}

void download_place_deinit(struct download_place *place)
{
    free(place->url);
    *place = (struct download_place){0};
}

/* --- one request --- */

static size_t on_header(char *data, size_t size, size_t count, void *ctx)
{
    struct download_request *request = ctx;
    download_headers_feed(&request->headers, (struct td_str){data, size * count});
    return size * count;
}

static int on_tick(void *ctx, curl_off_t total, curl_off_t now, curl_off_t up_total,
                   curl_off_t up_now)
{
    (void)total, (void)now, (void)up_total, (void)up_now;
    return download_cancelled(ctx) ? 1 : 0;
}

static bool add_line(struct download_request *request, const char *line)
{
    struct curl_slist *longer = curl_slist_append(request->lines, line);
    if (longer)
        request->lines = longer;
    return longer != NULL;
}

/* Adds the token for its own origin over TLS and nowhere else: not for another port of its host,
 * and not when another origin has redirected us back to it. */
static bool add_bearer(struct download_request *request, const struct download_options *options,
                       const char *url)
{
    if (!options->bearer || !options->bearer_origin || request->strayed ||
        !download_url_may_see_token(url, options->bearer_origin))
        return true;
    char *line = NULL;
    bool good = asprintf(&line, "Authorization: Bearer %s", options->bearer) >= 0 &&
                add_line(request, line);
    free(line);
    return good;
}

static bool add_lines(struct download_request *request, const struct download_options *options,
                      const char *url, const char *validator)
{
    char line[DOWNLOAD_TAG_BYTES + 16];
    curl_slist_free_all(request->lines);
    request->lines = NULL;
    if (validator && *validator) {
        snprintf(line, sizeof line, "If-Range: %s", validator);
        if (!add_line(request, line))
            return false;
    }
    return add_bearer(request, options, url);
}

static const struct client_number numbers[] = {
    {CURLOPT_HTTPGET, 1},
    /* HTTP/2 would put all ranges on one connection, which parallel streams are to avoid. */
    {CURLOPT_HTTP_VERSION, CURL_HTTP_VERSION_1_1},
    {CURLOPT_LOW_SPEED_LIMIT, 1},
    {CURLOPT_BUFFERSIZE, 256 * 1024},
    {CURLOPT_NOPROGRESS, 0},
};

static CURLcode set_all(struct download_request *request, const struct download_options *options,
                        const char *url, bool loopback)
{
    CURL *easy = request->easy;
    uint32_t connect_ms =
        options->connect_timeout_ms ? options->connect_timeout_ms : CONNECT_MS_DEFAULT;
    uint32_t idle_ms = options->idle_timeout_ms ? options->idle_timeout_ms : IDLE_MS_DEFAULT;
    CURLcode bad = curl_easy_setopt(easy, CURLOPT_URL, url);
    bad = bad ? bad : curl_easy_setopt(easy, CURLOPT_PROTOCOLS_STR, "http,https");
    bad = bad ? bad : client_options_numbers(easy, numbers, sizeof numbers / sizeof *numbers);
    bad = bad ? bad : curl_easy_setopt(easy, CURLOPT_HTTPHEADER, request->lines);
    bad = bad ? bad : curl_easy_setopt(easy, CURLOPT_USERAGENT, "tandem/" TANDEM_VERSION);
    bad = bad ? bad : curl_easy_setopt(easy, CURLOPT_ERRORBUFFER, request->words);
    bad = bad ? bad : curl_easy_setopt(easy, CURLOPT_CONNECTTIMEOUT_MS, (long)connect_ms);
    bad = bad ? bad : curl_easy_setopt(easy, CURLOPT_LOW_SPEED_TIME, (long)(idle_ms + 999) / 1000);
    bad = bad ? bad : curl_easy_setopt(easy, CURLOPT_HEADERFUNCTION, on_header);
    bad = bad ? bad : curl_easy_setopt(easy, CURLOPT_HEADERDATA, request);
    bad = bad ? bad : curl_easy_setopt(easy, CURLOPT_XFERINFOFUNCTION, on_tick);
    bad = bad ? bad : curl_easy_setopt(easy, CURLOPT_XFERINFODATA, (void *)(uintptr_t)options);
    if (!bad && options->ca_file)
        bad = curl_easy_setopt(easy, CURLOPT_CAINFO, options->ca_file);
    if (!bad && loopback)
        bad = curl_easy_setopt(easy, CURLOPT_PROXY, "");
    return bad;
}

enum td_status download_request_prepare(struct download_request *request,
                                        const struct download_options *options, const char *url,
                                        uint64_t begin, uint64_t end, const char *validator,
                                        download_write_fn *write, void *ctx, struct td_error *err)
{
    ASSERT(request != NULL && options != NULL);
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, global_init);
    struct download_url parts;
    char range[64] = "";
    if (end > begin)
        snprintf(range, sizeof range, "%llu-%llu", (unsigned long long)begin,
                 (unsigned long long)(end - 1));
    if (request->easy == NULL)
        request->easy = curl_easy_init();
    enum td_status status = TD_OK;
    request->headers = (struct download_headers){0};
    request->words[0] = '\0';
    bool read = download_url_read(&parts, url);
    if (!read)
        status = error_set(err, TD_INVALID, "the source is not a valid URL");
    else if (parts.has_user)
        status = error_set(err, TD_INVALID, "%s: a URL may not hold a user name or password",
                           parts.host);
    else if (!download_url_is_web(&parts))
        status = error_set(err, TD_INVALID, "%s: only http and https, not %.32s", parts.host,
                           parts.scheme);
    else if (request->easy == NULL || !add_lines(request, options, url, validator))
        status = error_set(err, TD_NO_MEMORY, "no memory for a request");
    if (status == TD_OK) {
        CURLcode bad = set_all(request, options, url, download_url_is_loopback(&parts));
        bad = bad ? bad : curl_easy_setopt(request->easy, CURLOPT_RANGE, *range ? range : NULL);
        bad = bad ? bad : curl_easy_setopt(request->easy, CURLOPT_WRITEFUNCTION, write);
        bad = bad ? bad : curl_easy_setopt(request->easy, CURLOPT_WRITEDATA, ctx);
        if (bad)
            status = error_set(err, TD_INVALID, "%s: the HTTP library refuses the request: %s",
                               parts.host, curl_easy_strerror(bad));
    }
    download_url_deinit(&parts);
    return status;
}

long download_request_code(const struct download_request *request)
{
    long code = 0;
    curl_easy_getinfo(request->easy, CURLINFO_RESPONSE_CODE, &code);
    return code;
}

/* --- what went wrong --- */

static enum td_status fail_http(const char *host, long code, struct td_error *err)
{
    if (code == 401 || code == 403)
        return error_set(err, TD_DENIED,
                         "%s: access denied (HTTP %ld); a gated model needs HF_TOKEN, and its "
                         "terms accepted on its page",
                         host, code);
    if (code == 404 || code == 410)
        return error_set(err, TD_NOT_FOUND, "%s: there is no such file (HTTP %ld)", host, code);
    if (code == 416)
        return error_set(err, TD_CORRUPT, "%s: the file is empty (HTTP 416)", host);
    if (code == 408 || code == 429 || code >= 500)
        return error_set(err, TD_UNAVAILABLE, "%s: HTTP %ld; try again later", host, code);
    return error_set(err, TD_CORRUPT, "%s: HTTP %ld is not an answer to a download", host, code);
}

enum td_status download_request_fail(const struct download_request *request, CURLcode code,
                                     struct td_error *err)
{
    char *url = NULL;
    struct download_url parts = {0};
    curl_easy_getinfo(request->easy, CURLINFO_EFFECTIVE_URL, &url);
    if (url)
        download_url_read(&parts, url);
    const char *host = parts.host ? parts.host : "the server";
    const char *words = *request->words ? request->words : curl_easy_strerror(code);
    enum td_status status;
    switch (code) {
    case CURLE_OK:
        status = fail_http(host, download_request_code(request), err);
        break;
    case CURLE_ABORTED_BY_CALLBACK:
        status = error_set(err, TD_CANCELLED, "interrupted");
        break;
    case CURLE_OPERATION_TIMEDOUT:
        status = error_set(err, TD_TIMEOUT, "%s: %s", host, words);
        break;
    case CURLE_OUT_OF_MEMORY:
        status = error_set(err, TD_NO_MEMORY, "%s: %s", host, words);
        break;
    case CURLE_PEER_FAILED_VERIFICATION:
        status = error_set(err, TD_DENIED, "%s: its certificate is not trusted: %s", host, words);
        break;
    case CURLE_SSL_CACERT_BADFILE:
        status = error_set(err, TD_INVALID, "%s: %s", host, words);
        break;
    case CURLE_COULDNT_RESOLVE_HOST:
        status = error_set(err, TD_UNAVAILABLE, "%s: the host name does not resolve", host);
        break;
    default:
        status = error_set(err, TD_UNAVAILABLE, "%s: %s", host, words);
    }
    download_url_deinit(&parts);
    return status;
}

/* --- finding the file --- */

struct probe {
    struct download_request request;
    size_t page_bytes; /* of the page of a redirect, which libcurl reads to its end */
};

/* One byte is enough; a server without ranges would send the whole file. */
static size_t write_nothing(char *data, size_t size, size_t count, void *ctx)
{
    (void)data;
    struct probe *probe = ctx;
    long code = download_request_code(&probe->request);
    probe->page_bytes += size * count;
    bool wanted = code == 206 || (code >= 300 && code < 400 && probe->page_bytes < PAGE_BYTES_MAX);
    return wanted ? size * count : CURL_WRITEFUNC_ERROR;
}

static enum td_status check_redirect(const char *from, const char *to, struct td_error *err)
{
    struct download_url a, b;
    bool good = download_url_read(&a, from);
    good &= download_url_read(&b, to);
    enum td_status status = TD_OK;
    if (!good || !download_url_is_web(&b))
        status = error_set(err, TD_CORRUPT, "%s redirects to an address that is not http or https",
                           a.host ? a.host : "the server");
    else if (strcasecmp(a.scheme, "https") == 0 && strcasecmp(b.scheme, "https") != 0)
        status = error_set(err, TD_DENIED, "%s redirects from https to http (%s): refused", a.host,
                           b.host);
    download_url_deinit(&a);
    download_url_deinit(&b);
    return status;
}

static enum td_status take_place(struct download_request *request, struct download_place *place,
                                 struct td_error *err)
{
    const struct download_headers *headers = &request->headers;
    long code = download_request_code(request);
    if (headers->encoded)
        return error_set(err, TD_CORRUPT,
                         "the server compresses the file, so its ranges are of no use");
    if (code != 206 && code != 200)
        return download_request_fail(request, CURLE_OK, err);
    if (code == 206 && (!headers->has_range || headers->begin != 0 || headers->end != 1))
        return error_set(err, TD_CORRUPT, "the server answers a range with another one");
    /* Without a validator, ranges of two versions of the file could not be told apart. */
    place->ranges = code == 206 && *headers->validator;
    place->total = UINT64_MAX;
    if (code == 206)
        place->total = headers->total;
    else if (headers->has_length)
        place->total = headers->length;
    if (place->total == 0)
        return error_set(err, TD_CORRUPT, "the file is empty");
    snprintf(place->validator, sizeof place->validator, "%s", headers->validator);
    return TD_OK;
}

/* Follows one hop. *next: where to go on, **returns new** (free); NULL = the file is here. */
static enum td_status ask(struct probe *probe, const struct download_options *options,
                          struct download_place *place, bool first, char **next,
                          struct td_error *err)
{
    struct download_request *request = &probe->request;
    *next = NULL;
    probe->page_bytes = 0;
    enum td_status status = download_request_prepare(request, options, place->url, 0, 1, NULL,
                                                     write_nothing, probe, err);
    if (status != TD_OK)
        return status;
    CURLcode code = curl_easy_perform(request->easy);
    long http = download_request_code(request);
    /* The hash comes from the hub itself and not from the place it redirects to: it is the hub's
     * promise. */
    if (first)
        memcpy(place->sha256, request->headers.sha256, sizeof place->sha256);
    char *location = NULL;
    if ((http >= 301 && http <= 303) || http == 307 || http == 308)
        curl_easy_getinfo(request->easy, CURLINFO_REDIRECT_URL, &location);
    if (location && code == CURLE_OK) {
        status = check_redirect(place->url, location, err);
        if (status == TD_OK && (*next = strdup(location)) == NULL)
            status = error_set(err, TD_NO_MEMORY, "no memory for a redirect");
        return status;
    }
    if (code == CURLE_OK || (code == CURLE_WRITE_ERROR && http != 206))
        return take_place(request, place, err);
    return download_request_fail(request, code, err);
}

enum td_status download_resolve(const struct download_options *options,
                                struct download_place *place, struct td_error *err)
{
    ASSERT(options != NULL);
    struct probe probe = {0};
    *place = (struct download_place){.url = strdup(options->url)};
    enum td_status status = TD_OK;
    if (place->url == NULL)
        status = error_set(err, TD_NO_MEMORY, "no memory for a download");
    for (int hop = 0; status == TD_OK; hop++) {
        char *next;
        if (hop > HOPS_MAX) {
            status = error_set(err, TD_CORRUPT, "the source: more than %d redirects", HOPS_MAX);
            break;
        }
        status = ask(&probe, options, place, hop == 0, &next, err);
        if (next == NULL)
            break;
        place->strayed |= !download_url_same_origin(place->url, next);
        probe.request.strayed = place->strayed;
        free(place->url);
        place->url = next;
    }
    download_request_deinit(&probe.request);
    if (status != TD_OK)
        download_place_deinit(place);
    return status;
}
