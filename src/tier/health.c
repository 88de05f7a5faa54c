/* When a tier rests, and who may ask it then.
 *
 * The attempts themselves tell whether a tier works. That nobody can be reached is a fact about the
 * tier: the first request that finds it out is the last one that waits. One error of a server may
 * be about one request, so only three in a row or more than half of the last ones let it rest. All
 * errors of one caller may be about what it asks, so they do not count while most others are
 * answered. A server that asks for a pause gets it from everybody.
 *
 * Requests that are connecting wait together: when the sum of their waiting comes to what one of
 * them may wait, all that can go elsewhere do. So a black hole costs one connect time-out, however
 * many requests run into it. The first connection that does come about ends such a rest at once. */
#include "base/core/assertion.h"
#include "tier/health_record.h"

#include "base/crypto/crypto.h"
#include "tier/tier.h"

#include <math.h>
#include <stdlib.h>

#define FAILURES_TO_REST 3
#define REST_MS_MIN 1000
#define REST_MS_MAX 30000
/* Ejects a tier that fails too often without three failures in a row: more than this share of what
 * was counted, which counts half after half a minute. */
#define FAILED_SHARE 0.5
#define COUNTED_MIN 10.0
#define HALF_LIFE_MS 30000.0
/* A key or model that is refused is not mended by waiting, so it is looked at now and then. */
#define REFUSALS_TO_REST 2
#define REFUSED_MS_MIN 30000
#define REFUSED_MS_MAX 600000
/* A server's wish is followed, but it cannot switch a tier off for good. */
#define ASKED_MS_MAX 3600000
/* One that tries a tier alone and says nothing for so long does not bar others any more. */
#define TRIAL_MS 10000
/* After it was overloaded, a tier gets one request more with each second that goes well. Without
 * that, answers that take minutes, or streams that stall, would keep all others out meanwhile. */
#define GROW_MS 1000.0

/* --- memory --- */

static void record_drop(struct record *record)
{
    if (!record || atomic_fetch_sub_explicit(&record->users, 1, memory_order_acq_rel) > 1)
        return;
    pthread_mutex_destroy(&record->lock);
    free(record);
}

struct tier_health *tier_health_new(size_t tier_count, void (*wake)(void *ctx), void *ctx)
{
    struct tier_health *health = calloc(1, sizeof *health + tier_count * sizeof health->records[0]);
    if (!health)
        return NULL;
    health->wake = wake;
    health->ctx = ctx;
    for (; health->tier_count < tier_count; health->tier_count++) {
        struct record *record = calloc(1, sizeof *record);
        if (!record) {
            tier_health_free(health);
            return NULL;
        }
        pthread_mutex_init(&record->lock, NULL);
        atomic_init(&record->users, 1);
        retry_budget_init(&record->retries, 0);
        health->records[health->tier_count] = record;
    }
    return health;
}

void tier_health_free(struct tier_health *health)
{
    for (size_t i = 0; health && i < health->tier_count; i++)
        record_drop(health->records[i]);
    free(health);
}

void tier_health_share(struct tier_health *from, size_t from_index, struct tier_health *to,
                       size_t to_index)
{
    ASSERT(from && to && from != to);
    if (from_index >= from->tier_count || to_index >= to->tier_count)
        return;
    record_drop(to->records[to_index]);
    to->records[to_index] = from->records[from_index];
    atomic_fetch_add_explicit(&to->records[to_index]->users, 1, memory_order_relaxed);
}

/* The tier's record, locked; NULL when there is none. */
struct record *health_lock(struct tier_health *health, size_t tier)
{
    if (!health || tier >= health->tier_count)
        return NULL;
    pthread_mutex_lock(&health->records[tier]->lock);
    return health->records[tier];
}

void health_unlock(struct record *record)
{
    pthread_mutex_unlock(&record->lock);
}

