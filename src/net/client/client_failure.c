#include "net/client/client_failure.h"

#include <string.h>

/* libcurl tells some failures apart only in words. And it has "no memory" for a line of a head that
 * has more than 100 KiB. */
static const struct row {
    CURLcode code;
    const char *detail; /* a part of it; NULL = any */
    bool in_head;       /* only there */
    enum td_status status;
    const char *words; /* NULL: libcurl's */
} rows[] = {
    {CURLE_RECV_ERROR, "chunk", false, TD_CORRUPT, "the chunks of the answer are malformed"},
    {CURLE_RECV_ERROR, "headers", false, TD_CORRUPT, "the head of the answer is too large"},
    {CURLE_OUT_OF_MEMORY, NULL, true, TD_CORRUPT, "the head of the answer is too large"},
    {CURLE_OUT_OF_MEMORY, NULL, false, TD_NO_MEMORY, NULL},
    {CURLE_OPERATION_TIMEDOUT, NULL, false, TD_TIMEOUT, NULL},
    {CURLE_WEIRD_SERVER_REPLY, NULL, false, TD_CORRUPT, NULL},
    /* an answer in HTTP/0.9, which we refuse */
    {CURLE_UNSUPPORTED_PROTOCOL, NULL, false, TD_CORRUPT, "the answer is not HTTP"},
    {CURLE_BAD_CONTENT_ENCODING, NULL, false, TD_CORRUPT, NULL},
    {CURLE_SSL_CACERT_BADFILE, NULL, false, TD_INVALID, NULL},
    {CURLE_COULDNT_RESOLVE_HOST, NULL, false, TD_UNAVAILABLE, "the host name does not resolve"},
    {CURLE_GOT_NOTHING, NULL, false, TD_UNAVAILABLE, "the connection was closed without an answer"},
    {CURLE_PARTIAL_FILE, NULL, false, TD_UNAVAILABLE, "the answer was cut off"},
    {CURLE_PEER_FAILED_VERIFICATION, NULL, false, TD_UNAVAILABLE,
     "SSL: its certificate cannot be trusted; something else may answer in its place, such as a "
     "network that wants a sign-in"},
    {CURLE_SSL_CONNECT_ERROR, "wrong version number", false, TD_UNAVAILABLE,
     "SSL: what answers does not speak it; a server of http, or a network that wants a sign-in"},
    {CURLE_SSL_PINNEDPUBKEYNOTMATCH, NULL, false, TD_UNAVAILABLE,
     "the server's public key is not a pinned one: nothing was sent to it"},
};

void client_failure_read(CURLcode code, const char *detail, bool in_head,
                         struct client_failure *out)
{
    const struct row *found = NULL;
    for (size_t i = 0; !found && i < sizeof rows / sizeof *rows; i++)
        if (rows[i].code == code && (!rows[i].detail || strstr(detail, rows[i].detail)) &&
            (in_head || !rows[i].in_head))
            found = &rows[i];
    const char *own = found ? found->words : NULL;
    *out = (struct client_failure){
        .status = found ? found->status : TD_UNAVAILABLE,
        .words = own ? own : curl_easy_strerror(code),
        .secret = own && code != CURLE_PEER_FAILED_VERIFICATION ? own
                  : detail[0]                                   ? detail
                                                                : curl_easy_strerror(code),
    };
}
