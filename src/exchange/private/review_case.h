/* What a person needs to judge a question, as one JSON text for the queue
 * (ledger/store/queue_store.h):
 *
 * {"question": [{"from" (a role), "text"}], "candidates": [{"tier", "model", "place", "confidence",
 * "text"}], "route", "reasons": [{"code", "tier", "text"}], "cost_of_error_usd", "review_usd",
 * "masked": {"class", "question": [texts], "candidates": [texts], "vault"}}
 *
 * `masked` has the same texts for people who may not see the question's class: with surrogates, the
 * class of what is left in them, and what the surrogates stand for. It is missing where nothing
 * could be masked: then such people see no text at all. Any thread. */
#ifndef EXCHANGE_REVIEW_CASE_H
#define EXCHANGE_REVIEW_CASE_H

#include "base/bytes/buf.h"
#include "privacy/pseudonym/mask.h"
#include "request/request.h"
#include "router/plan/policy.h"

#define REVIEW_CANDIDATES_MAX 4
#define REVIEW_CASE_BYTES_MAX ((size_t)8 << 20) /* as a queue keeps */

struct review_candidate {
    const char *tier, *model;
    enum td_place place;
    double confidence; /* NAN = none */
    struct td_str text;
};

struct review_case {
    const struct td_request *request;
    const struct review_candidate *candidates; /* [candidate_count] */
    size_t candidate_count;
    const struct reason *reasons; /* [reason_count] */
    size_t reason_count;
    const char *route;
    double cost_of_error_usd, review_usd; /* 0 = not given */
    const struct mask_rules *rules;       /* with a scanner; NULL = nothing can be masked */
    enum td_data_class unmasked;          /* what masking cannot lower */
};

/* Appends it. TD_LIMIT, TD_NO_MEMORY. */
TD_MUST_CHECK enum td_status review_case_write(const struct review_case *what, struct buf *out,
                                               struct td_error *err);

struct json;
struct ledger;
struct ledger_shadow;
/* Records what a tier had said, which `said` names, as compared with what people said. */
void review_case_learn(struct ledger *ledger, struct ledger_shadow *said, bool right);
/* A reviewer's text with values in place of the case's surrogates. Appends it. */
TD_MUST_CHECK enum td_status review_case_restore(const struct json *what, struct td_str text,
                                                 struct buf *out, struct td_error *err);

#endif
