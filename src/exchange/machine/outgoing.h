/* What an attempt sends: the request itself, a smaller one without messages that the tier does not
 * need, or a masked one if its class must not reach the tier. It also restores the answer to a
 * masked one. Between files of the exchange only. */
#ifndef EXCHANGE_OUTGOING_H
#define EXCHANGE_OUTGOING_H

#include "exchange/private/minimise.h"
#include "exchange/private/pseudonyms.h"
#include "request/request.h"
#include "router/plan/policy.h"

struct exchange;

struct outgoing {
    const struct td_request *asked; /* NULL = the exchange's own; borrowed */
    struct minimised *minimised;    /* the smaller request; NULL = nothing can be left out */
    struct pseudonyms *pseudonyms;  /* the masked request; NULL = nothing was masked */
    char masking_error[REASON_TEXT_BYTES / 2];
};
void outgoing_deinit(struct outgoing *outgoing);

/* If the route requires a consent, notes in the signals whether a valid one exists. */
void outgoing_read_consent(struct exchange *exchange, const struct route *route);
/* Makes the smaller request for remote tiers, and the masked one if a tier could need it. Call it
 * before the plan, when the class is known. declared: the class that caller and route give; masking
 * does not lower it. */
void outgoing_prepare(struct exchange *exchange, const struct route *route,
                      enum td_data_class declared);
/* From here on `request` is sent, which goes on with the exchange's own (continuation.h). It is
 * scanned and masked like that one, and may raise the class. */
void outgoing_continue(struct exchange *exchange, const struct td_request *request);
/* What is sent in the place of a request whose texts stay (staying.h) has grown: it is scanned and
 * masked anew, and may raise the class. */
void outgoing_renew(struct exchange *exchange, const struct td_request *grown);
/* After the plan: adds the reason when masking failed. */
void outgoing_explain(struct exchange *exchange);

/* What the tier would be sent if nothing had to be masked. */
const struct td_request *outgoing_plain(const struct exchange *exchange,
                                        const struct tier_facts *facts);
/* For the current attempt on this tier: the request, and what the door is told of it
 * (lane->pass). */
const struct td_request *outgoing_request(struct exchange *exchange,
                                          const struct tier_facts *facts);
/* A piece of the current attempt's answer with values in place of surrogates; NULL when nothing of
 * it can be shown yet. */
const struct tier_piece *outgoing_piece(struct exchange *exchange, const struct tier_piece *piece);
/* The answer is whole: what was held back of it, or NULL. */
const struct tier_piece *outgoing_end(struct exchange *exchange);

#endif
