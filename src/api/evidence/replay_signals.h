/* The signals of a recorded exchange, as exchange/parts/ledger_json.c wrote them. */
#ifndef API_REPLAY_SIGNALS_H
#define API_REPLAY_SIGNALS_H

#include "base/key_terms.h"
#include "ledger/record/ledger.h"
#include "router/plan/plan_record.h"

struct json;

/* What the plan of a record was made from, for a policy whose tiers may be others. */
struct replay_signals {
    struct signals signals;    /* before policy_apply_rules */
    struct td_weights weights; /* that the request brought */
    struct tier_facts facts[RUNGS_MAX];
    struct tier_state states[RUNGS_MAX];
    struct plan_record_lists lists; /* what the signals point to */
    struct key_terms key_terms;     /* the same */
};

/* facts: [tier_count] of the other policy's tiers; what the record knows of a tier of that name
 * goes before. A tier that the record does not know gets the largest count of tokens that it has.
 * Strings are borrowed from root, row and facts, and *out must stay where it is. False when the
 * record has no signals. */
bool replay_signals_read(const struct json *root, const struct ledger_history *row,
                         const struct tier_facts *facts, size_t tier_count,
                         struct replay_signals *out);

#endif
