/* The thread looks into the queue four times a second, and sends one batch at a time. A batch that
 * the collector cannot take now (429, 502, 503, 504, no connection) is sent again after 1, 2, 4, 8
 * seconds and then dropped; any other refusal is for good, as OTLP says. Batches are bounded, and
 * so is the queue: some 4 MiB at most. */
#include "api/telemetry/otlp.h"

#include "api/telemetry/otlp_json.h"
#include "base/core/error.h"
#include "base/core/str.h"
#include "base/crypto/crypto.h"
#include "base/thread/queue.h"
#include "base/time/clock.h"
#include "base/time/log.h"
#include "net/client/client.h"
#include "net/client/loop_event.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#define TICK_MS 250
#define QUEUE_EXCHANGES 1024
#define EXCHANGE_BYTES_MAX 65536
#define BATCH_BYTES_MAX ((size_t)1 << 20)
#define TRIES_MAX 5
#define CONNECT_TIMEOUT_MS 5000
#define ANSWER_TIMEOUT_MS 10000
#define ANSWER_BYTES_MAX 65536
#define LAST_MS 2000 /* for what is left at the end */

/* The spans of one exchange, waiting. */
struct waiting {
    uint32_t span_count;
    size_t len;
    char text[];
};

struct otlp {
    char *traces_url, *metrics_url, *ca_file, *resource;
    char **headers; /* NULL-terminated */
    uint32_t metrics_interval_ms;
    struct otlp_histograms *histograms;
    struct queue *queue;
    _Atomic uint64_t spans, dropped, failures;
    atomic_bool stopping;

    /* The thread's own. */
    pthread_t thread;
    struct loop *loop;
    struct loop_timer *timer;
    struct client *client;
    struct client_transfer *transfer; /* NULL = none runs */
    struct buf batch;                 /* that is sent, or is to be sent again; empty = none */
    uint32_t batch_spans;
    bool batch_is_metrics;
    uint32_t tries;
    double not_before_ms, metrics_ms, last_ms;
    bool told;         /* that it fails; once, until it works again */
    bool metrics_sent; /* the last ones, at the end */
};

/* --- from the workers --- */

static void queue_spans(struct otlp *otlp, const struct exchange_summary *summary)
{
    struct buf text;
    buf_init(&text, EXCHANGE_BYTES_MAX);
    uint32_t count = otlp_json_spans(summary, clock_wall_ms(NULL), &text);
    struct waiting *waiting = text.failed ? NULL : malloc(sizeof *waiting + text.len);
    if (waiting) {
        waiting->span_count = count;
        waiting->len = text.len;
        memcpy(waiting->text, text.data, text.len);
    }
    if (!waiting || !queue_push(otlp->queue, waiting)) {
        atomic_fetch_add(&otlp->dropped, count);
        free(waiting);
    }
    buf_deinit(&text);
}

void otlp_exchange(struct otlp *otlp, const struct exchange_summary *summary)
{
    if (!otlp)
        return;
    if (otlp->metrics_url)
        otlp_json_measure(summary, otlp->histograms);
    bool sampled = summary->trace && (summary->trace->flags & 1); /* as W3C's Trace Context says */
    if (otlp->traces_url && sampled)
        queue_spans(otlp, summary);
}

void otlp_read(struct otlp *otlp, struct otlp_counts *out)
{
    *out = (struct otlp_counts){.spans = atomic_load(&otlp->spans),
                                .dropped = atomic_load(&otlp->dropped),
                                .failures = atomic_load(&otlp->failures)};
}

/* --- batches --- */

static void drop_batch(struct otlp *otlp)
{
    buf_clear(&otlp->batch);
    otlp->batch_spans = otlp->tries = 0;
}

static bool may_repeat(enum td_status status, int code)
{
    return status != TD_OK || code == 429 || code == 502 || code == 503 || code == 504;
}

