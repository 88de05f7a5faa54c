/* Weights are kept by smooth weighted round robin, as nginx does it: each pick adds every key's
 * weight to its credit, takes the largest credit, and takes the sum of the weights from it. So a
 * key of weight 3 beside one of weight 1 is picked a, a, b, a, and not three times in a row. */
#include "tier/key_ring.h"

#include "base/core/assertion.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

/* A wrong key stays wrong until somebody acts; one without rights may have some elsewhere. */
#define REFUSED_MS (10 * 60 * UINT64_C(1000))
#define FORBIDDEN_MS (60 * UINT64_C(1000))
/* Limits are counted by the minute, but a bucket fills all the time. */
#define THROTTLED_MS (10 * UINT64_C(1000))
#define THROTTLED_MS_MAX (60 * 60 * UINT64_C(1000))

struct state {
    struct tier_key key;
    int64_t credit;
    uint64_t rests_until_ms;
};

struct key_ring {
    pthread_mutex_t lock; /* of the states, but for their keys */
    size_t count;
    struct state states[TIER_KEYS_MAX];
};

struct key_ring *key_ring_new(const struct tier_key *keys, size_t count)
{
    ASSERT(count <= TIER_KEYS_MAX && (keys || count == 0));
    struct key_ring *ring = calloc(1, sizeof *ring);
    if (!ring)
        return NULL;
    pthread_mutex_init(&ring->lock, NULL);
    ring->count = count ? count : 1;
    for (size_t i = 0; i < count; i++)
        ring->states[i].key = keys[i];
    return ring;
}

void key_ring_free(struct key_ring *ring)
{
    if (!ring)
        return;
    pthread_mutex_destroy(&ring->lock);
    free(ring);
}

const struct tier_key *key_ring_at(const struct key_ring *ring, size_t index)
{
    ASSERT(ring && index < ring->count);
    return &ring->states[index].key;
}

size_t key_ring_count(const struct key_ring *ring)
{
    return ring->count;
}

/* Among those that are awake and not tried; SIZE_MAX when there is none. */
static size_t pick_awake_locked(struct key_ring *ring, uint64_t tried, uint64_t now_ms)
{
    size_t best = SIZE_MAX;
    int64_t sum = 0;
    for (size_t i = 0; i < ring->count; i++) {
        struct state *state = &ring->states[i];
        if (tried >> i & 1 || now_ms < state->rests_until_ms)
            continue;
        int64_t weight = state->key.weight ? state->key.weight : 1;
        state->credit += weight;
        sum += weight;
        if (best == SIZE_MAX || state->credit > ring->states[best].credit)
            best = i;
    }
    if (best != SIZE_MAX)
        ring->states[best].credit -= sum;
    return best;
}

static size_t soonest_locked(const struct key_ring *ring)
{
    size_t soonest = 0;
    for (size_t i = 1; i < ring->count; i++)
        if (ring->states[i].rests_until_ms < ring->states[soonest].rests_until_ms)
            soonest = i;
    return soonest;
}

size_t key_ring_pick(struct key_ring *ring, uint64_t tried, uint64_t now_ms)
{
    ASSERT(ring);
    if (ring->count == 1)
        return tried ? SIZE_MAX : 0;
    pthread_mutex_lock(&ring->lock);
    size_t best = pick_awake_locked(ring, tried, now_ms);
    if (best == SIZE_MAX && !tried)
        best = soonest_locked(ring);
    pthread_mutex_unlock(&ring->lock);
    return best;
}

void key_ring_rest(struct key_ring *ring, size_t index, uint64_t for_ms, uint64_t now_ms)
{
    ASSERT(ring && index < ring->count);
    pthread_mutex_lock(&ring->lock);
    if (now_ms + for_ms > ring->states[index].rests_until_ms)
        ring->states[index].rests_until_ms = now_ms + for_ms;
    ring->states[index].credit = 0; /* what it missed is not made up for */
    pthread_mutex_unlock(&ring->lock);
}

uint64_t key_ring_rest_of(int http, uint64_t retry_after_ms)
{
    uint64_t asked = retry_after_ms < THROTTLED_MS_MAX ? retry_after_ms : THROTTLED_MS_MAX;
    switch (http) {
    case 401:
    case 402:
        return REFUSED_MS;
    case 403:
        return FORBIDDEN_MS;
    case 429:
        return asked ? asked : THROTTLED_MS;
    default:
        return 0;
    }
}
