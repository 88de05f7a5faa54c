/* Replies and the counting of their codes.
 *
 * Errors take the form of the dialect that the path belongs to, which the table of endpoints says.
 * So a handler only says what went wrong. */
#include "api/http/reply.h"

#include "api/http/metrics.h"
#include "base/core/assertion.h"
#include "base/core/shortage.h"
#include "base/core/str.h"
#include "base/json/json.h"

#include <stdio.h>

#define FAULT_BYTES_MAX 16384
/* When there is none for a fault either. */
#define OUT_OF_MEMORY                                                                     \
    "{\"error\":{\"message\":\"out of memory\",\"type\":\"server_error\",\"param\":null," \
    "\"code\":\"out_of_memory\"}}"

void api_count_code(struct api *api, int code)
{
    char labels[METRICS_LABELS_BYTES] = "", text[16];
    snprintf(text, sizeof text, "%d", code);
    metrics_label(labels, "code", text);
    metrics_add(api->host->metrics, api->shard, METRICS_REQUESTS, labels, 1);
}

void api_reply_text(struct api *api, struct http_request *request, int code, const char *type,
                    struct td_str body)
{
    ASSERT(request);
    api_count_code(api, code);
    http_reply(request, code, type, body);
}

void api_begin_event(struct api *api)
{
    api->shortages = shortage_count();
}

bool api_has_memory(const struct api *api, struct fault *fault)
{
    if (!shortage_since(api->shortages))
        return true;
    fault_from_status(fault, TD_NO_MEMORY, "out of memory", NULL);
    return false;
}

void api_reply_json(struct api *api, struct http_request *request, int code, struct buf *body)
{
    if (body->failed) {
        struct fault fault;
        fault_too_large(&fault);
        api_reply_fault(api, request, &fault);
        return;
    }
    api_reply_text(api, request, code, "application/json", buf_view(body));
}

void api_reply_value(struct api *api, struct http_request *request, struct json *value,
                     size_t bytes_max)
{
    struct buf body;
    buf_init(&body, bytes_max);
    json_write(value, &body);
    json_free(value);
    api_reply_json(api, request, 200, &body);
    buf_deinit(&body);
}

bool api_read_body(struct api *api, struct http_request *request, struct json **out)
{
    struct fault fault;
    bool ok = fault_parse_json(http_request_body(request), out, &fault);
    if (!ok)
        api_reply_fault(api, request, &fault);
    return ok;
}

const struct fault_form *api_fault_form(const struct api *api, const char *path)
{
    for (size_t i = 0; i < api->endpoint_count; i++)
        if (api->endpoints[i].faults && endpoint_is_below(api->endpoints[i].path, path))
            return api->endpoints[i].faults;
    return &fault_form_openai;
}

void api_reply_fault(struct api *api, struct http_request *request, const struct fault *fault)
{
    api_reply_fault_in(api, request, api_fault_form(api, http_request_path(request)), fault);
}

void api_reply_fault_in(struct api *api, struct http_request *request,
                        const struct fault_form *form, const struct fault *fault)
{
    ASSERT(request && fault->code);
    struct buf body;
    struct fault own;
    if (!api_has_memory(api, &own))
        fault = &own; /* what else was found may not be so */
    buf_init(&body, FAULT_BYTES_MAX);
    form->write(fault, &body);
    if (fault->no_retry)
        http_reply_header(request, "x-should-retry", "false");
    if (fault->retry_after_s) {
        char seconds[16];
        snprintf(seconds, sizeof seconds, "%u", fault->retry_after_s);
        http_reply_header(request, "retry-after", seconds);
    }
    api_reply_text(api, request, fault->code, "application/json",
                   body.failed ? STR(OUT_OF_MEMORY) : buf_view(&body));
    buf_deinit(&body);
}

void api_reply_status(struct api *api, struct http_request *request, enum td_status status,
                      const struct td_error *err, const char *param)
{
    struct fault fault;
    fault_from_status(&fault, status, err->message, param);
    api_reply_fault(api, request, &fault);
}
