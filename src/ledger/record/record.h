/* A record as it waits in the queue: one block that owns its strings. Internal to ledger/. No
 * state; any thread. */
#ifndef LEDGER_RECORD_H
#define LEDGER_RECORD_H

#include "ledger/record/ledger.h"

struct record {
    struct ledger_exchange exchange; /* its pointers lead into this block */
    struct ledger_feedback feedback; /* likewise; feedback.exchange NULL: no feedback */
    struct ledger_shadow shadow;     /* likewise */
    struct ledger_reaction reaction; /* likewise */
    struct ledger_policy policy;     /* likewise */
    bool is_model;                   /* the policy is a model's version */
    uint64_t seq; /* 1, 2, ... in the order of the queue; set under the ledger's lock */
    size_t bytes; /* of the block */
    struct ledger_attempt attempts[];
};

/* **returns new** (free). TD_INVALID: no id, too many attempts; TD_LIMIT: larger than bytes_max. */
TD_MUST_CHECK enum td_status record_new(const struct ledger_exchange *exchange, size_t bytes_max,
                                        struct record **out, struct td_error *err);

/* **returns new** (free). TD_INVALID: no id, a score outside 0..1; TD_LIMIT: larger than
 * bytes_max. */
TD_MUST_CHECK enum td_status record_new_feedback(const struct ledger_feedback *feedback,
                                                 size_t bytes_max, struct record **out,
                                                 struct td_error *err);
/* **returns new** (free). TD_INVALID: no id, tier or kind, an agreement outside 0..1. */
TD_MUST_CHECK enum td_status record_new_shadow(const struct ledger_shadow *shadow, size_t bytes_max,
                                               struct record **out, struct td_error *err);
/* **returns new** (free). TD_INVALID: no id or kind. */
TD_MUST_CHECK enum td_status record_new_reaction(const struct ledger_reaction *reaction,
                                                 struct record **out, struct td_error *err);
/* **returns new** (free). TD_INVALID: no version or text; TD_LIMIT: larger than bytes_max. */
TD_MUST_CHECK enum td_status record_new_policy(const struct ledger_policy *policy, size_t bytes_max,
                                               struct record **out, struct td_error *err);

#endif
