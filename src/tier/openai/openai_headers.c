#include "tier/openai/openai_headers.h"

#include "base/core/ascii.h"
#include "base/core/assertion.h"
#include "base/core/str.h"
#include "base/crypto/crypto.h"
#include "base/crypto/secret.h"
#include "base/time/clock.h"
#include "base/time/trace.h"
#include "tier/door.h"
#include "tier/servers.h"

/* Where a header stands in `text`. The text may move while it grows, so the pointers are set at the
 * end. */
struct writing {
    struct openai_headers *headers;
    size_t at[OPENAI_HEADERS_MAX];
    bool made[OPENAI_HEADERS_MAX];
};

static void add_text(struct writing *writing, const char *line)
{
    struct openai_headers *headers = writing->headers;
    ASSERT(headers->count + 1 < OPENAI_HEADERS_MAX);
    headers->list[headers->count++] = line;
}

/* Begins a header that is written into the text; a zero byte ends it. */
static struct buf *begin(struct writing *writing)
{
    struct openai_headers *headers = writing->headers;
    ASSERT(headers->count + 1 < OPENAI_HEADERS_MAX);
    writing->made[headers->count] = true;
    writing->at[headers->count++] = headers->text.len;
    return &headers->text;
}

static void add_pair(struct writing *writing, const char *name, struct td_str value)
{
    struct buf *text = begin(writing);
    buf_printf(text, "%s: ", name);
    buf_append_str(text, value);
    buf_append_char(text, '\0');
}

/* The trace goes on at the peer, and its log can be found from here. The client's own request id
 * stays: it may say more than a number. Each sending has an id of its own, because some servers
 * tell requests apart by it. */
static void add_tracing(struct writing *writing, const struct egress_pass *pass,
                        uint32_t try_number)
{
    if (!pass || !pass->traceparent || !pass->exchange)
        return;
    add_pair(writing, "traceparent", str_from(pass->traceparent));
    buf_printf(begin(writing), "X-Request-Id: %s-%s-%u%c", pass->exchange, pass->span, try_number,
               '\0');
    if (pass->tracestate)
        add_pair(writing, "tracestate", str_from(pass->tracestate));
}

static void add_signature(struct writing *writing, const struct openai_header_source *source,
                          struct td_str key)
{
    const struct server_signing signing = {.key = key,
                                           .method = source->method,
                                           .url = source->url,
                                           .body = source->body,
                                           .wall_ms = clock_wall_ms(NULL),
                                           .region = source->region};
    struct buf *text = &writing->headers->text;
    size_t begin = text->len, count = source->server->sign(&signing, text);
    for (size_t i = 0; i < count && !text->failed; i++) {
        ASSERT(writing->headers->count + 1 < OPENAI_HEADERS_MAX);
        writing->made[writing->headers->count] = true;
        writing->at[writing->headers->count++] = begin;
        begin += strlen(text->data + begin) + 1;
    }
}

static void add_key(struct writing *writing, const struct openai_header_source *source)
{
    struct td_str key = secret_reveal(source->key);
    if (key.len == 0)
        return;
    if (source->server && source->server->sign) {
        add_signature(writing, source, key);
        return;
    }
    if (source->server && source->server->key_header) {
        add_pair(writing, source->server->key_header, key);
        return;
    }
    struct buf *text = begin(writing);
    buf_append_str(text, STR("Authorization: Bearer "));
    buf_append_str(text, key);
    buf_append_char(text, '\0');
}

static size_t bytes_max(const struct openai_header_source *source)
{
    size_t bytes = TRACE_STATE_MAX + 2048 + secret_reveal(source->key).len;
    for (size_t i = 0; i < source->extra_count; i++)
        bytes += strlen(source->extra[i].name) + secret_reveal(source->extra[i].value).len + 8;
    return bytes;
}

