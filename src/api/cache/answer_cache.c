/* A hash table with a list by use. One lock does: what happens under it takes less than a
 * microsecond, and the pieces of an answer are read and written outside. */
#include "api/cache/answer_cache.h"

#include "base/core/assertion.h"
#include "base/core/str.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#define BUCKET_COUNT 4096
#define SCOPE_BUCKET_COUNT 1024
/* One answer takes at most an eighth of the cache, so that it cannot empty it, and at most this. */
#define ENTRY_BYTES_MAX ((size_t)1 << 20)

struct answer_cache {
    pthread_mutex_t lock;
    struct answer_cache_limits limits;
    struct answer_cache_counts counts;
    struct kept *buckets[BUCKET_COUNT];
    struct kept *oldest, *newest;            /* by use */
    struct kept *scopes[SCOPE_BUCKET_COUNT]; /* those with a question, the last kept first */
};

void answer_owner_init(struct answer_owner *owner, const char *tenant, const char *user)
{
    crypto_sha256(tenant ? tenant : "", tenant ? strlen(tenant) : 0, owner->tenant);
    crypto_sha256(user ? user : "", user ? strlen(user) : 0, owner->user);
}

struct kept *kept_new(size_t bytes_max)
{
    struct kept *kept = calloc(1, sizeof *kept);
    if (!kept)
        return NULL;
    atomic_init(&kept->holders, 1);
    buf_init(&kept->pieces, bytes_max);
    return kept;
}

void kept_drop(struct kept *kept)
{
    if (!kept || atomic_fetch_sub_explicit(&kept->holders, 1, memory_order_acq_rel) != 1)
        return;
    if (kept->pieces.len)
        crypto_wipe(kept->pieces.data, kept->pieces.len);
    buf_deinit(&kept->pieces);
    similar_question_free(kept->question);
    free(kept);
}

struct answer_cache *answer_cache_new(struct answer_cache_limits limits)
{
    struct answer_cache *cache = calloc(1, sizeof *cache);
    if (!cache)
        return NULL;
    pthread_mutex_init(&cache->lock, NULL);
    cache->limits = limits;
    return cache;
}

static uint32_t number_of(const uint8_t hash[static 32])
{
    uint32_t number;
    memcpy(&number, hash, sizeof number);
    return number;
}

static struct kept **bucket_of(struct answer_cache *cache, const uint8_t key[static 32])
{
    return &cache->buckets[number_of(key) % BUCKET_COUNT];
}

static struct kept **scope_of(struct answer_cache *cache, const uint8_t scope[static 32])
{
    return &cache->scopes[number_of(scope) % SCOPE_BUCKET_COUNT];
}

static size_t bytes_of(const struct kept *kept)
{
    return sizeof *kept + kept->pieces.capacity + similar_question_bytes(kept->question);
}

static void link_question_locked(struct answer_cache *cache, struct kept *kept)
{
    if (!kept->question)
        return;
    struct kept **first = scope_of(cache, kept->question->scope);
    kept->earlier = *first;
    if (*first)
        (*first)->later = kept;
    *first = kept;
}

static void unlink_question_locked(struct answer_cache *cache, struct kept *kept)
{
    if (!kept->question)
        return;
    if (kept->later)
        kept->later->earlier = kept->earlier;
    else
        *scope_of(cache, kept->question->scope) = kept->earlier;
    if (kept->earlier)
        kept->earlier->later = kept->later;
    kept->later = kept->earlier = NULL;
}

static void unlink_use_locked(struct answer_cache *cache, struct kept *kept)
{
    if (kept->older)
        kept->older->newer = kept->newer;
    else
        cache->oldest = kept->newer;
    if (kept->newer)
        kept->newer->older = kept->older;
    else
        cache->newest = kept->older;
    kept->older = kept->newer = NULL;
}

static void link_newest_locked(struct answer_cache *cache, struct kept *kept)
{
    kept->older = cache->newest;
    if (cache->newest)
        cache->newest->newer = kept;
    else
        cache->oldest = kept;
    cache->newest = kept;
}

