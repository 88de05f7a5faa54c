/* A small table that is searched from its beginning: hashing the tools costs more than that. The
 * caller is part of the key, because the time of an answer must not tell what another caller
 * brought. */
#include "api/inference/call_cache.h"

#include "base/core/str.h"
#include "base/crypto/crypto.h"
#include "engine/grammar/grammar.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#define ENTRIES_MAX 32
/* Of states: an offer of ten tools has some 100 kB. */
#define BYTES_MAX ((size_t)32 << 20)
#define KEY_TEXT_BYTES_MAX ((size_t)64 << 20)

struct entry {
    uint8_t key[32];
    struct td_grammar *grammar; /* NULL = free */
    uint64_t used_at;
};

struct call_cache {
    pthread_mutex_t lock;
    struct entry entries[ENTRIES_MAX];
    size_t bytes;
    uint64_t clock;
};

struct call_cache *call_cache_new(void)
{
    struct call_cache *cache = calloc(1, sizeof *cache);
    if (cache)
        pthread_mutex_init(&cache->lock, NULL);
    return cache;
}

static size_t bytes_of(const struct td_grammar *grammar)
{
    return sizeof *grammar + grammar->state_count * sizeof *grammar->states;
}

static void drop_locked(struct call_cache *cache, struct entry *entry)
{
    if (!entry->grammar)
        return;
    cache->bytes -= bytes_of(entry->grammar);
    td_grammar_free(entry->grammar);
    entry->grammar = NULL;
}

void call_cache_free(struct call_cache *cache)
{
    if (!cache)
        return;
    for (size_t i = 0; i < ENTRIES_MAX; i++)
        drop_locked(cache, &cache->entries[i]);
    pthread_mutex_destroy(&cache->lock);
    free(cache);
}

/* Everything that call_grammar_compile reads, and who asks. False without memory. */
static bool key_of(const struct td_request *request, uint8_t key[static 32])
{
    struct buf text;
    buf_init(&text, KEY_TEXT_BYTES_MAX);
    buf_printf(&text, "%s %d %d %d %zu ", request->caller ? request->caller : "",
               (int)request->tool_choice, request->one_call, (int)request->format,
               request->tool_named.len);
    buf_append_str(&text, request->tool_named);
    json_write(request_value(request, REQUEST_TOOLS), &text);
    if (request->format == TD_FORMAT_JSON && request->schema)
        json_write(request->schema, &text);
    bool ok = !text.failed;
    if (ok)
        crypto_sha256(text.data, text.len, key);
    buf_deinit(&text);
    return ok;
}

static struct entry *find_locked(struct call_cache *cache, const uint8_t key[static 32])
{
    for (size_t i = 0; i < ENTRIES_MAX; i++)
        if (cache->entries[i].grammar && memcmp(cache->entries[i].key, key, 32) == 0)
            return &cache->entries[i];
    return NULL;
}

struct td_grammar *call_cache_find(struct call_cache *cache, const struct td_request *request)
{
    uint8_t key[32];
    if (!cache || !key_of(request, key))
        return NULL;
    pthread_mutex_lock(&cache->lock);
    struct entry *entry = find_locked(cache, key);
    struct td_grammar *grammar = entry ? grammar_retain(entry->grammar) : NULL;
    if (entry)
        entry->used_at = ++cache->clock;
    pthread_mutex_unlock(&cache->lock);
    return grammar;
}

static struct entry *oldest_locked(struct call_cache *cache)
{
    struct entry *oldest = NULL;
    for (size_t i = 0; i < ENTRIES_MAX; i++)
        if (cache->entries[i].grammar && (!oldest || cache->entries[i].used_at < oldest->used_at))
            oldest = &cache->entries[i];
    return oldest;
}

static struct entry *free_locked(struct call_cache *cache)
{
    for (size_t i = 0; i < ENTRIES_MAX; i++)
        if (!cache->entries[i].grammar)
            return &cache->entries[i];
    return NULL;
}

void call_cache_put(struct call_cache *cache, const struct td_request *request,
                    struct td_grammar *grammar)
{
    uint8_t key[32];
    if (!cache || bytes_of(grammar) > BYTES_MAX || !key_of(request, key))
        return;
    pthread_mutex_lock(&cache->lock);
    while (!free_locked(cache) || cache->bytes + bytes_of(grammar) > BYTES_MAX)
        drop_locked(cache, oldest_locked(cache));
    if (!find_locked(cache, key)) {
        struct entry *entry = free_locked(cache);
        memcpy(entry->key, key, sizeof entry->key);
        entry->grammar = grammar_retain(grammar);
        entry->used_at = ++cache->clock;
        cache->bytes += bytes_of(grammar);
    }
    pthread_mutex_unlock(&cache->lock);
}
