/* What spending.c and spending_shared.c share. For these files alone. */
#ifndef EXCHANGE_SPENDING_INTERNAL_H
#define EXCHANGE_SPENDING_INTERNAL_H

#include "exchange/limits/spending.h"

#include <pthread.h>

#define HOURS 24
#define UNSAVED_MAX 4096
#define GROUPS 256 /* of tenants, by a hash; the first byte of a key */

struct entry {
    uint64_t key; /* 0 = free */
    double spent_usd, promised_usd;
};

/* Of an entry, where nodes share budgets. */
struct beside {
    double before_usd; /* spent today before the start, and told by nobody since */
    double others_usd; /* by other nodes, as far as it is known */
    double heard_usd;  /* the same, as their rows have it: others_usd may be newer */
    double told_usd;   /* what they have been told of this one */
    double sure_usd;   /* and the time before, since when they have told what they did */
    double granted;    /* up to where its own sum is announced, in billionths of a USD */
    uint32_t losses;   /* of the server when that was granted */
    bool unsaved;      /* it is among those below */
};

struct spending {
    pthread_mutex_t lock;
    const struct clock *clock;
    struct beside *beside;            /* [slot_count], as the slots; NULL = this node is alone */
    const struct shared_limits *door; /* NULL = nobody is asked before something is spent */
    uint32_t nodes;                   /* that are there, with this one */
    uint32_t node_counts;             /* how often that was told since the start */
    uint32_t unsaved[UNSAVED_MAX];    /* slots whose sum others are to be told, or were just now */
    size_t unsaved_count;             /* UNSAVED_MAX + 1 = some have no place: all are looked at */
    int year, day;                    /* of the entries; local time */
    uint64_t hour;                    /* since the epoch; of tokens[hour % HOURS] */
    uint64_t tokens[HOURS];
    uint32_t used, entries_max, used_by[GROUPS]; /* without the shared entries */
    size_t slot_count;                           /* a power of two, at least twice entries_max */
    struct entry slots[];
};

/* --- spending.c --- */

void spending_turn_day_locked(struct spending *spending);
struct entry *spending_entry_locked(struct spending *spending, uint64_t key);

/* --- spending_shared.c --- */

/* The others are to be told of the entry. */
void spending_note_unsaved_locked(struct spending *spending, const struct entry *entry);
/* What other nodes have spent today, as far as it is known, and may have spent since. */
double spending_others_locked(const struct spending *spending, const struct entry *entry,
                              const struct beside *beside);

#endif
