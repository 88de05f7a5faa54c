/* A tier before another one: it gives answers that were kept, asks the other for all else, and
 * keeps what that one answers. Exchanges ask it in the place of the other
 * (exchange_services.asked), and judge, restore, show and record what comes from it like any
 * answer. Any thread, as tiers. */
#ifndef API_CACHED_TIER_H
#define API_CACHED_TIER_H

#include "api/cache/answer_cache.h"
#include "api/cache/cache_key.h"
#include "api/cache/similar_look.h"

struct cached_tier_options {
    struct tier *inner; /* borrowed until tier_free, and so is the cache */
    struct answer_cache *cache;
    enum cache_answers which;
    const char *identity; /* copied: what an answer of it depends on beside the request */
    struct similar_settings similar; /* what it points to is borrowed until tier_free */
};

/* **returns new** (tier_free); NULL without memory. */
struct tier *cached_tier_new(const struct cached_tier_options *options);

#endif
