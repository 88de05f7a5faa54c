/* What every reply tells of its exchange: headers, metrics, and what a failure means to the
 * client. */
#include "api/inference/exchange_reply.h"

#include "api/http/metrics.h"
#include "api/wire/openai_response.h"
#include "base/json.h"
#include "base/names.h"

#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

void exchange_reply_headers(struct http_request *http, const struct exchange_summary *summary)
{
    assert(http && summary);
    char text[1024];
    if (summary->tier) {
        response_header_text(summary->tier, text, sizeof text);
        http_reply_header(http, "x-tandem-tier", text);
        http_reply_header(http, "x-tandem-place", names_place(summary->place));
    }
    if (isfinite(summary->confidence)) {
        snprintf(text, sizeof text, "%.4f", summary->confidence);
        http_reply_header(http, "x-tandem-confidence", text);
    }
    http_reply_header(http, "x-tandem-exchange", summary->id);
    if (summary->disclosure) {
        response_header_text(summary->disclosure, text, sizeof text);
        http_reply_header(http, "x-tandem-disclosure", text);
    }
}

static void count_pseudonyms(struct api *api, const struct pseudonym_counts *counts)
{
    const struct {
        const char *result;
        uint64_t count;
    } rows[] = {{"sent", counts->sent},
                {"restored", counts->restored},
                {"not_restored", counts->seen - counts->restored}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows && counts->sent > 0; i++) {
        char labels[METRICS_LABELS_BYTES] = "";
        metrics_label(labels, "result", rows[i].result);
        metrics_add(api->host->metrics, api->shard, METRICS_PSEUDONYMS, labels,
                    (double)rows[i].count);
    }
}

/* The beginning of a reason's name says what it counts for, the rest is a label. */
static void count_reason(struct api *api, const struct reason *reason)
{
    static const struct {
        const char *prefix;
        enum metrics_family family;
    } counted[] = {{"left_", METRICS_ESCALATIONS}, {"unjudged_", METRICS_UNJUDGED}};
    const char *name = reason_code_name(reason->code);
    for (size_t i = 0; i < sizeof counted / sizeof *counted; i++) {
        size_t len = strlen(counted[i].prefix);
        char labels[METRICS_LABELS_BYTES] = "";
        if (strncmp(name, counted[i].prefix, len) != 0)
            continue;
        metrics_label(labels, "reason", name + len);
        metrics_label(labels, "tier", reason->tier);
        metrics_add(api->host->metrics, api->shard, counted[i].family, labels, 1);
    }
}

void exchange_reply_count(struct api *api, const struct exchange_summary *summary,
                          const char *status)
{
    assert(api && status);
    struct metrics *metrics = api->host->metrics;
    uint32_t shard = api->shard;
    char tier[METRICS_LABELS_BYTES] = "", labels[METRICS_LABELS_BYTES] = "";
    metrics_label(tier, "tier", summary ? summary->tier : NULL);
    snprintf(labels, sizeof labels, "%s", tier);
    metrics_label(labels, "route", summary ? summary->route : NULL);
    metrics_label(labels, "status", status);
    metrics_add(metrics, shard, METRICS_EXCHANGES, labels, 1);
    if (!summary)
        return;
    metrics_add(metrics, shard, METRICS_PROMPT_TOKENS, tier, summary->usage.prompt_tokens);
    metrics_add(metrics, shard, METRICS_COMPLETION_TOKENS, tier, summary->usage.completion_tokens);
    if (summary->ttft_ms > 0)
        metrics_observe(metrics, shard, METRICS_TTFT_SECONDS, tier, summary->ttft_ms / 1e3);
    metrics_observe(metrics, shard, METRICS_TOTAL_SECONDS, tier, summary->total_ms / 1e3);
    count_pseudonyms(api, &summary->pseudonyms);
    for (size_t i = 0; i < summary->reason_count; i++)
        count_reason(api, &summary->reasons[i]);
}

void exchange_reply_refusal(enum td_status status, const struct td_error *err,
                            const struct json *body, struct fault *fault)
{
    const char *param = NULL;
    if (status == TD_NOT_FOUND)
        param = "model";
    else if (status == TD_INVALID)
        param = json_count(json_get(body, "lora")) > 0 ? "lora" : "tandem.adapters";
    fault_from_status(fault, status, err->message, param);
}

void exchange_reply_fault(const struct exchange_event *event, struct fault *fault)
{
    if (event->upstream_denied)
        fault_upstream_denied(fault, event->message);
    else
        fault_from_status(fault, event->status, event->message, event->param);
}
