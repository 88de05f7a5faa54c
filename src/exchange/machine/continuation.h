/* One tier's answer that another tier goes on with: what was shown to a client that reads as it
 * comes stays, and the text of the next tier is joined to it without a character twice. The place
 * is a seam. Between files of the exchange only. */
#ifndef EXCHANGE_CONTINUATION_H
#define EXCHANGE_CONTINUATION_H

#include "exchange/limits/overlap.h"
#include "exchange/machine/exchange.h"
#include "request/request.h"

struct attempt;

#define SEAMS_MAX 4

struct continuation {
    bool sealed; /* the client has something beside text that no other tier can go on with */
    struct td_request *request; /* asks to go on; valid when messages is not NULL */
    struct td_message *messages;
    struct request_parts *parts;
    struct request_member *members;
    struct td_completion completion;
    struct json *said; /* the value of the member of what is said */
    struct overlap overlap;
    struct buf fresh;            /* the new text of a piece */
    const struct attempt *first; /* that began an answer of several; NULL = there is no seam */
    struct exchange_seam seams[SEAMS_MAX];
    size_t seam_count;
    char *whys[SEAMS_MAX];
};
void continuation_deinit(struct continuation *continuation);

/* Notes what a piece that is shown has beside text. */
void continuation_note(struct exchange *exchange, const struct tier_piece *piece);
/* Why no other tier can go on with what was shown; NULL = one can. */
const char *continuation_obstacle(const struct exchange *exchange);
/* Is there a rung that may go on: the next one, or one that answered before it was left? */
bool continuation_has_rung(const struct exchange *exchange);
/* Which; it is not given out again. */
size_t continuation_take_rung(struct exchange *exchange);

/* Makes the request that asks this tier to go on, and masks it as it needs. False without memory.
 * What was shown counts as part of the request: its class may rise. */
TD_MUST_CHECK bool continuation_begin(struct exchange *exchange, const struct tier_facts *facts);
/* A piece of the current attempt: **piece becomes what is new of it, or NULL when that is nothing.
 * False when the tier does not go on but answers anew. Other attempts' pieces stay as they are. */
TD_MUST_CHECK bool continuation_piece(struct exchange *exchange, const struct tier_piece **piece,
                                      struct tier_piece *fresh);
/* The current attempt's text is over: what was held back of it, or NULL. False as above. */
TD_MUST_CHECK bool continuation_end(struct exchange *exchange, const struct tier_piece **piece,
                                    struct tier_piece *fresh);

/* The current attempt's text now follows that of `from`. */
void continuation_add_seam(struct exchange *exchange, const struct attempt *from);
/* The usage of the whole answer: what all its tiers have written. */
struct tier_usage continuation_usage(const struct exchange *exchange, const struct attempt *last);

#endif
