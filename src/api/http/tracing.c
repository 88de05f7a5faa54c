/* What a client sends as a name is text of a stranger: it goes into headers, the ledger and the
 * terminal of whoever reads it. So only short names of harmless characters are taken. An address of
 * mail is no such name. The log has the trace id alone, which is a number. */
#include "api/http/tracing.h"

#include "api/http/reply.h"
#include "base/core/str.h"
#include "base/time/log.h"

#include <stdio.h>
#include <string.h>

static bool is_request_id(const char *text)
{
    size_t len = strnlen(text, TRACING_REQUEST_ID_BYTES);
    return len > 0 && len < TRACING_REQUEST_ID_BYTES &&
           strspn(text, "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ._:+=-") ==
               len;
}

/* Printable ASCII, as W3C has it: what is longer may be dropped whole. */
static bool is_trace_state(const char *text)
{
    size_t len = strnlen(text, TRACE_STATE_MAX + 1);
    for (size_t i = 0; i < len; i++)
        if ((unsigned char)text[i] < 0x20 || (unsigned char)text[i] > 0x7e)
            return false;
    return len > 0 && len <= TRACE_STATE_MAX;
}

static void make_request_id(struct api *api, char out[static TRACING_REQUEST_ID_BYTES])
{
    snprintf(out, TRACING_REQUEST_ID_BYTES, "req_%016llx", (unsigned long long)rng_u64(&api->rng));
    trace_mark_time(out + strlen("req_"));
}

void tracing_begin(struct api *api, struct http_request *request)
{
    struct tracing *tracing = &api->tracing;
    const char *id = http_request_header(request, "x-request-id");
    char header[TRACE_HEADER_BYTES];
    trace_begin(&tracing->trace, http_request_header(request, "traceparent"));
    if (id && is_request_id(id))
        memcpy(tracing->request_id, id, strlen(id) + 1);
    else
        make_request_id(api, tracing->request_id);
    if (tracing->trace.restarted || (id && strcmp(id, tracing->request_id) != 0))
        log_event(LOG_LEVEL_DEBUG, "trace_ignored", "trace=%s header=%s", tracing->trace.id,
                  tracing->trace.restarted ? "traceparent" : "x-request-id");
    trace_write(&tracing->trace, tracing->trace.span, header);
    http_reply_header(request, "traceparent", header);
    http_reply_header(request, "x-request-id", tracing->request_id);
    const char *own = api_fault_form(api, http_request_path(request))->id_header;
    if (own)
        http_reply_header(request, own, tracing->request_id);
}

bool tracing_give(const struct api *api, const struct http_request *request, struct arena *arena,
                  struct td_request *out)
{
    const char *state = http_request_header(request, "tracestate");
    struct trace *trace = arena_alloc(arena, sizeof *trace);
    if (!trace)
        return false;
    *trace = api->tracing.trace;
    out->trace = trace;
    out->request_id = arena_copy(arena, str_from(api->tracing.request_id));
    bool passed = state && *trace->parent && is_trace_state(state);
    out->trace_state = passed ? arena_copy(arena, str_from(state)) : NULL;
    return out->request_id && (!passed || out->trace_state);
}
