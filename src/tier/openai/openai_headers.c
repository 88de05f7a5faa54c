#include "tier/openai/openai_headers.h"

#include "base/crypto.h"
#include "base/secret.h"
#include "base/str.h"
#include "base/trace.h"
#include "tier/door.h"

/* The trace goes on at the peer, and its log can be found from here. The client's own request id
 * stays: it may say more than a number. Each sending has an id of its own, because some servers
 * tell requests apart by it. */
#define TRACING_HEADERS 3
static size_t add_tracing(const struct egress_pass *pass, uint32_t try_number, struct buf *text,
                          const char *out[static TRACING_HEADERS])
{
    size_t count = 0, at[TRACING_HEADERS];
    if (!pass || !pass->traceparent || !pass->exchange)
        return 0;
    at[count++] = text->len;
    buf_printf(text, "traceparent: %s%c", pass->traceparent, '\0');
    at[count++] = text->len;
    buf_printf(text, "X-Request-Id: %s-%s-%u%c", pass->exchange, pass->span, try_number, '\0');
    if (pass->tracestate) {
        at[count++] = text->len;
        buf_printf(text, "tracestate: %s%c", pass->tracestate, '\0');
    }
    for (size_t i = 0; i < count && !text->failed; i++)
        out[i] = text->data + at[i];
    return text->failed ? 0 : count;
}

bool openai_headers_init(struct openai_headers *headers, const struct secret *key, bool body,
                         const struct egress_pass *pass, uint32_t try_number)
{
    struct td_str text = secret_reveal(key);
    size_t count = 0;
    *headers = (struct openai_headers){0};
    buf_init(&headers->authorization, text.len + 64);
    buf_init(&headers->tracing, TRACE_STATE_MAX + 256);
    headers->list[count++] = "User-Agent: tandem/" TANDEM_VERSION;
    if (body) {
        headers->list[count++] = "Content-Type: application/json";
        headers->list[count++] = "Accept: text/event-stream, application/json";
    }
    count += add_tracing(pass, try_number, &headers->tracing, headers->list + count);
    buf_append_str(&headers->authorization, STR("Authorization: Bearer "));
    buf_append_str(&headers->authorization, text);
    if (text.len > 0)
        headers->list[count++] = headers->authorization.data;
    return !headers->authorization.failed;
}

void openai_headers_wipe(struct openai_headers *headers)
{
    if (headers->authorization.data)
        crypto_wipe(headers->authorization.data, headers->authorization.len);
    buf_deinit(&headers->authorization);
    buf_deinit(&headers->tracing);
}

bool openai_key_is_clean(const struct secret *key)
{
    struct td_str text = secret_reveal(key);
    for (size_t i = 0; i < text.len; i++)
        if ((unsigned char)text.data[i] <= ' ' || text.data[i] == 0x7f)
            return false;
    return true;
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
