/* A GET request of a download on a libcurl easy handle, and finding out where a file is and what
 * the server supports. One thread at a time. */
#ifndef NET_DOWNLOAD_REQUEST_H
#define NET_DOWNLOAD_REQUEST_H

#include "net/download/download.h"

#include <curl/curl.h>

struct download_request {
    CURL *easy;
    bool strayed;             /* set by the caller from the place it asks */
    struct curl_slist *lines; /* request headers */
    struct download_headers headers;
    char words[CURL_ERROR_SIZE];
};

/* Where the bytes are, after all redirects. */
struct download_place {
    char *url;      /* free with download_place_deinit */
    bool strayed;   /* a redirect has led to another origin: the token is not sent any more */
    bool ranges;    /* the server answers ranges and names their version */
    uint64_t total; /* UINT64_MAX = unknown */
    char validator[DOWNLOAD_TAG_BYTES];
    char sha256[DOWNLOAD_SHA256_HEX + 1];
};

typedef size_t download_write_fn(char *data, size_t size, size_t count, void *ctx);

/* Prepares request->easy (made when NULL) for a GET of `url`. With end > 0 it asks for the bytes
 * begin..end-1, if the validator still holds. The body goes to write(ctx). */
TD_MUST_CHECK enum td_status
download_request_prepare(struct download_request *request, const struct download_options *options,
                         const char *url, uint64_t begin, uint64_t end, const char *validator,
                         download_write_fn *write, void *ctx, struct td_error *err);
void download_request_deinit(struct download_request *request);
long download_request_code(const struct download_request *request);
/* The message for an error of libcurl, or for an HTTP code without a file. TD_UNAVAILABLE and
 * TD_TIMEOUT are worth another try. */
enum td_status download_request_fail(const struct download_request *request, CURLcode code,
                                     struct td_error *err);

/* Asks for the first byte and follows redirects. */
TD_MUST_CHECK enum td_status download_resolve(const struct download_options *options,
                                              struct download_place *place, struct td_error *err);
void download_place_deinit(struct download_place *place);

bool download_cancelled(const struct download_options *options);

#endif
