/* Whether a tier's server is there: connections that come about or not, silence, and the health
 * checks that follow. */
#include "tier/health_record.h"

#include "tier/tier.h"

#include <math.h>

/* Connecting is slow beyond eight times the slowest of late. A lost first packet is sent again
 * after a second, which must not count as a dead tier. */
#define CONNECTS_KNOWN 5
#define CONNECT_FACTOR 8
#define CONNECT_MS_MIN 1500
/* Requests that connect together wait for at least a handshake over a long way, and leave a little
 * before their sum is full, because they look only now and then. */
#define TOGETHER_MS_MIN 250
#define TOGETHER_SHARE 0.75
/* A request that hears nothing for so long has the server checked; half a connect time-out is
 * enough for that, so that both together are less than a whole one. A server that is there may go
 * on thinking, and is checked again after a while. */
#define MUTE_MS 1500
#define VOUCHED_MS 10000

/* --- connecting --- */

/* Adds up what those that are connecting have waited together. */
static void wait_locked(struct record *record, uint64_t now_ms)
{
    if (now_ms <= record->updated_ms) /* another thread was a little ahead */
        return;
    record->waited_ms += record->connecting * (now_ms - record->updated_ms);
    record->updated_ms = now_ms;
}

uint32_t tier_health_connect_ms(struct tier_health *health, size_t tier, uint32_t configured_ms)
{
    struct record *record = health_lock(health, tier);
    double usual_ms = configured_ms;
    if (!record)
        return configured_ms;
    if (record->connect_count >= CONNECTS_KNOWN)
        usual_ms = fmax(CONNECT_FACTOR * record->usual_ms, CONNECT_MS_MIN);
    uint32_t limit_ms = usual_ms < configured_ms ? (uint32_t)usual_ms : configured_ms;
    record->connect_limit_ms = limit_ms;
    health_unlock(record);
    return limit_ms;
}

void tier_health_connecting(struct tier_health *health, size_t tier, uint64_t now_ms)
{
    struct record *record = health_lock(health, tier);
    if (!record)
        return;
    wait_locked(record, now_ms);
    record->connecting++;
    health_unlock(record);
}

void tier_health_connected(struct tier_health *health, size_t tier, bool ok, uint64_t waited_ms,
                           uint64_t now_ms)
{
    struct record *record = health_lock(health, tier);
    if (!record)
        return;
    wait_locked(record, now_ms);
    record->connecting--;
    if (ok) {
        record->contact_ms = now_ms;
        record->waited_ms = 0;
        record->connect_count += record->connect_count < CONNECTS_KNOWN;
        record->usual_ms = fmax((double)waited_ms, 0.9 * record->usual_ms);
        if (record->why == REST_UNREACHED && !record->mute)
            health_wake_locked(record);
    } else if (record->waited_ms >= record->connect_limit_ms) { /* each was cut by a deadline */
        health_unreached_locked(health, record, false, now_ms);
    }
    health_unlock_and_wake(health, record);
}

bool tier_health_gives_up(struct tier_health *health, size_t tier, uint64_t since_ms,
                          bool elsewhere, uint64_t now_ms)
{
    struct record *record = health_lock(health, tier);
    if (!record)
        return false;
    wait_locked(record, now_ms);
    uint64_t own_ms = now_ms - since_ms;
    if (elsewhere && own_ms >= TOGETHER_MS_MIN && record->waited_ms >= own_ms + TOGETHER_MS_MIN &&
        (double)record->waited_ms >= TOGETHER_SHARE * record->connect_limit_ms)
        health_unreached_locked(health, record, false, now_ms);
    bool up = record->why == REST_UNREACHED && record->since_ms >= since_ms &&
              (elsewhere || record->found);
    health_unlock_and_wake(health, record);
    return up;
}

/* --- silence --- */

