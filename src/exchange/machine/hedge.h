/* Hedged climbing: an attempt that says nothing for longer than its tier usually needs gets another one beside it, on the next rung. The first
 * of the two whose text may be shown is the answer, and the other one is cancelled before anything of it was seen. Between files of the
 * exchange only. */
#ifndef EXCHANGE_HEDGE_H
#define EXCHANGE_HEDGE_H

#include <stdbool.h>

struct attempt;
struct exchange;
struct lane;
struct loop_timer;

struct hedge {
    struct loop_timer *timer; /* NULL until one was armed */
    bool paid; /* for the exchange, into the share that hedges are taken from (hedging.h) */
    struct attempt *asked; /* the hedge whose end is not known yet, or NULL */
};

/* An attempt has begun: looks at it again when it has become slow, where the route says so. */
void hedge_arm(struct exchange *exchange);
/* The lane beside the current one when an attempt runs in it, else NULL. */
const struct lane *hedge_other(const struct exchange *exchange);
/* The current attempt is over, without an answer: true when another one runs, which becomes the current one. */
bool hedge_goes_on(struct exchange *exchange);
/* The current attempt's text is about to be shown: what runs beside it is cancelled. */
void hedge_settle(struct exchange *exchange);
/* The exchange has ended. */
void hedge_end(struct exchange *exchange);
void hedge_deinit(struct exchange *exchange);

#endif
