/* What was spent today, by budget and by whom, and how many tokens went through in the last 24
 * hours.
 *
 * It is kept in memory; a server fills it from its ledger when it starts. Its size is bounded:
 * where there is no room for a tenant's newcomers, they share one entry for all budgets, so that
 * nobody spends uncounted. A day begins at local midnight. One for the process; any thread. */
#ifndef EXCHANGE_SPENDING_H
#define EXCHANGE_SPENDING_H

#include "base/crypto/keyed.h"

#include <stddef.h>

struct spending;
struct clock;
struct key_spent;
struct shared_limits;

/* clock NULL = the system's. **returns new** (spending_free), or NULL. */
struct spending *spending_new(const struct clock *clock, uint32_t entries_max);
void spending_free(struct spending *spending);

/* What records show of an API key: a keyed hash, so that nobody finds a short key from a ledger's
 * copy. digest: SHA-256 of the key in hex, of which the first 16 digits count: those are what older
 * ledgers show, so an older one's row is of the same id. secret: the installation's. */
#define SPENDING_KEY_ID_BYTES 17
void spending_key_id(const uint8_t secret[static KEYED_KEY_BYTES], const char *digest,
                     char out[static SPENDING_KEY_ID_BYTES]);

/* The entry of a budget and of whom it is about ("" = all). tenant: who gave that name, where each
 * tenant gives names of its own; otherwise NULL. */
uint64_t spending_key(const char *budget, const char *tenant, const char *whom);

/* Spent today, by all nodes, and promised to exchanges of this one that run, in USD. */
double spending_today(struct spending *spending, uint64_t key);
double spending_spent(struct spending *spending, uint64_t key); /* without what is promised */
/* What was spent today before the start, by all. */
void spending_restore(struct spending *spending, uint64_t key, double usd);
/* A running exchange may come to cost that much; spending_settle replaces it by the real cost. */
void spending_promise(struct spending *spending, uint64_t key, double usd);
void spending_settle(struct spending *spending, uint64_t key, double promised_usd, double usd);

void spending_add_tokens(struct spending *spending, uint64_t tokens);
/* Tokens of an earlier hour, counted since the epoch. An hour that is 24 hours old or lies in the
 * future counts nothing. */
void spending_add_tokens_of(struct spending *spending, uint64_t hour, uint64_t tokens);
double spending_day_tokens(struct spending *spending); /* of the last 24 hours, by whole hours */

/* --- several nodes (spending_shared.c) --- */

/* Sums are those of all nodes. Before anything is restored. False without memory. */
TD_MUST_CHECK bool spending_share(struct spending *spending);
/* Others are asked before something is spent. Before the first request. **borrows** until
 * spending_free. */
void spending_ask(struct spending *spending, const struct shared_limits *door);
/* Among how many nodes, with this one. */
void spending_set_nodes(struct spending *spending, uint32_t nodes);
/* Whether a budget has room for that much more beside what others have announced. True where
 * nobody is asked: then spending_today says it. */
bool spending_fits(struct spending *spending, uint64_t key, double budget_usd, double more_usd);
/* At most `max` sums that others have not been told. Who cannot keep them gives them back. */
size_t spending_take(struct spending *spending, struct key_spent *out, size_t max);
void spending_give_back(struct spending *spending, const struct key_spent *spent, size_t count);
/* What was told of a sum (own_usd at the first time, and others_usd). */
void spending_hear(struct spending *spending, const struct key_spent *spent, bool first);

/* Local midnight before now, in ms since the epoch. clock NULL = the system's. */
uint64_t spending_day_begin_ms(const struct clock *clock);
/* How long until the next one. */
uint64_t spending_day_left_ms(const struct clock *clock);

#endif