void tier_health_heard(struct tier_health *health, size_t tier, uint64_t now_ms)
{
    struct record *record = health_lock(health, tier);
    if (!record)
        return;
    record->heard_ms = now_ms;
    record->suspected = false;
    if (record->why == REST_UNREACHED)
        health_wake_locked(record);
    health_unlock(record);
}

bool tier_health_is_mute(struct tier_health *health, size_t tier, uint64_t since_ms, bool elsewhere,
                         uint64_t now_ms)
{
    struct record *record = health_lock(health, tier);
    if (!record)
        return false;
    uint64_t sign_ms = record->heard_ms > since_ms ? record->heard_ms : since_ms;
    if (health->wake && !record->suspected && !record->why && now_ms > sign_ms + MUTE_MS &&
        (record->vouched_ms == 0 || now_ms > record->vouched_ms + VOUCHED_MS))
        record->suspected = record->to_wake = true;
    bool mute = elsewhere && record->why == REST_UNREACHED && record->since_ms >= since_ms;
    health_unlock_and_wake(health, record);
    return mute;
}

/* --- probing --- */

void tier_health_want(struct tier_health *health, size_t tier, const struct tier_entry *entry,
                      uint64_t now_ms)
{
    struct record *record = health_lock(health, tier);
    if (!record)
        return;
    record->wanted_ms = now_ms;
    if (entry && health_free_locked(record, now_ms) != UINT32_MAX)
        places_want(&record->places, entry->sharer, entry->weight, now_ms);
    health_unlock(record);
}

void tier_health_note_network(struct tier_health *health, enum td_network network, uint64_t now_ms)
{
    if (!health || atomic_load_explicit(&health->network, memory_order_relaxed) == (int)network)
        return;
    int before = atomic_exchange(&health->network, (int)network);
    for (size_t i = 0; before != TD_NETWORK_UNKNOWN && i < health->tier_count; i++) {
        struct record *record = health_lock(health, i);
        if (record->why == REST_UNREACHED) {
            record->probe_at_ms = now_ms;
            record->probe_wait_ms = PROBE_MS_MIN;
            record->to_wake = record->probed;
            if (!record->probed)
                record->until_ms = now_ms;
        }
        health_unlock_and_wake(health, record);
    }
}

void tier_health_probe_due(struct tier_health *health, size_t tier, uint64_t now_ms,
                           struct tier_probe_wish *out)
{
    struct record *record = health_lock(health, tier);
    *out = (struct tier_probe_wish){.wait_ms = UINT64_MAX};
    if (!record)
        return;
    if (record->suspected && !record->probing) {
        out->due = record->probing = true;
        out->within_ms = record->connect_limit_ms / 2;
    } else if (record->why == REST_UNREACHED && record->probed && !record->probing) {
        if (now_ms > record->wanted_ms + WANTED_MS) { /* the next request tries it, alone */
            record->probed = false;
            record->until_ms = now_ms;
        } else if (now_ms < record->probe_at_ms) {
            out->wait_ms = record->probe_at_ms - now_ms;
        } else {
            out->due = record->probing = true;
        }
    }
    health_unlock(record);
}

void tier_health_probed(struct tier_health *health, size_t tier, bool reached, uint64_t now_ms)
{
    struct record *record = health_lock(health, tier);
    if (!record)
        return;
    uint64_t wait_ms = record->probe_wait_ms * 2;
    record->probing = false;
    record->probe_wait_ms = wait_ms < PROBE_MS_MAX ? wait_ms : PROBE_MS_MAX;
    record->probe_at_ms = now_ms + health_jittered_ms(record->probe_wait_ms);
    if (reached)
        record->vouched_ms = now_ms;
    if (reached && record->why == REST_UNREACHED) {
        health_wake_locked(record);
    } else if (!reached && record->suspected && !record->why) {
        health_unreached_locked(health, record, true, now_ms);
        record->mute = true;
    }
    record->suspected = false;
    health_unlock_and_wake(health, record);
}
