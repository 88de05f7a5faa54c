/* Transfers to upstream servers, on libcurl's multi interface driven by the loop through
 * socket_action.
 *
 * libcurl forbids adding or removing a transfer inside its own callbacks, but our callers may start
 * and cancel anywhere. So while libcurl is on the stack (`inside`), both are only noted, and they
 * are carried out when it returns. A cancelled transfer gets no more callbacks from that moment.
 * on_done never runs inside libcurl.
 *
 * Time-outs are our own, with one timer per transfer. libcurl has one error for all of them and no
 * notion of a first byte, while a message should say what took too long: connecting, the first
 * byte, a silence, or the whole.
 *
 * No proxy is used for loopback addresses and for requests marked `direct`, whatever the
 * environment says. Elsewhere the usual variables (https_proxy, no_proxy) count, as operators
 * expect. Redirects are not followed: a key must not travel to a host that the configuration does
 * not name. */
#include "net/client/client.h"

#include "base/core/assertion.h"
#include "base/core/error.h"
#include "base/core/str.h"
#include "base/time/clock.h"
#include "base/time/log.h"
#include "net/client/client_body.h"
#include "net/client/client_failure.h"
#include "net/client/client_options.h"
#include "net/client/client_url.h"
#include "net/client/client_watch.h"
#include "net/client/loop_event.h"

#include <curl/curl.h>
#include <event2/event.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>

/* Connections to one HTTP/1.1 server are not limited here: each stream needs one. How many there
 * are is limited by server.connections_max, and by limits.concurrent of a tier. */
#define IDLE_CONNECTIONS_MAX 64L
/* A buffer of each transfer's own; the library's default is 16 KiB. Frames of HTTP/2 that find too
 * little room wait, and with 2 KiB libcurl 7.88 forgets to look at them again. */
#define RECEIVE_BYTES 4096L
#define RECEIVE_BYTES_PLAIN 2048L /* never HTTP/2 */
#define KEEP_ALIVE_AFTER_S 15     /* of silence on a connection */
#define KEEP_ALIVE_EVERY_S 5

/* A loop that was busy may find a limit passed before it has looked at the socket. So it looks, for
 * so many turns: one to connect, one to learn of it, one to read. */
#define LATE_TURNS 3

struct client {
    struct event_base *base;
    CURLM *multi;
    struct event *timer;
    struct client_watches watches;
    struct client_transfer *transfers;
    bool inside, timed;       /* libcurl is on the stack now; because its timer fired */
    struct td_error shortage; /* of transfers that have no memory for an error of their own */
};

struct client_transfer {
    struct client *client;
    struct client_transfer *previous, *next;
    CURL *easy;
    struct curl_slist *headers;
    struct event *timer;
    struct client_request request; /* its strings are not kept */
    char *host;
    char retry_after[64];
    char curl_error[CURL_ERROR_SIZE];

    bool to_add;    /* started inside libcurl */
    bool cancelled; /* cancelled inside libcurl */
    bool to_run;    /* a socket of its came or went inside libcurl */
    bool finished;  /* inside on_done */
    unsigned late_turns;
    bool connected, answered, head_ended;
    uint64_t start_ns, connected_ns, last_byte_ns;
    size_t body_bytes;
    struct td_error *err; /* why we stopped it; NULL = we did not */
};

static void global_init(void)
{
    curl_global_init(CURL_GLOBAL_DEFAULT);
}

/* --- the life of a transfer --- */

/* While a transfer connects, its sockets are its own, and libcurl closes them before it says so. */
static void remove_from_libcurl(struct client_transfer *transfer)
{
    bool closing = !transfer->connected;
    client_watches_leave(&transfer->client->watches, transfer->easy, closing);
    curl_multi_remove_handle(transfer->client->multi, transfer->easy);
}

static void transfer_free(struct client_transfer *transfer)
{
    struct client *client = transfer->client;
    if (transfer->previous)
        transfer->previous->next = transfer->next;
    else if (client->transfers == transfer)
        client->transfers = transfer->next;
    if (transfer->next)
        transfer->next->previous = transfer->previous;
    if (transfer->easy) {
        ASSERT(!client->inside);
        remove_from_libcurl(transfer);
        curl_easy_cleanup(transfer->easy);
    }
    if (transfer->timer)
        event_free(transfer->timer);
    curl_slist_free_all(transfer->headers);
    client_body_drop(transfer->request.shared);
    if (transfer->err != &client->shortage)
        free(transfer->err);
    free(transfer->host);
    free(transfer);
}

