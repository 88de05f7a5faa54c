/* The sentences that people read about an exchange. They read the exchange and change nothing. */
#ifndef EXCHANGE_DISCLOSURE_H
#define EXCHANGE_DISCLOSURE_H

#include "tandem/types.h"

struct attempt;
struct tier_refusal;
struct exchange;

#define DISCLOSURE_BYTES 384
#define MESSAGE_BYTES 2048

/* What ended an attempt, in words that quote no tier's server: for reasons, disclosures and the
 * ledger. */
void disclosure_cause(const struct exchange *exchange, const struct attempt *attempt, char *out,
                      size_t size);
/* What is to be known of the current attempt's answer: that it is one to a similar question, and,
 * where it is degraded, why it is less than it could have been. */
void disclosure_write(const struct exchange *exchange, bool degraded,
                      char out[static DISCLOSURE_BYTES]);
/* Status, message and member at fault (or NULL) of an exchange that no tier could answer. */
enum td_status disclosure_failure(const struct exchange *exchange,
                                  char message[static MESSAGE_BYTES], const char **param);
/* What the servers mean by refusing it, where that is one thing; NULL = nothing that clients know.
 * **borrows** from the exchange. status: of disclosure_failure. */
const struct tier_refusal *disclosure_refusal(const struct exchange *exchange,
                                              enum td_status status);
/* Did a tier's server refuse the credentials? They are the operator's, not the client's. */
bool disclosure_upstream_denied(const struct exchange *exchange);
/* When it makes sense to ask again, as far as servers and rests say it; 0 = they do not. */
uint32_t disclosure_retry_after_s(const struct exchange *exchange);

/* Is the attempt's tier one that stands in for a better one that is busy? */
bool disclosure_stands_in(const struct exchange *exchange, const struct attempt *attempt);

#endif
