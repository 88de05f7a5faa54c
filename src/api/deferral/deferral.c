/* What is asked is a request from inside with x-tandem-defer: again. So scan, class, consent,
 * budget and the key's limits are those of the moment when it leaves. A reply of 503 or 429
 * means: not yet. Then the question waits at its old place and its owner rests for a while,
 * longer each time. Any other reply is the answer, for good.
 *
 * While no tier elsewhere can be reached nothing is asked. The queue only says that it would
 * like to, which keeps the tiers' own health checks going (tier/health.h): there is one prober,
 * however much waits. */
#include "api/deferral/deferral.h"

#include "api/http/access.h"
#include "base/core/assertion.h"
#include "base/core/str.h"
#include "base/time/log.h"
#include "device/device.h"
#include "ledger/store/deferred_store.h"
#include "net/client/webhook.h"

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

#define LOOK_MS 1000
#define SWEEP_MS 60000
/* While questions wait, for those whose time is over; where nodes share the queue always, for those
 * of a node that died. */
#define EXPIRY_MS 5000
#define REST_MS_MIN 1000
#define REST_MS_MAX 60000
#define RESTS_MAX 64  /* owners that rest; the oldest is forgotten */
#define OWNERS_MAX 64 /* looked at in one look */
/* After a connection comes back, machines that share it do not begin in the same moment. */
#define SPREAD_MS 1000
#define RETRY_CODE(code) ((code) == 429 || (code) == 503)

const char deferral_off_text[] =
    "this server has no queue of deferred questions: deferral.count_max is 0, or "
    "privacy.zero_retention is on";

struct asked {
    struct asked *next;
    struct deferral *deferral;
    struct deferred row;
    struct http_request *request;
};

struct rest {
    char owner[STORED_OWNER_BYTES];
    double until_ms, length_ms;
};

struct deferral {
    struct deferral_options options;
    struct loop *_Atomic loop; /* NULL = not attached */
    struct api *api;
    struct server *server;
    struct loop_timer *tick;
    struct asked *running;
    uint32_t running_count;
    char after[STORED_OWNER_BYTES]; /* whose turn it was last */
    struct rest rests[RESTS_MAX];
    size_t rest_next;
    double next_ms, swept_ms; /* when the next may begin; 0 = never swept */
    bool reached, lost, stopping;
};

struct deferral *deferral_new(const struct deferral_options *options)
{
    struct deferral *deferral = calloc(1, sizeof *deferral);
    if (deferral)
        deferral->options = *options;
    return deferral;
}

void deferral_free(struct deferral *deferral)
{
    ASSERT(!deferral || !deferral->running);
    free(deferral);
}

const struct deferral_options *deferral_options(const struct deferral *deferral)
{
    return &deferral->options;
}

static uint64_t sweep_ms(const struct deferral *deferral)
{
    const struct deferred_store *store = deferral->options.store;
    return deferred_store_is_shared(store) ? EXPIRY_MS : SWEEP_MS;
}

static void look_soon(struct deferral *deferral)
{
    loop_timer_start(deferral->api->loop, deferral->tick, 0);
}

/* --- owners that rest --- */

static struct rest *rest_of(struct deferral *deferral, const char *owner)
{
    for (size_t i = 0; i < RESTS_MAX; i++)
        if (strcmp(deferral->rests[i].owner, owner) == 0)
            return &deferral->rests[i];
    return NULL;
}

static void rest(struct deferral *deferral, const char *owner)
{
    struct rest *one = rest_of(deferral, owner);
    if (!one) {
        one = &deferral->rests[deferral->rest_next++ % RESTS_MAX];
        *one = (struct rest){.length_ms = REST_MS_MIN / 2.0};
        snprintf(one->owner, sizeof one->owner, "%s", owner);
    }
    one->length_ms = one->length_ms * 2 < REST_MS_MAX ? one->length_ms * 2 : REST_MS_MAX;
    one->until_ms = clock_monotonic_ms(NULL) + one->length_ms;
}

static bool may_run(struct deferral *deferral, const char *owner, double now_ms)
{
    const struct rest *rests = rest_of(deferral, owner);
    for (const struct asked *asked = deferral->running; asked; asked = asked->next)
        if (strcmp(asked->row.owner, owner) == 0)
            return false;
    return !rests || rests->until_ms <= now_ms;
}

/* --- one question --- */

static void asked_free(struct asked *asked)
{
    struct deferral *deferral = asked->deferral;
    struct asked **at = &deferral->running;
    while (*at != asked)
        at = &(*at)->next;
    *at = asked->next;
    deferral->running_count--;
    if (asked->request)
        http_inside_cancel(asked->request);
    free(asked);
}

static void note(const struct asked *asked, const char *what, int code)
{
    log_event(LOG_LEVEL_INFO, what, "id=%s tries=%u code=%d", asked->row.id, asked->row.tries,
              code);
}

