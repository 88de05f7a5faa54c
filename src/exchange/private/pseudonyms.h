/* One exchange's request without what is private in it, and the way back of the answers.
 *
 * The masked request is made once, before the plan, so that every attempt and repetition sends the
 * same. Each attempt restores with restorers of its own. On one loop. */
#ifndef EXCHANGE_PSEUDONYMS_H
#define EXCHANGE_PSEUDONYMS_H

#include "ledger/egress/egress_log.h"
#include "privacy/pseudonym/mask.h"
#include "privacy/pseudonym/vault_store.h"
#include "request/request.h"
#include "tier/tier.h"

struct pseudonyms;

struct pseudonym_counts {
    uint64_t sent;     /* surrogates, each counted once */
    uint64_t seen;     /* places of answers where one stood, or what looks like one */
    uint64_t restored; /* of them */
};

/* Masks a copy of all that a tier may be sent. identity: the request as it came, which names the
 * conversation. When it fails, the request stays where its class lets it. **returns new**
 * (pseudonyms_free). */
TD_MUST_CHECK enum td_status pseudonyms_new(struct vault_store *store,
                                            const struct mask_rules *rules, uint64_t now_ms,
                                            const struct td_request *identity,
                                            const struct td_request *request,
                                            struct pseudonyms **out, struct td_error *err);
void pseudonyms_free(struct pseudonyms *pseudonyms);

/* **borrows** until pseudonyms_free. */
const struct td_request *pseudonyms_request(const struct pseudonyms *pseudonyms);
/* The highest class of what is left in it. */
enum td_data_class pseudonyms_class(const struct pseudonyms *pseudonyms);
/* What was replaced, by type. **borrows**. */
const struct egress_replaced *pseudonyms_replaced(const struct pseudonyms *pseudonyms,
                                                  size_t *count);

/* Answers that are read at the same time are told apart by a number below this. */
#define PSEUDONYM_ANSWERS_MAX 2
/* A new attempt begins: what the last answer with that number held back is forgotten. */
void pseudonyms_begin(struct pseudonyms *pseudonyms, size_t answer);
/* The piece with values in place of surrogates; **borrows** until the answer's next call. Text may
 * be held back for a later piece. */
const struct tier_piece *pseudonyms_restore(struct pseudonyms *pseudonyms, size_t answer,
                                            const struct tier_piece *piece);
/* The answer is whole: what is still held back, or NULL. */
const struct tier_piece *pseudonyms_end(struct pseudonyms *pseudonyms, size_t answer);
/* Of the attempt, so far. */
struct pseudonym_counts pseudonyms_count(const struct pseudonyms *pseudonyms, size_t answer);

#endif