static void transfer_finish(struct client_transfer *transfer, enum td_status status,
                            const struct td_error *err)
{
    long code = 0;
    curl_easy_getinfo(transfer->easy, CURLINFO_RESPONSE_CODE, &code);
    /* Removed from libcurl first, so that it cannot call back for this transfer. */
    remove_from_libcurl(transfer);
    event_del(transfer->timer);
    transfer->finished = true;
    if (transfer->request.on_done)
        transfer->request.on_done(transfer->request.ctx, status, (int)code, err);
    transfer_free(transfer);
}

/* secret: what only the log may have of a discreet transfer. */
static void set_error(struct client_transfer *transfer, enum td_status status, const char *text,
                      const char *secret)
{
    if (!transfer->err && !(transfer->err = calloc(1, sizeof *transfer->err)))
        transfer->err = &transfer->client->shortage;
    if (!transfer->request.discreet) {
        error_set(transfer->err, status, "%s: %s", transfer->host, secret);
        return;
    }
    error_set(transfer->err, status, "%s", text);
    log_event(LOG_LEVEL_INFO, "upstream_failed", "host=%s error=\"%s\"", transfer->host, secret);
}

static void fail(struct client_transfer *transfer, enum td_status status, const char *text,
                 const char *secret)
{
    if (!transfer->err)
        set_error(transfer, status, text, secret);
    struct td_error err = *transfer->err;
    transfer_finish(transfer, err.status, &err);
}

static void fail_late(struct client_transfer *transfer, const char *late, uint32_t limit_ms)
{
    char text[80];
    snprintf(text, sizeof text, "%s %u ms", late, limit_ms);
    fail(transfer, TD_TIMEOUT, text, text);
}

static void fail_by(struct client_transfer *transfer, CURLcode code)
{
    struct client_failure failure;
    if (code == CURLE_OPERATION_TIMEDOUT && !transfer->connected) {
        /* The kernel's limit of the socket (on_new_socket) came before our own. */
        fail_late(transfer, "no connection within", transfer->request.connect_timeout_ms);
        return;
    }
    bool in_head = transfer->connected && !transfer->head_ended;
    client_failure_read(code, transfer->curl_error, in_head, &failure);
    fail(transfer, failure.status, failure.words, failure.secret);
}

/* Ends the transfers that libcurl has finished. Callbacks may start and cancel others meanwhile;
 * removing a transfer also removes its message. */
static void take_finished(struct client *client)
{
    int left;
    const CURLMsg *message;
    while ((message = curl_multi_info_read(client->multi, &left))) {
        CURLcode code = message->data.result;
        char *private = NULL;
        curl_easy_getinfo(message->easy_handle, CURLINFO_PRIVATE, &private);
        struct client_transfer *transfer = (void *)private;
        if (transfer->err)
            fail(transfer, transfer->err->status, "", "");
        else if (code == CURLE_OK)
            transfer_finish(transfer, TD_OK, NULL);
        else
            fail_by(transfer, code);
    }
}

static void transfer_add(struct client_transfer *transfer)
{
    transfer->to_add = false;
    CURLMcode code = curl_multi_add_handle(transfer->client->multi, transfer->easy);
    if (code != CURLM_OK)
        set_error(transfer, TD_NO_MEMORY, curl_multi_strerror(code), curl_multi_strerror(code));
}

/* Has libcurl look at the transfer again soon. When an address cannot be reached, libcurl 7.88
 * turns to the next one of that family without opening its socket, and then waits for a timer that
 * there may not be. Pausing changes nothing while nothing is received, and its end makes the
 * transfer run. A transfer without a connection refuses this, and needs none. */
static void run_again(struct client_transfer *transfer)
{
    (void)curl_easy_pause(transfer->easy, CURLPAUSE_RECV);
    (void)curl_easy_pause(transfer->easy, CURLPAUSE_CONT);
    transfer->to_run = false; /* last: pausing may itself remove a watch */
}