static void on_sent(void *ctx, enum td_status status, int code, const struct td_error *err)
{
    struct otlp *otlp = ctx;
    otlp->transfer = NULL;
    if (status == TD_OK && code >= 200 && code < 300) {
        atomic_fetch_add(&otlp->spans, otlp->batch_spans);
        if (otlp->told)
            log_event(LOG_LEVEL_INFO, "otlp_recovered", "spans_dropped=%llu",
                      (unsigned long long)atomic_load(&otlp->dropped));
        otlp->told = false;
        drop_batch(otlp);
        return;
    }
    atomic_fetch_add(&otlp->failures, 1);
    if (!otlp->told)
        log_event(LOG_LEVEL_WARN, "otlp_failed", "http_status=%d error=\"%s\"", code,
                  status != TD_OK && err ? err->message : "");
    otlp->told = true;
    if (may_repeat(status, code) && ++otlp->tries < TRIES_MAX) {
        otlp->not_before_ms = clock_monotonic_ms(NULL) + 1000.0 * (1u << (otlp->tries - 1));
        return;
    }
    atomic_fetch_add(&otlp->dropped, otlp->batch_spans);
    drop_batch(otlp);
}

static void begin_batch(struct otlp *otlp, const char *kind, const char *scopes, const char *list)
{
    buf_clear(&otlp->batch);
    buf_printf(&otlp->batch,
               "{\"%s\":[{\"resource\":{\"attributes\":[%s]},\"%s\":[{\"scope\":{\"name\":"
               "\"tandem\",\"version\":\"" TANDEM_VERSION "\"},\"%s\":[",
               kind, otlp->resource, scopes, list);
}

/* False: there is nothing to send. */
static bool make_traces(struct otlp *otlp)
{
    struct waiting *waiting = otlp->traces_url ? queue_pop(otlp->queue) : NULL;
    if (!waiting)
        return false;
    begin_batch(otlp, "resourceSpans", "scopeSpans", "spans");
    otlp->batch_is_metrics = false;
    while (waiting) {
        if (otlp->batch_spans)
            buf_append_char(&otlp->batch, ',');
        buf_append(&otlp->batch, waiting->text, waiting->len);
        otlp->batch_spans += waiting->span_count;
        free(waiting);
        bool room = otlp->batch.len + EXCHANGE_BYTES_MAX < BATCH_BYTES_MAX;
        waiting = room ? queue_pop(otlp->queue) : NULL;
    }
    buf_append_str(&otlp->batch, STR("]}]}]}"));
    return true;
}

static bool make_metrics(struct otlp *otlp, bool last)
{
    double now_ms = clock_monotonic_ms(NULL);
    if (!otlp->metrics_url || otlp->metrics_sent || (!last && now_ms < otlp->metrics_ms))
        return false;
    otlp->metrics_sent = last;
    otlp->metrics_ms = now_ms + otlp->metrics_interval_ms;
    begin_batch(otlp, "resourceMetrics", "scopeMetrics", "metrics");
    size_t before = otlp->batch.len;
    otlp_histograms_write(otlp->histograms, clock_wall_ms(NULL), &otlp->batch);
    bool some = otlp->batch.len > before;
    buf_append_str(&otlp->batch, STR("]}]}]}"));
    otlp->batch_is_metrics = true;
    if (!some)
        drop_batch(otlp);
    return some;
}

static void send_batch(struct otlp *otlp)
{
    struct td_error err = {0};
    const struct client_request request = {
        .method = "POST",
        .url = otlp->batch_is_metrics ? otlp->metrics_url : otlp->traces_url,
        .headers = (const char *const *)otlp->headers,
        .body = buf_view(&otlp->batch),
        .allow_http = true, /* the operator's own address */
        .ca_file = otlp->ca_file,
        .connect_timeout_ms = CONNECT_TIMEOUT_MS,
        .first_timeout_ms = ANSWER_TIMEOUT_MS,
        .idle_timeout_ms = ANSWER_TIMEOUT_MS,
        .response_bytes_max = ANSWER_BYTES_MAX,
        .on_done = on_sent,
        .ctx = otlp,
    };
    enum td_status status = otlp->batch.failed
                                ? TD_NO_MEMORY
                                : client_start(otlp->client, &request, &otlp->transfer, &err);
    if (status != TD_OK)
        on_sent(otlp, status, 0, &err);
}

static void on_tick(void *ctx)
{
    struct otlp *otlp = ctx;
    double now_ms = clock_monotonic_ms(NULL);
    bool last = atomic_load(&otlp->stopping);
    if (last && otlp->last_ms <= 0)
        otlp->last_ms = now_ms + LAST_MS;
    bool due =
        !otlp->transfer && (otlp->batch.len > 0 ? now_ms >= otlp->not_before_ms || last
                                                : make_traces(otlp) || make_metrics(otlp, last));
    if (due)
        send_batch(otlp);
    bool idle = !otlp->transfer && otlp->batch.len == 0;
    if (last && (now_ms >= otlp->last_ms || (idle && !due)))
        loop_event_stop(otlp->loop);
    else
        loop_timer_start(otlp->loop, otlp->timer, last ? TICK_MS / 10 : TICK_MS);
}