/* Health checks are needed: the prober is told, without the lock. */
void health_unlock_and_wake(struct tier_health *health, struct record *record)
{
    bool wake = record->to_wake;
    record->to_wake = false;
    health_unlock(record);
    if (wake)
        health->wake(health->ctx);
}

void tier_health_set_limits(struct tier_health *health, size_t tier, struct tier_limits limits)
{
    struct record *record = health_lock(health, tier);
    if (!record)
        return;
    record->limits = limits;
    health_unlock(record);
}

void tier_health_set_shared(struct tier_health *health, size_t tier,
                            const struct shared_limits *shared, struct shared_limit *of)
{
    struct record *record = health_lock(health, tier);
    if (!record)
        return;
    record->shared = shared;
    record->of = of;
    health_unlock(record);
}

bool tier_health_is_alone(struct tier_health *health, uint32_t *nodes)
{
    const struct shared_limits *shared = NULL;
    for (size_t i = 0; health && i < health->tier_count && !shared; i++) {
        struct record *record = health_lock(health, i);
        shared = record->shared;
        health_unlock(record);
    }
    *nodes = 1;
    return shared && shared->away(shared->ctx, nodes);
}

/* --- who may ask --- */

static double ceiling_locked(const struct record *record, uint64_t now_ms)
{
    return record->ceiling + fmax((double)now_ms - (double)record->slowed_ms, 0) / GROW_MS;
}

/* How many places are free; UINT32_MAX where nothing limits them. */
uint32_t health_free_locked(const struct record *record, uint64_t now_ms)
{
    uint32_t most = record->limits.concurrent ? record->limits.concurrent : UINT32_MAX;
    if (record->ceiling > 0 && ceiling_locked(record, now_ms) < most)
        most = (uint32_t)ceiling_locked(record, now_ms);
    return most == UINT32_MAX ? most : most > record->inside ? most - record->inside : 0;
}

/* Why there is no room for one more, and *wait_ms until there may be. */
static enum tier_rest full_locked(struct record *record, const struct tier_entry *entry,
                                  uint64_t now_ms, uint32_t *wait_ms)
{
    *wait_ms = 0;
    if (record->limits.concurrent && record->inside >= record->limits.concurrent)
        return REST_CONCURRENT;
    uint32_t places = health_free_locked(record, now_ms);
    if (places == 0)
        return REST_SLOWED;
    if (entry && places != UINT32_MAX &&
        !places_may(&record->places, entry->sharer, places, now_ms))
        return REST_SHARED;
    if ((*wait_ms = minute_wait_ms(&record->requests, record->limits.requests_per_minute, now_ms)))
        return REST_REQUESTS;
    *wait_ms = minute_wait_ms(&record->tokens, record->limits.tokens_per_minute, now_ms);
    return *wait_ms ? REST_TOKENS : REST_NONE;
}

/* Returns whether the tier may be asked; *out says why not. */
static bool look_locked(struct record *record, const struct tier_entry *entry, uint64_t now_ms,
                        struct tier_state *out)
{
    out->rest = REST_NONE;
    out->rest_ms = 0;
    out->rest_http = record->why ? record->http_status : 0;
    out->unproven = record->why != REST_NONE;
    out->captive = record->why == REST_UNREACHED && record->captive;
    if (record->why && now_ms < record->until_ms) {
        uint64_t left_ms = record->until_ms - now_ms;
        out->rest = record->why;
        out->rest_ms = left_ms > UINT32_MAX ? 0 : (uint32_t)left_ms;
    } else if (record->why && now_ms < record->trial_until_ms) {
        out->rest = REST_TRIED;
    } else {
        out->rest = full_locked(record, entry, now_ms, &out->rest_ms);
    }
    out->reachable = out->rest == REST_NONE;
    return out->reachable;
}

void tier_health_look_for(struct tier_health *health, size_t tier, const struct tier_entry *entry,
                          uint64_t now_ms, struct tier_state *out)
{
    struct record *record = health_lock(health, tier);
    if (!record)
        return;
    look_locked(record, entry, now_ms, out);
    health_unlock(record);
}

