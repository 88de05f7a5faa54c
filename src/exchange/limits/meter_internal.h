/* What meter.c and meter_shared.c share. For these files alone. */
#ifndef EXCHANGE_METER_INTERNAL_H
#define EXCHANGE_METER_INTERNAL_H

#include "exchange/limits/meter.h"
#include "tier/limits.h"

#include <pthread.h>

#define SLOTS 16384 /* of the table; more meters make chains */
#define METERS_MAX (2 * STORED_KEYS_MAX)

struct sums {
    double usd;
    uint64_t tokens;
};

#define NANO 1e9 /* money is told to others in billionths of a USD */
enum unit { USD, TOKENS, UNIT_COUNT };

struct meter {
    struct meter *next, *next_in_slot;
    char whom[METER_WHOM_BYTES];
    struct key_terms terms;
    struct minute *requests, *tokens; /* NULL = no such limit was ever set */
    struct sums spent[KEY_PERIOD_COUNT], unsaved[KEY_PERIOD_COUNT];
    struct sums others[KEY_PERIOD_COUNT]; /* of other nodes, as far as it is known */
    double promised_usd;
    uint64_t reserved_tokens;
    /* Of a node among others: its limits of a minute (NULL until they are asked for), and up to
     * where its own sums are announced. */
    struct shared_limit *together;
    double granted[KEY_PERIOD_COUNT][UNIT_COUNT];
    uint32_t losses;                        /* of the server when that was granted */
    struct sums heard[KEY_PERIOD_COUNT][2]; /* its own when others were heard of, and before */
    uint64_t request_count, refused[METER_LIMIT_COUNT];
};

struct meters {
    pthread_mutex_t lock;
    const struct clock *clock;
    const struct shared_limits *door; /* NULL = this node is alone */
    struct meter *first;
    size_t count;
    char period[KEY_PERIOD_COUNT][11];
    uint64_t looked_min;    /* wall time of the last look at the calendar, in minutes */
    struct key_spent *late; /* unsaved sums of periods that are over */
    size_t late_count, late_capacity;
    struct meter *slots[SLOTS];
};

/* --- meter.c --- */

/* Begins the periods that have come. */
void meters_turn_locked(struct meters *meters);
/* Counts a refusal and fills in the verdict. False. */
bool meter_refuse(struct meter *meter, bool of_tenant, enum meter_limit what, uint32_t wait_ms,
                  struct meter_verdict *verdict);

/* --- meter_shared.c: what nodes have together --- */

/* Whether there is room for `more` in a budget, as far as other nodes are concerned. Waits for them
 * where as much was not announced before; under the lock. */
bool meter_fits_together(struct meters *meters, struct meter *meter, int period, enum unit unit,
                         double more);
/* The limits of a minute of a meter; NULL where it has none, or where this node is alone. */
struct shared_limit *meter_together(struct meters *meters, struct meter *meter);
/* A request that was let in here. False: other nodes have used a limit up, and the hold is empty.
 * Without the lock, because it may wait. */
bool meters_enter_together(struct meters *meters,
                           struct shared_limit *const of[static METERS_OF_REQUEST],
                           struct meter_hold *hold, struct meter_verdict *verdict);
/* What a request has really used. Without the lock. */
void meters_settle_together(struct meters *meters, const struct meter_hold *hold, uint64_t tokens);

#endif