/* --- life --- */

static void *otlp_run(void *ctx)
{
    struct otlp *otlp = ctx;
    loop_timer_start(otlp->loop, otlp->timer, TICK_MS);
    loop_event_run(otlp->loop);
    return NULL;
}

static void otlp_release(struct otlp *otlp)
{
    struct waiting *waiting;
    client_free(otlp->client);
    if (otlp->loop) {
        loop_timer_free(otlp->loop, otlp->timer);
        loop_event_free(otlp->loop);
    }
    while (otlp->queue && (waiting = queue_pop(otlp->queue)))
        free(waiting);
    queue_free(otlp->queue);
    otlp_histograms_free(otlp->histograms);
    for (size_t i = 0; otlp->headers && otlp->headers[i]; i++) {
        crypto_wipe(otlp->headers[i], strlen(otlp->headers[i]));
        free(otlp->headers[i]);
    }
    free(otlp->headers);
    buf_deinit(&otlp->batch);
    free(otlp->traces_url);
    free(otlp->metrics_url);
    free(otlp->ca_file);
    free(otlp->resource);
    free(otlp);
}

static bool copy_text(const char *from, char **to)
{
    *to = from ? strdup(from) : NULL;
    return !from || *to;
}

static bool copy_headers(struct otlp *otlp, const char *const *headers)
{
    size_t count = 0;
    while (headers && headers[count])
        count++;
    otlp->headers = calloc(count + 2, sizeof *otlp->headers);
    bool ok = otlp->headers && copy_text("Content-Type: application/json", &otlp->headers[0]);
    for (size_t i = 0; ok && i < count; i++)
        ok = copy_text(headers[i], &otlp->headers[i + 1]);
    return ok;
}

static enum td_status otlp_open(struct otlp *otlp, const struct otlp_options *options,
                                struct td_error *err)
{
    otlp->queue = queue_new(QUEUE_EXCHANGES);
    otlp->histograms = otlp_histograms_new(clock_wall_ms(NULL));
    otlp->metrics_interval_ms = options->metrics_interval_ms;
    otlp->metrics_ms = clock_monotonic_ms(NULL) + options->metrics_interval_ms;
    buf_init(&otlp->batch, 2 * BATCH_BYTES_MAX);
    bool ok = otlp->queue && otlp->histograms &&
              copy_text(options->traces_url, &otlp->traces_url) &&
              copy_text(options->metrics_url, &otlp->metrics_url) &&
              copy_text(options->ca_file, &otlp->ca_file) &&
              copy_text(options->resource, &otlp->resource) && copy_headers(otlp, options->headers);
    enum td_status status =
        ok ? loop_event_new(&otlp->loop, err) : error_set(err, TD_NO_MEMORY, "no memory for OTLP");
    if (status == TD_OK)
        status = client_new(otlp->loop, &otlp->client, err);
    if (status == TD_OK && !(otlp->timer = loop_timer_new(otlp->loop, on_tick, otlp)))
        status = error_set(err, TD_NO_MEMORY, "no memory for a timer");
    return status;
}

enum td_status otlp_new(const struct otlp_options *options, struct otlp **out, struct td_error *err)
{
    struct otlp *otlp = calloc(1, sizeof *otlp);
    *out = NULL;
    if (!otlp)
        return error_set(err, TD_NO_MEMORY, "no memory for OTLP");
    enum td_status status = otlp_open(otlp, options, err);
    if (status == TD_OK && pthread_create(&otlp->thread, NULL, otlp_run, otlp) != 0)
        status = error_set(err, TD_NO_MEMORY, "no thread for OTLP");
    if (status == TD_OK)
        *out = otlp;
    else
        otlp_release(otlp);
    return status;
}

void otlp_free(struct otlp *otlp)
{
    if (!otlp)
        return;
    atomic_store(&otlp->stopping, true);
    pthread_join(otlp->thread, NULL);
    otlp_release(otlp);
}
