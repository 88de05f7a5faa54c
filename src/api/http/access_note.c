/* The path is the row of the table and not what the client wrote: ids, queries and misspelt paths
 * may hold anything. Times are in ms, as in the log. */
#include "api/http/access_note.h"

#include "base/core/str.h"
#include "base/json/json.h"
#include "base/time/clock.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static void set_name(char to[static ACCESS_NAME_BYTES], const char *name)
{
    if (name)
        snprintf(to, ACCESS_NAME_BYTES, "%s", name);
}

void access_note_exchange(struct http_request *http, const struct exchange_summary *summary)
{
    struct access_note *note = http ? http_request_note(http, sizeof *note) : NULL;
    if (!note)
        return;
    if (note->exchange_count++ == 0)
        snprintf(note->exchange, sizeof note->exchange, "%s", summary->id);
    set_name(note->tier, summary->tier);
    set_name(note->route, summary->route);
    if (note->ttft_ms <= 0)
        note->ttft_ms = summary->ttft_ms;
    note->cost_usd += summary->cost_usd;
    note->prompt_tokens += summary->usage.prompt_tokens;
    note->completion_tokens += summary->usage.completion_tokens;
    note->cache = summary->cache;
    note->keeps_nothing |= summary->trace == NULL;
}

void access_note_local(struct http_request *http, const struct access_local *local)
{
    struct access_note *note = http ? http_request_note(http, sizeof *note) : NULL;
    if (!note)
        return;
    note->exchange_count = 1;
    snprintf(note->exchange, sizeof note->exchange, "%s", local->id);
    set_name(note->tier, local->tier);
    set_name(note->route, local->route);
    note->prompt_tokens = local->prompt_tokens;
}

static void put_text(struct buf *out, const char *name, const char *value)
{
    if (!value || !*value)
        return;
    buf_printf(out, ",\"%s\":", name);
    json_write_text(str_from(value), out);
}

static const char *method_of(const struct http_request *request)
{
    static const char *const names[] = {"GET", "POST", "PUT", "DELETE", "OPTIONS", "HEAD"};
    enum http_method method = http_request_method(request);
    return (size_t)method < sizeof names / sizeof *names ? names[method] : "other";
}

static void write_exchange(const struct access_note *note, struct buf *out)
{
    put_text(out, "exchange", note->exchange);
    if (note->exchange_count > 1)
        buf_printf(out, ",\"exchanges\":%u", note->exchange_count);
    put_text(out, "route", note->route);
    put_text(out, "tier", note->tier);
    if (note->exchange_count == 0)
        return;
    if (note->ttft_ms > 0)
        buf_printf(out, ",\"ttft_ms\":%.3f", note->ttft_ms);
    buf_printf(out,
               ",\"prompt_tokens\":%" PRIu64 ",\"completion_tokens\":%" PRIu64 ",\"cost_usd\":%.9g",
               note->prompt_tokens, note->completion_tokens, note->cost_usd);
    if (note->cache != TIER_CACHE_NONE)
        put_text(out, "cache", tier_cache_name(note->cache));
}

void access_note_write(const struct access_line *line, struct buf *out)
{
    const struct http_outcome *outcome = line->outcome;
    char stamp[25];
    uint64_t took_ms = line->now_ms > outcome->begun_ms ? line->now_ms - outcome->begun_ms : 0;
    clock_format_iso8601(line->wall_ms - took_ms, stamp);
    buf_printf(out, "{\"time\":\"%s\",\"method\":\"%s\"", stamp, method_of(line->request));
    put_text(out, "path", line->path ? line->path : "unknown");
    buf_printf(out,
               ",\"status\":%d,\"ms\":%" PRIu64 ",\"bytes_in\":%zu,\"bytes_out\":%" PRIu64
               ",\"whole\":%s",
               outcome->code, took_ms, http_request_body_bytes(line->request), outcome->sent_bytes,
               outcome->whole ? "true" : "false");
    if (!line->note->keeps_nothing) {
        put_text(out, "peer", http_request_peer(line->request));
        put_text(out, "tenant", line->who->tenant);
        put_text(out, "key", line->who->key_id);
        put_text(out, "trace", line->trace->id);
    }
    write_exchange(line->note, out);
    buf_append_char(out, '}');
}