/* The id and how it ended; whoever is told collects the answer with a key. */
static void tell_end(const struct asked *asked, int code)
{
    char data[256];
    int len = snprintf(data, sizeof data,
                       "{\"id\":\"%s\",\"status\":\"%s\",\"status_code\":%d,"
                       "\"url\":\"/tandem/v1/deferred/%s\"}",
                       asked->row.id, code == 200 ? "answered" : "failed", code, asked->row.id);
    (void)webhook_send(asked->deferral->api->host->webhooks, "deferred.ended",
                       (struct td_str){data, (size_t)len});
}

static void on_answer(void *ctx, int code, struct td_str body)
{
    struct asked *asked = ctx;
    struct deferral *deferral = asked->deferral;
    struct td_error err = {0};
    enum td_status status;
    asked->request = NULL; /* it has ended */
    if (RETRY_CODE(code)) {
        status = deferred_store_back(deferral->options.store, asked->row.id, &err);
        rest(deferral, asked->row.owner);
    } else {
        status = deferred_store_end(deferral->options.store, asked->row.id, code ? code : 500, body,
                                    &err);
        struct rest *rests = rest_of(deferral, asked->row.owner);
        if (rests)
            *rests = (struct rest){.owner = ""};
        note(asked, "deferred_answered", code);
        if (status == TD_OK)
            tell_end(asked, code ? code : 500);
    }
    if (status != TD_OK && status != TD_NOT_FOUND) { /* NOT_FOUND: cancelled, or forgotten */
        log_event(LOG_LEVEL_WARN, "deferred_unkept", "id=%s error=\"%s\"", asked->row.id,
                  err.message);
        rest(deferral, asked->row.owner);
        deferral->lost = true;
    }
    asked_free(asked);
    if (!deferral->stopping)
        look_soon(deferral); /* not from here: answers that come at once would nest */
}

/* "name: value" lines become what http_inside_new takes. */
static size_t split_lines(char *text, const char **lines, size_t max)
{
    size_t count = 0;
    for (char *line = text; line && *line && count < max; count++) {
        char *end = strchr(line, '\n');
        lines[count] = line;
        if (end)
            *end++ = '\0';
        line = end;
    }
    return count;
}

#define LINES_MAX 40

static void ask(struct deferral *deferral, const struct deferred *row, struct buf *headers,
                const struct buf *body)
{
    struct auth_who who;
    const char *lines[LINES_MAX + 4] = {"Content-Type: application/json", "x-tandem-defer: again"};
    char id[STORED_ID_BYTES + 16];
    struct asked *asked = calloc(1, sizeof *asked);
    if (!asked || !access_find_owner(deferral->api, row->owner, row->key_id, &who)) {
        free(asked);
        rest(deferral, row->owner);
        if (deferred_store_back(deferral->options.store, row->id, NULL) != TD_OK)
            deferral->lost = true;
        return;
    }
    snprintf(id, sizeof id, "X-Request-Id: %s", row->id);
    lines[2] = id;
    buf_append_char(headers, '\0');
    lines[3 + split_lines(headers->data, lines + 3, LINES_MAX)] = NULL;
    *asked = (struct asked){.next = deferral->running, .deferral = deferral, .row = *row};
    deferral->running = asked;
    deferral->running_count++;
    note(asked, "deferred_asked", 0);
    const struct http_inside inside = {.path = row->path,
                                       .headers = lines,
                                       .body = buf_view(body),
                                       .done = on_answer,
                                       .ctx = asked};
    asked->request = http_inside_new(deferral->server, &inside);
    if (asked->request)
        deferral->api->ask(deferral->api, asked->request, &who);
    else
        on_answer(asked, 503, STR(""));
}

/* Begins the next question of an owner whose turn it is. False: nobody has one. */
static bool begin_one(struct deferral *deferral, double now_ms)
{
    char owner[STORED_OWNER_BYTES], first[STORED_OWNER_BYTES] = "";
    struct deferred row = {0};
    struct buf headers, body;
    struct td_error err = {0};
    bool wrapped = false;
    for (int i = 0; i < OWNERS_MAX; i++) {
        if (!deferred_store_next_owner(deferral->options.store, deferral->after, owner)) {
            if (wrapped || !*deferral->after)
                return false;
            wrapped = true;
            deferral->after[0] = '\0';
            continue;
        }
        if (*first && strcmp(first, owner) == 0) /* once round */
            return false;
        if (!*first)
            memcpy(first, owner, sizeof first);
        memcpy(deferral->after, owner, sizeof owner);
        if (!may_run(deferral, owner, now_ms))
            continue;
        buf_init(&headers, 16384);
        buf_init(&body, deferral->options.body_bytes_max + 1);
        enum td_status status =
            deferred_store_take(deferral->options.store, owner, &row, &headers, &body, &err);
        if (status == TD_OK)
            ask(deferral, &row, &headers, &body);
        else if (status != TD_NOT_FOUND)
            log_event(LOG_LEVEL_WARN, "deferred_lost", "id=%s error=\"%s\"", row.id, err.message);
        buf_deinit(&headers);
        buf_deinit(&body);
        if (status == TD_OK)
            return true;
        rest(deferral, owner);
    }
    return false;
}

