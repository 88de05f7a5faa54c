/* What is known of a request before a tier is asked. Between files of the exchange only. */
#ifndef EXCHANGE_SITUATION_H
#define EXCHANGE_SITUATION_H

struct exchange;
struct route;

/* Fills in signals, findings and tiers' states, and prepares what may be sent. Rules are
 * applied. */
void situation_read(struct exchange *exchange, const struct route *route);

#endif