void tier_health_look(struct tier_health *health, size_t tier, uint64_t now_ms,
                      struct tier_state *out)
{
    tier_health_look_for(health, tier, NULL, now_ms, out);
}

bool tier_health_usable(struct tier_health *health, size_t tier, uint64_t now_ms)
{
    struct tier_state state = {0};
    tier_health_look(health, tier, now_ms, &state);
    return state.reachable;
}

/* Asks for room among all nodes. */
static bool take_locked(struct record *record, uint32_t tokens, struct tier_state *why)
{
    static const enum tier_rest rests[] = {[SHARED_CONCURRENT] = REST_CONCURRENT,
                                           [SHARED_REQUESTS] = REST_REQUESTS,
                                           [SHARED_TOKENS] = REST_TOKENS};
    const struct shared_use need = {1, tokens, record->inside + 1};
    uint32_t wait_ms = 0;
    if (!record->shared || !tier_limits_any(&record->limits))
        return true;
    enum shared_answer answer =
        record->shared->take(record->shared->ctx, record->of, &record->limits, &need, &wait_ms);
    if (answer == SHARED_TAKEN)
        return true;
    why->rest = rests[answer];
    why->rest_ms = wait_ms;
    why->reachable = false;
    return false;
}

static void count_use_locked(struct record *record, uint32_t requests, uint32_t tokens, bool more,
                             uint64_t now_ms)
{
    const struct shared_use use = {requests, tokens, record->inside};
    minute_add(&record->requests, requests, now_ms);
    minute_add(&record->tokens, tokens, now_ms);
    if (record->shared && tier_limits_any(&record->limits))
        record->shared->used(record->shared->ctx, record->of, &use, more, now_ms);
}

bool tier_health_enter(struct tier_health *health, size_t tier, const struct tier_entry *entry,
                       uint64_t now_ms, struct tier_ticket *ticket, struct tier_state *why)
{
    struct record *record = health_lock(health, tier);
    *ticket =
        (struct tier_ticket){.since_ms = now_ms, .caller = entry->caller, .sharer = entry->sharer};
    if (!record)
        return true;
    ticket->inside =
        look_locked(record, entry, now_ms, why) && take_locked(record, entry->prompt_tokens, why);
    if (ticket->inside) {
        ticket->alone = record->why != REST_NONE;
        record->trial_until_ms = ticket->alone ? now_ms + TRIAL_MS : 0;
        record->wanted_ms = now_ms;
        record->inside++;
        ticket->paid_ms = places_enter(&record->places, entry->sharer, entry->weight);
        count_use_locked(record, 1, entry->prompt_tokens, false, now_ms);
        retry_budget_pay(&record->retries);
    }
    bool inside = ticket->inside;
    health_unlock(record);
    return inside;
}

bool tier_health_is_limited(struct tier_health *health, size_t tier)
{
    struct record *record = health_lock(health, tier);
    if (!record)
        return false;
    bool limited = tier_limits_any(&record->limits) || record->ceiling > 0;
    health_unlock(record);
    return limited;
}

bool tier_health_may_retry(struct tier_health *health, size_t tier, uint64_t now_ms)
{
    struct record *record = health_lock(health, tier);
    struct tier_state state;
    if (!record)
        return true;
    record->inside--; /* its own place is taken already */
    bool may = look_locked(record, NULL, now_ms, &state) &&
               retry_budget_take(&record->retries, now_ms) && take_locked(record, 0, &state);
    record->inside++;
    if (may)
        count_use_locked(record, 1, 0, false, now_ms);
    health_unlock(record);
    return may;
}

/* --- what came of it --- */

static void rest_locked(struct record *record, enum tier_rest why, uint64_t now_ms,
                        uint64_t length_ms)
{
    record->why = why;
    record->since_ms = now_ms;
    record->until_ms = now_ms + length_ms;
    record->probed = false;
    record->waited_ms = 0;
}

