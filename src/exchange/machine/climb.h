/* The steps of an exchange along its plan: which attempt is next, when one is left, and when it is
 * over. Called by the callbacks of timers and attempts. Between files of the exchange only. */
#ifndef EXCHANGE_CLIMB_H
#define EXCHANGE_CLIMB_H

#include "tandem/types.h"

#include <stdbool.h>

struct exchange;
struct tier_result;

void climb_begin(struct exchange *exchange);
/* After a token of the current attempt: true when a gate said to leave it, and it was left. */
bool climb_look(struct exchange *exchange);
/* The current attempt does not go on with what was shown: it is stopped, and the next one tried.
 * status: TD_UNSUPPORTED, or TD_NO_MEMORY for what could not be compared. */
#define CONTINUATION_REFUSED "it began another answer instead of going on"
void climb_refuse(struct exchange *exchange, enum td_status status);
/* The current attempt has ended by itself. */
void climb_after(struct exchange *exchange, const struct tier_result *result);
/* For parts that hold answers against each other. The whole answer of that lane is final; what runs
 * beside it is stopped. */
struct lane;
void climb_settle(struct exchange *exchange, struct lane *lane);
/* For a part that had the whole answer wait after the gates: how confident it is now (NAN: as it
 * was). The gates judge it again. */
void climb_weigh(struct exchange *exchange, double confidence);
/* The whole answer that waits was found wrong: the next rung is asked, and it is kept in case that
 * one fails. why: the rest of a sentence. */
void climb_refute(struct exchange *exchange, const char *why);
/* For parts that ask one tier several times: the current attempt, which has ended, is of no use, or
 * its tier is asked again. */
void climb_fail(struct exchange *exchange);
void climb_again(struct exchange *exchange);
/* The exchange's time is over: what still runs is stopped. */
void climb_deadline(struct exchange *exchange);

#endif
