/* Shares of a resource among owners by their weights, as weighted fair queuing has it (Demers,
 * Keshav and Shenker 1989): each owner has a virtual time, which what it is served moves on by
 * amount / weight, and whoever is least far has the next turn. An owner that comes back after a
 * rest begins where the clock is, so nobody saves up.
 *
 * Owners are numbers; 0 is everybody who has none. When the table is full, an owner that rests
 * gives up its place, and where nobody rests, newcomers share one. Zeroed memory is an empty one.
 * No lock of its own. */
#ifndef BASE_FAIR_H
#define BASE_FAIR_H

#include <stdbool.h>
#include <stdint.h>

#define FAIR_OWNERS_MAX 64

struct fair_owner {
    uint64_t key;
    double served;          /* virtual time */
    double weight;          /* of its last job */
    uint32_t jobs, waiting; /* that wait or run, and those that wait; for whoever counts them */
    uint64_t hungry_ms;     /* when it wanted a turn last and got none; 0 = it does not */
};

struct fair {
    double clock;
    uint32_t count;
    struct fair_owner owners[FAIR_OWNERS_MAX]; /* [count] */
};

/* **borrows** until the next call of fair_join. A weight of 0 is 1. */
struct fair_owner *fair_join(struct fair *fair, uint64_t key, uint32_t weight);
/* NULL when it is not there. */
struct fair_owner *fair_find(struct fair *fair, uint64_t key);
/* It has the turn now, and what it gets is worth that much. A later correction may be negative. */
void fair_serve(struct fair *fair, struct fair_owner *owner, double amount);
void fair_correct(struct fair_owner *owner, double amount);

#endif
