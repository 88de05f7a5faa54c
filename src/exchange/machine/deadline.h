/* The time that an exchange may take: the first that passes of the server's limit, the request's
 * objectives, and the moment when the client hangs up. */
#ifndef EXCHANGE_DEADLINE_H
#define EXCHANGE_DEADLINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct exchange;
struct lane;
struct loop_timer;
struct td_request;

/* How long the whole answer may take, in ms; 0 = any time. server_ms: the server's limit, 0 = none.
 * For calls that are no exchange, too. Pure. */
uint32_t deadline_of_answer(uint32_t server_ms, const struct td_request *request);

/* --- between files of the exchange only --- */

struct deadline {
    struct loop_timer *timer;
    /* Since the exchange began: until a tier has the first text, until the answer is whole. 0 =
     * none. */
    uint32_t first_ms, total_ms;
    bool passed, first_passed; /* first_passed: the first text's */
    uint32_t passed_ms;        /* the one that did */
};

bool deadline_init(struct exchange *exchange); /* false without memory */
void deadline_release(struct exchange *exchange);
/* Sets the timer for the nearest deadline. */
void deadline_watch(struct exchange *exchange);
void deadline_end(struct exchange *exchange);

/* For struct tier_sink: what an attempt has left that begins now. */
uint32_t deadline_left_for_attempt(const struct exchange *exchange);
/* The next rungs whose tiers are too slow for what is left are passed over, as long as there is
 * another way to an answer: another rung, or an answer in hand. */
void deadline_skip_rungs(struct exchange *exchange, bool in_hand);
/* How long an attempt that begins now may stay silent before the device is asked beside it, so that
 * there is an answer at the deadline; NAN = there is no deadline. */
double deadline_patience_ms(const struct exchange *exchange, size_t device);
/* The lane whose text can stand as the answer although it has no end; NULL = none. */
struct lane *deadline_cut_lane(const struct exchange *exchange);

#endif
