/* What keys of the store and tenants use: requests and tokens of the last minute, money and tokens
 * of the day and the month. A request is let in when all of its meters have room; it reserves its
 * tokens, and settles what it really used when it ends.
 *
 * A minute is the last 60 seconds, counted by second: whoever asks much at its end and much at the
 * beginning of the next one gets no more than anybody. Days and months are local time. In memory;
 * app/setup/process/key_keeper.c keeps the sums in the store. One for the process; any thread. */
#ifndef EXCHANGE_METER_H
#define EXCHANGE_METER_H

#include "base/key_terms.h"
#include "ledger/store/key_store.h"
#include "request/request.h"

struct clock;
struct meters;
struct shared_limits;

/* Of an answer whose request names no length. */
#define METER_ANSWER_TOKENS 1024

/* clock NULL = the system's. **returns new** (meters_free), or NULL. Meters live until then. */
struct meters *meters_new(const struct clock *clock);
void meters_free(struct meters *meters);
/* Limits and budgets are those of several nodes together (src/cluster/share.c). Before the first
 * request. **borrows** until meters_free. */
void meters_share(struct meters *meters, const struct shared_limits *door);

/* Whom a meter is of: 'k' and a key's id, or 't' and a tenant's name in records. */
#define METER_WHOM_BYTES KEY_SPENT_BYTES
/* From now on the meter has these limits; made when it is new. */
TD_MUST_CHECK enum td_status meters_set(struct meters *meters, const char *whom,
                                        const struct key_terms *terms, struct td_error *err);
/* What was spent before the start. */
void meters_restore(struct meters *meters, const struct key_spent *spent);
/* What other nodes have spent in a period until now (others_usd, others_tokens). */
void meters_hear(struct meters *meters, const struct key_spent *spent);
/* All of that was heard; to be called once a second or so. */
void meters_heard(struct meters *meters);
/* What was spent since the last call, at most `max` sums. Who cannot keep them gives them back. */
size_t meters_take(struct meters *meters, struct key_spent *out, size_t max);
void meters_give_back(struct meters *meters, const struct key_spent *spent, size_t count);
/* Other nodes get what was announced to them and is not needed any more. From time to time. */
void meters_settle(struct meters *meters);
/* The names of the periods that run now. */
void meters_periods(struct meters *meters, char day[static 11], char month[static 11]);

enum meter_limit {
    METER_FREE,
    METER_REQUESTS,  /* of the last minute */
    METER_TOKENS,    /* the same */
    METER_TOO_LARGE, /* the prompt alone is more than tokens_per_minute */
    METER_SPENT,     /* a budget */
    METER_LIMIT_COUNT
};

/* For the headers of an answer; limit 0 = there is none. */
struct meter_rate {
    uint32_t limit, left;
    uint32_t reset_ms; /* until nothing of the minute counts any more */
};

struct meter_verdict {
    enum meter_limit what;
    bool of_tenant;                            /* the tenant's limit, not the key's */
    uint32_t wait_ms;                          /* until it is worth asking again */
    enum key_period period;                    /* of METER_SPENT */
    bool tokens;                               /* of METER_SPENT: tokens and not USD */
    struct meter_rate requests, prompt_tokens; /* the narrowest of all meters */
};

struct meter_ask {
    const char *key_id, *tenant; /* "" = none */
    uint32_t prompt_tokens, answer_tokens;
};
/* False when a meter has no room. A hold is settled exactly once by meters_leave; one that is empty
 * needs it not. */
bool meters_enter(struct meters *meters, const struct meter_ask *ask, struct meter_hold *hold,
                  struct meter_verdict *verdict);
/* Empties the hold. meters may be NULL with an empty hold. */
void meters_leave(struct meters *meters, struct meter_hold *hold, uint64_t tokens, double usd);

/* Takes a part of the reservation off: one of `parts` equal ones. Both are settled. */
struct meter_hold meters_split(struct meter_hold *hold, uint32_t parts);

/* It may come to cost that much more; taken back with a negative number. */
void meters_promise(struct meters *meters, const struct meter_hold *hold, double usd);
/* The budget of the hold's meters that is nearest to its end. */
struct meter_budget {
    const char *name;      /* "key" or "tenant"; static; NULL = there is none */
    const char *period;    /* "this day" or "this month" */
    double used, left_usd; /* used: a share; left_usd: INFINITY for tokens */
    uint32_t wait_ms;      /* until the period ends */
    bool frees;            /* open again if what is promised is not needed */
};
void meters_look(struct meters *meters, const struct meter_hold *hold, struct meter_budget *out);
/* Whether all budgets have that much left. */
bool meters_have_room(struct meters *meters, const struct meter_hold *hold, double usd);

/* For metrics. */
struct meter_numbers {
    char whom[METER_WHOM_BYTES];
    double usd[KEY_PERIOD_COUNT];
    uint64_t tokens[KEY_PERIOD_COUNT];
    uint64_t requests, refused[METER_LIMIT_COUNT]; /* since the start */
};
typedef void meter_fn(void *ctx, const struct meter_numbers *numbers);
void meters_each(struct meters *meters, meter_fn *each, void *ctx);

#endif
