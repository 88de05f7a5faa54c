/* Signals and reasons of an exchange as JSON texts, for the ledger. */
#ifndef EXCHANGE_LEDGER_JSON_H
#define EXCHANGE_LEDGER_JSON_H

#include <stdbool.h>

struct exchange;

/* **return new** (free); NULL without memory. with_turns: also whose each message is and how long,
 * so that readers can tell the messages in a stored prompt apart. */
char *ledger_json_signals(const struct exchange *exchange, bool with_turns);
char *ledger_json_reasons(const struct exchange *exchange);

#endif
