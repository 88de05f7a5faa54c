/* What an attempt sends: the request as it is, or masked where its class may not go as it is; and the way
 * back of what is answered to that. */
#ifndef EXCHANGE_OUTGOING_H
#define EXCHANGE_OUTGOING_H

#include "exchange/machine/exchange_internal.h"
#include "request/request.h"

/* Where the route asks for a consent: is there one that holds? */
void outgoing_read_consent(struct exchange *exchange, const struct route *route);
/* Before the plan, with the class known: makes the smaller request for remote tiers, and the masked one
 * when a tier could need it. declared:
 * the class that caller and route say; replacing values does not lower it. */
void outgoing_prepare(struct exchange *exchange, const struct route *route,
                      enum td_data_class declared);
/* After the plan: why nothing could be masked, if so. */
void outgoing_explain(struct exchange *exchange);

/* What the tier would be sent if nothing had to be masked. */
const struct td_request *outgoing_plain(const struct exchange *exchange,
                                        const struct tier_facts *facts);
/* For the current attempt on this tier: the request, and what may be said about it (exchange->pass). */
const struct td_request *outgoing_request(struct exchange *exchange,
                                          const struct tier_facts *facts);
/* A piece of the current attempt's answer for those who asked; NULL when there is nothing of it yet. */
const struct tier_piece *outgoing_piece(struct exchange *exchange, const struct tier_piece *piece);
/* The answer is whole: what was held back of it, or NULL. */
const struct tier_piece *outgoing_end(struct exchange *exchange);

#endif
