/* One exchange is a span of the kind "server" under the caller's, named after its route. Each
 * attempt is a span under it: "client" for a server elsewhere, "internal" for the engine here. The
 * ids are those of the traceparent headers that went in and out (base/time/trace.h), so that a
 * caller's and a tier's spans are of the same trace.
 *
 * gen_ai.request.model is the tier's model and not the client's word for it, which is a text of a
 * stranger. */
#include "api/telemetry/otlp_json.h"

#include "base/core/str.h"
#include "base/json/json.h"
#include "base/text/names.h"
#include "exchange/machine/attempt.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

enum span_kind { KIND_INTERNAL = 1, KIND_SERVER = 2, KIND_CLIENT = 3 };
enum { STATUS_UNSET = 0, STATUS_ERROR = 2 };

#define ATTRIBUTES_BYTES_MAX 2048

/* --- attributes --- */

static void begin_value(struct buf *out, const char *key, const char *type)
{
    char last = out->len > 0 ? out->data[out->len - 1] : '[';
    buf_printf(out, "%s{\"key\":\"%s\",\"value\":{\"%s\":", last == '[' ? "" : ",", key, type);
}

void otlp_json_text(struct buf *out, const char *key, struct td_str value)
{
    begin_value(out, key, "stringValue");
    json_write_text(value, out);
    buf_append_str(out, STR("}}"));
}

static void put_text(struct buf *out, const char *key, const char *value)
{
    if (value)
        otlp_json_text(out, key, str_from(value));
}

/* 64 bits are a text in this encoding. */
static void put_int(struct buf *out, const char *key, uint64_t value)
{
    begin_value(out, key, "intValue");
    buf_printf(out, "\"%" PRIu64 "\"}}", value);
}

static void put_double(struct buf *out, const char *key, double value)
{
    if (!isfinite(value))
        return;
    begin_value(out, key, "doubleValue");
    buf_printf(out, "%.9g}}", value);
}

static void put_bool(struct buf *out, const char *key, bool value)
{
    begin_value(out, key, "boolValue");
    buf_printf(out, "%s}}", value ? "true" : "false");
}

static void put_finish(struct buf *out, enum td_finish finish)
{
    begin_value(out, "gen_ai.response.finish_reasons", "arrayValue");
    buf_printf(out, "{\"values\":[{\"stringValue\":\"%s\"}]}}}", names_finish(finish));
}

static void put_reasons(struct buf *out, const struct exchange_summary *summary)
{
    begin_value(out, "tandem.reasons", "arrayValue");
    buf_append_str(out, STR("{\"values\":["));
    for (size_t i = 0; i < summary->reason_count; i++)
        buf_printf(out, "%s{\"stringValue\":\"%s\"}", i ? "," : "",
                   reason_code_name(summary->reasons[i].code));
    buf_append_str(out, STR("]}}}"));
}

static const char *operation_of(const struct exchange_summary *summary)
{
    return summary->completes ? "text_completion" : "chat";
}

/* The conventions' word for a kind of server, where it is another one than ours. */
static const char *provider_of(const struct tier_facts *facts)
{
    static const char *const words[][2] = {
        {"azure", "azure.ai.openai"}, {"bedrock", "aws.bedrock"},  {"gemini", "gcp.gemini"},
        {"mistral", "mistral_ai"},    {"vertex", "gcp.vertex_ai"}, {"xai", "x_ai"},
    };
    const char *kind = facts->provider;
    for (size_t i = 0; kind && i < sizeof words / sizeof *words; i++)
        if (strcmp(words[i][0], kind) == 0)
            return words[i][1];
    return kind ? kind : "tandem";
}

static void put_usage(struct buf *out, const struct tier_usage *usage)
{
    put_int(out, "gen_ai.usage.input_tokens", usage->prompt_tokens);
    put_int(out, "gen_ai.usage.output_tokens", usage->completion_tokens);
    if (usage->cached_tokens)
        put_int(out, "gen_ai.usage.cache_read.input_tokens", usage->cached_tokens);
}

static void put_cache(struct buf *out, enum tier_cache cache)
{
    if (cache != TIER_CACHE_NONE)
        put_text(out, "tandem.cache", tier_cache_name(cache));
}

/* --- spans --- */

