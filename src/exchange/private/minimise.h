/* Less of a conversation: what a remote tier does not need for its answer is not sent.
 *
 * Kept are system messages, the last turns, and of the earlier turns those that the last message is
 * about. A turn is a user's message with all that follows it, so that calls and their results stay
 * together. Pure functions; any thread. */
#ifndef EXCHANGE_MINIMISE_H
#define EXCHANGE_MINIMISE_H

#include "request/request.h"

struct minimise_settings {
    uint32_t turns;    /* that many last ones; 0 = everything is sent */
    uint32_t relevant; /* and at most that many of the earlier ones */
};

struct left_out {
    uint32_t turns, messages;
    uint64_t bytes; /* of their texts */
};

struct minimised;

/* *out NULL: nothing can be left out. **borrows** request until minimised_free. *out **returns
 * new**. */
TD_MUST_CHECK enum td_status minimised_new(const struct td_request *request,
                                           const struct minimise_settings *settings,
                                           struct minimised **out, struct td_error *err);
void minimised_free(struct minimised *minimised);
const struct td_request *minimised_request(const struct minimised *minimised); /* **borrows** */
struct left_out minimised_left_out(const struct minimised *minimised);

#endif