/* Each rest is twice as long as the one before, until the tier has worked. */
static uint64_t longer_locked(struct record *record, uint64_t min_ms, uint64_t max_ms)
{
    uint64_t length_ms = record->length_ms * 2;
    length_ms = length_ms < min_ms ? min_ms : length_ms > max_ms ? max_ms : length_ms;
    record->length_ms = length_ms;
    return length_ms;
}

void health_wake_locked(struct record *record)
{
    record->why = REST_NONE;
    record->trial_until_ms = 0;
    record->probed = record->found = record->mute = record->captive = false;
}

static void count_locked(struct record *record, bool failed, uint64_t now_ms)
{
    double age_ms = (double)now_ms - (double)record->faded_ms;
    double factor = exp2(-fmax(age_ms, 0) / HALF_LIFE_MS);
    record->counted = record->counted * factor + 1;
    record->failed = record->failed * factor + failed;
    record->faded_ms = now_ms;
}

/* A success of a request from before a pause says nothing about the pause. */
static void good_locked(struct record *record, const struct tier_ticket *ticket, uint64_t now_ms)
{
    record->failures = record->refusals = 0;
    if (record->ceiling > 0)
        record->ceiling += 1 / record->ceiling;
    if (ceiling_locked(record, now_ms) > 2.0 * record->inside + 8)
        record->ceiling = 0;
    if (record->why == REST_ASKED && !ticket->alone)
        return;
    record->length_ms = record->probe_wait_ms = 0;
    health_wake_locked(record);
}

static void failed_locked(struct record *record, int http_status, uint64_t now_ms)
{
    if (record->why && now_ms < record->until_ms) /* the request began before the rest */
        return;
    record->failures++;
    bool often = record->counted >= COUNTED_MIN && record->failed > FAILED_SHARE * record->counted;
    if (record->failures < FAILURES_TO_REST && !often && !record->why)
        return;
    record->http_status = http_status;
    rest_locked(record, REST_FAILING, now_ms, longer_locked(record, REST_MS_MIN, REST_MS_MAX));
}

uint64_t health_jittered_ms(uint64_t ms)
{
    uint8_t random = 0;
    if (crypto_random(&random, sizeof random, NULL) != TD_OK)
        random = 128;
    return ms * (205 + random * 102u / 255) / 256; /* 0.8 to 1.2 times */
}

void health_unreached_locked(struct tier_health *health, struct record *record, bool found,
                             uint64_t now_ms)
{
    bool resting = record->why && now_ms < record->until_ms;
    record->found = found || (resting && record->found);
    if (resting && record->why == REST_UNREACHED)
        return;
    record->http_status = 0;
    if (!health->wake) {
        rest_locked(record, REST_UNREACHED, now_ms,
                    longer_locked(record, REST_MS_MIN, REST_MS_MAX));
        return;
    }
    rest_locked(record, REST_UNREACHED, now_ms, UINT64_MAX - now_ms);
    record->probed = true;
    if (record->probe_wait_ms == 0)
        record->probe_wait_ms = PROBE_MS_MIN;
    record->probe_at_ms = now_ms + health_jittered_ms(record->probe_wait_ms);
    record->wanted_ms = now_ms;
    record->to_wake = true;
}

static void asked_locked(struct record *record, int http_status, uint64_t pause_ms, uint64_t now_ms)
{
    uint64_t length_ms = pause_ms < ASKED_MS_MAX ? pause_ms : ASKED_MS_MAX;
    if (record->why && record->until_ms > now_ms + length_ms)
        return;
    record->http_status = http_status;
    rest_locked(record, REST_ASKED, now_ms, length_ms);
}

static void refused_locked(struct record *record, int http_status, uint64_t now_ms)
{
    if (++record->refusals < REFUSALS_TO_REST || (record->why && now_ms < record->until_ms))
        return;
    record->http_status = http_status;
    rest_locked(record, REST_REFUSING, now_ms,
                longer_locked(record, REFUSED_MS_MIN, REFUSED_MS_MAX));
}

