/* Answers that were kept, for requests that are the same to the letter, and where the configuration
 * wants it for similar questions. Bounded in bytes and in age; the least recently used goes first.
 * An answer is found by the key (cache_key.h), which nobody can make who has not the whole request,
 * or by the scope, for which one needs all of it but the question. Memory is wiped before it is
 * given back. Any thread. */
#ifndef API_ANSWER_CACHE_H
#define API_ANSWER_CACHE_H

#include "api/cache/similar_question.h"
#include "base/bytes/buf.h"
#include "base/crypto/crypto.h"
#include "tier/tier.h"

#include <stdatomic.h>

struct answer_cache;

/* Whose an answer is, for answer_cache_forget. */
struct answer_owner {
    uint8_t tenant[CRYPTO_SHA256_BYTES], user[CRYPTO_SHA256_BYTES];
};
/* NULL = none. */
void answer_owner_init(struct answer_owner *owner, const char *tenant, const char *user);

/* Immutable once it is put. */
struct kept {
    atomic_uint holders;
    uint8_t key[CRYPTO_SHA256_BYTES];
    struct answer_owner owner;
    uint64_t kept_ms;       /* when, monotonic */
    uint64_t age_before_ms; /* how old it was then: that of an earlier run */
    struct tier_usage usage;
    enum td_finish finish;
    uint32_t stop_number;
    uint64_t server_identity;          /* as in tier_piece; 0 = not said */
    struct buf pieces;                 /* kept_pieces.h */
    struct similar_question *question; /* NULL = it is for the same request alone */
    /* These are the cache's own. */
    struct kept *next;
    struct kept *older, *newer;
    struct kept *later, *earlier; /* of those whose scopes share a bucket */
    bool within;                  /* it is in the cache */
};

struct kept *kept_new(size_t bytes_max); /* **returns new** (kept_drop), or NULL */
void kept_drop(struct kept *kept);       /* one holder less; accepts NULL */

struct answer_cache_limits {
    size_t bytes_max;
    uint64_t ttl_ms;
};

struct answer_cache_counts {
    uint64_t hits, misses, stored, evicted, expired;
    uint64_t similar;            /* of the misses: a similar question's answer was given */
    uint64_t unlike[MARK_COUNT]; /* one was there, and what the questions differ in forbade it */
    uint64_t count, bytes;       /* now */
    double saved_usd;
};

struct answer_cache *
answer_cache_new(struct answer_cache_limits limits); /* **returns new** (answer_cache_free) */
void answer_cache_free(struct answer_cache *cache);  /* accepts NULL */
/* After a reload; what is too much is dropped. */
void answer_cache_set_limits(struct answer_cache *cache, struct answer_cache_limits limits);
/* The bytes that one answer may take. */
size_t answer_cache_entry_max(struct answer_cache *cache);

/* Which answers will do, and when that is asked. */
struct cache_wish {
    uint64_t server_identity; /* what the server said of itself last; 0 = nothing */
    uint64_t age_max_ms;      /* 0 = any age within the limits */
    uint64_t now_ms;          /* monotonic */
};

/* An answer of another server is dropped. **returns new** (kept_drop); NULL = none. */
struct kept *answer_cache_find(struct answer_cache *cache, const uint8_t key[static 32],
                               const struct cache_wish *wish);
/* Whether answer_cache_find would find one now; nothing is counted. */
bool answer_cache_has(struct answer_cache *cache, const uint8_t key[static 32],
                      const struct cache_wish *wish);
/* The answers to questions of that scope that would be found now, the last kept first, at most
 * `max` and among the SIMILAR_LOOKED_MAX last of its bucket. Each is to be dropped (kept_drop). */
#define SIMILAR_LOOKED_MAX 1024
size_t answer_cache_similar(struct answer_cache *cache,
                            const uint8_t scope[static CRYPTO_SHA256_BYTES],
                            const struct cache_wish *wish, struct kept **out, size_t max);
/* One of them is given. */
void answer_cache_use_similar(struct answer_cache *cache, struct kept *kept);
/* None is, because the nearest one differs in that. */
void answer_cache_count_unlike(struct answer_cache *cache, enum question_mark mark);
/* In the place of one with the same key. **takes** it. */
void answer_cache_put(struct answer_cache *cache, struct kept *kept, uint64_t now_ms);
uint64_t kept_age_ms(const struct kept *kept, uint64_t now_ms);
/* Calls `each` for all, the least recently used first, while the cache is locked. */
void answer_cache_each(struct answer_cache *cache, void (*each)(void *ctx, const struct kept *kept),
                       void *ctx);
/* What a hit would have cost. */
void answer_cache_add_saved(struct answer_cache *cache, double usd);
/* Drops what a user of the tenant got; tenant NULL: of all tenants. Returns how many. */
uint64_t answer_cache_forget(struct answer_cache *cache, const char *tenant, const char *user);
void answer_cache_read(struct answer_cache *cache, struct answer_cache_counts *out);

#endif
