/* The bytes of request bodies that the servers of a process hold together: of requests that still
 * arrive, and of those in work until their answers have ended. Counters without a lock; any
 * thread. What comes in during one read is counted afterwards, so the total may be above its
 * maximum by a few kilobytes for each connection. */
#ifndef NET_BODY_BUDGET_H
#define NET_BODY_BUDGET_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

struct body_budget {
    size_t bytes_max;
    atomic_size_t held;
    atomic_size_t working; /* those of `held` whose requests are whole: they will be given back */
};

static inline bool body_budget_has_room(struct body_budget *budget)
{
    return !budget || atomic_load(&budget->held) < budget->bytes_max;
}

/* Whether waiting can help. */
static inline bool body_budget_moves(struct body_budget *budget)
{
    return atomic_load(&budget->working) > 0;
}

static inline void body_budget_take(struct body_budget *budget, size_t bytes)
{
    if (budget)
        atomic_fetch_add(&budget->held, bytes);
}

static inline void body_budget_work(struct body_budget *budget, size_t bytes)
{
    if (budget)
        atomic_fetch_add(&budget->working, bytes);
}

static inline void body_budget_give(struct body_budget *budget, size_t bytes, bool worked)
{
    if (budget)
        atomic_fetch_sub(&budget->held, bytes);
    if (budget && worked)
        atomic_fetch_sub(&budget->working, bytes);
}

#endif
