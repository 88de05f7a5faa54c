#include "exchange/limits/token_counts.h"

#include "base/core/assertion.h"
#include "base/crypto/hash.h"

#include <math.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#define MODELS_MAX 64
/* Then older usages count half: a server may change its model under one name. */
#define COUNT_MAX 2000
/* Neither a server that lies nor a picture in a prompt makes more of a token than that. */
#define RATIO_MIN 0.125
#define RATIO_MAX 64

struct token_counts {
    pthread_mutex_t lock;
    uint64_t keys[MODELS_MAX];
    struct token_sums sums[MODELS_MAX];
    size_t used;
};

struct token_counts *token_counts_new(void)
{
    struct token_counts *counts = calloc(1, sizeof *counts);
    if (counts)
        pthread_mutex_init(&counts->lock, NULL);
    return counts;
}

void token_counts_free(struct token_counts *counts)
{
    if (!counts)
        return;
    pthread_mutex_destroy(&counts->lock);
    free(counts);
}

/* NULL when there is none, and when a new one does not fit. */
static struct token_sums *find_locked(struct token_counts *counts, const char *tier,
                                      const char *model, bool make)
{
    uint64_t key = hash_fnv1a64(tier, strlen(tier) + 1, HASH_FNV1A64_BASIS);
    key = hash_fnv1a64(model, strlen(model), key);
    for (size_t i = 0; i < counts->used; i++)
        if (counts->keys[i] == key)
            return &counts->sums[i];
    if (!make || counts->used == MODELS_MAX)
        return NULL;
    counts->keys[counts->used] = key;
    return &counts->sums[counts->used++];
}

static void scale(struct token_sums *sums, double factor)
{
    sums->count *= factor;
    sums->prompt_estimate *= factor;
    sums->prompt_tokens *= factor;
    sums->cached_tokens *= factor;
    sums->answer_estimate *= factor;
    sums->completion_tokens *= factor;
}

void token_counts_add(struct token_counts *counts, const char *tier, const char *model,
                      const struct token_sums *more)
{
    ASSERT(counts && tier && model && more);
    pthread_mutex_lock(&counts->lock);
    struct token_sums *sums = find_locked(counts, tier, model, true);
    if (sums) {
        sums->count += more->count;
        sums->prompt_estimate += more->prompt_estimate;
        sums->prompt_tokens += more->prompt_tokens;
        sums->cached_tokens += more->cached_tokens;
        sums->answer_estimate += more->answer_estimate;
        sums->completion_tokens += more->completion_tokens;
        if (sums->count > COUNT_MAX)
            scale(sums, 0.5);
    }
    pthread_mutex_unlock(&counts->lock);
}

static double bounded_ratio(double told, double estimate)
{
    return fmin(fmax(told / estimate, RATIO_MIN), RATIO_MAX);
}

void token_counts_read(struct token_counts *counts, const struct tier_facts *facts,
                       struct token_ratio *out)
{
    struct token_sums sums = {0};
    *out = (struct token_ratio){.prompt = 1, .answer = 1};
    if (!counts)
        return;
    pthread_mutex_lock(&counts->lock);
    const struct token_sums *found = find_locked(counts, facts->name, facts->model, false);
    if (found)
        sums = *found;
    pthread_mutex_unlock(&counts->lock);
    if (sums.count < TOKEN_COUNTS_MIN || !(sums.prompt_estimate > 0) || !(sums.answer_estimate > 0))
        return;
    *out = (struct token_ratio){
        .prompt = bounded_ratio(sums.prompt_tokens, sums.prompt_estimate),
        .answer = bounded_ratio(sums.completion_tokens, sums.answer_estimate),
        .cached = sums.prompt_tokens > 0 ? sums.cached_tokens / sums.prompt_tokens : 0,
        .learnt = true,
    };
}