/* --- all of them --- */

/* Whether a tier elsewhere can be asked, as far as is known. Where none can, each hears that
 * somebody would like to. */
static bool can_reach(struct deferral *deferral, double now_ms)
{
    const struct api_host *host = deferral->api->host;
    struct exchange_services *services = host->acquire(host->ctx);
    struct device_state device = {.network = TD_NETWORK_UNKNOWN};
    bool reached = false;
    if (services->device) {
        device_read(services->device, &device);
        tier_health_note_network(services->health, device.network, (uint64_t)now_ms);
    }
    for (size_t i = 0; i < services->tier_count; i++) {
        const struct tier_facts *facts = &services->tiers[i]->facts;
        bool linked = facts->loopback || device.network != TD_NETWORK_OFFLINE;
        if (facts->place == TD_PLACE_DEVICE || facts->people || !facts->has_key || !linked)
            continue;
        if (!services->health || tier_health_usable(services->health, i, (uint64_t)now_ms))
            reached = true;
        else
            tier_health_want(services->health, i, NULL, (uint64_t)now_ms);
    }
    host->release(host->ctx, services);
    return reached;
}

static void drop_cancelled(struct deferral *deferral)
{
    for (struct asked *asked = deferral->running, *next; asked; asked = next) {
        next = asked->next;
        if (!deferred_store_runs(deferral->options.store, asked->row.id))
            asked_free(asked);
    }
}

static void tend(struct deferral *deferral, double now_ms)
{
    struct deferred_store *store = deferral->options.store;
    uint64_t every_ms = deferred_store_waiting(store) > 0 ? EXPIRY_MS : sweep_ms(deferral);
    if (deferral->swept_ms == 0 || now_ms - deferral->swept_ms >= (double)every_ms) {
        deferral->swept_ms = now_ms;
        deferred_store_sweep(store);
    }
    if (deferral->lost && !deferral->running)
        deferral->lost = deferred_store_recover(store, NULL) != TD_OK;
    drop_cancelled(deferral);
}

static void look(void *ctx)
{
    struct deferral *deferral = ctx;
    double now_ms = clock_monotonic_ms(NULL);
    if (deferral->stopping)
        return;
    tend(deferral, now_ms);
    bool idle = deferred_store_waiting(deferral->options.store) == 0 && !deferral->running;
    loop_timer_start(deferral->api->loop, deferral->tick, idle ? sweep_ms(deferral) : LOOK_MS);
    if (deferred_store_waiting(deferral->options.store) <= deferral->running_count)
        return;
    bool before = deferral->reached;
    deferral->reached = can_reach(deferral, now_ms);
    if (deferral->reached && !before)
        deferral->next_ms = now_ms + (double)(rng_below(&deferral->api->rng, SPREAD_MS));
    double gap_ms = 60000.0 / deferral->options.per_minute;
    if (!deferral->reached || deferral->running_count >= deferral->options.at_once)
        return;
    if (now_ms >= deferral->next_ms && begin_one(deferral, now_ms))
        deferral->next_ms = now_ms + gap_ms;
    double wait_ms = deferral->next_ms - now_ms;
    if (wait_ms > 0 && wait_ms < LOOK_MS)
        loop_timer_start(deferral->api->loop, deferral->tick, (uint64_t)wait_ms + 1);
}

/* --- from outside --- */

bool deferral_attach(struct deferral *deferral, struct api *api, struct server *server)
{
    deferral->api = api;
    deferral->server = server;
    deferral->tick = loop_timer_new(api->loop, look, deferral);
    if (!deferral->tick)
        return false;
    look_soon(deferral);
    atomic_store(&deferral->loop, api->loop);
    return true;
}

void deferral_detach(struct deferral *deferral)
{
    if (!deferral || !deferral->api)
        return;
    atomic_store(&deferral->loop, NULL);
    deferral->stopping = true;
    while (deferral->running) {
        (void)!deferred_store_back(deferral->options.store, deferral->running->row.id, NULL);
        asked_free(deferral->running);
    }
    loop_timer_free(deferral->api->loop, deferral->tick);
    deferral->api = NULL;
}

void deferral_stop(struct deferral *deferral)
{
    deferral->stopping = true;
}

static void woken(void *ctx)
{
    struct deferral *deferral = ctx;
    if (!deferral->stopping)
        look_soon(deferral);
}

void deferral_wake(struct deferral *deferral)
{
    struct loop *loop = deferral ? atomic_load(&deferral->loop) : NULL;
    if (loop)
        (void)loop_post(loop, woken, deferral); /* where it cannot, the next look finds it */
}