/* Carries out what was noted while libcurl was on the stack. */
static void settle(struct client *client)
{
    struct client_transfer *next;
    for (struct client_transfer *transfer = client->transfers; transfer; transfer = next) {
        next = transfer->next;
        if (transfer->cancelled)
            transfer_free(transfer);
        else if (transfer->to_add)
            transfer_add(transfer);
        else if (transfer->to_run)
            run_again(transfer);
    }
}

/* libcurl ran out of memory and cannot tell for which transfer, so all of them end, each by its own
 * timer event: nobody may wait for an answer that cannot come. */
static void fail_all(struct client *client, CURLMcode code)
{
    struct client_transfer *transfer;
    for (transfer = client->transfers; transfer; transfer = transfer->next) {
        set_error(transfer, TD_NO_MEMORY, curl_multi_strerror(code), curl_multi_strerror(code));
        event_active(transfer->timer, EV_TIMEOUT, 1);
    }
}

static void act(struct client *client, curl_socket_t fd, int what)
{
    int running;
    ASSERT(!client->inside);
    client->inside = true;
    CURLMcode code = curl_multi_socket_action(client->multi, fd, what, &running);
    client->inside = false;
    settle(client);
    take_finished(client);
    if (code != CURLM_OK)
        fail_all(client, code);
}

/* --- time-outs --- */

/* Whether the phase that began at from_ns and may take limit_ms is over; if not, shortens
 * *left_ns. */
static bool is_over(uint64_t now_ns, uint64_t from_ns, uint32_t limit_ms, uint64_t *left_ns)
{
    if (limit_ms == 0)
        return false;
    uint64_t end_ns = from_ns + (uint64_t)limit_ms * 1000000;
    if (now_ns >= end_ns)
        return true;
    if (end_ns - now_ns < *left_ns)
        *left_ns = end_ns - now_ns;
    return false;
}

/* Checks all limits and sets the timer for the nearest one. Bytes that arrive do not touch the
 * timer: when it fires too early, it is set again. */
static void watch_time(struct client_transfer *transfer)
{
    if (transfer->err) { /* out of memory: see fail_all, transfer_add */
        fail(transfer, transfer->err->status, "", "");
        return;
    }
    const struct client_request *request = &transfer->request;
    uint64_t now_ns = clock_monotonic_ns(NULL), left_ns = UINT64_MAX;
    const char *late = NULL;
    uint32_t limit_ms = 0;
    if (is_over(now_ns, transfer->start_ns, request->total_timeout_ms, &left_ns))
        late = "no complete answer within", limit_ms = request->total_timeout_ms;
    if (!transfer->connected) {
        if (is_over(now_ns, transfer->start_ns, request->connect_timeout_ms, &left_ns))
            late = "no connection within", limit_ms = request->connect_timeout_ms;
    } else if (!transfer->answered) {
        if (is_over(now_ns, transfer->connected_ns, request->first_timeout_ms, &left_ns))
            late = "no first byte of an answer within", limit_ms = request->first_timeout_ms;
    } else if (is_over(now_ns, transfer->last_byte_ns, request->idle_timeout_ms, &left_ns)) {
        late = "the answer was silent for", limit_ms = request->idle_timeout_ms;
    }
    if (late && transfer->late_turns++ < LATE_TURNS) {
        const struct timeval next_turn = {.tv_usec = 1000};
        if (evtimer_add(transfer->timer, &next_turn) == 0)
            return;
    }
    if (late) {
        fail_late(transfer, late, limit_ms);
        return;
    }
    transfer->late_turns = 0;
    if (left_ns == UINT64_MAX)
        return;
    uint64_t left_us = left_ns / 1000 + 1;
    struct timeval delay = {.tv_sec = (time_t)(left_us / 1000000),
                            .tv_usec = (suseconds_t)(left_us % 1000000)};
    if (evtimer_add(transfer->timer, &delay) != 0)
        fail(transfer, TD_NO_MEMORY, "no memory for a timer", "no memory for a timer");
}

static void on_transfer_timer(evutil_socket_t fd, short what, void *ctx)
{
    (void)fd, (void)what;
    watch_time(ctx);
}

/* --- libcurl's callbacks for one transfer. They run inside act(). --- */

