/* The files of the console. The build compresses and embeds them (tools/console.py); where it
 * could not make them, there are none, and / is a short page that needs no script.
 *
 * The page may load what comes from here and nothing else: no script or style stands in it, and
 * no other host is asked. Names of files below /console/assets/ carry a hash of their contents,
 * so browsers keep them. The others are asked for each time, by their hash. */
#include "api/admin/handlers.h"
#include "api/console/handlers.h"
#include "api/http/reply.h"
#include "base/core/str.h"
#include "net/server/content_coding.h"

#include "api/console_files.h" /* generated */

#include <stdio.h>

#define FILE_BYTES_MAX ((size_t)2 << 20) /* of a file that is not compressed */
#define POLICY                                                                             \
    "default-src 'self'; img-src 'self' data: blob:; object-src 'none'; base-uri 'none'; " \
    "form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; "     \
    "trusted-types 'none'"

static const struct console_file *find_file(const char *path)
{
    for (const struct console_file *file = console_files; file->path; file++)
        if (strcmp(file->path, path) == 0)
            return file;
    return NULL;
}

static bool header_has(const struct http_request *request, const char *name, const char *word)
{
    const char *value = http_request_header(request, name);
    return value && strstr(value, word);
}

static void reply_decoded(struct api *api, struct http_request *request,
                          const struct console_file *file, struct td_str bytes)
{
    struct buf out;
    buf_init(&out, FILE_BYTES_MAX);
    enum content_result result = content_decode(CODING_GZIP, bytes, NULL, NULL, &out);
    if (result == CONTENT_OK)
        api_reply_text(api, request, 200, file->type, buf_view(&out));
    else
        api_reply_status(api, request, TD_NO_MEMORY, NULL, NULL);
    buf_deinit(&out);
}

static void reply_file(struct api *api, struct http_request *request,
                       const struct console_file *file, const char *cache)
{
    struct td_str bytes = {(const char *)console_blob + file->offset, file->len};
    http_reply_header(request, "cache-control", cache);
    http_reply_header(request, "etag", file->etag);
    http_reply_header(request, "vary", "accept-encoding");
    http_reply_header(request, "content-security-policy", POLICY);
    http_reply_header(request, "referrer-policy", "no-referrer");
    http_reply_header(request, "cross-origin-opener-policy", "same-origin");
    http_reply_header(request, "cross-origin-resource-policy", "same-origin");
    if (header_has(request, "if-none-match", file->etag)) {
        api_reply_text(api, request, 304, file->type, STR(""));
    } else if (header_has(request, "accept-encoding", "gzip")) {
        http_reply_header(request, "content-encoding", "gzip");
        api_reply_text(api, request, 200, file->type, bytes);
    } else {
        reply_decoded(api, request, file, bytes);
    }
}

/* Programs that ask for no page (curl) get the short one. */
void console_handle_page(struct api *api, struct http_request *request, const char *rest)
{
    const struct console_file *page = api->host->logins ? find_file("index.html") : NULL;
    http_reply_header(request, "vary", "accept");
    if (page && header_has(request, "accept", "text/html"))
        reply_file(api, request, page, "no-cache");
    else
        health_handle_hello(api, request, rest);
}

void console_handle_file(struct api *api, struct http_request *request, const char *rest)
{
    const struct console_file *file = api->host->logins ? find_file(rest) : NULL;
    if (file) {
        bool hashed = strncmp(rest, "assets/", 7) == 0;
        reply_file(api, request, file, hashed ? "public, max-age=31536000, immutable" : "no-cache");
        return;
    }
    struct fault fault;
    fault_set(&fault, 404, "invalid_request_error", "not_found", "the console has no such file");
    api_reply_fault(api, request, &fault);
}
