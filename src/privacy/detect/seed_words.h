/* Seed phrases of wallets (BIP 39): 12 to 24 words of a list of 2048, of which the last one holds
 * check digits. Whoever has them has the wallet. Pure after seed_words_init; any thread. */
#ifndef PRIVACY_SEED_WORDS_H
#define PRIVACY_SEED_WORDS_H

#include "privacy/kind/spans.h"

/* Once in a process, before the first search. */
void seed_words_init(void);
/* The first phrase that begins at `from` or later. False when there is none. *checks: 0 at first;
 * what the search of one text has spent. */
bool seed_words_next(struct td_str text, size_t from, unsigned *checks, struct privacy_span *out);

#endif