bool openai_headers_init(struct openai_headers *headers, const struct openai_header_source *source,
                         bool body, const struct egress_pass *pass, uint32_t try_number)
{
    struct writing writing = {.headers = headers};
    *headers = (struct openai_headers){0};
    buf_init(&headers->text, bytes_max(source));
    add_text(&writing, "User-Agent: tandem/" TANDEM_VERSION);
    if (body) {
        add_text(&writing, "Content-Type: application/json");
        add_text(&writing, "Accept: text/event-stream, application/json");
    }
    for (size_t i = 0; source->server && source->server->fixed && source->server->fixed[i]; i++)
        add_text(&writing, source->server->fixed[i]);
    add_tracing(&writing, pass, try_number);
    for (size_t i = 0; i < source->extra_count && i < TIER_HEADERS_MAX; i++)
        if (source->extra[i].value)
            add_pair(&writing, source->extra[i].name, secret_reveal(source->extra[i].value));
    add_key(&writing, source);
    for (size_t i = 0; i < headers->count && !headers->text.failed; i++)
        if (writing.made[i])
            headers->list[i] = headers->text.data + writing.at[i];
    return !headers->text.failed;
}

void openai_headers_wipe(struct openai_headers *headers)
{
    if (headers->text.data)
        crypto_wipe(headers->text.data, headers->text.len);
    buf_deinit(&headers->text);
}

bool openai_key_is_clean(const struct secret *key, bool lines)
{
    struct td_str text = secret_reveal(key);
    for (size_t i = 0; i < text.len; i++)
        if (((unsigned char)text.data[i] <= ' ' || text.data[i] == 0x7f) &&
            !(lines && text.data[i] == '\n'))
            return false;
    return true;
}

bool openai_header_is_clean(const struct secret *value)
{
    struct td_str text = secret_reveal(value);
    for (size_t i = 0; i < text.len; i++)
        if ((unsigned char)text.data[i] < ' ' || text.data[i] == 0x7f)
            return false;
    return true;
}

/* RFC 9110, section 7.6.1: what belongs to a connection; what says how long and in which form a
 * body is; and what shows a key, which has a place of its own in the configuration. */
static const char *const own_headers[] = {"Accept",
                                          "Accept-Encoding",
                                          "api-key",
                                          "Authorization",
                                          "Connection",
                                          "Content-Encoding",
                                          "Content-Length",
                                          "Content-Type",
                                          "Cookie",
                                          "Expect",
                                          "Host",
                                          "Keep-Alive",
                                          "Proxy-Authenticate",
                                          "Proxy-Authorization",
                                          "Proxy-Connection",
                                          "TE",
                                          "Trailer",
                                          "Transfer-Encoding",
                                          "Upgrade",
                                          "traceparent",
                                          "tracestate",
                                          "x-amz-date",
                                          "x-amz-security-token",
                                          "x-api-key",
                                          "x-goog-api-key",
                                          "X-Request-Id"};

bool openai_header_may_be_set(const char *name)
{
    struct td_str text = str_from(name);
    for (size_t i = 0; i < text.len; i++)
        if (!ascii_is_alnum(text.data[i]) && !strchr("!#$%&'*+-.^_`|~", text.data[i]))
            return false;
    for (size_t i = 0; i < sizeof own_headers / sizeof *own_headers; i++)
        if (str_equal_nocase(text, str_from(own_headers[i])))
            return false;
    return text.len > 0 && text.len <= 128;
}

#define SECRET_BYTES_MIN 8 /* shorter texts are no secrets */

/* A part of it at the end of the message is hidden too, because the message may have been cut
 * there. */
void openai_hide(struct td_str secret, char *message)
{
    size_t len = strlen(message);
    for (size_t at = 0; secret.len >= SECRET_BYTES_MIN && at < len; at++) {
        size_t same = 0;
        while (same < secret.len && at + same < len && message[at + same] == secret.data[same])
            same++;
        if (same == secret.len || (same >= SECRET_BYTES_MIN && at + same == len))
            memset(message + at, '*', same);
    }
}

void openai_hide_key(const struct secret *key, char *message)
{
    struct td_str rest = secret_reveal(key), line;
    while (str_next(&rest, '\n', &line))
        openai_hide(line, message);
}