static int on_connected(void *ctx, char *peer, char *local, int peer_port, int local_port)
{
    (void)peer, (void)local, (void)peer_port, (void)local_port;
    struct client_transfer *transfer = ctx;
    transfer->connected = true;
    transfer->connected_ns = clock_monotonic_ns(NULL);
    /* The limit of the next phase begins now, and may come before the time that the timer is set
     * for. */
    event_active(transfer->timer, EV_TIMEOUT, 1);
    if (transfer->request.on_connected)
        transfer->request.on_connected(transfer->request.ctx);
    return CURL_PREREQFUNC_OK;
}

static void note_bytes(struct client_transfer *transfer)
{
    if (!transfer->answered || !transfer->request.notes_progress)
        transfer->last_byte_ns = clock_monotonic_ns(NULL);
    if (!transfer->answered) {
        transfer->answered = true;
        event_active(transfer->timer, EV_TIMEOUT, 1);
    }
}

void client_note_progress(struct client_transfer *transfer)
{
    ASSERT(transfer != NULL && transfer->answered);
    transfer->last_byte_ns = clock_monotonic_ns(NULL);
}

static void headers_ended(struct client_transfer *transfer)
{
    long code = 0;
    char *content_type = NULL;
    curl_easy_getinfo(transfer->easy, CURLINFO_RESPONSE_CODE, &code);
    curl_easy_getinfo(transfer->easy, CURLINFO_CONTENT_TYPE, &content_type);
    transfer->head_ended = code >= 200; /* not with an interim answer such as 100 Continue */
    if (!transfer->head_ended || transfer->request.on_headers == NULL)
        return;
    transfer->request.on_headers(transfer->request.ctx, (int)code, content_type,
                                 transfer->retry_after[0] ? transfer->retry_after : NULL);
}

static size_t on_header(char *bytes, size_t size, size_t count, void *ctx)
{
    struct client_transfer *transfer = ctx;
    size_t len = size * count;
    if (transfer->cancelled)
        return 0;
    note_bytes(transfer);
    struct td_str line = str_trim((struct td_str){bytes, len});
    static const struct td_str name = {"retry-after:", 12}, coding = {"content-encoding:", 17};
    if (line.len == 0) {
        headers_ended(transfer);
    } else if (str_equal_nocase(str_slice(line, 0, name.len), name)) {
        struct td_str value = str_trim(str_slice(line, name.len, line.len));
        if (value.len < sizeof transfer->retry_after) /* half of a number is another one */
            snprintf(transfer->retry_after, sizeof transfer->retry_after, STR_FMT, STR_ARG(value));
    } else if (str_equal_nocase(str_slice(line, 0, coding.len), coding) &&
               str_equal_nocase(str_trim(str_slice(line, coding.len, line.len)), STR("utf-8"))) {
        /* A character set encodes nothing. libcurl 7.88 heeds this here, 8 no longer does. */
        curl_easy_setopt(transfer->easy, CURLOPT_HTTP_CONTENT_DECODING, 0L);
    }
    return transfer->cancelled ? 0 : len;
}

/* A stream lasts for long after its body was sent. With bytes of an answer libcurl does not send
 * again what it has sent. */
static void drop_sent_body(struct client_transfer *transfer)
{
    struct client_body *body = transfer->request.shared;
    curl_off_t sent = 0;
    if (body == NULL ||
        curl_easy_getinfo(transfer->easy, CURLINFO_SIZE_UPLOAD_T, &sent) != CURLE_OK ||
        (size_t)sent < client_body_view(body).len)
        return;
    client_body_drop(body);
    transfer->request.shared = NULL;
}

static size_t on_body(char *bytes, size_t size, size_t count, void *ctx)
{
    struct client_transfer *transfer = ctx;
    size_t len = size * count;
    if (transfer->cancelled)
        return 0;
    note_bytes(transfer);
    drop_sent_body(transfer);
    size_t bytes_max = transfer->request.response_bytes_max;
    if (bytes_max > 0 && len > bytes_max - transfer->body_bytes) {
        char text[80];
        snprintf(text, sizeof text, "the answer is larger than %zu bytes", bytes_max);
        set_error(transfer, TD_LIMIT, text, text);
        return 0;
    }
    transfer->body_bytes += len;
    if (transfer->request.on_body)
        transfer->request.on_body(transfer->request.ctx, (struct td_str){bytes, len});
    return transfer->cancelled ? 0 : len;
}

