/* A hash table of holds, and a list of them by last use. The store has a mutex and so has each
 * vault; the store's is never taken while a vault's is held. Each user of a hold and the store's
 * list count as one user: whoever drops the last one frees the vault, so an exchange keeps its
 * vault although the store has forgotten it. */
#include "privacy/pseudonym/vault_store.h"

#include "base/crypto/keyed.h"

#include "base/core/error.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

struct vault_hold {
    pthread_mutex_t mutex; /* of the vault */
    struct vault *vault;
    uint8_t key[CRYPTO_SHA256_BYTES], owner[CRYPTO_SHA256_BYTES];
    struct vault_store *store;
    struct vault_hold *chain;         /* next in the bucket */
    struct vault_hold *newer, *older; /* by last use */
    int64_t used_ms;                  /* by now_ms; below 0: before that clock began */
    uint32_t user_count;              /* the store's list is one */
    size_t bytes;                     /* that the store counts for it */
    bool memory_only, listed;
};

#define BUCKETS 1024
#define SWEPT_ON_USE 4 /* where nobody sweeps: more leave than come */

struct vault_store {
    pthread_mutex_t mutex;
    struct vault_hold *buckets[BUCKETS];
    struct vault_hold *newest, *oldest;
    size_t count, capacity;
    size_t bytes, bytes_max; /* of memory, of those in the list */
    uint64_t ttl_ms;
    uint8_t alias_key[KEYED_KEY_BYTES];
};

struct vault_store *vault_store_new(size_t conversations_max, size_t bytes_max, uint64_t ttl_ms)
{
    struct vault_store *store = calloc(1, sizeof *store);
    if (store == NULL)
        return NULL;
    if (crypto_random(store->alias_key, sizeof store->alias_key, NULL) != TD_OK) {
        free(store);
        return NULL;
    }
    pthread_mutex_init(&store->mutex, NULL);
    store->capacity = conversations_max ? conversations_max : 1;
    store->bytes_max = bytes_max;
    store->ttl_ms = ttl_ms;
    return store;
}

void vault_store_alias(const struct vault_store *store, struct td_str caller, struct td_str name,
                       char out[static VAULT_ALIAS_BYTES])
{
    uint8_t key[KEYED_MAC_BYTES], alias[KEYED_MAC_BYTES];
    _Static_assert(KEYED_MAC_BYTES == KEYED_KEY_BYTES, "a caller's key is a hash");
    keyed_mac(store->alias_key, caller.data ? caller.data : "", caller.len, key);
    keyed_mac(key, name.data ? name.data : "", name.len, alias);
    crypto_hex(alias, (VAULT_ALIAS_BYTES - 1) / 2, out);
}

static void release_locked(struct vault_hold *hold)
{
    if (--hold->user_count > 0)
        return;
    pthread_mutex_destroy(&hold->mutex);
    vault_free(hold->vault);
    free(hold);
}

static struct vault_hold **bucket_of(struct vault_store *store, const uint8_t *key)
{
    return &store->buckets[(key[0] | key[1] << 8) % BUCKETS]; /* a digest: any bits will do */
}

static void unlink_use_locked(struct vault_hold *hold)
{
    struct vault_store *store = hold->store;
    *(hold->newer ? &hold->newer->older : &store->newest) = hold->older;
    *(hold->older ? &hold->older->newer : &store->oldest) = hold->newer;
    hold->newer = hold->older = NULL;
}

static void push_newest_locked(struct vault_hold *hold)
{
    struct vault_store *store = hold->store;
    hold->older = store->newest;
    *(store->newest ? &store->newest->newer : &store->oldest) = hold;
    store->newest = hold;
}

static void unlist_locked(struct vault_hold *hold)
{
    struct vault_hold **link = bucket_of(hold->store, hold->key);
    while (*link != hold)
        link = &(*link)->chain;
    *link = hold->chain;
    unlink_use_locked(hold);
    hold->store->count--;
    hold->store->bytes -= hold->bytes;
    hold->listed = false;
    release_locked(hold);
}

/* What the vault takes by now. Others leave for it; itself it is in use. */
static void weigh_locked(struct vault_hold *hold, size_t bytes)
{
    struct vault_store *store = hold->store;
    if (!hold->listed)
        return;
    store->bytes = store->bytes - hold->bytes + bytes;
    hold->bytes = bytes;
    while (store->bytes > store->bytes_max && store->oldest != hold)
        unlist_locked(store->oldest);
}

/* A clock that went back counts as none that passed. */
static uint64_t unused_ms(const struct vault_hold *hold, uint64_t now_ms)
{
    return (int64_t)now_ms > hold->used_ms ? (uint64_t)((int64_t)now_ms - hold->used_ms) : 0;
}

/* How long the vault may still stay. */
static uint64_t left_ms(const struct vault_hold *hold, uint64_t now_ms)
{
    uint64_t unused = unused_ms(hold, now_ms);
    return unused < hold->store->ttl_ms ? hold->store->ttl_ms - unused : 0;
}

static void sweep_locked(struct vault_store *store, uint64_t now_ms, size_t most)
{
    for (; most > 0 && store->oldest && left_ms(store->oldest, now_ms) == 0; most--)
        unlist_locked(store->oldest);
}

void vault_store_free(struct vault_store *store)
{
    if (store == NULL)
        return;
    while (store->oldest)
        unlist_locked(store->oldest);
    pthread_mutex_destroy(&store->mutex);
    free(store);
}

static struct vault_hold *find_locked(struct vault_store *store, const uint8_t *key)
{
    struct vault_hold *hold = *bucket_of(store, key);
    while (hold && memcmp(hold->key, key, CRYPTO_SHA256_BYTES) != 0)
        hold = hold->chain;
    return hold;
}