/* Fewer at a time: half of what was too much. */
static void slow_locked(struct record *record, uint64_t now_ms)
{
    record->ceiling = fmax(1, (record->inside + 1) / 2.0);
    record->slowed_ms = now_ms;
}

/* Whether a failure counts for all callers, and not only for this one. */
static bool is_witnessed_locked(struct record *record, uint64_t caller, uint64_t now_ms)
{
    witnesses_add(&record->witnesses, caller, true, now_ms);
    return !witnesses_contradict(&record->witnesses, caller, now_ms);
}

/* The connection came about, but not to the server. */
static void captive_locked(struct tier_health *health, struct record *record, uint64_t now_ms)
{
    health_unreached_locked(health, record, true, now_ms);
    record->captive = record->why == REST_UNREACHED;
}

/* Only what says something about the tier is looked at: a request that it refused does not, nor
 * does an answer that nobody waited for, or one of which nothing can be made. */
static void judge_locked(struct tier_health *health, struct record *record,
                         const struct tier_ticket *ticket, const struct tier_result *result,
                         uint64_t now_ms)
{
    int http = result->http_status;
    if (result->reach == TIER_NOT_AWAITED || result->own_fault)
        return;
    bool overloaded = http == 429 || http == 503 || http == 529;
    bool failed = result->status == TD_UNAVAILABLE || result->status == TD_TIMEOUT ||
                  result->status == TD_CORRUPT || http == 429; /* TD_IO is this machine's */
    bool refused = http == 401 || http == 403 || http == 404;
    bool counts = !(failed || refused) || is_witnessed_locked(record, ticket->caller, now_ms);
    if (result->status == TD_OK)
        witnesses_add(&record->witnesses, ticket->caller, false, now_ms);
    if (counts && (failed || result->status == TD_OK))
        count_locked(record, failed, now_ms);
    if (http == 429)
        slow_locked(record, now_ms);
    if (result->status == TD_OK)
        good_locked(record, ticket, now_ms);
    else if (result->captive)
        captive_locked(health, record, now_ms);
    else if (result->reach == TIER_UNREACHED && record->contact_ms <= ticket->since_ms &&
             (result->status == TD_UNAVAILABLE || result->status == TD_TIMEOUT))
        health_unreached_locked(health, record, true, now_ms);
    else if (overloaded && result->retry_after_ms > 0)
        asked_locked(record, http, result->retry_after_ms, now_ms);
    else if (failed && counts)
        failed_locked(record, http, now_ms);
    else if (refused && counts)
        refused_locked(record, http, now_ms);
}

void tier_health_answered(struct tier_health *health, size_t tier, struct tier_ticket *ticket,
                          uint64_t now_ms)
{
    struct record *record = ticket->alone ? health_lock(health, tier) : NULL;
    if (!record)
        return;
    if (record->why && now_ms >= record->until_ms)
        good_locked(record, ticket, now_ms);
    ticket->alone = false;
    health_unlock(record);
}

void tier_health_leave(struct tier_health *health, size_t tier, struct tier_ticket *ticket,
                       const struct tier_result *result, uint64_t now_ms)
{
    struct record *record = ticket->inside ? health_lock(health, tier) : NULL;
    if (!record)
        return;
    record->inside--;
    places_leave(&record->places, ticket->sharer, ticket->paid_ms,
                 now_ms > ticket->since_ms ? now_ms - ticket->since_ms : 0);
    if (ticket->alone)
        record->trial_until_ms = 0;
    count_use_locked(record, 0, result ? result->usage.completion_tokens : 0, true, now_ms);
    if (result)
        judge_locked(health, record, ticket, result, now_ms);
    *ticket = (struct tier_ticket){0};
    health_unlock_and_wake(health, record);
}