struct span {
    const struct trace *trace;
    const char *id, *parent; /* parent "" = none */
    enum span_kind kind;
    double begin_ms, end_ms; /* since 1970 */
    bool failed;
};

static void put_time(struct buf *out, const char *key, double wall_ms)
{
    uint64_t micros = wall_ms > 0 ? (uint64_t)(wall_ms * 1000) : 0;
    buf_printf(out, ",\"%s\":\"%" PRIu64 "000\"", key, micros);
}

/* Up to the list of attributes, which stays open. */
static void begin_span(struct buf *out, const struct span *span, const char *operation,
                       const char *name)
{
    struct buf text;
    buf_init(&text, 512);
    buf_printf(&text, "%s %.200s", operation, name ? name : "");
    buf_printf(out, "{\"traceId\":\"%s\",\"spanId\":\"%s\"", span->trace->id, span->id);
    if (*span->parent)
        buf_printf(out, ",\"parentSpanId\":\"%s\"", span->parent);
    buf_printf(out, ",\"flags\":%u,\"kind\":%d,\"name\":", span->trace->flags, (int)span->kind);
    json_write_text(str_trim(buf_view(&text)), out);
    put_time(out, "startTimeUnixNano", span->begin_ms);
    put_time(out, "endTimeUnixNano", fmax(span->begin_ms, span->end_ms));
    buf_printf(out, ",\"status\":{\"code\":%d},\"attributes\":[",
               span->failed ? STATUS_ERROR : STATUS_UNSET);
    buf_deinit(&text);
}

static void put_error(struct buf *out, const struct attempt *attempt)
{
    char code[16];
    if (attempt->status == TD_OK)
        return;
    snprintf(code, sizeof code, "%d", attempt->http_status);
    put_text(out, "error.type",
             attempt->http_status >= 400 ? code : td_status_name(attempt->status));
}

static void write_attempt(const struct exchange_summary *summary, const struct attempt *attempt,
                          double begun_ms, struct buf *out)
{
    const struct tier_facts *facts = &summary->facts[attempt->tier];
    double begin_ms = begun_ms + attempt->start_ms;
    const struct span span = {.trace = summary->trace,
                              .id = attempt->span,
                              .parent = summary->trace->span,
                              .kind = facts->provider ? KIND_CLIENT : KIND_INTERNAL,
                              .begin_ms = begin_ms,
                              .end_ms = begin_ms + attempt->total_ms,
                              .failed = attempt->status != TD_OK};
    begin_span(out, &span, operation_of(summary), facts->model);
    put_text(out, "gen_ai.operation.name", operation_of(summary));
    put_text(out, "gen_ai.provider.name", provider_of(facts));
    put_text(out, "gen_ai.request.model", facts->model);
    put_usage(out, &attempt->usage);
    if (attempt->outcome == ATTEMPT_ANSWERED || attempt->outcome == ATTEMPT_CONTINUED)
        put_finish(out, attempt->finish);
    put_text(out, "tandem.tier", facts->name);
    put_text(out, "tandem.place", names_place(facts->place));
    put_text(out, "tandem.outcome", names_outcome(attempt->outcome));
    put_double(out, "tandem.cost_usd", attempt->cost_usd);
    put_double(out, "tandem.confidence", attempt->confidence);
    put_int(out, "tandem.retries", attempt->retry_count);
    put_int(out, "tandem.egress_bytes", attempt->egress_bytes);
    put_cache(out, attempt->cache);
    if (attempt->http_status)
        put_int(out, "http.response.status_code", (uint64_t)attempt->http_status);
    put_error(out, attempt);
    buf_append_char(out, ']');
    if (attempt->first_ms > 0) {
        buf_append_str(out, STR(",\"events\":[{\"name\":\"first_token\""));
        put_time(out, "timeUnixNano", begin_ms + attempt->first_ms);
        buf_append_str(out, STR("}]"));
    }
    buf_append_char(out, '}');
}

