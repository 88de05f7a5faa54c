/* What an API key of the store, or a tenant, may do: limits, budgets, and what it may ask for. One
 * JSON form for the store, the command line and the admin API:
 *
 *   {"requests_per_minute": 60, "tokens_per_minute": 100000,
 *    "usd_per_day": 5, "usd_per_month": 100, "tokens_per_day": ..., "tokens_per_month": ...,
 *    "when_spent": "refuse" | "local", "weight": 1,
 *    "models": ["auto", "gpt-*"], "tiers": ["local"], "classes": ["public", "sensitive"],
 *    "role": "reviewer", "clearance": "sensitive"}
 *
 * A member that is not there sets no limit. Plain data; any thread. */
#ifndef BASE_KEY_TERMS_H
#define BASE_KEY_TERMS_H

#include "base/bytes/buf.h"

#define KEY_LIST_BYTES 512 /* of names with commas between them, and a NUL */
#define KEY_WEIGHT_MAX 1000

/* Months are told apart from days everywhere by this index. */
enum key_period { KEY_DAY, KEY_MONTH, KEY_PERIOD_COUNT };

struct key_terms {
    uint32_t requests_per_minute, tokens_per_minute; /* 0 = no limit */
    double usd[KEY_PERIOD_COUNT];                    /* 0 = no budget */
    uint64_t tokens[KEY_PERIOD_COUNT];               /* the same */
    bool local_when_spent; /* tiers without a price go on; else everything is refused */
    uint32_t weight;       /* its share beside others where many wait; 1 is usual */
    unsigned classes;      /* bit n: td_data_class n is allowed; 0 = all */
    bool reviews;          /* the role of a reviewer: may answer its tenant's tickets */
    unsigned clearance;    /* of a reviewer: the highest td_data_class that is shown, plus 1; 0 =
                              public */
    char models[KEY_LIST_BYTES], tiers[KEY_LIST_BYTES]; /* "" = all */
};

extern const struct key_terms key_terms_none;

struct json;
/* Changes what the object's members name, and leaves the rest. A null lifts a limit. TD_INVALID
 * names the member, which *member points to, a literal or the object's (may be NULL). */
TD_MUST_CHECK enum td_status key_terms_read(const struct json *object, struct key_terms *terms,
                                            const char **member, struct td_error *err);
/* Whether a member is one of those above. */
bool key_terms_has(const char *member);
/* Puts the members that set something into the object. */
void key_terms_put(const struct key_terms *terms, struct json *object);

/* Whether a name stands in a list with commas between; "" has all. */
bool key_list_has(const char *list, struct td_str name);

#endif
