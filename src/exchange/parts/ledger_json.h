/* Signals and reasons of an exchange as JSON texts, for the ledger. */
#ifndef EXCHANGE_LEDGER_JSON_H
#define EXCHANGE_LEDGER_JSON_H

struct exchange;

/* **return new** (free); NULL without memory. */
char *ledger_json_signals(const struct exchange *exchange);
char *ledger_json_reasons(const struct exchange *exchange);

#endif