static void write_exchange(const struct exchange_summary *summary, double begun_ms, struct buf *out)
{
    const struct span span = {.trace = summary->trace,
                              .id = summary->trace->span,
                              .parent = summary->trace->parent,
                              .kind = KIND_SERVER,
                              .begin_ms = begun_ms,
                              .end_ms = begun_ms + summary->total_ms,
                              .failed = summary->end == ENDED_FAILED};
    begin_span(out, &span, operation_of(summary), summary->route);
    put_text(out, "gen_ai.operation.name", operation_of(summary));
    put_text(out, "gen_ai.request.model", summary->model);
    put_usage(out, &summary->usage);
    if (summary->end == ENDED_OK)
        put_finish(out, summary->finish);
    put_text(out, "tandem.exchange", summary->id);
    put_text(out, "tandem.route", summary->route);
    put_text(out, "tandem.tier", summary->tier);
    put_text(out, "tandem.data_class", names_class(summary->data_class));
    put_text(out, "tandem.end", names_end(summary->end));
    put_bool(out, "tandem.degraded", summary->degraded);
    put_double(out, "tandem.cost_usd", summary->cost_usd);
    put_double(out, "tandem.all_cloud_cost_usd", summary->all_cloud_cost_usd);
    put_double(out, "tandem.confidence", summary->confidence);
    put_cache(out, summary->cache);
    if (summary->ttft_ms > 0)
        put_double(out, "tandem.ttft_ms", summary->ttft_ms);
    put_reasons(out, summary);
    if (summary->end == ENDED_FAILED)
        put_text(out, "error.type", "no_answer");
    buf_append_str(out, STR("]}"));
}

uint32_t otlp_json_spans(const struct exchange_summary *summary, uint64_t wall_ms, struct buf *out)
{
    double begun_ms = (double)wall_ms - summary->total_ms;
    write_exchange(summary, begun_ms, out);
    for (uint32_t i = 0; summary->attempts && i < summary->attempt_count; i++) {
        buf_append_char(out, ',');
        write_attempt(summary, summary->attempts[i], begun_ms, out);
    }
    return 1 + (summary->attempts ? summary->attempt_count : 0);
}

/* --- histograms --- */

static void measure_attempt(const struct exchange_summary *summary, const struct attempt *attempt,
                            struct otlp_histograms *histograms)
{
    const struct tier_facts *facts = &summary->facts[attempt->tier];
    struct buf attributes;
    buf_init(&attributes, ATTRIBUTES_BYTES_MAX);
    put_text(&attributes, "gen_ai.operation.name", operation_of(summary));
    put_text(&attributes, "gen_ai.provider.name", provider_of(facts));
    put_text(&attributes, "gen_ai.request.model", facts->model);
    put_text(&attributes, "tandem.tier", facts->name);
    size_t base = attributes.len;
    const struct {
        const char *type;
        uint32_t tokens;
    } sides[] = {{"input", attempt->usage.prompt_tokens},
                 {"output", attempt->usage.completion_tokens}};
    for (size_t i = 0; i < 2 && attempt->usage.exact; i++) {
        put_text(&attributes, "gen_ai.token.type", sides[i].type);
        if (!attributes.failed)
            otlp_histograms_add(histograms, OTLP_TOKENS, buf_view(&attributes), sides[i].tokens);
        buf_truncate(&attributes, base);
    }
    put_error(&attributes, attempt);
    if (!attributes.failed)
        otlp_histograms_add(histograms, OTLP_OPERATION_SECONDS, buf_view(&attributes),
                            attempt->total_ms / 1e3);
    buf_deinit(&attributes);
}

void otlp_json_measure(const struct exchange_summary *summary, struct otlp_histograms *histograms)
{
    struct buf attributes;
    for (uint32_t i = 0; summary->attempts && i < summary->attempt_count; i++)
        if (!tier_cache_is_kept(summary->attempts[i]->cache)) /* nobody was asked */
            measure_attempt(summary, summary->attempts[i], histograms);
    if (!(summary->ttft_ms > 0))
        return;
    buf_init(&attributes, ATTRIBUTES_BYTES_MAX);
    put_text(&attributes, "gen_ai.operation.name", operation_of(summary));
    put_text(&attributes, "gen_ai.request.model", summary->model);
    put_text(&attributes, "tandem.tier", summary->tier);
    if (!attributes.failed)
        otlp_histograms_add(histograms, OTLP_FIRST_SECONDS, buf_view(&attributes),
                            summary->ttft_ms / 1e3);
    buf_deinit(&attributes);
}