/* **takes** vault. */
static struct vault_hold *list_locked(struct vault_store *store, const uint8_t *key,
                                      const uint8_t *owner, struct vault *vault)
{
    struct vault_hold *hold = calloc(1, sizeof *hold);
    if (hold == NULL) {
        vault_free(vault);
        return NULL;
    }
    if (store->count >= store->capacity)
        unlist_locked(store->oldest);
    pthread_mutex_init(&hold->mutex, NULL);
    hold->vault = vault;
    hold->store = store;
    hold->chain = *bucket_of(store, key);
    hold->user_count = 1;
    memcpy(hold->key, key, sizeof hold->key);
    memcpy(hold->owner, owner, sizeof hold->owner);
    *bucket_of(store, key) = hold;
    store->count++;
    hold->listed = true;
    push_newest_locked(hold);
    weigh_locked(hold, vault_bytes(vault));
    return hold;
}

enum td_status vault_store_take(struct vault_store *store,
                                const uint8_t key[static CRYPTO_SHA256_BYTES],
                                const uint8_t owner[static CRYPTO_SHA256_BYTES], uint64_t now_ms,
                                struct vault_hold **out, struct td_error *err)
{
    enum td_status status = TD_OK;
    pthread_mutex_lock(&store->mutex);
    sweep_locked(store, now_ms, SWEPT_ON_USE);
    struct vault_hold *hold = find_locked(store, key);
    if (hold && left_ms(hold, now_ms) == 0) { /* not swept yet */
        unlist_locked(hold);
        hold = NULL;
    }
    if (hold == NULL) {
        struct vault *vault = NULL;
        status = vault_new(&vault, err);
        if (status == TD_OK && (hold = list_locked(store, key, owner, vault)) == NULL)
            status = error_set(err, TD_NO_MEMORY, "no memory for a vault");
    }
    if (status == TD_OK) {
        unlink_use_locked(hold);
        push_newest_locked(hold);
        hold->used_ms = (int64_t)now_ms;
        hold->user_count++;
        *out = hold;
    }
    pthread_mutex_unlock(&store->mutex);
    return status;
}

void vault_hold_drop(struct vault_hold *hold)
{
    if (hold == NULL)
        return;
    struct vault_store *store = hold->store;
    pthread_mutex_lock(&store->mutex);
    release_locked(hold);
    pthread_mutex_unlock(&store->mutex);
}

void vault_hold_forbid_keeping(struct vault_hold *hold)
{
    pthread_mutex_lock(&hold->store->mutex);
    hold->memory_only = true;
    pthread_mutex_unlock(&hold->store->mutex);
}

struct vault *vault_hold_lock(struct vault_hold *hold)
{
    pthread_mutex_lock(&hold->mutex);
    return hold->vault;
}

void vault_hold_unlock(struct vault_hold *hold)
{
    size_t bytes = vault_bytes(hold->vault);
    pthread_mutex_unlock(&hold->mutex);
    pthread_mutex_lock(&hold->store->mutex);
    weigh_locked(hold, bytes);
    pthread_mutex_unlock(&hold->store->mutex);
}

uint64_t vault_store_sweep(struct vault_store *store, uint64_t now_ms, size_t most)
{
    pthread_mutex_lock(&store->mutex);
    sweep_locked(store, now_ms, most);
    uint64_t wait_ms = store->oldest ? left_ms(store->oldest, now_ms) : store->ttl_ms;
    pthread_mutex_unlock(&store->mutex);
    return wait_ms;
}

size_t vault_store_forget(struct vault_store *store,
                          const uint8_t owner[static CRYPTO_SHA256_BYTES], bool any_tenant)
{
    size_t count = 0, compared = any_tenant ? VAULT_OWNER_USER_BYTES : CRYPTO_SHA256_BYTES;
    pthread_mutex_lock(&store->mutex);
    for (struct vault_hold *hold = store->oldest, *next; hold; hold = next) {
        next = hold->newer;
        if (memcmp(hold->owner, owner, compared) != 0)
            continue;
        unlist_locked(hold);
        count++;
    }
    pthread_mutex_unlock(&store->mutex);
    return count;
}

enum td_status vault_store_each(struct vault_store *store, uint64_t now_ms, vault_store_fn *fn,
                                void *ctx, struct td_error *err)
{
    enum td_status status = TD_OK;
    pthread_mutex_lock(&store->mutex);
    for (struct vault_hold *hold = store->oldest; hold && status == TD_OK; hold = hold->newer) {
        struct vault_record record = {.unused_ms = unused_ms(hold, now_ms)};
        if (hold->memory_only)
            continue;
        memcpy(record.key, hold->key, sizeof record.key);
        memcpy(record.owner, hold->owner, sizeof record.owner);
        record.vault = vault_hold_lock(hold);
        status = fn(ctx, &record, err);
        pthread_mutex_unlock(&hold->mutex);
    }
    pthread_mutex_unlock(&store->mutex);
    return status;
}

enum td_status vault_store_put(struct vault_store *store, const struct vault_record *record,
                               uint64_t now_ms, struct td_error *err)
{
    if (record->unused_ms >= store->ttl_ms) {
        vault_free(record->vault);
        return TD_OK;
    }
    pthread_mutex_lock(&store->mutex);
    struct vault_hold *hold = find_locked(store, record->key);
    if (hold)
        unlist_locked(hold);
    hold = list_locked(store, record->key, record->owner, record->vault);
    if (hold)
        hold->used_ms = (int64_t)now_ms - (int64_t)record->unused_ms;
    pthread_mutex_unlock(&store->mutex);
    return hold ? TD_OK : error_set(err, TD_NO_MEMORY, "no memory for a vault");
}
