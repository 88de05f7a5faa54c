/* A look for the answer to a similar question. The question is made a vector by the model of
 * embeddings, on that one's thread and in its queue, and compared with those of kept answers on the
 * caller's loop. One loop's thread. */
#ifndef API_SIMILAR_LOOK_H
#define API_SIMILAR_LOOK_H

#include "api/cache/answer_cache.h"
#include "api/cache/cache_key.h"
#include "base/thread/loop.h"

struct embedding_service;
struct privacy_scanner;
struct similar_look;

struct similar_settings {
    struct embedding_service *service; /* NULL = no such look */
    const char *model;                 /* which weights: vectors of others cannot be compared */
    const struct privacy_scanner *scanner;
    float threshold; /* of the cosine */
};

struct similar_result {
    struct kept *kept;                 /* **takes**; NULL = none will do */
    struct similar_question *question; /* **takes**; to be kept with the answer to come; or NULL */
    struct tier_cache_facts facts;
};

struct similar_wish {
    const struct similar_settings *settings; /* borrowed, and so is the cache, until the end */
    struct answer_cache *cache;
    const struct cache_question *question; /* read during the call alone */
    struct cache_wish wish;
    bool only_keeps; /* none is looked for: the question is to be kept */
    struct loop *loop;
    void (*on_done)(void *ctx, struct similar_result *result); /* the look is gone then */
    void *ctx;
};

/* **returns new** (similar_look_cancel, until on_done comes). NULL: the question is of no kind that
 * is compared, or the model is busy, and on_done does not come. */
struct similar_look *similar_look_begin(const struct similar_wish *wish);
/* on_done does not come any more. Accepts NULL. */
void similar_look_cancel(struct similar_look *look);

#endif
