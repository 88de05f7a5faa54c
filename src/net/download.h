/* Fetches one file over HTTP(S) into PATH.part: in parallel ranges where the server gives them,
 * taking up what an earlier call left. Blocks its thread; no loop needed. What arrived is not a
 * file yet: the caller checks it and renames it.
 *
 * Redirects are followed (not from https to http), the bearer token goes to its own origin over
 * https only, and to nobody once a redirect has led elsewhere. */
#ifndef NET_DOWNLOAD_H
#define NET_DOWNLOAD_H

#include "net/download_headers.h"

#include <stdatomic.h>

#define DOWNLOAD_STREAMS_MAX 16

struct download_progress {
    uint64_t bytes; /* there, resumed ones included */
    uint64_t total; /* UINT64_MAX = the server does not say */
    uint64_t resumed_bytes;
    uint32_t streams;
};

struct download_options {
    const char *url;
    const char *path;          /* of the file to be; PATH.part and PATH.part.json are written */
    const char *bearer;        /* token, or NULL */
    const char *bearer_origin; /* URL of whose origin (scheme, host, port) may see it: https only */
    const char *ca_file;       /* NULL = the system's certificates */
    uint32_t streams;          /* at most DOWNLOAD_STREAMS_MAX; 0 = 4 */
    uint32_t connect_timeout_ms, idle_timeout_ms; /* 0 = 15 000, 30 000 */
    uint32_t retry_count;      /* failures in a row without a byte between them; then it gives up */
    const atomic_bool *cancel; /* may be set by a signal handler; NULL = nobody can */
    void (*on_progress)(void *ctx, const struct download_progress *progress); /* or NULL */
    void *ctx;
};

struct download_result {
    uint64_t bytes, resumed_bytes;
    uint32_t streams;                     /* 1 where the server gives no ranges */
    char sha256[DOWNLOAD_SHA256_HEX + 1]; /* what the server says; "" = nothing */
};

/* TD_OK: PATH.part has all bytes. Otherwise it stays where it can be taken up by the next call:
 * TD_CANCELLED, TD_UNAVAILABLE, TD_TIMEOUT, TD_IO; TD_LIMIT (no room), TD_DENIED, TD_NOT_FOUND,
 * TD_CORRUPT (the server contradicts itself, or the file changed twice), TD_INVALID (URL), TD_BUSY
 * (another process is at it). */
TD_MUST_CHECK enum td_status download_file(const struct download_options *options,
                                           struct download_result *result, struct td_error *err);

#endif
