/* How much a tier may be asked: at a time, in a minute, and again after failures. Plain counts
 * without a lock or a clock of their own; src/tier/health.c has them in its records.
 *
 * now_ms is monotonic; a call may be a little behind the one before. */
#ifndef TIER_LIMITS_H
#define TIER_LIMITS_H

#include <stdbool.h>
#include <stdint.h>

/* What the operator allows. 0 = no limit. */
struct tier_limits {
    uint32_t concurrent, requests_per_minute, tokens_per_minute;
};
static inline bool tier_limits_any(const struct tier_limits *limits)
{
    return limits->concurrent || limits->requests_per_minute || limits->tokens_per_minute;
}

/* What was counted in the last 60 seconds, by second. Zeroed memory is an empty one. */
#define MINUTE_SECONDS 60
struct minute {
    uint64_t second; /* the newest that `of` holds */
    uint64_t sum;
    uint32_t of[MINUTE_SECONDS];
};
void minute_add(struct minute *minute, uint32_t count, uint64_t now_ms);
/* Takes back what was counted at since_ms, as far as that is not over yet. */
void minute_take(struct minute *minute, uint32_t count, uint64_t since_ms, uint64_t now_ms);
/* Milliseconds until fewer than `limit` are counted; 0 = now, or there is no limit. */
uint32_t minute_wait_ms(struct minute *minute, uint32_t limit, uint64_t now_ms);

/* Limits that several nodes have together (src/cluster/share.c). Any thread; a call waits for some
 * milliseconds at most. */
enum shared_answer { SHARED_TAKEN, SHARED_CONCURRENT, SHARED_REQUESTS, SHARED_TOKENS };
struct shared_use {
    uint32_t requests, tokens;
    uint32_t inside; /* requests of this node that run, with this one */
};
struct shared_limit; /* of one tier, or of an API key or its tenant */
/* A sum that no node may let grow beyond a budget, with what the others add to it: money in units
 * of a billionth of a USD, or tokens, in a period. Names are parts of a key of the server. */
struct shared_sum {
    const char *whom, *what, *period;
    double own;    /* of this node, with what it is about to add */
    double had;    /* without that: it is written down in any case */
    double more;   /* so much it may then add without asking, where there is room */
    double others; /* of other nodes, at least */
    double budget;
};
enum shared_room { SHARED_ROOM, SHARED_FULL, SHARED_AWAY };
struct shared_limits {
    void *ctx;
    /* Takes what a request needs before it begins: from what all nodes have, or, while nobody can
     * say what others use, from this node's share. *wait_ms: until there may be room. */
    enum shared_answer (*take)(void *ctx, struct shared_limit *of, const struct tier_limits *limits,
                               const struct shared_use *need, uint32_t *wait_ms);
    /* What was used: what was taken, or (more) what only the answer told. */
    void (*used)(void *ctx, struct shared_limit *of, const struct shared_use *use, bool more,
                 uint64_t now_ms);
    /* Gives back what was taken just now and is not needed: its request was not begun. */
    void (*give)(void *ctx, struct shared_limit *of, const struct shared_use *use);
    /* Of the tokens that were taken at since_ms so many were not used. */
    void (*back)(void *ctx, struct shared_limit *of, uint32_t tokens, uint64_t since_ms,
                 uint64_t now_ms);
    /* What all nodes have used in the last minute, as it was known some moments ago. */
    void (*known)(void *ctx, struct shared_limit *of, uint64_t *requests, uint64_t *tokens);
    /* The limits of somebody new, by a name of its own; NULL without memory. */
    struct shared_limit *(*make)(void *ctx, const char *name);
    /* Tells what this node adds to a sum. *granted: what it may have without asking again.
     * *others: what other nodes have announced. */
    enum shared_room (*reach)(void *ctx, const struct shared_sum *sum, double *granted,
                              double *others);
    /* How often the server was lost: what was granted before that is void. */
    uint32_t (*losses)(void *ctx);
    /* Whether nobody can say what others use. *nodes: among how many the limits are shared then. */
    bool (*away)(void *ctx, uint32_t *nodes);
};

/* Every request pays in a share of a retry, and every retry takes out a whole one. So an outage
 * adds no more load than that share, and a passing fault in a quiet time is still mended. */
struct retry_budget {
    double saved;
    uint64_t touched_ms;
};
void retry_budget_init(struct retry_budget *budget, uint64_t now_ms);
void retry_budget_pay(struct retry_budget *budget);
bool retry_budget_take(struct retry_budget *budget, uint64_t now_ms);

#endif
