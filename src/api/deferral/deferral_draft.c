#include "api/deferral/deferral_draft.h"

#include "api/deferral/deferral.h"
#include "api/deferral/deferred_object.h"
#include "api/files/file_object.h"
#include "api/http/reply.h"
#include "api/wire/request_options.h"
#include "base/core/str.h"
#include "base/json/json.h"
#include "base/time/clock.h"
#include "ledger/store/deferred_store.h"

#include <stdio.h>
#include <stdlib.h>

#define HEADERS_BYTES_MAX 8192

struct deferred_text {
    char path[DEFERRED_PATH_BYTES];
    struct buf headers, body;
};

/* --- what is kept --- */

static bool is_plain(const char *path)
{
    for (; *path; path++)
        if (*path <= ' ' || *path > '~' || strchr("?#%", *path))
            return false;
    return true;
}

/* Those that say what may be done with the request. How long the client waits and how it is
 * connected say nothing about later. */
static void keep_headers(const struct http_request *http, struct buf *out)
{
    static const char *const passing[] = {"x-tandem-defer", "x-tandem-network", "x-tandem-slo-ms",
                                          "x-tandem-slo-ttft-ms"};
    const char *name;
    for (size_t i = 0; (name = request_options_header(i)) != NULL; i++) {
        const char *value = *name ? http_request_header(http, name) : NULL;
        for (size_t j = 0; value && j < sizeof passing / sizeof *passing; j++)
            if (strcmp(name, passing[j]) == 0)
                value = NULL;
        if (value)
            buf_printf(out, "%s: %s\n", name, value);
    }
    const char *cache = http_request_header(http, "cache-control");
    if (cache)
        buf_printf(out, "cache-control: %s\n", cache);
}

/* The answer is collected later, so it is not streamed. Ollama's streams unless it is told not
 * to. */
static void make_whole(struct json *body, bool ollamas)
{
    static const char *const passing[] = {"defer", "network", "slo_ms", "slo_ttft_ms"};
    if (ollamas || json_get(body, "stream"))
        json_put(body, "stream", json_new_bool(false));
    json_remove(body, "stream_options");
    struct json *options = json_clone(json_get(body, "tandem"));
    for (size_t i = 0; options && i < sizeof passing / sizeof *passing; i++)
        json_remove(options, passing[i]);
    if (options)
        json_put(body, "tandem", options);
}

static bool keep_body(struct td_str text, struct deferred_text *kept, struct fault *fault)
{
    struct json *body;
    if (!fault_parse_json(text, &body, fault))
        return false;
    make_whole(body, strncmp(kept->path, "/api/", 5) == 0);
    json_write(body, &kept->body);
    json_free(body);
    return true;
}

/* Gemini's streams have a path of their own. */
static void make_path_whole(char *path)
{
    static const char streams[] = ":streamGenerateContent", whole[] = ":generateContent";
    size_t len = strlen(path);
    if (len > sizeof streams && strcmp(path + len - (sizeof streams - 1), streams) == 0)
        memcpy(path + len - (sizeof streams - 1), whole, sizeof whole);
}

static void text_free(struct deferred_text *text)
{
    if (!text)
        return;
    buf_deinit(&text->headers);
    buf_deinit(&text->body);
    free(text);
}

/* As it came, for a whole answer later. **returns new** (text_free). */
static bool keep(const struct api *api, const struct http_request *http, struct deferred_text **out,
                 struct fault *fault)
{
    const char *path = http_request_path(http);
    if (strlen(path) >= DEFERRED_PATH_BYTES || !is_plain(path))
        return fault_request(fault, "x-tandem-defer", "a request to this path cannot be deferred");
    struct deferred_text *text = calloc(1, sizeof *text);
    if (!text) {
        return fault_no_memory(fault);
    }
    memcpy(text->path, path, strlen(path) + 1);
    make_path_whole(text->path);
    buf_init(&text->headers, HEADERS_BYTES_MAX);
    buf_init(&text->body, deferral_options(api->host->deferral)->body_bytes_max);
    keep_headers(http, &text->headers);
    bool ok = keep_body(http_request_body(http), text, fault);
    if (ok && (text->headers.failed || text->body.failed)) {
        fault_too_large(fault);
        ok = false;
    }
    if (ok)
        *out = text;
    else
        text_free(text);
    return ok;
}

/* Inside requests are the queue's, and those of batches, which have a queue of their own. */
static enum td_defer decide(const struct api *api, const struct http_request *http,
                            enum td_defer asked, bool can)
{
    const struct deferral *deferral = api->host->deferral;
    if (http_request_is_inside(http))
        return asked == DEFER_AGAIN ? DEFER_AGAIN : DEFER_NEVER;
    if (!deferral || !can || asked == DEFER_AGAIN)
        return DEFER_NEVER;
    return asked ? asked : deferral_options(deferral)->otherwise;
}

