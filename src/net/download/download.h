/* Fetches one file over HTTP(S) into PATH.part, in parallel ranges if the server supports them, and
 * continues an earlier download. It blocks its thread and needs no loop. The result is not final:
 * the caller checks PATH.part and renames it.
 *
 * Redirects are followed, but not from https to http. The bearer token goes to its own origin over
 * https only. Once a redirect has led to another origin, it goes nowhere. */
#ifndef NET_DOWNLOAD_H
#define NET_DOWNLOAD_H

#include "net/download/download_headers.h"

#include <stdatomic.h>

#define DOWNLOAD_STREAMS_MAX 16

struct download_progress {
    uint64_t bytes; /* present, with those of earlier downloads */
    uint64_t total; /* UINT64_MAX = unknown */
    uint64_t resumed_bytes;
    uint32_t streams;
};

struct download_options {
    const char *url;
    const char *path;          /* of the finished file; PATH.part and PATH.part.json are written */
    const char *bearer;        /* token, or NULL */
    const char *bearer_origin; /* URL whose origin (scheme, host, port) may see it, over https */
    const char *ca_file;       /* NULL = the system's certificates */
    uint64_t bytes_max;        /* of the file; 0 = what the disk has room for */
    uint32_t streams;          /* at most DOWNLOAD_STREAMS_MAX; 0 = 4 */
    uint32_t connect_timeout_ms, idle_timeout_ms; /* 0 = 15 000, 30 000 */
    uint32_t retry_count;      /* failures in a row without a byte; then it gives up */
    const atomic_bool *cancel; /* may be set by a signal handler; NULL = not cancellable */
    void (*on_progress)(void *ctx, const struct download_progress *progress); /* or NULL */
    void *ctx;
};

struct download_result {
    int part_fd; /* PATH.part, still locked; the caller closes it. -1 after a failure */
    uint64_t bytes, resumed_bytes;
    uint32_t streams;                     /* 1 if the server has no ranges */
    char sha256[DOWNLOAD_SHA256_HEX + 1]; /* as the server says; "" = it says nothing */
};

/* TD_OK: PATH.part has all bytes. After these, the part stays and the next call continues it:
 * TD_CANCELLED, TD_UNAVAILABLE, TD_TIMEOUT, TD_IO. Other failures: TD_LIMIT (no room on the disk),
 * TD_DENIED, TD_NOT_FOUND, TD_CORRUPT (the server contradicts itself, or the file changed twice),
 * TD_INVALID (the URL), TD_BUSY (another process downloads it). */
TD_MUST_CHECK enum td_status download_file(const struct download_options *options,
                                           struct download_result *result, struct td_error *err);

#endif
