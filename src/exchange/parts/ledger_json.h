/* Signals and reasons of an exchange as JSON texts, for the ledger. */
#ifndef EXCHANGE_LEDGER_JSON_H
#define EXCHANGE_LEDGER_JSON_H

#include "router/plan/facts.h"

#define LEDGER_VERSION_BYTES 17

struct exchange;

/* **return new** (free); NULL without memory. with_turns: also whose each message is and how long,
 * so that readers can tell the messages in a stored prompt apart. */
char *ledger_json_signals(const struct exchange *exchange, bool with_turns);
char *ledger_json_reasons(const struct exchange *exchange);

/* The version of a tier's model as the ledger has it: that of a model here, or what its server said
 * of itself (0 = nothing), written into `out`. NULL = not known. */
const char *ledger_json_version(const struct tier_facts *facts, uint64_t server_identity,
                                char out[static LEDGER_VERSION_BYTES]);

#endif