static void remove_locked(struct answer_cache *cache, struct kept *kept)
{
    struct kept **at = bucket_of(cache, kept->key);
    while (*at != kept) {
        ASSERT(*at);
        at = &(*at)->next;
    }
    *at = kept->next;
    kept->next = NULL;
    kept->within = false;
    unlink_use_locked(cache, kept);
    unlink_question_locked(cache, kept);
    cache->counts.count--;
    cache->counts.bytes -= bytes_of(kept);
    kept_drop(kept);
}

void answer_cache_free(struct answer_cache *cache)
{
    if (!cache)
        return;
    while (cache->oldest)
        remove_locked(cache, cache->oldest);
    pthread_mutex_destroy(&cache->lock);
    free(cache);
}

static void make_room_locked(struct answer_cache *cache, size_t bytes)
{
    while (cache->oldest && cache->counts.bytes + bytes > cache->limits.bytes_max) {
        remove_locked(cache, cache->oldest);
        cache->counts.evicted++;
    }
}

void answer_cache_set_limits(struct answer_cache *cache, struct answer_cache_limits limits)
{
    pthread_mutex_lock(&cache->lock);
    cache->limits = limits;
    make_room_locked(cache, 0);
    pthread_mutex_unlock(&cache->lock);
}

size_t answer_cache_entry_max(struct answer_cache *cache)
{
    pthread_mutex_lock(&cache->lock);
    size_t share = cache->limits.bytes_max / 8;
    pthread_mutex_unlock(&cache->lock);
    return share < ENTRY_BYTES_MAX ? share : ENTRY_BYTES_MAX;
}

static struct kept *find_locked(struct answer_cache *cache, const uint8_t key[static 32])
{
    struct kept *kept = *bucket_of(cache, key);
    while (kept && memcmp(kept->key, key, sizeof kept->key) != 0)
        kept = kept->next;
    return kept;
}

uint64_t kept_age_ms(const struct kept *kept, uint64_t now_ms)
{
    return kept->age_before_ms + (now_ms > kept->kept_ms ? now_ms - kept->kept_ms : 0);
}

void answer_cache_each(struct answer_cache *cache, void (*each)(void *ctx, const struct kept *kept),
                       void *ctx)
{
    pthread_mutex_lock(&cache->lock);
    for (const struct kept *kept = cache->oldest; kept; kept = kept->newer)
        each(ctx, kept);
    pthread_mutex_unlock(&cache->lock);
}

/* Nobody may have it any more. */
static bool is_over_locked(const struct answer_cache *cache, const struct kept *kept,
                           const struct cache_wish *wish)
{
    return kept_age_ms(kept, wish->now_ms) > cache->limits.ttl_ms ||
           (wish->server_identity && kept->server_identity &&
            kept->server_identity != wish->server_identity);
}

/* It may be had, but is too old for this one. */
static bool is_too_old(const struct kept *kept, const struct cache_wish *wish)
{
    return wish->age_max_ms && kept_age_ms(kept, wish->now_ms) > wish->age_max_ms;
}

bool answer_cache_has(struct answer_cache *cache, const uint8_t key[static 32],
                      const struct cache_wish *wish)
{
    pthread_mutex_lock(&cache->lock);
    const struct kept *kept = find_locked(cache, key);
    bool has = kept && !is_over_locked(cache, kept, wish) && !is_too_old(kept, wish);
    pthread_mutex_unlock(&cache->lock);
    return has;
}

struct kept *answer_cache_find(struct answer_cache *cache, const uint8_t key[static 32],
                               const struct cache_wish *wish)
{
    pthread_mutex_lock(&cache->lock);
    struct kept *kept = find_locked(cache, key);
    if (kept && is_over_locked(cache, kept, wish)) {
        remove_locked(cache, kept);
        cache->counts.expired++;
        kept = NULL;
    }
    if (kept && is_too_old(kept, wish))
        kept = NULL; /* others may want it */
    if (kept) {
        cache->counts.hits++;
        unlink_use_locked(cache, kept);
        link_newest_locked(cache, kept);
        atomic_fetch_add_explicit(&kept->holders, 1, memory_order_relaxed);
    } else {
        cache->counts.misses++;
    }
    pthread_mutex_unlock(&cache->lock);
    return kept;
}