bool deferral_draft_init(struct deferral_draft *draft, const struct api *api,
                         const struct http_request *http, enum td_defer asked, bool can,
                         struct fault *fault)
{
    *draft = (struct deferral_draft){.use = decide(api, http, asked, can)};
    if (asked == DEFER_ONLY && draft->use == DEFER_NEVER && !http_request_is_inside(http)) {
        fault_set(fault, 403, "permission_error", "deferral_off", "%s",
                  can ? deferral_off_text : "this kind of request cannot be deferred");
        return false;
    }
    if (draft->use != DEFER_ALLOW && draft->use != DEFER_ONLY)
        return true;
    draft->who = api->who;
    bool kept = keep(api, http, &draft->text, fault);
    if (kept || draft->use == DEFER_ONLY)
        return kept;
    *draft = (struct deferral_draft){.use = DEFER_NEVER}; /* what cannot wait is answered now */
    *fault = (struct fault){.code = 0};
    return true;
}

void deferral_draft_deinit(struct deferral_draft *draft)
{
    text_free(draft->text);
    draft->text = NULL;
}

/* --- when it waits --- */

/* The number of a tier elsewhere; SIZE_MAX: it is on the device, or has people. */
static size_t find_elsewhere(const struct exchange_services *services, const char *tier)
{
    for (size_t i = 0; i < services->tier_count; i++) {
        const struct tier_facts *facts = &services->tiers[i]->facts;
        if (strcmp(facts->name, tier) == 0)
            return facts->place != TD_PLACE_DEVICE && !facts->people ? i : SIZE_MAX;
    }
    return SIZE_MAX;
}

/* It was asked and failed, so that it rests now: no refusal of this request. */
static bool rests_since(const struct exchange_services *services, size_t tier)
{
    uint64_t now_ms = (uint64_t)clock_monotonic_ms(services->clock);
    return services->health && !tier_health_usable(services->health, tier, now_ms);
}

/* A removal has one reason, and what forbids a tier comes before what is in its way. So a tier
 * that stands here as offline would have been asked. NULL: nothing is missing. The text is ours, no
 * server's. */
static const char *cause_of(const struct exchange_services *services,
                            const struct exchange_event *event)
{
    const struct exchange_summary *summary = event->summary;
    if (summary->pending || (event->kind != EXCHANGE_FAILED && !summary->degraded))
        return NULL; /* people have it, or nothing is missing */
    for (size_t i = 0; i < summary->reason_count; i++) {
        const struct reason *reason = &summary->reasons[i];
        size_t tier = find_elsewhere(services, reason->tier);
        bool left = reason->code == REASON_LEFT_ERROR || reason->code == REASON_LEFT_TIMEOUT;
        if (tier != SIZE_MAX && reason->code == REASON_REMOVED_OFFLINE)
            return reason->text;
        if (tier != SIZE_MAX && left && rests_since(services, tier))
            return "a better tier could not be reached";
    }
    return NULL;
}

/* --- into the queue --- */

void deferral_draft_put(struct deferral_draft *draft, const struct deferral_call *call,
                        const char *reason)
{
    struct api *api = call->api;
    struct deferral *deferral = api->host->deferral;
    struct td_error err = {0};
    struct fault fault;
    struct deferred row;
    char place[STORED_ID_BYTES + 32];
    const struct deferred_question question = {.owner = file_owner(&draft->who),
                                               .key_id = draft->who.key_id,
                                               .user = call->user,
                                               .path = draft->text->path,
                                               .reason = reason,
                                               .headers = buf_view(&draft->text->headers),
                                               .body = buf_view(&draft->text->body)};
    enum td_status status =
        deferred_store_add(deferral_options(deferral)->store, &question, &row, &err);
    if (status == TD_LIMIT) {
        fault_set(&fault, 429, "rate_limit_error", "deferral_full", "%s", err.message);
        fault.no_retry = true;
        api_reply_fault(api, call->http, &fault);
        return;
    }
    if (status != TD_OK) {
        api_reply_status(api, call->http, status, &err, NULL);
        return;
    }
    deferral_wake(deferral);
    snprintf(place, sizeof place, "/tandem/v1/deferred/%s", row.id);
    http_reply_header(call->http, "location", place);
    http_reply_header(call->http, "x-tandem-deferred", row.id);
    deferred_object_reply(api, call->http, 202, &row);
}

bool deferral_draft_put_aside(struct deferral_draft *draft, const struct deferral_call *call,
                              const struct exchange_event *event)
{
    struct fault fault;
    if (!draft->text && draft->use != DEFER_AGAIN)
        return false;
    const char *cause = cause_of(call->services, event);
    if (!cause)
        return false;
    http_reply_header(call->http, "x-tandem-exchange", event->summary->id);
    if (draft->text) {
        deferral_draft_put(draft, call, cause);
    } else {
        fault_set(&fault, 503, "server_error", "deferred",
                  "no better tier can be reached yet: the question waits");
        api_reply_fault(call->api, call->http, &fault);
    }
    if (call->exchange)
        exchange_reject(call->exchange, "deferred");
    return true;
}