/* --- starting --- */

/* A header with a line break would add further headers. The message does not quote it: it may be a
 * key. */
static enum td_status copy_headers(struct client_transfer *transfer, const char *const *headers,
                                   struct td_error *err)
{
    bool has_type = false;
    for (size_t i = 0; headers && headers[i]; i++) {
        const char *header = headers[i];
        if (strpbrk(header, "\r\n") || strchr(header, ':') == NULL || *header == ':')
            return error_set(err, TD_INVALID, "%s: header %zu of the request is malformed",
                             transfer->host, i + 1);
        has_type |= strncasecmp(header, "content-type:", 13) == 0;
        struct curl_slist *longer = curl_slist_append(transfer->headers, header);
        if (longer == NULL)
            return error_set(err, TD_NO_MEMORY, "no memory for a request's headers");
        transfer->headers = longer;
    }
    /* Without these, libcurl waits for "100 Continue", asks for encodings (it shall only read what
     * comes in one) and sends every body as a web form. */
    const char *const without[] = {
        "Expect:", "Accept-Encoding:", has_type ? NULL : "Content-Type:"};
    for (size_t i = 0; i < 3 && without[i]; i++) {
        struct curl_slist *longer = curl_slist_append(transfer->headers, without[i]);
        if (longer == NULL)
            return error_set(err, TD_NO_MEMORY, "no memory for a request's headers");
        transfer->headers = longer;
    }
    return TD_OK;
}

/* A server that thinks is silent for minutes, but its machine acknowledges what it is sent. One
 * that is gone does not: that shows within the time that a connection may take. */
static int on_new_socket(void *ctx, curl_socket_t fd, curlsocktype purpose)
{
    (void)purpose;
    struct client_transfer *transfer = ctx;
    client_watches_renew(&transfer->client->watches, fd);
    transfer->to_run = true; /* the attempt may fail at once */
    unsigned ms = transfer->request.connect_timeout_ms;
    if (ms > 0) /* where it is refused, the other time-outs still hold */
        (void)setsockopt(fd, IPPROTO_TCP, TCP_USER_TIMEOUT, &ms, sizeof ms);
    return CURL_SOCKOPT_OK;
}

static const struct client_number numbers[] = {
    {CURLOPT_HTTP_VERSION, CURL_HTTP_VERSION_2TLS},
    {CURLOPT_TCP_KEEPALIVE, 1},
    {CURLOPT_TCP_KEEPIDLE, KEEP_ALIVE_AFTER_S},
    {CURLOPT_TCP_KEEPINTVL, KEEP_ALIVE_EVERY_S},
};

static CURLcode set_options(struct client_transfer *transfer, const struct client_request *request,
                            bool loopback)
{
    CURL *easy = transfer->easy;
    bool encrypted = strncasecmp(request->url, "https:", 6) == 0;
    CURLcode bad = curl_easy_setopt(easy, CURLOPT_HTTPHEADER, transfer->headers);
    bad = bad ? bad : curl_easy_setopt(easy, CURLOPT_PRIVATE, transfer);
    bad = bad ? bad : curl_easy_setopt(easy, CURLOPT_ERRORBUFFER, transfer->curl_error);
    bad = bad ? bad
              : curl_easy_setopt(easy, CURLOPT_BUFFERSIZE,
                                 encrypted ? RECEIVE_BYTES : RECEIVE_BYTES_PLAIN);
    bad = bad ? bad : client_options_numbers(easy, numbers, sizeof numbers / sizeof *numbers);
    bad = bad ? bad : curl_easy_setopt(easy, CURLOPT_SOCKOPTFUNCTION, on_new_socket);
    bad = bad ? bad : curl_easy_setopt(easy, CURLOPT_SOCKOPTDATA, transfer);
    bad = bad ? bad
              : curl_easy_setopt(easy, CURLOPT_CONNECTTIMEOUT_MS,
                                 client_options_connect_ms(request, loopback));
    bad = bad ? bad : curl_easy_setopt(easy, CURLOPT_ACCEPT_ENCODING, "");
    bad = bad ? bad : curl_easy_setopt(easy, CURLOPT_PREREQFUNCTION, on_connected);
    bad = bad ? bad : curl_easy_setopt(easy, CURLOPT_PREREQDATA, transfer);
    bad = bad ? bad : curl_easy_setopt(easy, CURLOPT_HEADERFUNCTION, on_header);
    bad = bad ? bad : curl_easy_setopt(easy, CURLOPT_HEADERDATA, transfer);
    bad = bad ? bad : curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, on_body);
    bad = bad ? bad : curl_easy_setopt(easy, CURLOPT_WRITEDATA, transfer);
    return bad;
}

