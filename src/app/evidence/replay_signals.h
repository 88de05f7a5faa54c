/* The signals of a recorded exchange, as exchange/parts/ledger_json.c wrote them. */
#ifndef APP_REPLAY_SIGNALS_H
#define APP_REPLAY_SIGNALS_H

#include "ledger/ledger.h"
#include "router/plan/policy.h"

struct json;

/* states: [tier_count] of the other policy's tiers, by name; a tier that the record does not know
 * gets the largest count that it has. Strings are borrowed from root and row. False when the record
 * has no signals. */
bool replay_signals_read(const struct json *root, const struct ledger_history *row,
                         const struct tier_facts *facts, size_t tier_count, struct signals *out,
                         struct tier_state *states);

#endif
