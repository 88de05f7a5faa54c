/* What every reply tells of its exchange: headers, metrics, and what a failure means to the
 * client. */
#include "api/inference/exchange_reply.h"

#include "api/http/metrics.h"
#include "api/telemetry/live.h"
#include "api/telemetry/otlp.h"
#include "api/wire/openai_response.h"
#include "base/core/assertion.h"
#include "base/core/str.h"
#include "base/json/json.h"
#include "base/json/json_writer.h"
#include "base/text/names.h"
#include "exchange/machine/attempt.h"
#include "net/client/webhook.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

void exchange_reply_headers(struct http_request *http, const struct exchange_summary *summary)
{
    ASSERT(http && summary);
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
    if (summary->cache != TIER_CACHE_NONE)
        http_reply_header(http, "x-tandem-cache", tier_cache_name(summary->cache));
    if (summary->cache == TIER_CACHE_SIMILAR) {
        snprintf(text, sizeof text, "%.4f", (double)summary->cache_facts.similarity);
        http_reply_header(http, "x-tandem-cache-similarity", text);
    }
    if (tier_cache_is_kept(summary->cache)) {
        snprintf(text, sizeof text, "%u", summary->cache_facts.age_s);
        http_reply_header(http, "age", text);
    }
    if (summary->verification.state != VERIFICATION_NONE) {
        const struct verification *verification = &summary->verification;
        char tier[128];
        response_header_text(verification->tier, tier, sizeof tier);
        snprintf(text, sizeof text, "%s; by=%s; tier=%s; cost_usd=%.9g",
                 verification_state_name(verification->state),
                 verification->by == VERIFY_SCORE ? "score" : "answer", tier,
                 verification->cost_usd);
        http_reply_header(http, "x-tandem-verification", text);
    }
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

/* Answers that no gate judged, and why. */
static void count_unjudged(struct api *api, const struct exchange_summary *summary)
{
    static const struct td_str prefix = {"unjudged_", 9};
    for (size_t i = 0; i < summary->reason_count; i++) {
        const struct reason *reason = &summary->reasons[i];
        const char *name = reason_code_name(reason->code);
        char labels[METRICS_LABELS_BYTES] = "";
        if (!str_starts_with(str_from(name), prefix))
            continue;
        metrics_label(labels, "reason", name + prefix.len);
        metrics_label(labels, "tier", reason->tier);
        metrics_add(api->host->metrics, api->shard, METRICS_UNJUDGED, labels, 1);
    }
}

void exchange_reply_count_class(struct api *api, const char *route, enum td_data_class data_class,
                                enum exchange_end end)
{
    char labels[METRICS_LABELS_BYTES] = "";
    metrics_label(labels, "route", route);
    metrics_label(labels, "class", names_class(data_class));
    metrics_label(labels, "status", names_end(end));
    metrics_add(api->host->metrics, api->shard, METRICS_CLASSES, labels, 1);
}

/* Both ends of every climb, and what was asked twice. */
static void count_steps(struct api *api, const struct exchange_summary *summary)
{
    for (uint32_t i = 0; summary->steps && i < summary->attempt_count; i++) {
        const struct exchange_step *step = &summary->steps[i];
        char labels[METRICS_LABELS_BYTES] = "";
        if (step->retry_count > 0) {
            metrics_label(labels, "tier", step->tier);
            metrics_add(api->host->metrics, api->shard, METRICS_RETRIES, labels, step->retry_count);
        }
        if (!step->why_left)
            continue;
        labels[0] = '\0';
        metrics_label(labels, "reason", reason_code_name(step->why_left) + strlen("left_"));
        metrics_label(labels, "from", step->tier);
        metrics_label(labels, "to", step->next);
        metrics_label(labels, "class", names_class(summary->data_class));
        metrics_add(api->host->metrics, api->shard, METRICS_ESCALATIONS, labels, 1);
    }
}

static void count_failure(struct api *api, const struct attempt *attempt, const char *tier)
{
    char labels[METRICS_LABELS_BYTES] = "", kind[24];
    bool refused = attempt->http_status >= 400;
    snprintf(kind, sizeof kind, "http_%d", attempt->http_status);
    metrics_label(labels, "tier", tier);
    metrics_label(labels, "kind", refused ? kind : td_status_name(attempt->status));
    metrics_add(api->host->metrics, api->shard, METRICS_FAILURES, labels, 1);
}

/* Every attempt; kept answers are no news of their tiers. */
static void count_attempts(struct api *api, const struct exchange_summary *summary)
{
    struct metrics *metrics = api->host->metrics;
    for (uint32_t i = 0; summary->attempts && i < summary->attempt_count; i++) {
        const struct attempt *attempt = summary->attempts[i];
        const char *tier = summary->facts[attempt->tier].name;
        char labels[METRICS_LABELS_BYTES] = "", with[METRICS_LABELS_BYTES];
        if (tier_cache_is_kept(attempt->cache))
            continue;
        metrics_label(labels, "tier", tier);
        snprintf(with, sizeof with, "%s", labels);
        metrics_label(with, "outcome", names_outcome(attempt->outcome));
        metrics_add(metrics, api->shard, METRICS_ATTEMPTS, with, 1);
        metrics_observe(metrics, api->shard, METRICS_TIER_SECONDS, labels, attempt->total_ms / 1e3);
        if (attempt->first_ms > 0)
            metrics_observe(metrics, api->shard, METRICS_TIER_FIRST, labels,
                            attempt->first_ms / 1e3);
        if (attempt->status != TD_OK)
            count_failure(api, attempt, tier);
    }
}

static void count_objective(struct api *api, const struct exchange_summary *summary,
                            const char *objective, enum objective_result result)
{
    char labels[METRICS_LABELS_BYTES] = "";
    if (result == OBJECTIVE_NONE)
        return;
    metrics_label(labels, "tier", summary->tier);
    metrics_label(labels, "route", summary->route);
    metrics_label(labels, "objective", objective);
    metrics_label(labels, "result", result == OBJECTIVE_HIT ? "hit" : "missed");
    metrics_add(api->host->metrics, api->shard, METRICS_OBJECTIVES, labels, 1);
}

/* What is told of the answer's tier. */
static void count_answer(struct api *api, const struct exchange_summary *summary)
{
    struct metrics *metrics = api->host->metrics;
    uint32_t shard = api->shard;
    char tier[METRICS_LABELS_BYTES] = "", labels[METRICS_LABELS_BYTES] = "";
    metrics_label(tier, "tier", summary->tier);
    metrics_add(metrics, shard, METRICS_PROMPT_TOKENS, tier, summary->usage.prompt_tokens);
    metrics_add(metrics, shard, METRICS_COMPLETION_TOKENS, tier, summary->usage.completion_tokens);
    if (summary->ttft_ms > 0)
        metrics_observe(metrics, shard, METRICS_TTFT_SECONDS, tier, summary->ttft_ms / 1e3);
    metrics_observe(metrics, shard, METRICS_TOTAL_SECONDS, tier, summary->total_ms / 1e3);
    if (!summary->degraded)
        return;
    snprintf(labels, sizeof labels, "%s", tier);
    metrics_label(labels, "route", summary->route);
    metrics_add(metrics, shard, METRICS_DEGRADED, labels, 1);
}

/* Whoever waits for the last word on an answer: its id and what was found, and no text. */
static void tell_verdict(struct api *api, const struct exchange_summary *summary)
{
    const struct verification *verification = &summary->verification;
    char event[48], labels[METRICS_LABELS_BYTES] = "";
    struct buf text;
    struct json_writer writer;
    if (verification->state == VERIFICATION_NONE || summary->end != ENDED_OK)
        return;
    metrics_label(labels, "tier", verification->tier);
    metrics_label(labels, "state", verification_state_name(verification->state));
    metrics_add(api->host->metrics, api->shard, METRICS_VERIFICATIONS, labels, 1);
    if (!api->host->webhooks)
        return;
    snprintf(event, sizeof event, "answer.%s", verification_state_name(verification->state));
    buf_init(&text, 4096);
    json_writer_begin(&writer, &text);
    json_writer_open(&writer, NULL, '{');
    json_writer_text(&writer, "exchange", summary->id);
    json_writer_text(&writer, "state", verification_state_name(verification->state));
    json_writer_text(&writer, "by", verification->by == VERIFY_SCORE ? "score" : "answer");
    json_writer_text(&writer, "checked", verification->checked);
    json_writer_text(&writer, "checked_by", verification->tier);
    json_writer_text(&writer, "tier", summary->tier);
    json_writer_text(&writer, "data_class", names_class(summary->data_class));
    json_writer_close(&writer, '}');
    if (!text.failed)
        (void)webhook_send(api->host->webhooks, event, buf_view(&text));
    buf_deinit(&text);
}

void exchange_reply_count(struct api *api, const struct exchange_summary *summary)
{
    ASSERT(api && summary && summary->end != ENDED_NOT);
    char labels[METRICS_LABELS_BYTES] = "";
    metrics_label(labels, "tier", summary->tier);
    metrics_label(labels, "route", summary->route);
    metrics_label(labels, "status", names_end(summary->end));
    metrics_add(api->host->metrics, api->shard, METRICS_EXCHANGES, labels, 1);
    exchange_reply_count_class(api, summary->route, summary->data_class, summary->end);
    count_steps(api, summary);
    count_attempts(api, summary);
    count_unjudged(api, summary);
    count_objective(api, summary, "first_text", summary->objective_ttft);
    count_objective(api, summary, "whole_answer", summary->objective_total);
    count_answer(api, summary);
    count_pseudonyms(api, &summary->pseudonyms);
    otlp_exchange(api->host->otlp, summary);
    live_exchange(api->host->live, summary);
    tell_verdict(api, summary);
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

void exchange_reply_unkept(struct fault *fault)
{
    fault_set(fault, 403, "permission_error", "answer_not_kept",
              "a batch keeps its answers until they are fetched, and this route keeps nothing");
}

void exchange_reply_fault(const struct exchange_event *event, struct fault *fault)
{
    const struct tier_refusal *refusal = event->refusal;
    if (refusal)
        fault_refused(fault, refusal->http, refusal->code, event->message,
                      refusal->param[0] ? refusal->param : event->param);
    else if (event->upstream_denied || event->status == TD_CORRUPT)
        fault_upstream(fault, event->upstream_denied, event->message);
    else
        fault_from_status(fault, event->status, event->message, event->param);
    if (fault->retry_after_s && event->retry_after_s)
        fault->retry_after_s = event->retry_after_s;
}