/* Does everything that may fail before the transfer is added to libcurl. */
static enum td_status transfer_prepare(struct client_transfer *transfer,
                                       const struct client_request *request, struct td_error *err)
{
    bool loopback = false;
    char host[CLIENT_HOST_BYTES];
    enum td_status status = client_url_read(request, host, &loopback, err);
    if (status == TD_OK && !(transfer->host = strdup(host)))
        status = error_set(err, TD_NO_MEMORY, "no memory for a request");
    if (status == TD_OK)
        status = copy_headers(transfer, request->headers, err);
    if (status != TD_OK)
        return status;
    transfer->easy = curl_easy_init();
    transfer->timer = evtimer_new(transfer->client->base, on_transfer_timer, transfer);
    if (transfer->easy == NULL || transfer->timer == NULL)
        return error_set(err, TD_NO_MEMORY, "no memory for a request");
    CURLcode bad = curl_easy_setopt(transfer->easy, CURLOPT_URL, request->url);
    bad = bad ? bad : client_options_method(transfer->easy, request);
    bad = bad ? bad : client_options_security(transfer->easy, request, loopback || request->direct);
    bad = bad ? bad : set_options(transfer, request, loopback);
    /* Over TLS, waits for a connection that can be shared: the handshake tells at once whether it
     * is HTTP/2. Plain HTTP tells this only with the first answer, and all other transfers would
     * wait for it. */
    if (!bad && strncasecmp(request->url, "https:", 6) == 0)
        bad = curl_easy_setopt(transfer->easy, CURLOPT_PIPEWAIT, 1L);
    if (bad)
        return error_set(err, bad == CURLE_OUT_OF_MEMORY ? TD_NO_MEMORY : TD_UNSUPPORTED,
                         "%s: the HTTP library refuses the request: %s", transfer->host,
                         curl_easy_strerror(bad));
    return TD_OK;
}

enum td_status client_start(struct client *client, const struct client_request *request,
                            struct client_transfer **out, struct td_error *err)
{
    ASSERT(client != NULL && out != NULL && request != NULL && request->on_done != NULL);
    ASSERT(request->method != NULL && request->url != NULL);
    ASSERT(request->body.data != NULL || request->body.len == 0);
    struct client_transfer *transfer = calloc(1, sizeof *transfer);
    if (transfer == NULL)
        return error_set(err, TD_NO_MEMORY, "no memory for a request");
    transfer->client = client;
    struct td_error cause = {0};
    enum td_status status = transfer_prepare(transfer, request, &cause);
    if (status != TD_OK) {
        CURL *easy = transfer->easy; /* never was in the multi handle, which may be busy */
        transfer->easy = NULL;
        curl_easy_cleanup(easy);
        transfer_free(transfer);
        return error_set(err, status, "%s", cause.message);
    }
    transfer->request = *request;
    transfer->request.method = transfer->request.url = NULL;
    transfer->request.ca_file = transfer->request.pinned_key = transfer->request.unix_path = NULL;
    transfer->request.headers = NULL;
    transfer->request.body = (struct td_str){0};
    if (request->shared)
        client_body_hold(request->shared);
    transfer->start_ns = clock_monotonic_ns(NULL);
    transfer->next = client->transfers;
    if (transfer->next)
        transfer->next->previous = transfer;
    client->transfers = transfer;
    transfer->to_add = true;
    if (!client->inside)
        transfer_add(transfer);
    /* A failed start is reported from the loop, too: on_done never runs inside client_start. */
    event_active(transfer->timer, EV_TIMEOUT, 1);
    *out = transfer;
    return TD_OK;
}

void client_cancel(struct client_transfer *transfer)
{
    if (transfer == NULL || transfer->finished)
        return;
    transfer->request.on_connected = NULL;
    transfer->request.on_headers = NULL;
    transfer->request.on_body = NULL;
    transfer->request.on_done = NULL;
    transfer->cancelled = true;
    event_del(transfer->timer);
    if (!transfer->client->inside)
        transfer_free(transfer);
}

