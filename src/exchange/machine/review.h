/* People as the last rung: what they are told, whether a review is worth its price, and what the
 * client is told while they have not answered. Between files of the exchange only. */
#ifndef EXCHANGE_REVIEW_H
#define EXCHANGE_REVIEW_H

#include "base/bytes/buf.h"
#include "exchange/private/review_case.h"
#include "tier/tier.h"

struct exchange;
struct attempt;

struct review {
    const struct attempt *pending; /* its ticket waits; NULL = none does */
    /* Whole answers that were left on the way to people. */
    struct {
        const struct attempt *attempt;
        struct buf text;
    } candidates[REVIEW_CANDIDATES_MAX];
    size_t candidate_count;
    uint32_t accepted; /* of these, as in tier_result */
    struct buf body;   /* of the ticket that is made */
    struct tier_question question;
};

void review_deinit(struct review *review);
/* After the plan: what an error costs becomes the gates' business where people can be asked. */
void review_prepare(struct exchange *exchange);
/* Passes over people as the next rung where the answer in hand, with this confidence (NAN = none is
 * known), is likely enough to be right. */
void review_skip_rungs(struct exchange *exchange, double confidence);
/* Whether people are asked next: they are shown a whole answer, which costs less time than they. */
bool review_is_next(const struct exchange *exchange);
/* Keeps the current lane's whole answer for people to see. */
void review_note_candidate(struct exchange *exchange);
/* For the attempt that begins; NULL: its tier has no people, or there is no memory. */
const struct tier_question *review_question(struct exchange *exchange);
/* People gave the answer, and the exchange is on its way into the ledger: what the device had said
 * is recorded as compared with theirs. accepted: as in tier_result. */
void review_learn(struct exchange *exchange);
/* The current attempt's ticket waits. */
void review_note_pending(struct exchange *exchange);

#endif
