/* An event is written once, and copied into the queue of each looker that may see it. Rejected: one
 * ring for all, of which each has a place. What others do would push a tenant's own events out, and
 * a count of those would tell how much others ask. */
#include "api/telemetry/live.h"

#include "base/core/assertion.h"
#include "base/core/str.h"
#include "base/json/json_writer.h"
#include "base/time/clock.h"
#include "net/client/sse.h"

#include <math.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#define EVENT_BYTES_MAX 8192

struct live {
    pthread_mutex_t lock; /* guards the list and what its members have of ours */
    struct live_looker *first;
    atomic_uint count;
};

struct live *live_new(void)
{
    struct live *live = calloc(1, sizeof *live);
    if (live)
        pthread_mutex_init(&live->lock, NULL);
    return live;
}

void live_free(struct live *live)
{
    if (!live)
        return;
    ASSERT(!live->first);
    pthread_mutex_destroy(&live->lock);
    free(live);
}

void live_join(struct live *live, struct live_looker *looker)
{
    buf_init(&looker->waiting, LIVE_QUEUE_BYTES);
    looker->left_out = 0;
    pthread_mutex_lock(&live->lock);
    looker->next = live->first;
    live->first = looker;
    pthread_mutex_unlock(&live->lock);
    atomic_fetch_add(&live->count, 1);
}

void live_leave(struct live *live, struct live_looker *looker)
{
    pthread_mutex_lock(&live->lock);
    struct live_looker **at = &live->first;
    while (*at && *at != looker)
        at = &(*at)->next;
    ASSERT(*at);
    *at = looker->next;
    pthread_mutex_unlock(&live->lock);
    atomic_fetch_sub(&live->count, 1);
    buf_deinit(&looker->waiting);
}

uint64_t live_take(struct live *live, struct live_looker *looker, struct buf *out)
{
    pthread_mutex_lock(&live->lock);
    buf_append_str(out, buf_view(&looker->waiting));
    buf_clear(&looker->waiting);
    uint64_t left_out = looker->left_out;
    pthread_mutex_unlock(&live->lock);
    return left_out;
}

/* --- an event --- */

static const char *text_of_reason(const struct exchange_summary *summary,
                                  const struct exchange_step *step)
{
    for (size_t i = 0; i < summary->reason_count; i++) {
        const struct reason *reason = &summary->reasons[i];
        if (reason->code == step->why_left && reason->tier && strcmp(reason->tier, step->tier) == 0)
            return reason->text;
    }
    return NULL;
}

/* The tiers that were left: [{from, to, code, text}]. */
static void put_steps(const struct exchange_summary *summary, struct json_writer *to)
{
    json_writer_open(to, "left", '[');
    for (uint32_t i = 0; summary->steps && i < summary->attempt_count; i++) {
        const struct exchange_step *step = &summary->steps[i];
        if (!step->why_left)
            continue;
        json_writer_open(to, NULL, '{');
        json_writer_text(to, "from", step->tier);
        json_writer_text(to, "to", step->next);
        json_writer_text(to, "code", reason_code_name(step->why_left));
        json_writer_text(to, "text", text_of_reason(summary, step));
        json_writer_close(to, '}');
    }
    json_writer_close(to, ']');
}

static void write_event(const struct exchange_summary *summary, struct buf *out)
{
    struct json_writer writer, *to = &writer;
    sse_begin(out, "exchange");
    json_writer_begin(to, out);
    json_writer_open(to, NULL, '{');
    json_writer_text(to, "id", summary->id);
    json_writer_int(to, "wall_ms", (int64_t)clock_wall_ms(NULL));
    json_writer_text(to, "route", summary->route);
    json_writer_text(to, "tier", summary->tier);
    json_writer_text(to, "model", summary->model);
    json_writer_text(to, "place", summary->tier ? names_place(summary->place) : NULL);
    json_writer_text(to, "data_class", names_class(summary->data_class));
    json_writer_text(to, "status", names_end(summary->end));
    json_writer_double(to, "confidence", summary->confidence);
    json_writer_double(to, "ttft_ms", summary->ttft_ms);
    json_writer_double(to, "total_ms", summary->total_ms);
    json_writer_int(to, "prompt_tokens", summary->usage.prompt_tokens);
    json_writer_int(to, "completion_tokens", summary->usage.completion_tokens);
    json_writer_double(to, "cost_usd", summary->cost_usd);
    json_writer_double(to, "all_cloud_cost_usd", summary->all_cloud_cost_usd);
    json_writer_bool(to, "degraded", summary->degraded);
    json_writer_int(to, "egress_bytes", (int64_t)summary->egress_bytes);
    put_steps(summary, to);
    json_writer_close(to, '}');
    sse_end(out);
}

static bool may_see(const struct live_looker *looker, const char *tenant)
{
    return looker->of_all || (tenant && strcmp(looker->tenant, tenant) == 0);
}

void live_exchange(struct live *live, const struct exchange_summary *summary)
{
    if (!live || atomic_load(&live->count) == 0)
        return;
    struct buf event;
    buf_init(&event, EVENT_BYTES_MAX);
    write_event(summary, &event);
    pthread_mutex_lock(&live->lock);
    for (struct live_looker *looker = live->first; looker; looker = looker->next) {
        if (!may_see(looker, summary->tenant))
            continue;
        if (event.failed || looker->waiting.len + event.len > LIVE_QUEUE_BYTES) {
            looker->left_out++;
            continue;
        }
        buf_append_str(&looker->waiting, buf_view(&event));
    }
    pthread_mutex_unlock(&live->lock);
    buf_deinit(&event);
}