/* --- libcurl's sockets and timer on the loop --- */

static void on_socket(evutil_socket_t fd, short what, void *ctx)
{
    act(ctx, fd, (what & EV_READ ? CURL_CSELECT_IN : 0) | (what & EV_WRITE ? CURL_CSELECT_OUT : 0));
}

/* libcurl stores the watch of each of its sockets for us. When there is no memory for one, it gives
 * up all transfers. */
static int watch_socket(CURL *easy, curl_socket_t fd, int what, void *ctx, void *fd_ctx)
{
    struct client *client = ctx;
    struct client_watch *watch = client_watch_replace(&client->watches, fd_ctx, easy, fd, what);
    curl_multi_assign(client->multi, fd, watch);
    char *private = NULL; /* none for libcurl's own handles, which close idle connections */
    if (what == CURL_POLL_REMOVE && easy &&
        curl_easy_getinfo(easy, CURLINFO_PRIVATE, &private) == CURLE_OK && private)
        ((struct client_transfer *)(void *)private)->to_run = true;
    return watch || what == CURL_POLL_REMOVE ? 0 : -1;
}

static void on_timer(evutil_socket_t fd, short what, void *ctx)
{
    (void)fd, (void)what;
    struct client *client = ctx;
    client->timed = true;
    act(client, CURL_SOCKET_TIMEOUT, 0);
    client->timed = false;
}

/* Even "at once" goes through the loop, in this turn, but once before the sockets had theirs. */
static int set_timer(CURLM *multi, long timeout_ms, void *ctx)
{
    (void)multi;
    struct client *client = ctx;
    if (timeout_ms < 0)
        return evtimer_del(client->timer);
    if (timeout_ms == 0 && !client->timed) {
        event_active(client->timer, EV_TIMEOUT, 1);
        return 0;
    }
    struct timeval delay = {.tv_sec = timeout_ms / 1000, .tv_usec = timeout_ms % 1000 * 1000};
    return evtimer_add(client->timer, &delay);
}

/* --- the client --- */

enum td_status client_new(struct loop *loop, struct client **out, struct td_error *err)
{
    ASSERT(loop != NULL && out != NULL);
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, global_init);
    struct client *client = calloc(1, sizeof *client);
    if (client == NULL)
        return error_set(err, TD_NO_MEMORY, "no memory for the upstream client");
    client->base = loop_event_base(loop);
    client->shortage = (struct td_error){TD_NO_MEMORY, "no memory for a request"};
    client->watches =
        (struct client_watches){.base = client->base, .on_event = on_socket, .ctx = client};
    client->timer = evtimer_new(client->base, on_timer, client);
    client->multi = curl_multi_init();
    if (client->timer == NULL || client->multi == NULL) {
        client_free(client);
        return error_set(err, TD_NO_MEMORY, "no memory for the upstream client");
    }
    curl_multi_setopt(client->multi, CURLMOPT_SOCKETFUNCTION, watch_socket);
    curl_multi_setopt(client->multi, CURLMOPT_SOCKETDATA, client);
    curl_multi_setopt(client->multi, CURLMOPT_TIMERFUNCTION, set_timer);
    curl_multi_setopt(client->multi, CURLMOPT_TIMERDATA, client);
    curl_multi_setopt(client->multi, CURLMOPT_PIPELINING, (long)CURLPIPE_MULTIPLEX);
    curl_multi_setopt(client->multi, CURLMOPT_MAXCONNECTS, IDLE_CONNECTIONS_MAX);
    *out = client;
    return TD_OK;
}

void client_free(struct client *client)
{
    if (client == NULL)
        return;
    ASSERT(!client->inside);
    while (client->transfers)
        transfer_free(client->transfers);
    if (client->multi)
        curl_multi_cleanup(client->multi); /* closes idle connections and their watches */
    client_watches_free(&client->watches);
    if (client->timer)
        event_free(client->timer);
    free(client);
}

struct client *client_of_loop(struct loop *loop)
{
    struct client **place = loop_event_client(loop);
    if (*place == NULL && client_new(loop, place, NULL) != TD_OK)
        *place = NULL;
    return *place;
}