size_t answer_cache_similar(struct answer_cache *cache,
                            const uint8_t scope[static CRYPTO_SHA256_BYTES],
                            const struct cache_wish *wish, struct kept **out, size_t max)
{
    size_t count = 0, looked = 0;
    pthread_mutex_lock(&cache->lock);
    for (struct kept *kept = *scope_of(cache, scope);
         kept && count < max && looked < SIMILAR_LOOKED_MAX; kept = kept->earlier, looked++) {
        if (memcmp(kept->question->scope, scope, sizeof kept->question->scope) != 0 ||
            is_over_locked(cache, kept, wish) || is_too_old(kept, wish))
            continue;
        atomic_fetch_add_explicit(&kept->holders, 1, memory_order_relaxed);
        out[count++] = kept;
    }
    pthread_mutex_unlock(&cache->lock);
    return count;
}

void answer_cache_use_similar(struct answer_cache *cache, struct kept *kept)
{
    pthread_mutex_lock(&cache->lock);
    cache->counts.similar++;
    if (kept->within) {
        unlink_use_locked(cache, kept);
        link_newest_locked(cache, kept);
    }
    pthread_mutex_unlock(&cache->lock);
}

void answer_cache_count_unlike(struct answer_cache *cache, enum question_mark mark)
{
    pthread_mutex_lock(&cache->lock);
    cache->counts.unlike[mark]++;
    pthread_mutex_unlock(&cache->lock);
}

void answer_cache_put(struct answer_cache *cache, struct kept *kept, uint64_t now_ms)
{
    pthread_mutex_lock(&cache->lock);
    struct kept *before = find_locked(cache, kept->key);
    if (before)
        remove_locked(cache, before);
    kept->kept_ms = now_ms;
    make_room_locked(cache, bytes_of(kept));
    bool fits = bytes_of(kept) <= cache->limits.bytes_max;
    if (fits) {
        struct kept **bucket = bucket_of(cache, kept->key);
        kept->next = *bucket;
        *bucket = kept;
        kept->within = true;
        link_newest_locked(cache, kept);
        link_question_locked(cache, kept);
        cache->counts.count++;
        cache->counts.stored++;
        cache->counts.bytes += bytes_of(kept);
    }
    pthread_mutex_unlock(&cache->lock);
    if (!fits)
        kept_drop(kept);
}

void answer_cache_add_saved(struct answer_cache *cache, double usd)
{
    pthread_mutex_lock(&cache->lock);
    cache->counts.saved_usd += usd;
    pthread_mutex_unlock(&cache->lock);
}

uint64_t answer_cache_forget(struct answer_cache *cache, const char *tenant, const char *user)
{
    struct answer_owner whom;
    uint64_t forgotten = 0;
    if (!cache)
        return 0;
    answer_owner_init(&whom, tenant, user);
    pthread_mutex_lock(&cache->lock);
    for (struct kept *kept = cache->oldest, *newer; kept; kept = newer) {
        newer = kept->newer;
        if (memcmp(kept->owner.user, whom.user, sizeof whom.user) != 0 ||
            (tenant && memcmp(kept->owner.tenant, whom.tenant, sizeof whom.tenant) != 0))
            continue;
        remove_locked(cache, kept);
        forgotten++;
    }
    pthread_mutex_unlock(&cache->lock);
    return forgotten;
}

void answer_cache_read(struct answer_cache *cache, struct answer_cache_counts *out)
{
    pthread_mutex_lock(&cache->lock);
    *out = cache->counts;
    pthread_mutex_unlock(&cache->lock);
}
